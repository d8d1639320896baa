/* interp_chunk.c - makes a chunk of a tile of floats, and the tile of a chunk (format.md 1.5). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "interp/flare.h"

enum {
    KIND_CONSTANT = 0, /* 1 to 4: the number of a set */
    KIND_STORED = 255,
    FLAG_FILL = 1,
    FLAG_OTHERS = 2,
    HEAD = 4,
    SLACK = 8192
};
/* All magnitudes of codes are below this, where the symbols end. */
#define CODE_MOST (1u << 24)

/* A set that needs the tile only and no classes: for chunks without codes, and for the profile
 * FLARE. */
static const struct zmpi_interp_set flat_set = {.family = ZMPI_INTERP_LORENZO};

size_t zmpi_interp_chunk_most(size_t elements, size_t width)
{
    return HEAD + elements * width + SLACK;
}

/* Allocates memory with padding behind it, for loops of whole vectors. */
static void *get(size_t bytes)
{
    return aligned_alloc(64, (bytes + 511) / 64 * 64);
}

static void *get_zeros(size_t bytes)
{
    void *p = get(bytes);
    if (p)
        memset(p, 0, (bytes + 511) / 64 * 64);
    return p;
}

/* Counts the cells and rows that tiles of these sets need. */
static void count_cells(const size_t tile[3], const struct zmpi_interp_set *set, unsigned sets,
                        size_t *cells, size_t *rows)
{
    *cells = zmpi_interp_cells(&flat_set, tile, rows);
    for (unsigned k = 0; k < sets; k++) {
        size_t r, n = zmpi_interp_cells(&set[k], tile, &r);
        *cells = n > *cells ? n : *cells;
        *rows = r > *rows ? r : *rows;
    }
}

bool zmpi_interp_work_fits(const struct zmpi_interp_work *w, const size_t tile[3],
                           const struct zmpi_interp_set *set)
{
    size_t cells, rows;
    count_cells(tile, set, 1, &cells, &rows);
    if (set->family == ZMPI_INTERP_PLANES && !w->wholes)
        return false;
    return cells <= w->cells && rows <= w->rows && tile[2] + 2 * PAD <= w->longest &&
           tile[0] * tile[1] * tile[2] <= w->most;
}

struct zmpi_interp_work *zmpi_interp_work_new(const size_t tile[3],
                                              const struct zmpi_interp_set *set, unsigned sets,
                                              bool encode)
{
    struct zmpi_interp_work *w = get(sizeof *w);
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    count_cells(tile, set, sets, &w->cells, &w->rows);
    w->most = tile[0] * tile[1] * tile[2];
    w->longest = tile[2] + 2 * PAD;
    w->values = get_zeros(w->cells * sizeof *w->values); /* zeros, since loops read pads, too */
    w->sizes = get_zeros(w->cells);
    bool planes = false;
    for (unsigned k = 0; k < sets; k++)
        planes |= set[k].family == ZMPI_INTERP_PLANES;
    w->wholes = planes ? get_zeros(w->cells * sizeof *w->wholes) : NULL;
    w->loops = zmpi_kernels()->interp;
    bool all = w->values && w->sizes && (w->wholes || !planes);
    const size_t strip = w->longest > ZMPI_INTERP_STRIP ? w->longest : ZMPI_INTERP_STRIP;
    for (int i = 0; i < 6; i++)
        all &= (w->scratch[i] = get_zeros(strip * sizeof(int32_t))) != NULL;
    all &= (w->contexts = get_zeros(strip)) != NULL;
    all &= (w->symbols = get_zeros(strip)) != NULL;
    all &= (w->sums = get_zeros(strip * sizeof *w->sums)) != NULL;
    all &= (w->exception = get(w->most)) != NULL;
    all &= (w->differs = get_zeros(w->most)) != NULL;
    for (int i = 0; i < 3; i++)
        all &= (w->clean[i] = get_zeros(w->longest * sizeof(double))) != NULL;
    if (!sets) {
        all &= (w->flare = zmpi_flare_coder_new(w->most, encode)) != NULL;
    } else if (encode) {
        w->out_size = 2 * w->most;
        all &= (w->codes.pair = get(w->most * sizeof *w->codes.pair)) != NULL;
        all &= (w->codes.raw = get(4 * w->most)) != NULL;
        all &= (w->codes.rows = get(w->rows * sizeof(uint32_t))) != NULL;
        all &= (w->out = get(w->out_size)) != NULL;
        zmpi_interp_logs(w->logs);
    } else {
        all &= (w->slots = get((size_t)ZMPI_INTERP_CONTEXTS << 14)) != NULL;
    }
    if (all)
        return w;
    zmpi_interp_work_free(w);
    return NULL;
}

