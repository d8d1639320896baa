/*
 * hdf5_write.c - HDF5's functions that write datasets. Each calls HDF5's own function. During that
 * call zmpi knows that the memory it writes holds floats.
 */
#include <stdlib.h>

#include "hdf5/hdf5_dataset.h"
#include "hdf5/hdf5_filter.h"
#include "hdf5/hdf5_range.h"
#include "hdf5/hdf5_rule.h"
#include "hdf5/hdf5_selection.h"

struct buffers {
    struct zknown_list list;
    struct zknown one, *many;
};

static void buffers_begin_one(struct buffers *buffers, const struct zhdf5 *h,
                              const struct zhdf5_transfer *t)
{
    struct zhdf5_dataset d;
    const bool found = zhdf5_is_wanted() && zhdf5_dataset_find(h, t->dataset, &d);
    buffers->many = NULL;
    buffers->list = (struct zknown_list){.known = &buffers->one};
    buffers->list.small = found && d.small;
    if (found && !d.small) {
        buffers->list.rule = d.rule;
        buffers->list.count = zhdf5_select(h, t, &d, &buffers->one);
    }
    zknown_begin(&buffers->list);
}

static void buffers_begin_many(struct buffers *buffers, const struct zhdf5 *h, size_t count,
                               const hid_t *dataset, const hid_t *type, const hid_t *memory,
                               const hid_t *file, const void **buf)
{
    const bool given = dataset && type && memory && file && buf && count;
    struct zknown_rule *const rule = &buffers->list.rule;
    buffers->many = zhdf5_is_wanted() && given ? calloc(count, sizeof *buffers->many) : NULL;
    buffers->list = (struct zknown_list){.known = buffers->many};
    for (size_t i = 0; buffers->many && i < count; i++) {
        const struct zhdf5_transfer t = {dataset[i], type[i], memory[i], file[i], buf[i]};
        struct zhdf5_dataset d = {.rule = {0}};
        const bool found = zhdf5_dataset_find(h, dataset[i], &d);
        if (found && d.small)
            zhdf5_dataset_small(h, dataset[i], &d);
        if (found)
            buffers->list.count += zhdf5_select(h, &t, &d, &buffers->many[buffers->list.count]);
        if (i == 0)
            *rule = d.rule;
        else
            zhdf5_rule_merge(rule, &d.rule);
    }
    zknown_begin(&buffers->list);
}

static void buffers_end(struct buffers *buffers)
{
    zknown_end(&buffers->list);
    free(buffers->many);
}

ZHDF5_SHOWN herr_t H5Dwrite(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t how,
                            const void *buf)
{
    struct buffers buffers;
    const struct zhdf5_transfer t = {dataset, type, memory, file, buf};
    ZHDF5_BEHIND(h, H5Dwrite)
    const bool filters = zhdf5_filter_is_used(), known = zhdf5_is_wanted();
    if (filters && zhdf5_range_refuses(h, dataset, how))
        return -1;
    if (filters)
        zhdf5_range_begin(h, &t, how);
    if (known)
        buffers_begin_one(&buffers, h, &t);
    const herr_t rc = h->H5Dwrite(dataset, type, memory, file, how, buf);
    if (known)
        buffers_end(&buffers);
    if (filters)
        zhdf5_range_end(h, dataset, rc);
    return rc;
}

ZHDF5_SHOWN herr_t H5Dwrite_async(const char *from, const char *function, unsigned line,
                                  hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t how,
                                  const void *buf, hid_t events)
{
    struct buffers buffers;
    ZHDF5_BEHIND(h, H5Dwrite_async)
    buffers_begin_one(&buffers, h, &(struct zhdf5_transfer){dataset, type, memory, file, buf});
    const herr_t rc =
        h->H5Dwrite_async(from, function, line, dataset, type, memory, file, how, buf, events);
    buffers_end(&buffers);
    return rc;
}

ZHDF5_SHOWN herr_t H5Dwrite_multi(size_t count, hid_t *dataset, hid_t *type, hid_t *memory,
                                  hid_t *file, hid_t how, const void **buf)
{
    struct buffers buffers;
    ZHDF5_BEHIND(h, H5Dwrite_multi)
    buffers_begin_many(&buffers, h, count, dataset, type, memory, file, buf);
    const herr_t rc = h->H5Dwrite_multi(count, dataset, type, memory, file, how, buf);
    buffers_end(&buffers);
    return rc;
}

ZHDF5_SHOWN herr_t H5Dwrite_multi_async(const char *from, const char *function, unsigned line,
                                        size_t count, hid_t *dataset, hid_t *type, hid_t *memory,
                                        hid_t *file, hid_t how, const void **buf, hid_t events)
{
    struct buffers buffers;
    ZHDF5_BEHIND(h, H5Dwrite_multi_async)
    buffers_begin_many(&buffers, h, count, dataset, type, memory, file, buf);
    const herr_t rc = h->H5Dwrite_multi_async(from, function, line, count, dataset, type, memory,
                                              file, how, buf, events);
    buffers_end(&buffers);
    return rc;
}
