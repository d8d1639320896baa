/*
 * huffman.h - encoder 2: the residuals of a chunk as canonical Huffman codes (format.md 1.4, 4.9;
 * CEAZ 3.2). fle codes the chunk first; the codes replace its length bytes and planes.
 */
#ifndef ZMPI_HUFFMAN_H
#define ZMPI_HUFFMAN_H

#include "layout/chunk.h"

/* Symbols: residuals -16..15; residuals of a class e, that is all but the lowest e bits of them;
 * runs of zeros; an escape before a residual in full. */
enum {
    ZMPI_HUFFMAN_CLASSES = 32, /* the first symbol of a class */
    ZMPI_HUFFMAN_MOST_EXTRA = 59,
    ZMPI_HUFFMAN_RUNS = ZMPI_HUFFMAN_CLASSES + 16 * ZMPI_HUFFMAN_MOST_EXTRA, /* 2..15, 16, 32.. */
    ZMPI_HUFFMAN_LONG_RUNS = ZMPI_HUFFMAN_RUNS + 14,
    ZMPI_HUFFMAN_LONGEST_RUN = 1024,
    ZMPI_HUFFMAN_ESCAPE = ZMPI_HUFFMAN_LONG_RUNS + 7,
    ZMPI_HUFFMAN_SYMBOLS
};

#define ZMPI_HUFFMAN_LONGEST 12 /* bits of a code */
#define ZMPI_HUFFMAN_STREAMS 4
#define ZMPI_HUFFMAN_DIRECT  1024 /* residuals that an encoder finds in a table: -512..511 */
#define ZMPI_HUFFMAN_OFFLINE 6    /* books that every reader has */
/* A book in bytes: at most 6 bits a symbol, or 22 for two. */
#define ZMPI_HUFFMAN_BOOK_MAX (11 * ZMPI_HUFFMAN_SYMBOLS / 8 + 1)

struct zmpi_book {
    unsigned char length[ZMPI_HUFFMAN_SYMBOLS]; /* of codes in bits; 0: has none */
};

/* ---- codes (huffman_code.c) ---- */

enum zmpi_huffman_sort { ZMPI_SORT_EXACT, ZMPI_SORT_APPROXIMATE };

/* Lengths of a complete code. Counts of the escape and of the residual 0 become at least 1. */
void zmpi_book_make(uint32_t count[ZMPI_HUFFMAN_SYMBOLS], enum zmpi_huffman_sort sort,
                    struct zmpi_book *book);
/* Codes of a sound book as they lie in a stream: first bit lowest. */
void zmpi_book_codes(const struct zmpi_book *book, uint16_t code[ZMPI_HUFFMAN_SYMBOLS]);
/* Bits of the extra part of a symbol, for words of `width` bytes. */
unsigned zmpi_symbol_extra(unsigned symbol, size_t width);
/* Zeros that a symbol of a run stands for. */
unsigned zmpi_symbol_run(unsigned symbol);

/* ---- books in bytes (huffman_books.c) ---- */

/* Writes a book to dst, which has ZMPI_HUFFMAN_BOOK_MAX bytes; returns the size. */
size_t zmpi_book_store(const struct zmpi_book *book, unsigned char *dst);
/* The opposite, from at most `size` bytes; how many it took, 0 if they are no complete code. */
size_t zmpi_book_load(struct zmpi_book *book, const unsigned char *src, size_t size);
/* Offline book i (CEAZ 3.2.2). */
const struct zmpi_book *zmpi_book_offline(unsigned i);
const char *zmpi_book_offline_name(unsigned i);
/* Book i of a stream's own; false if there is none. */
bool zmpi_stream_book(const struct zmpi_stream *s, unsigned i, struct zmpi_book *book);

/* ---- heads of chunks (huffman_head.c) ---- */

#define ZMPI_HEAD_MAX 20

/* Of an fle chunk. */
size_t zmpi_head_bytes(size_t width, const unsigned char *chunk);
/* The head of a trusted fle chunk, as short as the rule's steps make it, to dst, which has room for
 * ZMPI_HEAD_MAX bytes; its size. */
size_t zmpi_head_shorten(const struct zmpi_chunk_rule *rule, size_t width,
                         const unsigned char *chunk, unsigned char *dst);
/* The opposite, for a chunk of map 0 with `shift`: to dst all of an fle chunk's head; returns the
 * bytes that it takes of the `size` at `chunk`, or 0 if these are none. */
size_t zmpi_head_lengthen(const struct zmpi_chunk_rule *rule, size_t width,
                          const unsigned char *chunk, size_t size, unsigned char *dst);

/* ---- chunks ---- */

