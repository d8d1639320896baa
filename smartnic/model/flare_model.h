/*
 * flare_model.h - FLARE's computing core in cycles and bytes: the look-ahead order, what is in
 * memory, what engines wait for, what leaves the chip. Sizes are the paper's (Table 3) unless they
 * are changed.
 */
#ifndef FLARE_MODEL_H
#define FLARE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLARE_SIDE = 32, FLARE_LEVELS_MOST = 8, FLARE_ARRAYS_MOST = 64, FLARE_CORES_MOST = 16 };

/* ---- look-ahead order (flare_schedule.c) ---- */

/* A slab: the neighbouring blocks of a level. */
struct flare_slab {
    unsigned level;   /* 1: the finest */
    size_t plane;     /* where it begins in the array */
    uint64_t points;  /* all of the level's points in it */
    uint64_t made;    /* of these, new ones */
    uint64_t waiting; /* points that wait while it is made: deferred halves */
};

/* The slabs of an array of this shape, with so many levels, in order. Returns their number; stores
 * at most `most`. */
size_t flare_schedule(const size_t extent[3], unsigned levels, struct flare_slab *slab,
                      size_t most);
/* The largest number of points in the SRAM at a time: those of the slab being made, and waiting
 * ones. */
uint64_t flare_peak(const struct flare_slab *slab, size_t n);
/* The law for whole regions: the share of the points that is in the SRAM at a time. */
double flare_share(unsigned levels);

/* ---- cycles (flare_time.c) ---- */

/* Latencies of our RTL: from a point's address to its code, and to the next direction; from a
 * block's last known point to the first direction, and from its end to the next block. */
enum { FLARE_RTL_DRAIN = 8, FLARE_RTL_BEGIN = 2, FLARE_BATCHES_MOST = 4 };
/* For a batch's table, with the registers beside it. */
enum { FLARE_RTL_TABLE = 4096 + 20 };

struct flare_core {
    unsigned arrays;         /* M */
    double cycles_of_point;  /* of an array of the prediction engine */
    unsigned drain;          /* cycles that an array needs behind each direction of a block */
    bool loads;              /* a block's known points come before it begins, one per cycle */
    double pes;              /* multipliers of the neural engine: 128 * 128 */
    double use;              /* share of them that is used */
    double macs;             /* of the network, for a point, forward */
    double passes;           /* training: epochs times (forward + backward = 3 times forward) */
    double symbols_of_cycle; /* of the codec engine */
    double fifo1, fifo2;     /* bytes */
};

/* Points of the block at `at` along each axis; only every stride-th counts. */
void flare_block_sides(const size_t extent[3], const size_t at[3], size_t stride, size_t n[3]);
/* Cycles of an array from a block's first known point to the next block. */
double flare_block_cycles(const struct flare_core *core, const size_t n[3]);
/* Cycles of M arrays for the slabs' blocks: an array takes the next block when it is free; the next
 * slab begins when all are done. extent: of the array. */
uint64_t flare_predict_cycles(const struct flare_core *core, const size_t extent[3],
                              const struct flare_slab *slab);

struct flare_times {
    double predict, network, codec; /* busy cycles of each engine */
    double total;                   /* from the first cycle to the last, with waits */
    size_t batches;
};
/* A whole array, compressed or decompressed. */
struct flare_times flare_time(const struct flare_core *core, const size_t extent[3],
                              bool decompress);
/* The time of the slowest of `cores` cores that take n sets, the longest first. */
double flare_makespan(const double *seconds, size_t n, unsigned cores);

/* ---- our RTL (flare_engine.c) ---- */

struct flare_engine_times {
    double predict, total; /* while it predicts; from the first cycle to the last */
};
/* Compresses a chunk of up to 128 slices. code: its codes in order, of 8 bits; NULL: none is 0.
 * Returns 0 0 if there is no memory, or the chunk is larger. */
struct flare_engine_times flare_engine_time(const struct flare_core *core, const size_t extent[3],
                                            const signed char *code);

/* Decompresses, from sections in their order (flare_back.c). */
struct flare_section {
    bool begins_batch; /* of which the table comes first */
    struct flare_stream {
        uint64_t codes, symbols, words; /* of 8 bytes */
    } stream[4];
};
double flare_back_time(const struct flare_core *core, const size_t extent[3],
                       const struct flare_section *section, size_t sections);
/* The sections of a chunk that the codec has coded to `bytes`, which are trusted: one for each 8192
 * codes, at most one more for each batch. Returns how many; 0: no memory (flare_sections.c). */
size_t flare_sections(const size_t extent[3], const unsigned char *bytes,
                      struct flare_section *section);

/* Cycles of a side * side array for a point of a large piece of a slice, with the input of the next
 * piece. */
double flare_net_cycles(unsigned side);
/* Cycles that it takes for a chunk whose slices have these ranges. Prediction waits meanwhile: what
 * else is done is the next batch's table at most. */
double flare_net_time(unsigned side, const size_t extent[3], const int32_t *least,
                      const int32_t *largest);

/* ---- bytes off the chip (flare_traffic.c) ---- */

enum flare_part { FLARE_NORMALIZE, FLARE_PREDICT, FLARE_NETWORK, FLARE_CODEC, FLARE_PARTS };
/* The baseline: words of 4 bytes for a point; each number is one move of a whole array. */
struct flare_baseline {
    bool rereads; /* each level reads the points of earlier levels once more for each direction */
    bool narrow_codes; /* codes are bytes, not words */
    bool fused_sweep;  /* one sweep for the range, another for subtraction and scaling */
};
struct flare_traffic {
    double saved[FLARE_PARTS]; /* words for a point */
    double baseline, left;
};
struct flare_traffic flare_traffic(const struct flare_baseline *b);

/* ---- what the profile costs (flare_ratio.c) ---- */

/* Prints a table of the files NAME_DIMS.f32 or .f64 at this relative bound. */
int flare_ratios(double rel, char *const *files, int n);

/* ---- arrays of a shape, made of a field (flare_arrays.c) ---- */

enum { FLARE_WAYS = 4 }; /* M = 1, 2, 4, 8 */
/* Copies of a field beside each other, every second one mirrored, as our RTL codes and decodes
 * them, chunk by chunk. */
struct flare_array {
    uint64_t points, codes, zeros;                                /* zeros: codes that are 0 */
    double compress[FLARE_WAYS], decompress[FLARE_WAYS], network; /* cycles; P = 8 */
    double least[FLARE_WAYS], most[FLARE_WAYS]; /* to compress it if all codes, or none, are 0 */
};
/* rel: the bound, of the field's range. False: no such file, no memory, or chunks that the profile
 * does not code. */
bool flare_array_measure(const char *path, double rel, const size_t extent[3],
                         struct flare_array *a);

#endif
