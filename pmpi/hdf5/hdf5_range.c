/* hdf5_range.c - see hdf5_range.h. */
#include "hdf5/hdf5_range.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "hdf5/hdf5_filter.h"
#include "hdf5/hdf5_several.h"
#include "mpi/next.h"

/* Elements per step. */
#define PART_BYTES ((size_t)1 << 20)

static _Thread_local struct zmpi_range range;

/* Does the dataset use our filter? */
static bool find_ours(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d)
{
    return zhdf5_dataset_find(h, dataset, d) && !d->small && d->ours;
}

/* ---- who writes ---- */

static bool is_collective(const struct zhdf5 *h, hid_t how)
{
    int mode = 0;
    return h->H5Pget_dxpl_mpio && how != ZH5P_DEFAULT && h->H5Pget_dxpl_mpio(how, &mode) >= 0 &&
           mode == ZH5FD_COLLECTIVE;
}

static bool is_by_mpio(const struct zhdf5 *h, hid_t access)
{
    const hid_t mpio = h->H5FD_mpio_init   ? h->H5FD_mpio_init()
                       : h->H5FD_MPIO_id_g ? *h->H5FD_MPIO_id_g
                                           : -1;
    return h->H5Pget_fapl_mpio && mpio >= 0 && h->H5Pget_driver(access) == mpio;
}

/* The ranks that have the file open, as a communicator that the caller frees; false: only this
 * process has it open. Collective, because HDF5 duplicates the communicator when zmpi reads the
 * file's access list. */
static bool find_ranks(const struct zhdf5 *h, hid_t dataset, MPI_Comm *comm)
{
    const hid_t file = h->H5Iget_file_id(dataset);
    const hid_t access = file >= 0 ? h->H5Fget_access_plist(file) : -1;
    const bool found =
        access >= 0 && is_by_mpio(h, access) && h->H5Pget_fapl_mpio(access, comm, NULL) >= 0;
    if (access >= 0)
        h->H5Pclose(access);
    if (file >= 0)
        h->H5Fclose(file);
    return found;
}

/* ---- the range ---- */

struct scan {
    enum zmpi_type element;
    struct zmpi_fills fills;
    struct zmpi_range range;
};

static herr_t scan_part(const void *elements, size_t bytes, void *context)
{
    struct scan *s = context;
    struct zmpi_range part;
    zmpi_range_without(s->element, elements, bytes / zmpi_type_size(s->element), 0, &s->fills, 1,
                       &part);
    zmpi_range_merge(&s->range, &part);
    return 0;
}

static hssize_t points_of(const struct zhdf5 *h, hid_t space)
{
    return h->H5Iget_type(space) == ZH5I_DATASPACE && h->H5Sget_select_type(space) > ZH5S_SEL_NONE
               ? h->H5Sget_select_npoints(space)
               : 0;
}

/* The range of what this rank writes. False: HDF5 converts the elements, and their range is
 * unknown. */
static bool scan_own(const struct zhdf5 *h, const struct zhdf5_transfer *t, struct scan *s)
{
    const hid_t opened = t->file == ZH5S_ALL ? h->H5Dget_space(t->dataset) : -1;
    const hid_t file = t->file == ZH5S_ALL ? opened : t->file;
    const hid_t memory = t->memory == ZH5S_ALL || t->memory == ZH5S_BLOCK ? file : t->memory;
    const hssize_t points = points_of(h, memory);
    const size_t numbers =
        h->H5Iget_type(t->type) == ZH5I_DATATYPE ? zhdf5_floats(h, t->type, &s->element) : 0;
    bool known = numbers > 0 || points == 0;
    if (points > 0 && known && t->buf) {
        void *part = malloc(PART_BYTES);
        if (t->memory == ZH5S_BLOCK)
            scan_part(t->buf, (size_t)points * numbers * zmpi_type_size(s->element), s);
        else
            known =
                part && h->H5Dgather(memory, t->buf, t->type, PART_BYTES, part, scan_part, s) >= 0;
        free(part);
    }
    if (opened >= 0)
        h->H5Sclose(opened);
    return known;
}

/* The range over all ranks. False: a rank does not know its own, or there are no data. */
static bool merge(MPI_Comm comm, bool known, struct zmpi_range *r)
{
    double own[4] = {-r->min, r->max, -r->fill, known ? 0 : 1}, all[4];
    if (PMPI_Allreduce(own, all, 4, MPI_DOUBLE, MPI_MAX, comm))
        return false;
    *r = (struct zmpi_range){-all[0], all[1], -all[2]};
    return all[3] < 0.5 && r->min <= r->max;
}

void zhdf5_range_begin(const struct zhdf5 *h, const struct zhdf5_transfer *t, hid_t how)
{
    struct zhdf5_dataset d;
    MPI_Comm comm;
    if (!find_ours(h, t->dataset, &d) || !is_collective(h, how) ||
        (d.mode != ZMPI_REL && d.mode != ZMPI_PSNR))
        return;
    znext_find();
    if (!find_ranks(h, t->dataset, &comm))
        return;
    struct scan s = {.element = ZMPI_BYTES, .fills = d.rule.fill, .range = ZMPI_RANGE_EMPTY};
    const bool known = scan_own(h, t, &s);
    if (merge(comm, known, &s.range)) {
        range = s.range;
        zhdf5_filter_set_range(&range);
    }
    PMPI_Comm_free(&comm);
}

/* Parallel HDF5 refuses independent writes through a filter. Its own errors do not say whose filter
 * that is. */
static void tell(const struct zhdf5_dataset *d)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&warned))
        return;
    zmpi_log(ZMPI_LOG_ERROR,
             "dataset %s: H5Dwrite failed: parallel HDF5 writes datasets with a filter "
             "(ZMPI_HDF5=filter) only by collective transfers, HDF5 1.10 also only without type "
             "conversion: ZMPI_HDF5=container has no such limit",
             d->name);
}

bool zhdf5_range_refuses(const struct zhdf5 *h, hid_t dataset, hid_t how)
{
    struct zhdf5_dataset d;
    if (!find_ours(h, dataset, &d) || is_collective(h, how) || !zhdf5_several_have(h, dataset))
        return false;
    tell(&d);
    return true;
}

void zhdf5_range_end(const struct zhdf5 *h, hid_t dataset, herr_t rc)
{
    struct zhdf5_dataset d;
    zhdf5_filter_set_range(NULL);
    if (rc < 0 && find_ours(h, dataset, &d))
        tell(&d);
}
