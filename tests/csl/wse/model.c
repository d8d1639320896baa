/*
 * model.c - csl/kernels in C, operation by operation: what is proved of it for all numbers in a
 * moment would take the simulator hours. The names are those of the kernels.
 */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_pe.h"

static float largest(const float *x, uint32_t n, float most)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i] > most) /* ignores NaN: the worst that a device may do */
            most = x[i];
    return most;
}

static uint16_t half(const float *x, uint32_t element, unsigned which)
{
    return (uint16_t)(bits_of(x[element]) >> 16 * which);
}

/* ---- transpose.csl ---- */

static void exchange(const uint16_t from[32], uint16_t to[32], unsigned distance, uint16_t mask)
{
    for (unsigned i = 0; i < 16; i++) {
        uint16_t x = from[i], y = from[i + 16];
        uint16_t t = (uint16_t)(((x >> distance) ^ y) & mask);
        to[2 * i] = (uint16_t)(x ^ t << distance);
        to[2 * i + 1] = y ^ t;
    }
}

void wse_model_transpose(struct pe *p)
{
    exchange(p->a, p->b, 8, 0x00ff);
    exchange(p->b, p->a, 4, 0x0f0f);
    exchange(p->a, p->b, 2, 0x3333);
    exchange(p->b, p->a, 1, 0x5555);
}

/* ---- compress.csl ---- */

static void take_level(struct pe *p, uint32_t level)
{
    p->step = value_of(p->job[JOB_LEVEL + 3 * level]);
    p->inverse = value_of(p->job[JOB_LEVEL + 3 * level + 1]);
    p->limit = p->job[JOB_LEVEL + 3 * level + 2];
}

static uint32_t blocks_of(const struct pe *p)
{
    return (p->count + BLOCK - 1) / BLOCK;
}

static uint32_t count_within(const struct pe *p, uint32_t most, uint32_t samples)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < samples; k++) {
        uint32_t block = blocks_of(p) > samples ? k * blocks_of(p) >> 4 : k;
        for (uint32_t i = block * BLOCK; i < least(block * BLOCK + BLOCK, p->count); i++)
            n += (bits_of(p->data[i]) & ~SIGN) <= most;
    }
    return n;
}

static float rounded(const struct pe *p, float x)
{
    float v = x * p->inverse;
    v = v + MAGIC;
    return v - MAGIC;
}

static bool reproduces(const struct pe *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t bits = bits_of(p->data[i]);
        if ((bits & ~SIGN) <= p->limit && bits != SIGN &&
            bits_of(rounded(p, p->data[i]) * p->step) != bits)
            return false;
    }
    return true;
}

static bool choose_level(struct pe *p)
{
    const uint32_t levels = p->job[JOB_LEVELS], widest = p->job[JOB_LEVEL + 3 * levels - 1];
    uint32_t samples = least(blocks_of(p), 16), all = count_within(p, widest, samples);
    uint32_t level = 0;
    if (all == 0)
        all = count_within(p, widest, samples = blocks_of(p));
    if (all == 0)
        return false;
    while (count_within(p, p->job[JOB_LEVEL + 3 * level + 2], samples) <
           all - (all >> (level == 0 ? 9 : 5)))
        level++;
    for (uint32_t finer = levels - 1; finer > level; finer--) {
        take_level(p, finer);
        if (reproduces(p)) {
            p->answer[ANSWER_LEVEL] = finer;
            return true;
        }
    }
    take_level(p, level);
    p->answer[ANSWER_LEVEL] = level;
    return true;
}

static bool has_minus_zero(const float *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (bits_of(x[i]) == SIGN)
            return true;
    return false;
}

static bool quantize_plain(struct pe *p, uint32_t first, uint32_t n)
{
    float *x = p->data + first, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        p->t[i] = rounded(p, x[i]);
        p->u[i] = p->t[i] * p->step;
        p->u[i] = fabsf(x[i] - p->u[i]);
        sum += p->u[i];
    }
    float worst = largest(p->u, n, 0);
    for (uint32_t i = 0; i < n; i++)
        p->u[i] = fabsf(x[i]);
    float most = largest(p->u, n, 0);
    for (uint32_t i = 0; i < n; i++)
        p->u[i] = -p->u[i];
    float nearest = largest(p->u, n, -1);
    if (!(worst < p->bound) || !(sum == sum) || bits_of(most) > p->limit)
        return false;
    if (nearest == 0 && has_minus_zero(x, n))
        return false;
    memcpy(x, p->t, n * sizeof *x);
    if (!p->found) {
        p->found = true;
        p->base = x[0];
        p->lead = first;
    }
    p->last = x[n - 1];
    return true;
}

static void keep_value(struct pe *p, uint32_t bits)
{
    if (p->value_count < CHIP_VALUES)
        p->values[p->value_count++] = bits;
    else
        p->overflow = true;
}

