/*
 * client.c - a process that compresses and decodes by the SmartNIC's plug-in: arrays of all kinds,
 * each compared with what the CPU makes of it, at once and again at the end.
 *
 *     nic_client same [ROUNDS [THREADS]]    every array must come from the daemon
 *     nic_client any [SECONDS]              from wherever; then wait so long for what comes late
 *     nic_client edges                      calls for which there is no room, or no sense
 *     nic_client large BYTES
 *     nic_client flare                      by encoder 3's profile FLARE
 *     nic_client decode FILE                its 2 x 40 x 46 floats at rel=2e-2 by this profile, as
 *                                           the daemon decodes them, to stdout
 *
 * Prints how many were compressed by the daemon, and decoded.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "bound/ratio.h"
#include "device/offload.h"
#include "stream/compress_job.h"

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "nic_client: " __VA_ARGS__);                                               \
        fputc('\n', stderr);                                                                       \
        exit(1);                                                                                   \
    } while (0)

static const struct sample {
    enum zmpi_type type;
    size_t extent[3];
    const char *bound;
    int encoder;
} samples[] = {
    {ZMPI_F32, {1, 1, 1}, "abs=0.5", 1},         {ZMPI_F32, {1, 1, 1000}, "rel=1e-3", 1},
    {ZMPI_F32, {20, 30, 50}, "abs=1e-2", 1},     {ZMPI_F64, {1, 90, 120}, "rel=1e-5", 2},
    {ZMPI_F32, {16, 128, 161}, "psnr=60", 1},    {ZMPI_F64, {5, 60, 70}, "pw_rel=1e-3", 1},
    {ZMPI_F32, {1, 100, 100}, "lossless", 2},    {ZMPI_F64, {33, 97, 120}, "abs=1e-4", 1},
    {ZMPI_BYTES, {1, 1, 100001}, "lossless", 2}, {ZMPI_I32, {10, 20, 30}, "lossless", 1},
    {ZMPI_F32, {1, 512, 512}, "ratio=8", 1},     {ZMPI_I64, {1, 1, 5}, "lossless", 2},
};

enum { SAMPLES = sizeof samples / sizeof *samples };

/* A result that must stay as it is, also behind the stream. */
struct result {
    unsigned char *is, *must;
    size_t capacity;
};

static double value(size_t i, unsigned seed)
{
    return sin(0.01 * (double)i + seed) + 0.001 * (double)((i * 2654435761u + seed) >> 7 & 255);
}

static void fill(const struct zmpi_array *a, void *data, unsigned seed)
{
    size_t count;
    if (zmpi_array_count(a, &count))
        FAIL("count");
    for (size_t i = 0; i < count; i++)
        switch (a->type) {
        case ZMPI_F32:
            ((float *)data)[i] = i % 1013 == 7 ? NAN : (float)value(i, seed);
            break;
        case ZMPI_F64:
            ((double *)data)[i] = i % 1013 == 7 ? 1e20 : value(i, seed);
            break;
        case ZMPI_I32:
            ((int *)data)[i] = (int)(1000 * value(i, seed));
            break;
        case ZMPI_I64:
            ((long long *)data)[i] = (long long)(1e6 * value(i, seed));
            break;
        case ZMPI_BYTES:
            ((unsigned char *)data)[i] = (unsigned char)(100 * value(i, seed));
            break;
        }
}

static struct zmpi_job job_of(const struct zmpi_array *a, const char *bound, int encoder,
                              const void *data)
{
    struct zmpi_bound b;
    struct zmpi_range range;
    struct zmpi_job job;
    size_t count;
    if (zmpi_bound_parse(bound, &b) || zmpi_array_count(a, &count))
        FAIL("bound");
    zmpi_range_scan(a->type, data, count, 0, 1, &range);
    if (zmpi_job_make(a, &b, &range, &job))
        FAIL("job");
    job.encoder = encoder;
    job.variant = encoder == ZMPI_INTERP ? ZMPI_VARIANT_FLARE : ZMPI_VARIANT_NONE;
    job.axes = a->extent[2] % 2 ? ZMPI_AXES_GIVEN | (unsigned)a->extent[2] / 2 % 8 : 0;
    return job;
}

static const struct zmpi_device *nic(void)
{
    const char *why = "";
    const struct zmpi_device *d = zmpi_device_find("smartnic", NULL, &why);
    if (!d)
        FAIL("%s", why);
    return d;
}

