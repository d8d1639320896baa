/* interp_rans_avx512.c - symbols of encoder 3 (format.md 1.5), one for each lane at a time. */
#ifdef __x86_64__
#include <immintrin.h> /* the tests have their own to emulate AVX-512 */

#include "interp/interp_work.h"

#define TARGET        __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,popcnt")))
#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { LANES = 16, PRECISION = ZMPI_INTERP_PRECISION };

/* What decoding moves on: 16 lanes or 4, and the words that they take next. */
struct lanes {
    __m512i all;
    __m256i four; /* as u64 */
    const unsigned char *words;
};

/* The tables of 16 contexts, and the frequency of code 0 in each. */
struct chosen {
    __m256i group, zero;
};

/* Takes the slots that the lanes' states point to. The states of the lanes in `row` advance. Codes
 * that all are 0 need no look into the tables, and the next row does not wait for them. */
TARGET static ALWAYS_INLINE __m512i take_slots(const struct unrans *in, struct chosen by,
                                               __mmask16 row, struct lanes *l)
{
    const __m512i within = _mm512_set1_epi32((1 << PRECISION) - 1);
    const __m512i above = _mm512_set1_epi32(-0x10000); /* any such bit: a state of at least 2^16 */
    const __m512i zero = _mm512_cvtepu16_epi32(by.zero), x = l->all;
    const __m512i in_slots = _mm512_and_si512(x, within), y = _mm512_srli_epi32(x, PRECISION);
    __m512i slot = _mm512_setzero_si512(), next;
    if ((_mm512_cmpgt_epu32_mask(zero, in_slots) & row) == row) {
        next = _mm512_add_epi32(_mm512_mullo_epi32(zero, y), in_slots);
    } else {
        const __m512i table = _mm512_slli_epi32(_mm512_cvtepu16_epi32(by.group), PRECISION);
        slot = _mm512_i32gather_epi32(_mm512_or_epi32(table, in_slots), in->slots, 4);
        const __m512i more = _mm512_add_epi32(y, _mm512_and_si512(slot, within));
        next = _mm512_add_epi32(_mm512_mullo_epi32(_mm512_srli_epi32(slot, 20), y), more);
    }
    const __mmask16 low = _mm512_mask_testn_epi32_mask(row, next, above);
    const __m512i words = _mm512_maskz_expand_epi32(
        low, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)l->words)));
    l->all = _mm512_mask_mov_epi32(x, row, next);
    l->all = _mm512_mask_or_epi32(l->all, low, _mm512_slli_epi32(next, 16), words);
    l->words += 2 * __builtin_popcount(low);
    return slot;
}

/* The same with 4 lanes, for as many elements as `row` has. Codes are taken four at a time as long
 * as all are 0 and take no word. */
TARGET static ALWAYS_INLINE __m512i take_slots_of_4(const struct unrans *in, struct chosen by,
                                                    __mmask16 row, struct lanes *l)
{
    enum { WITHIN = (1 << PRECISION) - 1 };
    const __m256i within = _mm256_set1_epi64x(WITHIN), one = _mm256_set1_epi64x(1);
    const unsigned n = (unsigned)__builtin_popcount(row);
    uint16_t group[LANES], zero[LANES];
    uint32_t slot[LANES];
    uint64_t x[4];
    unsigned i = 0;
    _mm256_storeu_si256((void *)zero, by.zero);
    for (; i < n; i += 4) {
        const __m256i f = _mm256_cvtepu16_epi64(_mm_loadl_epi64((const void *)(zero + i)));
        const __m256i m = _mm256_and_si256(l->four, within);
        const __m256i next =
            _mm256_add_epi64(_mm256_mul_epu32(f, _mm256_srli_epi64(l->four, PRECISION)), m);
        const __m256i other = _mm256_or_si256(_mm256_sub_epi64(_mm256_sub_epi64(f, one), m),
                                              _mm256_sub_epi64(next, _mm256_set1_epi64x(0x10000)));
        if (_mm256_movemask_pd(_mm256_castsi256_pd(other)))
            break;
        l->four = next;
    }
    if (i >= n)
        return _mm512_setzero_si512();
    _mm512_storeu_si512(slot, _mm512_setzero_si512());
    _mm256_storeu_si256((void *)group, by.group);
    _mm256_storeu_si256((void *)x, l->four);
    for (; i < n; i++) {
        uint64_t *state = &x[i % 4];
        const uint32_t s = in->slots[((uint32_t)group[i] << PRECISION) + (*state & WITHIN)];
        const uint32_t next = ((s >> 20) + 1) * (uint32_t)(*state >> PRECISION) + (s & WITHIN);
        const uint32_t with = next << 16 | zmpi_load16(l->words);
        const bool low = next < 0x10000;
        slot[i] = s;
        *state = low ? with : next;
        l->words += 2 * low;
    }
    l->four = _mm256_loadu_si256((const void *)x);
    return _mm512_loadu_si512(slot);
}

