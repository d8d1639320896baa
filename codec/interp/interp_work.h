/* interp_work.h - what the files of encoder 3 share. */
#ifndef ZMPI_INTERP_WORK_H
#define ZMPI_INTERP_WORK_H

#include <string.h>

#include "base/bytes.h"
#include "interp/interp.h"
#include "kernels/kernels.h"

enum {
    PAD = 2,    /* cells before and behind a row */
    BEHIND = 64 /* cells behind each class; loops of whole() vectors may use them */
};

/* Rounds n up to whole vectors, of 16 or 32 elements. Loops over a row process the padding, too, if
 * that is harmless: a rest of single elements takes longer. */
static inline size_t whole(size_t n, size_t vector)
{
    return (n + vector - 1) & ~(vector - 1);
}

/* Marks a value that is an exception for the encoder. Its prediction takes its place: that costs
 * least, and is the same when decoded data are coded again. */
#define NO_VALUE INT32_MIN

/* Units of a step. The base of a chunk is a multiple of it, and an exact f64. */
#define ZMPI_INTERP_STEP      256.0
#define ZMPI_INTERP_BASE_MOST 4503599627370496.0

/* One class of a level: its points in rows, with pads between them. */
struct cells {
    int n[3];
    size_t row, plane;
    int32_t *value;
    int32_t *whole;      /* planes: decoded values, if `value` has differences; else `value` */
    unsigned char *size; /* magnitudes of codes, at most ZMPI_INTERP_MAGNITUDE */
};

struct level {
    int n[3];
    struct cells of[8]; /* of[0] is the whole next coarser level */
};

enum mode { ENCODE, DECODE };

/* The size of a code, as contexts count it. */
static inline unsigned char size_of(int32_t code)
{
    const uint32_t a = code < 0 ? 0 - (uint32_t)code : (uint32_t)code;
    return (unsigned char)(a > ZMPI_INTERP_MAGNITUDE ? ZMPI_INTERP_MAGNITUDE : a);
}

enum {
    ZMPI_INTERP_PRECISION = 12,
    ZMPI_INTERP_DIRECT = 24,  /* largest magnitude with a symbol of its own */
    ZMPI_INTERP_ESCAPES = 49, /* the first symbol that has raw bits */
    ZMPI_INTERP_RAW = 64 /* the decoder's code for it, and the next ones for those that follow */
};

/* The symbol of a code; for large codes only one that says that they have raw bits. */
static inline unsigned char symbol_of(int32_t code)
{
    const uint32_t a = code < 0 ? 0 - (uint32_t)code : (uint32_t)code;
    return (unsigned char)(a > ZMPI_INTERP_DIRECT ? ZMPI_INTERP_ESCAPES : 2 * a - (code > 0));
}

/* The code of a symbol; RAW or more, if there are raw bits. */
static inline int32_t zmpi_interp_direct(unsigned symbol)
{
    const int32_t half = (int32_t)((symbol + 1) / 2);
    if (symbol >= ZMPI_INTERP_ESCAPES)
        return (int32_t)symbol + ZMPI_INTERP_RAW - ZMPI_INTERP_ESCAPES;
    return symbol & 1 ? half : -half;
}

/* A reader of bits, the lowest first. */
struct bits {
    const unsigned char *at, *end;
    uint64_t have;
    unsigned count;
    bool over; /* a caller wanted more than there is */
};

struct put {
    unsigned char *at;
    uint64_t have;
    unsigned count;
};

/* Writes up to 8 bytes, and goes on behind the whole ones. */
static inline void put_bits(struct put *p, uint32_t value, unsigned count)
{
    p->have |= (uint64_t)value << p->count;
    p->count += count;
    zmpi_store64(p->at, p->have);
    p->at += p->count / 8;
    p->have >>= p->count & ~7u;
    p->count %= 8;
}

static inline void put_end(struct put *p)
{
    if (p->count)
        *p->at++ = (unsigned char)p->have;
    p->have = p->count = 0;
}

