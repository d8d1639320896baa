/*
 * hdf5_write.c - HDF5's functions that write datasets: each goes on to the HDF5 library. While one
 * of them writes, the memory that it writes from is known to hold floats.
 */
#include <stdlib.h>

#include "hdf5/hdf5_dataset.h"
#include "hdf5/hdf5_filter.h"
#include "hdf5/hdf5_range.h"
#include "hdf5/hdf5_rule.h"
#include "hdf5/hdf5_selection.h"

struct told {
    struct zknown_list list;
    struct zknown one, *many;
};

static void tell_one(struct told *told, const struct zhdf5 *h, const struct zhdf5_transfer *t)
{
    struct zhdf5_dataset d;
    const bool found = zhdf5_is_wanted() && zhdf5_dataset_find(h, t->dataset, &d);
    told->many = NULL;
    told->list = (struct zknown_list){.known = &told->one};
    if (found) {
        told->list.rule = d.rule;
        told->list.small = d.small;
        told->list.count = zhdf5_select(h, t, &d, &told->one);
    }
    zknown_begin(&told->list);
}

static void tell_many(struct told *told, const struct zhdf5 *h, size_t count, const hid_t *dataset,
                      const hid_t *type, const hid_t *memory, const hid_t *file, const void **buf)
{
    const bool given = dataset && type && memory && file && buf && count;
    struct zknown_rule *const rule = &told->list.rule;
    told->many = zhdf5_is_wanted() && given ? calloc(count, sizeof *told->many) : NULL;
    told->list = (struct zknown_list){.known = told->many};
    for (size_t i = 0; told->many && i < count; i++) {
        const struct zhdf5_transfer t = {dataset[i], type[i], memory[i], file[i], buf[i]};
        struct zhdf5_dataset d = {.rule = {0}};
        const bool found = zhdf5_dataset_find(h, dataset[i], &d);
        if (found && d.small)
            zhdf5_dataset_small(h, dataset[i], &d);
        if (found)
            told->list.count += zhdf5_select(h, &t, &d, &told->many[told->list.count]);
        if (i == 0)
            *rule = d.rule;
        else
            zhdf5_rule_merge(rule, &d.rule);
    }
    zknown_begin(&told->list);
}

static void tell_no_more(struct told *told)
{
    zknown_end(&told->list);
    free(told->many);
}

ZHDF5_SHOWN herr_t H5Dwrite(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t how,
                            const void *buf)
{
    struct told told;
    const struct zhdf5_transfer t = {dataset, type, memory, file, buf};
    ZHDF5_BEHIND(h, H5Dwrite)
    const bool filters = zhdf5_filter_is_used(), known = zhdf5_is_wanted();
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

ZHDF5_SHOWN herr_t H5Dwrite_async(const char *from, const char *function, unsigned line,
                                  hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t how,
                                  const void *buf, hid_t events)
{
    struct told told;
    ZHDF5_BEHIND(h, H5Dwrite_async)
    tell_one(&told, h, &(struct zhdf5_transfer){dataset, type, memory, file, buf});
    const herr_t rc =
        h->H5Dwrite_async(from, function, line, dataset, type, memory, file, how, buf, events);
    tell_no_more(&told);
    return rc;
}

ZHDF5_SHOWN herr_t H5Dwrite_multi(size_t count, hid_t *dataset, hid_t *type, hid_t *memory,
                                  hid_t *file, hid_t how, const void **buf)
{
    struct told told;
    ZHDF5_BEHIND(h, H5Dwrite_multi)
    tell_many(&told, h, count, dataset, type, memory, file, buf);
    const herr_t rc = h->H5Dwrite_multi(count, dataset, type, memory, file, how, buf);
    tell_no_more(&told);
    return rc;
}

ZHDF5_SHOWN herr_t H5Dwrite_multi_async(const char *from, const char *function, unsigned line,
                                        size_t count, hid_t *dataset, hid_t *type, hid_t *memory,
                                        hid_t *file, hid_t how, const void **buf, hid_t events)
{
    struct told told;
    ZHDF5_BEHIND(h, H5Dwrite_multi_async)
    tell_many(&told, h, count, dataset, type, memory, file, buf);
    const herr_t rc = h->H5Dwrite_multi_async(from, function, line, count, dataset, type, memory,
                                              file, how, buf, events);
    tell_no_more(&told);
    return rc;
}
