/*
 * coll_rule.c - decides about a call, by conditions that are the same in every run, so that a run
 * gives the same values again. Measured time decides only if no value depends on it, or if the user
 * asks for it.
 */
#include "collective/coll_auto.h"

static const char *const option_names[ZOPS] = {
#define X(id, name, option) [ZOP_##id] = option,
    ZOP_LIST(X)
#undef X
};

bool zrule_wanted(const struct zmpi_options *o, enum zop op)
{
    return o->collective_mode != ZMPI_COLLECTIVE_NEVER &&
           (zmpi_options_collective(o, option_names[op]) ||
            (op == ZOP_BCAST && zmpi_options_collective(o, "bcast_lossy")));
}

bool zrule_by_time(const struct zcall *c)
{
    return c->exact || c->state->options.bound.mode == ZMPI_LOSSLESS ||
           c->state->options.collective_mode == ZMPI_COLLECTIVE_MEASURED;
}

/*
 * With `auto` a call that may be lossy goes raw if all its data are less than so many times
 * ZMPI_COLLECTIVE_MIN. Over a fast link the agreement, the range and the starts of messages take as
 * long as compression saves (0.2 ms are 240 KB at 10 Gbit/s).
 */
enum { LEAST_IN_ALL = 16 };

bool zrule_enough(const struct zcall *c)
{
    const struct zmpi_options *o = &c->state->options;
    const double min = (double)o->collective_min, bytes = (double)c->bytes;
    const double all = c->op == ZOP_BCAST ? bytes : bytes * (c->state->ranks - 1);
    const bool ruled = o->collective_mode == ZMPI_COLLECTIVE_AUTO && !zrule_by_time(c);
    return bytes >= min && (!ruled || all >= LEAST_IN_ALL * min);
}

bool zrule_may_skip(const struct zcall *c)
{
    return c->all_know && zrule_by_time(c);
}

bool zrule_is_fixed(const struct zcall *c)
{
    return c->lossy && !zrule_by_time(c);
}

void zcall_look(struct zcall *c, enum zmpi_type element)
{
    const bool is_float = element == ZMPI_F32 || element == ZMPI_F64;
    c->lossy |= is_float && !c->exact && c->state->options.bound.mode != ZMPI_LOSSLESS;
}

/* Both encoders give the same values, except for a ratio: its bound depends on the encoder. */
struct zauto_ways zrule_ways(const struct zcall *c)
{
    const struct zmpi_options *o = &c->state->options;
    const bool fixed = zrule_is_fixed(c);
    const bool picks = zcall_picks(c) && !(fixed && zcall_wants_ratio(c));
    enum zmpi_variant variant;
    const int asked = zmpi_options_encoder(o, &variant);
    /* interp takes huffman's place if it can (coll_stream.c). */
    struct zauto_ways ways = {.first = asked < ZWAYS ? asked : ZMPI_HUFFMAN};
    ways.may[ZRAW] = o->collective_mode != ZMPI_COLLECTIVE_ALWAYS && !fixed;
    for (int way = 1; way < ZWAYS; way++)
        ways.may[way] = picks || way == ways.first;
    return ways;
}
