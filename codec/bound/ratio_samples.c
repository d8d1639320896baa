/*
 * ratio_samples.c - how large streams become by each of a ladder of bounds, estimated from samples
 * (format.md 4.8). A sample is some rows of a tile, behind the rows that predict them, coded as in
 * a stream.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bound/ratio.h"
#include "kernels/kernels.h"
#include "layout/fills.h"
#include "layout/plan_rows.h"

/* The least number of elements of a sample, if the tile has so many. */
enum { SAMPLE = 16 * ZMPI_BLOCK };

/* The size of samples by one bound. */
struct column {
    struct zmpi_chunk_rule rule;
    size_t bytes;        /* of planes, masks and values */
    size_t length_bytes; /* of chunks that have any of these: constant chunks have none */
};

struct look {
    size_t width, blocks, columns;
    bool whole; /* samples are whole chunks */
    double keep;
    zmpi_chunk_encode_fn *encode;
    struct zmpi_chunk_work *work;
    unsigned char *coded;
    struct column column[ZMPI_RATIO_RUNGS + 1]; /* the last column is lossless */
};

/* A part of a tile that is coded by itself. Only blocks first..end-1 count. */
struct part {
    struct zmpi_rows rows;
    size_t extent[3], first, end;
};

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static struct part part_of_row(const struct look *l, size_t extent, const struct zmpi_rows *rows,
                               uint32_t position)
{
    size_t n = at_most(extent, SAMPLE + ZMPI_BLOCK), x = (size_t)position * (extent - n) >> 16;
    struct part p = {.rows = *rows, .extent = {1, 1, n}, .first = x > 0};
    p.rows.at += x * l->width;
    p.end = (n + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    return p;
}

/*
 * A tile is divided into groups of planes or, if planes are large, of rows. The part is one of
 * these groups, with the row and the plane before it if there are any.
 */
static struct part part_of_tile(const struct look *l, const size_t extent[3],
                                const struct zmpi_rows *rows, uint32_t position)
{
    if (extent[0] * extent[1] == 1)
        return part_of_row(l, extent[2], rows, position);
    const size_t plane = extent[1] * extent[2];
    size_t ny = at_most((SAMPLE - 1) / extent[2] + 1, extent[1]);
    size_t nz = ny < extent[1] ? 1 : at_most((SAMPLE - 1) / plane + 1, extent[0]);
    size_t groups = (extent[1] / ny) * (extent[0] / nz), group = position * groups >> 16;
    size_t y = group % (extent[1] / ny) * ny, z = group / (extent[1] / ny) * nz;
    size_t above = y > 0, before = z > 0;
    struct part p = {.rows = *rows, .extent = {nz + before, ny + above, extent[2]}};
    p.rows.at += (z - before) * rows->plane + (y - above) * rows->row;
    size_t first = (before * p.extent[1] + above) * extent[2];
    size_t all = p.extent[0] * p.extent[1] * p.extent[2];
    p.first = (first + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    p.end = all / ZMPI_BLOCK;
    if (p.end <= p.first) { /* a small array */
        p.first = first / ZMPI_BLOCK;
        p.end = (all + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    }
    return p;
}

/* Bytes of masks and values of the blocks that count. */
static size_t exceptions(const struct look *l, const struct part *p, const unsigned char *length,
                         const unsigned char *mask)
{
    size_t bytes = 0;
    for (size_t b = 0; b < p->end; b++) {
        if (!(length[b] & ZMPI_BLOCK_EXCEPTIONS))
            continue;
        size_t n = (size_t)__builtin_popcount(zmpi_load32(mask));
        mask += 4;
        if (b >= p->first)
            bytes += 4 + l->width * (length[b] & ZMPI_BLOCK_UNIFORM ? 1 : n);
    }
    return bytes;
}

/* Adds the sizes of the coded part. */
static void count_part(const struct look *l, const struct part *p, struct column *c)
{
    const size_t all = (p->extent[0] * p->extent[1] * p->extent[2] + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    const unsigned map = l->coded[0], flags = l->coded[2];
    const unsigned char *length = l->coded + 4 + (map == ZMPI_MAP_QUANTIZED ? 2 : 1) * l->width;
    const unsigned char *after = length + (all + 3) / 4 * 4;
    size_t bytes = 0;
    if (map == ZMPI_MAP_STORED) {
        c->bytes += (p->end - p->first) * ZMPI_BLOCK * l->width;
        return;
    }
    if (flags & ZMPI_CHUNK_ZERO)
        return;
    for (size_t b = 0; b < all; b++) {
        size_t planes = length[b] & (length[b] & ZMPI_BLOCK_EXCEPTIONS ? 0x3F : 0xFF);
        size_t size = planes ? 4 * (planes + 1) : 0;
        after += size;
        bytes += b >= p->first && b < p->end ? size : 0;
    }
    if (flags & ZMPI_CHUNK_EXCEPTIONS)
        bytes += exceptions(l, p, length, after);
    c->bytes += bytes;
    c->length_bytes += bytes ? p->end - p->first : 0;
}

static bool is_special(const struct look *l, const unsigned char *at)
{
    float narrow;
    double x;
    if (l->width == 8) {
        memcpy(&x, at, sizeof x);
    } else {
        memcpy(&narrow, at, sizeof narrow);
        x = (double)narrow;
    }
    return !(fabs(x) < l->keep && isfinite(x));
}

static bool all_special(const struct look *l, const size_t extent[3], const struct zmpi_rows *rows)
{
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++)
            for (size_t x = 0; x < extent[2]; x++)
                if (!is_special(l, rows->at + z * rows->plane + y * rows->row + x * l->width))
                    return false;
    return true;
}

/* position: that of the sample in the tile, in 1/65536. */
static void visit(struct look *l, const size_t extent[3], const struct zmpi_rows *rows,
                  uint32_t position)
{
    if (l->whole) {
        l->column[0].bytes += l->encode(&l->column[0].rule, extent, rows, l->coded, l->work);
        l->blocks++;
        return;
    }
    const struct part p = part_of_tile(l, extent, rows, position);
    /* A part of fill values alone needs no exceptions; its tile, which has other values, does. */
    const bool apart = is_special(l, p.rows.at) && all_special(l, p.extent, &p.rows) &&
                       !all_special(l, extent, rows);
    for (size_t k = 0; k < l->columns; k++) {
        struct column *c = &l->column[k];
        if (apart && c->rule.levels) {
            c->bytes += (p.end - p.first) * (4 + l->width);
            c->length_bytes += p.end - p.first;
            continue;
        }
        l->encode(&c->rule, p.extent, &p.rows, l->coded, l->work);
        count_part(l, &p, c);
    }
    l->blocks += p.end - p.first;
}

/* Samples a tile here and there, all over a float array. Returns the array's number of chunks. */
static size_t visit_tiles(const struct zmpi_array *array, const void *src,
                          const struct zmpi_ratio_search *s, struct look *l)
{
    struct zmpi_plan p;
    size_t at[3], extent[3];
    if (zmpi_plan_make(array, &p) || p.chunks == 0)
        return 0;
    const size_t n = zmpi_ratio_search_samples(s, p.chunks);
    unsigned char copy[ZMPI_CHUNK_INPUT_BYTES];
    struct zmpi_hidden hidden;
    for (size_t i = 0; i < n; i++) {
        zmpi_plan_place(&p, (2 * i + 1) * p.chunks / (2 * n), at);
        struct zmpi_rows rows = zmpi_plan_rows(&p, at, src, extent);
        if (zmpi_fills_hide(&s->fills, p.type, extent, &rows, copy, &hidden)) {
            const size_t row = extent[2] * p.width;
            rows = (struct zmpi_rows){.at = copy, .row = row, .plane = extent[1] * row};
        }
        visit(l, extent, &rows, i * 40503 & 0xFFFF);
    }
    return p.chunks;
}

/* ---- an array ---- */

/* Chooses axes for each bound of the last round, and for some bounds of the others. */
static void make_rules(struct look *l, const struct zmpi_ratio_search *s,
                       const struct zmpi_array *array, const void *src)
{
    struct zmpi_job job = {.array = *array, .keep = s->keep};
    unsigned axes = 0;
    for (int k = 0; k < s->rungs; k++) {
        job.abs_bound = zmpi_ratio_search_bound(s, array->type, k);
        if (k % 5 == 0)
            axes = zmpi_axes_choose(&job, src);
        zmpi_chunk_rule_make(&l->column[k].rule, array->type, job.abs_bound, s->keep);
        l->column[k].rule.axes = axes;
    }
    if (l->columns > (size_t)s->rungs) {
        zmpi_chunk_rule_make(&l->column[s->rungs].rule, array->type, 0, s->keep);
        l->column[s->rungs].rule.axes = axes;
    }
}

/* Bytes of the whole stream without its header, from a sample of whole chunks. */
static uint64_t scale_up(const struct look *l, size_t chunks)
{
    return (uint64_t)((double)l->column[0].bytes * (double)chunks / (double)l->blocks) + 8 * chunks;
}

/* The same, from samples that are parts of chunks. */
static uint64_t estimate(const struct look *l, const struct column *c, size_t blocks, size_t chunks)
{
    double each = (double)(c->bytes + c->length_bytes) / (double)l->blocks;
    return (uint64_t)(each * (double)blocks) + chunks * (8 + 4 + 2 * l->width); /* table, heads */
}

/* ---- other encoders than fle ---- */

/* Bytes that are coded in one piece, to compare an encoder with fle. */
#define SLAB ((size_t)1 << 20)

/* A slab from the middle of the array: an eighth of it, at most SLAB; in a trial as much as the
 * trial codes. */
static struct zmpi_array slab_of(const struct zmpi_ratio_search *s, const struct zmpi_array *array,
                                 size_t bytes, const unsigned char **src)
{
    struct zmpi_array a = *array;
    int axis = a.extent[0] > 1 ? 0 : a.extent[1] > 1 ? 1 : 2;
    size_t part = zmpi_ratio_search_is_trial(s) ? (size_t)(s->part * (double)bytes) : bytes / 8;
    size_t each = bytes / a.extent[axis], n = (part > SLAB ? part : SLAB) / each + 1;
    a.extent[axis] = n < a.extent[axis] ? n : a.extent[axis];
    *src += (array->extent[axis] - a.extent[axis]) / 2 * each;
    return a;
}

/* The factor from fle's size of a slab to the size by the search's encoder, with the round's middle
 * bound. */
static double factor_of(const struct zmpi_ratio_search *s, const struct zmpi_array *array,
                        size_t bytes, const unsigned char *src)
{
    struct zmpi_job job = {.array = slab_of(s, array, bytes, &src),
                           .abs_bound = zmpi_ratio_search_bound(s, array->type, s->rungs / 2),
                           .keep = s->keep,
                           .fills = s->fills,
                           .encoder = ZMPI_FLE,
                           .threads = 1};
    size_t capacity = zmpi_compress_capacity(&job.array), fle = 0, other = 0;
    unsigned char *coded = malloc(capacity);
    enum zmpi_status status = coded ? ZMPI_OK : ZMPI_ERR_MEMORY;
    if (!status)
        status = zmpi_device_cpu()->compress(&job, coded, capacity, src, &fle);
    job.encoder = s->encoder;
    job.variant = s->variant;
    if (!status)
        status = zmpi_device_cpu()->compress(&job, coded, capacity, src, &other);
    free(coded);
    return status ? 1
                  : (double)(other - ZMPI_STREAM_HEADER_BYTES) /
                        (double)(fle - ZMPI_STREAM_HEADER_BYTES);
}

/* Adds what `blocks` blocks of so many chunks showed to the search's sums. */
static void add_up(struct zmpi_ratio_search *s, const struct look *l, size_t blocks, size_t chunks,
                   double factor)
{
    if (l->columns > (size_t)s->rungs)
        s->sum.exact += estimate(l, &l->column[s->rungs], blocks, chunks);
    for (int k = 0; k < s->rungs; k++) {
        uint64_t bytes =
            l->whole ? scale_up(l, chunks) : estimate(l, &l->column[k], blocks, chunks);
        s->sum.coded[k] += (uint64_t)(factor * (double)bytes);
    }
}

void zmpi_ratio_search_add(struct zmpi_ratio_search *s, const struct zmpi_array *array,
                           const void *src)
{
    struct look l = {.width = zmpi_type_size(array->type),
                     .keep = s->keep,
                     .whole = zmpi_ratio_search_is_trial(s)};
    size_t count;
    if (zmpi_array_count(array, &count) || count == 0)
        return;
    l.columns = (size_t)s->rungs + (s->round < 2); /* the lossless size will not change */
    l.encode = l.width == 4 ? zmpi_kernels()->encode32 : zmpi_kernels()->encode64;
    l.work = zmpi_chunk_work_new();
    l.coded = malloc(ZMPI_CHUNK_CAPACITY);
    if (l.work && l.coded) {
        make_rules(&l, s, array, src);
        size_t chunks = visit_tiles(array, src, s, &l);
        double factor =
            s->encoder == ZMPI_FLE || s->round == 0 ? 1 : factor_of(s, array, count * l.width, src);
        s->sum.raw += count * l.width;
        zmpi_ratio_search_sample(s, array, src);
        add_up(s, &l, (count + ZMPI_BLOCK - 1) / ZMPI_BLOCK, chunks, factor);
    }
    free(l.work);
    free(l.coded);
}
