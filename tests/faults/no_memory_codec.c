/*
 * no_memory_codec.c - an allocation of zmpi_compress, zmpi_decompress or zmpi_stream_verify fails:
 * it is ZMPI_ERR_MEMORY, or the same bytes as ever. For a ratio it may be another stream: what
 * could not be tried was not taken.
 *
 * zmpi-test: RANKS 1 ANYIO PRELOAD zmpi_test_memory ENV ZMPI_ERROR_BOUND=lossless ZMPI_THREADS=2 ZMPI_LOG=quiet
 * zmpi-test: huffman RANKS 1 ANYIO PRELOAD zmpi_test_memory ENV ZMPI_ERROR_BOUND=lossless ZMPI_THREADS=2 ZMPI_LOG=quiet ZMPI_CODEC=huffman
 */
#define _GNU_SOURCE // RTLD_DEFAULT
#include "../mpi/check.h"

#include <dlfcn.h>
#include <math.h>

#include "memory.h"
#include "zmpi_codec.h"

enum { X = 64, Y = 64, Z = 72, COUNT = X * Y * Z };

/* libzmpi.so is preloaded. */
static __typeof__(&zmpi_compress) compress;
static __typeof__(&zmpi_decompress) decompress;
static __typeof__(&zmpi_stream_verify) verify;
static __typeof__(&zmpi_compress_capacity) capacity_of;

static const struct zmpi_bound bounds[] = {{ZMPI_LOSSLESS, 0}, {ZMPI_ABS, 1e-3},
                                           {ZMPI_REL, 1e-3},   {ZMPI_PSNR, 60},
                                           {ZMPI_RATIO, 8},    {ZMPI_PW_REL, 1e-3}};
static unsigned char *first, *again, *back, *back_first;

static void fill(double *data)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = sin(i * 0.01) + cos(i % X * 0.1) + (i % 1000 == 7 ? NAN : 0);
}

/* One failure after the other: the stream is the same, or there is none. */
static long compressing(const struct zmpi_array *a, const struct zmpi_bound *b, const void *data,
                        long times)
{
    const size_t capacity = capacity_of(a);
    size_t should, size;
    CHECK_EQUAL(compress(a, b, NULL, first, capacity, data, &should), ZMPI_OK);
    for (long at = 1;; at++) {
        const struct lack lack = {LACK_MEMORY | LACK_THREAD, at, times};
        check_say("compressing, bound %d, type %d: allocation %ld", b->mode, a->type, at);
        lack_set(&lack);
        enum zmpi_status status = compress(a, b, NULL, again, capacity, data, &size);
        const bool there = lack_count() >= at;
        lack_set(NULL);
        CHECK_SAY(status == ZMPI_OK || status == ZMPI_ERR_MEMORY, "status %d", status);
        if (status == ZMPI_OK && b->mode == ZMPI_RATIO) {
            CHECK_EQUAL(verify(again, size, NULL), ZMPI_OK);
        } else if (status == ZMPI_OK) {
            CHECK_EQUAL(size, should);
            CHECK_BYTES(again, first, size);
        }
        if (!there)
            return at - 1;
    }
}

static long decoding(const struct zmpi_array *a, size_t length, long times)
{
    const size_t capacity = capacity_of(a), bytes = (size_t)COUNT * (a->type == ZMPI_F32 ? 4 : 8);
    CHECK_EQUAL(decompress(back_first, bytes, first, capacity), ZMPI_OK);
    for (long at = 1;; at++) {
        const struct lack lack = {LACK_MEMORY | LACK_THREAD, at, times};
        size_t bad;
        check_say("decoding, type %d: allocation %ld", a->type, at);
        lack_set(&lack);
        enum zmpi_status status = decompress(back, bytes, first, length);
        bool there = lack_count() >= at;
        lack_set(NULL);
        CHECK_SAY(status == ZMPI_OK || status == ZMPI_ERR_MEMORY, "status %d", status);
        if (status == ZMPI_OK)
            CHECK_BYTES(back, back_first, bytes);
        lack_set(&lack);
        status = verify(first, length, &bad);
        there = there || lack_count() >= at;
        lack_set(NULL);
        CHECK_SAY(status == ZMPI_OK || status == ZMPI_ERR_MEMORY, "verify: status %d", status);
        if (!there)
            return at - 1;
    }
}

int main(int argc, char **argv)
{
    long total = 0;
    MPI_Init(&argc, &argv);
    *(void **)&compress = dlsym(RTLD_DEFAULT, "zmpi_compress");
    *(void **)&decompress = dlsym(RTLD_DEFAULT, "zmpi_decompress");
    *(void **)&verify = dlsym(RTLD_DEFAULT, "zmpi_stream_verify");
    *(void **)&capacity_of = dlsym(RTLD_DEFAULT, "zmpi_compress_capacity");
    CHECK(compress && decompress && verify && capacity_of);
    const struct zmpi_array largest = {ZMPI_F64, {Z, Y, X}};
    double *data = check_alloc(COUNT * sizeof *data);
    first = check_alloc(capacity_of(&largest));
    again = check_alloc(capacity_of(&largest));
    back = check_alloc(COUNT * sizeof *data);
    back_first = check_alloc(COUNT * sizeof *data);
    fill(data);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        for (int type = ZMPI_F32; type <= ZMPI_F64; type++)
            for (long times = 0; times < 2; times++) {
                const struct zmpi_array a = {(enum zmpi_type)type, {Z, Y, X}};
                total += compressing(&a, &bounds[i], data, times);
                total += decoding(&a, capacity_of(&a), times);
            }
    CHECK_SAY(total > 50, "only %ld faults", total);
    printf("%ld faults\n", total);
    MPI_Finalize();
    return 0;
}
