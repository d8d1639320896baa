/* flare_decoder.cpp - the Verilated flare_decoder.sv by itself. */
#include "flare_sim.h"

#include <memory>

#include "Vflare_decoder.h"
#include "verilated.h"

namespace
{

template <class T> struct simulated {
    VerilatedContext context;
    T top{&context};
    uint64_t random = 1;

    void edge()
    {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    }

    bool chance(unsigned stall)
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < stall;
    }
};

/* Bytes of a stream to its n codes. */
bool take_stream(simulated<Vflare_decoder> &c, const unsigned char *src, size_t size, size_t n,
                 unsigned stall, signed char *code)
{
    auto &top = c.top;
    size_t word = 0, got = 0;
    top.total = (uint16_t)n;
    top.size = (uint16_t)size;
    top.start = 1;
    c.edge();
    top.start = 0;
    top.s_valid = 0;
    for (unsigned idle = 0; idle < 10000 && top.busy; idle++) {
        if (!top.s_valid && 8 * word < size && !c.chance(stall)) {
            top.s_valid = 1;
            top.s_word = 0;
            for (size_t i = 8 * word; i < size && i < 8 * word + 8; i++)
                top.s_word |= (uint64_t)src[i] << (8 * (i % 8));
        }
        top.m_ready = !c.chance(stall);
        top.eval();
        const bool goes = top.s_valid && top.s_ready;
        if (top.m_valid && top.m_ready) {
            if (got == n)
                return false;
            code[got++] = (signed char)top.m_code;
            idle = 0;
        }
        c.edge();
        if (goes) {
            word++;
            top.s_valid = 0;
            idle = 0;
        }
    }
    return !top.busy && !top.wrong && got == n && 8 * word >= size;
}

} // namespace

extern "C" bool flare_sim_section(const unsigned char *src, size_t size, size_t n,
                                  const uint16_t table[4096], unsigned stall, signed char *code)
{
    auto c = std::make_unique<simulated<Vflare_decoder>>();
    auto &top = c->top;
    const size_t each = (((n + 31) / 32) + 3) / 4 * 32;
    const unsigned char *at = src + 8, *end = src + size;
    bool good = size >= 8;
    top.rst = 1;
    for (int i = 0; i < 4; i++)
        c->edge();
    top.rst = 0;
    for (unsigned i = 0; i < 4096; i++) {
        top.table_write = 1;
        top.table_at = (uint16_t)i;
        top.table_entry = table[i];
        c->edge();
    }
    top.table_write = 0;
    for (size_t k = 0; k < 4 && good; k++) {
        const size_t own = src[2 * k] | (size_t)src[2 * k + 1] << 8;
        const size_t begin = k * each < n ? k * each : n;
        const size_t codes = n - begin < each ? n - begin : each;
        good = own <= (size_t)(end - at) && take_stream(*c, at, own, codes, stall, code + begin);
        at += own;
    }
    top.final();
    return good;
}
