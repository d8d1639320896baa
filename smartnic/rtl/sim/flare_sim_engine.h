/* flare_sim_engine.h - the way through a block's points, for each model of flare_sim_t.h. */
#ifndef ZMPI_FLARE_SIM_ENGINE_H
#define ZMPI_FLARE_SIM_ENGINE_H

#include "flare_sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct flare_block_walk {
    size_t first, step[3]; /* of its points, in the chunk */
    int n[3];
    int at[3];        /* the next one to give */
    size_t left;      /* to give */
    size_t code;      /* place of its first code */
    size_t made, all; /* codes */
    int axis, out[3]; /* the next one to take: direction, place */
};

/* Its codes. */
size_t flare_block_begin(struct flare_block_walk *b, const struct flare_sim_chunk *c,
                         unsigned shift, const size_t first[3], const int n[3], size_t code);
/* What goes in, row by row. */
int32_t flare_block_give(struct flare_block_walk *b, const struct flare_sim_chunk *c, bool *none);
/* What comes out, direction by direction. False: there is no more. */
bool flare_block_take(struct flare_block_walk *b, struct flare_sim_chunk *c, int32_t value,
                      bool last);
/* The next code of all. False: it is not what it should be. */
bool flare_put_code(struct flare_sim_chunk *c, size_t *sent, int32_t code, bool escape);

#ifdef __cplusplus
}
#endif
#endif
