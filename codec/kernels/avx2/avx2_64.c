/* avx2_64.c - the kernels for 8-byte words, with AVX2. */
#ifdef __x86_64__
#define WIDTH      8
#define NAME(what) zmpi_avx2_##what##64
#include "kernels/avx2/avx2_set_t.h"
#endif
