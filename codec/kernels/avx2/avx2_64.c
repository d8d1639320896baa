/* avx2_64.c - the kernels for 8-byte words, with AVX2. */
#ifdef __x86_64__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "kernels/kernels_avx2.h"

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

#include "kernels/avx2/avx2.h"
#include "kernels/avx2/avx2_words64.h"
#include "kernels/avx2/avx2_block64.h"
#include "kernels/vector/vector_plain_t.h"
#include "kernels/avx2/avx2_fill_forward_t.h"

#define ENCODE        zmpi_avx2_encode64
#define SCALAR_ENCODE zmpi_chunk64_encode
#include "kernels/avx2/avx2_packer_t.h"
#include "kernels/vector/vector_quant_t.h"
#include "kernels/vector/vector_words_t.h"
#include "kernels/vector/vector_exceptions_t.h"
#include "kernels/vector/vector_integers_t.h"
#include "kernels/avx2/avx2_encode16_t.h"
#include "kernels/vector/vector_integers16_t.h"
#include "kernels/vector/vector_encode_t.h"

#define DECODE        zmpi_avx2_decode64
#define SCALAR_DECODE zmpi_chunk64_decode
#include "kernels/vector/vector_stream_t.h"
#include "kernels/vector/vector_coded_t.h"
#include "kernels/avx2/avx2_unpack_t.h"
#include "kernels/vector/vector_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/avx2/avx2_decode16_t.h"
#include "kernels/vector/vector_decode_t.h"

#define COST zmpi_avx2_cost64
#include "kernels/vector/vector_cost_t.h"

#define RANGE zmpi_avx2_range64
#include "kernels/vector/vector_range_t.h"
#endif