void zmpi_interp_work_free(struct zmpi_interp_work *w)
{
    if (!w)
        return;
    free(w->values);
    free(w->wholes);
    free(w->sizes);
    for (int i = 0; i < 6; i++)
        free(w->scratch[i]);
    free(w->contexts);
    free(w->symbols);
    free(w->sums);
    free(w->codes.pair);
    free(w->codes.raw);
    free(w->codes.rows);
    free(w->exception);
    zmpi_flare_coder_free(w->flare);
    free(w->books);
    free(w->differs);
    for (int i = 0; i < 3; i++)
        free(w->clean[i]);
    free(w->out);
    free(w->slots);
    free(w);
}

/* ---- numbers of any size ---- */

static unsigned char *put_varint(unsigned char *at, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        *at++ = (unsigned char)(n | 128);
    *at++ = (unsigned char)n;
    return at;
}

/* Reads a number; NULL: there is none. */
static const unsigned char *take_varint(const unsigned char *at, const unsigned char *end,
                                        uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; at < end && shift < 63; shift += 7) {
        *n |= (uint64_t)(*at & 127) << shift;
        if (*at++ < 128)
            return at;
    }
    return NULL;
}

/* ---- exceptions ---- */

/* Writes the lengths of runs of elements that are not, and that are, of kind `of`, up to the last
 * one that is. NULL: they take too much. */
static unsigned char *put_runs(unsigned char *at, const unsigned char *end,
                               const unsigned char *kind, size_t n, unsigned char of)
{
    size_t last = n;
    while (last > 0 && kind[last - 1] != of)
        last--;
    for (size_t i = 0; i < last;) {
        size_t begin = i;
        while (kind[i] != of)
            i++;
        if (end - at < 20)
            return NULL;
        at = put_varint(at, i - begin);
        begin = i;
        while (i < last && kind[i] == of)
            i++;
        at = put_varint(at, i - begin);
    }
    *at++ = 0;
    *at++ = 0;
    return at;
}

/* Reads such runs and marks their elements; NULL: they are damaged. *count: the marked elements. */
static const unsigned char *take_runs(const unsigned char *at, const unsigned char *end,
                                      unsigned char *kind, size_t n, unsigned char of,
                                      size_t *count)
{
    size_t i = 0;
    *count = 0;
    for (;;) {
        uint64_t gap, length;
        if (!(at = take_varint(at, end, &gap)) || !(at = take_varint(at, end, &length)))
            return NULL;
        if (!length)
            return gap || !*count ? NULL : at;
        if (gap > n - i || length > n - i - gap || (!gap && *count))
            return NULL;
        i += gap;
        for (uint64_t k = 0; k < length; k++) {
            if (kind[i])
                return NULL;
            kind[i++] = of;
        }
        *count += length;
    }
}

/* Returns the word of most exceptions, if most are alike; NULL: there are no exceptions. Exceptions
 * that have only too large an error vote only if there are no others. */
static const unsigned char *usual_exception(const struct zmpi_interp_work *w,
                                            const size_t extent[3], const struct zmpi_rows *src,
                                            size_t width)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const unsigned char *candidate = NULL;
    unsigned char least = 2;
    size_t votes = 0;
    for (size_t i = 0; i < n && least == 2; i++)
        least = w->exception[i] == 1 ? 1 : least;
    for (size_t i = 0; i < n; i++) {
        if (w->exception[i] != least)
            continue;
        const unsigned char *word = zmpi_interp_word(src, extent, i, width);
        if (!votes)
            candidate = word;
        votes += memcmp(word, candidate, width) == 0 ? 1 : (size_t)-1;
    }
    return candidate;
}

/* Writes the exceptions. Those with the usual word become kind 1, the others kind 2. NULL: they
 * take too much. */