static bool is_exception(const struct pe *p, uint32_t bits, float x, float q)
{
    if ((bits & ~SIGN) > p->limit || bits == SIGN)
        return true;
    float off = q * p->step;
    off = x - off;
    return !(fabsf(off) < p->bound);
}

static bool quantize_mask(struct pe *p, uint32_t first, uint32_t n)
{
    const uint32_t bits = bits_of(p->data[first]);
    if (!is_exception(p, bits, p->data[first], rounded(p, p->data[first])))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (bits_of(p->data[first + i]) != bits)
            return false;
    keep_value(p, bits);
    p->exceptions += n;
    p->masks[first / BLOCK] = UINT32_MAX >> (BLOCK - n);
    p->lengths[first / BLOCK] = 0xc0;
    for (uint32_t i = 0; i < n; i++)
        p->data[first + i] = p->last;
    return true;
}

static void quantize_block(struct pe *p, uint32_t first, uint32_t end)
{
    const uint32_t before = p->value_count;
    uint32_t same = 0, mask = 0;
    bool uniform = true;
    if (quantize_mask(p, first, end - first))
        return;
    for (uint32_t i = first; i < end; i++) {
        uint32_t bits = bits_of(p->data[i]);
        float q = rounded(p, p->data[i]);
        if (is_exception(p, bits, p->data[i], q)) {
            if (!mask)
                same = bits;
            uniform = uniform && bits == same;
            mask |= 1U << (i - first);
            p->exceptions++;
            keep_value(p, bits);
            p->data[i] = p->last;
            continue;
        }
        p->data[i] = p->last = q;
        if (!p->found) {
            p->found = true;
            p->base = q;
            p->lead = i;
        }
    }
    p->masks[first / BLOCK] = mask;
    if (!mask)
        return;
    p->lengths[first / BLOCK] = uniform ? 0xc0 : 0x80;
    if (uniform)
        p->value_count = least(before + 1, CHIP_VALUES);
}

static void quantize(struct pe *p)
{
    for (uint32_t i = 0; i < p->count; i += SEGMENT) {
        uint32_t n = least(SEGMENT, p->count - i);
        if (quantize_plain(p, i, n))
            continue;
        for (uint32_t at = i; at < i + n; at += BLOCK) {
            uint32_t end = least(at + BLOCK, i + n);
            if (!quantize_plain(p, at, end - at))
                quantize_block(p, at, end);
        }
    }
    for (uint32_t i = 0; i < p->lead; i++)
        p->data[i] = p->base;
}

static void subtract(float *x, const float *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] = x[i] - y[i];
}

static void difference_rows(struct pe *p, uint32_t first, uint32_t rows, uint32_t row)
{
    for (uint32_t y = rows - 1; y > 0; y--)
        subtract(p->data + first + y * row, p->data + first + (y - 1) * row, row);
}

static void difference_run(struct pe *p, uint32_t first, uint32_t n)
{
    for (uint32_t end = n; end > 1;) {
        uint32_t part = least(SEGMENT, end - 1);
        memcpy(p->t, p->data + first + end - part - 1, part * sizeof *p->t);
        subtract(p->data + first + end - part, p->t, part);
        end -= part;
    }
}

static void differences(struct pe *p)
{
    const uint32_t axes = p->job[JOB_AXES];
    uint32_t nz = p->job[JOB_Z], ny = p->job[JOB_Y], nx = p->job[JOB_X];
    if (axes == 1) {
        nx = p->count;
        ny = nz = 1;
    }
    const uint32_t plane = ny * nx;
    if (axes & 4)
        difference_rows(p, 0, nz, plane);
    for (uint32_t z = 0; z < nz; z++) {
        if (axes & 2)
            difference_rows(p, z * plane, ny, nx);
        for (uint32_t y = 0; y < ny && axes & 1; y++)
            difference_run(p, z * plane + y * nx, nx);
    }
    for (uint32_t z = 0; z < (axes & 4 ? 1 : nz); z++)
        for (uint32_t y = 0; y < (axes & 2 ? 1 : ny); y++)
            for (uint32_t x = 0; x < (axes & 1 ? 1 : nx); x++)
                p->data[z * plane + y * nx + x] -= p->base;
}

static void store_planes(struct pe *p, uint32_t at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        p->data[at + i] = value_of(p->a[i] | (uint32_t)p->a[i + 16] << 16);
}

/* The lower or upper halves of the magnitudes, in the network's order. */
static void spread(struct pe *p, unsigned which, uint16_t mask, bool signs)
{
    for (unsigned j = 0; j < 32; j++)
        p->a[2 * (j & 15) + (j >> 4)] =
            (uint16_t)((half(p->m, j, which) & mask) | (signs ? p->s[j] : 0));
}

