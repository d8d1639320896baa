/*
 * avx512_group_t.h - template: eight blocks of few planes at a time to words of 16 bits. After
 * vector_coded_t.h.
 *
 * Each instruction that unpacks a block waits for the one before. A processor looks at so few
 * instructions at a time (64 on Zen 4 wait in its scheduler) that it would wait for one block after
 * another. So eight blocks are interleaved.
 */

enum { GROUP = 8 };

/* Unpacks the next eight blocks. Returns false and does nothing if one has more than 15 planes, or
 * if they are the chunk's last ones. Eight more length bytes must be there. */
VECTOR bool take_group(struct coded *c, V w[GROUP])
{
    uint64_t bytes = zmpi_load64(c->lengths + c->block);
    const uint64_t marked = bytes & EIGHT_TIMES(0x80);
    bytes &= ~(marked | marked >> 1); /* block_length */
    const struct eight e = eight_of(bytes);
    const unsigned char *const src = c->src;
    if (__builtin_expect((bytes & EIGHT_TIMES(0xF0)) != 0, 0) ||
        __builtin_expect(src + eight_place(e, GROUP - 1) > c->safe, 0))
        return false;
    c->block += GROUP;
    c->src += eight_bytes(e);
    EACH(GROUP)
    {
        const unsigned char *const at = src + eight_place(e, i);
        fetch_coded(at, c->ahead);
        w[i] = load_planes(at + 4, (uint32_t)(bytes >> 8 * i));
    }
    words_of(w, GROUP);
    EACH(GROUP) w[i] = signed_words(w[i], zmpi_load32(src + eight_place(e, i)));
    return true;
}
