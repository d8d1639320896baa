/*
 * flare_sim_t.h - template: the Verilated engine of so many arrays. It has the chunk's memory, and
 * does what a DMA would do.
 *
 * Parameter: ARRAYS.
 */
#include "flare_sim.h"
#include "flare_sim_engine.h"

#include "verilated.h"

#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#include TEXT(JOIN(Vflare_, ARRAYS).h)

namespace
{

template <class T> uint32_t word_of(const T &port, unsigned k)
{
    return (uint32_t)(port >> (32 * k));
}

template <size_t n> uint32_t word_of(const VlWide<n> &port, unsigned k)
{
    return port[k];
}

template <class T> void set_word(T &port, unsigned k, uint32_t v)
{
    port = (T)((port & ~((T)UINT32_MAX << (32 * k))) | (T)v << (32 * k));
}

template <size_t n> void set_word(VlWide<n> &port, unsigned k, uint32_t v)
{
    port[k] = v;
}

/* What is not reset may be anything. */
VerilatedContext *unsettled(VerilatedContext *context)
{
    context->randReset(2);
    context->randSeed(1);
    return context;
}

struct engine {
    VerilatedContext context;
    JOIN(Vflare_, ARRAYS) top{unsettled(&context)};
};

bool bit(uint32_t port, unsigned k)
{
    return port >> k & 1;
}

/* Number i of those that come together: 24 bits of three words, or 8. */
template <class T> int32_t code_at(const T &top, unsigned i)
{
    const unsigned from = 24 * i;
    const uint64_t two =
        top.c_value[from / 32] | (uint64_t)top.c_value[from / 32 < 2 ? from / 32 + 1 : 2] << 32;
    const int32_t wide = (int32_t)((uint32_t)(two >> from % 32) << 8) >> 8;
    return bit(top.c_escape, i) ? wide : (int8_t)(top.c_code >> (8 * i));
}

bool run(void *at, struct flare_sim_chunk *c, unsigned stall, struct flare_sim_cycles *cycles)
{
    auto &top = static_cast<engine *>(at)->top;
    struct flare_block_walk block[ARRAYS] = {};
    uint64_t random = 1;
    uint32_t offered = 0;
    const auto chance = [&] {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < stall;
    };
    const auto edge = [&] {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    };
    size_t codes = 0, sent = 0;
    top.rst = 1;
    top.start = 0;
    top.s_valid = top.m_ready = top.c_ready = 0;
    edge();
    edge();
    top.rst = 0;
    top.start = 1;
    top.decode = c->decode;
    top.nz = (uint8_t)c->extent[0];
    top.ny = (uint16_t)c->extent[1];
    top.nx = (uint16_t)c->extent[2];
    edge();
    top.start = 0;
    for (unsigned idle = 0; idle < 100000; idle++) {
        uint32_t takes = 0;
        for (unsigned k = 0; k < ARRAYS; k++) {
            if (!bit(offered, k) && block[k].left > 0 && !chance()) {
                bool none;
                set_word(top.s_data, k, (uint32_t)flare_block_give(&block[k], c, &none));
                top.s_none = (top.s_none & ~(1u << k)) | (uint32_t)none << k;
                offered |= 1u << k;
            }
            takes |= (uint32_t)!chance() << k;
        }
        top.s_valid = offered;
        top.m_ready = takes;
        top.c_ready = !chance();
        top.eval();
        if (top.c_valid && top.c_ready) {
            idle = 0;
            for (unsigned i = 0; i < top.c_count; i++)
                if (!flare_put_code(c, &sent, code_at(top, i), bit(top.c_escape, i)))
                    return false;
        }
        for (unsigned k = 0; k < ARRAYS; k++) {
            if (bit(offered & top.s_ready, k)) {
                offered &= ~(1u << k);
                idle = 0;
            }
            if (!bit(takes & top.m_valid, k))
                continue;
            idle = 0;
            if (!flare_block_take(&block[k], c, (int32_t)word_of(top.m_value, k),
                                  bit(top.m_last, k)))
                return false;
        }
        if (top.job) {
            const uint64_t p = top.job_at;
            const size_t first[3] = {(size_t)(p >> 32 & 0xFFFF), (size_t)(p >> 16 & 0xFFFF),
                                     (size_t)(p & 0xFFFF)};
            const int n[3] = {(int)(top.job_count >> 12 & 63), (int)(top.job_count >> 6 & 63),
                              (int)(top.job_count & 63)};
            struct flare_block_walk *b = &block[top.job_array];
            if (b->made != b->all || b->left > 0) /* it was not done */
                return false;
            codes += flare_block_begin(b, c, top.job_shift, first, n, codes);
        }
        if (!top.busy) {
            cycles->busy = top.cycles;
            cycles->runs = top.runs;
            return codes == c->codes && sent == codes;
        }
        edge();
    }
    return false;
}

} // namespace

extern "C" void *JOIN(flare_open_, ARRAYS)(void)
{
    return new engine;
}

extern "C" void JOIN(flare_close_, ARRAYS)(void *at)
{
    auto *e = static_cast<engine *>(at);
    e->top.final();
    delete e;
}

extern "C" bool JOIN(flare_run_, ARRAYS)(void *at, struct flare_sim_chunk *c, unsigned stall,
                                         struct flare_sim_cycles *cycles)
{
    return run(at, c, stall, cycles);
}