/* An encoder by one book; one per thread. */
struct zmpi_huffman_encoder {
    const struct zmpi_book *book;       /* whose tables these are */
    const struct zmpi_chunk_rule *rule; /* whose steps need not be stored; set by the caller */
    bool short_runs;                    /* has codes for runs below 16 */
    /* Tokens: bits, and in the lowest 6 how many; 63 if there is none. */
    uint32_t direct[ZMPI_HUFFMAN_DIRECT + 1]; /* of small residuals, the middle one 0; NONE */
    uint64_t run[32];                         /* zeros before a residual */
    uint32_t symbol[ZMPI_HUFFMAN_SYMBOLS];
};

void zmpi_huffman_encoder_set(struct zmpi_huffman_encoder *e, const struct zmpi_book *book);

/*
 * Code again the fle chunk of `size` bytes at `chunk`, whose residuals are in work->kept, or but
 * its head if that is not larger; returns the size, at most the one given. `number`: that of the
 * book in the stream.
 */
size_t zmpi_huffman_chunk(const struct zmpi_huffman_encoder *e, unsigned number, size_t width,
                          size_t count, unsigned char *chunk, size_t size,
                          struct zmpi_chunk_work *work);

/* Add the symbols that zmpi_huffman_chunk would write for this chunk. */
void zmpi_huffman_count(size_t width, size_t words, const unsigned char *chunk, size_t size,
                        const struct zmpi_chunk_work *work, uint32_t count[ZMPI_HUFFMAN_SYMBOLS]);

/*
 * What a decoder finds for the bits ahead: in the lowest 10 bits of `bits` how many they are, extra
 * ones included, or 63 if this needs more care; above how many of them are codes; the first value,
 * to which the extra bits are added.
 */
struct zmpi_entry {
    uint16_t bits;
    int16_t first;
};
struct zmpi_wide_entry {
    uint16_t bits;
    int32_t first;
};
/* Up to four residuals, or a run; only a single residual has extra bits. */
struct zmpi_long_entry {
    struct zmpi_entry of;
    int8_t rest[4]; /* the second to fourth; in front of them how many there are in all */
};

/* Which entries a table has, by what most looks into it find: one residual, a wide one, a very
 * wide one, whose first value leaves no bits for the extra bits, several or a run; or too often
 * what has no entry. */
enum zmpi_entry_kind {
    ZMPI_ENTRY_SINGLE,
    ZMPI_ENTRY_WIDE,
    ZMPI_ENTRY_WIDEST,
    ZMPI_ENTRY_LONG,
    ZMPI_ENTRY_NONE
};

#define ZMPI_HUFFMAN_TABLE (1 << ZMPI_HUFFMAN_LONGEST)

/* A decoder by one book; one per thread. */
struct zmpi_huffman_decoder {
    struct zmpi_chunk_rule rule; /* steps of the stream's bound */
    int number;                  /* of the book in the stream; -1: none yet */
    enum zmpi_entry_kind kind;
    unsigned looks; /* for bits loaded at once */
    unsigned char length[ZMPI_HUFFMAN_SYMBOLS];
    uint16_t symbol[ZMPI_HUFFMAN_TABLE]; /* whose code bits begin with */
    union {
        struct zmpi_entry single[ZMPI_HUFFMAN_TABLE];
        struct zmpi_wide_entry wide[ZMPI_HUFFMAN_TABLE];
        struct zmpi_long_entry several[ZMPI_HUFFMAN_TABLE];
    };
};

void zmpi_huffman_decoder_set(struct zmpi_huffman_decoder *d, const struct zmpi_book *book);

/* Makes a decoder for chunks of this stream; free() it. NULL: no memory. */
struct zmpi_huffman_decoder *zmpi_huffman_decoder_new(const struct zmpi_stream *s);

/*
 * The residuals of a chunk of encoder 2 to work->residuals, and all else to a chunk as kernels take
 * it with work->given; *size is that chunk's.
 */
enum zmpi_status zmpi_huffman_unpack(struct zmpi_huffman_decoder *d, const struct zmpi_stream *s,
                                     size_t count, const unsigned char *src, size_t src_size,
                                     struct zmpi_chunk_work *work, const unsigned char **chunk,
                                     size_t *size);

/*
 * Streams of bits to `words` residuals, at `out` with room for whole blocks: from[k]..from[k + 1]
 * are the bytes of stream k. False if they are not what an encoder writes.
 *
 * It may read BEHIND bytes behind them: an element takes at most 56 bits before the end is noticed.
 * Nothing comes of what is there: who takes one bit of it has gone behind the stream's end, which
 * is refused, whatever was decoded. Of sound streams LOOKED bytes are looked at and not taken:
 * zeros, so that tools that watch memory see none that nobody has set.
 */
