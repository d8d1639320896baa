/* avx512vbmi_64.c - the kernels for 8-byte words, with AVX-512, VBMI and GFNI. */
#ifdef __x86_64__
#define ZMPI_VBMI  1
#define WIDTH      8
#define NAME(what) zmpi_avx512vbmi_##what##64
#include "kernels/avx512/avx512_set_t.h"
#endif