static inline uint32_t take_bits(struct bits *b, unsigned count)
{
    while (b->count < count) {
        if (b->at < b->end)
            b->have |= (uint64_t)*b->at++ << b->count;
        else
            b->over = true;
        b->count += 8;
    }
    const uint32_t value = (uint32_t)(b->have & (((uint64_t)1 << count) - 1));
    b->have >>= count;
    b->count -= count;
    return value;
}

/* The codes of a chunk in the order of coding. The elements of a row go to the lanes in turn. */
struct codes {
    uint16_t *pair; /* context << 7 | symbol */
    uint32_t *rows; /* elements of each */
    size_t count, row_count;
    unsigned char *raw; /* raw bits of symbols: 4 bytes for each element suffice */
    struct put extra;   /* writes to `raw` */
    uint32_t any;       /* all magnitudes of codes with raw bits, joined by OR */
};

/* A table of frequencies, which add up to 4096. */
struct table {
    unsigned symbols; /* up to the last one that occurs */
    uint16_t frequency[ZMPI_INTERP_SYMBOLS], first[ZMPI_INTERP_SYMBOLS];
};

struct unrans {
    uint32_t state[16];
    unsigned mask; /* lanes - 1 */
    const unsigned char *at, *end;
    bool over;
    const uint32_t *slots; /* of all tables: place in the symbol's slots (12 bits), code (8 bits, as
                              zmpi_interp_direct has it), frequency - 1 */
    uint32_t table[32];    /* where the table of each context begins */
    uint16_t zero[32];     /* the frequency of code 0 there */
    struct bits extra;
};

/* Where decoded rows go soon: so that they are in the cache by then. */
struct ahead {
    const unsigned char *at;
    size_t row, bytes; /* from one row to the next; of a row */
};

/* Prefetches row k. */
static inline void fetch_ahead(const struct ahead *a, int k)
{
    for (size_t b = 0; b < a->bytes; b += 64)
        __builtin_prefetch(a->at + (size_t)k * a->row + b, 1, 2);
}

/* Rows of a class to code, `row` cells apart. */
struct row_run {
    int n, rows;  /* elements of a row; number of rows */
    bool anchors; /* they have a context of their own */
    size_t row, plane;
    const unsigned char *above, *before; /* sizes of the rows beside the first one; NULL: none */
    const uint16_t *sums;                /* of sizes at reference points; NULL: there are none */
    uint16_t low, high;                  /* the limits between their classes */
    unsigned shift;                      /* of contexts */
    const int32_t *predicted;            /* NULL: zeros */
    int bits;                            /* of a step */
    int32_t *value;
    unsigned char *size;
    struct ahead ahead; /* decoder */
};

/* Codes that are decoded before their contexts are known: for each book, those that are left. */
struct given {
    unsigned char of[ZMPI_INTERP_CONTEXTS]; /* book of each context */
    const int32_t *next[ZMPI_INTERP_CONTEXTS], *end[ZMPI_INTERP_CONTEXTS];
    bool over; /* a caller wanted more than there were */
};

enum { ZMPI_INTERP_PAIRS = ZMPI_INTERP_CONTEXTS << 7 };

/* Where the decoded tile goes. */
struct target {
    const struct zmpi_interp_rule *rule;
    const struct zmpi_rows *rows;
    double base;
};

/* What a workspace has memory for. */
struct capacity {
    size_t most, cells, rows; /* of a tile */
    size_t longest;           /* elements of a row, with pads */
    bool planes;              /* that family, too */
};

/* How often each magnitude of codes occurs. Four counts of each take turns, since an addition waits
 * for one to the same. */
struct tries {
    uint32_t counts[4][ZMPI_INTERP_MAGNITUDE + 1];
    size_t off; /* values that are not whole steps from their predictions */
};

