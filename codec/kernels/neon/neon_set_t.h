/* neon_set_t.h - template: the kernels with NEON. Parameters: WIDTH, and NAME as in
 * vector_set_t.h. */
/* clang-format off */
#include "kernels/word_t.h"

#include "kernels/neon/neon.h"
#if WIDTH == 4
#include "kernels/neon/neon_words32.h"
#else
#include "kernels/neon/neon_words64.h"
#endif
#include "kernels/vector/vector_block_t.h"
#include "kernels/vector/vector_fallback_t.h"
#include "kernels/vector/vector_fill_forward_t.h"
#include "kernels/vector/vector_packer_t.h"

#include "kernels/vector/vector_coded_t.h"
#include "kernels/vector/vector_unpack_t.h"
#include "kernels/vector/vector_blocks_t.h"

#include "kernels/vector/vector_set_t.h"
/* clang-format on */
