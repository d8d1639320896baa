/* avx512_64.c - the kernels for 8-byte words, with AVX-512. */
#ifdef __x86_64__
#define WIDTH      8
#define NAME(what) zmpi_avx512_##what##64
#include "kernels/avx512/avx512_set_t.h"
#endif
