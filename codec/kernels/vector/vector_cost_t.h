/*
 * vector_cost_t.h - template: what one block of a tile would cost under each set of axes, as
 * cost_t.h tells. After vector_quant_t.h. Parameter: COST, the name of the function.
 *
 * A block inside a row is read where it lies, and so is one across rows that touch: of a plane, if
 * all of it has a row above, or of planes that touch, if as much lies before it. Others that cross
 * the end of a row or of the tile are copied first. Where there is no neighbour lies a word that
 * stands for the base.
 */

enum crossing { NO_ROW, ROWS_IN_PLACE, PLANES_IN_PLACE, COPIED };

struct place {
    size_t z, y, x;
};

static inline struct place place_of(const struct shape *s, size_t i)
{
    const uint32_t row = (uint32_t)s->row, y = (uint32_t)s->y; /* faster to divide by */
    const uint32_t line = (uint32_t)i / row, z = line / y;
    return (struct place){z, line - z * y, (uint32_t)i - line * row};
}

/* Of the element before. */
static inline struct place place_before(const struct shape *s, struct place p)
{
    if (p.x)
        return (struct place){p.z, p.y, p.x - 1};
    if (p.y)
        return (struct place){p.z, p.y - 1, s->row - 1};
    return (struct place){p.z - 1, s->y - 1, s->row - 1};
}

/* The word at a place (0), or its neighbour along y (1), z (2) or both (3); NULL: there is none. */
static inline const unsigned char *neighbour(const struct zmpi_rows *rows, const struct place *p,
                                             unsigned k)
{
    if ((k & 1 && p->y == 0) || (k & 2 && p->z == 0))
        return NULL;
    return rows->at + (p->z - (k >> 1)) * rows->plane + (p->y - (k & 1)) * rows->row + p->x * WIDTH;
}

/* Indexed like the neighbours. */
struct sample {
    const struct zmpi_chunk_rule *rule;
    U outside;                    /* the word where there is none */
    U fails;                      /* not 0: there is one that the shift may not be applied to */
    U before[4];                  /* the words before the block's */
    const unsigned char *word[4]; /* the block's */
    bool row_begins;              /* with the block */
    /* All ones, or zero. left: is there a word in the row? above: a row in the plane? */
    U exists[ZMPI_BLOCK], left[ZMPI_BLOCK], above[ZMPI_BLOCK];
    U instead[ZMPI_BLOCK]; /* of words above that are none */
    bool planes;           /* are these two to be looked at? */
    U copy[4][ZMPI_BLOCK + LANES];
};

/* One word, shifted. */
static inline U sample_word(struct sample *m, const unsigned char *at)
{
    if (!at)
        return m->outside;
    U u = load_word(at);
    if (!m->rule->shift)
        return u;
    m->fails |= shift_fails(u, (U)m->rule->magnitudes - NORMAL);
    return shift_down(u, m->rule->shift);
}

/* n words to the copy, from element j on; others behind them are spoilt. */
VECTOR void copy_words(struct sample *m, unsigned k, size_t j, const unsigned char *at, size_t n)
{
    U *to = m->copy[k] + j;
    if (at && m->rule->shift) {
        for (size_t i = 0; i < n; i++)
            to[i] = sample_word(m, at + i * WIDTH);
        return;
    }
    for (size_t i = 0; i < n; i += LANES) {
        size_t left = n - i;
        v_store(to + i,
                at ? v_load_few(at + i * WIDTH, left < LANES ? left : LANES) : v_set1(m->outside));
    }
}

/* Which words of a block from p on, behind its first one, are the first ones of a row? */
static inline void mark_left(struct sample *m, const struct shape *s, struct place p)
{
    memset(m->left, 0xFF, sizeof m->left);
    for (size_t j = s->row - p.x; j < ZMPI_BLOCK; j += s->row)
        m->left[j] = 0;
}

static inline void mark_row(struct sample *m, size_t from, size_t end)
{
    for (size_t j = from; j < end && j < ZMPI_BLOCK; j++) {
        m->above[j] = 0;
        m->instead[j] = m->outside;
    }
}

/* And which have no row above, in any of the planes? */
static inline void mark_above(struct sample *m, const struct shape *s, struct place p)
{
    memset(m->above, 0xFF, sizeof m->above);
    memset(m->instead, 0, sizeof m->instead);
    const size_t at = p.y * s->row + p.x;
    mark_row(m, 0, s->row > at ? s->row - at : 0);
    for (size_t j = s->plane - at; j < ZMPI_BLOCK; j += s->plane)
        mark_row(m, j, j + s->row);
}