static unsigned char *put_exceptions(struct zmpi_interp_work *w, const size_t extent[3],
                                     const struct zmpi_rows *src, size_t width,
                                     unsigned char *flags, unsigned char *at,
                                     const unsigned char *end)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    unsigned char *kind = w->exception, any = 0;
    for (size_t i = 0; i < n; i++)
        any |= kind[i];
    if (!any)
        return at;
    const unsigned char *fill = usual_exception(w, extent, src, width);
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        if (!kind[i])
            continue;
        kind[i] = memcmp(zmpi_interp_word(src, extent, i, width), fill, width) == 0 ? 1 : 2;
        others += kind[i] == 2;
    }
    if (fill) {
        *flags |= FLAG_FILL;
        zmpi_copy_elements(at, fill, width, width);
        if (!(at = put_runs(at + width, end, kind, n, 1)))
            return NULL;
    }
    if (!others)
        return at;
    *flags |= FLAG_OTHERS;
    if (!(at = put_runs(at, end, kind, n, 2)) || (size_t)(end - at) < others * width)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (kind[i] == 2) {
            zmpi_copy_elements(at, zmpi_interp_word(src, extent, i, width), width, width);
            at += width;
        }
    return at;
}

/* ---- encoder ---- */

static size_t store(const size_t extent[3], const struct zmpi_rows *src, size_t width,
                    unsigned char *dst, unsigned char *decoded)
{
    const size_t bytes = extent[0] * extent[1] * extent[2] * width;
    memset(dst, 0, HEAD);
    dst[0] = KIND_STORED;
    zmpi_rows_gather(src, extent, extent[2] * width, dst + HEAD);
    if (decoded)
        memcpy(decoded, dst + HEAD, bytes);
    zmpi_copy_elements(dst + HEAD, dst + HEAD, bytes, width);
    return HEAD + bytes;
}

/* Writes a bit for each plane that has a plane `lag` before it. Returns the number of bytes. */
static size_t put_planes(const struct zmpi_interp_work *w, size_t planes, unsigned char *at)
{
    const size_t n = w->lag && planes > w->lag ? planes - w->lag : 0;
    memset(at, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++)
        at[i / 8] |= (unsigned char)(w->differs[w->lag + i] << i % 8);
    return (n + 7) / 8;
}

static const unsigned char *take_planes(struct zmpi_interp_work *w, size_t planes,
                                        const unsigned char *at, const unsigned char *end)
{
    const size_t n = w->lag && planes > w->lag ? planes - w->lag : 0;
    if ((size_t)(end - at) < (n + 7) / 8 || (n % 8 && at[n / 8] >> n % 8))
        return NULL;
    memset(w->differs, 0, planes);
    for (size_t i = 0; i < n; i++)
        w->differs[w->lag + i] = at[i / 8] >> i % 8 & 1;
    return at + (n + 7) / 8;
}

static void run_set(struct zmpi_interp_work *w, struct zmpi_interp_set *set, bool choose)
{
    w->shift = set->shift;
    if (w->mode != DECODE)
        zmpi_interp_code_begin(w);
    w->lag = set->family == ZMPI_INTERP_PLANES ? set->lag : 0;
    if (set->family != ZMPI_INTERP_LORENZO)
        w->loops->lattice(w, set, choose);
    else
        w->loops->lorenzo(w, set);
    if (w->mode != DECODE)
        zmpi_interp_code_end(w);
}

/* Allocates what the profile with Huffman codes needs in addition. False: no memory. */
static bool need_books(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule)
{
    if (rule->books && !w->books)
        w->books = zmpi_interp_books_new(w->most);
    return w->books || !rule->books;
}

/* Are all codes 0? */
static bool all_zero(const struct zmpi_interp_work *w)
{
    size_t zeros = 0;
    for (unsigned k = 0; k < ZMPI_INTERP_CONTEXTS; k++)
        zeros += w->histogram[k][0];
    return zeros == w->codes.count;
}

