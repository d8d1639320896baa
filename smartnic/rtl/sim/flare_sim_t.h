/*
 * flare_sim_t.h - template: the Verilated engine of so many arrays, and what a driver and a DMA do
 * around it.
 *
 * Parameter: ARRAYS.
 */
#include "flare_sim.h"
#include "flare_net_words.h"
#include "flare_sim_engine.h"

#include <algorithm>
#include <cstring>
#include <deque>

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

/* Registers without a reset may hold anything. */
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

/* One run of the engine: registers, and all of its streams, cycle by cycle. */
class driver
{
  public:
    driver(engine &e, flare_sim_run &r) : top(e.top), r(r)
    {
    }

    bool run()
    {
        reset();
        set_registers();
        if (r.net)
            set_network();
        write(COMMAND, r.in ? 9 : r.decode ? 3 : 1);
        top.reg_at = COMMAND;
        step(8); /* until the answer is of a run that has begun */
        while (!failed && (top.reg_answer & BUSY)) {
            if (top.reg_answer & WRONG)
                return false;
            if (top.reg_answer & ASKS)
                answer(top.reg_answer >> 8 & 3);
            step(1);
        }
        return !failed && finish();
    }

  private:
    enum { COMMAND = 2, NZ = 4, NY, NX, ROW, PLANE, LAST_BATCH, COARSE, TOTAL = 12, CYCLES = 16 };
    enum { NETWORK = 24, PIECE, SHIFTS, WEIGHTS, BIASES, SIDE = 30 };
    enum { SLICES = 256, COUNTS = 1024, BOOK = 2048, TABLE = 4096 };
    enum { BUSY = 1, ASKS = 2, WRONG = 4, LATENCY = 3, PATIENCE = 4000000 };

    JOIN(Vflare_, ARRAYS) & top;
    flare_sim_run &r;
    flare_walk give[ARRAYS] = {};
    std::deque<flare_walk> take[ARRAYS];
    uint64_t random = 1;
    uint32_t offered = 0;
    unsigned idle = 0;
    bool failed = false;
    size_t anchors_in = 0, anchors_out = 0, escapes = 0, words = 0;
    size_t bytes = 0, outputs = 0, slice = 0; /* of the network; outputs of this slice */

