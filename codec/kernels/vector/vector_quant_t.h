/*
 * vector_quant_t.h - template: the float words of a tile to integers, as quant_t.h does. After
 * vector_packer_t.h or its like.
 */

static const uint32_t ALL_LANES = UINT32_MAX >> (32 - LANES);

/* Rows of equally many words, at least LANES, so that the last vector of a row may begin before the
 * row. */
struct lines {
    const unsigned char *at;
    size_t words, y, z, row, plane;
};

/* Rows without gaps between them count as one row. */
static inline struct lines lines_of(const struct shape *s, const struct zmpi_rows *rows)
{
    struct lines l = {rows->at, s->x, s->y, s->z, rows->row, rows->plane};
    if (l.y == 1 || l.row == l.words * WIDTH) {
        l.words *= l.y;
        l.y = 1;
    }
    if (l.y == 1 && (l.z == 1 || l.plane == l.words * WIDTH)) {
        l.words *= l.z;
        l.z = 1;
    }
    return l;
}

/* magic: the float of integer 0. MAGIC, or MAGIC plus an even number. */
struct vector_quantizer {
    F step, inverse, limit, magic;
};

VECTOR struct vector_quantizer vector_quantizer_of(const struct quantizer *z)
{
    return (struct vector_quantizer){
        .step = f_set1(z->step),
        .inverse = f_set1(z->inverse),
        .limit = f_set1(z->limit),
        .magic = f_set1((T)MAGIC),
    };
}

/* Puts the integers of a window at MAGIC to MAGIC + 2 window - 1. These differ from MAGIC in the
 * lowest bits only. */
VECTOR struct vector_quantizer vector_quantizer_within(const struct quantizer *z, T magic)
{
    struct vector_quantizer v = vector_quantizer_of(z);
    v.magic = f_set1(magic);
    return v;
}

/* The nearest integers, as floats around MAGIC, and as integers around its bits. */
VECTOR F nearest(const struct vector_quantizer *z, F x)
{
    return f_add(f_mul(x, z->inverse), z->magic);
}

VECTOR F decoded(const struct vector_quantizer *z, F v)
{
    return f_mul(f_sub(v, z->magic), z->step);
}

/* Are all products of a step and an integer within the limit finite? */
static inline bool steps_finite(const struct quantizer *z)
{
    return z->limit + z->step < (T)INFINITY;
}

/* Which line comes next; begins with all 0. */
struct line {
    size_t y, z;
};

/* The next line; NULL: there is none. */
static inline const unsigned char *next_line(const struct lines *l, struct line *next)
{
    if (next->z == l->z)
        return NULL;
    const unsigned char *line = l->at + next->z * l->plane + next->y * l->row;
    if (++next->y == l->y) {
        next->y = 0;
        next->z++;
    }
    return line;
}

/* Word i of a line; the last n words of the line if fewer are left. */
static inline const unsigned char *words_at(const struct lines *l, const unsigned char *line,
                                            size_t i, size_t n)
{
    return line + (i + n <= l->words ? i : l->words - n) * WIDTH;
}

/* Are all words this one? Most often the first words decide. Lines have at least a block. */
KERNEL bool lines_equal(const struct lines *l, U word)
{
    const V all = v_set1(word);
    struct line next = {0};
    for (const unsigned char *line; (line = next_line(l, &next)) != NULL;)
        for (size_t i = 0; i < l->words; i += ZMPI_BLOCK) {
            const U *x = (const U *)(const void *)words_at(l, line, i, ZMPI_BLOCK);
            V unlike = v_set1(0);
            for (unsigned k = 0; k < VECTORS; k++)
                unlike = v_or(unlike, v_sub(v_load(x + k * LANES), all));
            if (m_any(v_differ(unlike, v_set1(0))))
                return false;
        }
    return true;
}

/* ---- the level ---- */

/* The words of block b: in place, or copied to `copy` if the block crosses the end of a row. */
VECTOR const unsigned char *sample_words(const struct shape *s, const struct lines *l, size_t b,
                                         unsigned char copy[ZMPI_BLOCK * WIDTH])
{
    size_t first = b * ZMPI_BLOCK, left = block_words(s, b), done = 0;
    const uint32_t words = (uint32_t)l->words, rows = (uint32_t)l->y; /* faster to divide by */
    size_t line = (uint32_t)first / words, x = first - line * words;
    size_t z = (uint32_t)line / rows, y = line - z * rows;
    const unsigned char *at = l->at + z * l->plane + y * l->row + x * WIDTH;
    if (l->words - x >= ZMPI_BLOCK)
        return at;
    for (;;) {
        size_t n = l->words - x < left ? l->words - x : left;
        memcpy(copy + done * WIDTH, at, n * WIDTH);
        done += n;
        left -= n;
        if (!left)
            return copy;
        x = 0;
        if (++y == l->y) {
            y = 0;
            z++;
        }
        at = l->at + z * l->plane + y * l->row;
    }
}

