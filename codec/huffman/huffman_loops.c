/* huffman_loops.c - the loops of encoder 2 for any machine. */
#include <string.h>

#include "huffman/huffman_loops.h"

#include "base/bytes.h"

#define TARGET
#define LOW_BITS(w, n) ((w) & (((uint64_t)1 << ((n)&63)) - 1))
/* The second to fourth residual of an entry, behind `to`. */
#define SPREAD(to, rest)                                                                           \
    do {                                                                                           \
        for (unsigned n = 1; n < 4; n++)                                                           \
            (to)[n] = (U)(rest)[n];                                                                \
    } while (0)
#define U       uint32_t
#define S       int32_t
#define NAME(x) x##32
#include "huffman/huffman_loops_t.h"
#include "huffman/huffman_take_t.h"
#undef U
#undef S
#undef NAME
#define U       uint64_t
#define S       int64_t
#define NAME(x) x##64
#include "huffman/huffman_loops_t.h"
#include "huffman/huffman_take_t.h"

const struct zmpi_huffman_encode_loops zmpi_huffman_encode_any = {
    .put32 = put_segment32,
    .put64 = put_segment64,
    .count32 = count_segment32,
    .count64 = count_segment64,
};

const struct zmpi_huffman_loops zmpi_huffman_loops_any = {
    .four32 = four32,
    .four64 = four64,
    .one32 = one32,
    .one64 = one64,
};
