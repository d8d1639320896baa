/*
 * vector_ops_t.h - template: operations that all instruction sets share, in the compiler's own
 * vectors. Included once for words and once for integers of 16 bits. Parameters: X the vectors,
 * X_(op) the names, W the type of the integers.
 */
typedef W X_(lanes) __attribute__((vector_size(sizeof(X)), may_alias));
typedef W X_(anywhere) __attribute__((vector_size(sizeof(X)), may_alias, aligned(1)));

VECTOR X X_(load)(const W *p)
{
    return (X) * (const X_(anywhere) *)(const void *)p;
}

VECTOR void X_(store)(W *p, X v)
{
    *(X_(anywhere) *)(void *)p = (X_(anywhere))v;
}

VECTOR X X_(set1)(U u)
{
    return (X)((X_(lanes)){0} + (W)u);
}

VECTOR X X_(add)(X a, X b)
{
    return (X)((X_(lanes))a + (X_(lanes))b);
}

VECTOR X X_(sub)(X a, X b)
{
    return (X)((X_(lanes))a - (X_(lanes))b);
}

VECTOR X X_ (and)(X a, X b)
{
    return (X)((X_(lanes))a & (X_(lanes))b);
}

VECTOR X X_(or)(X a, X b)
{
    return (X)((X_(lanes))a | (X_(lanes))b);
}

#undef X
#undef X_
#undef W
