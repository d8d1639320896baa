/*
 * comma.h - a locale that writes 0,5 as most of Europe does. It is made on the spot, because few
 * machines have one.
 */
#ifndef ZMPI_TESTS_COMMA_H
#define ZMPI_TESTS_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the locale of the whole process; false if this machine cannot make it. It lies in the
 * working folder. */
static inline bool comma_set(void)
{
    static const char make[] =
        "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\n"
        "END LC_NUMERIC\\n' >comma.txt && "
        "localedef -c -i comma.txt -f ANSI_X3.4-1968 ./comma >comma.log 2>&1";
    char half[8];
    (void)!system(make); /* warns of what is not in it, and says so by its status */
    setenv("LOCPATH", ".", 1);
    if (!setlocale(LC_NUMERIC, "comma"))
        return false;
    snprintf(half, sizeof half, "%.1f", 0.5);
    return strcmp(half, "0,5") == 0;
}

#endif
