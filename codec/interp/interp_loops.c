/* interp_loops.c - the loops of encoder 3 for any machine. */
#define LOOPS     zmpi_interp_loops_any
#define PUT_WORDS NULL
#define PUT_ROWS  NULL
#define TAKE_ROWS NULL
#include "interp/interp_loops_t.h"
