/* enhance_net_any.c - the network's loops in the compiler's vectors, for any machine. */
#include <string.h>

#define LANES 4
#include "enhance/enhance_net.h"

typedef int32_t vector __attribute__((vector_size(4 * LANES)));

static inline vector load(const uint32_t *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(void *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

static inline vector dot(vector sum, vector v, uint32_t w)
{
    for (int i = 0; i < 32; i += 8)
        sum += (v >> i & 255) * (int8_t)(w >> i);
    return sum;
}

static inline vector clamp(vector v, int32_t low, int32_t high)
{
    const vector below = v<low, above = v> high;
    return (below & low) | (above & high) | (~(below | above) & v);
}

#define NET_RUN             zmpi_net_run_any
#define V                   vector
#define SPREAD(x)           ((vector){0} + (x))
#define LOAD(p)             load(p)
#define STORE(p, v)         store(p, v)
#define DOT(sum, v, w)      dot(sum, v, w)
#define SHIFT(v, n)         ((v) >> (int)(n))
#define CLAMP(v, low, high) clamp(v, low, high)
#define PACK(a, b, c, d)    ((a) | (b) << 8 | (c) << 16 | (d) << 24)
#include "enhance/enhance_net_t.h"