/* Writes the values of the codes in slots, and returns these codes. */
TARGET static ALWAYS_INLINE __m512i put_values(const struct row_run *r, size_t at, __m512i slot)
{
    const __m512i code = _mm512_srai_epi32(_mm512_slli_epi32(slot, 12), 24);
    const __m512i from =
        r->predicted ? _mm512_loadu_si512(r->predicted + at) : _mm512_setzero_si512();
    _mm512_storeu_si512(
        r->value + at, _mm512_add_epi32(from, _mm512_sllv_epi32(code, _mm512_set1_epi32(r->bits))));
    return code;
}

/* Writes values and sizes of codes with raw bits. */
TARGET static __attribute__((noinline)) void put_escapes(struct unrans *in, const struct row_run *r,
                                                         size_t at, uint32_t escaped)
{
    for (; escaped; escaped &= escaped - 1) {
        const size_t i = at + (unsigned)__builtin_ctz(escaped);
        const int32_t code = zmpi_interp_take_escape(in, r->size[i]);
        const uint32_t from = r->predicted ? (uint32_t)r->predicted[i] : 0;
        r->value[i] = (int32_t)(from + ((uint32_t)code << r->bits));
        r->size[i] = size_of(code);
    }
}

TARGET static inline __m512i load_sizes(const unsigned char *size)
{
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)size));
}

TARGET static inline __m512i join(__m512i low, __m512i high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(low)),
                              _mm512_cvtepi32_epi16(high), 1);
}

enum { SIZES = 32 }; /* elements that are decoded at a time */

/* What stays in registers for a run of rows. */
struct fixed {
    __m512i class;       /* of each size */
    __m512i left, right; /* the neighbours' places, in a row of at most 32 */
    __m512i group;       /* of tables, for each context */
    __m512i zero;        /* the frequency of code 0, for each context */
    __m512i low, high;   /* a sum above each makes the context 8 higher */
};