/* Do all sampled words fit the first level? This is the common case; NaN does not fit. */
KERNEL bool samples_fit(const struct shape *s, const struct lines *l, T first_limit)
{
    unsigned char copy[ZMPI_BLOCK * WIDTH];
    const F limit = f_set1(first_limit);
    M beyond = m_none();
    if (s->count % ZMPI_BLOCK)
        return false;
    for (size_t i = 0; i < sample_count(s); i++) {
        const unsigned char *x = sample_words(s, l, sample_block(s, i, sample_count(s)), copy);
        for (unsigned k = 0; k < VECTORS; k++)
            beyond = m_or(beyond, f_not_le(f_abs(f_load(x + k * LANES * WIDTH)), limit));
    }
    return !m_any(beyond);
}

/* Are more than `enough` of the sampled words beyond `low` but not beyond `high`? False may also
 * mean that this is unknown. */
KERNEL bool more_between(const struct shape *s, const struct lines *l, T low, T high, size_t enough)
{
    unsigned char copy[ZMPI_BLOCK * WIDTH];
    const F from = f_set1(low), most = f_set1(high);
    size_t between = 0;
    for (size_t i = 0; i < sample_count(s) && between <= enough; i++) {
        const size_t b = sample_block(s, i, sample_count(s));
        if (block_words(s, b) < ZMPI_BLOCK)
            continue;
        const unsigned char *x = sample_words(s, l, b, copy);
        for (unsigned k = 0; k < VECTORS; k++) {
            F a = f_abs(f_load(x + k * LANES * WIDTH));
            const uint32_t beyond = m_bits(f_not_le(a, from)) & ~m_bits(f_not_le(a, most));
            between += (size_t)__builtin_popcount(beyond);
        }
    }
    return between > enough;
}

/* How many words of so many sampled blocks fit each level. */
KERNEL void count_fits(const struct shape *s, const struct lines *l,
                       const struct zmpi_chunk_rule *rule, size_t samples,
                       size_t fit[ZMPI_STEP_LEVELS])
{
    unsigned char copy[ZMPI_BLOCK * WIDTH];
    memset(fit, 0, ZMPI_STEP_LEVELS * sizeof *fit);
    for (size_t i = 0; i < samples; i++) {
        size_t b = sample_block(s, i, samples), n = block_words(s, b);
        const unsigned char *x = sample_words(s, l, b, copy);
        memset(copy + n * WIDTH, 0xFF, (ZMPI_BLOCK - n) * WIDTH); /* NaN does not fit */
        for (int level = 0; level < rule->levels; level++) {
            const F limit = f_set1((T)rule->level[level].limit);
            uint32_t beyond = 0;
            for (unsigned k = 0; k < VECTORS; k++) {
                F a = f_abs(f_load(x + k * LANES * WIDTH));
                beyond |= m_bits(f_not_le(a, limit)) << (k * LANES);
            }
            fit[level] += ZMPI_BLOCK - (size_t)__builtin_popcount(beyond);
        }
    }
}

/* level_reproduces of quant_t.h, for so many words of a vector. */
KERNEL bool lines_reproduced(const struct lines *l, const struct quantizer *quantizer, size_t step)
{
    const struct vector_quantizer z = vector_quantizer_of(quantizer);
    struct line next = {0};
    for (const unsigned char *line; (line = next_line(l, &next)) != NULL;)
        for (size_t i = 0; i < l->words; i += step) {
            const F x = f_load(words_at(l, line, i, LANES));
            const V same = f_bits(decoded(&z, nearest(&z, x)));
            M fine = m_or(v_equal(same, f_bits(x)), f_not_le(f_abs(x), z.limit));
            fine = m_or(fine, v_equal(f_bits(x), v_set1(SIGN_BIT)));
            if (m_bits(fine) != (1U << LANES) - 1)
                return false;
        }
    return true;
}

/* The smallest step that reproduces all words, if it is smaller than that of `level`. word: one of
 * them, which most often shows that the step does not. It may be 0, which every step reproduces;
 * then words here and there are tried before all. */
TARGET static int finest_level(const struct lines *l, const struct zmpi_chunk_rule *rule, int level,
                               T word)
{
    for (int finer = rule->levels - 1; finer > level; finer--) {
        struct quantizer z = quantizer_of(rule, finer);
        if (is_reproduced(&z, word) && lines_reproduced(l, &z, 16 * LANES) &&
            lines_reproduced(l, &z, LANES))
            return finer;
    }
    return level;
}

/* choose_level of quant_t.h. */
TARGET static int pick_level(const struct shape *s, const struct lines *l,
                             const struct zmpi_chunk_rule *rule)
{
    int level = 0, last = rule->levels - 1;
    /* A word that fits the first level fits the last one, unless the limits are out of order. */
    if (rule->level[0].limit > rule->level[last].limit ||
        !samples_fit(s, l, (T)rule->level[0].limit)) {
        size_t fit[ZMPI_STEP_LEVELS];
        count_fits(s, l, rule, sample_count(s), fit);
        if (fit[last] == 0)
            count_fits(s, l, rule, s->blocks, fit);
        if (fit[last] == 0)
            return -1;
        while (!level_suffices(level, fit[level], fit[last]))
            level++;
    }
    return finest_level(l, rule, level, value_of(load_word(l->at)));
}
