/* neon_64.c - the kernels for 8-byte words, with NEON. */
#ifdef __AARCH64EL__
#define WIDTH      8
#define NAME(what) zmpi_neon_##what##64
#include "kernels/neon/neon_set_t.h"
#endif
