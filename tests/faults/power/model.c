/* model.c - see model.h. */
#include "model.h"

#include <string.h>

static uint64_t below(unsigned op)
{
    return op >= 64 ? UINT64_MAX : ((uint64_t)1 << op) - 1;
}

static void begin(struct model *m, const struct mark *k, const unsigned char *runs)
{
    const uint64_t bit = (uint64_t)1 << k->op;
    m->begun |= bit;
    if (k->kind != MARK_WRITE) {
        m->end[k->op] = k->size;
        m->sizes |= k->kind == MARK_SIZE ? bit : 0;
        for (uint64_t p = k->size; p < PLACES && k->kind == MARK_SIZE; p++)
            m->covers[p] |= bit;
        return;
    }
    for (uint32_t i = 0; i < k->runs; i++) {
        struct mark_run run;
        memcpy(&run, runs + i * sizeof run, sizeof run);
        for (uint32_t p = run.begin; p < run.end; p++)
            m->covers[p] |= bit;
        m->end[k->op] = run.end > m->end[k->op] ? run.end : m->end[k->op];
    }
}

void model_mark(struct model *m, const unsigned char *bytes, size_t size)
{
    struct mark k;
    if (size < sizeof k)
        return;
    memcpy(&k, bytes, sizeof k);
    switch (k.kind) {
    case MARK_OPENED:
        if (m->open)
            m->killed |= m->begun & ~m->promised;
        m->open = true;
        break;
    case MARK_CLOSED:
        m->open = false;
        break;
    case MARK_SYNCED:
        m->promised |= m->begun & below(k.op) & ~m->killed;
        break;
    default:
        begin(m, &k, bytes + sizeof k);
    }
}

struct model_place model_at(const struct model *m, size_t place)
{
    const uint64_t writers = m->covers[place], promised = writers & m->promised;
    struct model_place is = {.writers = writers, .hole = promised == 0};
    if (promised != 0) { /* the last of these, or what came later */
        const uint64_t last = (uint64_t)1 << (63 - __builtin_clzll(promised));
        is.writers = writers & ~(last - 1);
        is.promised =
            is.writers == last && (last & m->sizes) == 0; /* not what lay behind the end */
    }
    is.hole = is.hole || (is.writers & m->sizes) != 0;
    is.writers &= ~m->sizes;
    return is;
}

void model_sizes(const struct model *m, uint64_t *least, uint64_t *greatest)
{
    *least = *greatest = 0;
    for (unsigned op = 0; op < OPS; op++) {
        const uint64_t bit = (uint64_t)1 << op, end = m->end[op];
        const bool promised = (m->promised & bit) != 0;
        if ((m->begun & bit) == 0)
            continue;
        if (m->sizes & bit) {
            *least = promised || end < *least ? end : *least;
            *greatest = promised || end > *greatest ? end : *greatest;
        } else {
            *least = promised && end > *least ? end : *least;
            *greatest = end > *greatest ? end : *greatest;
        }
    }
}
