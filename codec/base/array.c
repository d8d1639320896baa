/* array.c - sizes of arrays, checked. */
#include "zmpi_codec.h"

size_t zmpi_type_size(enum zmpi_type type)
{
    switch (type) {
    case ZMPI_F32:
    case ZMPI_I32:
        return 4;
    case ZMPI_F64:
    case ZMPI_I64:
        return 8;
    case ZMPI_BYTES:
        return 1;
    }
    return 0;
}

/* Products stay below 2^63, so that they fit ptrdiff_t and MPI_Offset too. */
static enum zmpi_status multiply(size_t a, size_t b, size_t *product)
{
    if (__builtin_mul_overflow(a, b, product) || *product > (size_t)INT64_MAX)
        return ZMPI_ERR_SIZE;
    return ZMPI_OK;
}

enum zmpi_status zmpi_array_count(const struct zmpi_array *array, size_t *count)
{
    size_t n;
    const size_t *e = array->extent;
    for (int i = 0; i < 3; i++)
        if (e[i] > INT64_MAX) /* the limit of a stream (format.md 1.3), for empty arrays too */
            return ZMPI_ERR_SIZE;
    if (e[0] == 0 || e[1] == 0 || e[2] == 0) {
        *count = 0;
        return ZMPI_OK;
    }
    if (multiply(e[0], e[1], &n) || multiply(n, e[2], &n))
        return ZMPI_ERR_SIZE;
    *count = n;
    return ZMPI_OK;
}

enum zmpi_status zmpi_array_bytes(const struct zmpi_array *array, size_t *bytes)
{
    size_t n;
    size_t width = zmpi_type_size(array->type);
    if (width == 0)
        return ZMPI_ERR_ARG;
    if (zmpi_array_count(array, &n) || multiply(n, width, &n))
        return ZMPI_ERR_SIZE;
    *bytes = n;
    return ZMPI_OK;
}
