/* interp_work.h - what the files of encoder 3 share. */
#ifndef ZMPI_INTERP_WORK_H
#define ZMPI_INTERP_WORK_H

#include <string.h>

#include "base/bytes.h"
#include "interp/interp.h"
#include "kernels/kernels.h"

enum {
    PAD = 2,    /* cells before and behind a row */
    BEHIND = 64 /* cells behind each class: see whole() */
};

/* Loops over one row go on to whole vectors, of 16 or 32 elements, where nothing is lost by that:
 * what remains behind whole vectors takes longer than they do. */
static inline size_t whole(size_t n, size_t vector)
{
    return (n + vector - 1) & ~(vector - 1);
}

/* An encoder's value that is an exception: it becomes its prediction, which costs least, and is the
 * same when decoded data are coded again. */
#define NO_VALUE INT32_MIN

/* Units of a step. The base of a chunk is a multiple of it, and an exact f64. */
#define ZMPI_INTERP_STEP      256.0
#define ZMPI_INTERP_BASE_MOST 4503599627370496.0

/* One class of a level: its points in rows without gaps but for the pads. */
struct cells {
    int n[3];
    size_t row, plane;
    int32_t *value;
    int32_t *whole;      /* planes: as decoded, where values are differences; else the values */
    unsigned char *size; /* magnitudes of codes, at most ZMPI_INTERP_MAGNITUDE */
};

struct level {
    int n[3];
    struct cells of[8]; /* [0] is the level above it as a whole */
};

enum mode { ENCODE, DECODE };

/* Of a code. */
static inline unsigned char size_of(int32_t code)
{
    const uint32_t a = code < 0 ? 0 - (uint32_t)code : (uint32_t)code;
    return (unsigned char)(a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a);
}

enum {
    ZMPI_INTERP_PRECISION = 12,
    ZMPI_INTERP_DIRECT = 24, /* largest magnitude with a symbol of its own */
    ZMPI_INTERP_ESCAPES = 49 /* the first symbol that has raw bits */
};

/* Of a code; of large ones just that they have raw bits. */
static inline unsigned char symbol_of(int32_t code)
{
    const uint32_t a = code < 0 ? 0 - (uint32_t)code : (uint32_t)code;
    return (unsigned char)(a > ZMPI_INTERP_DIRECT ? ZMPI_INTERP_ESCAPES : 2 * a - (code > 0));
}

/* The code of a symbol without raw bits. */
static inline int32_t zmpi_interp_direct(unsigned symbol)
{
    const int32_t half = (int32_t)((symbol + 1) / 2);
    return symbol & 1 ? half : -half;
}

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

/* Codes of a chunk in the order in which they are coded; rows, whose elements go to lanes in turn.
 */
