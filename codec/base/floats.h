/*
 * floats.h - the program's floating-point settings, set aside while zmpi computes.
 *
 * A program may trap invalid operations and overflows (gfortran -ffpe-trap), which NaN, infinities
 * and fill values would trigger in our arithmetic; round in another direction, which would change
 * streams and break the bound; or flush denormals. And it may look at the flags that its own
 * arithmetic left (gfortran's STOP prints them).
 */
#ifndef ZMPI_FLOATS_H
#define ZMPI_FLOATS_H

#ifdef __x86_64__

#include <xmmintrin.h>

/* SSE's register, and x87's control word, which the C library reads decimals by. Much faster than
 * fegetenv, which reads the rest of x87 as well; that is not used here. */
struct zmpi_floats {
    unsigned csr;
    unsigned short x87;
};

enum { ZMPI_CSR_FLAGS = 0x3F, ZMPI_CSR_DEFAULT = 0x1F80, ZMPI_X87_DEFAULT = 0x37F };

static inline unsigned short zmpi_x87_control(void)
{
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static inline void zmpi_x87_set(unsigned short word)
{
    __asm__ volatile("fldcw %0" : : "m"(word));
}

/* Sets IEEE 754's defaults on this thread; returns what the program had. */
static inline struct zmpi_floats zmpi_floats_begin(void)
{
    const struct zmpi_floats program = {_mm_getcsr(), zmpi_x87_control()};
    if ((program.csr & ~(unsigned)ZMPI_CSR_FLAGS) != ZMPI_CSR_DEFAULT)
        _mm_setcsr(ZMPI_CSR_DEFAULT);
    if (program.x87 != ZMPI_X87_DEFAULT)
        zmpi_x87_set(ZMPI_X87_DEFAULT);
    return program;
}

static inline void zmpi_floats_end(struct zmpi_floats program)
{
    if (_mm_getcsr() != program.csr)
        _mm_setcsr(program.csr);
    if (program.x87 != ZMPI_X87_DEFAULT)
        zmpi_x87_set(program.x87);
}

#else

#include <fenv.h>

struct zmpi_floats {
    fenv_t environment;
};

static inline struct zmpi_floats zmpi_floats_begin(void)
{
    struct zmpi_floats program;
    fegetenv(&program.environment);
    fesetenv(FE_DFL_ENV);
    return program;
}

static inline void zmpi_floats_end(struct zmpi_floats program)
{
    fesetenv(&program.environment);
}

#endif

#endif
