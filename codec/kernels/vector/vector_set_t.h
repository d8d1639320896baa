/*
 * vector_set_t.h - template: the kernels of an instruction set for one word width. It comes after
 * the set's operations, packers and unpackers. NAME(encode), NAME(decode), NAME(cost) and
 * NAME(range) are the names of the functions.
 */
/* clang-format off */
#include "kernels/vector/vector_quant_t.h"
#include "kernels/vector/vector_words_t.h"
#include "kernels/vector/vector_exceptions_t.h"
#include "kernels/vector/vector_integers_t.h"
#ifdef INTEGERS16
#include "kernels/vector/vector_integers16_t.h"
#endif
#include "kernels/vector/vector_encode_t.h"

#include "kernels/vector/vector_stream_t.h"
#include "kernels/vector/vector_decode_t.h"

#include "kernels/cost_t.h"
#include "kernels/vector/vector_range_t.h"
/* clang-format on */
