/* cpu.c - the CPU as a device: which encoders take which arrays, and which of two streams is
 * smaller. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/rate.h"
#include "bound/rewritten.h"
#include "kernels/kernels.h"
#include "stream/compress.h"
#include "stream/compress_interp.h"
#include "stream/interp_gain.h"

/* The CPU device's times, learned from calls that are long enough to be timed. */
static struct zmpi_rate rates[ZMPI_ENCODERS][2]; /* coding, decoding */
enum { LEARN_FROM = 256 << 10 };

/*
 * Rates of the kernels on an ordinary core: good enough to choose between devices until something
 * was measured.
 */
static double cpu_guess(const struct zmpi_work *work)
{
    static const double rate[ZMPI_ENCODERS][2][2] = {{{0.4e9, 0.5e9}, {3.5e9, 4e9}},
                                                     {{0.2e9, 0.3e9}, {1.5e9, 2e9}},
                                                     {{0.05e9, 0.1e9}, {0.1e9, 0.15e9}}};
    const bool vectors = zmpi_kernels() != &zmpi_kernels_scalar;
    return (double)work->bytes / rate[work->encoder - ZMPI_FLE][vectors][work->decompress];
}

static double cpu_cost(const struct zmpi_work *work)
{
    return zmpi_rate_expect(&rates[work->encoder - ZMPI_FLE][work->decompress], work->bytes,
                            cpu_guess(work));
}

static void learn(const struct zmpi_work *work, double start)
{
    zmpi_rate_learn(&rates[work->encoder - ZMPI_FLE][work->decompress], work->bytes,
                    cpu_guess(work), zmpi_seconds() - start);
}

/* Compresses by encoder 3. Takes encoder 2 instead where its stream is smaller, or where encoder 3
 * does not code the array (format.md 4.10). The profile FLARE may be larger, because the user asked
 * for it. Encoder 2 also takes arrays that were decoded in part, unless it needs twice the bytes:
 * what it makes stays as it is when another part is rewritten, at no cost. */
static enum zmpi_status compress_smaller(const struct zmpi_plan *p, const struct zmpi_job *job,
                                         void *dst, size_t dst_capacity, const void *src,
                                         size_t *size)
{
    size_t by_2;
    bool known = false;
    const bool in_part = job->rewritten && zmpi_rewritten_is(job, src);
    enum zmpi_status status = zmpi_interp_compress(job, dst, dst_capacity, src, size, &known);
    if (status == ZMPI_ERR_UNSUPPORTED || status == ZMPI_ERR_SPACE)
        return zmpi_chunks_compress(ZMPI_HUFFMAN, p, job, dst, dst_capacity, src, size);
    if (!status && !in_part &&
        (known || job->variant == ZMPI_VARIANT_FLARE || zmpi_interp_gains(job, src, dst, *size)))
        return ZMPI_OK;
    const size_t most = in_part ? 2 * *size : *size - 1;
    unsigned char *other = status ? NULL : malloc(most);
    if (!other)
        return status ? status : ZMPI_ERR_MEMORY;
    status = zmpi_chunks_compress(ZMPI_HUFFMAN, p, job, other, most, src, &by_2);
    if (!status && by_2 > dst_capacity)
        status = ZMPI_ERR_SPACE;
    if (!status) {
        memcpy(dst, other, by_2);
        *size = by_2;
    }
    free(other);
    return status == ZMPI_ERR_SPACE ? ZMPI_OK : status;
}

/* The words of a byte string have the file's byte order on every machine. A big-endian machine
 * codes a swapped copy. */
static enum zmpi_status compress_bytes(const struct zmpi_plan *p, const struct zmpi_job *job,
                                       void *dst, size_t dst_capacity, const void *src,
                                       size_t *size)
{
    const size_t padded = p->words[2] * p->width;
    unsigned char *words = calloc(padded + 1, 1);
    if (!words)
        return ZMPI_ERR_MEMORY;
    memcpy(words, src, p->bytes);
    zmpi_copy_elements(words, words, padded, p->width);
    enum zmpi_status status =
        zmpi_chunks_compress(job->encoder == ZMPI_INTERP ? ZMPI_HUFFMAN : job->encoder, p, job, dst,
                             dst_capacity, words, size);
    free(words);
    return status;
}

static enum zmpi_status cpu_compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                     const void *src, size_t *size)
{
    struct zmpi_plan p;
    enum zmpi_status status = zmpi_plan_make(&job->array, &p);
    if (status)
        return status;
    if (job->threads < 1)
        return ZMPI_ERR_ARG;
    if (job->encoder < ZMPI_FLE || job->encoder > ZMPI_ENCODERS)
        return ZMPI_ERR_UNSUPPORTED;
    const bool timed = p.bytes >= LEARN_FROM;
    const double start = timed ? zmpi_seconds() : 0;
    if (ZMPI_BIG_ENDIAN && p.type == ZMPI_BYTES)
        status = compress_bytes(&p, job, dst, dst_capacity, src, size);
    else
        status = job->encoder == ZMPI_INTERP
                     ? compress_smaller(&p, job, dst, dst_capacity, src, size)
                     : zmpi_chunks_compress(job->encoder, &p, job, dst, dst_capacity, src, size);
    if (!status && timed)
        learn(&(struct zmpi_work){p.bytes, job->encoder, false}, start);
    return status;
}

enum zmpi_status zmpi_cpu_decode(const struct zmpi_stream *s, const unsigned char *need,
                                 int threads, void *dst)
{
    if (need || s->info.decoded_bytes < LEARN_FROM)
        return zmpi_stream_decode(s, need, threads, dst, NULL);
    const double start = zmpi_seconds();
    enum zmpi_status status = zmpi_stream_decode(s, need, threads, dst, NULL);
    if (!status)
        learn(&(struct zmpi_work){s->info.decoded_bytes, s->info.encoder, true}, start);
    return status;
}

static enum zmpi_status cpu_decompress(void *dst, size_t dst_capacity, const void *src,
                                       size_t src_size, const unsigned char *need, int threads)
{
    struct zmpi_stream s;
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    if (status)
        return status;
    if (dst_capacity < s.info.decoded_bytes)
        return ZMPI_ERR_SPACE;
    return zmpi_cpu_decode(&s, need, threads, dst);
}

static const char *cpu_probe(void)
{
    return NULL;
}

const struct zmpi_device *zmpi_device_cpu(void)
{
    static const struct zmpi_device cpu = {
        .size = sizeof cpu,
        .abi = ZMPI_DEVICE_ABI,
        .memory = ZMPI_MEMORY_HOST,
        .encoders = 1u << ZMPI_FLE | 1u << ZMPI_HUFFMAN | 1u << ZMPI_INTERP,
        .name = "cpu",
        .probe = cpu_probe,
        .cost = cpu_cost,
        .compress = cpu_compress,
        .decompress = cpu_decompress,
    };
    return &cpu;
}
