/* rate.c - what devices learn of themselves, by which `auto` chooses (codec/base/rate.h). */
#include <criterion/criterion.h>
#include <math.h>

#include "base/rate.h"
#include "device.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * b;
}

Test(rate, a_guess_until_something_is_known)
{
    static struct zmpi_rate r;
    cr_assert_eq(zmpi_rate_expect(&r, 1 << 20, 3.0), 3.0);
    zmpi_rate_learn(&r, 1 << 20, 3.0, 0); /* a clock that stood still */
    zmpi_rate_learn(&r, 1 << 20, 0, 1);
    cr_assert_eq(zmpi_rate_expect(&r, 1 << 20, 3.0), 3.0);
}

/* A size that was never measured is like the nearest one that was. */
Test(rate, by_size)
{
    static struct zmpi_rate r;
    zmpi_rate_learn(&r, 1 << 10, 1.0, 8.0);
    zmpi_rate_learn(&r, 1 << 26, 1.0, 0.5);
    cr_assert(near(zmpi_rate_expect(&r, 1 << 10, 2.0), 16.0));
    cr_assert(near(zmpi_rate_expect(&r, 1 << 12, 2.0), 16.0));
    cr_assert(near(zmpi_rate_expect(&r, 1 << 26, 2.0), 1.0));
    cr_assert(near(zmpi_rate_expect(&r, SIZE_MAX, 2.0), 1.0));
    cr_assert(near(zmpi_rate_expect(&r, 0, 2.0), 16.0));
}

/* One slow call changes little, a device that stays slow is found out. */
Test(rate, learns_slowly)
{
    static struct zmpi_rate r;
    for (int i = 0; i < 10; i++)
        zmpi_rate_learn(&r, 1 << 20, 1.0, 1.0);
    zmpi_rate_learn(&r, 1 << 20, 1.0, 2.0);
    cr_assert_lt(zmpi_rate_expect(&r, 1 << 20, 1.0), 1.5);
    for (int i = 0; i < 20; i++)
        zmpi_rate_learn(&r, 1 << 20, 1.0, 2.0);
    cr_assert_gt(zmpi_rate_expect(&r, 1 << 20, 1.0), 1.9);
}
