/* decompress.c - chunks of a stream to an array: PEs decode those that they can, the host the
 * others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "batch.h"
#include "rows_feed.h"
#include "wse.h"

#define U     uint32_t
#define S     int32_t
#define WIDTH 4
#include "kernels/fle_t.h"

#define T     float
#define FABS  fabsf
#define MAGIC 12582912.0F
#include "kernels/quant_t.h"
#include "kernels/layout_t.h"

bool wse_takes_stream(const struct zmpi_stream *s)
{
    return s->info.array.type == ZMPI_F32 && s->info.encoder == ZMPI_FLE && !s->info.big_endian;
}

/* The state of a call. */
struct call {
    struct chip *chip;
    const struct zmpi_stream *s;
    unsigned char *dst;
    struct batch *b;
    size_t *chunk; /* for each place, which is a PE or a pipeline */
    size_t places, taken;
    struct wse_count *count;
};

static struct zmpi_rows tile_of(const struct call *c, size_t k, size_t extent[3])
{
    size_t first[3];
    zmpi_stream_tile(c->s, k, first, extent);
    const size_t *n = c->s->extent;
    size_t at = (first[0] * n[1] + first[1]) * n[2] + first[2];
    return (struct zmpi_rows){.at = c->dst + at * 4, .row = n[2] * 4, .plane = n[1] * n[2] * 4};
}

static enum zmpi_status decode_here(struct call *c, size_t k, const unsigned char *src, size_t size)
{
    size_t extent[3];
    struct zmpi_rows rows = tile_of(c, k, extent);
    c->count->host++;
    return zmpi_chunk32_decode(true, extent, src, size, &rows, c->b->work);
}

/* Can PEs decode this chunk? */
static bool fits(const struct chip *chip, const struct shape *s, const struct parts *p)
{
    if (chip->pipeline && row_feed_kept(p->axes, s->row, s->plane) > CHIP_KEPT)
        return false; /* zmpi does not make such chunks: the tile has no neighbours along some axes
                       */
    const int32_t base = (int32_t)p->base;
    if (p->map != ZMPI_MAP_QUANTIZED || base > 1 << 22 || base < -(1 << 22) ||
        s->count > CHIP_CHUNK ||
        p->step < 0x1p-100F) /* a machine may turn denormal values into 0 */
        return false;
    if (!p->zero && (size_t)(p->end - p->values) > 4 * CHIP_VALUES)
        return false;
    for (size_t b = 0; b < s->blocks && !p->zero; b++)
        if (block_length(p->lengths[b]) > CHIP_WIDEST)
            return false;
    return true;
}

static void fill_pe(struct call *c, const struct shape *s, const struct parts *p, size_t k)
{
    struct batch *b = c->b;
    const size_t i = c->taken++;
    uint32_t *job = b->job + i * CHIP_JOB, *lengths = b->lengths + i * CHIP_BLOCKS;
    uint32_t *masks = b->masks + i * CHIP_BLOCKS;
    const unsigned char *mask = p->masks;
    c->chunk[i] = k;
    job[JOB_COUNT] = (uint32_t)s->count;
    job[JOB_Z] = (uint32_t)s->z;
    job[JOB_Y] = (uint32_t)s->y;
    job[JOB_X] = (uint32_t)s->x;
    job[JOB_AXES] = p->axes;
    job[JOB_STEP] = bits_of(p->step);
    job[JOB_BASE] = bits_of((float)(int32_t)p->base);
    memset(lengths, 0, CHIP_BLOCKS * sizeof *lengths);
    memset(masks, 0, CHIP_BLOCKS * sizeof *masks);
    if (p->zero)
        return;
    job[JOB_WORDS] = (uint32_t)((p->masks - p->planes) / 4);
    for (size_t n = 0; n < s->blocks; n++) {
        lengths[n] = p->lengths[n];
        if (!(p->lengths[n] & ZMPI_BLOCK_EXCEPTIONS))
            continue;
        masks[n] = zmpi_load32(mask);
        mask += 4;
    }
    memcpy(b->values + i * CHIP_VALUES, p->values, (size_t)(p->end - p->values));
    memcpy(b->data + i * CHIP_CHUNK, p->planes, 4 * (size_t)job[JOB_WORDS]);
}

