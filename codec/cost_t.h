/*
 * cost_t.h - template: what one block of a tile would cost under each set of axes, for the choice
 * that is made once per array (format.md 4.6). After layout_t.h.
 *
 * Parameter: COST, the name of the function.
 */

/* Words of block elements -1..n-1 (element -1 is what the difference along x needs), and of their
 * neighbours along y (1), z (2) and both (3). */
struct patch {
    size_t n;
    U word[4][ZMPI_BLOCK + 1];
    U inside[4][ZMPI_BLOCK + 1]; /* all ones where there is such a neighbour */
    bool start[ZMPI_BLOCK + 1];  /* a row begins here */
};

static inline void patch_load(struct patch *p, const struct shape *s, const struct zmpi_rows *rows,
                              size_t block)
{
    memset(p, 0, sizeof *p);
    size_t first = block * ZMPI_BLOCK, j = first == 0;
    p->n = block_words(s, block);
    while (j <= p->n) { /* as much as lies in one row */
        size_t i = first + j - 1, x = i % s->row, y = i / s->row % s->y, z = i / s->plane;
        size_t left = p->n + 1 - j, n = s->row - x < left ? s->row - x : left;
        const unsigned char *at = rows->at + z * rows->plane + y * rows->row + x * WIDTH;
        for (unsigned k = 0; k < 4; k++) {
            if ((k & 1 && y == 0) || (k & 2 && z == 0))
                continue;
            memcpy(&p->word[k][j], at - (k & 1 ? rows->row : 0) - (k & 2 ? rows->plane : 0),
                   n * WIDTH);
            memset(&p->inside[k][j], 0xFF, n * WIDTH);
        }
        p->start[j] = x == 0;
        j += n;
    }
}

/* Words to integers less base; false if one cannot be quantized at all. `origin`: the tile's first
 * word. */
static inline bool patch_integers(struct patch *p, const struct zmpi_chunk_rule *rule, U origin)
{
    /* The steps of all levels are nearly the same, and the last takes the largest values. */
    const struct quantizer z = quantizer_of(rule, rule->levels ? rule->levels - 1 : 0);
    const U base = rule->levels     ? quantize(&z, value_of(origin))
                   : rule->is_float ? ordered_view(origin)
                                    : origin;
    bool all = true;
    for (unsigned k = 0; k < 4; k++)
        for (size_t j = 0; j <= p->n; j++) {
            U u = p->word[k][j];
            if (rule->levels) {
                all &= FABS(value_of(u)) <= z.limit; /* false for NaN */
                u = quantize(&z, value_of(u));
            } else if (rule->is_float) {
                u = ordered_view(u);
            }
            p->word[k][j] = (u - base) & p->inside[k][j];
        }
    return all;
}

bool COST(const struct zmpi_chunk_rule *rule, const size_t extent[3], const struct zmpi_rows *src,
          uint32_t position, size_t cost[8])
{
    const struct shape s = shape_of(extent);
    struct patch p;
    U d[4][ZMPI_BLOCK + 1];
    patch_load(&p, &s, src, position * s.blocks >> 16);
    if (!patch_integers(&p, rule, load_word(src->at)))
        return false;
    for (size_t j = 0; j <= p.n; j++) {
        d[0][j] = p.word[0][j];
        d[1][j] = p.word[0][j] - p.word[1][j];
        d[2][j] = p.word[0][j] - p.word[2][j];
        d[3][j] = d[2][j] - p.word[1][j] + p.word[3][j];
    }
    for (unsigned yz = 0; yz < 4; yz++) {
        U plain = 0, along_x = 0;
        for (size_t j = 1; j <= p.n; j++) {
            /* x alone runs on across the ends of rows. */
            plain |= magnitude(d[yz][j]);
            along_x |= magnitude(d[yz][j] - (yz && p.start[j] ? 0 : d[yz][j - 1]));
        }
        cost[2 * yz] += plain ? bit_length(plain) + 1 : 0;
        cost[2 * yz + 1] += along_x ? bit_length(along_x) + 1 : 0;
    }
    return true;
}
