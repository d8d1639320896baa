/*
 * vector_words_ops_t.h - template: operations on words that all instruction sets have: V integers,
 * F floats. Without LANE_MASKS truth values M are integers, all ones in a lane or none.
 */
#define X        V
#define X_(name) v_##name
#define W        U
#include "kernels/vector/vector_ops_t.h"

typedef T f_anywhere __attribute__((vector_size(sizeof(F)), may_alias, aligned(1)));

/* Prefetches into the second-level cache. The address is computed as an integer: it may lie outside
 * the array, or nowhere. */
VECTOR void v_prefetch(const void *p, size_t ahead)
{
    __builtin_prefetch((const void *)((uintptr_t)p + ahead), 0, 2);
}

VECTOR V f_bits(F x)
{
    return (V)x;
}

VECTOR F f_of_bits(V v)
{
    return (F)v;
}

VECTOR F f_load(const unsigned char *p)
{
    return (F) * (const f_anywhere *)(const void *)p;
}

VECTOR F f_set1(T x)
{
    return f_of_bits(v_set1(bits_of(x)));
}

VECTOR F f_add(F a, F b)
{
    return a + b;
}

VECTOR F f_sub(F a, F b)
{
    return a - b;
}

VECTOR F f_mul(F a, F b)
{
    return a * b;
}

VECTOR F f_abs(F a)
{
    return f_of_bits(v_and(f_bits(a), v_set1(SIGN_BIT - 1)));
}

#ifndef LANE_MASKS
typedef S v_signed_lanes __attribute__((vector_size(sizeof(V)), may_alias));

VECTOR M v_equal(V a, V b)
{
    return (M)((v_lanes)a == (v_lanes)b);
}

VECTOR M v_differ(V a, V b)
{
    return (M)((v_lanes)a != (v_lanes)b);
}

/* Of the lanes of m, those in which a and b differ. */
VECTOR M m_differ(M m, V a, V b)
{
    return v_and(m, v_differ(a, b));
}

VECTOR M m_none(void)
{
    return v_set1(0);
}

VECTOR M m_or(M a, M b)
{
    return v_or(a, b);
}

/* NaN in the lanes of m. */
VECTOR F f_nan_where(M m, F x)
{
    return f_of_bits(v_or(m, f_bits(x)));
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign inverts. */
VECTOR V v_ordered(V u, V flip)
{
    const V negative = (V)((v_signed_lanes)u < 0);
    return (V)((v_lanes)u ^ (v_lanes)v_and(negative, flip));
}
#endif