/* A sample's integers, which many sets are tried on. */
struct kept {
    const unsigned char *at; /* its first element; NULL: none */
    size_t extent[3], bytes;
    int32_t *values; /* as they lie in the tile, with the pads */
    bool decoded;    /* its values look so */
};

enum { ZMPI_INTERP_KEPT = 8, ZMPI_INTERP_SCRATCH = 9 };

struct zmpi_interp_work {
    struct capacity capacity;
    struct cells flat; /* the tile */
    struct level level[ZMPI_INTERP_LEVELS];
    int32_t *values; /* memory of all cells */
    int32_t *wholes; /* planes */
    unsigned char *sizes;
    int32_t *scratch[ZMPI_INTERP_SCRATCH]; /* strips of rows */
    unsigned char *contexts, *symbols;     /* of a strip */
    uint16_t *sums;                        /* of sizes */
    enum mode mode;
    unsigned shift;
    unsigned lag;           /* planes: distance of the plane before; else 0 */
    unsigned char *differs; /* is a plane coded as a difference? */
    bool decoded;           /* encoder: values look as if they had been decoded */
    bool watch;             /* encoder: count in seen and off */
    size_t seen, off;
    bool unlike; /* too many values of one level are off */
    struct codes codes;
    struct unrans in;
    struct given given;                    /* in place of `in`, if there are books */
    const struct zmpi_interp_loops *loops; /* of this machine */
    uint32_t *slots;                       /* of all tables */
    unsigned char *exception;              /* encoder: 1 for each element that is one */
    bool sure;   /* encoder: there are none, and all decoded values are within the bound */
    bool wanted; /* encoder: is the tile read after it was coded? */
    struct target to;
    struct row_run run;            /* decoder: rows that are ready; rows 0: none */
    struct zmpi_interp_work *with; /* decoder: of a chunk beside this one; NULL: none */
    double base;                   /* of the tile before */
    struct kept kept[ZMPI_INTERP_KEPT];
    unsigned next_kept;              /* which is replaced next */
    void *clean[3];                  /* copies of rows of floats */
    struct zmpi_flare_coder *flare;  /* of the profile FLARE, else NULL */
    struct zmpi_interp_books *books; /* of the profile with Huffman codes, else NULL */
    unsigned char *out; /* words; encoder: written backwards from the end; decoder: zeros follow */
    size_t out_size;
    uint32_t histogram[ZMPI_INTERP_CONTEXTS][ZMPI_INTERP_SYMBOLS];
    unsigned used; /* symbols: up to the last one that occurs in any context */
    uint32_t counts[4][ZMPI_INTERP_PAIRS]; /* too large for a stack */
    uint64_t pairs[ZMPI_INTERP_PAIRS];     /* that, too */
    struct tries tries[16];                /* of each way; and that */
    const uint32_t *logs;                  /* log2(1 + i / 1024) in 1/32768 */
};

/* The most cells of a strip; one longer row is a strip, too. */
enum { ZMPI_INTERP_STRIP = 2048 };

/* ---- interp_loops_t.h ---- */

/* The loops that take most time, compiled once for each instruction set; all make the same bytes.
 * [0]: for f32, [1]: for f64. */
