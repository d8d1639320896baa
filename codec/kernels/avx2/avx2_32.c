/* avx2_32.c - the kernels for 4-byte words, with AVX2. */
#ifdef __x86_64__
#define WIDTH      4
#define NAME(what) zmpi_avx2_##what##32
#include "kernels/avx2/avx2_set_t.h"
#endif
