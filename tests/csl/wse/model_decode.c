/* model_decode.c - decompress.csl in C. */
#include <math.h>
#include <string.h>

#include "model_pe.h"

#define EXACT 16777216.0F

static void load_planes(struct pe *p, const uint32_t *planes, uint32_t n, bool signs)
{
    memset(p->a, 0, sizeof p->a);
    for (uint32_t i = 0; i < n; i++) {
        p->a[2 * i] = (uint16_t)planes[1 + i];
        p->a[2 * i + 1] = (uint16_t)(planes[1 + i] >> 16);
    }
    if (signs) {
        p->a[30] = (uint16_t)planes[0];
        p->a[31] = (uint16_t)(planes[0] >> 16);
    }
}

static void decode_block(struct pe *p, uint32_t first, uint32_t n, uint32_t length, uint32_t at)
{
    uint32_t planes[CHIP_WIDEST + 1], low[BLOCK], high[BLOCK];
    if (length == 0) {
        memset(p->data + first, 0, n * sizeof *p->data);
        return;
    }
    memcpy(planes, p->data + at, (length + 1) * sizeof *planes);
    load_planes(p, planes, least(length, 16), length < 16);
    wse_model_transpose(p);
    for (uint32_t j = 0; j < n; j++) {
        low[j] = length < 16 ? p->a[j] & 0x7fff : p->a[j];
        high[j] = 0x4b00;
    }
    if (length >= 16) {
        planes[16] = planes[0];
        load_planes(p, planes + 16, length - 16, true);
        wse_model_transpose(p);
        for (uint32_t j = 0; j < n; j++)
            high[j] = (p->a[j] & 0x7f) | 0x4b00;
    }
    for (uint32_t j = 0; j < n; j++) {
        float r = value_of(low[j] | high[j] << 16) - INTEGER;
        p->data[first + j] = value_of(bits_of(r) ^ (uint32_t)(p->a[j] & 0x8000) << 16);
    }
}

static void decode(struct pe *p)
{
    uint32_t at = p->job[JOB_WORDS];
    for (uint32_t block = (p->count + BLOCK - 1) / BLOCK; block-- > 0;) {
        uint32_t length = p->lengths[block] & 0x3f;
        at -= length ? length + 1 : 0;
        if (length > p->widest)
            p->widest = length;
        decode_block(p, block * BLOCK, least(BLOCK, p->count - block * BLOCK), length, at);
    }
}

static bool exact(const struct pe *p)
{
    float most = 0;
    if (p->widest <= 10)
        return true;
    for (uint32_t i = 0; i < p->count; i++)
        most = fmaxf(most, fabsf(p->data[i]));
    return most < EXACT;
}

static void sum_row(struct pe *p, uint32_t first, uint32_t n)
{
    float sum = 0;
    for (uint32_t i = first; i < first + n; i++)
        p->data[i] = sum = sum + p->data[i];
}

static bool sum_run(struct pe *p)
{
    const uint32_t pieces = p->count / PIECE;
    if (pieces == 0) {
        sum_row(p, 0, p->count);
        return exact(p);
    }
    for (uint32_t i = 1; i < PIECE; i++)
        for (uint32_t k = 0; k < pieces; k++)
            p->data[k * PIECE + i] += p->data[k * PIECE + i - 1];
    if (!exact(p))
        return false;
    for (uint32_t k = 1; k < pieces; k++)
        for (uint32_t i = 0; i < PIECE; i++)
            p->data[k * PIECE + i] += p->data[k * PIECE - 1];
    if (p->count > pieces * PIECE) {
        p->data[pieces * PIECE] += p->data[pieces * PIECE - 1];
        sum_row(p, pieces * PIECE, p->count - pieces * PIECE);
    }
    return exact(p);
}

static void sum_rows(struct pe *p, uint32_t first, uint32_t rows, uint32_t row)
{
    for (uint32_t i = first + row; i < first + rows * row; i++)
        p->data[i] += p->data[i - row];
}

static bool sums(struct pe *p)
{
    const uint32_t axes = p->job[JOB_AXES];
    const uint32_t nz = p->job[JOB_Z], ny = p->job[JOB_Y], nx = p->job[JOB_X];
    bool fine = true;
    if (axes == 1)
        return sum_run(p);
    if (axes & 1) {
        for (uint32_t y = 0; y < nz * ny; y++)
            sum_row(p, y * nx, nx);
        fine = exact(p);
    }
    if (axes & 2) {
        for (uint32_t z = 0; z < nz; z++)
            sum_rows(p, z * ny * nx, ny, nx);
        fine = fine && exact(p);
    }
    if (axes & 4) {
        sum_rows(p, 0, nz, ny * nx);
        fine = fine && exact(p);
    }
    return fine;
}

static void put_exceptions(struct pe *p)
{
    uint32_t value = 0;
    for (uint32_t block = 0; block * BLOCK < p->count; block++) {
        const bool uniform = p->lengths[block] & 0x40;
        for (uint32_t mask = p->masks[block]; mask; mask &= mask - 1) {
            uint32_t i = block * BLOCK + (uint32_t)__builtin_ctz(mask);
            p->data[i] = value_of(p->values[value]);
            value += !uniform;
        }
        value += p->masks[block] && uniform;
    }
}

void wse_model_decompress(struct pe *p)
{
    p->count = p->job[JOB_COUNT];
    p->widest = 0;
    p->answer[ANSWER_STATUS] = CHIP_CODED;
    if (p->count == 0)
        return;
    decode(p);
    bool fine = sums(p);
    for (uint32_t i = 0; i < p->count && fine; i++)
        p->data[i] += value_of(p->job[JOB_BASE]);
    if (!fine || !exact(p)) {
        p->answer[ANSWER_STATUS] = CHIP_TOO_WIDE;
        return;
    }
    for (uint32_t i = 0; i < p->count; i++)
        p->data[i] *= value_of(p->job[JOB_STEP]);
    put_exceptions(p);
}
