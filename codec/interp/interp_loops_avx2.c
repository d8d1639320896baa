/* interp_loops_avx2.c - the loops of encoder 3, compiled for AVX2 (see CMakeLists.txt). */
#ifdef __x86_64__
#define LOOPS     zmpi_interp_loops_avx2
#define PUT_WORDS NULL
#define PUT_ROWS  NULL
#define TAKE_ROWS NULL
#include "interp/interp_loops_t.h"
#endif
