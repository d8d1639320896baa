/* hdf5_file.c - HDF5's functions that open files. They tell MPI_File_open that the file is
 * HDF5's. */
#include <stdatomic.h>

#include "hdf5/hdf5.h"
#include "hdf5/hdf5_filter.h"

static atomic_bool wanted;
static _Atomic uint64_t least = UINT64_MAX;
static _Thread_local int opening;
static _Thread_local bool truncating;

bool zhdf5_is_opening(void)
{
    return opening > 0;
}

bool zhdf5_is_truncating(void)
{
    return truncating;
}

void zhdf5_wanted(uint64_t exact_below)
{
    uint64_t before = atomic_load(&least);
    while (exact_below < before && !atomic_compare_exchange_weak(&least, &before, exact_below)) {
    }
    atomic_store_explicit(&wanted, true, memory_order_release);
}

bool zhdf5_is_wanted(void)
{
    return atomic_load_explicit(&wanted, memory_order_acquire);
}

uint64_t zhdf5_exact_below(void)
{
    return zhdf5_is_wanted() ? atomic_load(&least) : 0;
}

/* HDF5 may open one file while it opens another: for a link, or in a program's callback. */
static bool begin(bool anew)
{
    const bool before = truncating;
    opening++;
    truncating = anew;
    return before;
}

static void end(bool before)
{
    opening--;
    truncating = before;
}

ZHDF5_SHOWN hid_t H5Fcreate(const char *name, unsigned flags, hid_t creation, hid_t access)
{
    ZHDF5_BEHIND(h, H5Fcreate)
    zhdf5_filter_ready(h);
    const bool before = begin(flags & ZH5F_ACC_TRUNC);
    const hid_t file = h->H5Fcreate(name, flags, creation, access);
    end(before);
    return file;
}

ZHDF5_SHOWN hid_t H5Fcreate_async(const char *from, const char *function, unsigned line,
                                  const char *name, unsigned flags, hid_t creation, hid_t access,
                                  hid_t events)
{
    ZHDF5_BEHIND(h, H5Fcreate_async)
    zhdf5_filter_ready(h);
    const bool before = begin(flags & ZH5F_ACC_TRUNC);
    const hid_t file =
        h->H5Fcreate_async(from, function, line, name, flags, creation, access, events);
    end(before);
    return file;
}

ZHDF5_SHOWN hid_t H5Fopen(const char *name, unsigned flags, hid_t access)
{
    ZHDF5_BEHIND(h, H5Fopen)
    zhdf5_filter_ready(h);
    const bool before = begin(false);
    const hid_t file = h->H5Fopen(name, flags, access);
    end(before);
    return file;
}

ZHDF5_SHOWN hid_t H5Fopen_async(const char *from, const char *function, unsigned line,
                                const char *name, unsigned flags, hid_t access, hid_t events)
{
    ZHDF5_BEHIND(h, H5Fopen_async)
    zhdf5_filter_ready(h);
    const bool before = begin(false);
    const hid_t file = h->H5Fopen_async(from, function, line, name, flags, access, events);
    end(before);
    return file;
}
