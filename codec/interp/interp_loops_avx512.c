/* interp_loops_avx512.c - the loops of encoder 3, compiled for AVX-512 (see CMakeLists.txt). */
#ifdef __x86_64__
#define LOOPS     zmpi_interp_loops_avx512
#define PUT_WORDS zmpi_avx512_interp_put
#define PUT_ROWS  zmpi_avx512_interp_put_rows
#define TAKE_ROWS zmpi_avx512_interp_rows
#include "interp/interp_loops_t.h"
#endif
