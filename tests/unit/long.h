/* long.h - how often tests repeat random cases. */
#ifndef ZMPI_TEST_LONG_H
#define ZMPI_TEST_LONG_H

#include <stdbool.h>
#include <stdlib.h>

/* ZMPI_TEST_LONG=1: as often as a night allows. */
static inline bool test_long(void)
{
    const char *s = getenv("ZMPI_TEST_LONG");
    return s != NULL && s[0] != '\0';
}

/* An eighth of n with AddressSanitizer, which maps and unmaps each large piece of memory: a round
 * is slow there, and the other builds run them all. */
#ifdef __SANITIZE_ADDRESS__
enum { TEST_LESS = 8 };
#else
enum { TEST_LESS = 1 };
#endif

static inline int test_rounds(int n)
{
    return test_long() || n < TEST_LESS ? n : n / TEST_LESS;
}

#endif
