/* neon_64.c - the kernels for 8-byte words, with NEON. */
#ifdef __AARCH64EL__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "kernels/kernels_neon.h"

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

#include "kernels/neon/neon.h"
#include "kernels/neon/neon_words64.h"
#include "kernels/vector/vector_block_t.h"
#include "kernels/vector/vector_plain_t.h"
#include "kernels/vector/vector_fill_forward_t.h"

#define ENCODE        zmpi_neon_encode64
#define SCALAR_ENCODE zmpi_chunk64_encode
#include "kernels/vector/vector_packer_t.h"
#include "kernels/vector/vector_quant_t.h"
#include "kernels/vector/vector_words_t.h"
#include "kernels/vector/vector_exceptions_t.h"
#include "kernels/vector/vector_integers_t.h"
#include "kernels/vector/vector_encode_t.h"

#define DECODE        zmpi_neon_decode64
#define SCALAR_DECODE zmpi_chunk64_decode
#include "kernels/vector/vector_stream_t.h"
#include "kernels/vector/vector_coded_t.h"
#include "kernels/vector/vector_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/vector/vector_decode_t.h"

#define COST zmpi_neon_cost64
#include "kernels/vector/vector_cost_t.h"

#define RANGE zmpi_neon_range64
#include "kernels/vector/vector_range_t.h"
#endif
