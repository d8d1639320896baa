/*
 * kernels.h - the loops that take most of the time, once per instruction set. All sets write the
 * same bytes; one set is chosen at first use.
 */
#ifndef ZMPI_KERNELS_H
#define ZMPI_KERNELS_H

#include "layout/chunk.h"

/* Widens *range by the values of an array. */
typedef void zmpi_range_fn(const void *src, size_t count, struct zmpi_range *range);
/* XXH3 of a chunk, seed 0. */
typedef uint64_t zmpi_hash_fn(const void *src, size_t size);

struct zmpi_huffman_encode_loops;
struct zmpi_huffman_loops;
/* huffman/huffman_loops.h */
extern const struct zmpi_huffman_encode_loops zmpi_huffman_encode_any, zmpi_huffman_encode_bmi2,
    zmpi_huffman_encode_avx512;
extern const struct zmpi_huffman_loops zmpi_huffman_loops_any, zmpi_huffman_loops_bmi2;

struct zmpi_interp_loops;
/* interp/interp_work.h */
extern const struct zmpi_interp_loops zmpi_interp_loops_any, zmpi_interp_loops_avx2,
    zmpi_interp_loops_avx512;

struct zmpi_net_work;
/* enhance/enhance_net.h */
typedef void zmpi_net_loops_fn(struct zmpi_net_work *w, size_t height, size_t width);
zmpi_net_loops_fn zmpi_net_run_any, zmpi_net_run_avx2, zmpi_net_run_avx512;

struct zmpi_kernels {
    const char *name;
    const struct zmpi_kernels *below; /* the set that this one builds on; NULL: none */
    bool (*available)(void);          /* does this machine have the instructions? */
    zmpi_chunk_encode_fn *encode32, *encode64;
    zmpi_chunk_decode_fn *decode32, *decode64;
    zmpi_chunk_cost_fn *cost32, *cost64;
    zmpi_range_fn *range32, *range64;
    zmpi_hash_fn *hash;
    const struct zmpi_huffman_encode_loops *huffman_encode;
    const struct zmpi_huffman_loops *huffman;
    const struct zmpi_interp_loops *interp;
    zmpi_net_loops_fn *net;
};

/* The newest set that this machine has, that ZMPI_DISABLE does not switch off (by its own name or
 * that of a set below it), and that gives the reference's results. Callable from any thread, at any
 * time. */
const struct zmpi_kernels *zmpi_kernels(void);

/* All compiled sets, newest first, scalar last; then NULL. For tests and `zmpi options`. */
const struct zmpi_kernels *zmpi_kernels_at(size_t i);

/* The first of sets[] that is usable; the last one is scalar. off: the list of sets that are
 * switched off, or NULL. Logs one line for each set whose results are wrong. */
const struct zmpi_kernels *zmpi_kernels_choose(const struct zmpi_kernels *const *sets,
                                               const char *off);

/* The first function of a set whose result for some short tiles differs from the scalar set's:
 * "hash", "encoder"...; NULL: none. */
const char *zmpi_kernels_difference(const struct zmpi_kernels *k);

/* Is `text` a list of sets that can be switched off, such as "avx2,neon" or ""? It may name sets of
 * other machines. */
bool zmpi_kernels_list_ok(const char *text);

extern const struct zmpi_kernels zmpi_kernels_scalar;

/* Declares a set; the functions that exist once per word width; their entries in the set's
 * table. */
#define ZMPI_KERNELS(set)                                                                          \
    extern const struct zmpi_kernels zmpi_kernels_##set;                                           \
    zmpi_chunk_encode_fn zmpi_##set##_encode32, zmpi_##set##_encode64;                             \
    zmpi_chunk_decode_fn zmpi_##set##_decode32, zmpi_##set##_decode64;                             \
    zmpi_chunk_cost_fn zmpi_##set##_cost32, zmpi_##set##_cost64;                                   \
    zmpi_range_fn zmpi_##set##_range32, zmpi_##set##_range64;                                      \
    zmpi_hash_fn zmpi_##set##_hash
#define ZMPI_KERNELS_OF(set)                                                                       \
    .name = #set, .encode32 = zmpi_##set##_encode32, .encode64 = zmpi_##set##_encode64,            \
    .decode32 = zmpi_##set##_decode32, .decode64 = zmpi_##set##_decode64,                          \
    .cost32 = zmpi_##set##_cost32, .cost64 = zmpi_##set##_cost64, .range32 = zmpi_##set##_range32, \
    .range64 = zmpi_##set##_range64
ZMPI_KERNELS(avx2);
ZMPI_KERNELS(avx512);
ZMPI_KERNELS(avx512vbmi);
ZMPI_KERNELS(neon);

/* Takes one value that is not ordinary (range.c): skips NaN and infinities, notes fill values. */
void zmpi_range_take(struct zmpi_range *r, double x);
/* Magnitudes below this are never fill values. */
#define ZMPI_ORDINARY 1e19

#endif
