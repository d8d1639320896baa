/* gain.c - errors and bytes, with the network and by smaller bounds. */
#include "tool/enhance/gain.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "tool/tool.h"

static double element(enum zmpi_type type, const unsigned char *at)
{
    float narrow;
    double wide;
    if (type == ZMPI_F32) {
        memcpy(&narrow, at, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

/* Errors are in units of the stream's bound, so that variables of different scales count alike. */
static double error_of(const struct piece *p, const unsigned char *decoded)
{
    const size_t width = p->s.width;
    const double unit = p->s.info.abs_bound;
    double sum = 0;
    for (size_t at = 0; at < p->s.info.decoded_bytes; at += width) {
        const double d = (element(p->s.info.array.type, p->original + at) -
                          element(p->s.info.array.type, decoded + at)) /
                         unit;
        sum += isfinite(d) ? d * d : 0;
    }
    return sum;
}

/* Compresses one stream with `part` of its bound. */
static enum zmpi_status shrink(const struct piece *p, double part, int threads, double *bytes,
                               double *error)
{
    const struct zmpi_array *a = &p->s.info.array;
    const struct zmpi_bound bound = {ZMPI_ABS, p->s.info.abs_bound * part};
    const struct zmpi_codec_options options = {
        .size = sizeof options, .encoder = ZMPI_INTERP, .threads = threads};
    const size_t capacity = zmpi_compress_capacity(a);
    unsigned char *coded = malloc(capacity), *decoded = malloc(p->s.info.decoded_bytes);
    size_t size = 0;
    enum zmpi_status status = coded && decoded ? ZMPI_OK : ZMPI_ERR_MEMORY;
    if (!status)
        status = zmpi_compress_with(&options, a, &bound, NULL, coded, capacity, p->original, &size);
    if (!status)
        status = zmpi_decompress_with(&options, decoded, p->s.info.decoded_bytes, coded, size);
    if (!status) {
        *bytes += (double)size;
        *error += error_of(p, decoded);
    }
    free(coded);
    free(decoded);
    return status;
}

/* Adds what a part of the bound gives. */
static enum zmpi_status add_point(const struct piece *piece, size_t n, int threads, double part,
                                  struct curve *c)
{
    double bytes = 0, error = 0;
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = shrink(&piece[i], part, threads, &bytes, &error);
    c->part[c->count] = part;
    c->bytes[c->count] = bytes;
    c->error[c->count++] = error;
    return status;
}

enum zmpi_status gain_curve(const struct piece *piece, size_t n, int threads, struct curve *c)
{
    static const double parts[CURVE_COARSE - 1] = {0.95, 0.9, 0.85, 0.8,  0.72, 0.64,
                                                   0.56, 0.4, 0.2,  0.05, 0.01};
    enum zmpi_status status = ZMPI_OK;
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < n; i++) {
        c->bytes[0] += (double)piece[i].s.info.length;
        c->error[0] += error_of(&piece[i], piece[i].decoded);
    }
    c->part[0] = 1;
    c->count = 1;
    for (size_t k = 0; k < CURVE_COARSE - 1 && !status; k++) {
        status = add_point(piece, n, threads, parts[k], c);
        tool_progress("bounds", k + 1, CURVE_COARSE - 1);
        const double bytes = c->bytes[c->count - 1];
        if (bytes > c->bytes[0] * 4 / 3 && bytes > c->bytes[0] + 2 * ZMPI_NET_BYTES)
            break;
    }
    return status;
}

enum zmpi_status gain_refine(const struct piece *piece, size_t n, int threads, double bytes,
                             struct curve *c)
{
    double fits = 0, large = 0; /* parts between which the bytes are */
    enum zmpi_status status = ZMPI_OK;
    for (int i = 0; i < c->count; i++)
        if (c->bytes[i] <= bytes && (fits <= 0 || c->part[i] < fits))
            fits = c->part[i];
    for (int i = 0; i < c->count; i++)
        if (c->part[i] < fits && c->part[i] > large)
            large = c->part[i];
    for (int k = 0; k < CURVE_FINE && large > 0 && !status; k++) {
        const double part = sqrt(fits * large);
        status = add_point(piece, n, threads, part, c);
        if (c->bytes[c->count - 1] <= bytes)
            fits = part;
        else
            large = part;
    }
    return status;
}

double gain_plain(const struct curve *c, double bytes)
{
    double least = c->error[0], most = 0;
    for (int i = 0; i < c->count; i++)
        most = fmax(most, c->bytes[i]);
    if (bytes > most)
        return 0;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->count; j++) {
            if (c->bytes[i] <= bytes)
                least = fmin(least, c->error[i]);
            if (c->bytes[i] < bytes && bytes < c->bytes[j] && c->error[j] > 0) /* between two */
                least = fmin(least, c->error[i] *
                                        pow(c->error[j] / c->error[i],
                                            (bytes - c->bytes[i]) / (c->bytes[j] - c->bytes[i])));
        }
    return least;
}

/* ---- the network ---- */

struct measure {
    const struct zmpi_enhancer *e;
    struct piece *piece;
    size_t n, step, all;
    atomic_size_t next;
    atomic_int failed;
};

/* Chunk k's rows, without gaps. */
static size_t gather(const struct zmpi_stream *s, size_t k, const unsigned char *array,
                     unsigned char *dst, size_t extent[3])
{
    size_t first[3];
    zmpi_stream_tile(s, k, first, extent);
    const size_t bytes = extent[2] * s->width;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, dst += bytes) {
            const size_t row = (first[0] + z) * s->extent[1] + first[1] + y;
            memcpy(dst, array + (row * s->extent[2] + first[2]) * s->width, bytes);
        }
    return extent[0] * extent[1] * extent[2];
}