/* How a whole block is read that begins with word `first`, at p, and crosses the end of a row. */
static inline enum crossing crossing_of(const struct shape *s, const struct zmpi_rows *rows,
                                        struct place p, size_t first)
{
    if (rows->row != s->row * WIDTH)
        return COPIED;
    if (p.y > 0 && p.y * s->row + p.x + ZMPI_BLOCK <= s->plane)
        return ROWS_IN_PLACE;
    const bool touch = rows->plane == s->plane * WIDTH;
    return touch && first >= s->plane + s->row ? PLANES_IN_PLACE : COPIED;
}

/* The block's n words, and their neighbours, row by row. */
VECTOR void sample_copy(struct sample *m, const struct shape *s, const struct zmpi_rows *rows,
                        struct place p, size_t n)
{
    mark_left(m, s, p);
    for (size_t j = 0; j < ZMPI_BLOCK; j++)
        m->exists[j] = j < n ? (U)-1 : 0;
    for (size_t j = 0; j < n; p.x = 0) { /* as much as lies in one row */
        const size_t left = s->row - p.x, part = left < n - j ? left : n - j;
        for (unsigned k = 0; k < 4; k++)
            copy_words(m, k, j, neighbour(rows, &p, k), part);
        j += part;
        if (++p.y == s->y) {
            p.y = 0;
            p.z++;
        }
    }
    for (unsigned k = 0; k < 4; k++) {
        m->word[k] = (const unsigned char *)m->copy[k];
        for (size_t j = n; j < ZMPI_BLOCK; j++)
            m->copy[k][j] = m->outside;
    }
}

struct measure {
    struct vector_quantizer z;
    V flip, base;
    int near; /* residuals below 2^near tell that all words are within the limit; or negative */
};

/* Words to integers. */
VECTOR V measured(const struct measure *t, V word, enum source source)
{
    return source == WORDS ? v_ordered(word, t->flip) : f_bits(nearest(&t->z, f_of_bits(word)));
}

/* From element i on. */
VECTOR V sample_load(const struct sample *m, unsigned k, size_t i, bool planes)
{
    const V word = v_load((const U *)(const void *)(m->word[k] + i * WIDTH));
    return planes && k & 1 ? v_or(v_and(word, v_load(m->above + i)), v_load(m->instead + i)) : word;
}

/* Is a word beyond the limit? */
KERNEL bool sample_wide(const struct sample *m, T most)
{
    const F limit = f_set1(most);
    M wide = m_none();
    for (unsigned k = 0; k < 4; k++) {
        wide = m_or(wide, f_not_le(f_abs(f_set1(value_of(m->before[k]))), limit));
        for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES)
            wide = m_or(wide, f_not_le(f_abs(f_of_bits(sample_load(m, k, i, m->planes))), limit));
    }
    return m_any(wide);
}

/*
 * If all residuals are less than N, along any axes, the integers of a block are less than N from
 * the base, those of their neighbours along y or z 2 N, along both 4 N; the words before the block
 * differ from its first ones as the residuals tell, so theirs are less than 2 N, 4 N and 12 N
 * away. All of this holds modulo 2^32 (2^64), and so for the bits that rounding has left, whatever
 * they were made from: with N = window / 16, and a base of at most window / 4, they are those of
 * integers within the window. For words before a row, residuals tell of the first one alone.
 */
static inline int near_of(const struct quantizer *z, U base)
{
    const U window = (U)z->window, lowest = bits_of((T)MAGIC + z->window) - window / 4;
    return window >= 16 && base - lowest <= window / 2 ? __builtin_ctzll(window) - 4 : -1;
}

VECTOR bool all_near(const struct measure *t, struct longest residuals, V before)
{
    if (t->near < 0 || !longest_below(residuals, (unsigned)t->near))
        return false;
    const V far = v_and(before, v_set1(0 - ((U)1 << t->near)));
    return m_bits(v_equal(far, v_set1(0))) == (uint32_t)((1ULL << LANES) - 1);
}

/* From integers, along nothing (0), y (1), z (2) and both (3). */
VECTOR void differences(const V q[4], V base, V d[4])
{
    d[0] = v_sub(q[0], base);
    d[1] = v_sub(q[0], q[1]);
    d[2] = v_sub(q[0], q[2]);
    d[3] = v_sub(d[2], v_sub(q[1], q[3]));
}

