/*
 * hdf5.h - what zmpi knows of HDF5: the functions that it wraps, and those that it calls to learn
 * what a program writes. zmpi needs no header of HDF5: this file declares what it uses, as HDF5
 * 1.10 to 2.0 have it.
 */
#ifndef ZMPI_HDF5_H
#define ZMPI_HDF5_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t hid_t; /* HDF5 1.8 has int: zmpi calls nothing of it */
typedef int herr_t;
typedef int htri_t;
typedef unsigned long long hsize_t;
typedef long long hssize_t;
typedef ptrdiff_t zssize_t; /* ssize_t */
struct zhdf5_token {        /* H5O_token_t */
    uint8_t byte[16];
};
typedef herr_t ZHDF5_GATHER(const void *elements, size_t bytes, void *context);

/* Constants, as HDF5's headers have them. */
#define ZH5S_ALL           ((hid_t)0) /* and H5P_DEFAULT */
#define ZH5S_BLOCK         ((hid_t)1) /* from 1.14 on */
#define ZH5I_FILE          1
#define ZH5I_GROUP         2
#define ZH5I_DATATYPE      3
#define ZH5I_DATASPACE     4
#define ZH5I_DATASET       5
#define ZH5D_CONTIGUOUS    1
#define ZH5D_CHUNKED       2
#define ZH5S_SEL_NONE      0
#define ZH5S_SEL_HYPERSLAB 2
#define ZH5S_SEL_ALL       3
#define ZH5S_MAX_RANK      32
#define ZH5F_ACC_TRUNC     2u
#define ZH5T_FLOAT         1
#define ZH5T_COMPOUND      6
#define ZH5D_FILL_GIVEN    2
#define ZH5P_DEFAULT       ((hid_t)0)
#define ZH5FD_COLLECTIVE   1
#define ZH5PL_FILTERS      1u

/* Functions that programs call and that zmpi wraps: name, result, parameters. */
#define ZHDF5_WRAPPED(X)                                                                           \
    X(H5Dwrite, herr_t, (hid_t, hid_t, hid_t, hid_t, hid_t, const void *))                         \
    X(H5Dwrite_async, herr_t,                                                                      \
      (const char *, const char *, unsigned, hid_t, hid_t, hid_t, hid_t, hid_t, const void *,      \
       hid_t))                                                                                     \
    X(H5Dwrite_multi, herr_t, (size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, const void **))  \
    X(H5Dwrite_multi_async, herr_t,                                                                \
      (const char *, const char *, unsigned, size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t,    \
       const void **, hid_t))                                                                      \
    X(H5Dcreate1, hid_t, (hid_t, const char *, hid_t, hid_t, hid_t))                               \
    X(H5Dcreate2, hid_t, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t))                 \
    X(H5Dcreate_anon, hid_t, (hid_t, hid_t, hid_t, hid_t, hid_t))                                  \
    X(H5Dcreate_async, hid_t,                                                                      \
      (const char *, const char *, unsigned, hid_t, const char *, hid_t, hid_t, hid_t, hid_t,      \
       hid_t, hid_t))                                                                              \
    X(H5Dopen1, hid_t, (hid_t, const char *))                                                      \
    X(H5Dopen2, hid_t, (hid_t, const char *, hid_t))                                               \
    X(H5Dopen_async, hid_t,                                                                        \
      (const char *, const char *, unsigned, hid_t, const char *, hid_t, hid_t))                   \
    X(H5Oopen, hid_t, (hid_t, const char *, hid_t))                                                \
    X(H5Oopen_async, hid_t,                                                                        \
      (const char *, const char *, unsigned, hid_t, const char *, hid_t, hid_t))                   \
    X(H5Oopen_by_idx, hid_t, (hid_t, const char *, int, int, hsize_t, hid_t))                      \
    X(H5Oopen_by_idx_async, hid_t,                                                                 \
      (const char *, const char *, unsigned, hid_t, const char *, int, int, hsize_t, hid_t,        \
       hid_t))                                                                                     \
    X(H5Oopen_by_addr, hid_t, (hid_t, uint64_t))                                                   \
    X(H5Oopen_by_token, hid_t, (hid_t, struct zhdf5_token))                                        \
    X(H5Rdereference1, hid_t, (hid_t, int, const void *))                                          \
    X(H5Rdereference2, hid_t, (hid_t, hid_t, int, const void *))                                   \
    X(H5Ropen_object, hid_t, (void *, hid_t, hid_t))                                               \
    X(H5Ropen_object_async, hid_t,                                                                 \
      (const char *, const char *, unsigned, void *, hid_t, hid_t, hid_t))                         \
    X(H5Ldelete, herr_t, (hid_t, const char *, hid_t))                                             \
    X(H5Dset_extent, herr_t, (hid_t, const hsize_t *))                                             \
    X(H5close, herr_t, (void))                                                                     \
    X(H5Fcreate, hid_t, (const char *, unsigned, hid_t, hid_t))                                    \
    X(H5Fcreate_async, hid_t,                                                                      \
      (const char *, const char *, unsigned, const char *, unsigned, hid_t, hid_t, hid_t))         \
    X(H5Fopen, hid_t, (const char *, unsigned, hid_t))                                             \
    X(H5Fopen_async, hid_t,                                                                        \
      (const char *, const char *, unsigned, const char *, unsigned, hid_t, hid_t))