static bool measure_chunk(const struct measure *m, struct piece *p, size_t k,
                          struct zmpi_net_work *w)
{
    const struct zmpi_stream *s = &p->s;
    size_t extent[3];
    const size_t most = (size_t)s->info.tile[0] * s->info.tile[1] * s->info.tile[2];
    unsigned char *words = malloc(most * s->width), *decoded = malloc(most * s->width),
                  *flags = malloc(most + 8);
    int8_t *out = malloc(most);
    const bool fine = words && decoded && flags && out;
    if (fine) {
        gather(s, k, p->original, words, extent);
        const size_t n = gather(s, k, p->decoded, decoded, extent);
        zmpi_net_run(w, s->info.array.type, s->info.abs_bound, extent, decoded, out);
        p->gain[k] = zmpi_enhance_try(m->e, s->info.array.type, s->info.abs_bound, n, words,
                                      decoded, out, flags);
        free(p->flags[k]);
        p->flags[k] = malloc(p->gain[k].flags);
        if (p->flags[k])
            memcpy(p->flags[k], flags, p->gain[k].flags);
    }
    free(words);
    free(decoded);
    free(flags);
    free(out);
    return fine && p->flags[k];
}

static void work(void *context)
{
    struct measure *m = context;
    struct zmpi_net_work *w = zmpi_net_work_new(&m->e->net);
    if (!w) /* no memory: other threads may have some */
        return;
    for (size_t at; (at = m->step * atomic_fetch_add(&m->next, 1)) < m->all;) {
        size_t i = 0;
        for (; at >= m->piece[i].s.info.chunks; i++)
            at -= m->piece[i].s.info.chunks;
        if (!measure_chunk(m, &m->piece[i], at, w))
            atomic_store(&m->failed, 1);
    }
    zmpi_net_work_free(w);
}

enum zmpi_status gain_measure(const struct zmpi_enhancer *e, struct piece *piece, size_t n,
                              size_t step, int threads)
{
    struct measure m = {.e = e, .piece = piece, .n = n, .step = step};
    for (size_t i = 0; i < n; i++) {
        m.all += piece[i].s.info.chunks;
        memset(piece[i].gain, 0, piece[i].s.info.chunks * sizeof *piece[i].gain);
    }
    zmpi_pool_run(threads, work, &m);
    return m.failed || m.next * step < m.all ? ZMPI_ERR_MEMORY : ZMPI_OK;
}

double gain_decide(struct piece *piece, size_t n, double worth, double *bytes)
{
    double error = 0;
    *bytes = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < piece[i].s.info.chunks; k++) {
            const struct zmpi_gain *g = &piece[i].gain[k];
            piece[i].on[k] = g->before - g->after > worth * (double)g->flags;
            error += piece[i].on[k] ? g->after : g->before;
            *bytes += piece[i].on[k] ? (double)g->flags : 0;
        }
    return error;
}

void gain_free(struct piece *piece, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; piece[i].flags && k < piece[i].s.info.chunks; k++)
            free(piece[i].flags[k]);
        free(piece[i].flags);
        free(piece[i].gain);
        free(piece[i].on);
        free(piece[i].record);
        free(piece[i].original);
        free(piece[i].decoded);
    }
    free(piece);
}
