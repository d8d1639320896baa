/* avx2_set_t.h - template: the kernels with AVX2. Parameters: WIDTH, and NAME as in
 * vector_set_t.h. */
/* clang-format off */
#include "kernels/word_t.h"

#include "kernels/avx2/avx2.h"
#if WIDTH == 4
#include "kernels/avx2/avx2_words32.h"
#else
#include "kernels/avx2/avx2_words64.h"
#endif
#include "kernels/avx2/avx2_block_t.h"
#include "kernels/vector/vector_fallback_t.h"
#include "kernels/avx2/avx2_fill_forward_t.h"
#include "kernels/avx2/avx2_packer_t.h"
#include "kernels/avx2/avx2_encode16_t.h"

#include "kernels/vector/vector_coded_t.h"
#include "kernels/avx2/avx2_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"
#include "kernels/avx2/avx2_decode16_t.h"

#include "kernels/vector/vector_set_t.h"
/* clang-format on */
