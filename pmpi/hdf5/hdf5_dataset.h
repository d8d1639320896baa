/*
 * hdf5_dataset.h - what is known of the datasets that a program has open, from when it created or
 * opened them. An H5Dwrite asks for nothing else: HDF5 reads metadata to tell it, and does that
 * together with all ranks where the program set H5Pset_all_coll_metadata_ops, while some ranks
 * alone may write. Of a dataset that was opened in another way nothing is known, and what is
 * written to it is exact. Thread-safe.
 */
#ifndef ZMPI_HDF5_DATASET_H
#define ZMPI_HDF5_DATASET_H

#include "datatype/known.h"
#include "hdf5/hdf5.h"
#include "zmpi_codec.h"

struct zhdf5_dataset {
    enum zmpi_type element; /* of the numbers, where there are any */
    size_t numbers; /* floats of this machine in an element: 1, 2 where it is complex; 0: others */
    bool small;     /* it cannot grow, and is exact in every file: nothing else is known of it */
    int layout;
    int chunk_rank; /* of chunks */
    hsize_t chunk[ZH5S_MAX_RANK];
    bool filtered;       /* by whatever filter */
    bool ours;           /* first by zmpi's: */
    enum zmpi_mode mode; /* of its bound */
    struct zknown_rule rule;
    char name[96]; /* its first bytes, for messages, where it was asked; else "" */
};

/* Do any settings depend on datasets? */
bool zhdf5_datasets_matter(void);

/* H5Dcreate has made a dataset by this type, space and list. named: not by H5Dcreate_anon. */
void zhdf5_dataset_created(const struct zhdf5 *h, hid_t dataset, hid_t type, hid_t space,
                           hid_t list, bool named);
/* A call has opened an object, perhaps a dataset. HDF5 may read metadata, as the call just did. */
void zhdf5_dataset_opened(const struct zhdf5 *h, hid_t object);
/* H5close: the same numbers may be others' handles next. */
void zhdf5_datasets_forget(const struct zhdf5 *h);

/* What else there is to know of a small one, where it is written together with others. Local. */
void zhdf5_dataset_small(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d);

/* Local, and without a call of HDF5. False: nothing is known. Of a small one *d says only that. */
bool zhdf5_dataset_find(const struct zhdf5 *h, hid_t dataset, struct zhdf5_dataset *d);

#endif
