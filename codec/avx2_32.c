/* avx2_32.c - the kernels for 4-byte words, with AVX2. */
#ifdef __x86_64__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "kernels_avx2.h"

#define U     uint32_t
#define S     int32_t
#define WIDTH 4
#include "fle_t.h"

#define T     float
#define FABS  fabsf
#define MAGIC 12582912.0F
#include "quant_t.h"
#include "shift_t.h"
#include "layout_t.h"

#include "avx2.h"
#include "avx2_words32.h"
#include "avx2_block32.h"
#include "vector_plain_t.h"
#include "avx2_hold_t.h"

#define ENCODE        zmpi_avx2_encode32
#define SCALAR_ENCODE zmpi_chunk32_encode
#include "avx2_packer_t.h"
#include "vector_quant_t.h"
#include "vector_words_t.h"
#include "vector_exceptions_t.h"
#include "vector_integers_t.h"
#include "avx2_halves_t.h"
#include "vector_halves_t.h"
#include "vector_encode_t.h"

#define DECODE        zmpi_avx2_decode32
#define SCALAR_DECODE zmpi_chunk32_decode
#include "vector_stream_t.h"
#include "vector_coded_t.h"
#include "avx2_unpack_t.h"
#define UNPACKS_SOME
#include "vector_blocks_t.h"
#include "avx2_halved_t.h"
#include "vector_decode_t.h"

#define COST zmpi_avx2_cost32
#include "vector_cost_t.h"

#define RANGE zmpi_avx2_range32
#include "vector_range_t.h"
#endif
