/* chunk64.c - chunks of 8-byte words. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "layout/chunk.h"

#define U     uint64_t
#define S     int64_t
#define WIDTH 8
#include "kernels/fle_t.h"

#define T     double
#define FABS  fabs
#define MAGIC 6755399441055744.0
#include "kernels/quant_t.h"
#include "kernels/shift_t.h"
#include "kernels/layout_t.h"

#define ENCODE zmpi_chunk64_encode
#define DECODE zmpi_chunk64_decode
#include "kernels/chunk_t.h"

#define COST zmpi_chunk64_cost
#include "kernels/cost_t.h"
