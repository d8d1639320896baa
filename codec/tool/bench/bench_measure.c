/*
 * bench_measure.c - the times. It repeats all operations of one field in turns, so that a change of
 * the machine's clock, or another guest, affects all of them alike.
 */
#define _GNU_SOURCE // _SC_LEVEL2_CACHE_SIZE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bound/fill.h"
#include "stream/compress_job.h"
#include "tool/bench/bench.h"
#include "tool/value.h"

/*
 * One sample of an operation on a small array takes at least this long, so that the clock's
 * resolution and the first access to a line do not count.
 */
#define SAMPLE_SECONDS 5e-3

struct buffers {
    unsigned char *coded, *decoded;
    size_t capacity;
};

static void add_time(struct bench_times *t, double seconds)
{
    if (t->n < BENCH_MOST_REPETITIONS)
        t->seconds[t->n++] = seconds;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const struct bench_times *t)
{
    struct bench_times s = *t;
    if (s.n == 0)
        return (double)NAN;
    qsort(s.seconds, (size_t)s.n, sizeof *s.seconds, ascending);
    return (s.seconds[(s.n - 1) / 2] + s.seconds[s.n / 2]) / 2;
}

double bench_fastest(const struct bench_times *t)
{
    double least = (double)INFINITY;
    for (int i = 0; i < t->n; i++)
        least = fmin(least, t->seconds[i]);
    return least;
}

double bench_slowest(const struct bench_times *t)
{
    double most = 0;
    for (int i = 0; i < t->n; i++)
        most = fmax(most, t->seconds[i]);
    return most;
}

double bench_spread(const struct bench_times *t)
{
    return t->n ? (bench_slowest(t) - bench_fastest(t)) / bench_median(t) : (double)NAN;
}

/* ---- what comes back ---- */

/* Values that are not finite must be equal; a different one counts as an infinite error. */
static struct bench_quality compare(const struct bench_result *r, const void *decoded)
{
    struct bench_quality q = {0, 0, (double)INFINITY};
    enum zmpi_type type = r->field->array.type;
    size_t n = r->field->bytes / zmpi_type_size(type), finite = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double x = tool_value(type, r->field->data, i), y = tool_value(type, decoded, i);
        double error = fabs(x - y);
        if (!isfinite(x)) {
            if (memcmp(&x, &y, sizeof x) != 0)
                q.max_error = (double)INFINITY;
            continue;
        }
        finite++;
        squares += error * error;
        if (error > 0)
            q.max_relative = fmax(q.max_relative, error / fabs(x));
        if (!(error <= q.max_error)) /* so that a NaN counts */
            q.max_error = isfinite(error) ? error : (double)INFINITY;
    }
    double range = r->range.max > r->range.min ? r->range.max - r->range.min : 0;
    if (squares > 0)
        q.psnr = 20 * log10(range) - 10 * log10(squares / (double)finite);
    return q;
}

/* ---- one repetition of each ---- */

/* The sum does not matter; all bytes must be read. */
static uint64_t read_all(const void *src, size_t bytes)
{
    uint64_t sum[8] = {0}, word[8];
    const unsigned char *p = src;
    for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(word, p + i, sizeof word);
        for (int k = 0; k < 8; k++)
            sum[k] ^= word[k];
    }
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

static int run_memory(struct bench_result *r, struct buffers *b, bool count)
{
    static volatile uint64_t sink; /* without it the compiler would drop the unused sum */
    double start = zmpi_seconds();
    memcpy(b->decoded, r->field->data, r->field->bytes);
    double copied = zmpi_seconds();
    sink = read_all(r->field->data, r->field->bytes);
    double read = zmpi_seconds();
    (void)sink;
    if (count) {
        add_time(&r->copy, copied - start);
        add_time(&r->read, read - copied);
    }
    return TOOL_OK;
}

static int run_scan(struct bench_result *r, bool count)
{
    struct zmpi_fills fills = r->settings->fill;
    struct zmpi_range range;
    double start = zmpi_seconds();
    zmpi_fill_range(r->field->array.type, r->field->data,
                    r->field->bytes / zmpi_type_size(r->field->array.type), r->settings->threshold,
                    &fills, r->job.threads, &range);
    if (count)
        add_time(&r->scan, zmpi_seconds() - start);
    start = zmpi_seconds();
    zmpi_axes_choose(&r->job, r->field->data);
    if (count)
        add_time(&r->choice, zmpi_seconds() - start);
    return TOOL_OK;
}

