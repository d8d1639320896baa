/*
 * vector_halved_try_t.h - template: which chunks are tried in 16 bits. After vector_halved_t.h.
 *
 * SHORT_HALVED: for each set of axes what decodes rows shorter than a vector, or NULL.
 */

/* So many chunks behind one whose integers are too far from the base are not tried. */
enum { FAR_FOR = 4 };

/* The whole chunk, if it can be; false: it is to be done otherwise. */
TARGET static bool decode_halved(const struct job *j)
{
    typedef bool halved_fn(const struct job *j, unsigned width);
    static halved_fn *const long_rows[] = {halved_0, halved_1, halved_2, halved_3,
                                           halved_4, halved_5, halved_6, halved_7};
    static halved_fn *const short_rows[] = SHORT_HALVED;
    const unsigned axes = j->p->axes, width = 15 - (unsigned)__builtin_popcount(axes);
    const bool fits = axes <= ZMPI_AXIS_X || j->s->plane >= HALVES;
    halved_fn *const decode = (j->s->row < HALVES ? short_rows : long_rows)[axes];
    unsigned char *const far = &j->work->far;
    if (!fits || !decode || j->work->given || !lengths_within(j->p->lengths, j->s->blocks, 15))
        return false;
    if (*far) {
        --*far;
        return false;
    }
    if (decode(j, width))
        return true;
    *far = FAR_FOR;
    return false;
}

#define DECODE_HALVED decode_halved
