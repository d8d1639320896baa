/* hdf5_parameters.c - see hdf5_parameters.h. */
#include "hdf5/hdf5_parameters.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* mantissa / 10^exponent, as the filter reads it. */
static double value_of(uint32_t mantissa, int exponent)
{
    char text[32];
    struct zmpi_bound bound = {ZMPI_ABS, 0};
    snprintf(text, sizeof text, "abs=%ue%d", (unsigned)mantissa, -exponent);
    return zmpi_bound_parse(text, &bound) ? 0 : bound.value;
}

void zhdf5_parameters(const struct zmpi_bound *bound, unsigned encoder,
                      unsigned value[ZHDF5_PARAMETERS])
{
    uint32_t mantissa = 0;
    int exponent = 0;
    if (bound->mode != ZMPI_LOSSLESS) {
        double digits = bound->value;
        /* Nine digits before the point. */
        for (; digits >= 1e9; exponent--)
            digits /= 10;
        for (; digits < 1e8 && exponent < 330; exponent++)
            digits *= 10;
        mantissa = (uint32_t)(digits + 0.5);
        const bool up = bound->mode == ZMPI_PSNR;
        while (mantissa > 1 && !up && value_of(mantissa, exponent) > bound->value)
            mantissa--;
        while (up && value_of(mantissa, exponent) < bound->value)
            mantissa++;
        for (; mantissa % 10 == 0 && mantissa; exponent--)
            mantissa /= 10;
    }
    value[0] = (unsigned)bound->mode;
    value[1] = mantissa;
    value[2] = (unsigned)exponent;
    value[3] = encoder;
}