size_t zmpi_interp_encode(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                          unsigned set, const size_t extent[3], const struct zmpi_rows *src,
                          unsigned char *dst, unsigned char *decoded)
{
    const size_t width = zmpi_type_size(rule->type), n = extent[0] * extent[1] * extent[2];
    const size_t most = HEAD + n * width;
    const int is_f64 = rule->type == ZMPI_F64;
    struct zmpi_interp_set own = rule->flare ? flat_set : rule->set[set];
    unsigned char *at = dst + HEAD, *end = dst + most;
    double base;
    zmpi_interp_layout(w, &own, extent);
    if (!need_books(w, rule) || !w->loops->load[is_f64](w, rule, extent, src, &base))
        return store(extent, src, width, dst, decoded);
    w->mode = ENCODE;
    w->decoded = rule->decoded;
    bool constant;
    if (rule->flare) {
        constant = zmpi_flare_encode(w, extent);
    } else {
        run_set(w, &own, false);
        constant = all_zero(w);
    }
    w->loops->verify[is_f64](w, rule, extent, src, base);
    if (w->codes.any >= CODE_MOST) /* the values in place of exceptions have grown too large */
        return store(extent, src, width, dst, decoded);
    memset(dst, 0, HEAD);
    dst[0] = (unsigned char)(constant ? KIND_CONSTANT : set + 1);
    const int64_t steps = (int64_t)(base / ZMPI_INTERP_STEP);
    at = put_varint(at, steps < 0 ? (uint64_t)(-2 * steps - 1) : (uint64_t)(2 * steps));
    at = put_exceptions(w, extent, src, width, &dst[1], at, end);
    if (!at)
        return store(extent, src, width, dst, decoded);
    if (!constant && (size_t)(end - at) <= 64 + extent[0])
        return store(extent, src, width, dst, decoded);
    if (!constant) {
        if (!rule->flare)
            at += put_planes(w, extent[0], at);
        const size_t room = (size_t)(end - at);
        const size_t size = rule->flare   ? zmpi_flare_pack(w, at, room)
                            : rule->books ? zmpi_interp_books_pack(w, at, room)
                            : room > 64   ? zmpi_interp_pack(w, at, room)
                                          : 0;
        if (!size)
            return store(extent, src, width, dst, decoded);
        at += size;
    }
    while ((at - dst) % 4)
        *at++ = 0;
    if ((size_t)(at - dst) >= most)
        return store(extent, src, width, dst, decoded);
    if (decoded) {
        const struct zmpi_rows rows = {
            .at = decoded, .row = extent[2] * width, .plane = extent[1] * extent[2] * width};
        w->loops->unload[is_f64](w, rule, extent, &rows, base);
        for (size_t i = 0; i < n; i++)
            if (w->exception[i])
                memcpy(decoded + i * width, zmpi_interp_word(src, extent, i, width), width);
    }
    return (size_t)(at - dst);
}

uint64_t zmpi_interp_estimate(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                              struct zmpi_interp_set *set, bool choose, const size_t extent[3],
                              const struct zmpi_rows *src, enum zmpi_interp_origin *origin)
{
    const uint64_t stored =
        (uint64_t)(extent[0] * extent[1] * extent[2] * zmpi_type_size(rule->type)) << 11;
    const int is_f64 = rule->type == ZMPI_F64;
    double base;
    *origin = ZMPI_INTERP_FRESH;
    zmpi_interp_layout(w, set, extent);
    if (!w->loops->load[is_f64](w, rule, extent, src, &base))
        return stored;
    const bool decoded = w->loops->decoded[is_f64](w, rule, extent, src, base);
    w->mode = ENCODE;
    w->watch = w->decoded = decoded;
    w->seen = w->off = 0;
    w->unlike = false;
    run_set(w, set, choose);
    if (decoded)
        *origin = zmpi_interp_known(w) ? ZMPI_INTERP_DECODED_BY_IT : ZMPI_INTERP_DECODED;
    return w->codes.any < CODE_MOST ? zmpi_interp_cost(w) : stored;
}

/* ---- decoder ---- */

struct exceptions {
    size_t fills, others;
    const unsigned char *fill, *values;
};

static const unsigned char *take_exceptions(struct zmpi_interp_work *w, unsigned flags, size_t n,
                                            size_t width, const unsigned char *at,
                                            const unsigned char *end, struct exceptions *e)
{
    *e = (struct exceptions){0};
    if (!flags)
        return at;
    memset(w->exception, 0, n);
    if (flags & FLAG_FILL) {
        if ((size_t)(end - at) < width)
            return NULL;
        e->fill = at;
        if (!(at = take_runs(at + width, end, w->exception, n, 1, &e->fills)))
            return NULL;
    }
    if (flags & FLAG_OTHERS) {
        if (!(at = take_runs(at, end, w->exception, n, 2, &e->others)) ||
            (size_t)(end - at) / width < e->others)
            return NULL;
        e->values = at;
        at += e->others * width;
    }
    return at;
}

