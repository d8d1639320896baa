/* chunk32.c - chunks of 4-byte words. */
#define WIDTH 4
#include "kernels/word_t.h"

#define NAME(what) SCALAR(what)
#define TARGET
#include "kernels/chunk_t.h"
#include "kernels/cost_t.h"
