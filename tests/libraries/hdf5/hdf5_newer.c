/*
 * hdf5_newer.c - stands between libzmpi.so and HDF5 1.10, and makes later calls from those that
 * 1.10 has. Each says once on stderr that it was called. "Asynchronous" calls work at once, as they
 * do without a connector.
 */
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newer headers have macros for the first three arguments. */
#undef H5Dwrite_async
#undef H5Dwrite_multi_async
#undef H5Fcreate_async
#undef H5Fopen_async

static void *behind(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) {
        fprintf(stderr, "hdf5_newer: no %s\n", name);
        abort();
    }
    return symbol;
}

static void report(bool *reported, const char *name)
{
    if (!*reported)
        fprintf(stderr, "hdf5_newer: %s\n", name);
    *reported = true;
}

#define TELL()                                                                                     \
    static bool reported;                                                                          \
    report(&reported, __func__)

static herr_t write_one(hid_t set, hid_t type, hid_t memory, hid_t file, hid_t how, const void *buf)
{
    herr_t (*next)(hid_t, hid_t, hid_t, hid_t, hid_t, const void *);
    *(void **)&next = behind("H5Dwrite");
    return next(set, type, memory, file, how, buf);
}

herr_t H5Dwrite_multi(size_t count, hid_t *set, hid_t *type, hid_t *memory, hid_t *file, hid_t how,
                      const void **buf);
herr_t H5Dwrite_multi(size_t count, hid_t *set, hid_t *type, hid_t *memory, hid_t *file, hid_t how,
                      const void **buf)
{
    TELL();
    herr_t rc = 0;
    for (size_t i = 0; i < count && rc >= 0; i++)
        rc = write_one(set[i], type[i], memory[i], file[i], how, buf[i]);
    return rc;
}

herr_t H5Dwrite_async(const char *from, const char *function, unsigned line, hid_t set, hid_t type,
                      hid_t memory, hid_t file, hid_t how, const void *buf, hid_t events);
herr_t H5Dwrite_async(const char *from, const char *function, unsigned line, hid_t set, hid_t type,
                      hid_t memory, hid_t file, hid_t how, const void *buf, hid_t events)
{
    TELL();
    (void)from, (void)function, (void)line, (void)events;
    return write_one(set, type, memory, file, how, buf);
}

herr_t H5Dwrite_multi_async(const char *from, const char *function, unsigned line, size_t count,
                            hid_t *set, hid_t *type, hid_t *memory, hid_t *file, hid_t how,
                            const void **buf, hid_t events);
herr_t H5Dwrite_multi_async(const char *from, const char *function, unsigned line, size_t count,
                            hid_t *set, hid_t *type, hid_t *memory, hid_t *file, hid_t how,
                            const void **buf, hid_t events)
{
    TELL();
    (void)from, (void)function, (void)line, (void)events;
    herr_t rc = 0;
    for (size_t i = 0; i < count && rc >= 0; i++)
        rc = write_one(set[i], type[i], memory[i], file[i], how, buf[i]);
    return rc;
}

hid_t H5Fcreate_async(const char *from, const char *function, unsigned line, const char *name,
                      unsigned flags, hid_t creation, hid_t access, hid_t events);
hid_t H5Fcreate_async(const char *from, const char *function, unsigned line, const char *name,
                      unsigned flags, hid_t creation, hid_t access, hid_t events)
{
    TELL();
    hid_t (*next)(const char *, unsigned, hid_t, hid_t);
    (void)from, (void)function, (void)line, (void)events;
    *(void **)&next = behind("H5Fcreate");
    return next(name, flags, creation, access);
}

hid_t H5Fopen_async(const char *from, const char *function, unsigned line, const char *name,
                    unsigned flags, hid_t access, hid_t events);
hid_t H5Fopen_async(const char *from, const char *function, unsigned line, const char *name,
                    unsigned flags, hid_t access, hid_t events)
{
    TELL();
    hid_t (*next)(const char *, unsigned, hid_t);
    (void)from, (void)function, (void)line, (void)events;
    *(void **)&next = behind("H5Fopen");
    return next(name, flags, access);
}