enum { ZMPI_HUFFMAN_BEHIND = ZMPI_CHUNK_INPUT_BYTES / 4 * 7 + 32, ZMPI_HUFFMAN_LOOKED = 16 };
bool zmpi_huffman_residuals(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                            const size_t from[ZMPI_HUFFMAN_STREAMS + 1], size_t streams,
                            size_t words, size_t width, void *out);

/* ---- books of a stream to be written (huffman_plan.c) ---- */

/* Chunks that have their book in common: 8 MiB. */
#define ZMPI_HUFFMAN_SECTION 256

struct zmpi_huffman_plan {
    size_t sections, own;   /* sections; books of the stream's own */
    struct zmpi_book *book; /* [own] */
    unsigned char *number;  /* [sections]: of the book that a section has */
    unsigned char *bytes;   /* the section of the stream that holds the books */
    size_t size;            /* of that, a multiple of 4 */
};

/* Samples of a section. */
size_t zmpi_huffman_samples(size_t chunks);
/* The chunk of sample i in a section of `chunks`. */
size_t zmpi_huffman_sample(size_t chunks, size_t i);

/* Bits that these symbols take, in words of `width` bytes. */
uint64_t zmpi_book_cost(const struct zmpi_book *book, size_t width,
                        const uint32_t count[ZMPI_HUFFMAN_SYMBOLS]);
/* A book for these symbols, without short runs: below `run` they are single zeros. Others than a
 * small sample has may come: of its classes and the next, and runs of any length. Where many were
 * counted, the rare ones have no codes: there are so many of them that they would take more of all
 * codes' bits than escapes cost. */
void zmpi_book_train(const uint32_t count[ZMPI_HUFFMAN_SYMBOLS], unsigned run, bool sampled,
                     enum zmpi_huffman_sort sort, struct zmpi_book *book);
/* Standard deviation of the residuals, in 2^-22, rounded down; those beyond 512 count as 512:
 * CEAZ's 1024 symbols. In integers: an engine comes to the same. */
uint32_t zmpi_huffman_spread(const uint32_t count[ZMPI_HUFFMAN_SYMBOLS]);

/* What the change of the spread says of the present book (CEAZ 3.2.3): a cheaper one of the
 * stream's own may take its place, an offline one, too, or it is no candidate.
 * Thresholds: 3.05, 4.88. */
enum zmpi_huffman_change { ZMPI_HUFFMAN_KEEP, ZMPI_HUFFMAN_UPDATE, ZMPI_HUFFMAN_REPLACE };
#define ZMPI_HUFFMAN_TAU_0 12792627u
#define ZMPI_HUFFMAN_TAU_1 20468204u

/* The functions that count and compute for the choice: of the CPU, or of an engine. */
struct zmpi_huffman_sums {
    void *context;
    /* Count the symbols in the samples of a section; were there any? The others are about these. */
    bool (*count)(void *context, size_t section);
    enum zmpi_huffman_change (*change)(void *context);
    void (*take)(void *context); /* changes are from this section on */
    uint64_t (*cost)(void *context, const struct zmpi_book *book); /* bits */
    /* zmpi_book_train, sorted as the job says */
    void (*train)(void *context, unsigned run, bool sampled, struct zmpi_book *book);
};

/* own: books of its own are allowed. */
enum zmpi_status zmpi_huffman_plan_by(const struct zmpi_huffman_sums *sums,
                                      struct zmpi_huffman_plan *plan, size_t chunks, bool own);
/* Chooses by the CPU, from the symbols in the samples of each section. */
enum zmpi_status zmpi_huffman_plan_make(struct zmpi_huffman_plan *plan, size_t chunks, size_t width,
                                        const uint32_t (*count)[ZMPI_HUFFMAN_SYMBOLS], bool own,
                                        enum zmpi_huffman_sort sort);
/* Code chunk k by fle, with its residuals in work->kept, to dst, which has room for
 * ZMPI_CHUNK_CAPACITY bytes; its words and size. */
typedef size_t zmpi_sample_fn(const void *context, size_t k, struct zmpi_chunk_work *work,
                              unsigned char *dst, size_t *words);
/* Sample a stream by up to `threads` threads, then zmpi_huffman_plan_make. */
enum zmpi_status zmpi_huffman_choose(size_t chunks, size_t width, int threads, bool own,
                                     enum zmpi_huffman_sort sort, zmpi_sample_fn *sample,
                                     const void *context, struct zmpi_huffman_plan *plan);
void zmpi_huffman_plan_free(struct zmpi_huffman_plan *plan);
/* The book of that number. */
const struct zmpi_book *zmpi_huffman_plan_book(const struct zmpi_huffman_plan *plan,
                                               unsigned number);

#endif
