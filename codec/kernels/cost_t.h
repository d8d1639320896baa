/*
 * cost_t.h - template: what one block of a tile costs with each set of axes. The choice of axes,
 * made once per array, uses it (format.md 4.6). After layout_t.h. Masks select the elements that
 * count.
 *
 * Parameters: NAME(cost), the name of the function; TARGET, what it is compiled for.
 */

enum { SAMPLED = ZMPI_BLOCK + 1 };

/* Words of block elements -1 to 31, and of their neighbours along y (1), z (2) and both (3). The
 * difference along x needs element -1. Masks: all ones, or zero. */
struct sampled {
    unsigned kinds; /* of them: 1 in a row, whose elements have no others */
    U word[4][SAMPLED];
    U inside[4][SAMPLED]; /* does this neighbour exist? */
    U left[2][SAMPLED];   /* does the neighbour along x exist? [0]: if x is the only axis, rows
                             continue in the next row */
    U exists[SAMPLED];    /* is the element in the tile? */
};

static inline U element_at(const unsigned char *src)
{
    U u;
    memcpy(&u, src, sizeof u);
    return u;
}

TARGET static inline void sampled_row(struct sampled *p, const struct zmpi_rows *rows, size_t z,
                                      size_t y, size_t x, size_t j, size_t n)
{
    const unsigned char *at = rows->at + z * rows->plane + y * rows->row + x * WIDTH;
    for (unsigned k = 0; k < p->kinds; k++) {
        if ((k & 1 && y == 0) || (k & 2 && z == 0))
            continue;
        const unsigned char *from = at - (k & 1 ? rows->row : 0) - (k & 2 ? rows->plane : 0);
        for (size_t i = 0; i < n; i++) {
            p->word[k][j + i] = element_at(from + i * WIDTH);
            p->inside[k][j + i] = (U)-1;
        }
    }
    p->left[1][j] = x ? (U)-1 : 0;
}

TARGET static inline void sampled_load(struct sampled *p, const struct shape *s,
                                       const struct zmpi_rows *rows, size_t block)
{
    const size_t first = block * ZMPI_BLOCK, n = block_words(s, block);
    for (size_t j = 0; j < SAMPLED; j++) {
        for (unsigned k = 0; k < p->kinds; k++)
            p->word[k][j] = p->inside[k][j] = 0;
        p->left[0][j] = p->left[1][j] = (U)-1;
        p->exists[j] = j > 0 && j <= n ? (U)-1 : 0;
    }
    for (size_t j = first == 0; j <= n;) { /* as many elements as lie in one row */
        size_t i = first + j - 1, x = i % s->row, y = i / s->row % s->y, z = i / s->plane;
        size_t left = n + 1 - j, m = s->row - x < left ? s->row - x : left;
        sampled_row(p, rows, z, y, x, j, m);
        j += m;
    }
}

/* Converts words to integers less the base; false if a word cannot be quantized at all. `origin`:
 * the tile's first word. */
TARGET static inline bool sampled_integers(struct sampled *p, const struct zmpi_chunk_rule *rule,
                                           U origin)
{
    if (rule->levels == 0) {
        const U flip = rule->is_float ? SIGN_BIT - 1 : 0;
        origin = rule->shift ? shift_down(origin, rule->shift) : origin;
        const U base = origin & SIGN_BIT ? origin ^ flip : origin;
        U fails = 0;
        for (unsigned k = 0; k < p->kinds && rule->shift; k++)
            for (size_t j = 0; j < SAMPLED; j++) {
                fails |= shift_fails(p->word[k][j], (U)rule->magnitudes - NORMAL);
                p->word[k][j] = shift_down(p->word[k][j], rule->shift);
            }
        for (unsigned k = 0; k < p->kinds; k++)
            for (size_t j = 0; j < SAMPLED; j++) {
                U u = p->word[k][j];
                p->word[k][j] = ((u & SIGN_BIT ? u ^ flip : u) - base) & p->inside[k][j];
            }
        return !fails;
    }
    /* All levels have nearly the same steps, and the last takes the largest values. */
    const struct quantizer z = quantizer_of(rule, rule->levels - 1);
    const U base = quantize(&z, value_of(origin));
    U wide = 0;
    for (unsigned k = 0; k < p->kinds; k++)
        for (size_t j = 0; j < SAMPLED; j++) {
            T x = value_of(p->word[k][j]);
            wide |= FABS(x) <= z.limit ? 0 : (U)-1; /* all ones for NaN */
            p->word[k][j] = (quantize(&z, x) - base) & p->inside[k][j];
        }
    return !wide;
}

/* Cost of residuals, from differences d along y and z, without and with the x axis. */
TARGET static inline void sampled_cost(const struct sampled *p, const U d[SAMPLED],
                                       const U left[SAMPLED], size_t cost[2])
{
    U plain = 0, along_x = 0;
    for (size_t j = 1; j < SAMPLED; j++) {
        plain |= magnitude(d[j] & p->exists[j]);
        along_x |= magnitude((d[j] - (d[j - 1] & left[j])) & p->exists[j]);
    }
    cost[0] += plain ? bit_length(plain) + 1 : 0;
    cost[1] += along_x ? bit_length(along_x) + 1 : 0;
}

TARGET bool NAME(cost)(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                       const struct zmpi_rows *src, uint32_t position, size_t cost[8])
{
    const struct shape s = shape_of(extent);
    struct sampled p;
    U d[4][SAMPLED];
    p.kinds = extent[0] * extent[1] > 1 ? 4 : 1;
    sampled_load(&p, &s, src, position * s.blocks >> 16);
    if (!sampled_integers(&p, rule, element_at(src->at)))
        return false;
    if (p.kinds == 1) { /* all sets with x, and all without it, are alike */
        size_t row[2] = {0, 0};
        sampled_cost(&p, p.word[0], p.left[0], row);
        for (unsigned axes = 0; axes < 8; axes++)
            cost[axes] += row[axes % 2];
        return true;
    }
    for (size_t j = 0; j < SAMPLED; j++) {
        d[0][j] = p.word[0][j];
        d[1][j] = p.word[0][j] - p.word[1][j];
        d[2][j] = p.word[0][j] - p.word[2][j];
        d[3][j] = d[2][j] - p.word[1][j] + p.word[3][j];
    }
    for (unsigned yz = 0; yz < 4; yz++)
        sampled_cost(&p, d[yz], p.left[yz != 0], cost + 2 * yz);
    return true;
}