/* Gives every PE the same number of words. */
static void squeeze(const struct call *c)
{
    struct batch *b = c->b;
    for (size_t i = 0; i < c->taken; i++)
        if (b->job[i * CHIP_JOB + JOB_WORDS] > b->data_words)
            b->data_words = b->job[i * CHIP_JOB + JOB_WORDS];
    for (size_t i = 1; i < c->taken; i++)
        memmove(b->data + i * b->data_words, b->data + i * CHIP_CHUNK, 4 * b->data_words);
}

/* Sends a chunk to each PE and fetches the results. */
static bool run(struct call *c)
{
    struct chip *chip = c->chip;
    struct batch *b = c->b;
    unsigned most = 0;
    squeeze(c);
    for (size_t i = 0; i < c->taken; i++)
        if (b->job[i * CHIP_JOB + JOB_COUNT] > most)
            most = b->job[i * CHIP_JOB + JOB_COUNT];
    if (!chip->to(chip, "job", b->job, chip->width, CHIP_JOB) ||
        !chip->to(chip, "lengths", b->lengths, chip->width, CHIP_BLOCKS) ||
        !chip->to(chip, "masks", b->masks, chip->width, CHIP_BLOCKS) ||
        !chip->to(chip, "values", b->values, chip->width, CHIP_VALUES) ||
        (b->data_words && !chip->to(chip, "data", b->data, chip->width, (unsigned)b->data_words)) ||
        !chip->launch(chip, "decompress") || !chip->from(chip, "answer", b->answer, CHIP_ANSWER))
        return false;
    b->data_words = most;
    return chip->from(chip, "data", b->data, most);
}

/* Lets the PEs decode what they have, and copies it to its place. */
static enum zmpi_status finish(struct call *c)
{
    enum zmpi_status status = ZMPI_OK;
    size_t extent[3], at = 0, k = 0;
    if (c->taken == 0)
        return ZMPI_OK;
    if (!(c->chip->pipeline ? rows_decompress(c->chip, c->b, c->taken) : run(c)))
        return ZMPI_ERR_DEVICE;
    for (size_t i = 0; i < c->taken && !status; i++) {
        for (; k < c->chunk[i]; k++)
            at += zmpi_load32(c->s->table + 8 * k);
        if (c->b->answer[i * CHIP_ANSWER + ANSWER_STATUS] != CHIP_CODED) {
            status =
                decode_here(c, k, c->s->src + c->s->head + at, zmpi_load32(c->s->table + 8 * k));
            continue;
        }
        struct zmpi_rows rows = tile_of(c, k, extent);
        c->count->chip++;
        zmpi_rows_scatter(&rows, extent, extent[2] * 4,
                          (const unsigned char *)(c->b->data + i * c->b->data_words), memcpy);
    }
    batch_clear(c->b);
    c->taken = 0;
    return status;
}

static enum zmpi_status chunk(struct call *c, size_t k, const unsigned char *src, size_t size)
{
    struct parts p;
    size_t first[3], extent[3];
    if ((uint32_t)zmpi_hash(src, size, 0) != zmpi_load32(c->s->table + 8 * k + 4))
        return ZMPI_ERR_CHECKSUM;
    zmpi_stream_tile(c->s, k, first, extent);
    struct shape s = shape_of(extent);
    enum zmpi_status status = parse_chunk(&s, true, src, size, &p);
    if (status)
        return status;
    if (!fits(c->chip, &s, &p))
        return decode_here(c, k, src, size);
    fill_pe(c, &s, &p, k);
    return c->taken == c->places ? finish(c) : ZMPI_OK;
}

enum zmpi_status wse_decompress(struct chip *chip, const struct zmpi_stream *s,
                                const unsigned char *need, void *dst, struct wse_count *count)
{
    struct call c = {.chip = chip, .s = s, .dst = dst, .count = count, .b = batch_new(chip)};
    enum zmpi_status status = ZMPI_OK;
    const unsigned char *src = s->src + s->head;
    c.places = chip->pipeline ? row_feed_places(chip) : chip_elements(chip);
    c.chunk = malloc(c.places * sizeof *c.chunk);
    if (!c.b || !c.chunk)
        status = ZMPI_ERR_MEMORY;
    for (size_t k = 0; k < s->info.chunks && !status; k++) {
        size_t size = zmpi_load32(s->table + 8 * k);
        if (!need || need[k])
            status = chunk(&c, k, src, size);
        src += size;
    }
    if (!status)
        status = finish(&c);
    free(c.chunk);
    batch_free(c.b);
    return status;
}
