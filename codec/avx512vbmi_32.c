/* avx512vbmi_32.c - the kernels for 4-byte words, with AVX-512, VBMI and GFNI. */
#ifdef __x86_64__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "kernels_avx512.h"

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

#define ZMPI_VBMI 1
#include "avx512.h"
#include "avx512_words32.h"

#define ENCODE        zmpi_avx512vbmi_encode32
#define SCALAR_ENCODE zmpi_chunk32_encode
#include "vector_packer_t.h"
#include "vector_quant_t.h"
#include "vector_words_t.h"
#include "vector_exceptions_t.h"
#include "avx512_filled_t.h"
#include "vector_integers_t.h"
#include "avx512_halves_t.h"
#include "vector_halves_t.h"
#include "vector_encode_t.h"

#define DECODE        zmpi_avx512vbmi_decode32
#define SCALAR_DECODE zmpi_chunk32_decode
#include "vector_stream_t.h"
#include "vector_coded_t.h"
#include "avx512_group_t.h"
#include "vector_unpack_t.h"
#include "vector_blocks_t.h"
#include "avx512_halved_t.h"
#include "vector_decode_t.h"
#endif
