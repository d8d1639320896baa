/* chunk32.c - chunks of 4-byte words. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "layout/chunk.h"

#define U     uint32_t
#define S     int32_t
#define WIDTH 4
#include "kernels/fle_t.h"

#define T     float
#define FABS  fabsf
#define MAGIC 12582912.0F
#include "kernels/quant_t.h"
#include "kernels/shift_t.h"
#include "kernels/layout_t.h"

#define ENCODE zmpi_chunk32_encode
#define DECODE zmpi_chunk32_decode
#include "kernels/chunk_t.h"

#define COST zmpi_chunk32_cost
#include "kernels/cost_t.h"