/* Functions that zmpi calls. */
#define ZHDF5_ASKED(X)                                                                             \
    X(H5get_libversion, herr_t, (unsigned *, unsigned *, unsigned *))                              \
    X(H5Iget_type, int, (hid_t))                                                                   \
    X(H5Iget_name, zssize_t, (hid_t, char *, size_t))                                              \
    X(H5Dget_type, hid_t, (hid_t))                                                                 \
    X(H5Dget_space, hid_t, (hid_t))                                                                \
    X(H5Dget_create_plist, hid_t, (hid_t))                                                         \
    X(H5Tget_class, int, (hid_t))                                                                  \
    X(H5Tget_size, size_t, (hid_t))                                                                \
    X(H5Tget_nmembers, int, (hid_t))                                                               \
    X(H5Tget_member_type, hid_t, (hid_t, unsigned))                                                \
    X(H5Tequal, htri_t, (hid_t, hid_t))                                                            \
    X(H5Tclose, herr_t, (hid_t))                                                                   \
    X(H5Sclose, herr_t, (hid_t))                                                                   \
    X(H5Pclose, herr_t, (hid_t))                                                                   \
    X(H5Sget_simple_extent_dims, int, (hid_t, hsize_t *, hsize_t *))                               \
    X(H5Sget_select_type, int, (hid_t))                                                            \
    X(H5Sget_select_npoints, hssize_t, (hid_t))                                                    \
    X(H5Sget_select_bounds, herr_t, (hid_t, hsize_t *, hsize_t *))                                 \
    X(H5Sis_regular_hyperslab, htri_t, (hid_t))                                                    \
    X(H5Sget_regular_hyperslab, htri_t, (hid_t, hsize_t *, hsize_t *, hsize_t *, hsize_t *))       \
    X(H5Pget_layout, int, (hid_t))                                                                 \
    X(H5Pget_chunk, int, (hid_t, int, hsize_t *))                                                  \
    X(H5Pget_nfilters, int, (hid_t))                                                               \
    X(H5Pfill_value_defined, herr_t, (hid_t, int *))                                               \
    X(H5Pget_fill_value, herr_t, (hid_t, hid_t, void *))                                           \
    X(H5Pcopy, hid_t, (hid_t))                                                                     \
    X(H5Pset_chunk, herr_t, (hid_t, int, const hsize_t *))                                         \
    X(H5Pset_filter, herr_t, (hid_t, int, unsigned, size_t, const unsigned *))                     \
    X(H5Pget_filter_by_id2, herr_t,                                                                \
      (hid_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))                  \
    X(H5Pget_filter2, int,                                                                         \
      (hid_t, unsigned, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))             \
    X(H5Pget_external_count, int, (hid_t))                                                         \
    X(H5Pget_driver, hid_t, (hid_t))                                                               \
    X(H5Zregister, herr_t, (const void *))                                                         \
    X(H5PLget_loading_state, herr_t, (unsigned *))                                                 \
    X(H5Iget_file_id, hid_t, (hid_t))                                                              \
    X(H5Fget_access_plist, hid_t, (hid_t))                                                         \
    X(H5Fget_name, zssize_t, (hid_t, char *, size_t))                                              \
    X(H5Fget_vfd_handle, herr_t, (hid_t, hid_t, void **))                                          \
    X(H5Fclose, herr_t, (hid_t))                                                                   \
    X(H5Sget_simple_extent_npoints, hssize_t, (hid_t))                                             \
    X(H5Dgather, herr_t, (hid_t, const void *, hid_t, size_t, void *, ZHDF5_GATHER *, void *))

