/* chunk64.c - chunks of 8-byte words. */
#define WIDTH 8
#include "kernels/word_t.h"

#define NAME(what) SCALAR(what)
#define TARGET
#include "kernels/chunk_t.h"
#include "kernels/cost_t.h"
