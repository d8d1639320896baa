/* flare_field.h - a file of raw values, NAME_ZxYxX.f32 or .f64. */
#ifndef FLARE_FIELD_H
#define FLARE_FIELD_H

#include <stdbool.h>

#include "zmpi_codec.h"

struct flare_field {
    struct zmpi_array array; /* more than three extents: those in front are folded into z */
    struct zmpi_range range;
    unsigned char *data; /* malloc */
};

/* False: there is none of that size, or no memory. */
bool flare_field_read(const char *path, struct flare_field *f);

#endif