/* `source` and `crossing` are constants to the compiler. */
VECTOR bool add_costs(const struct sample *m, struct measure t, enum source source,
                      enum crossing crossing, const struct quantizer *z, size_t cost[8])
{
    V q[4], d[4], last[4], all[8], before = v_set1(0);
    for (unsigned k = 0; k < 4; k++)
        q[k] = measured(&t, v_set1(m->before[k]), source);
    differences(q, t.base, last);
    if (m->row_begins) { /* with x alone it runs on */
        before = v_or(v_abs(last[1]), v_or(v_abs(last[2]), v_abs(last[3])));
        last[1] = last[2] = last[3] = v_set1(0);
    }
    for (unsigned axes = 0; axes < 8; axes++)
        all[axes] = v_set1(0);
    for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES) {
        for (unsigned k = 0; k < 4; k++)
            q[k] = measured(&t, sample_load(m, k, i, crossing == PLANES_IN_PLACE), source);
        differences(q, t.base, d);
        for (unsigned yz = 0; yz < 4; yz++) {
            V left = v_shift_in(last[yz], d[yz]);
            last[yz] = d[yz];
            if (crossing != NO_ROW && yz)
                left = v_and(left, v_load(m->left + i));
            V along_x = v_sub(d[yz], left);
            if (crossing == COPIED) {
                d[yz] = v_and(d[yz], v_load(m->exists + i));
                along_x = v_and(along_x, v_load(m->exists + i));
            }
            all[2 * yz] = v_or(all[2 * yz], v_abs(d[yz]));
            all[2 * yz + 1] = v_or(all[2 * yz + 1], v_abs(along_x));
        }
    }
    const struct longest longest = v_longest(all);
    if (source == QUANTIZE && !all_near(&t, longest, before) && sample_wide(m, z->limit))
        return false;
    longest_cost(longest, cost);
    return true;
}

/* The integers of map 0 with the last level, or those of map 1. */
static inline U measure_origin(const struct zmpi_chunk_rule *rule, U word)
{
    if (rule->levels == 0)
        return rule->shift ? shift_down(word, rule->shift) : word;
    return FABS(value_of(word)) <= (T)rule->level[rule->levels - 1].limit ? word : 0;
}

/* `crossing` is a constant to the compiler. */
VECTOR bool sample_cost(const struct sample *m, enum crossing crossing, size_t cost[8])
{
    const struct zmpi_chunk_rule *rule = m->rule;
    struct measure t;
    if (rule->levels == 0) {
        t.flip = v_set1(rule->is_float ? SIGN_BIT - 1 : 0);
        t.base = v_ordered(v_set1(m->outside), t.flip);
        return add_costs(m, t, WORDS, crossing, NULL, cost);
    }
    const struct quantizer z = quantizer_of(rule, rule->levels - 1);
    t.z = vector_quantizer_within(&z, (T)MAGIC + z.window);
    const U base = bits_of(value_of(m->outside) * z.inverse + ((T)MAGIC + z.window));
    t.base = v_set1(base);
    t.near = near_of(&z, base);
    return add_costs(m, t, QUANTIZE, crossing, &z, cost);
}

#define CASE(how, crossing)                                                                        \
    KERNEL bool sample_cost_##how(const struct sample *m, size_t cost[8])                          \
    {                                                                                              \
        return sample_cost(m, crossing, cost);                                                     \
    }
CASE(inside, NO_ROW)
CASE(rows, ROWS_IN_PLACE)
CASE(planes, PLANES_IN_PLACE)
CASE(copied, COPIED)
#undef CASE

TARGET bool COST(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                 const struct zmpi_rows *src, uint32_t position, size_t cost[8])
{
    const struct shape s = shape_of(extent);
    const size_t b = position * s.blocks >> 16, first = b * ZMPI_BLOCK, n = block_words(&s, b);
    const struct place p = place_of(&s, first), before = place_before(&s, p);
    struct sample m;
    m.rule = rule;
    m.fails = 0;
    m.outside = measure_origin(rule, load_word(src->at));
    m.row_begins = p.x == 0;
    for (unsigned k = 0; k < 4; k++)
        m.before[k] = sample_word(&m, first ? neighbour(src, &before, k) : NULL);
    enum crossing crossing = NO_ROW;
    if (rule->shift || n < ZMPI_BLOCK)
        crossing = COPIED;
    else if (s.row - p.x < ZMPI_BLOCK)
        crossing = crossing_of(&s, src, p, first);
    m.planes = crossing == PLANES_IN_PLACE;
    if (crossing == COPIED) {
        sample_copy(&m, &s, src, p, n);
        return !m.fails && sample_cost_copied(&m, cost);
    }
    for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES)
        v_store(m.copy[0] + i, v_set1(m.outside));
    for (unsigned k = 0; k < 4; k++) {
        const unsigned char *at =
            m.planes ? src->at + (first - (k >> 1) * s.plane - (k & 1) * s.row) * WIDTH
                     : neighbour(src, &p, k);
        m.word[k] = at ? at : (const unsigned char *)m.copy[0];
    }
    if (crossing == NO_ROW)
        return sample_cost_inside(&m, cost);
    mark_left(&m, &s, p);
    if (crossing == ROWS_IN_PLACE)
        return sample_cost_rows(&m, cost);
    mark_above(&m, &s, p);
    return sample_cost_planes(&m, cost);
}
