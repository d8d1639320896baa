/* hdf5_open.c - HDF5's functions that open objects. zmpi remembers what a dataset's writes need. */
#include "hdf5/hdf5_dataset.h"

static hid_t opened(const struct zhdf5 *h, hid_t object)
{
    zhdf5_dataset_opened(h, object);
    return object;
}

/* ---- by name ---- */

ZHDF5_SHOWN hid_t H5Dopen1(hid_t place, const char *name)
{
    ZHDF5_BEHIND(h, H5Dopen1)
    return opened(h, h->H5Dopen1(place, name));
}

ZHDF5_SHOWN hid_t H5Dopen2(hid_t place, const char *name, hid_t access)
{
    ZHDF5_BEHIND(h, H5Dopen2)
    return opened(h, h->H5Dopen2(place, name, access));
}

ZHDF5_SHOWN hid_t H5Dopen_async(const char *from, const char *function, unsigned line, hid_t place,
                                const char *name, hid_t access, hid_t events)
{
    ZHDF5_BEHIND(h, H5Dopen_async)
    return opened(h, h->H5Dopen_async(from, function, line, place, name, access, events));
}

ZHDF5_SHOWN hid_t H5Oopen(hid_t place, const char *name, hid_t access)
{
    ZHDF5_BEHIND(h, H5Oopen)
    return opened(h, h->H5Oopen(place, name, access));
}

ZHDF5_SHOWN hid_t H5Oopen_async(const char *from, const char *function, unsigned line, hid_t place,
                                const char *name, hid_t access, hid_t events)
{
    ZHDF5_BEHIND(h, H5Oopen_async)
    return opened(h, h->H5Oopen_async(from, function, line, place, name, access, events));
}

/* ---- by place ---- */

ZHDF5_SHOWN hid_t H5Oopen_by_idx(hid_t place, const char *group, int index, int order, hsize_t n,
                                 hid_t access)
{
    ZHDF5_BEHIND(h, H5Oopen_by_idx)
    return opened(h, h->H5Oopen_by_idx(place, group, index, order, n, access));
}

ZHDF5_SHOWN hid_t H5Oopen_by_idx_async(const char *from, const char *function, unsigned line,
                                       hid_t place, const char *group, int index, int order,
                                       hsize_t n, hid_t access, hid_t events)
{
    ZHDF5_BEHIND(h, H5Oopen_by_idx_async)
    return opened(h, h->H5Oopen_by_idx_async(from, function, line, place, group, index, order, n,
                                             access, events));
}

ZHDF5_SHOWN hid_t H5Oopen_by_addr(hid_t place, uint64_t address)
{
    ZHDF5_BEHIND(h, H5Oopen_by_addr)
    return opened(h, h->H5Oopen_by_addr(place, address));
}

ZHDF5_SHOWN hid_t H5Oopen_by_token(hid_t place, struct zhdf5_token token)
{
    ZHDF5_BEHIND(h, H5Oopen_by_token)
    return opened(h, h->H5Oopen_by_token(place, token));
}

/* ---- by reference ---- */

ZHDF5_SHOWN hid_t H5Rdereference1(hid_t place, int type, const void *reference)
{
    ZHDF5_BEHIND(h, H5Rdereference1)
    return opened(h, h->H5Rdereference1(place, type, reference));
}

ZHDF5_SHOWN hid_t H5Rdereference2(hid_t place, hid_t access, int type, const void *reference)
{
    ZHDF5_BEHIND(h, H5Rdereference2)
    return opened(h, h->H5Rdereference2(place, access, type, reference));
}

ZHDF5_SHOWN hid_t H5Ropen_object(void *reference, hid_t reading, hid_t access)
{
    ZHDF5_BEHIND(h, H5Ropen_object)
    return opened(h, h->H5Ropen_object(reference, reading, access));
}

ZHDF5_SHOWN hid_t H5Ropen_object_async(const char *from, const char *function, unsigned line,
                                       void *reference, hid_t reading, hid_t access, hid_t events)
{
    ZHDF5_BEHIND(h, H5Ropen_object_async)
    return opened(
        h, h->H5Ropen_object_async(from, function, line, reference, reading, access, events));
}

/* ---- the end ---- */

ZHDF5_SHOWN herr_t H5close(void)
{
    ZHDF5_BEHIND(h, H5close)
    zhdf5_datasets_forget(h);
    return h->H5close();
}
