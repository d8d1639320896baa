/* avx512_set_t.h - template: the kernels with AVX-512, and VBMI and GFNI if ZMPI_VBMI is defined.
 * Parameters: WIDTH, and NAME as in vector_set_t.h. */
/* clang-format off */
#include "kernels/word_t.h"

#include "kernels/avx512/avx512.h"
#if WIDTH == 4
#include "kernels/avx512/avx512_words32.h"
#else
#include "kernels/avx512/avx512_words64.h"
#endif
#include "kernels/vector/vector_packer_t.h"
#include "kernels/avx512/avx512_encode16_t.h"

#include "kernels/vector/vector_coded_t.h"
#include "kernels/avx512/avx512_group_t.h"
#include "kernels/vector/vector_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/avx512/avx512_decode16_t.h"

#include "kernels/vector/vector_set_t.h"
/* clang-format on */
