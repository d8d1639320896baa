/* avx2_32.c - the kernels for 4-byte words, with AVX2. */
#ifdef __x86_64__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "kernels/kernels_avx2.h"

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

#include "kernels/avx2/avx2.h"
#include "kernels/avx2/avx2_words32.h"
#include "kernels/avx2/avx2_block32.h"
#include "kernels/vector/vector_plain_t.h"
#include "kernels/avx2/avx2_fill_forward_t.h"

#define ENCODE        zmpi_avx2_encode32
#define SCALAR_ENCODE zmpi_chunk32_encode
#include "kernels/avx2/avx2_packer_t.h"
#include "kernels/vector/vector_quant_t.h"
#include "kernels/vector/vector_words_t.h"
#include "kernels/vector/vector_exceptions_t.h"
#include "kernels/vector/vector_integers_t.h"
#include "kernels/avx2/avx2_encode16_t.h"
#include "kernels/vector/vector_integers16_t.h"
#include "kernels/vector/vector_encode_t.h"

#define DECODE        zmpi_avx2_decode32
#define SCALAR_DECODE zmpi_chunk32_decode
#include "kernels/vector/vector_stream_t.h"
#include "kernels/vector/vector_coded_t.h"
#include "kernels/avx2/avx2_unpack_t.h"
#define UNPACKS_SOME
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/avx2/avx2_decode16_t.h"
#include "kernels/vector/vector_decode_t.h"

#define COST zmpi_avx2_cost32
#include "kernels/vector/vector_cost_t.h"

#define RANGE zmpi_avx2_range32
#include "kernels/vector/vector_range_t.h"
#endif
