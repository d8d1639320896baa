/* hdf5_dataset.c - see hdf5_dataset.h. */
#include "hdf5/hdf5_dataset.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "hdf5/hdf5_filter.h"
#include "hdf5/hdf5_rule.h"
#include "hdf5/hdf5_selection.h"

/* ---- the table ---- */

struct entry {
    const struct zhdf5 *library;
    hid_t handle;
    struct zhdf5_dataset known;
    struct entry *next;
};

#define BUCKETS 1024
/* With this many entries, and at each doubling, the table drops datasets that the program has
 * closed. */
#define SWEPT 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table[BUCKETS];
static size_t entries, sweep_at = SWEPT;

static struct entry **bucket_of(hid_t handle)
{
    return &table[(uint64_t)handle * 0x9E3779B97F4A7C15u >> 54];
}

/* The caller holds the lock. Where the entry is, or would be. */
static struct entry **place_of(const struct zhdf5 *h, hid_t handle)
{
    struct entry **at = bucket_of(handle);
    while (*at && ((*at)->handle != handle || (*at)->library != h))
        at = &(*at)->next;
    return at;
}

static void take_out(struct entry **at)
{
    struct entry *e = *at;
    *at = e->next;
    entries--;
    free(e);
}

/* The handles of this library, at most as many as the table has entries. */
static size_t list_handles(const struct zhdf5 *h, hid_t **handles)
{
    size_t n = 0;
    pthread_mutex_lock(&lock);
    *handles = calloc(entries + 1, sizeof **handles);
    for (size_t b = 0; b < BUCKETS && *handles; b++)
        for (const struct entry *e = table[b]; e; e = e->next)
            if (e->library == h)
                (*handles)[n++] = e->handle;
    pthread_mutex_unlock(&lock);
    return n;
}

static void remove_one(const struct zhdf5 *h, hid_t handle)
{
    pthread_mutex_lock(&lock);
    struct entry **at = place_of(h, handle);
    if (*at)
        take_out(at);
    pthread_mutex_unlock(&lock);
}

/* Programs close datasets in many ways, with their file too, and HDF5 gives no handle twice. HDF5
 * is called without our lock, because a thread-safe HDF5 has a lock of its own. */
static void sweep(const struct zhdf5 *h)
{
    hid_t *handles;
    const size_t n = list_handles(h, &handles);
    for (size_t i = 0; i < n; i++)
        if (h->H5Iget_type(handles[i]) != ZH5I_DATASET)
            remove_one(h, handles[i]);
    free(handles);
    pthread_mutex_lock(&lock);
    sweep_at = 2 * entries > SWEPT ? 2 * entries : SWEPT;
    pthread_mutex_unlock(&lock);
}

/* Without memory the dataset stays unknown. */
static void put(const struct zhdf5 *h, hid_t handle, const struct zhdf5_dataset *known)
{
    struct entry *e = malloc(sizeof *e);
    pthread_mutex_lock(&lock);
    struct entry **at = place_of(h, handle);
    if (*at)
        take_out(at);
    if (e) {
        *e = (struct entry){h, handle, *known, *bucket_of(handle)};
        *bucket_of(handle) = e;
        entries++;
    }
    const bool full = entries > sweep_at;
    pthread_mutex_unlock(&lock);
    if (full)
        sweep(h);
}

/* ---- small ones ---- */

/* Programs make thousands of small datasets. The last ones are kept here, without a lock. If
 * another one takes a small dataset's place, that one becomes unknown, and unknown datasets are
 * exact too. */
#define SMALL 4096
static _Atomic uint64_t small_ones[SMALL];

static uint64_t mark_of(const struct zhdf5 *h, hid_t handle)
{
    return (uint64_t)handle ^ (uint64_t)(uintptr_t)h << 16;
}

static _Atomic uint64_t *place_of_small(hid_t handle)
{
    return &small_ones[(uint64_t)handle % SMALL];
}

static void put_small(const struct zhdf5 *h, hid_t handle)
{
    atomic_store_explicit(place_of_small(handle), mark_of(h, handle), memory_order_relaxed);
}

bool zhdf5_dataset_find(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d)
{
    d->small =
        atomic_load_explicit(place_of_small(dataset), memory_order_relaxed) == mark_of(h, dataset);
    if (d->small)
        return true;
    pthread_mutex_lock(&lock);
    const struct entry *e = *place_of(h, dataset);
    if (e)
        *d = e->known;
    pthread_mutex_unlock(&lock);
    return e != NULL;
}