struct zmpi_interp_loops {
    /* Loads the tile's values into w->flat. False: no value could be an integer. */
    bool (*load[2])(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                    const size_t extent[3], const struct zmpi_rows *src, double *base);
    /* Writes the tile in w->flat to w->to. */
    void (*unload)(const struct zmpi_interp_work *w);
    /* Are the values, with few left out, such as integers decode to? */
    bool (*decoded[2])(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                       const size_t extent[3], const struct zmpi_rows *src, double base);
    /* Makes an exception of each value that would be decoded too far from its original. */
    void (*verify[2])(const struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                      const size_t extent[3], const struct zmpi_rows *src, double base);
    /* Codes the tile in w->flat, and leaves there what a decoder will have; or decodes it to w->to.
     * choose: by the ways that cost least. */
    void (*lattice)(struct zmpi_interp_work *w, struct zmpi_interp_set *set, bool choose);
    void (*lorenzo)(struct zmpi_interp_work *w, const struct zmpi_interp_set *set);
    /* Bits, in 1/32768, that symbols of these counts take, which add up to less than 2^24. */
    uint64_t (*entropy)(const uint32_t *logs, const uint32_t *counts, size_t n);
    /* Writes the words of the codes backwards from `end`; returns where they begin. slots: for each
     * pair, by slot_of (interp_rans.c). */
    unsigned char *(*put_words)(const struct codes *c, const uint64_t *slots, unsigned lanes,
                                unsigned char *end, uint32_t state[16]);
    /* Encodes rows, whose values become the decoded ones. The pointer may be NULL. */
    void (*put_rows)(struct codes *c, const struct row_run *r);
    /* Decodes the rows of w->run, which has 4 lanes or 16, and of w->with. May be NULL. */
    void (*take_rows)(struct zmpi_interp_work *w);
};

/* ---- interp_rans_avx512.c ---- */

unsigned char *zmpi_avx512_interp_put(const struct codes *c, const uint64_t *slots,
                                      unsigned char *end, uint32_t state[16]);
void zmpi_avx512_interp_put_rows(struct codes *c, const struct row_run *r);
void zmpi_avx512_interp_rows(struct zmpi_interp_work *w);

/* ---- interp_work.c ---- */

/* A set that needs the tile only and no classes: for chunks without codes, and for the profile
 * FLARE. */
extern const struct zmpi_interp_set zmpi_interp_flat;

/* Lays out the classes of a tile. All classes of a level have the same row pitch. */
void zmpi_interp_layout(struct zmpi_interp_work *w, const struct zmpi_interp_set *set,
                        const size_t extent[3]);
/* Returns the cells that a tile's classes take; *rows: their rows. */
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

/* Do the values that were seen look as if they had been decoded before? Some may be exceptions. */
static inline bool zmpi_interp_known(const struct zmpi_interp_work *w)
{
    return w->seen > 0 && w->off <= w->seen / 8 && !w->unlike;
}

/* ---- interp_exceptions.c ---- */

/* Numbers of any size, 7 bits a byte. */
unsigned char *zmpi_interp_put_varint(unsigned char *at, uint64_t n);
/* NULL: there is none. */
const unsigned char *zmpi_interp_take_varint(const unsigned char *at, const unsigned char *end,
                                             uint64_t *n);

/* Writes the exceptions and sets *flags. In w->exception those with the usual word become kind 1,
 * the others kind 2. Returns the end; NULL: they take too much. */
unsigned char *zmpi_interp_put_exceptions(struct zmpi_interp_work *w, const size_t extent[3],
                                          const struct zmpi_rows *src, size_t width,
                                          unsigned char *flags, unsigned char *at,
                                          const unsigned char *end);

/* Exceptions as they lie in a chunk; their kinds are in w->exception. */
struct zmpi_interp_exceptions {
    size_t fills, others;
    const unsigned char *fill, *values;
    bool differ; /* a value is the exclusive or of it and the one before */
};
/* Finds the exceptions of a tile. Returns their end; NULL: they are damaged. */
const unsigned char *zmpi_interp_take_exceptions(struct zmpi_interp_work *w, unsigned flags,
                                                 const size_t extent[3], size_t width,
                                                 const unsigned char *at, const unsigned char *end,
                                                 struct zmpi_interp_exceptions *e);
/* Writes them to the decoded tile. */
void zmpi_interp_set_exceptions(const struct zmpi_interp_work *w,
                                const struct zmpi_interp_exceptions *e, const size_t extent[3],
                                const struct zmpi_rows *dst, size_t width);

/* ---- interp_tables.c ---- */