TARGET static ALWAYS_INLINE struct fixed
fixed_of(const uint32_t table[2 * LANES], const uint16_t zero[2 * LANES], const struct row_run *r)
{
    static const uint16_t classes[SIZES] = {0, 1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6,
                                            6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    static const uint16_t places[SIZES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                           11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const __m512i place = _mm512_loadu_si512(places), one = _mm512_set1_epi16(1);
    const __m512i last = _mm512_set1_epi16((short)(r->n <= SIZES ? r->n - 1 : SIZES - 1));
    return (struct fixed){
        .class = _mm512_loadu_si512(classes),
        .left = _mm512_subs_epu16(place, one),
        .right = _mm512_min_epu16(_mm512_add_epi16(place, one), last),
        .group = join(_mm512_srli_epi32(_mm512_loadu_si512(table), PRECISION),
                      _mm512_srli_epi32(_mm512_loadu_si512(table + LANES), PRECISION)),
        .zero = _mm512_loadu_si512(zero),
        .low = _mm512_set1_epi16((short)r->low),
        .high = _mm512_set1_epi16((short)r->high),
    };
}

/* The classes of 32 elements. `above`: the sizes of the row above, which `kept` has if it is not
 * NULL; `before`: those of the plane before, or NULL. */
TARGET static ALWAYS_INLINE __m512i classes_of(const struct row_run *r, const struct fixed *f,
                                               const unsigned char *above,
                                               const unsigned char *before, const __m512i *kept)
{
    const __m512i last = _mm512_set1_epi16(SIZES - 1);
    const __m512i a = kept ? *kept : load_sizes(above);
    const __m512i b = before ? load_sizes(before) : a;
    const __m512i w = kept ? _mm512_permutexvar_epi16(f->left, *kept) : load_sizes(above - 1);
    const __m512i e = kept ? _mm512_permutexvar_epi16(f->right, *kept) : load_sizes(above + 1);
    __m512i c =
        _mm512_add_epi16(_mm512_slli_epi16(_mm512_add_epi16(a, b), 1), _mm512_add_epi16(w, e));
    c = _mm512_srl_epi16(c, _mm_cvtsi32_si128((int)r->shift));
    return _mm512_permutexvar_epi16(_mm512_min_epu16(c, last), f->class);
}

/* The contexts of 32 elements from `at` on, apart from anchors; arguments as for classes_of. */
TARGET static ALWAYS_INLINE __m512i contexts_of(const struct row_run *r, const struct fixed *f,
                                                const unsigned char *above,
                                                const unsigned char *before, const __m512i *kept,
                                                size_t at)
{
    const __m512i eight = _mm512_set1_epi16(8);
    __m512i c = _mm512_setzero_si512();
    if (above)
        c = classes_of(r, f, above, before, kept);
    if (r->sums) {
        const __m512i sum = _mm512_loadu_si512(r->sums + at);
        c = _mm512_mask_add_epi16(c, _mm512_cmpgt_epu16_mask(sum, f->low), c, eight);
        c = _mm512_mask_add_epi16(c, _mm512_cmpgt_epu16_mask(sum, f->high), c, eight);
    }
    return c;
}

TARGET static ALWAYS_INLINE __m512i take(const struct unrans *in, struct chosen by, __mmask16 row,
                                         struct lanes *l, bool four)
{
    return four ? take_slots_of_4(in, by, row, l) : take_slots(in, by, row, l);
}

/* Goes through rows, 32 elements at a time. For rows of 32 elements or fewer, the sizes of the row
 * above stay in `size`: a load so soon after the store would wait for it. Rows are read and sizes
 * are written in whole vectors. */
struct walk {
    const struct row_run *r;
    struct fixed fixed;
    __m512i size;                        /* of the last elements */
    const unsigned char *above, *before; /* sizes of the rows beside, or NULL */
    size_t begin;                        /* the row's first cell */
    bool kept;
};

TARGET static ALWAYS_INLINE void walk_to(struct walk *v, int k)
{
    const struct row_run *r = v->r;
    v->begin = (size_t)k * r->row;
    v->above = k ? r->size + v->begin - r->row : r->above;
    v->before = k && r->before ? r->size + v->begin - r->plane : r->before;
    v->kept = k && r->n <= SIZES;
}

/* The contexts of the row's elements from i on, and which of 32 there are. */
TARGET static ALWAYS_INLINE __m512i walk_contexts(const struct walk *v, size_t i, __mmask32 *row)
{
    const size_t here = (size_t)v->r->n - i;
    *row = here < SIZES ? ((__mmask32)1 << here) - 1 : ~(__mmask32)0;
    if (v->r->anchors)
        return _mm512_set1_epi16(ZMPI_INTERP_CONTEXTS - 1);
    return contexts_of(v->r, &v->fixed, v->above ? v->above + i : NULL,
                       v->before ? v->before + i : NULL, v->kept ? &v->size : NULL, v->begin + i);
}

/* Repeats the sizes at the ends of a row. */
TARGET static ALWAYS_INLINE void walk_end(const struct walk *v)
{
    unsigned char *sizes = v->r->size + v->begin;
    sizes[-1] = sizes[0];
    sizes[v->r->n] = sizes[v->r->n - 1];
}

/* The rows of a chunk, as far as they are decoded. */
struct taking {
    struct unrans *in;
    struct lanes lanes;
    struct walk walk;
};

/* Up to 32 elements: their places, tables and codes. */
struct some {
    __mmask32 row;
    size_t at;
    struct chosen by[2];
    __m512i code[2];
};

TARGET static ALWAYS_INLINE void choose_tables(const struct taking *t, size_t i, bool four,
                                               struct some *s)
{
    const __m512i contexts = walk_contexts(&t->walk, i, &s->row);
    const __m512i group = _mm512_permutexvar_epi16(contexts, t->walk.fixed.group);
    __m512i zero = _mm512_permutexvar_epi16(contexts, t->walk.fixed.zero);
    if (four)
        zero = _mm512_mask_mov_epi16(_mm512_set1_epi16(1 << PRECISION), s->row, zero);
    s->at = t->walk.begin + i;
    s->by[0] = (struct chosen){_mm512_castsi512_si256(group), _mm512_castsi512_si256(zero)};
    s->by[1] =
        (struct chosen){_mm512_extracti64x4_epi64(group, 1), _mm512_extracti64x4_epi64(zero, 1)};
    s->code[0] = s->code[1] = _mm512_setzero_si512();
}

TARGET static ALWAYS_INLINE void take_codes(struct taking *t, struct some *s, int half, bool four)
{
    const __mmask16 row = (__mmask16)(s->row >> (half * LANES));
    if (half == 0 || row)
        s->code[half] = put_values(t->walk.r, s->at + (size_t)half * LANES,
                                   take(t->in, s->by[half], row, &t->lanes, four));
}

TARGET static ALWAYS_INLINE void put_sizes(struct taking *t, const struct some *s)
{
    const struct row_run *r = t->walk.r;
    const __m512i size = _mm512_abs_epi16(join(s->code[0], s->code[1])); /* RAW or more: raw bits */
    const __mmask32 escaped =
        s->row & _mm512_cmpgt_epu16_mask(size, _mm512_set1_epi16(ZMPI_INTERP_DIRECT));
    t->walk.size = size;
    _mm256_storeu_si256((void *)(r->size + s->at), _mm512_cvtepi16_epi8(size));
    if (escaped) {
        put_escapes(t->in, r, s->at, escaped);
        t->walk.size = load_sizes(r->size + s->at);
    }
}

/* Decodes up to 32 elements from i on of a row in one chunk, or in each of two: while a lookup for
 * one waits, the other goes on. */
TARGET static ALWAYS_INLINE void take_elements(struct taking *t, int chunks, size_t i, bool four)
{
    struct some s[2];
#pragma GCC unroll 2
    for (int k = 0; k < chunks; k++)
        choose_tables(&t[k], i, four, &s[k]);
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++)
#pragma GCC unroll 2
        for (int k = 0; k < chunks; k++)
            take_codes(&t[k], &s[k], half, four);
#pragma GCC unroll 2
    for (int k = 0; k < chunks; k++)
        put_sizes(&t[k], &s[k]);
}

TARGET static ALWAYS_INLINE void begin_rows(struct taking *t, struct unrans *in,
                                            const struct row_run *r)
{
    t->in = in;
    t->lanes.all = _mm512_loadu_si512(in->state);
    t->lanes.four = _mm256_cvtepu32_epi64(_mm512_castsi512_si128(t->lanes.all));
    t->lanes.words = in->at;
    t->walk = (struct walk){
        .r = r, .fixed = fixed_of(in->table, in->zero, r), .size = _mm512_setzero_si512()};
}

TARGET static ALWAYS_INLINE void begin_row(struct taking *t, int k)
{
    walk_to(&t->walk, k);
    fetch_ahead(&t->walk.r->ahead, k);
}

/* Decodes the rest of a row. */
TARGET static ALWAYS_INLINE void end_row(struct taking *t, size_t i, bool four)
{
    for (; i < (size_t)t->walk.r->n; i += SIZES)
        take_elements(t, 1, i, four);
    walk_end(&t->walk);
    zmpi_interp_taken(t->in, t->lanes.words);
    t->lanes.words = t->in->at;
}

/* Decodes the rows from number k on. */
TARGET static ALWAYS_INLINE void end_rows(struct taking *t, int k, bool four)
{
    for (; k < t->walk.r->rows; k++) {
        begin_row(t, k);
        end_row(t, 0, four);
    }
    if (four)
        _mm_storeu_si128((void *)t->in->state,
                         _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
                             t->lanes.four, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0))));
    else
        _mm512_storeu_si512(t->in->state, t->lanes.all);
}