/* Functions that only a parallel HDF5 has, or only one from 1.10.1 on (H5PLprepend). */
#define ZHDF5_OPTIONAL(X)                                                                          \
    X(H5FD_mpio_init, hid_t, (void))                                                               \
    X(H5Pget_fapl_mpio, herr_t, (hid_t, void *, void *))                                           \
    X(H5Pget_dxpl_mpio, herr_t, (hid_t, int *))                                                    \
    X(H5Pset_chunk_cache, herr_t, (hid_t, size_t, size_t, double))                                 \
    X(H5PLprepend, herr_t, (const char *))

#define ZHDF5_FIELD(name, result, parameters)    result(*name) parameters;
#define ZHDF5_FUNCTION(name, result, parameters) result name parameters;

/* An HDF5 library in this process. Another tool's wrapper may come before the library's own
 * function. NULL: the library lacks the function. */
struct zhdf5 {
    ZHDF5_WRAPPED(ZHDF5_FIELD)
    ZHDF5_ASKED(ZHDF5_FIELD)
    ZHDF5_OPTIONAL(ZHDF5_FIELD) /* NULL: the library lacks it */
    const hid_t *H5T_NATIVE_FLOAT_g, *H5T_NATIVE_DOUBLE_g, *H5P_LST_DATASET_CREATE_ID_g;
    const hid_t *H5P_LST_DATASET_ACCESS_ID_g;
    const hid_t *H5FD_MPIO_id_g; /* from 2.0 on, for H5FD_mpio_init */
    bool whole;                  /* the library has all functions that zmpi calls */
    atomic_bool known;           /* and its version is one of those above */
    void *handle;
    struct zhdf5 *next;
};

/* May zmpi call the library: is its version one of those above? */
bool zhdf5_is_known(const struct zhdf5 *h);

/* The library that the code at this address uses; NULL: none is loaded. */
const struct zhdf5 *zhdf5_behind(const void *caller);

/* Logs that the library has no such function. */
void zhdf5_missing(const char *function);

/* Is this thread inside H5Fcreate or H5Fopen? And does that call replace an existing file? */
bool zhdf5_is_opening(void);
bool zhdf5_is_truncating(void);

/* A file is open in whose datasets zmpi looks for floats. It keeps arrays of up to so many elements
 * exact in this file. */
void zhdf5_wanted(uint64_t exact_below);
bool zhdf5_is_wanted(void);
/* The largest such number of all these files. */
uint64_t zhdf5_exact_below(void);

/* Marks a function of HDF5 that programs find here first; h is the library that has the next
 * one. */
#define ZHDF5_SHOWN __attribute__((visibility("default")))
#define ZHDF5_BEHIND(h, name)                                                                      \
    const struct zhdf5 *h = zhdf5_behind(__builtin_return_address(0));                             \
    if (!h || !h->name) {                                                                          \
        zhdf5_missing(#name);                                                                      \
        return -1;                                                                                 \
    }

ZHDF5_WRAPPED(ZHDF5_FUNCTION)

#endif
