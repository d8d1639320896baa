/*
 * enhance.h - a small network that brings decoded values nearer to the original ones (format.md
 * 2.9; docs/flare.md 5).
 *
 * Its input is the distance of a value from the mean of its four neighbours, in units of the bound;
 * its output is a correction of the value. Between them it has only integers, so that every machine
 * computes the same.
 */
#ifndef ZMPI_ENHANCE_H
#define ZMPI_ENHANCE_H

#include "layout/stream.h"

enum {
    ZMPI_NET_LAYERS = 4,
    ZMPI_NET_PATCH = 64, /* points of a patch along each axis, at most */
    ZMPI_NET_BIASES = 8 + 16 + 8 + 1,
    ZMPI_NET_WEIGHTS = 9 * (1 * 8 + 8 * 16 + 24 * 8 + 8 * 1),
    ZMPI_NET_BYTES = ZMPI_NET_LAYERS + 4 * ZMPI_NET_BIASES + ZMPI_NET_WEIGHTS,
    ZMPI_NET_FIRST_MOST = 64,     /* magnitude of the first layer's weights: its input has 8 bits */
    ZMPI_NET_BIAS_MOST = 1 << 24, /* magnitude */
    ZMPI_NET_SHIFT_MOST = 20,
    ZMPI_NET_ONE = 64 /* the output for a correction by the whole bound, which is the largest */
};

/* Channels that go into each layer, and come out of it. */
static const int zmpi_net_in[ZMPI_NET_LAYERS] = {1, 8, 24, 8};
static const int zmpi_net_out[ZMPI_NET_LAYERS] = {8, 16, 8, 1};

/* Layer by layer; weights by output, input, row, column. */
struct zmpi_net {
    unsigned char shift[ZMPI_NET_LAYERS];
    int32_t bias[ZMPI_NET_BIASES];
    int8_t weight[ZMPI_NET_WEIGHTS];
};

void zmpi_net_save(const struct zmpi_net *net, unsigned char dst[ZMPI_NET_BYTES]);
/* False: no version of zmpi writes such a network. */
bool zmpi_net_load(struct zmpi_net *net, const unsigned char src[ZMPI_NET_BYTES]);

/* ---- chunks ---- */

/* Makes the inputs of a patch of h rows and w columns from values at `at`, whose rows are `row`
 * elements apart. unit: 16 / bound. in: rows without gaps. */
void zmpi_net_input(enum zmpi_type type, const unsigned char *at, size_t row, size_t h, size_t w,
                    double unit, unsigned char *in);
/* How an extent is cut into patches: returns their number; *size is the points of each, except
 * perhaps the last. */
size_t zmpi_net_patches(size_t extent, size_t *size);

/* One thread's buffers for a network, which must stay; NULL: no memory. */
struct zmpi_net_work;
struct zmpi_net_work *zmpi_net_work_new(const struct zmpi_net *net);
void zmpi_net_work_free(struct zmpi_net_work *w);
/* Computes the output for each element of a chunk that was decoded to `words`. */
void zmpi_net_run(struct zmpi_net_work *w, enum zmpi_type type, double abs_bound,
                  const size_t extent[3], const unsigned char *words, int8_t *out);

/* Hardware for the network: makes outputs of a patch of h x w inputs, without gaps. False: it
 * cannot, and the CPU does it. Several threads call it at once. */
typedef bool zmpi_net_engine(const struct zmpi_net *net, const unsigned char *in, size_t h,
                             size_t w, int8_t *out);
/* The process uses this hardware from now on; NULL: none. Not while something is enhanced. */
void zmpi_net_use(zmpi_net_engine *engine);

/* ---- a file's part of it: a section (format.md 2.9) ---- */

enum { ZMPI_SECTION_HEAD = 24, ZMPI_ENHANCED_HEAD = 16 };

/* Weights, and the chunks of streams that gain by them. */
struct zmpi_enhancer {
    struct zmpi_net net;
    unsigned times; /* the factor of the bound that corrected values keep: 1 or 2 */
    int least;      /* outputs below it count as 0 */
    size_t count;   /* streams */
    struct zmpi_enhanced {
        uint64_t stream; /* the stream's checksum, which identifies it */
        const struct zmpi_enhancer *of;
        size_t chunks;
        const unsigned char *size; /* u32 for each chunk; 0: unchanged, else 1 + bytes of flags */
        const unsigned char *flags;
    } * of; /* malloc; in increasing order of `stream` */
    unsigned char *bytes;
};

/* Parses `size` untrusted bytes, which are malloc'ed; *e owns them on ZMPI_OK. seed: that of the
 * section's place. ZMPI_ERR_CHECKSUM, _VERSION, _CORRUPT, _MEMORY. */
enum zmpi_status zmpi_enhancer_parse(struct zmpi_enhancer *e, unsigned char *bytes, size_t size,
                                     uint64_t seed);
void zmpi_enhancer_free(struct zmpi_enhancer *e);
/* The part that a stream has; NULL: none. ZMPI_ERR_CORRUPT if it cannot belong to this stream. */
enum zmpi_status zmpi_enhancer_find(const struct zmpi_enhancer *e, const struct zmpi_stream *s,
                                    const struct zmpi_enhanced **found);
/* Can a stream's values be enhanced? */
bool zmpi_enhancer_takes(const struct zmpi_stream_info *s);
/* The hash of a section that is complete except for the hash. */
void zmpi_section_seal(unsigned char *section, size_t size, uint64_t seed);

/* Does the section say that chunk k gains? */
bool zmpi_enhanced_has(const struct zmpi_enhanced *e, size_t k);
/* Corrects chunk k, which was decoded to `words`, in place. out: memory for an output of each
 * element. */
void zmpi_enhance_chunk(const struct zmpi_enhanced *e, size_t k, const struct zmpi_stream *s,
                        struct zmpi_net_work *w, int8_t *out, unsigned char *words);

/* What a chunk of n elements would gain, for a writer. */
struct zmpi_gain {
    double before, after; /* sums of squared errors, in units of the bound */
    size_t flags;         /* bytes of flags */
};
/* original: the original words; the others: decoded ones and the network's outputs. flags: memory
 * for n bytes. */
struct zmpi_gain zmpi_enhance_try(const struct zmpi_enhancer *e, enum zmpi_type type,
                                  double abs_bound, size_t n, const unsigned char *words,
                                  const unsigned char *decoded, const int8_t *out,
                                  unsigned char *flags);

#endif
