/*
 * vector_none_t.h - template: what instruction sets that have enough registers do not do
 * (avx2_words64.h does), nor those that make floats of integers (vector_near_t.h). After
 * layout_t.h.
 */

/* Are the words of a block to be stored one vector after another, as they are made? */
enum { VECTOR_BY_VECTOR = 0 };

/* How integers become floats. */
#define QUANTIZED_FAST QUANTIZED

VECTOR void integers_shift(const struct shape *s, struct parts *p,
                           const struct zmpi_chunk_work *work)
{
    (void)s, (void)p, (void)work;
}

VECTOR void words_unshift(const struct shape *s, const struct parts *p, U *word)
{
    unshift_words(s->count, p->shift, word);
}
