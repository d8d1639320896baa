/* flare_net.cpp - the Verilated flare_net.sv behind flare_net_sim.h. */
#include "flare_net_sim.h"
#include "flare_net_words.h"

#include <string.h>
#include <vector>

#include "Vflare_net_4.h"
#include "Vflare_net_8.h"
#include "verilated.h"

struct flare_net_sim {
    virtual ~flare_net_sim() = default;
    virtual void load(const flare_net &net) = 0;
    virtual void inputs(bool bytes, unsigned char beside) = 0;
    virtual bool run(const int32_t *value, int32_t least, int32_t largest, size_t height,
                     size_t width, unsigned stall, int8_t *out, uint64_t *cycles) = 0;
};

namespace
{

enum { PATIENCE = 10000000 };

template <class T, int P> struct simulated : flare_net_sim {
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

    bool stalls(unsigned stall)
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < stall;
    }

    void load(const flare_net &net) override
    {
        const flare_net_words words(net, P);
        for (int i = 0; i < 4; i++)
            edge();
        top.rst = 1;
        for (int i = 0; i < 4; i++)
            edge();
        top.rst = 0;
        top.shifts = words.shifts;
        for (size_t at = 0; at < words.weight.size() / (P * P); at++) {
            memcpy(&top.write_weight[0], &words.weight[at * P * P], P * P);
            top.write_at = (uint8_t)at;
            top.weight_write = 1;
            edge();
        }
        top.weight_write = 0;
        for (size_t at = 0; at < words.bias.size() / P; at++) {
            memcpy(&top.write_bias[0], &words.bias[at * P], 4 * P);
            top.write_at = (uint8_t)at;
            top.bias_write = 1;
            edge();
        }
        top.bias_write = 0;
    }

    void inputs(bool bytes, unsigned char beside) override
    {
        top.bytes = bytes;
        top.beside = beside;
    }

    bool run(const int32_t *value, int32_t least, int32_t largest, size_t height, size_t width,
             unsigned stall, int8_t *out, uint64_t *cycles) override
    {
        size_t sent = 0, got = 0, n = height * width;
        top.least = (uint32_t)least;
        top.largest = (uint32_t)largest;
        top.height = (uint8_t)height;
        top.width = (uint8_t)width;
        top.start = 1;
        edge();
        top.start = 0;
        top.s_valid = 0;
        for (int i = 0; i < PATIENCE && top.busy; i++) {
            if (!top.s_valid && sent < n && !stalls(stall)) {
                top.s_value = (uint32_t)value[sent];
                top.s_valid = 1;
            }
            top.m_ready = !stalls(stall);
            top.eval();
            const bool goes = top.s_valid && top.s_ready;
            if (top.m_valid && top.m_ready) {
                if (got == n)
                    return false;
                out[got++] = (int8_t)top.m_value;
            }
            edge();
            if (goes) {
                sent++;
                top.s_valid = 0;
            }
        }
        *cycles = top.cycles;
        return !top.busy && got == n;
    }
};

} // namespace

extern "C" flare_net_sim *flare_net_sim_open(unsigned side, const flare_net *net)
{
    flare_net_sim *s = nullptr;
    if (side == 4)
        s = new simulated<Vflare_net_4, 4>;
    else if (side == 8)
        s = new simulated<Vflare_net_8, 8>;
    if (s)
        s->load(*net);
    return s;
}

extern "C" void flare_net_sim_close(flare_net_sim *s)
{
    delete s;
}

extern "C" bool flare_net_sim_run(flare_net_sim *s, const int32_t *value, int32_t least,
                                  int32_t largest, size_t height, size_t width, unsigned stall,
                                  int8_t *out, uint64_t *cycles)
{
    s->inputs(false, 0);
    return s->run(value, least, largest, height, width, stall, out, cycles);
}

extern "C" bool flare_net_sim_bytes(flare_net_sim *s, const unsigned char *in, unsigned char beside,
                                    size_t height, size_t width, unsigned stall, int8_t *out)
{
    const std::vector<int32_t> value(in, in + height * width);
    uint64_t cycles;
    s->inputs(true, beside);
    return s->run(value.data(), 0, 255, height, width, stall, out, &cycles);
}
