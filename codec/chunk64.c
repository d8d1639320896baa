/* chunk64.c - chunks of 8-byte words. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "chunk.h"

#define U     uint64_t
#define S     int64_t
#define WIDTH 8
#include "fle_t.h"

#define T     double
#define FABS  fabs
#define MAGIC 6755399441055744.0
#include "quant_t.h"
#include "shift_t.h"
#include "layout_t.h"

#define ENCODE zmpi_chunk64_encode
#define DECODE zmpi_chunk64_decode
#include "chunk_t.h"

#define COST zmpi_chunk64_cost
#include "cost_t.h"
