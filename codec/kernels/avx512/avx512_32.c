/* avx512_32.c - the kernels for 4-byte words, with AVX-512. */
#ifdef __x86_64__
#define WIDTH      4
#define NAME(what) zmpi_avx512_##what##32
#include "kernels/avx512/avx512_set_t.h"
#endif
