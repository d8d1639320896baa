/*
 * hdf5_room.c - HDF5's functions that free space in a file. All ranks call them. Another rank may
 * write to that space next, such as fill values of a new dataset. So each rank first writes what it
 * still holds back from independent writes; written later, that would cover the new data.
 */
#include "file/zfile.h"
#include "hdf5/hdf5.h"
#include "hdf5/hdf5_several.h"

static bool settles(const struct zhdf5 *h, hid_t object)
{
    MPI_File handle;
    if (!zhdf5_is_wanted() || !zhdf5_is_known(h) || !zhdf5_several_handle(h, object, &handle))
        return true;
    struct zfile *f = zfile_find(handle);
    if (!f)
        return true;
    const int rc = zflush_independent(f);
    zfile_done(f);
    return rc == MPI_SUCCESS;
}

ZHDF5_SHOWN herr_t H5Ldelete(hid_t place, const char *name, hid_t access)
{
    ZHDF5_BEHIND(h, H5Ldelete)
    return settles(h, place) ? h->H5Ldelete(place, name, access) : -1;
}

ZHDF5_SHOWN herr_t H5Dset_extent(hid_t dataset, const hsize_t *size)
{
    ZHDF5_BEHIND(h, H5Dset_extent)
    return settles(h, dataset) ? h->H5Dset_extent(dataset, size) : -1;
}
