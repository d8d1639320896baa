/* flare_sim.c - which models are built, and blocks' points in their orders (format.md 1.6). */
#include "flare_sim.h"

#include <stdlib.h>

#include "flare_sim_engine.h"

#define MODEL(arrays)                                                                              \
    void *flare_open_##arrays(void);                                                               \
    void flare_close_##arrays(void *at);                                                           \
    bool flare_run_##arrays(void *at, struct flare_sim_chunk *c, unsigned stall,                   \
                            struct flare_sim_cycles *cycles);
#include "flare_models.h"
#undef MODEL

static const struct model {
    unsigned arrays;
    void *(*open)(void);
    void (*close)(void *at);
    bool (*run)(void *at, struct flare_sim_chunk *c, unsigned stall,
                struct flare_sim_cycles *cycles);
} models[] = {
#define MODEL(arrays) {arrays, flare_open_##arrays, flare_close_##arrays, flare_run_##arrays},
#include "flare_models.h"
#undef MODEL
};

struct flare_sim {
    const struct model *model;
    void *at;
};

struct flare_sim *flare_sim_open(unsigned arrays)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (models[i].arrays == arrays) {
            struct flare_sim *s = malloc(sizeof *s);
            if (s)
                *s = (struct flare_sim){&models[i], models[i].open()};
            return s;
        }
    return NULL;
}

void flare_sim_close(struct flare_sim *s)
{
    s->model->close(s->at);
    free(s);
}

bool flare_sim_run(struct flare_sim *s, struct flare_sim_chunk *c, unsigned stall,
                   struct flare_sim_cycles *cycles)
{
    return s->model->run(s->at, c, stall, cycles);
}

/* ---- a block ---- */

/* The next place of direction `axis` from out[] on, in which there is none yet. */
static void find_direction(struct flare_block_walk *b)
{
    while (b->axis >= 0 && b->n[b->axis] < 2)
        b->axis--;
    for (int i = 0; i < 3; i++)
        b->out[i] = i == b->axis;
}

size_t flare_block_begin(struct flare_block_walk *b, const struct flare_sim_chunk *c,
                         unsigned shift, const size_t first[3], const int n[3], size_t code)
{
    const size_t row = c->extent[2], plane = row * c->extent[1];
    size_t known = 1;
    *b = (struct flare_block_walk){.first = first[0] * plane + first[1] * row + first[2],
                                   .step = {plane << shift, row << shift, (size_t)1 << shift},
                                   .left = 1,
                                   .code = code,
                                   .axis = 2};
    for (int i = 0; i < 3; i++) {
        b->n[i] = n[i];
        b->left *= (size_t)n[i];
        known *= (size_t)(n[i] + 1) / 2;
    }
    b->all = b->left - known;
    find_direction(b);
    return b->all;
}

static size_t place(const struct flare_block_walk *b, const int at[3])
{
    return b->first + (size_t)at[0] * b->step[0] + (size_t)at[1] * b->step[1] +
           (size_t)at[2] * b->step[2];
}

/* Of direction `axis` the place of at[]'s code. */
static size_t code_of(const struct flare_block_walk *b, const int at[3])
{
    const int axis = at[0] % 2 ? 0 : at[1] % 2 ? 1 : 2;
    size_t code = b->code, within = 0;
    for (int a = 2; a >= axis; a--) {
        size_t points = 1;
        for (int i = 0; i < 3; i++) {
            const int odd = b->n[i] / 2, even = (b->n[i] + 1) / 2;
            const int count = i == a ? odd : i < a ? even : b->n[i];
            points *= (size_t)count;
            if (a == axis)
                within = within * (size_t)count + (size_t)(i <= a ? at[i] / 2 : at[i]);
        }
        code += a > axis ? points : 0;
    }
    return code + within;
}

int32_t flare_block_give(struct flare_block_walk *b, const struct flare_sim_chunk *c, bool *none)
{
    const bool known = !(b->at[0] % 2 || b->at[1] % 2 || b->at[2] % 2);
    int32_t v = c->value[place(b, b->at)];
    *none = false;
    if (!known && c->decode)
        v = c->code[code_of(b, b->at)];
    else
        *none = !known && v == INT32_MIN;
    b->left--;
    for (int i = 2; i >= 0 && ++b->at[i] == b->n[i]; i--)
        b->at[i] = 0;
    return v;
}

bool flare_put_code(struct flare_sim_chunk *c, size_t *sent, int32_t code, bool escape)
{
    if (*sent >= c->codes || escape != (code < -127 || code > 127) ||
        (c->decode && c->code[*sent] != code))
        return false;
    c->code[(*sent)++] = code;
    return true;
}

bool flare_block_take(struct flare_block_walk *b, struct flare_sim_chunk *c, int32_t value,
                      bool last)
{
    if (b->axis < 0 || last != (b->made + 1 == b->all))
        return false;
    c->value[place(b, b->out)] = value;
    b->made++;
    int i = 2;
    for (; i >= 0; i--) {
        b->out[i] += i <= b->axis ? 2 : 1;
        if (b->out[i] < b->n[i])
            break;
        b->out[i] = i == b->axis;
    }
    if (i < 0) {
        b->axis--;
        find_direction(b);
    }
    return true;
}
