/* hdf5_rule.h - the bound that the user's rules give a dataset, and the dataset's fill value. */
#ifndef ZMPI_HDF5_RULE_H
#define ZMPI_HDF5_RULE_H

#include "datatype/known.h"
#include "hdf5/hdf5.h"

/* Does any rule name datasets? */
bool zhdf5_rules_are(void);
/* The bound for the name that the program opened the dataset with. False: no rule names it. */
bool zhdf5_rule_bound(const char *name, struct zknown_rule *rule);
/* From the dataset's type and its creation list. */
void zhdf5_rule_fill(const struct zhdf5 *h, hid_t type, hid_t list, struct zknown_rule *rule);
/* For several datasets that one call writes: they are exact where their bounds differ. */
void zhdf5_rule_merge(struct zknown_rule *rule, const struct zknown_rule *other);

#endif
