/*
 * vector_fill_forward_t.h - template: integers in the places of exceptions, for instruction sets
 * that have nothing better for them.
 */

/* Gives each lane whose bit is not set the value of the last lane below it whose bit is set, or the
 * last lane of `before`. */
VECTOR V v_fill_forward(V v, uint32_t fine, V before)
{
    U lane[LANES];
    if (fine == UINT32_MAX >> (32 - LANES))
        return v;
    before = v_last(before);
    if (!fine)
        return before;
    v_store(lane, before);
    U last = lane[0];
    v_store(lane, v);
    for (unsigned i = 0; i < LANES; i++) /* no branch: such masks are hard to predict */
        lane[i] = last = fine >> i & 1 ? lane[i] : last;
    return v_load(lane);
}
