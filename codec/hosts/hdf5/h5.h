/*
 * h5.h - what the filter uses of HDF5, as HDF5 1.10 to 2.0 have it. It needs no header of HDF5 and
 * calls the library that called it. A process may have several HDF5 libraries, and a plug-in that
 * is linked to one would load another one.
 */
#ifndef ZMPI_H5_H
#define ZMPI_H5_H

#include <stddef.h>
#include <stdint.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef int htri_t;
typedef unsigned long long hsize_t;

/* Constants, as HDF5's headers have them. */
enum {
    H5PL_TYPE_FILTER = 0,
    H5Z_CLASS_T_VERS = 1,
    H5Z_FLAG_REVERSE = 0x100,
    H5T_INTEGER = 0,
    H5T_COMPOUND = 6,
    H5T_STRING = 3,
    H5T_REFERENCE = 7,
    H5T_VLEN = 9,
    H5S_MAX_RANK = 32
};

typedef size_t (*H5Z_func_t)(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                             size_t *buf_size, void **buf);

struct H5Z_class2 {
    int version, id;
    unsigned encoder_present, decoder_present;
    const char *name;
    htri_t (*can_apply)(hid_t creation, hid_t type, hid_t space);
    herr_t (*set_local)(hid_t creation, hid_t type, hid_t space);
    H5Z_func_t filter;
};

/* Functions that the filter calls: name, result, parameters. */
#define H5_ASKED(X)                                                                                \
    X(H5Tget_class, int, (hid_t))                                                                  \
    X(H5Tget_size, size_t, (hid_t))                                                                \
    X(H5Tequal, htri_t, (hid_t, hid_t))                                                            \
    X(H5Tget_nmembers, int, (hid_t))                                                               \
    X(H5Tget_member_type, hid_t, (hid_t, unsigned))                                                \
    X(H5Tdetect_class, htri_t, (hid_t, int))                                                       \
    X(H5Tis_variable_str, htri_t, (hid_t))                                                         \
    X(H5Tclose, herr_t, (hid_t))                                                                   \
    X(H5Pget_chunk, int, (hid_t, int, hsize_t *))                                                  \
    X(H5Pget_nfilters, int, (hid_t))                                                               \
    X(H5Pget_filter2, int,                                                                         \
      (hid_t, unsigned, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))             \
    X(H5Pget_filter_by_id2, herr_t,                                                                \
      (hid_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))                  \
    X(H5Pmodify_filter, herr_t, (hid_t, int, unsigned, size_t, const unsigned *))                  \
    X(H5Epush2, herr_t,                                                                            \
      (hid_t, const char *, const char *, unsigned, hid_t, hid_t, hid_t, const char *, ...))

#define H5_FIELD(name, result, parameters) result(*name) parameters;

struct h5 {
    H5_ASKED(H5_FIELD)
    hid_t native_float, native_double, error_class, error_major, error_minor;
};

/* The library that the code at this address belongs to. 0: it lacks a function. */
int h5_find(struct h5 *h, const void *caller);

#endif
