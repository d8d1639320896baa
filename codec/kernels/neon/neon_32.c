/* neon_32.c - the kernels for 4-byte words, with NEON. */
#ifdef __AARCH64EL__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "kernels/kernels_neon.h"

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

#include "kernels/neon/neon.h"
#include "kernels/neon/neon_words32.h"
#include "kernels/vector/vector_block_t.h"
#include "kernels/vector/vector_plain_t.h"
#include "kernels/vector/vector_fill_forward_t.h"

#define ENCODE        zmpi_neon_encode32
#define SCALAR_ENCODE zmpi_chunk32_encode
#include "kernels/vector/vector_packer_t.h"
#include "kernels/vector/vector_quant_t.h"
#include "kernels/vector/vector_words_t.h"
#include "kernels/vector/vector_exceptions_t.h"
#include "kernels/vector/vector_integers_t.h"
#include "kernels/vector/vector_encode_t.h"

#define DECODE        zmpi_neon_decode32
#define SCALAR_DECODE zmpi_chunk32_decode
#include "kernels/vector/vector_stream_t.h"
#include "kernels/vector/vector_coded_t.h"
#include "kernels/vector/vector_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/vector/vector_decode_t.h"

#define COST zmpi_neon_cost32
#include "kernels/vector/vector_cost_t.h"

#define RANGE zmpi_neon_range32
#include "kernels/vector/vector_range_t.h"
#endif
