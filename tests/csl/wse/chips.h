/* chips.h - simulated wafers, and arrays of every kind on them. */
#ifndef ZMPI_TEST_WSE_CHIPS_H
#define ZMPI_TEST_WSE_CHIPS_H

#include "check.h"
#include "chip_sim.h"

static inline struct chip_sim open_chip(const char *program, unsigned width, unsigned height,
                                        struct chip_sim_options how)
{
    struct chip_sim c;
    cr_assert(chip_sim_open(&c, program, width, height, &how), "%s: %s", program, c.chip.problem);
    return c;
}

/* One array of every kind. */
static inline void check_kinds(struct chip *from, struct chip *to, struct kit_random *r,
                               const struct zmpi_array *a, struct zmpi_bound bound,
                               struct wse_count count[2])
{
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
        float *data = kit_make(r, a, (enum kit_data)kind);
        check_bytes(from, to, a, bound, data, count);
        free(data);
    }
}

#endif
