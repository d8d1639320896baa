/*
 * kernels_kit.h - a chunk by one set of kernels and by the scalar reference: the bytes, the decoded
 * words, and the verdict on damage must be the same, between guard pages. It also has data that
 * kernels treat in different ways.
 */
#ifndef ZMPI_KERNELS_KIT_H
#define ZMPI_KERNELS_KIT_H

#include <float.h>
#include <stdio.h>

#include "kernels/kernels.h"
#include "kit.h"

static struct zmpi_chunk_work *work;

static inline void make_work(void)
{
    work = zmpi_chunk_work_new();
    cr_assert_not_null(work);
}

static inline void free_work(void)
{
    free(work);
}

/* The first set of vector kernels, from number *i on, that this machine can run; NULL: there is
 * none. *i becomes the next number. */
static inline const struct zmpi_kernels *next_kernels(size_t *i)
{
    const struct zmpi_kernels *k;
    while ((k = zmpi_kernels_at(*i)) != NULL) {
        ++*i;
        if (k != &zmpi_kernels_scalar && k->available())
            return k;
    }
    return NULL;
}

/* A tile inside a larger array of words. */
struct tile {
    enum zmpi_type type;
    size_t width;
    size_t extent[3];
    size_t bytes; /* from the first to behind the last word */
    size_t row, plane;
};

static inline struct tile tile_make(enum zmpi_type type, const size_t extent[3], size_t gap_x,
                                    size_t gap_y)
{
    struct tile t = {.type = type, .width = type == ZMPI_F64 || type == ZMPI_I64 ? 8 : 4};
    memcpy(t.extent, extent, sizeof t.extent);
    t.row = (extent[2] + gap_x) * t.width;
    t.plane = (extent[1] + gap_y) * t.row;
    t.bytes = (extent[0] - 1) * t.plane + (extent[1] - 1) * t.row + extent[2] * t.width;
    return t;
}

static inline struct zmpi_rows tile_rows(const struct tile *t, unsigned char *at)
{
    return (struct zmpi_rows){.at = at, .row = t->row, .plane = t->plane};
}

/* As if the array lay in the second-level cache, in another, or in memory. */
enum place { CACHED, NEAR, FAR, PLACES };

static inline size_t encode_from(const struct zmpi_kernels *k, const struct tile *t,
                                 const struct zmpi_chunk_rule *rule, unsigned char *src,
                                 enum place place, unsigned char *dst)
{
    struct zmpi_rows rows = tile_rows(t, src);
    rows.stream = place == FAR;
    work->cached = place == CACHED;
    zmpi_chunk_encode_fn *f = t->width == 4 ? k->encode32 : k->encode64;
    return f(rule, t->extent, &rows, dst, work);
}

static inline size_t encode(const struct zmpi_kernels *k, const struct tile *t,
                            const struct zmpi_chunk_rule *rule, unsigned char *src,
                            unsigned char *dst)
{
    return encode_from(k, t, rule, src, NEAR, dst);
}

/* Makes usable only what an encoder of such tiles needs. */
static inline void begin_anew(const struct tile *t)
{
    const size_t row = t->extent[2] * t->width, plane = t->extent[0] > 1 ? t->extent[1] * row : 0;
    memset(work, 0xA5, sizeof *work);
    zmpi_chunk_work_init(work, plane, plane ? row + plane : 0);
}

static inline enum zmpi_status decode(const struct zmpi_kernels *k, const struct tile *t,
                                      const unsigned char *src, size_t size, unsigned char *dst,
                                      bool past)
{
    struct zmpi_rows rows = tile_rows(t, dst);
    rows.stream = past;
    zmpi_chunk_decode_fn *f = t->width == 4 ? k->decode32 : k->decode64;
    return f(kit_is_float(t->type), t->extent, src, size, &rows, work);
}

static inline void compare_costs(const struct zmpi_kernels *k, const struct tile *t,
                                 const struct zmpi_chunk_rule *rule, unsigned char *src,
                                 const char *what)
{
    const struct zmpi_kernels *s = &zmpi_kernels_scalar;
    const struct zmpi_rows rows = tile_rows(t, src);
    for (uint32_t position = 0; position < 65536; position += 9362) {
        size_t expected[8] = {0}, got[8] = {0};
        bool e =
            (t->width == 4 ? s->cost32 : s->cost64)(rule, t->extent, &rows, position, expected);
        bool g = (t->width == 4 ? k->cost32 : k->cost64)(rule, t->extent, &rows, position, got);
        cr_assert(e == g && memcmp(expected, got, sizeof got) == 0, "%s: costs", what);
    }
}

