/*
 * hdf5_dataset.h - what zmpi knows of the datasets that a program has open. It learns this when the
 * program creates or opens them. During H5Dwrite it asks HDF5 for nothing: HDF5 would read metadata
 * for the answer. After H5Pset_all_coll_metadata_ops it reads them collectively, but H5Dwrite may
 * be called by some ranks only. A dataset that was opened in another way stays unknown, and is
 * written exactly. Thread-safe.
 */
#ifndef ZMPI_HDF5_DATASET_H
#define ZMPI_HDF5_DATASET_H

#include "datatype/known.h"
#include "hdf5/hdf5.h"
#include "zmpi_codec.h"

struct zhdf5_dataset {
    enum zmpi_type element; /* of the numbers, where there are any */
    size_t numbers; /* floats of this machine in an element: 1, or 2 where it is complex; 0: other
                       types */
    bool small;     /* it cannot grow, and is exact in every file: zmpi knows nothing else of it */
    int layout;
    int chunk_rank; /* of chunks */
    hsize_t chunk[ZH5S_MAX_RANK];
    bool filtered;       /* by any filter */
    bool ours;           /* zmpi's filter is the first one: */
    enum zmpi_mode mode; /* of its bound */
    struct zknown_rule rule;
    char name[96]; /* the first bytes of its name, for messages; "" if nobody needed it */
};

/* Do any settings depend on datasets? */
bool zhdf5_datasets_matter(void);

/* H5Dcreate has made a dataset by this type, space and list. named: not by H5Dcreate_anon. */
void zhdf5_dataset_created(const struct zhdf5 *h, hid_t dataset, hid_t type, hid_t space,
                           hid_t list, bool named);
/* A call has opened an object, perhaps a dataset. This may read metadata collectively, as that call
 * just did. */
void zhdf5_dataset_opened(const struct zhdf5 *h, hid_t object);
/* H5close: other objects may get the same handles after it. */
void zhdf5_datasets_forget(const struct zhdf5 *h);

/* The rest of what a small dataset is, where one call writes it together with others. Local. */
void zhdf5_dataset_small(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d);

/* Local, and without a call of HDF5. False: the dataset is unknown. Of a small one *d says only
 * that it is small. */
bool zhdf5_dataset_find(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d);

#endif
