/*
 * vector_near_t.h - template: may quantized integers be made at the distance of MAGIC's bits? For
 * instruction sets that have no other way from integers of 8 bytes to floats but longer ones. After
 * vector_rows_t.h.
 */

#if WIDTH == 8
/* Are all integers, of which each is the base and at most as many residuals as there are words,
 * below 2^51? Then the sum of MAGIC and one of them has the bits of MAGIC and it. */
KERNEL bool integers_near(const struct job *j)
{
    enum { LONGEST = 38 };
    const U far = (U)1 << (LONGEST + 12);
    _Static_assert(ZMPI_CHUNK_INPUT_BYTES / WIDTH <= 1 << 12, "so many residuals are below `far`");
    _Static_assert(2 * ((int64_t)1 << (LONGEST + 12)) < (int64_t)MAGIC / 2, "so is the base");
    unsigned longest = 0;
    if (j->work->given)
        return false;
    for (size_t b = 0; b < j->s->blocks; b++) {
        const unsigned length = block_length(j->p->lengths[b]);
        longest = longest < length ? length : longest;
    }
    return longest <= LONGEST && j->p->base + far < 2 * far;
}
#else
VECTOR bool integers_near(const struct job *j)
{
    (void)j;
    return false;
}
#endif
