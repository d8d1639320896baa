/* value.h - elements as doubles that can be compared bit for bit. */
#ifndef ZMPI_TOOL_VALUE_H
#define ZMPI_TOOL_VALUE_H

#include <string.h>

#include "base/bytes.h"
#include "zmpi_codec.h"

/* Element i of f32 or f64 data. NaN keeps its bits; a conversion would make it quiet. */
static inline double tool_value(enum zmpi_type type, const void *data, size_t i)
{
    const unsigned char *src = (const unsigned char *)data + zmpi_type_size(type) * i;
    const uint32_t bits = zmpi_load32(src), exponent = bits & 0x7F800000;
    float f;
    double x;
    memcpy(&f, src, sizeof f);
    if (type == ZMPI_F32 && exponent != 0x7F800000)
        return (double)f;
    const uint64_t wide = (uint64_t)(bits & 0x80000000) << 32 | UINT64_C(0x7FF) << 52 |
                          (uint64_t)(bits & 0x007FFFFF) << 29;
    memcpy(&x, type == ZMPI_F32 ? (const void *)&wide : src, sizeof x);
    return x;
}

#endif
