/* hdf5_faulty.c - stands in front of zmpi's filter: after FAULTY_AFTER chunks its memory runs
 * out. */
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "zmpi_codec.h"

size_t zmpi_compress_capacity(const struct zmpi_array *array)
{
    static int chunks;
    const char *after = getenv("FAULTY_AFTER");
    size_t (*real)(const struct zmpi_array *);
    void *symbol = dlsym(RTLD_NEXT, "zmpi_compress_capacity");
    memcpy(&real, &symbol, sizeof real);
    return after && chunks++ >= atoi(after) ? SIZE_MAX / 2 : real(array);
}
