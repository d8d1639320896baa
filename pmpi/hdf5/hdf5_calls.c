/*
 * hdf5_calls.c - HDF5's functions that programs call and we have, too: each goes on to the HDF5
 * library. While one of them writes, the memory that it writes from is known to hold floats; while
 * one opens a file, MPI_File_open knows that it is HDF5's.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "hdf5/hdf5.h"
#include "hdf5/hdf5_filter.h"
#include "hdf5/hdf5_range.h"
#include "hdf5/hdf5_rule.h"
#include "hdf5/hdf5_selection.h"

#define SHOWN __attribute__((visibility("default")))

static atomic_bool wanted;
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

void zhdf5_wanted(void)
{
    atomic_store_explicit(&wanted, true, memory_order_release);
}

#define BEHIND(h, name)                                                                            \
    const struct zhdf5 *h = zhdf5_behind(__builtin_return_address(0));                             \
    if (!h || !h->name) {                                                                          \
        zhdf5_missing(#name);                                                                      \
        return -1;                                                                                 \
    }

/* ---- writing ---- */

static bool is_wanted(void)
{
    return atomic_load_explicit(&wanted, memory_order_acquire);
}

struct told {
    struct zknown_list list;
    struct zknown one, *many;
};

static void tell_one(struct told *told, const struct zhdf5 *h, const struct zhdf5_transfer *t)
{
    const bool known = is_wanted() && zhdf5_select(h, t, &told->one);
    told->many = NULL;
    told->list = (struct zknown_list){&told->one, known, {0}, NULL};
    if (is_wanted())
        zhdf5_rule(h, t->dataset, &told->list.rule);
    zknown_begin(&told->list);
}

static void tell_many(struct told *told, const struct zhdf5 *h, size_t count, const hid_t *dataset,
                      const hid_t *type, const hid_t *memory, const hid_t *file, const void **buf)
{
    const bool given = dataset && type && memory && file && buf && count;
    told->many = is_wanted() && given ? calloc(count, sizeof *told->many) : NULL;
    told->list = (struct zknown_list){told->many, 0, {0}, NULL};
    if (is_wanted() && given)
        zhdf5_rule_of_many(h, count, dataset, &told->list.rule);
    for (size_t i = 0; told->many && i < count; i++) {
        const struct zhdf5_transfer t = {dataset[i], type[i], memory[i], file[i], buf[i]};
        told->list.count += zhdf5_select(h, &t, &told->many[told->list.count]);
    }
    zknown_begin(&told->list);
}

static void tell_no_more(struct told *told)
{
    zknown_end(&told->list);
    free(told->many);
}

SHOWN herr_t H5Dwrite(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t how,
                      const void *buf)
{
    struct told told;
    const struct zhdf5_transfer t = {dataset, type, memory, file, buf};
    BEHIND(h, H5Dwrite)
    const bool filters = zhdf5_filter_is_used(), known = is_wanted();
    if (filters && zhdf5_range_refuses(h, dataset, how))
        return -1;
    if (filters)
        zhdf5_range_begin(h, &t, how);
    if (known)
        tell_one(&told, h, &t);
    const herr_t rc = h->H5Dwrite(dataset, type, memory, file, how, buf);
    if (known)
        tell_no_more(&told);
    if (filters)
        zhdf5_range_end(h, dataset, rc);
    return rc;
}

SHOWN herr_t H5Dwrite_async(const char *from, const char *function, unsigned line, hid_t dataset,
                            hid_t type, hid_t memory, hid_t file, hid_t how, const void *buf,
                            hid_t events)
{
    struct told told;
    BEHIND(h, H5Dwrite_async)
    tell_one(&told, h, &(struct zhdf5_transfer){dataset, type, memory, file, buf});
    const herr_t rc =
        h->H5Dwrite_async(from, function, line, dataset, type, memory, file, how, buf, events);
    tell_no_more(&told);
    return rc;
}

SHOWN herr_t H5Dwrite_multi(size_t count, hid_t *dataset, hid_t *type, hid_t *memory, hid_t *file,
                            hid_t how, const void **buf)
{
    struct told told;
    BEHIND(h, H5Dwrite_multi)
    tell_many(&told, h, count, dataset, type, memory, file, buf);
    const herr_t rc = h->H5Dwrite_multi(count, dataset, type, memory, file, how, buf);
    tell_no_more(&told);
    return rc;
}

SHOWN herr_t H5Dwrite_multi_async(const char *from, const char *function, unsigned line,
                                  size_t count, hid_t *dataset, hid_t *type, hid_t *memory,
                                  hid_t *file, hid_t how, const void **buf, hid_t events)
{
    struct told told;
    BEHIND(h, H5Dwrite_multi_async)
    tell_many(&told, h, count, dataset, type, memory, file, buf);
    const herr_t rc = h->H5Dwrite_multi_async(from, function, line, count, dataset, type, memory,
                                              file, how, buf, events);
    tell_no_more(&told);
    return rc;
}

/* ---- opening ---- */

/* HDF5 may open files inside of others' opening: by links, or by what a program is called for. */
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

SHOWN hid_t H5Fcreate(const char *name, unsigned flags, hid_t creation, hid_t access)
{
    BEHIND(h, H5Fcreate)
    zhdf5_filter_ready(h);
    const bool before = begin(flags & ZH5F_ACC_TRUNC);
    const hid_t file = h->H5Fcreate(name, flags, creation, access);
    end(before);
    return file;
}

SHOWN hid_t H5Fcreate_async(const char *from, const char *function, unsigned line, const char *name,
                            unsigned flags, hid_t creation, hid_t access, hid_t events)
{
    BEHIND(h, H5Fcreate_async)
    zhdf5_filter_ready(h);
    const bool before = begin(flags & ZH5F_ACC_TRUNC);
    const hid_t file =
        h->H5Fcreate_async(from, function, line, name, flags, creation, access, events);
    end(before);
    return file;
}

SHOWN hid_t H5Fopen(const char *name, unsigned flags, hid_t access)
{
    BEHIND(h, H5Fopen)
    zhdf5_filter_ready(h);
    const bool before = begin(false);
    const hid_t file = h->H5Fopen(name, flags, access);
    end(before);
    return file;
}

SHOWN hid_t H5Fopen_async(const char *from, const char *function, unsigned line, const char *name,
                          unsigned flags, hid_t access, hid_t events)
{
    BEHIND(h, H5Fopen_async)
    zhdf5_filter_ready(h);
    const bool before = begin(false);
    const hid_t file = h->H5Fopen_async(from, function, line, name, flags, access, events);
    end(before);
    return file;
}
