/* avx512vbmi_64.c - the kernels for 8-byte words, with AVX-512, VBMI and GFNI. */
#ifdef __x86_64__
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "kernels_avx512.h"

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

#define ZMPI_VBMI 1
#include "avx512.h"
#include "avx512_words64.h"

#define ENCODE        zmpi_avx512vbmi_encode64
#define SCALAR_ENCODE zmpi_chunk64_encode
#include "vector_packer_t.h"
#include "vector_quant_t.h"
#include "vector_words_t.h"
#include "vector_exceptions_t.h"
#include "avx512_filled_t.h"
#include "vector_integers_t.h"
#include "avx512_halves_t.h"
#include "vector_halves_t.h"
#include "vector_encode_t.h"

#define DECODE        zmpi_avx512vbmi_decode64
#define SCALAR_DECODE zmpi_chunk64_decode
#include "vector_stream_t.h"
#include "vector_coded_t.h"
#include "avx512_group_t.h"
#include "vector_unpack_t.h"
#include "vector_blocks_t.h"
#include "avx512_halved_t.h"
#include "vector_decode_t.h"
#endif
