/* convert_hdf5.c - an HDF5 file for zmpi convert, without the numbers. It is a library of its own
 * (convert.h). */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "tool/convert/convert.h"

__attribute__((visibility("default"))) convert_hdf5_call zmpi_convert_hdf5;

static char reason[256];

static herr_t take_first(unsigned n, const H5E_error2_t *e, void *unused)
{
    (void)n, (void)unused;
    snprintf(reason, sizeof reason, "%s", e->desc ? e->desc : "");
    return 1; /* enough */
}

static bool add_attribute(hid_t to, const char *name, hid_t type, const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return done;
}

static bool add_text(hid_t to, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool done = H5Tset_size(type, strlen(text) + 1) >= 0 &&
                      H5Tset_cset(type, H5T_CSET_UTF8) >= 0 && add_attribute(to, name, type, text);
    H5Tclose(type);
    return done;
}

static bool add_attributes(hid_t dataset, const struct convert_dataset *d)
{
    return (!d->bound || add_text(dataset, "zmpi_error_bound", d->bound)) &&
           (d->most < 0 ||
            add_attribute(dataset, "zmpi_absolute_bound", H5T_NATIVE_DOUBLE, &d->most)) &&
           add_text(dataset, "zmpi_source", d->source);
}

/* A contiguous dataset, with all its space allocated now. HDF5 writes nothing there. */
static hid_t create_dataset(hid_t file, const struct convert_dataset *d)
{
    const hid_t type = d->width == 4 ? (d->big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE)
                                     : (d->big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE);
    const hsize_t extent[3] = {d->shape[0], d->shape[1], d->shape[2]};
    const hid_t space = H5Screate_simple(d->rank, extent, NULL);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (H5Pset_layout(how, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0)
        dataset = H5Dcreate2(file, "values", type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    H5Sclose(space);
    return dataset;
}

const char *zmpi_convert_hdf5(const char *path, const struct convert_dataset *d, uint64_t *offset)
{
    snprintf(reason, sizeof reason, "HDF5 fails");
    if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0)
        return reason;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t dataset = file < 0 ? -1 : create_dataset(file, d);
    bool done = dataset >= 0 && add_attributes(dataset, d);
    if (!done)
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, NULL);
    const haddr_t at = done ? H5Dget_offset(dataset) : HADDR_UNDEF;
    if (dataset >= 0 && H5Dclose(dataset) < 0)
        done = false;
    if (file >= 0 && H5Fclose(file) < 0)
        done = false;
    *offset = at;
    return done && at != HADDR_UNDEF ? NULL : reason;
}
