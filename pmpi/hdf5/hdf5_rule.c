/* hdf5_rule.c - see hdf5_rule.h. */
#include "hdf5/hdf5_rule.h"

#include <math.h>

#include "mpi/runtime.h"

bool zhdf5_rules_are(void)
{
    return zmpi_rules_dataset(zruntime_options(), NULL, NULL);
}

bool zhdf5_rule_bound(const char *name, struct zknown_rule *rule)
{
    rule->bounded = zmpi_rules_dataset(zruntime_options(), name, &rule->bound);
    return rule->bounded;
}

/* Zero, NaN and infinities are exact in any case. */
void zhdf5_rule_fill(const struct zhdf5 *h, hid_t type, hid_t list, struct zknown_rule *rule)
{
    int defined = 0;
    double fill = 0;
    if (h->H5Tget_class(type) != ZH5T_FLOAT || h->H5Pfill_value_defined(list, &defined) < 0 ||
        defined != ZH5D_FILL_GIVEN ||
        h->H5Pget_fill_value(list, *h->H5T_NATIVE_DOUBLE_g, &fill) < 0)
        return;
    if (h->H5Tget_size(type) == sizeof(float))
        fill = (double)(float)fill; /* rounded to the type of the elements */
    if (isfinite(fill) && fabs(fill) > 0)
        rule->fill = (struct zmpi_fills){1, {fill}};
}

static bool have_same_bound(const struct zknown_rule *a, const struct zknown_rule *b)
{
    return a->bounded == b->bounded &&
           (!a->bounded ||
            (a->bound.mode == b->bound.mode && a->bound.value == b->bound.value)); // NOLINT
}

void zhdf5_rule_merge(struct zknown_rule *rule, const struct zknown_rule *other)
{
    if (!have_same_bound(rule, other)) {
        rule->bounded = true;
        rule->bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    }
    if (other->fill.count != rule->fill.count ||
        other->fill.value[0] != rule->fill.value[0]) // NOLINT
        rule->fill.count = 0;
}