struct codes {
    uint16_t *pair; /* context << 7 | symbol */
    uint32_t *rows; /* elements of each */
    size_t count, row_count;
    unsigned char *raw; /* bits behind symbols: 4 bytes for each element are enough */
    struct put extra;   /* to there */
    uint32_t any;       /* bits of the magnitudes of codes that have some */
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

/* Rows of a class to decode, `row` cells apart. */
struct row_run {
    int n, rows;  /* elements of each; how many */
    bool anchors; /* whose contexts are no others' */
    size_t row, plane;
    const unsigned char *above, *before; /* sizes beside the first row; NULL: none */
    const uint16_t *sums;                /* at reference points; NULL: there are none */
    uint16_t low, high;                  /* classes of these */
    unsigned shift;                      /* of contexts */
    const int32_t *predicted;            /* NULL: zeros */
    int bits;                            /* of a step */
    int32_t *value;
    unsigned char *size;
};

/* Codes that were decoded before their contexts are known: of each book those that were not taken.
 */
struct given {
    unsigned char of[ZMPI_INTERP_CONTEXTS]; /* book of each context */
    const int32_t *next[ZMPI_INTERP_CONTEXTS], *end[ZMPI_INTERP_CONTEXTS];
    bool over; /* more were asked for */
};

enum { ZMPI_INTERP_PAIRS = ZMPI_INTERP_CONTEXTS << 7 };

struct zmpi_interp_work {
    size_t most, cells, rows; /* of a tile, at most */
    struct cells flat;        /* the tile */
    struct level level[ZMPI_INTERP_LEVELS];
    int32_t *values; /* memory of all cells */
    int32_t *wholes; /* planes */
    unsigned char *sizes;
    int32_t *scratch[6];               /* strips of rows */
    unsigned char *contexts, *symbols; /* of a strip */
    uint16_t *sums;                    /* of sizes */
    size_t longest;                    /* elements of a row, with pads */
    enum mode mode;
    unsigned shift;
    unsigned lag;           /* planes: how far before; else 0 */
    unsigned char *differs; /* is a plane coded less that one? */
    bool decoded;           /* encoder: values look as if they had been decoded */
    bool watch;             /* count values, and those that are not just where a step leads */
    size_t seen, off;
    bool unlike; /* too many of a level */
    struct codes codes;
    struct unrans in;
    struct given given;                    /* instead, where there are books */
    const struct zmpi_interp_loops *loops; /* of this machine */
    uint32_t *slots;                       /* of all tables */
    unsigned char *exception;              /* encoder: 1 for each element that is one */
    void *clean[3];                        /* rows of floats */
    struct zmpi_flare_coder *flare;        /* of that profile alone */
    struct zmpi_interp_books *books;       /* of the profile with Huffman codes, else NULL */
    unsigned char *out;                    /* encoder: words, backwards from the end */
    size_t out_size;
    uint32_t histogram[ZMPI_INTERP_CONTEXTS][ZMPI_INTERP_SYMBOLS];
    uint32_t counts[2][ZMPI_INTERP_PAIRS], pairs[ZMPI_INTERP_PAIRS]; /* too large for a stack */
    uint32_t tried[ZMPI_INTERP_MAGNITUDE + 1];
    uint16_t logs[1025]; /* log2(1 + i / 1024) in 1/32768 */
};

/* Cells of a strip, but for longer rows. */
enum { ZMPI_INTERP_STRIP = 2048 };

/* ---- interp_loops_t.h ---- */

/* The loops that take the time, once for each instruction set; all make the same bytes. [0]: for
 * f32, [1]: for f64. */
struct zmpi_interp_loops {
    /* The tile's values to w->flat. False: there is nothing that could be an integer. */
    bool (*load[2])(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                    const size_t extent[3], const struct zmpi_rows *src, double *base);
    /* Back. */
    void (*unload[2])(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                      const size_t extent[3], const struct zmpi_rows *dst, double base);
    /* Are the values what integers are decoded to, but for some? */
    bool (*decoded[2])(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                       const size_t extent[3], const struct zmpi_rows *src, double base);
    /* What would be decoded too far from its original becomes an exception. */
    void (*verify[2])(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                      const size_t extent[3], const struct zmpi_rows *src, double base);
    /* Code the tile in w->flat, which holds what a decoder has afterwards; or decode it. choose:
     * take the ways that cost least. */
    void (*lattice)(struct zmpi_interp_work *w, struct zmpi_interp_set *set, bool choose);
    void (*lorenzo)(struct zmpi_interp_work *w, const struct zmpi_interp_set *set);
    /* Words of w->codes, in 16 lanes, backwards to `end`; where they begin. NULL: none. slots: of
     * each pair, its first slot << 12 | its frequency - 1. */
    unsigned char *(*put_words)(const struct codes *c, const uint32_t *slots, unsigned char *end,
                                uint32_t state[16]);
    /* Rows, as many as it can; how many. NULL: none. */
    int (*take_rows)(struct unrans *in, const struct row_run *r);
};

/* ---- interp_rans_avx512.c ---- */

unsigned char *zmpi_avx512_interp_put(const struct codes *c, const uint32_t *slots,
                                      unsigned char *end, uint32_t state[16]);
int zmpi_avx512_interp_rows(struct unrans *in, const struct row_run *r);

/* ---- interp_layout.c ---- */

/* Lay out the classes of a tile: row pitches of a level are alike. */
void zmpi_interp_layout(struct zmpi_interp_work *w, const struct zmpi_interp_set *set,
                        const size_t extent[3]);
/* Cells that a tile's classes take; and rows. */
size_t zmpi_interp_cells(const struct zmpi_interp_set *set, const size_t tile[3], size_t *rows);

/* The word of element i of the tile. */
static inline const unsigned char *zmpi_interp_word(const struct zmpi_rows *rows,
                                                    const size_t extent[3], size_t i, size_t width)
{
    const size_t row = i / extent[2];
    return rows->at + row / extent[1] * rows->plane + row % extent[1] * rows->row +
           i % extent[2] * width;
}

/* Element i of an array of floats. */
static inline double zmpi_interp_value(enum zmpi_type type, const unsigned char *src, size_t i)
{
    double d;
    float f;
    if (type == ZMPI_F64) {
        memcpy(&d, src + 8 * i, sizeof d);
        return d;
    }
    memcpy(&f, src + 4 * i, sizeof f);
    return (double)f;
}

/* Were the values that were seen decoded, as it seems? Some may be exceptions. */
static inline bool zmpi_interp_known(const struct zmpi_interp_work *w)
{
    return w->seen > 0 && w->off <= w->seen / 8 && !w->unlike;
}

/* ---- interp_tables.c ---- */

void zmpi_interp_logs(uint16_t logs[1025]);
/* The size of w->codes in 1/256 bits, including tables. */
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

/* Codes of a tile begin; end: their symbols are counted. */
void zmpi_interp_code_begin(struct zmpi_interp_work *w);
void zmpi_interp_code_end(struct zmpi_interp_work *w);
/* Which of eight symbols have raw bits: the top bits of their bytes. */
static inline uint64_t zmpi_interp_raw(const unsigned char symbols[8])
{
    return (zmpi_load64(symbols) + (128 - ZMPI_INTERP_ESCAPES) * UINT64_C(0x0101010101010101)) &
           UINT64_C(0x8080808080808080);
}
/* The symbol of a large code, number i of the row of n that was put last; its raw bits. */
void zmpi_interp_escape(struct zmpi_interp_work *w, int32_t code, size_t n, size_t i);
/* Symbols of a row: contexts are in w->contexts. True: some have raw bits. */
bool zmpi_interp_take_symbols(struct zmpi_interp_work *w, unsigned char *symbol, size_t n);
/* The code of a symbol that has raw bits. */
int32_t zmpi_interp_take_escape(struct unrans *in, unsigned char symbol);
/* All raw bits are whole bytes from now on. */
void zmpi_interp_put_rest(struct zmpi_interp_work *w);
/* Tables, escapes and words of w->codes to dst; returns the size; 0: not below `most` bytes. */
size_t zmpi_interp_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* Prepare w->in for them. */
bool zmpi_interp_unpack(struct zmpi_interp_work *w, const unsigned char *src, size_t size);
/* Were they read to their end? */
bool zmpi_interp_unpacked(const struct zmpi_interp_work *w);

/* ---- interp_books.c ---- */

/* For up to so many codes; free() it. NULL: no memory. */
struct zmpi_interp_books *zmpi_interp_books_new(size_t most);
/* As zmpi_interp_pack, by Huffman codes. */
size_t zmpi_interp_books_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* All `codes` of a tile to w->given. All were taken if no more were asked for. */
bool zmpi_interp_books_unpack(struct zmpi_interp_work *w, size_t codes, const unsigned char *src,
                              size_t size);

#endif