TARGET static ALWAYS_INLINE void take_rows(struct unrans *in, const struct row_run *r, bool four)
{
    struct taking t;
    begin_rows(&t, in, r);
    end_rows(&t, 0, four);
}

TARGET static void take_rows_of_two(struct zmpi_interp_work *w, struct zmpi_interp_work *with)
{
    const struct row_run *r = &w->run, *s = &with->run;
    const size_t n = (size_t)(r->n < s->n ? r->n : s->n);
    const int rows = r->rows < s->rows ? r->rows : s->rows;
    struct taking t[2];
    begin_rows(&t[0], &w->in, r);
    begin_rows(&t[1], &with->in, s);
    for (int k = 0; k < rows; k++) {
        size_t i = 0;
        begin_row(&t[0], k);
        begin_row(&t[1], k);
        for (; i < n; i += SIZES)
            take_elements(t, 2, i, false);
        end_row(&t[0], i, false);
        end_row(&t[1], i, false);
    }
    end_rows(&t[0], rows, false);
    end_rows(&t[1], rows, false);
}

static bool has_all_lanes(const struct zmpi_interp_work *w)
{
    return w->in.mask == LANES - 1 && w->run.n > 4 && w->run.rows;
}

TARGET void zmpi_avx512_interp_rows(struct zmpi_interp_work *w)
{
    if (w->with && has_all_lanes(w) && has_all_lanes(w->with)) {
        take_rows_of_two(w, w->with);
        return;
    }
    for (; w; w = w->with)
        if (has_all_lanes(w))
            take_rows(&w->in, &w->run, false);
        else if (w->run.rows)
            take_rows(&w->in, &w->run, true);
}