/* A stream back to an array. */
static void back(const struct zmpi_device *d, const unsigned char *src, size_t size, size_t bytes,
                 struct zmpi_offload *offload)
{
    struct zmpi_stream s;
    unsigned char *is = malloc(bytes), *must = malloc(bytes);
    if (!is || !must || zmpi_stream_parse(&s, src, size))
        FAIL("memory, or the stream");
    memset(is, 0x77, bytes);
    enum zmpi_status status = offload ? zmpi_offload_decode(offload, &s, NULL, 1, is)
                                      : d->decompress(is, bytes, src, size, NULL, 1);
    if (status)
        FAIL("%zu bytes back: %s (%s)", bytes, zmpi_strerror(status),
             d->problem() ? d->problem() : "no reason");
    if (zmpi_decompress(must, bytes, src, size) || memcmp(is, must, bytes) != 0)
        FAIL("%zu bytes back: other ones than the CPU's", bytes);
    free(is);
    free(must);
}

/* One array; offload NULL: by the device, or it is an error. */
static struct result one(const struct zmpi_array *a, const char *bound, int encoder, unsigned seed,
                         struct zmpi_offload *offload)
{
    size_t bytes, size = 0, must_size = 0;
    if (zmpi_array_bytes(a, &bytes))
        FAIL("bytes");
    struct result r = {.capacity = zmpi_compress_capacity(a)};
    void *data = malloc(bytes);
    r.is = malloc(r.capacity);
    r.must = malloc(r.capacity);
    if (!data || !r.is || !r.must)
        FAIL("memory");
    fill(a, data, seed);
    const struct zmpi_job job = job_of(a, bound, encoder, data);
    const struct zmpi_device *d = nic();
    enum zmpi_status status =
        offload ? zmpi_offload_compress(offload, &job, NULL, r.is, r.capacity, data, &size)
                : zmpi_job_compress(d, &job, r.is, r.capacity, data, &size);
    if (status)
        FAIL("%s of %zu bytes: %s (%s)", bound, bytes, zmpi_strerror(status),
             d->problem() ? d->problem() : "no reason");
    memset(data, 0, bytes); /* the program's again: a retry must not look at it */
    fill(a, data, seed);
    if (zmpi_job_compress(zmpi_device_cpu(), &job, r.must, r.capacity, data, &must_size))
        FAIL("the CPU cannot");
    free(data);
    if (size != must_size || memcmp(r.is, r.must, size) != 0)
        FAIL("%s of %zu bytes: other bytes than the CPU's", bound, bytes);
    back(d, r.is, size, bytes, offload);
    memcpy(r.must, r.is, r.capacity);
    return r;
}

static void compare(const struct result *r)
{
    if (memcmp(r->is, r->must, r->capacity) != 0)
        FAIL("a result was changed later");
}

static void drop(struct result *r)
{
    free(r->is);
    free(r->must);
}

static int rounds = 1;

static void *same(void *context)
{
    const unsigned seed = *(unsigned *)context;
    for (int n = 0; n < rounds * SAMPLES; n++) {
        const struct sample *s = &samples[(n + (int)seed) % SAMPLES];
        struct zmpi_array a = {s->type, {s->extent[0], s->extent[1], s->extent[2]}};
        struct result r = one(&a, s->bound, s->encoder, seed, NULL);
        drop(&r);
    }
    return NULL;
}

