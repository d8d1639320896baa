/* hdf5_rule.h - the bound that the user's rules give a dataset, and the fill value that it has. */
#ifndef ZMPI_HDF5_RULE_H
#define ZMPI_HDF5_RULE_H

#include "datatype/known.h"
#include "hdf5/hdf5.h"

void zhdf5_rule(const struct zhdf5 *h, hid_t dataset, struct zknown_rule *rule);
/* Of datasets that one call writes: exact where their bounds differ. */
void zhdf5_rule_of_many(const struct zhdf5 *h, size_t count, const hid_t *dataset,
                        struct zknown_rule *rule);

#endif