/* ---- encoder ---- */

/* Makes codes of the 16 values in `row` from `at` on; the values become the decoded ones. */
TARGET static ALWAYS_INLINE __m512i quantize(const struct row_run *r, size_t at, __mmask16 row)
{
    const __m128i bits = _mm_cvtsi32_si128(r->bits);
    const __m512i half = _mm512_set1_epi32((1 << r->bits) >> 1);
    const __m512i from = _mm512_loadu_si512(r->predicted + at);
    const __m512i value = _mm512_loadu_si512(r->value + at);
    const __mmask16 is = _mm512_cmpneq_epi32_mask(value, _mm512_set1_epi32(NO_VALUE));
    const __m512i d = _mm512_mask_sub_epi32(_mm512_setzero_si512(), is, value, from);
    const __m512i code = _mm512_sra_epi32(_mm512_add_epi32(d, half), bits);
    _mm512_mask_storeu_epi32(r->value + at, row,
                             _mm512_add_epi32(from, _mm512_sll_epi32(code, bits)));
    return code;
}

/* Puts the symbols with raw bits; `pairs`: the first of the 32. */
TARGET static __attribute__((noinline)) void
keep_escapes(struct codes *c, size_t pairs, __m512i code0, __m512i code1, uint32_t escaped)
{
    int32_t code[SIZES];
    _mm512_storeu_si512(code, code0);
    _mm512_storeu_si512(code + LANES, code1);
    for (; escaped; escaped &= escaped - 1) {
        const unsigned k = (unsigned)__builtin_ctz(escaped);
        zmpi_interp_escape(c, code[k], pairs + k);
    }
}

/* Encodes the elements of `row` from `at` on, which have these contexts; returns their sizes. */
TARGET static ALWAYS_INLINE __m512i put_elements(struct codes *c, const struct row_run *r,
                                                 __m512i contexts, __mmask32 row, size_t at)
{
    const __m512i large = _mm512_set1_epi16(ZMPI_INTERP_DIRECT + 1), one = _mm512_set1_epi16(1);
    const __m512i most = _mm512_set1_epi32(ZMPI_INTERP_MAGNITUDE);
    const __mmask16 row0 = (__mmask16)row, row1 = (__mmask16)(row >> LANES);
    const __m512i code0 = quantize(r, at, row0);
    const __m512i code1 = row1 ? quantize(r, at + LANES, row1) : _mm512_setzero_si512();
    const __m512i size = join(_mm512_min_epu32(_mm512_abs_epi32(code0), most),
                              _mm512_min_epu32(_mm512_abs_epi32(code1), most));
    const __mmask32 above = _mm512_cmpgt_epi32_mask(code0, _mm512_setzero_si512()) |
                            (__mmask32)_mm512_cmpgt_epi32_mask(code1, _mm512_setzero_si512())
                                << LANES;
    const __mmask32 escaped =
        row & _mm512_cmpgt_epu16_mask(size, _mm512_set1_epi16(ZMPI_INTERP_DIRECT));
    const __m512i least = _mm512_min_epu16(size, large), twice = _mm512_add_epi16(least, least);
    const __m512i symbol = _mm512_min_epu16(_mm512_mask_sub_epi16(twice, above, twice, one),
                                            _mm512_set1_epi16(ZMPI_INTERP_ESCAPES));
    _mm512_storeu_si512(c->pair + c->count,
                        _mm512_or_si512(_mm512_slli_epi16(contexts, 7), symbol));
    _mm256_storeu_si256((void *)(r->size + at), _mm512_cvtepi16_epi8(size));
    if (escaped)
        keep_escapes(c, c->count, code0, code1, escaped);
    return size;
}

