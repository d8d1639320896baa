/* long.h - ZMPI_TEST_LONG=1: what is random runs as often as a night allows. */
#ifndef ZMPI_TEST_LONG_H
#define ZMPI_TEST_LONG_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_long(void)
{
    const char *s = getenv("ZMPI_TEST_LONG");
    return s != NULL && s[0] != '\0';
}

#endif
