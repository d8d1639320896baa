/* train_loops_avx2.c - training by AVX2: CMakeLists.txt says so. */
#ifdef __x86_64__
#define FORWARD  train_forward_avx2
#define BACKWARD train_backward_avx2
#include "tool/enhance/train_loops_t.h"
#endif
