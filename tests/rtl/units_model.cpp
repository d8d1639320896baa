/* units_model.cpp - units.h by the Verilated units.sv. */
#include "units.h"

#include "Vunits.h"

struct units {
    VerilatedContext context;
    Vunits top{&context};
    unsigned stall = 0;
    uint64_t random = 0;

    void clock()
    {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }

    bool chance()
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < stall;
    }
};

enum { PATIENCE = 1500 }; /* cycles without an item: more than clearing a histogram takes */

extern "C" struct units *units_open(unsigned stall, uint64_t seed)
{
    auto *u = new units;
    u->stall = stall;
    u->random = seed;
    u->top.rst = 1;
    u->top.start = u->top.in_valid = u->top.out_ready = 0;
    for (int i = 0; i < 4; i++)
        u->clock();
    u->top.rst = 0;
    return u;
}

extern "C" void units_close(struct units *u)
{
    u->top.final();
    delete u;
}

extern "C" void units_select(struct units *u, enum unit unit, uint32_t a, uint32_t b, uint32_t c)
{
    u->top.unit = unit;
    u->top.fixed[0] = a;
    u->top.fixed[1] = b;
    u->top.fixed[2] = c;
}

extern "C" void units_start(struct units *u)
{
    u->top.start = 1;
    u->clock();
    u->top.start = 0;
}

extern "C" size_t units_run(struct units *u, const uint32_t (*in)[UNIT_WORDS], size_t n,
                            uint32_t (*out)[UNIT_WORDS], size_t capacity)
{
    size_t sent = 0, received = 0;
    for (unsigned idle = 0; idle < PATIENCE; idle++) {
        /* An offered item that was not taken stays. */
        if (!u->top.in_valid && sent < n && !u->chance()) {
            for (int i = 0; i < UNIT_WORDS; i++)
                u->top.in[i] = in[sent][i];
            u->top.in_valid = 1;
        }
        /* Only one of these can wait. */
        u->top.out_ready = u->top.unit != UNIT_PACK || !u->chance();
        u->top.clk = 0;
        u->top.eval();
        const bool goes = u->top.in_valid && u->top.in_ready;
        if (u->top.out_valid && u->top.out_ready && received < capacity) {
            for (int i = 0; i < UNIT_WORDS; i++)
                out[received][i] = u->top.out[i];
            received++;
            idle = 0;
        }
        u->top.clk = 1;
        u->top.eval();
        if (goes) {
            u->top.in_valid = 0;
            sent++;
            idle = 0;
        }
    }
    return received;
}

extern "C" uint32_t units_look(struct units *u, unsigned word)
{
    for (int i = 0; i < 3; i++)
        u->clock();
    return u->top.out[word];
}