static void set_exceptions(const struct zmpi_interp_work *w, const struct exceptions *e,
                           const size_t extent[3], const struct zmpi_rows *dst, size_t width)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const unsigned char *next = e->values;
    if (!e->fills && !e->others)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!w->exception[i])
            continue;
        const size_t row = i / extent[2];
        unsigned char *word = dst->at + row / extent[1] * dst->plane + row % extent[1] * dst->row +
                              i % extent[2] * width;
        zmpi_copy_elements(word, w->exception[i] == 1 ? e->fill : next, width, width);
        if (w->exception[i] == 2)
            next += width;
    }
}

static void *copy32(void *dst, const void *src, size_t bytes)
{
    zmpi_copy_elements(dst, src, bytes, 4);
    return dst;
}

static void *copy64(void *dst, const void *src, size_t bytes)
{
    zmpi_copy_elements(dst, src, bytes, 8);
    return dst;
}

enum zmpi_status zmpi_interp_decode(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                                    const size_t extent[3], const unsigned char *src, size_t size,
                                    const struct zmpi_rows *dst)
{
    const size_t width = zmpi_type_size(rule->type), n = extent[0] * extent[1] * extent[2];
    const unsigned char *at = src + HEAD, *end = src + size;
    struct exceptions e;
    uint64_t number;
    if (size < HEAD || src[2] || src[3])
        return ZMPI_ERR_CORRUPT;
    if (src[0] == KIND_STORED) {
        if (src[1] || size != HEAD + n * width)
            return ZMPI_ERR_CORRUPT;
        zmpi_rows_scatter(dst, extent, extent[2] * width, at, width == 4 ? copy32 : copy64);
        return ZMPI_OK;
    }
    if (src[0] > (rule->flare ? 1 : rule->sets) || src[1] > (FLAG_FILL | FLAG_OTHERS))
        return ZMPI_ERR_CORRUPT;
    if (!(at = take_varint(at, end, &number)) ||
        number / 2 > (uint64_t)(ZMPI_INTERP_BASE_MOST / ZMPI_INTERP_STEP))
        return ZMPI_ERR_CORRUPT;
    const int64_t steps = number & 1 ? -(int64_t)(number / 2) - 1 : (int64_t)(number / 2);
    if (!(at = take_exceptions(w, src[1], n, width, at, end, &e)))
        return ZMPI_ERR_CORRUPT;
    if (src[0] == KIND_CONSTANT) {
        zmpi_interp_layout(w, &flat_set, extent);
        memset(w->flat.value - PAD, 0, w->flat.plane * extent[0] * sizeof *w->flat.value);
        if (end - at > 3)
            return ZMPI_ERR_CORRUPT;
        for (; at < end; at++)
            if (*at)
                return ZMPI_ERR_CORRUPT;
    } else if (rule->flare) {
        zmpi_interp_layout(w, &flat_set, extent);
        w->mode = DECODE;
        if (!zmpi_flare_decode(w, extent, at, (size_t)(end - at)))
            return ZMPI_ERR_CORRUPT;
    } else {
        struct zmpi_interp_set set = rule->set[src[0] - 1];
        zmpi_interp_layout(w, &set, extent);
        w->mode = DECODE;
        w->lag = set.family == ZMPI_INTERP_PLANES ? set.lag : 0;
        if (!(at = take_planes(w, extent[0], at, end)))
            return ZMPI_ERR_CORRUPT;
        if (!need_books(w, rule))
            return ZMPI_ERR_MEMORY;
        if (!(w->books ? zmpi_interp_books_unpack(w, n, at, (size_t)(end - at))
                       : zmpi_interp_unpack(w, at, (size_t)(end - at))))
            return ZMPI_ERR_CORRUPT;
        run_set(w, &set, false);
        if (!(w->books ? !w->given.over : zmpi_interp_unpacked(w)))
            return ZMPI_ERR_CORRUPT;
    }
    w->loops->unload[rule->type == ZMPI_F64](w, rule, extent, dst,
                                             (double)steps * ZMPI_INTERP_STEP);
    set_exceptions(w, &e, extent, dst, width);
    return ZMPI_OK;
}