/* Encodes by both, decodes by both. All buffers end where memory ends, or begin where it begins. */
static inline void compare(const struct zmpi_kernels *k, const struct tile *t,
                           const struct zmpi_chunk_rule *rule, const unsigned char *data,
                           const char *what)
{
    static unsigned char expected[ZMPI_CHUNK_CAPACITY], got[ZMPI_CHUNK_CAPACITY];
    static int turn;
    bool at_end = ++turn % 4 != 0;
    struct kit_guarded src = kit_guard(t->bytes, at_end);
    memcpy(src.data, data, t->bytes);
    size_t size = encode(&zmpi_kernels_scalar, t, rule, src.data, expected);
    compare_costs(k, t, rule, src.data, what);
    const bool anew = turn % 3 == 0;
    if (anew)
        begin_anew(t);
    cr_assert_eq(encode_from(k, t, rule, src.data, (enum place)(turn / 4 % PLACES), got), size,
                 "%s: size", what);
    cr_assert(memcmp(expected, got, size) == 0, "%s: bytes", what);
    if (anew) /* for any tile */
        zmpi_chunk_work_init(work, ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);

    const size_t odd = turn % 5 == 0 ? (size_t)turn / 5 % 8 : 0; /* an array that begins anywhere */
    struct kit_guarded coded = kit_guard(size, at_end), out = kit_guard(t->bytes + odd, at_end);
    unsigned char *reference = malloc(t->bytes);
    memcpy(coded.data, expected, size);
    memset(reference, 0xA5, t->bytes);
    memset(out.data, 0xA5, t->bytes + odd); /* what lies between the rows must stay */
    cr_assert_eq(decode(&zmpi_kernels_scalar, t, coded.data, size, reference, false), ZMPI_OK);
    cr_assert_eq(decode(k, t, coded.data, size, out.data, turn % 3 == 0), ZMPI_OK, "%s", what);
    cr_assert(memcmp(reference, out.data, t->bytes) == 0, "%s: decoded", what);
    for (size_t i = 0; i < odd; i++)
        cr_assert_eq(out.data[t->bytes + i], 0xA5, "%s: written behind the array", what);

    /* Bits flipped: the same verdict, and the same words if it is good. */
    for (int i = 0; i < 4; i++) {
        struct kit_random r = {(uint64_t)turn * 4 + (uint64_t)i};
        size_t bit = kit_below(&r, i < 2 && size > 300 ? 300 * 8 : size * 8);
        coded.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        enum zmpi_status s = decode(&zmpi_kernels_scalar, t, coded.data, size, reference, false);
        cr_assert_eq(decode(k, t, coded.data, size, out.data, turn % 3 == 0), s, "%s: verdict",
                     what);
        cr_assert(s || memcmp(reference, out.data, t->bytes) == 0, "%s: flipped", what);
        coded.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    free(reference);
    kit_unguard(&src);
    kit_unguard(&coded);
    kit_unguard(&out);
}

/* ---- data ---- */

/* Kinds of data besides those of kit.h. */
enum data {
    LENGTHS = KIT_DATA_KINDS, /* bits of which residuals have a given length             */
    SHEETS,                   /* waves in y and z, which want other axes                 */
    LIMITS,                   /* a ramp among which are special_value()s                 */
    MOSTLY_FILL,              /* fill values, some others between them                   */
    EDGE,                     /* up to a level's limit, with one word that may be beyond */
    JUMPS,                    /* small residuals among some of 15 to 17 bits             */
    COASTS,                   /* land of one value between waters                        */
    ALIKE,                    /* one special_value(), but for a word that may be another */
    DATA_KINDS
};

static inline double special_value(struct kit_random *r, const struct zmpi_chunk_rule *rule)
{
    const struct zmpi_step *l = &rule->level[kit_below(r, rule->levels ? (size_t)rule->levels : 1)];
    double sign = kit_below(r, 2) ? 1 : -1, m = (double)kit_below(r, 1000);
    switch (kit_below(r, 8)) {
    case 0:
        return sign * l->limit;
    case 1:
        return sign * nextafterf((float)l->limit, INFINITY);
    case 2:
        return sign * nextafter(l->limit, 0);
    case 3:
        return sign * (m + 0.5) * l->step;
    case 4:
        return sign * nextafter((m + 0.5) * l->step, 0);
    case 5:
        return kit_special(r, ZMPI_F64);
    default:
        return m * l->step;
    }
}

static inline int64_t jump(struct kit_random *r)
{
    static const int64_t large[] = {16383, 16384, 32767, 32768, 32769, 40000, 65535, 65536, 65537};
    int64_t d = kit_below(r, 60) ? (int64_t)kit_below(r, 5) : large[kit_below(r, KIT_COUNT(large))];
    return kit_below(r, 2) ? d : -d;
}

/* What the words of one chunk have in common. */
struct pattern {
    const struct tile *tile;
    const struct zmpi_chunk_rule *rule;
    unsigned length; /* of residuals */
    double coarse;   /* a step */
    double limit;
    double all;           /* ALIKE */
    size_t special, slow; /* EDGE, ALIKE: the word that may be another; words that are alike */
    int64_t sum;          /* JUMPS */
    size_t shore;         /* COASTS: where it changes next between land and water */
    double land;          /* its value; 0: water */
};

static inline struct pattern pattern_make(struct kit_random *r, const struct tile *t,
                                          const struct zmpi_chunk_rule *rule)
{
    struct pattern p = {.tile = t, .rule = rule};
    p.length = (unsigned)kit_below(r, 8 * t->width + 1);
    p.coarse = rule->levels ? rule->level[0].step : 1;
    p.limit = rule->level[rule->levels ? kit_below(r, (size_t)rule->levels) : 0].limit;
    p.special = kit_below(r, 2 * (t->bytes / t->width));
    p.slow = 1 + kit_below(r, 9);
    p.all = special_value(r, rule);
    return p;
}

static inline double coast(struct kit_random *r, struct pattern *p, size_t i)
{
    if (i == p->shore) {
        p->shore += 1 + kit_below(r, 90);
        p->land = p->land != 0 ? 0 : kit_below(r, 2) ? 1e20 : kit_special(r, ZMPI_F64);
    }
    return p->land != 0 ? p->land : 3 + kit_unit(r);
}

static inline double next_value(struct kit_random *r, struct pattern *p, int kind, size_t i)
{
    const size_t at = i * p->tile->width, y = at / p->tile->row, z = at / p->tile->plane;
    switch (kind) {
    case SHEETS:
        return p->coarse * (double)((y * y * 77 + z * z * 1234 + kit_below(r, 2)) % 4001);
    case LIMITS:
        return kit_below(r, 20) ? p->coarse * (double)(i % 100) : special_value(r, p->rule);
    case MOSTLY_FILL:
        return i / 40 % 7 ? 1e20 : 3;
    case EDGE:
        return i == p->special ? special_value(r, p->rule)
                               : p->limit * ((double)(i / p->slow % 1001) - 500) / 500;
    case ALIKE:
        return i == p->special ? special_value(r, p->rule) : p->all;
    case JUMPS:
        return p->coarse * (double)(p->sum += jump(r));
    default:
        return coast(r, p, i);
    }
}

/* A word that is not a value: LENGTHS, or JUMPS of integers. */
static inline uint64_t next_bits(struct kit_random *r, struct pattern *p, int kind)
{
    if (kind == JUMPS)
        return (uint64_t)(p->sum += jump(r));
    const uint64_t u = p->length ? kit_next(r) >> (64 - p->length) : 0;
    return kit_below(r, 2) ? 0 - u : u;
}

static inline void fill(struct kit_random *r, const struct tile *t, int kind,
                        const struct zmpi_chunk_rule *rule, unsigned char *data)
{
    const size_t n = t->bytes / t->width;
    if (kind < KIT_DATA_KINDS) {
        struct zmpi_array a = kit_array(t->type, 1, 1, n);
        kit_fill(r, &a, (enum kit_data)kind, data);
        return;
    }
    const bool bits = kind == LENGTHS || (kind == JUMPS && !rule->levels);
    struct pattern p = pattern_make(r, t, rule);
    for (size_t i = 0; i < n; i++) {
        if (!bits && kit_is_float(t->type)) {
            kit_put(t->type, data, i, next_value(r, &p, kind, i));
            continue;
        }
        const uint64_t word = bits ? next_bits(r, &p, kind)
                                   : (uint64_t)(int64_t)fmin(next_value(r, &p, kind, i), 1e9);
        memcpy(data + i * t->width, &word, t->width);
    }
}

#endif
