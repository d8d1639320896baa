/* stream_decode.c - decodes chunks of a checked stream to an array, or chunks of several streams to
 * one array whose elements take turns. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "judge/components.h"
#include "stream/chunk_decoder.h"

/* Needed chunks of all streams that a thread takes at a time: fewer where few are left, so that all
 * threads end together. Where they are read from a file, fewer reads of more bytes take less time,
 * as long as these stay in a cache. */
enum { GROUP_LEAST = 8, GROUP_MOST = 128 };
#define GROUP_BYTES ((size_t)512 << 10)

_Static_assert((int)GROUP_MOST >= (int)ZMPI_COMPONENTS_MOST, "a group has a chunk of each stream");

/*
 * Threads take the needed chunks in order. So every chunk below a damaged one is taken too, and the
 * first damaged one is found for any number of threads.
 */
struct decoder {
    const struct zmpi_stream *s; /* all have one shape and the same tiles */
    size_t streams;
    size_t first, step; /* s[0] is component `first` of `step`; 0, 1: the array itself */
    const unsigned char *need;
    const struct zmpi_copy *copies; /* wanted pieces of the array, or of all components */
    size_t count;                   /* of the copies; 0: only check the chunks */
    unsigned char *dst;

    pthread_mutex_t lock;
    int threads;
    size_t next;                                    /* first chunk that no thread has taken */
    size_t left;                                    /* needed chunks from `next` on */
    const unsigned char *src[ZMPI_COMPONENTS_MOST]; /* the bytes of chunk `next`, in each stream */
    enum zmpi_status status;                        /* of chunk `bad` */
    size_t bad;
};

/* Chunks that a thread has taken, and the bytes of each in all streams. */
struct taken {
    size_t count, chunk[GROUP_MOST];
    const unsigned char *src[GROUP_MOST];
};

/* How many chunks a thread takes at a time; of encoder 3 one or two, since its chunks are large. */
static size_t group_of(const struct decoder *d, size_t chunks)
{
    if (d->s->info.encoder == ZMPI_INTERP)
        return chunks > GROUP_LEAST ? 2 : 1;
    return d->streams > chunks ? 1 : chunks / d->streams;
}

static size_t next_group(const struct decoder *d)
{
    const size_t share = d->threads > 1 ? d->left / (2 * (size_t)d->threads) : d->left;
    const size_t least = group_of(d, GROUP_LEAST), most = group_of(d, GROUP_MOST);
    return share < least ? least : share < most ? share : most;
}

static bool take_chunks(struct decoder *d, struct taken *t)
{
    size_t bytes = 0;
    t->count = 0;
    pthread_mutex_lock(&d->lock);
    const size_t group = next_group(d);
    for (; d->left && t->count < group && bytes < GROUP_BYTES && !d->status; d->next++) {
        const bool needed = !d->need || d->need[d->next];
        if (needed) {
            memcpy(t->src + t->count * d->streams, d->src, d->streams * sizeof *d->src);
            t->chunk[t->count++] = d->next;
            d->left--;
        }
        for (size_t c = 0; c < d->streams; c++) {
            const size_t size = zmpi_stream_chunk_size(&d->s[c], d->next);
            d->src[c] += size;
            bytes += needed ? size : 0;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return t->count > 0;
}

static void fail(struct decoder *d, size_t k, enum zmpi_status status)
{
    pthread_mutex_lock(&d->lock);
    if (!d->status || k < d->bad) {
        d->status = status;
        d->bad = k;
    }
    pthread_mutex_unlock(&d->lock);
}

/* ---- where decoded words go ---- */

/* The byte of the array at which row y of plane z of a tile begins. */
static size_t row_begin(const struct zmpi_stream *s, const size_t first[3], size_t z, size_t y)
{
    const size_t row = (first[0] + z) * s->extent[1] + first[1] + y;
    return (row * s->extent[2] + first[2]) * s->width;
}

/* The first copy, from number i on, that ends behind `begin`. */
static size_t find_copy(const struct decoder *d, size_t i, size_t begin)
{
    size_t end = d->count;
    while (i < end) {
        const size_t middle = i + (end - i) / 2;
        if (d->copies[middle].from + d->copies[middle].length > begin)
            end = middle;
        else
            i = middle + 1;
    }
    return i;
}

/* The destination of chunk k, if all of it is wanted in the array's order; else NULL. */
static unsigned char *place_of(const struct decoder *d, size_t k)
{
    size_t first[3], extent[3];
    const struct zmpi_stream *s = d->s;
    zmpi_stream_tile(s, k, first, extent);
    const size_t begin = row_begin(s, first, 0, 0);
    const size_t end = row_begin(s, first, extent[0] - 1, extent[1] - 1) + extent[2] * s->width;
    const size_t i = find_copy(d, 0, begin);
    if (i == d->count || d->copies[i].from > begin || end - d->copies[i].from > d->copies[i].length)
        return NULL;
    return d->dst + d->copies[i].to + (begin - d->copies[i].from);
}

/* Copies the wanted pieces of chunk k, which was decoded to `word`. */
static void give_rows(const struct decoder *d, size_t k, const unsigned char *word)
{
    size_t first[3], extent[3], i = 0;
    zmpi_stream_tile(d->s, k, first, extent);
    const size_t bytes = extent[2] * d->s->width;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, word += bytes) {
            const size_t begin = row_begin(d->s, first, z, y), end = begin + bytes;
            i = find_copy(d, i, begin);
            for (size_t j = i; j < d->count && d->copies[j].from < end; j++) {
                const struct zmpi_copy *c = &d->copies[j];
                const size_t lo = c->from > begin ? c->from : begin;
                const size_t hi = c->from + c->length < end ? c->from + c->length : end;
                memcpy(d->dst + c->to + (lo - c->from), word + (lo - begin), hi - lo);
            }
        }
}

/* Copies the wanted pieces of chunk k of all streams, which were decoded to v[].words. */
static void give_points(const struct decoder *d, size_t k, const struct zmpi_chunk_decoder v[])
{
    struct zmpi_planes planes = {
        .n = d->step, .width = d->s->width, .first = d->first, .planes = d->streams};
    const bool past = d->s->info.decoded_bytes >= ZMPI_STREAM_BYTES / d->step;
    size_t first[3], extent[3], i = 0, at = 0;
    zmpi_stream_tile(d->s, k, first, extent);
    const bool whole = extent[2] == d->s->extent[2]; /* then a plane's rows have no gaps */
    const size_t bytes = extent[2] * d->s->width * (whole ? extent[1] : 1);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < (whole ? 1 : extent[1]); y++, at += bytes) {
            const uint64_t begin = (uint64_t)row_begin(d->s, first, z, y) * d->step;
            const uint64_t end = begin + (uint64_t)bytes * d->step;
            for (size_t c = 0; c < d->streams; c++)
                planes.word[c] = v[c].words + at;
            i = find_copy(d, i, begin);
            for (size_t j = i; j < d->count && d->copies[j].from < end; j++) {
                const struct zmpi_copy *p = &d->copies[j];
                const uint64_t lo = p->from > begin ? p->from : begin;
                const uint64_t hi = p->from + p->length < end ? p->from + p->length : end;
                zmpi_components_place(&planes, lo - begin, hi - begin, past,
                                      d->dst + p->to + (lo - p->from));
            }
        }
}

