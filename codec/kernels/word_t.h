/*
 * word_t.h - what all kernels of a word width begin with: its types, and the parts that the scalar
 * and the vector kernels share. Parameter: WIDTH, 4 or 8 bytes.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "kernels/kernels.h"

#if WIDTH == 4
#define U            uint32_t
#define S            int32_t
#define T            float
#define FABS         fabsf
#define MAGIC        12582912.0F
#define SCALAR(what) zmpi_chunk32_##what
#else
#define U            uint64_t
#define S            int64_t
#define T            double
#define FABS         fabs
#define MAGIC        6755399441055744.0
#define SCALAR(what) zmpi_chunk64_##what
#endif

/* clang-format off */
#include "kernels/fle_t.h"
#include "kernels/quant_t.h"
#include "kernels/shift_t.h"
#include "kernels/layout_t.h"
/* clang-format on */
