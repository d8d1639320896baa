/*
 * convert.h - zmpi convert, and its use of HDF5.
 *
 * HDF5's library loads dozens of others, which no other command needs. So the code that calls it is
 * a library of its own, lib/zmpi/convert/libzmpi_convert_hdf5.so. zmpi convert opens it for a name
 * that ends with .h5.
 */
#ifndef ZMPI_CONVERT_H
#define ZMPI_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERT_HDF5_LIBRARY "convert/libzmpi_convert_hdf5.so"
#define CONVERT_HDF5_CALL    "zmpi_convert_hdf5"

/* A dataset, which is named "values". */
struct convert_dataset {
    size_t width; /* of a number: 4 or 8 */
    bool big_endian;
    int rank;
    uint64_t shape[3];
    const char *bound;  /* the bound as text, for an attribute; NULL: none */
    double most;        /* the largest absolute bound, for an attribute; < 0: none */
    const char *source; /* the input file's name, for an attribute */
};

/* Writes the whole file at `path` except the numbers, which belong at *offset, contiguously.
 * Returns NULL, or what went wrong. */
typedef const char *convert_hdf5_call(const char *path, const struct convert_dataset *d,
                                      uint64_t *offset);

#endif