static void in_threads(int threads)
{
    pthread_t thread[64];
    unsigned seed[64];
    for (int i = 0; i < threads; i++) {
        seed[i] = (unsigned)i;
        if (pthread_create(&thread[i], NULL, same, &seed[i]))
            FAIL("no thread");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    const int all = threads * rounds * SAMPLES;
    printf("%d of %d by the daemon, %d back\n", all, all, all);
}

/* What the device answers by itself. */
static void edges(const struct zmpi_device *d)
{
    static float data[1000], is[1000];
    static unsigned char stream[8000], no_need[1] = {0};
    const struct zmpi_array a = {ZMPI_F32, {1, 1, 1000}}, none = {ZMPI_F32, {1, 1, 0}};
    size_t size = 0, length = 0;
    fill(&a, data, 1);
    const struct zmpi_job job = job_of(&a, "abs=1e-2", 1, data);
    struct zmpi_job empty = job, senseless = job;
    empty.array = none;
    senseless.keep = -1;
    if (d->compress(&job, stream, 10, data, &size) != ZMPI_ERR_SPACE ||
        d->compress(&job, stream, 100, data, &size) != ZMPI_ERR_SPACE ||
        d->compress(&empty, stream, sizeof stream, data, &size) != ZMPI_ERR_UNSUPPORTED ||
        d->compress(&senseless, stream, sizeof stream, data, &size) != ZMPI_ERR_UNSUPPORTED)
        FAIL("a job for which there is no room, or that makes no sense");
    if (zmpi_job_compress(zmpi_device_cpu(), &job, stream, sizeof stream, data, &length) ||
        d->decompress(is, 100, stream, length, NULL, 1) != ZMPI_ERR_SPACE ||
        d->decompress(is, sizeof is, stream, 30, NULL, 1) == ZMPI_OK)
        FAIL("a stream for which there is no room, or that is cut off");
    memset(is, 0x77, sizeof is);
    if (d->decompress(is, sizeof is, stream, length, no_need, 1) || is[0] == data[0])
        FAIL("a part that is not needed");
}

static void any(double late)
{
    struct zmpi_offload offload = {.what = "test", .name = "smartnic"};
    struct result r[SAMPLES];
    int by_daemon = 0, back_by_daemon = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        struct zmpi_array a = {s->type, {s->extent[0], s->extent[1], s->extent[2]}};
        const uint64_t before = offload.coded.bytes, before_back = offload.decoded.bytes;
        r[i] = one(&a, s->bound, s->encoder, (unsigned)i, &offload);
        by_daemon += offload.coded.bytes > before;
        back_by_daemon += offload.decoded.bytes > before_back;
    }
    usleep((useconds_t)(1e6 * late));
    for (int i = 0; i < SAMPLES; i++) {
        compare(&r[i]);
        drop(&r[i]);
    }
    printf("%d of %d by the daemon, %d back\n", by_daemon, SAMPLES, back_by_daemon);
}

static void large(const struct zmpi_array *a, const char *bound, int encoder)
{
    struct zmpi_offload offload = {.what = "test", .name = "smartnic"};
    struct result r = one(a, bound, encoder, 0, &offload);
    drop(&r);
    printf("%d of 1 by the daemon, %d back%s\n", offload.coded.bytes > 0, offload.decoded.bytes > 0,
           offload.failed ? ", which failed" : "");
}

static void decode(const char *path)
{
    static const struct zmpi_array a = {ZMPI_F32, {2, 40, 46}};
    static float value[2 * 40 * 46], is[2 * 40 * 46];
    const struct zmpi_device *d = nic();
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *stream = malloc(capacity);
    size_t size;
    FILE *f = fopen(path, "rb");
    if (!stream || !f || fread(value, sizeof value, 1, f) != 1)
        FAIL("%s", path);
    fclose(f);
    const struct zmpi_job job = job_of(&a, "rel=2e-2", ZMPI_INTERP, value);
    if (zmpi_job_compress(zmpi_device_cpu(), &job, stream, capacity, value, &size))
        FAIL("the CPU cannot");
    if (d->decompress(is, sizeof is, stream, size, NULL, 1))
        FAIL("back: %s", d->problem() ? d->problem() : "no reason");
    fwrite(is, sizeof is, 1, stdout);
    free(stream);
}

/* The program's signals stay its own. */
static void open_plugin(void)
{
    struct sigaction before[32], now;
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &before[i]);
    nic();
    for (int i = 1; i < 32; i++)
        if (sigaction(i, NULL, &now) == 0 && now.sa_sigaction != before[i].sa_sigaction)
            FAIL("signal %d has another handler", i);
}

int main(int argc, char **argv)
{
    open_plugin();
    zmpi_log_set(ZMPI_LOG_WARN);
    if (argc > 1 && strcmp(argv[1], "same") == 0) {
        rounds = argc > 2 ? atoi(argv[2]) : 1;
        in_threads(argc > 3 ? atoi(argv[3]) : 1);
    } else if (argc > 1 && strcmp(argv[1], "edges") == 0) {
        edges(nic());
    } else if (argc > 1 && strcmp(argv[1], "any") == 0) {
        any(argc > 2 ? atof(argv[2]) : 0);
    } else if (argc > 2 && strcmp(argv[1], "large") == 0) {
        large(&(struct zmpi_array){ZMPI_F32, {1, 1, (size_t)atoll(argv[2]) / 4}}, "abs=0.1", 1);
    } else if (argc > 1 && strcmp(argv[1], "flare") == 0) {
        large(&(struct zmpi_array){ZMPI_F32, {40, 50, 60}}, "abs=1e-3", ZMPI_INTERP);
    } else if (argc > 2 && strcmp(argv[1], "decode") == 0) {
        decode(argv[2]);
    } else {
        FAIL("same, any, edges, large, flare or decode");
    }
    return 0;
}