    bool stalls()
    {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 56) < r.stall;
    }

    void edge()
    {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    }

    /* ---- registers ---- */

    void reset()
    {
        top.reg_write = top.s_valid = top.m_ready = 0;
        top.a_valid = top.n_ready = top.e_ready = top.x_valid = top.b_ready = top.d_valid = 0;
        top.i_valid = top.o_ready = 0;
        top.rst = 1;
        for (int i = 0; i < 4; i++)
            edge();
        top.rst = 0;
    }

    void write(unsigned at, uint32_t value)
    {
        top.reg_write = 1;
        top.reg_at = (uint16_t)at;
        top.reg_data = value;
        step(1);
        top.reg_write = 0;
    }

    /* n of them; one comes each cycle. */
    void read(unsigned at, unsigned n, uint32_t *value)
    {
        for (unsigned i = 0; i < n + LATENCY; i++) {
            if (i >= LATENCY)
                value[i - LATENCY] = top.reg_answer;
            top.reg_at = (uint16_t)(at + i);
            step(1);
        }
    }

    void set_registers()
    {
        const size_t *e = r.chunk->extent, row = (e[2] + 1) / 2;
        write(NZ, (uint32_t)e[0]);
        write(NY, (uint32_t)e[1]);
        write(NX, (uint32_t)e[2]);
        write(ROW, (uint32_t)row);
        write(PLANE, (uint32_t)(row * ((e[1] + 1) / 2)));
        write(LAST_BATCH, r.batches - 1);
        write(COARSE, (uint32_t)r.coarse);
        for (unsigned b = 0; b < FLARE_BATCHES; b++)
            write(TOTAL + b, (uint32_t)r.total[b]);
    }

    void set_network()
    {
        const size_t n = r.chunk->extent[0] * plane();
        memset(r.chunk->out, 0, n);
        write(NETWORK, 1u | (uint32_t)(r.in != nullptr) << 1 | (uint32_t)r.beside << 8);
        write(PIECE, (uint32_t)(r.piece[0] | r.piece[1] << 8));
        if (!r.loads)
            return;
        uint32_t side, word;
        read(SIDE, 1, &side);
        const flare_net_words words(*r.net, (int)side);
        write(SHIFTS, words.shifts);
        for (size_t i = 0; i < words.weight.size(); i += 4) {
            memcpy(&word, &words.weight[i], 4); /* the lowest first: machines that simulate do so */
            write(WEIGHTS, word);
        }
        for (const uint32_t bias : words.bias)
            write(BIASES, bias);
    }

    size_t plane() const
    {
        return r.chunk->extent[1] * r.chunk->extent[2];
    }

    /* The book of a batch. */
    void answer(unsigned batch)
    {
        static uint32_t count[FLARE_SYMBOLS];
        static uint16_t book[FLARE_TABLE];
        if (!r.decode)
            read(COUNTS, FLARE_SYMBOLS, count);
        r.ask(r.context, batch, count, book);
        for (unsigned i = 0; i < (r.decode ? FLARE_TABLE : FLARE_SYMBOLS); i++)
            write((r.decode ? TABLE : BOOK) + i, book[i]);
        write(COMMAND, 4);
        step(8);
        idle = 0;
    }

    bool finish()
    {
        static uint32_t range[256], count[5];
        read(SLICES, 256, range);
        for (unsigned i = 0; i < 128; i++) {
            r.chunk->least[i] = (int32_t)range[2 * i];
            r.chunk->largest[i] = (int32_t)range[2 * i + 1];
        }
        read(CYCLES, 5, count);
        r.chunk->network = count[4];
        if (r.net && outputs && outputs != plane())
            return false; /* within a slice */
        if (r.in)
            return bytes == r.chunk->extent[0] * plane() && outputs;
        r.chunk->cycles = count[0];
        r.chunk->predict = count[1];
        r.chunk->runs = count[2];
        r.chunk->codes = count[3];
        for (unsigned k = 0; k < ARRAYS; k++)
            if (!take[k].empty() || give[k].left)
                return false;
        if (anchors_in != r.anchors || anchors_out != r.anchors)
            return false;
        if (r.decode)
            return escapes == r.escapes && words == r.words;
        r.escapes = escapes;
        r.words = words;
        return true;
    }

    /* ---- streams ---- */

    void step(unsigned n)
    {
        for (; n > 0; n--) {
            offer();
            top.eval();
            if (++idle > PATIENCE)
                failed = true;
            take_anchors();
            take_values();
            take_bits();
            take_outputs();
            if (top.job)
                begin();
            const bool moved[] = {top.a_valid && top.a_ready, top.x_valid && top.x_ready,
                                  top.d_valid && top.d_ready, top.i_valid && top.i_ready};
            const uint32_t gone = offered & top.s_ready;
            edge();
            anchors_in += moved[0];
            escapes += moved[1];
            words += moved[2];
            bytes += moved[3];
            if (moved[0])
                top.a_valid = 0;
            if (moved[1])
                top.x_valid = 0;
            if (moved[2])
                top.d_valid = 0;
            if (moved[3])
                top.i_valid = 0;
            offered &= ~gone;
            if (moved[0] || moved[1] || moved[2] || moved[3] || gone)
                idle = 0;
        }
    }

    int32_t value_at(size_t place, bool *none)
    {
        *none = r.chunk->value[place] == INT32_MIN;
        return r.chunk->value[place];
    }

    /* An offered word that was not taken stays. */
    void offer()
    {
        bool none = false;
        if (!top.a_valid && anchors_in < r.anchors && !stalls()) {
            top.a_data =
                (uint32_t)(r.decode ? r.anchor[anchors_in]
                                    : value_at(flare_anchor_place(r.chunk, anchors_in), &none));
            top.a_none = none;
            top.a_valid = 1;
        }
        if (r.decode && !top.x_valid && escapes < r.escapes && !stalls()) {
            top.x_code = (uint32_t)r.escape[escapes] & 0xFFFFFF;
            top.x_valid = 1;
        }
        if (r.decode && !top.d_valid && words < r.words && !stalls()) {
            top.d_word = r.word[words];
            top.d_valid = 1;
        }
        if (r.in && !top.i_valid && bytes < r.chunk->extent[0] * plane() && !stalls()) {
            top.i_byte = r.in[bytes];
            top.i_valid = 1;
        }
        uint32_t takes = 0;
        for (unsigned k = 0; k < ARRAYS; k++) {
            if (!bit(offered, k) && give[k].left > 0 && !stalls()) {
                set_word(top.s_data, k, (uint32_t)value_at(flare_walk_next(&give[k]), &none));
                top.s_none = (top.s_none & ~(1u << k)) | (uint32_t)none << k;
                offered |= 1u << k;
            }
            takes |= (uint32_t)!stalls() << k;
        }
        top.s_valid = offered;
        top.m_ready = takes;
        top.n_ready = !stalls();
        top.e_ready = !stalls();
        top.b_ready = !stalls();
        top.o_ready = !stalls();
    }

    void take_anchors()
    {
        if (!(top.n_valid && top.n_ready))
            return;
        idle = 0;
        failed |= anchors_out >= r.anchors;
        if (failed)
            return;
        r.chunk->value[flare_anchor_place(r.chunk, anchors_out)] = (int32_t)top.n_value;
        if (!r.decode)
            r.anchor[anchors_out] = (int32_t)top.n_code;
        anchors_out++;
    }

    void take_values()
    {
        for (unsigned k = 0; k < ARRAYS; k++) {
            if (!bit(top.m_ready & top.m_valid, k))
                continue;
            idle = 0;
            if (take[k].empty()) {
                failed = true;
                return;
            }
            r.chunk->value[flare_walk_next(&take[k].front())] = (int32_t)word_of(top.m_value, k);
            if (!take[k].front().left)
                take[k].pop_front();
        }
    }

    void take_bits()
    {
        if (top.e_valid && top.e_ready && !r.decode) {
            idle = 0;
            failed |= escapes >= r.most_escapes;
            if (!failed)
                r.escape[escapes++] = (int32_t)(top.e_code << 8) >> 8;
        }
        if (top.b_valid && top.b_ready) {
            idle = 0;
            failed |= words >= r.most_words;
            if (!failed)
                r.word[words++] = top.b_word;
        }
    }

    /* Piece by piece of a slice, each row by row. */
    void take_outputs()
    {
        if (!(top.o_valid && top.o_ready))
            return;
        idle = 0;
        failed |= !r.net || top.o_slice >= r.chunk->extent[0];
        if (outputs == plane())
            outputs = 0;
        failed |= outputs && top.o_slice != slice;
        if (failed)
            return;
        slice = top.o_slice;
        const size_t ny = r.chunk->extent[1], nx = r.chunk->extent[2];
        const size_t row = outputs / (r.piece[0] * nx) * r.piece[0];
        const size_t h = std::min(r.piece[0], ny - row);
        const size_t i = outputs - row * nx, column = i / (h * r.piece[1]) * r.piece[1];
        const size_t w = std::min(r.piece[1], nx - column), k = i - h * column;
        r.chunk->out[slice * plane() + (row + k / w) * nx + column + k % w] = (int8_t)top.o_value;
        outputs++;
    }

    void begin()
    {
        const uint64_t p = top.job_at;
        const size_t first[3] = {(size_t)(p >> 32 & 0xFFFF), (size_t)(p >> 16 & 0xFFFF),
                                 (size_t)(p & 0xFFFF)};
        const int n[3] = {(int)(top.job_count >> 12 & 63), (int)(top.job_count >> 6 & 63),
                          (int)(top.job_count & 63)};
        flare_walk walk;
        flare_walk_begin(&walk, r.chunk, top.job_shift, first, n);
        failed |= give[top.job_array].left > 0; /* it was not done */
        if (!walk.left)
            return;
        take[top.job_array].push_back(walk);
        if (!r.decode)
            give[top.job_array] = walk;
    }
};

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

extern "C" bool JOIN(flare_run_, ARRAYS)(void *at, struct flare_sim_run *r)
{
    return driver(*static_cast<engine *>(at), *r).run();
}
