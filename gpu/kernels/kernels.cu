/* kernels.cu - the kernels for CUDA. */
#include "kernels.c"
