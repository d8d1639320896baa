/* trial.c - see trial.h. */
#include "stream/trial.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part is made of blocks of rows that are far from each other. A block is larger than a chunk,
 * so that most of the part's chunks are like those of the whole array. */
enum { PART_BYTES = 2 << 20, BLOCK_PLANES = 16, BLOCK_ROWS = 32, BLOCK_ROW = 4096 };

struct zmpi_bound zmpi_trial_bound(int i, const struct zmpi_bound *user)
{
    static const struct zmpi_bound tried[ZMPI_TRIAL_BOUNDS] = {
        {ZMPI_LOSSLESS, 0}, {ZMPI_LOSSLESS, 0}, {ZMPI_REL, 1e-2},
        {ZMPI_REL, 1e-3},   {ZMPI_REL, 1e-4},   {ZMPI_REL, 1e-5}};
    return i == ZMPI_TRIAL_USER && user ? *user : tried[i];
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The last block ends where the array does, and may overlap the one before. */
static size_t begin(size_t number, size_t block, size_t n)
{
    return smaller(number * block, n - block);
}

static size_t covering(size_t n, size_t block)
{
    return (n - 1) / block + 1;
}

static void copy_block(const struct zmpi_trial_array *a, const size_t block[3], size_t number,
                       const size_t blocks[3], unsigned char *to)
{
    const size_t width = zmpi_type_size(a->array.type), *n = a->array.extent;
    const size_t x = begin(number % blocks[2], block[2], n[2]),
                 y = begin(number / blocks[2] % blocks[1], block[1], n[1]),
                 z = begin(number / blocks[2] / blocks[1], block[0], n[0]);
    const size_t row = block[2] * width;
    for (size_t k = 0; k < block[0]; k++)
        for (size_t j = 0; j < block[1]; j++, to += row)
            memcpy(to,
                   (const unsigned char *)a->data + (((z + k) * n[1] + y + j) * n[2] + x) * width,
                   row);
}

/* The part that is coded; a small array as a whole. The caller frees *copy. NULL: no memory. */
static const void *cut(const struct zmpi_trial_array *a, struct zmpi_array *part, void **copy)
{
    const size_t *n = a->array.extent, width = zmpi_type_size(a->array.type);
    *part = a->array;
    *copy = NULL;
    if (n[0] * n[1] * n[2] * width <= PART_BYTES)
        return a->data;
    const size_t block[3] = {smaller(n[0], BLOCK_PLANES), smaller(n[1], BLOCK_ROWS),
                             smaller(n[2], BLOCK_ROW)};
    const size_t blocks[3] = {covering(n[0], block[0]), covering(n[1], block[1]),
                              covering(n[2], block[2])};
    const size_t all = blocks[0] * blocks[1] * blocks[2];
    const size_t bytes = block[0] * block[1] * block[2] * width;
    const size_t count = smaller(all, bytes < PART_BYTES ? PART_BYTES / bytes : 1);
    unsigned char *to = *copy = malloc(count * bytes);
    if (!to)
        return NULL;
    for (size_t i = 0; i < count; i++) { /* far from each other in every direction */
        const double at = 0.5 + 0.6180339887498949 * (double)i;
        const size_t number =
            count == all ? i : smaller((size_t)((at - floor(at)) * (double)all), all - 1);
        copy_block(a, block, number, blocks, to + i * bytes);
    }
    const int along = n[0] > 1 ? 0 : n[1] > 1 ? 1 : 2;
    memcpy(part->extent, block, sizeof block);
    part->extent[along] *= count;
    return to;
}

static bool is_whole(enum zmpi_type type, const void *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double x =
            type == ZMPI_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
        if (isfinite(x) && fabs(x - rint(x)) > 0)
            return false;
    }
    return true;
}

struct coder {
    const struct zmpi_trial_array *a;
    struct zmpi_array part;
    const void *data;
    size_t bytes, capacity;
    void *stream;
};