void zhdf5_datasets_forget(const struct zhdf5 *h)
{
    hid_t *handles;
    const size_t n = list_handles(h, &handles);
    for (size_t i = 0; i < n; i++)
        remove_one(h, handles[i]);
    free(handles);
    for (size_t i = 0; i < SMALL; i++)
        atomic_store_explicit(&small_ones[i], 0, memory_order_relaxed);
}

/* ---- what is put there ---- */

bool zhdf5_datasets_matter(void)
{
    return zhdf5_is_wanted() || zhdf5_filter_is_used();
}

/* By the dataset's name, which HDF5 looks up in the file if the program did not give it. False: no
 * rule names it. */
static bool find_bound(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d)
{
    const zssize_t length = h->H5Iget_name(dataset, d->name, sizeof d->name);
    if (length < (zssize_t)sizeof d->name)
        return zhdf5_rule_bound(d->name, &d->rule);
    char *name = calloc(1, (size_t)length + 1);
    if (name)
        h->H5Iget_name(dataset, name, (size_t)length + 1);
    const bool found = name && zhdf5_rule_bound(name, &d->rule);
    free(name);
    return found;
}

/* Has it so few elements that it is exact even if they are complex, and can it not grow? Programs
 * make thousands of these. */
static bool is_small(const struct zhdf5 *h, hid_t space)
{
    hsize_t extent[ZH5S_MAX_RANK], most[ZH5S_MAX_RANK];
    if (zhdf5_filter_is_used())
        return false;
    const int rank = h->H5Sget_simple_extent_dims(space, extent, most);
    uint64_t elements = 1;
    for (int i = 0; i < rank; i++)
        if (most[i] != extent[i] || __builtin_mul_overflow(elements, extent[i], &elements))
            return false;
    return rank >= 0 && elements <= zhdf5_exact_below() / 2;
}

/* From the dataset's type and its creation list, which may be H5P_DEFAULT. */
static void learn(const struct zhdf5 *h, hid_t dataset, hid_t type, hid_t list, bool named)
{
    struct zhdf5_dataset d = {.element = ZMPI_BYTES, .layout = ZH5D_CONTIGUOUS};
    bool ruled = false;
    d.numbers = zhdf5_floats(h, type, &d.element);
    if (list != ZH5P_DEFAULT) {
        d.layout = h->H5Pget_layout(list);
        if (d.layout == ZH5D_CHUNKED) {
            d.chunk_rank = h->H5Pget_chunk(list, ZH5S_MAX_RANK, d.chunk);
            d.filtered = h->H5Pget_nfilters(list) > 0;
            d.ours = d.filtered && zhdf5_filter_of(h, list, &d.mode);
        }
        zhdf5_rule_fill(h, type, list, &d.rule);
    }
    if (!named)
        ruled = zhdf5_rule_bound("", &d.rule);
    else if (d.ours || zhdf5_rules_are())
        ruled = find_bound(h, dataset, &d);
    if (d.numbers > 0 || d.ours || ruled)
        put(h, dataset, &d);
}

void zhdf5_dataset_created(const struct zhdf5 *h, hid_t dataset, hid_t type, hid_t space,
                           hid_t list, bool named)
{
    if (dataset < 0 || !zhdf5_datasets_matter() || !zhdf5_is_known(h))
        return;
    if (is_small(h, space))
        put_small(h, dataset);
    else
        learn(h, dataset, type, list, named);
}

void zhdf5_dataset_small(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d)
{
    const hid_t type = h->H5Iget_type(dataset) == ZH5I_DATASET ? h->H5Dget_type(dataset) : -1;
    *d = (struct zhdf5_dataset){.layout = ZH5D_CONTIGUOUS, .small = true};
    d->numbers = type >= 0 ? zhdf5_floats(h, type, &d->element) : 0;
    if (type >= 0)
        h->H5Tclose(type);
}

void zhdf5_dataset_opened(const struct zhdf5 *h, hid_t object)
{
    if (object < 0 || !zhdf5_datasets_matter() || !zhdf5_is_known(h) ||
        h->H5Iget_type(object) != ZH5I_DATASET)
        return;
    const hid_t space = h->H5Dget_space(object);
    const bool small = space >= 0 && is_small(h, space);
    if (space >= 0)
        h->H5Sclose(space);
    if (small) {
        put_small(h, object);
        return;
    }
    const hid_t type = h->H5Dget_type(object), list = h->H5Dget_create_plist(object);
    if (type >= 0 && list >= 0)
        learn(h, object, type, list, true);
    if (type >= 0)
        h->H5Tclose(type);
    if (list >= 0)
        h->H5Pclose(list);
}
