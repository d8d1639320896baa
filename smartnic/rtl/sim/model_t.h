/*
 * model_t.h - template: model.h for one number of lanes.
 *
 * Parameter: LANES.
 */
#include "model.h"

#include <string.h>

#include "verilated.h"

#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#include TEXT(JOIN(Vceaz_, LANES).h)

namespace
{

template <size_t n> void put_words(VlWide<n> &port, const uint32_t *words)
{
    for (size_t i = 0; i < n; i++)
        port[i] = words[i];
}

/* One word, or two. */
template <class T> void put_words(T &port, const uint32_t *words)
{
    memcpy(&port, words, sizeof port);
}

template <class T> void get_words(const T &port, uint32_t *words)
{
    memcpy(words, &port, sizeof port);
}

template <size_t n> void get_words(const VlWide<n> &port, uint32_t *words)
{
    for (size_t i = 0; i < n; i++)
        words[i] = port[i];
}

/* Of up to 64 bits, and of more. */
template <size_t n> unsigned kept_bytes(const VlWide<n> &port)
{
    unsigned bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += (unsigned)__builtin_popcount(port[i]);
    return bytes;
}

template <class T> unsigned kept_bytes(const T &port)
{
    return (unsigned)__builtin_popcount(port);
}

/* Registers without a reset may hold anything. */
VerilatedContext *unsettled(VerilatedContext *context)
{
    context->randReset(2);
    context->randSeed(1);
    return context;
}

enum { PATIENCE = 1 << 20 }; /* cycles without a beat */

struct engine {
    VerilatedContext context;
    JOIN(Vceaz_, LANES) top{unsettled(&context)};
    uint64_t random = 0;

    /* Computes what follows from the inputs, before the edge. */
    void settle()
    {
        top.aclk = 0;
        top.eval();
    }

    /* The rising edge sees inputs set before it; outputs are read after it. */
    void clock()
    {
        settle();
        edge();
    }

    void edge()
    {
        top.aclk = 1;
        top.eval();
    }

    bool chance(unsigned of_256)
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < of_256;
    }
};

/* Outside it is a struct model. */
engine *of(struct model *m)
{
    return reinterpret_cast<engine *>(m);
}

struct model *open_model()
{
    auto *m = new engine;
    m->top.aclk = m->top.aresetn = 0;
    m->top.s_axis_tvalid = m->top.m_axis_tready = 0;
    m->top.s_axil_awvalid = m->top.s_axil_wvalid = m->top.s_axil_bready = 0;
    m->top.s_axil_arvalid = m->top.s_axil_rready = 0;
    for (int i = 0; i < 4; i++)
        m->clock();
    m->top.aresetn = 1;
    m->clock();
    return reinterpret_cast<struct model *>(m);
}

void close_model(struct model *model)
{
    engine *m = of(model);
    m->top.final();
    delete m;
}

void write_register(struct model *model, unsigned reg, uint32_t value)
{
    engine *m = of(model);
    m->top.s_axil_awaddr = reg;
    m->top.s_axil_wdata = value;
    m->top.s_axil_awvalid = m->top.s_axil_wvalid = 1;
    m->settle();
    while (!m->top.s_axil_awready)
        m->clock();
    m->clock();
    m->top.s_axil_awvalid = m->top.s_axil_wvalid = 0;
    m->top.s_axil_bready = 1;
    m->clock();
    m->top.s_axil_bready = 0;
}

uint32_t read_register(struct model *model, unsigned reg)
{
    engine *m = of(model);
    m->top.s_axil_araddr = reg;
    m->top.s_axil_arvalid = 1;
    m->settle();
    while (!m->top.s_axil_arready)
        m->clock();
    m->clock();
    m->top.s_axil_arvalid = 0;
    while (!m->top.s_axil_rvalid)
        m->clock();
    uint32_t value = m->top.s_axil_rdata;
    m->top.s_axil_rready = 1;
    m->clock();
    m->top.s_axil_rready = 0;
    return value;
}

/* The packet that is being sent. */
struct source {
    struct model_chunk chunk = {};
    unsigned at = 0;
    size_t begun = 0;
    bool more = true;

    void advance(const struct model_io *io)
    {
        if (at < chunk.count || !more)
            return;
        at = 0;
        more = io->next(io->context, &chunk);
        begun += more;
    }
};

bool run_model(struct model *model, const struct model_io *io)
{
    engine *m = of(model);
    source s;
    size_t done = 0;
    unsigned idle = 0;
    m->random = io->seed;
    s.advance(io);
    while ((s.more || done < s.begun) && idle++ < PATIENCE) {
        /* An offered beat that was not taken stays. */
        if (!m->top.s_axis_tvalid && s.more && !m->chance(io->stall_in)) {
            put_words(m->top.s_axis_tdata, s.chunk.words + s.at);
            m->top.s_axis_tuser = (uint64_t)s.chunk.bank << 50 | (uint64_t)s.chunk.book << 42 |
                                  (uint64_t)s.chunk.plane << 28 | (uint64_t)s.chunk.row << 14 |
                                  s.chunk.count;
            m->top.s_axis_tlast = s.at + LANES >= s.chunk.count;
            m->top.s_axis_tvalid = 1;
        }
        m->top.m_axis_tready = !m->chance(io->stall_out);
        m->settle();
        const bool sent = m->top.s_axis_tvalid && m->top.s_axis_tready;
        if (m->top.m_axis_tvalid && m->top.m_axis_tready) {
            uint32_t words[LANES];
            get_words(m->top.m_axis_tdata, words);
            io->take(io->context, words, kept_bytes(m->top.m_axis_tkeep) / 4, m->top.m_axis_tlast);
            done += m->top.m_axis_tlast;
            idle = 0;
        }
        m->edge();
        if (sent) {
            m->top.s_axis_tvalid = 0;
            s.at += LANES;
            idle = 0;
            s.advance(io);
        }
    }
    m->top.m_axis_tready = 0;
    return done == s.begun && !s.more;
}

} // namespace

extern "C" const struct model_type JOIN(model_, LANES);
const struct model_type JOIN(model_, LANES) = {
    LANES, open_model, close_model, write_register, read_register, run_model,
};
