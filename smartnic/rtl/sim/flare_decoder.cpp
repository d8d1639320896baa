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

} // namespace

extern "C" bool flare_sim_section(const unsigned char *src, size_t size, size_t n,
                                  const uint16_t table[4096], unsigned stall, signed char *code)
{
    auto c = std::make_unique<simulated<Vflare_decoder>>();
    auto &top = c->top;
    size_t word = 0, words = 0, got = 0;
    uint64_t bytes = 0;
    auto stored = std::make_unique<uint64_t[]>(size + 8);
    const unsigned char *at = src + 8;
    if (size < 8)
        return false;
    for (unsigned k = 0; k < 4; k++) {
        const size_t own = src[2 * k] | (size_t)src[2 * k + 1] << 8;
        if (own > (size_t)(src + size - at))
            return false;
        for (size_t i = 0; i < own; i++)
            stored[words + i / 8] |= (uint64_t)at[i] << (8 * (i % 8));
        bytes |= (uint64_t)own << (14 * k);
        words += (own + 7) / 8;
        at += own;
    }
    top.rst = 1;
    c->edge();
    c->edge();
    top.rst = 0;
    for (unsigned i = 0; i < 4096; i++) {
        top.table_write = 1;
        top.table_at = (uint16_t)i;
        top.table_entry = table[i];
        c->edge();
    }
    top.table_write = 0;
    top.total = (uint16_t)n;
    top.bytes = bytes;
    top.start = 1;
    c->edge();
    top.start = 0;
    for (unsigned idle = 0; idle < 10000 && top.busy; idle++) {
        top.s_valid = top.s_valid || (word < words && !c->chance(stall));
        top.s_word = stored[word < words ? word : 0];
        top.m_ready = !c->chance(stall);
        top.eval();
        const bool goes = top.s_valid && top.s_ready;
        if (top.m_valid && top.m_ready) {
            if (got == n)
                return false;
            code[got++] = (signed char)top.m_code;
            idle = 0;
        }
        c->edge();
        if (goes) {
            word++;
            top.s_valid = 0;
            idle = 0;
        }
    }
    top.final();
    return !top.busy && !top.wrong && got == n && word == words;
}
