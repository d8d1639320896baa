/* neon_32.c - the kernels for 4-byte words, with NEON. */
#ifdef __AARCH64EL__
#define WIDTH      4
#define NAME(what) zmpi_neon_##what##32
#include "kernels/neon/neon_set_t.h"
#endif
