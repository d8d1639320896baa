/*
 * range_scan.c - the value range of a large array, by several threads. It can leave out values
 * beyond a threshold, or values that a user names.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "device.h"
#include "kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* Bytes that a thread takes at a time. */
#define PORTION ((size_t)1 << 20)
/* Elements of a block: only where a block has values that are left out, it is scanned again, in
 * groups. */
enum { BLOCK = 16384, GROUP = 4096 };

struct scan {
    enum zmpi_type type;
    size_t width, count;
    const unsigned char *src;
    double threshold; /* +inf: none */
    bool fills;
    double fill[ZMPI_FILLS]; /* NaN: none */
    _Atomic size_t next;     /* first element that no thread has taken */
    pthread_mutex_t lock;
    struct zmpi_range range;
};

/* Copies a group, with infinity, which has no range, in place of the elements that are not below
 * the threshold or are fill values. Without branches, so that compilers turn it into vectors. */
#define KEEP_BELOW(T, name, abs)                                                                   \
    INLINE void name(const unsigned char *src, size_t n, T threshold, const double *fill, T *rest) \
    {                                                                                              \
        const T a = (T)fill[0], b = (T)fill[1];                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x;                                                                                   \
            memcpy(&x, src + i * sizeof x, sizeof x);                                              \
            const bool stays = (abs(x) < threshold) & (x != a) & (x != b);                         \
            rest[i] = stays ? x : (T)INFINITY;                                                     \
        }                                                                                          \
    }
KEEP_BELOW(float, keep_below32, fabsf)
KEEP_BELOW(double, keep_below64, fabs)

/* The smallest f32 that is not below the threshold. For f32 x, |x| < threshold then is the same
 * comparison. */
static float narrow(double threshold)
{
    const float f = threshold > (double)FLT_MAX ? INFINITY : (float)threshold;
    return (double)f < threshold ? nextafterf(f, INFINITY) : f;
}

union rest {
    float f[GROUP];
    double d[GROUP];
};

INLINE void keep(const struct scan *s, const unsigned char *src, size_t n, union rest *rest)
{
    if (s->type == ZMPI_F32)
        keep_below32(src, n, narrow(s->threshold), s->fill, rest->f);
    else
        keep_below64(src, n, s->threshold, s->fill, rest->d);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
keep_avx2(const struct scan *s, const unsigned char *src, size_t n, union rest *rest)
{
    keep(s, src, n, rest);
}
#else
#define keep_avx2 keep
#endif

/* The range of a block without the values that are left out. */
static void scan_rest(const struct scan *s, const unsigned char *src, size_t count,
                      struct zmpi_range *range)
{
    union rest rest;
    struct zmpi_range r;
    *range = ZMPI_RANGE_EMPTY;
    for (size_t i = 0; i < count; i += GROUP) {
        const size_t n = count - i < GROUP ? count - i : GROUP;
        if (zmpi_kernels() == &zmpi_kernels_scalar)
            keep(s, src + i * s->width, n, &rest);
        else
            keep_avx2(s, src + i * s->width, n, &rest);
        zmpi_range_of(s->type, &rest, n, &r);
        zmpi_range_merge(range, &r);
    }
}

/* May a block of this range have values that are left out? */
static bool has_rest(const struct scan *s, const struct zmpi_range *r)
{
    const double largest = fmax(fabs(r->min), fabs(r->max)); /* inf if there is no element */
    bool has = largest >= s->threshold || isfinite(r->fill);
    for (int k = 0; k < ZMPI_FILLS; k++)
        has |= r->min <= s->fill[k] && s->fill[k] <= r->max;
    return has;
}

static void scan_below(const struct scan *s, const unsigned char *src, size_t count,
                       struct zmpi_range *range)
{
    *range = ZMPI_RANGE_EMPTY;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        struct zmpi_range r;
        zmpi_range_of(s->type, src + i * s->width, n, &r);
        if (has_rest(s, &r))
            scan_rest(s, src + i * s->width, n, &r);
        zmpi_range_merge(range, &r);
    }
}

static void scan_portions(void *context)
{
    struct scan *s = context;
    struct zmpi_range range = ZMPI_RANGE_EMPTY, r;
    size_t portion = PORTION / s->width, first;
    while ((first = atomic_fetch_add(&s->next, portion)) < s->count) {
        size_t n = s->count - first < portion ? s->count - first : portion;
        const unsigned char *src = s->src + first * s->width;
        if (isfinite(s->threshold) || s->fills)
            scan_below(s, src, n, &r);
        else
            zmpi_range_of(s->type, src, n, &r);
        zmpi_range_merge(&range, &r);
    }
    pthread_mutex_lock(&s->lock);
    zmpi_range_merge(&s->range, &range);
    pthread_mutex_unlock(&s->lock);
}

void zmpi_range_scan(enum zmpi_type type, const void *src, size_t count, double threshold,
                     int threads, struct zmpi_range *range)
{
    const struct zmpi_fills none = {0};
    zmpi_range_without(type, src, count, threshold, &none, threads, range);
}

void zmpi_range_without(enum zmpi_type type, const void *src, size_t count, double threshold,
                        const struct zmpi_fills *fills, int threads, struct zmpi_range *range)
{
    struct scan s = {.type = type,
                     .width = zmpi_type_size(type),
                     .count = count,
                     .src = src,
                     .threshold = threshold > 0 ? threshold : (double)INFINITY,
                     .fills = fills->count > 0,
                     .range = ZMPI_RANGE_EMPTY};
    for (int k = 0; k < ZMPI_FILLS; k++)
        s.fill[k] = k >= fills->count  ? (double)NAN
                    : type == ZMPI_F32 ? (double)(float)fills->value[k]
                                       : fills->value[k];
    if (type == ZMPI_F32 || type == ZMPI_F64) {
        size_t portions = (count + PORTION / s.width - 1) / (PORTION / s.width);
        pthread_mutex_init(&s.lock, NULL);
        zmpi_pool_run(portions < (size_t)threads ? (int)portions : threads, scan_portions, &s);
        pthread_mutex_destroy(&s.lock);
    }
    *range = s.range;
}