static bool code(const struct coder *c, int bound, int encoder, struct zmpi_trial_sum *sum,
                 struct zmpi_stream_info *info)
{
    const struct zmpi_bound b =
        c->a->exact ? (struct zmpi_bound){ZMPI_LOSSLESS, 0} : zmpi_trial_bound(bound, c->a->user);
    const struct zmpi_codec_options o = {
        .size = sizeof o, .encoder = encoder + 1, .threads = 1, .threshold = c->a->threshold};
    const double start = zmpi_thread_seconds();
    size_t size = 0;
    if (zmpi_compress_with(&o, &c->part, &b, c->a->range, c->stream, c->capacity, c->data, &size) ||
        zmpi_stream_info(c->stream, size, info))
        return false;
    const double times = c->a->bytes / (double)c->bytes;
    *sum = (struct zmpi_trial_sum){c->a->bytes, (double)size * times,
                                   (zmpi_thread_seconds() - start) * times};
    return true;
}

static void add(struct zmpi_trial_sum *to, const struct zmpi_trial_sum *s)
{
    to->raw += s->raw;
    to->coded += s->coded;
    to->seconds += s->seconds;
}

static void note_most(struct zmpi_trial_most *most, int bound, const struct zmpi_stream_info *info,
                      const struct zmpi_range *range)
{
    if (!isfinite(info->abs_bound))
        return;
    most->bound[bound] = fmax(most->bound[bound], info->abs_bound);
    if (range && range->max > range->min)
        most->share[bound] = fmax(most->share[bound], info->abs_bound / (range->max - range->min));
}

/* Codes by one encoder, with all bounds. False: there is no time for more. */
static bool try_encoder(struct zmpi_trials *t, struct zmpi_trial_most *most, const struct coder *c,
                        int encoder, double end)
{
    /* Seconds per byte, at least. Lossless data come first; they use encoder 2 instead of 3. */
    static const double least[ZMPI_TRIAL_ENCODERS] = {2e-9, 10e-9, 40e-9};
    double expected = least[encoder] * (double)c->bytes;
    struct zmpi_trial_sum sum = {0};
    bool coded = false;
    for (int b = 0; b < ZMPI_TRIAL_BOUNDS; b++) {
        struct zmpi_stream_info info;
        if (b == ZMPI_TRIAL_USER && !c->a->user)
            continue;
        if (!(c->a->exact && coded)) { /* an exact array gives the same bytes for every bound */
            const double now = zmpi_thread_seconds();
            if (now + expected > end)
                return false;
            coded = code(c, b, encoder, &sum, &info);
            expected = fmax(expected, zmpi_thread_seconds() - now);
            if (coded)
                note_most(most, b, &info, c->a->range);
        }
        if (coded)
            add(&t->sum[b][encoder], &sum);
    }
    return true;
}

void zmpi_trials_add(struct zmpi_trials *t, struct zmpi_trial_most *most,
                     const struct zmpi_trial_array *a, double left)
{
    const double end = zmpi_thread_seconds() + left;
    const bool floats = a->array.type == ZMPI_F32 || a->array.type == ZMPI_F64;
    struct coder c = {.a = a};
    void *copy = NULL;
    c.data = cut(a, &c.part, &copy);
    const size_t count = c.part.extent[0] * c.part.extent[1] * c.part.extent[2];
    c.bytes = count * zmpi_type_size(c.part.type);
    c.capacity = zmpi_compress_capacity(&c.part);
    c.stream = c.data && c.bytes ? malloc(c.capacity) : NULL;
    if (c.stream) {
        t->floats += floats ? a->bytes : 0;
        t->whole += floats && is_whole(c.part.type, c.data, count) ? a->bytes : 0;
        for (int e = 0; e < ZMPI_TRIAL_ENCODERS; e++)
            if (!try_encoder(t, most, &c, e, end))
                break;
    }
    free(c.stream);
    free(copy);
}