/* Decodes chunk k. */
static enum zmpi_status decode_one(const struct decoder *d, size_t k, const unsigned char **src,
                                   struct zmpi_chunk_decoder v[])
{
    const bool apart = d->s->info.big_endian || d->s->enhanced || d->step > 1;
    unsigned char *place = apart ? NULL : place_of(d, k);
    enum zmpi_status status = ZMPI_OK;
    for (size_t c = 0; c < d->streams && !status; c++)
        status = zmpi_chunk_decoder_run(&d->s[c], k, src[c], zmpi_stream_chunk_size(&d->s[c], k),
                                        place, &v[c]);
    if (!status && d->step > 1)
        give_points(d, k, v);
    else if (!status && !place && d->count > 0)
        give_rows(d, k, v->words);
    return status;
}

/* Decodes chunk i of those taken and the next one together, if they are of encoder 3 and wanted in
 * the array's order. False: it does not. */
static bool decode_two(struct decoder *d, const struct taken *t, size_t i,
                       struct zmpi_chunk_decoder *v)
{
    enum zmpi_status status[2];
    const size_t *k = t->chunk + i;
    if (d->s->info.encoder != ZMPI_INTERP || d->s->info.big_endian || d->s->enhanced || d->step > 1)
        return false;
    unsigned char *const place[2] = {place_of(d, k[0]), place_of(d, k[1])};
    if (!place[0] || !place[1] ||
        !zmpi_chunk_decoder_run_two(d->s, k, t->src + i, place, v, status))
        return false;
    for (int n = 0; n < 2; n++)
        if (status[n])
            fail(d, k[n], status[n]);
    return true;
}

/* Streaming stores must be done before another thread learns that this one has finished. */
static void order_stores(void)
{
#ifdef __x86_64__
    __builtin_ia32_sfence();
#endif
}

/* Reads chunk `i` of those that were taken, and those that follow it without a gap, to v->coded.
 * Returns their number; 0: it failed. */
static size_t read_run(const struct zmpi_stream *s, struct taken *t, size_t i,
                       struct zmpi_chunk_decoder *v, enum zmpi_status *status)
{
    const unsigned char *const begin = t->src[i], *end = begin;
    size_t n = 0;
    for (; i + n < t->count && t->src[i + n] == end; n++)
        end += zmpi_stream_chunk_size(s, t->chunk[i + n]);
    const size_t size = (size_t)(end - begin);
    if (!v->coded || size > v->capacity) {
        free(v->coded);
        v->coded = malloc(size + 1);
        v->capacity = v->coded ? size : 0;
    }
    *status =
        v->coded ? s->read(s->context, (size_t)(begin - s->src), v->coded, size) : ZMPI_ERR_MEMORY;
    for (size_t k = 0; k < n && !*status; k++)
        t->src[i + k] = v->coded + (t->src[i + k] - begin);
    return *status ? 0 : n;
}

