/* model_pe.h - what the models of both kernels share: a PE's memory, and the network. */
#ifndef ZMPI_TEST_WSE_MODEL_PE_H
#define ZMPI_TEST_WSE_MODEL_PE_H

#include <string.h>

#include "chip.h"

enum { BLOCK = 32, SEGMENT = 128, PIECE = 64 };

#define MAGIC   12582912.0F
#define INTEGER 8388608.0F

#define SIGN 0x80000000U

struct pe {
    uint32_t job[CHIP_JOB], answer[CHIP_ANSWER], lengths[CHIP_BLOCKS], masks[CHIP_BLOCKS];
    uint32_t values[CHIP_VALUES];
    float data[CHIP_CHUNK];
    float t[SEGMENT], u[SEGMENT], m[BLOCK];
    uint16_t s[BLOCK], a[32], b[32];
    uint32_t count, limit, lead, exceptions, value_count, widest;
    float step, inverse, bound, base, last;
    bool found, overflow;
};

static inline uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float value_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint32_t least(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

/* The network of transpose.csl, on p->a. */
void wse_model_transpose(struct pe *p);
/* The whole program of decompress.csl. */
void wse_model_decompress(struct pe *p);

#endif
