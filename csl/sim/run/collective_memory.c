/* collective_memory.c - memory that the calls of <collectives_2d> use, by their arguments. */
#include "sim.h"

uint32_t csl_line_size(const struct pe *pe, unsigned axis)
{
    return axis == 0 ? pe->sim->width : pe->sim->height;
}

unsigned csl_collective_spans(const struct pe *pe, unsigned axis, struct span span[2])
{
    const struct collective *c = &pe->collective[axis];
    const bool root = (axis == 0 ? pe->x : pe->y) == c->root;
    const uint32_t one = 4u * c->count, all = one * csl_line_size(pe, axis);
    switch (c->op) {
    case COLLECTIVE_BROADCAST:
        span[0] = (struct span){c->send, one, !root};
        return 1;
    case COLLECTIVE_SCATTER:
        span[0] = (struct span){c->recv, one, true};
        span[1] = (struct span){c->send, all, false};
        return root ? 2 : 1;
    default:
        span[0] = (struct span){c->send, one, false};
        span[1] = (struct span){c->recv, c->op == COLLECTIVE_GATHER ? all : one, true};
        return root ? 2 : 1;
    }
}

bool csl_collective_uses(const struct pe *pe, unsigned axis, int64_t low, int64_t high, bool write)
{
    struct span span[2];
    if (pe->collective[axis].called == 0)
        return false;
    for (unsigned i = csl_collective_spans(pe, axis, span); i-- > 0;)
        if ((write || span[i].write) && span[i].bytes > 0 && span[i].address < high &&
            (int64_t)span[i].address + span[i].bytes > low)
            return true;
    return false;
}

const char *csl_collective_name(enum collective_op op)
{
    static const char *const names[] = {"init", "broadcast", "scatter", "gather", "reduce_fadds"};
    return names[op];
}