static uint32_t encode_block(struct pe *p, uint32_t first, uint32_t n, uint32_t at)
{
    memset(p->m, 0, sizeof p->m);
    memset(p->s, 0, sizeof p->s);
    for (uint32_t j = 0; j < n; j++)
        p->m[j] = fabsf(p->data[first + j]);
    float most = largest(p->m, BLOCK, 0);
    if (most == 0)
        return 0;
    if (most >= INTEGER)
        return UINT32_MAX;
    const uint32_t length = (bits_of(most) >> 23) - 126;
    p->lengths[first / BLOCK] |= length;
    for (uint32_t j = 0; j < BLOCK; j++)
        p->m[j] = p->m[j] + INTEGER;
    for (uint32_t j = 0; j < n; j++)
        p->s[j] = half(p->data, first + j, 1) & 0x8000;
    spread(p, 0, 0xffff, length < 16);
    wse_model_transpose(p);
    store_planes(p, at + 1, least(length, 16));
    if (length >= 16) {
        spread(p, 1, 0x7f, true);
        wse_model_transpose(p);
        store_planes(p, at + 17, length - 16);
    }
    p->data[at] = value_of(p->a[15] | (uint32_t)p->a[31] << 16);
    return length + 1;
}

static void compress(struct pe *p)
{
    uint32_t at = 0;
    p->count = p->job[JOB_COUNT];
    p->bound = value_of(p->job[JOB_BOUND]);
    p->found = p->overflow = false;
    p->last = 0;
    p->lead = p->exceptions = p->value_count = 0;
    memset(p->lengths, 0, sizeof p->lengths);
    memset(p->masks, 0, sizeof p->masks);
    memset(p->answer, 0, sizeof p->answer);
    if (p->count == 0)
        return;
    p->answer[ANSWER_STATUS] = CHIP_NOT_QUANTIZED;
    if (!choose_level(p))
        return;
    quantize(p);
    if (!p->found)
        return;
    p->answer[ANSWER_STATUS] = p->overflow ? CHIP_TOO_MANY_VALUES : CHIP_CODED;
    if (p->overflow)
        return;
    p->answer[ANSWER_BASE] = (uint32_t)(int32_t)p->base;
    p->answer[ANSWER_VALUES] = p->value_count;
    p->answer[ANSWER_EXCEPTIONS] = p->exceptions;
    differences(p);
    for (uint32_t i = 0; i < p->count; i += BLOCK) {
        uint32_t n = encode_block(p, i, least(BLOCK, p->count - i), at);
        if (n == UINT32_MAX) {
            p->answer[ANSWER_STATUS] = CHIP_TOO_WIDE;
            return;
        }
        at += n;
    }
    p->answer[ANSWER_WORDS] = at;
}

/* ---- a chip of such PEs ---- */

struct model {
    struct chip chip;
    struct pe *pe;
};

static void *array_of(struct pe *p, const char *name)
{
    return strcmp(name, "job") == 0       ? (void *)p->job
           : strcmp(name, "answer") == 0  ? (void *)p->answer
           : strcmp(name, "lengths") == 0 ? (void *)p->lengths
           : strcmp(name, "masks") == 0   ? (void *)p->masks
           : strcmp(name, "values") == 0  ? (void *)p->values
                                          : (void *)p->data;
}

static bool to(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
               unsigned elements)
{
    struct model *m = (struct model *)chip;
    if (columns != chip->width) /* only rows of PEs are fed by some */
        return false;
    for (size_t i = 0; i < chip_elements(chip); i++)
        memcpy(array_of(&m->pe[i], name), src + i * elements, 4 * (size_t)elements);
    return true;
}

static bool from(struct chip *chip, const char *name, uint32_t *dst, unsigned elements)
{
    struct model *m = (struct model *)chip;
    for (size_t i = 0; i < chip_elements(chip); i++)
        memcpy(dst + i * elements, array_of(&m->pe[i], name), 4 * (size_t)elements);
    return true;
}

static bool launch(struct chip *chip, const char *function)
{
    struct model *m = (struct model *)chip;
    for (size_t i = 0; i < chip_elements(chip); i++)
        (strcmp(function, "compress") == 0 ? compress : wse_model_decompress)(&m->pe[i]);
    return true;
}

struct chip *wse_model_new(unsigned width, unsigned height)
{
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->chip =
        (struct chip){.width = width, .height = height, .to = to, .from = from, .launch = launch};
    m->pe = calloc((size_t)width * height, sizeof *m->pe);
    if (!m->pe)
        abort();
    return &m->chip;
}

void wse_model_free(struct chip *chip)
{
    struct model *m = (struct model *)chip;
    free(m->pe);
    free(m);
}
