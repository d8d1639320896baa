/* avx512vbmi_32.c - the kernels for 4-byte words, with AVX-512, VBMI and GFNI. */
#ifdef __x86_64__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "kernels/kernels_avx512.h"

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

#define ZMPI_VBMI 1
#include "kernels/avx512/avx512.h"
#include "kernels/avx512/avx512_words32.h"

#define ENCODE        zmpi_avx512vbmi_encode32
#define SCALAR_ENCODE zmpi_chunk32_encode
#include "kernels/vector/vector_packer_t.h"
#include "kernels/vector/vector_quant_t.h"
#include "kernels/vector/vector_words_t.h"
#include "kernels/vector/vector_exceptions_t.h"
#include "kernels/avx512/avx512_filled_t.h"
#include "kernels/vector/vector_integers_t.h"
#include "kernels/avx512/avx512_encode16_t.h"
#include "kernels/vector/vector_integers16_t.h"
#include "kernels/vector/vector_encode_t.h"

#define DECODE        zmpi_avx512vbmi_decode32
#define SCALAR_DECODE zmpi_chunk32_decode
#include "kernels/vector/vector_stream_t.h"
#include "kernels/vector/vector_coded_t.h"
#include "kernels/avx512/avx512_group_t.h"
#include "kernels/vector/vector_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/avx512/avx512_decode16_t.h"
#include "kernels/vector/vector_decode_t.h"
#endif
