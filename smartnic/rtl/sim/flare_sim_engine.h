/* flare_sim_engine.h - input and output of each model of flare_sim_t.h. */
#ifndef ZMPI_FLARE_SIM_ENGINE_H
#define ZMPI_FLARE_SIM_ENGINE_H

#include "flare_sim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLARE_TABLE = 4096, FLARE_SYMBOLS = 998, FLARE_BATCHES = 4 };

/* One run. Decoding takes anchors, escapes and words, and makes values; encoding makes all. */
struct flare_sim_run {
    struct flare_sim_chunk *chunk;
    bool decode;
    unsigned stall;
    unsigned batches;
    size_t coarse, total[FLARE_BATCHES]; /* codes */
    int32_t *anchor, *escape;            /* codes: all, and those of others that do not fit */
    uint64_t *word;                      /* of sections: four sizes of 16 bits, then streams */
    size_t anchors, escapes, words;
    size_t most_escapes, most_words; /* encoding: what there is room for */
    /* The book of a batch: encoding from counts, to length << 12 | code of each symbol; decoding
     * to a table. */
    void (*ask)(void *context, unsigned batch, const uint32_t *count, uint16_t *book);
    void *context;
    /* The network, if chunk->out is there; in pieces of this size. in: inputs that are all there
     * is to do, or NULL. loads: it is another one than before. */
    const struct flare_net *net;
    bool loads;
    size_t piece[2];
    const unsigned char *in;
    unsigned char beside;
};

/* The way through the new points of a block, in the order of their codes. */
struct flare_walk {
    size_t first, step[3]; /* in the chunk */
    size_t left;
    int n[3], at[3], axis;
};
void flare_walk_begin(struct flare_walk *b, const struct flare_sim_chunk *c, unsigned shift,
                      const size_t first[3], const int n[3]);
/* The next one's place in the chunk; left > 0. */
size_t flare_walk_next(struct flare_walk *b);
/* Of anchor i. */
size_t flare_anchor_place(const struct flare_sim_chunk *c, size_t i);

#ifdef __cplusplus
}
#endif
#endif