TARGET void zmpi_avx512_interp_put_rows(struct codes *c, const struct row_run *r)
{
    static const uint32_t none[2 * LANES];
    struct walk v = {
        .r = r, .fixed = fixed_of(none, (const void *)none, r), .size = _mm512_setzero_si512()};
    const size_t n = (size_t)r->n;
    for (int k = 0; k < r->rows; k++) {
        const size_t pairs = c->count;
        walk_to(&v, k);
        for (size_t i = 0; i < n; i += SIZES) {
            __mmask32 row;
            const __m512i contexts = walk_contexts(&v, i, &row);
            c->count = pairs + i;
            v.size = put_elements(c, r, contexts, row, v.begin + i);
        }
        walk_end(&v);
        c->count = pairs + n;
        c->rows[c->row_count++] = (uint32_t)n;
    }
}

/* The quotients of the states in even places, by the inverses m in `slot`, times `rest`. */
TARGET static ALWAYS_INLINE __m512i times_quotient(__m512i x, __m512i m, __m512i shift,
                                                   __m512i rest)
{
    return _mm512_mul_epu32(_mm512_srlv_epi64(_mm512_mul_epu32(x, m), shift), rest);
}

/* Puts symbols with these slots into the states x of the lanes in `row`; the words before `end`. */
TARGET static ALWAYS_INLINE unsigned char *put_slots(__m512i m, __m512i slot, __mmask16 row,
                                                     __m512i *x, unsigned char *end)
{
    const __m512i within = _mm512_set1_epi32((1 << PRECISION) - 1);
    const __m512i rest = _mm512_and_si512(slot, within);
    const __m512i first = _mm512_and_si512(_mm512_srli_epi32(slot, PRECISION), within);
    const __m512i shift =
        _mm512_add_epi32(_mm512_and_si512(_mm512_srli_epi32(slot, 24), _mm512_set1_epi32(15)),
                         _mm512_set1_epi32(31));
    const __m512i most = _mm512_xor_si512(_mm512_slli_epi32(slot, 32 - PRECISION),
                                          _mm512_set1_epi32(-1)); /* 2^20 f - 1 */
    const __mmask16 gives = _mm512_mask_cmpgt_epu32_mask(row, *x, most);
    const unsigned count = (unsigned)__builtin_popcount(gives);
    end -= 2 * count;
    _mm256_mask_storeu_epi16(end, (__mmask16)((1u << count) - 1),
                             _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(gives, *x)));
    const __m512i y = _mm512_mask_srli_epi32(*x, gives, *x, 16);
    const __m512i z = _mm512_add_epi32(y, _mm512_srli_epi32(slot, 28));
    const __m512i even =
        times_quotient(z, m, _mm512_and_si512(shift, _mm512_set1_epi64(0xffffffff)), rest);
    const __m512i odd = times_quotient(_mm512_srli_epi64(z, 32), _mm512_srli_epi64(m, 32),
                                       _mm512_srli_epi64(shift, 32), _mm512_srli_epi64(rest, 32));
    const __m512i more = _mm512_mask_mov_epi32(even, 0xaaaa, _mm512_slli_epi64(odd, 32));
    *x = _mm512_mask_add_epi32(*x, row, _mm512_add_epi32(y, first), more);
    return end;
}

/* As interp_rans.c does it, 16 symbols at a time, each into the state of its own lane. */
TARGET unsigned char *zmpi_avx512_interp_put(const struct codes *c, const uint64_t *slots,
                                             unsigned char *end, uint32_t state[16])
{
    const uint16_t *pair = c->pair + c->count;
    __m512i x = _mm512_loadu_si512(state);
    for (size_t r = c->row_count; r-- > 0;) {
        const size_t n = c->rows[r];
        pair -= n;
        for (size_t j = (n - 1) / LANES * LANES + LANES; j > 0; j -= LANES) {
            const size_t i = j - LANES;
            const __mmask16 row = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
            const __m512i place = _mm512_maskz_mov_epi32(
                row, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(pair + i))));
            end =
                put_slots(_mm512_i32gather_epi32(place, (const void *)slots, 8),
                          _mm512_i32gather_epi32(place, (const char *)slots + 4, 8), row, &x, end);
        }
    }
    _mm512_storeu_si512(state, x);
    return end;
}
#endif