/* Decodes the chunks that were taken, those of each stream by its own worker. */
static void decode_group(struct decoder *d, struct taken *t, struct zmpi_chunk_decoder v[])
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0, there = 0; i < t->count && !status; i++) {
        if (d->s->read && there == 0)
            there = read_run(d->s, t, i, v, &status);
        if (!status && i + 1 < t->count && (there > 1 || !d->s->read) && decode_two(d, t, i, v)) {
            there -= there > 0 ? 2 : 0;
            i++;
            continue;
        }
        there -= there > 0;
        if (!status)
            status = decode_one(d, t->chunk[i], t->src + i * d->streams, v);
        if (status)
            fail(d, t->chunk[i], status);
    }
}

static void decode_taken(void *context)
{
    struct decoder *d = context;
    struct taken t;
    const uint32_t *tile = d->s->info.tile;
    struct zmpi_chunk_decoder *v = calloc(d->streams, sizeof *v); /* too large for small stacks */
    size_t made = 0;
    while (v && made < d->streams &&
           zmpi_chunk_decoder_make(&d->s[made], (size_t)tile[1] * tile[2] * d->s->width,
                                   made ? v : NULL, d->step > 1, &v[made]))
        made++;
    /* If there was no memory, the other threads take the chunks. */
    while (made == d->streams && take_chunks(d, &t))
        decode_group(d, &t, v);
    order_stores();
    while (made > 0)
        zmpi_chunk_decoder_free(&v[--made]);
    free(v);
}

static size_t count_needed(const struct decoder *d)
{
    size_t n = 0;
    for (size_t k = 0; d->need && k < d->s->info.chunks; k++)
        n += d->need[k] != 0;
    return d->need ? n : d->s->info.chunks;
}

/* The number of threads that have work. */
static int useful_threads(const struct decoder *d, int threads)
{
    const size_t group = group_of(d, GROUP_LEAST);
    const size_t groups = d->left / group + (d->left % group != 0);
    return groups < (size_t)threads ? (int)groups : threads;
}

static enum zmpi_status decode(struct decoder *d, int threads, size_t *bad_chunk)
{
    if (threads < 1)
        return ZMPI_ERR_ARG;
    for (size_t c = 0; c < d->streams; c++)
        d->src[c] = d->s[c].src + d->s[c].head;
    d->left = count_needed(d);
    d->threads = useful_threads(d, threads);
    pthread_mutex_init(&d->lock, NULL);
    if (d->threads > 0)
        zmpi_pool_run(d->threads, decode_taken, d);
    pthread_mutex_destroy(&d->lock);
    if (!d->status && d->left) {
        d->status = ZMPI_ERR_MEMORY;
        d->bad = d->next;
    }
    if (d->status && bad_chunk)
        *bad_chunk = d->bad;
    return d->status;
}

enum zmpi_status zmpi_stream_decode(const struct zmpi_stream *s, const unsigned char *need,
                                    int threads, void *dst, size_t *bad_chunk)
{
    const struct zmpi_copy all = {.length = s->info.decoded_bytes};
    struct decoder d = {.s = s,
                        .streams = 1,
                        .step = 1,
                        .need = need,
                        .copies = &all,
                        .count = dst ? 1 : 0,
                        .dst = dst};
    return decode(&d, threads, bad_chunk);
}

enum zmpi_status zmpi_stream_copy(const struct zmpi_stream *s, const unsigned char *need,
                                  int threads, const struct zmpi_copy *copies, size_t n,
                                  unsigned char *dst)
{
    struct decoder d = {
        .s = s, .streams = 1, .step = 1, .need = need, .copies = copies, .count = n, .dst = dst};
    return decode(&d, threads, NULL);
}

static bool are_alike(const struct zmpi_stream *s, size_t n)
{
    for (size_t c = 1; c < n; c++)
        if (memcmp(s[c].info.tile, s->info.tile, sizeof s->info.tile) != 0 ||
            memcmp(s[c].extent, s->extent, sizeof s->extent) != 0 ||
            s[c].info.encoder != s->info.encoder)
            return false;
    return true;
}

enum zmpi_status zmpi_streams_join(const struct zmpi_stream *s, size_t n,
                                   unsigned char *const *need, int threads,
                                   const struct zmpi_copy *copies, size_t count, unsigned char *dst)
{
    const size_t together = are_alike(s, n) ? n : 1;
    enum zmpi_status status = ZMPI_OK;
    for (size_t c = 0; c < n && !status; c += together) {
        struct decoder d = {.s = s + c,
                            .streams = together,
                            .first = c,
                            .step = n,
                            .need = need[c],
                            .copies = copies,
                            .count = count,
                            .dst = dst};
        status = decode(&d, threads, NULL);
    }
    return status;
}
