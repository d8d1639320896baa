/* half.c - f16: IEEE 754 binary16. */
#include <math.h>
#include <string.h>

#include "code.h"

float csl_float_of(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float size = exponent == 31  ? fraction ? NAN : INFINITY
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(fraction | 1024), exponent - 25);
    return half >> 15 ? -size : size;
}

uint16_t csl_half_of(double f)
{
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    double size = fabs(f);
    int exponent;
    if (isnan(f))
        return sign | 0x7e00;
    if (size >= 65520) /* rounds to 2^16 */
        return sign | 0x7c00;
    frexp(size, &exponent);
    if (size == 0 || exponent < -13)
        exponent = -13; /* subnormal numbers have the spacing of the smallest normal ones */
    /* the significand's 10 bits behind the point as an integer; a carry moves to the exponent */
    uint32_t steps = (uint32_t)lrint(ldexp(size, 11 - exponent));
    return (uint16_t)(sign | (((uint32_t)(exponent + 13) << 10) + steps));
}