static int failed(const struct bench_result *r, enum zmpi_status status)
{
    const char *device = zmpi_device_for(r->settings->device, r->job.encoder)->name;
    if (status != ZMPI_ERR_UNSUPPORTED)
        return tool_fail_status(r->field->name, status);
    return tool_fail("%s: device %s does not take such data; ZMPI_DEVICE=cpu does", r->field->name,
                     device);
}

static int run_zmpi(struct bench_result *r, struct buffers *b, bool count)
{
    const struct zmpi_device *device = zmpi_device_for(r->settings->device, r->job.encoder);
    struct zmpi_job job = r->job;
    double start = zmpi_seconds();
    zmpi_axes_recall(&r->known, &job, r->field->data);
    enum zmpi_status status =
        zmpi_job_compress(device, &job, b->coded, b->capacity, r->field->data, &r->zmpi.size);
    double compressed = zmpi_seconds();
    if (!status)
        status = device->decompress(b->decoded, r->field->bytes, b->coded, r->zmpi.size, NULL,
                                    r->job.threads);
    double end = zmpi_seconds();
    struct zmpi_stream_info info;
    if (!status)
        status = zmpi_stream_info(b->coded, r->zmpi.size, &info);
    if (status)
        return failed(r, status);
    r->abs_bound = info.abs_bound;
    r->axes = zmpi_axes_choose(&job, r->field->data);
    if (count) {
        add_time(&r->zmpi.compress, compressed - start);
        add_time(&r->zmpi.decompress, end - compressed);
    } else {
        r->zmpi.quality = compare(r, b->decoded);
    }
    return TOOL_OK;
}

static int run_peer(struct bench_result *r, struct buffers *b, const struct bench_peer *peer,
                    struct bench_codec *c, bool count)
{
    const struct zmpi_array *a = &r->field->array;
    double bound = r->abs_bound, start = zmpi_seconds();
    c->size = peer->compress(a, bound, b->coded, b->capacity, r->field->data);
    double compressed = zmpi_seconds();
    if (c->size == 0 || !peer->decompress(a, bound, b->decoded, b->coded, c->size))
        return tool_fail("%s: %s fails", r->field->name, peer->name);
    double end = zmpi_seconds();
    if (count) {
        add_time(&c->compress, compressed - start);
        add_time(&c->decompress, end - compressed);
    } else {
        c->quality = compare(r, b->decoded);
    }
    return TOOL_OK;
}

static bool takes_part(const struct bench_result *r, const struct bench_peer *peer)
{
    return r->settings->peers && r->job.threads == 1 &&
           (!peer->lossy || (r->job.abs_bound > 0 && isfinite(r->job.abs_bound)));
}

static int run_peers(struct bench_result *r, struct buffers *b, bool count)
{
    const struct bench_peer *peer;
    int status = TOOL_OK;
    r->peers = 0;
    for (int i = 0; (peer = bench_peer(i)) && r->peers < BENCH_MOST_PEERS && !status; i++) {
        if (!takes_part(r, peer))
            continue;
        struct bench_codec *c = &r->peer[r->peers++];
        c->name = peer->name;
        if (c->compress.n < BENCH_PEER_REPETITIONS)
            status = run_peer(r, b, peer, c, count);
    }
    return status;
}

/* ---- in the cache ---- */

/* The first planes, rows or elements of the field that fill half of the second-level cache. */
static void choose_piece(struct bench_result *r)
{
#ifdef _SC_LEVEL2_CACHE_SIZE /* musl has none */
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
    long cache = 0;
#endif
    size_t most = cache > 0 ? (size_t)cache / 2 : (size_t)256 << 10;
    const size_t *e = r->field->array.extent, width = zmpi_type_size(r->field->array.type);
    size_t row = e[2] * width, plane = e[1] * row;
    r->piece = r->field->array;
    if (plane <= most)
        r->piece.extent[0] = most / plane < e[0] ? most / plane : e[0];
    else if (row <= most)
        memcpy(r->piece.extent, (size_t[]){1, most / row, e[2]}, sizeof r->piece.extent);
    else
        memcpy(r->piece.extent, (size_t[]){1, 1, most / width}, sizeof r->piece.extent);
    zmpi_array_bytes(&r->piece, &r->piece_bytes);
}

/* Each operation on the piece is repeated by itself: in turns they would evict each other's arrays
 * from the cache. */
enum piece_task { COPY, RECALL, COMPRESS, DECOMPRESS };

