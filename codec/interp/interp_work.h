/* interp_work.h - what the files of encoder 3 share. */
#ifndef ZMPI_INTERP_WORK_H
#define ZMPI_INTERP_WORK_H

#include "interp/interp.h"
#include "kernels/kernels.h"

enum { PAD = 4 }; /* cells before and behind a row */

/* An encoder's value that is an exception: it becomes its prediction, which costs least, and is the
 * same when decoded data are coded again. */
#define NO_VALUE INT32_MIN

/* One class of a level: its points in rows without gaps but for the pads. */
struct cells {
    int n[3];
    size_t row, plane;
    int32_t *value;
    unsigned char *size; /* magnitudes of codes, at most ZMPI_INTERP_MAGNITUDE */
};

struct level {
    int n[3];
    struct cells of[8]; /* [0] is the level above it as a whole */
};

enum mode { ENCODE, DECODE };

/* Codes of a chunk in the order in which they are coded; rows, whose elements go to lanes in turn.
 */
struct codes {
    int32_t *code;
    unsigned char *context, *symbol;
    uint32_t *rows; /* elements of each */
    size_t count, row_count;
    uint64_t extra; /* raw bits behind symbols */
};

/* Takes bits, the lowest first. */
struct bits {
    const unsigned char *at, *end;
    uint64_t have;
    unsigned count;
    bool over; /* more was asked for than there is */
};

struct put {
    unsigned char *at;
    uint64_t have;
    unsigned count;
};

/* A table of frequencies, which add up to 4096. */
struct table {
    unsigned symbols; /* up to the last that occurs */
    uint16_t frequency[ZMPI_INTERP_SYMBOLS], first[ZMPI_INTERP_SYMBOLS];
};

struct unrans {
    uint32_t state[16];
    unsigned mask; /* lanes - 1 */
    const unsigned char *at, *end;
    bool over;
    const uint32_t *slots; /* of all tables: symbol, 7 bits; place in it; frequency - 1 */
    uint32_t table[32];    /* where each context's begins */
    struct bits extra;
};

struct zmpi_interp_work {
    size_t most;       /* elements */
    struct cells flat; /* the tile */
    struct level level[ZMPI_INTERP_LEVELS];
    int32_t *values; /* memory of all cells */
    unsigned char *sizes;
    int32_t *scratch[6];               /* rows */
    size_t longest;                    /* of them */
    unsigned char *contexts, *symbols; /* of a row */
    uint16_t *sums;                    /* of sizes */
    enum mode mode;
    unsigned shift;
    bool watch; /* count values, and those that are not just where a step leads */
    size_t seen, off;
    struct codes codes;
    struct unrans in;
    zmpi_interp_symbols_fn *take_symbols; /* of this machine, or NULL */
    uint32_t *slots;                      /* of all tables */
    unsigned char *exception;             /* encoder: 1 for each element that is one */
    void *clean;                          /* three rows of floats */
    unsigned char *out;                   /* encoder: words, backwards from the end */
    size_t out_size;
    uint32_t histogram[ZMPI_INTERP_CONTEXTS][ZMPI_INTERP_SYMBOLS];
    uint32_t tried[ZMPI_INTERP_MAGNITUDE + 1];
    uint16_t logs[1025]; /* log2(1 + i / 1024) in 1/32768 */
};

/* ---- interp_lattice.c, interp_lorenzo.c ---- */

/* Lay out the classes of a tile. False: more than there is room for. */
void zmpi_interp_layout(struct zmpi_interp_work *w, const struct zmpi_interp_set *set,
                        const size_t extent[3]);
/* Code the tile in w->flat, which holds what a decoder has afterwards; or decode it. choose: take
 * the ways that cost least. */
void zmpi_interp_lattice(struct zmpi_interp_work *w, struct zmpi_interp_set *set, bool choose);
void zmpi_interp_lorenzo(struct zmpi_interp_work *w, const struct zmpi_interp_set *set);

/* Cells that a tile's classes take; and rows. */
size_t zmpi_interp_cells(const struct zmpi_interp_set *set, const size_t tile[3], size_t *rows);

/* Codes of a tile begin; one row: contexts are in w->contexts. Symbols are counted on the way. */
void zmpi_interp_code_begin(struct zmpi_interp_work *w);
void zmpi_interp_code_row(struct zmpi_interp_work *w, const int32_t *code, size_t n);
void zmpi_interp_decode_row(struct zmpi_interp_work *w, int32_t *code, size_t n);

/* Contexts of a row of n from those above and before, and from sums of sizes at `axes` pairs of
 * reference points; NULL: there is none. */
void zmpi_interp_contexts(struct zmpi_interp_work *w, const struct cells *c, int z, int y,
                          const uint16_t *sums, int axes);

/* Were the values that were seen decoded, as it seems? Some may be exceptions. */
static inline bool zmpi_interp_known(const struct zmpi_interp_work *w)
{
    return w->seen > 0 && w->off <= w->seen / 8;
}

/* ---- interp_tables.c ---- */

enum { ZMPI_INTERP_PRECISION = 12, ZMPI_INTERP_ESCAPES = 49 /* the first such symbol */ };

void zmpi_interp_logs(uint16_t logs[1025]);
/* Bits of what is in w->codes, in 1/256, tables included. */
uint64_t zmpi_interp_cost(struct zmpi_interp_work *w);
/* Bits, in 1/32768, that symbols of these counts take. */
uint64_t zmpi_interp_entropy(const uint16_t *logs, const uint32_t *counts, size_t n);

/* Weights near the counts; up to which symbol any is not 0. */
unsigned zmpi_interp_weigh(const uint32_t *counts, unsigned char *weights);
/* Frequencies from weights; 0: does not occur. All is decided by the weights, so that there are no
 * wrong tables. False: all are 0. */
bool zmpi_interp_make_table(struct table *t, const unsigned char *weights);
void zmpi_interp_put_table(struct put *p, const unsigned char *weights, unsigned symbols);
bool zmpi_interp_take_table(struct bits *b, struct table *t);

struct zmpi_interp_groups {
    unsigned count;
    unsigned char of[ZMPI_INTERP_CONTEXTS]; /* group of each context */
    uint32_t counts[ZMPI_INTERP_CONTEXTS][ZMPI_INTERP_SYMBOLS];
    uint64_t cost[ZMPI_INTERP_CONTEXTS];
};
/* Contexts by w->histogram: merged, as long as it saves, by the pair that saves most. */
void zmpi_interp_group(struct zmpi_interp_work *w, struct zmpi_interp_groups *g);

/* ---- interp_rans.c ---- */

/* Tables, escapes and words of w->codes to dst; returns the size; 0: not below `most` bytes. */
size_t zmpi_interp_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* Prepare w->in for them. */
bool zmpi_interp_unpack(struct zmpi_interp_work *w, const unsigned char *src, size_t size);
/* Were they read to their end? */
bool zmpi_interp_unpacked(const struct zmpi_interp_work *w);

#endif
