/*
 * decimal.h - numbers as text with a point, whatever locale the program has set: between begin and
 * end printf and strtod of this thread know the locale "C" alone.
 */
#ifndef ZMPI_DECIMAL_H
#define ZMPI_DECIMAL_H

#include <locale.h>

/* What the thread had, for zmpi_decimal_end. */
static inline locale_t zmpi_decimal_begin(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc keeps it: no memory is taken */
    return c != (locale_t)0 ? uselocale(c) : (locale_t)0;
}

static inline void zmpi_decimal_end(locale_t program)
{
    if (program != (locale_t)0)
        freelocale(uselocale(program));
}

#endif