static enum zmpi_status run_task(struct bench_result *r, struct buffers *b,
                                 const struct zmpi_device *device, const struct zmpi_job *job,
                                 enum piece_task task)
{
    struct zmpi_job step = *job;
    if (task == RECALL || task == COMPRESS)
        zmpi_axes_recall(&r->known, &step, r->field->data);
    if (task == COMPRESS)
        return zmpi_job_compress(device, &step, b->coded, b->capacity, r->field->data,
                                 &r->cached.size);
    if (task == DECOMPRESS)
        return device->decompress(b->decoded, r->piece_bytes, b->coded, r->cached.size, NULL, 1);
    if (task == COPY)
        memcpy(b->decoded, r->field->data, r->piece_bytes);
    return ZMPI_OK;
}

static int run_piece(struct bench_result *r, struct buffers *b, bool count)
{
    const struct zmpi_device *device = zmpi_device_for(r->settings->device, r->job.encoder);
    struct bench_times *const times[] = {&r->piece_copy, &r->piece_recall, &r->cached.compress,
                                         &r->cached.decompress};
    struct zmpi_job job = r->job;
    enum zmpi_status status = ZMPI_OK;
    job.array = r->piece;
    job.read = r->piece_bytes;
    for (int task = COPY; task <= DECOMPRESS && !status; task++) {
        size_t n = 0;
        double seconds = 0, start = 0;
        for (; !status && (seconds < SAMPLE_SECONDS || n < 4); n++) {
            if (n == 1) /* the first repetition only fills the cache */
                start = zmpi_seconds();
            status = run_task(r, b, device, &job, (enum piece_task)task);
            seconds = n ? zmpi_seconds() - start : 0;
        }
        if (count && !status)
            add_time(times[task], seconds / (double)(n - 1));
    }
    return status ? failed(r, status) : TOOL_OK;
}

/* ---- all ---- */

static bool make_buffers(const struct bench_result *r, struct buffers *b)
{
    const struct bench_peer *peer;
    b->capacity = zmpi_compress_capacity(&r->field->array);
    for (int i = 0; (peer = bench_peer(i)); i++) {
        size_t n = takes_part(r, peer) ? peer->capacity(&r->field->array, r->job.abs_bound) : 0;
        b->capacity = n > b->capacity ? n : b->capacity;
    }
    b->coded = bench_alloc(b->capacity);
    b->decoded = bench_alloc(r->field->bytes);
    return b->coded && b->decoded;
}

static int make_job(struct bench_result *r, int threads)
{
    const struct bench_settings *s = r->settings;
    const struct zmpi_array *a = &r->field->array;
    struct zmpi_fills fills = s->fill;
    zmpi_fill_range(a->type, r->field->data, r->field->bytes / zmpi_type_size(a->type),
                    s->threshold, &fills, threads, &r->range);
    enum zmpi_status status = zmpi_job_make(a, &s->bound, &r->range, &r->job);
    zmpi_job_threshold(&r->job, s->threshold);
    zmpi_job_fills(&r->job, &fills);
    r->job.threads = threads;
    r->job.encoder = s->encoder;
    r->job.variant = s->variant;
    return status ? tool_fail_status(r->field->name, status) : TOOL_OK;
}

/* Repetition -1 warms up; its results are compared with the original. */
static int repeat(struct bench_result *r, struct buffers *b)
{
    int status = TOOL_OK;
    for (int i = -1; i < r->settings->repetitions && !status; i++) {
        status = run_memory(r, b, i >= 0);
        if (!status)
            status = run_scan(r, i >= 0);
        if (!status)
            status = run_zmpi(r, b, i >= 0);
        if (!status)
            status = run_peers(r, b, i >= 0);
        if (!status && r->piece_bytes)
            status = run_piece(r, b, i >= 0);
    }
    return status;
}

int bench_measure(struct bench_result *r, const struct bench_field *f,
                  const struct bench_settings *s, int threads)
{
    struct buffers b = {0};
    memset(r, 0, sizeof *r);
    r->field = f;
    r->settings = s;
    r->zmpi.name = r->cached.name = s->encoder == ZMPI_FLE ? "zmpi" : zmpi_encoder_name(s->encoder);
    int status = make_job(r, threads);
    if (!status && threads == 1) /* two cores would have two caches */
        choose_piece(r);
    if (!status)
        status = make_buffers(r, &b) ? repeat(r, &b) : tool_fail("out of memory");
    free(b.coded);
    free(b.decoded);
    return status;
}
