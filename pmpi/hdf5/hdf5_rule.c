/* hdf5_rule.c - see hdf5_rule.h. */
#include "hdf5/hdf5_rule.h"

#include <math.h>
#include <stdlib.h>

#include "mpi/runtime.h"

/* The name by which the program has opened it; a dataset without one is "". */
static void find_bound(const struct zhdf5 *h, hid_t dataset, struct zknown_rule *rule)
{
    const struct zmpi_options *o = zruntime_options();
    if (!zmpi_rules_dataset(o, NULL, NULL))
        return;
    const zssize_t length = h->H5Iget_name(dataset, NULL, 0);
    char *name = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    if (name && length)
        h->H5Iget_name(dataset, name, (size_t)length + 1);
    if (name)
        rule->bounded = zmpi_rules_dataset(o, name, &rule->bound);
    free(name);
}

/* Zero, NaN and infinities are exact anyway. */
static void find_fill(const struct zhdf5 *h, hid_t dataset, struct zknown_rule *rule)
{
    const hid_t type = h->H5Dget_type(dataset), list = h->H5Dget_create_plist(dataset);
    int defined = 0;
    double fill = 0;
    if (type >= 0 && list >= 0 && h->H5Tget_class(type) == ZH5T_FLOAT &&
        h->H5Pfill_value_defined(list, &defined) >= 0 && defined == ZH5D_FILL_GIVEN &&
        h->H5Pget_fill_value(list, *h->H5T_NATIVE_DOUBLE_g, &fill) >= 0 && isfinite(fill) &&
        fabs(fill) > 0)
        rule->fill = (struct zmpi_fills){1, {fill}};
    if (type >= 0)
        h->H5Tclose(type);
    if (list >= 0)
        h->H5Pclose(list);
}

void zhdf5_rule(const struct zhdf5 *h, hid_t dataset, struct zknown_rule *rule)
{
    *rule = (struct zknown_rule){0};
    if (!zhdf5_is_known(h) || h->H5Iget_type(dataset) != ZH5I_DATASET)
        return;
    find_bound(h, dataset, rule);
    find_fill(h, dataset, rule);
}

static bool have_same_bound(const struct zknown_rule *a, const struct zknown_rule *b)
{
    return a->bounded == b->bounded &&
           (!a->bounded ||
            (a->bound.mode == b->bound.mode && a->bound.value == b->bound.value)); // NOLINT
}

void zhdf5_rule_of_many(const struct zhdf5 *h, size_t count, const hid_t *dataset,
                        struct zknown_rule *rule)
{
    zhdf5_rule(h, dataset[0], rule);
    for (size_t i = 1; i < count; i++) {
        struct zknown_rule other;
        zhdf5_rule(h, dataset[i], &other);
        if (!have_same_bound(rule, &other))
            *rule = (struct zknown_rule){.bounded = true, .bound = {ZMPI_LOSSLESS, 0}};
        if (other.fill.count != rule->fill.count ||
            other.fill.value[0] != rule->fill.value[0]) // NOLINT
            rule->fill.count = 0;
    }
}