/* log2(1 + i / 1024) in 1/32768, for i from 0 to 1023. */
const uint32_t *zmpi_interp_logs(void);
/* The size of w->codes in 1/256 bits, including tables. */
uint64_t zmpi_interp_cost(struct zmpi_interp_work *w);

/* Makes weights about in proportion to the counts, such that a table of them is short; returns the
 * number of symbols up to the last that occurs. */
unsigned zmpi_interp_weigh(const uint32_t *counts, unsigned char *weights);
/* Makes frequencies from weights; 0: the symbol does not occur. Any weights make a valid table, so
 * that a damaged one needs no check. False: all weights are 0. */
bool zmpi_interp_make_table(struct table *t, const unsigned char *weights);
void zmpi_interp_put_table(struct put *p, const unsigned char *weights, unsigned symbols);
bool zmpi_interp_take_table(struct bits *b, struct table *t);

struct zmpi_interp_groups {
    unsigned count;
    unsigned char of[ZMPI_INTERP_CONTEXTS]; /* the group of each context */
    uint32_t counts[ZMPI_INTERP_CONTEXTS][ZMPI_INTERP_SYMBOLS];
    uint64_t cost[ZMPI_INTERP_CONTEXTS];
};
/* Groups the contexts by w->histogram: merges the pair that saves most, as long as one saves. */
void zmpi_interp_group(struct zmpi_interp_work *w, struct zmpi_interp_groups *g);

/* ---- interp_rans.c ---- */

/* Zeros behind a decoder's words: it looks for their end after each row only. */
static inline size_t zmpi_interp_behind(const struct zmpi_interp_work *w)
{
    return 2 * w->capacity.longest + 64;
}

/* States are at least this between symbols. */
#define ZMPI_INTERP_LOWEST ((uint32_t)1 << 16)

/* Begins the codes of a tile; zmpi_interp_code_end counts their symbols. */
void zmpi_interp_code_begin(struct zmpi_interp_work *w);
void zmpi_interp_code_end(struct zmpi_interp_work *w);
/* Tells which of eight symbols have raw bits, by the top bits of their bytes. */
static inline uint64_t zmpi_interp_raw(const unsigned char symbols[8])
{
    return (zmpi_load64(symbols) + (128 - ZMPI_INTERP_ESCAPES) * UINT64_C(0x0101010101010101)) &
           UINT64_C(0x8080808080808080);
}
/* Puts the symbol of a large code, pair i, and its raw bits. */
void zmpi_interp_escape(struct codes *c, int32_t code, size_t i);
/* Moves on to `at` after a row. In damaged chunks the words may end before. */
static inline void zmpi_interp_taken(struct unrans *in, const unsigned char *at)
{
    in->over |= at > in->end;
    in->at = at > in->end ? in->end : at;
}
/* Returns the code that has raw bits in place of one that says so. */
int32_t zmpi_interp_take_escape(struct unrans *in, int32_t raw);
/* Fills up the last byte of raw bits. */
void zmpi_interp_put_rest(struct zmpi_interp_work *w);
/* Writes tables, escapes and words of w->codes to dst and returns the size; 0: it is not below
 * `most` bytes. */
size_t zmpi_interp_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* Prepares w->in to decode them. */
bool zmpi_interp_unpack(struct zmpi_interp_work *w, const unsigned char *src, size_t size);
/* Did the decoder read them to their end? */
bool zmpi_interp_unpacked(const struct zmpi_interp_work *w);

/* ---- interp_books.c ---- */

/* Makes books for at most so many codes; free() them. NULL: no memory. */
struct zmpi_interp_books *zmpi_interp_books_new(size_t most);
/* As zmpi_interp_pack, but by Huffman codes. */
size_t zmpi_interp_books_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most);
/* Decodes all codes of a tile into w->given; `codes` is their number. So the tile has taken all of
 * them if it did not want more. */
bool zmpi_interp_books_unpack(struct zmpi_interp_work *w, size_t codes, const unsigned char *src,
                              size_t size);

#endif
