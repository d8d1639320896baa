/* interp_chunk.c - makes a chunk of a tile of floats, and the tile of a chunk (format.md 1.5). */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "interp/flare/flare.h"

enum {
    KIND_CONSTANT = 0, /* 1 to 4: the number of a set */
    KIND_STORED = 255,
    HEAD = 4,
    SLACK = 8192
};
/* All magnitudes of codes are below this, where the symbols end. */
#define CODE_MOST (1u << 24)

size_t zmpi_interp_chunk_most(size_t elements, size_t width)
{
    return HEAD + elements * width + SLACK;
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
    for (struct zmpi_interp_work *v = w; v && set->family == ZMPI_INTERP_LORENZO; v = v->with)
        w->loops->lorenzo(v, set);
    if (w->mode != DECODE)
        zmpi_interp_code_end(w);
}

/* Allocates what the profile with Huffman codes needs in addition. False: no memory. */
static bool need_books(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule)
{
    if (rule->books && !w->books)
        w->books = zmpi_interp_books_new(w->capacity.most);
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

/* Writes the codes of a tile of so many planes. Returns their end; NULL: they take too much. */
static unsigned char *put_codes(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                                size_t planes, unsigned char *at, const unsigned char *end)
{
    if ((size_t)(end - at) <= 64 + planes)
        return NULL;
    if (!rule->flare)
        at += put_planes(w, planes, at);
    const size_t room = (size_t)(end - at);
    const size_t size = rule->flare   ? zmpi_flare_pack(w, at, room)
                        : rule->books ? zmpi_interp_books_pack(w, at, room)
                        : room > 64   ? zmpi_interp_pack(w, at, room)
                                      : 0;
    return size ? at + size : NULL;
}

static void keep_exceptions(const struct zmpi_interp_work *w, const size_t extent[3],
                            const struct zmpi_rows *src, size_t width, unsigned char *decoded)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    for (size_t i = 0; i < n; i++)
        if (w->exception[i])
            memcpy(decoded + i * width, zmpi_interp_word(src, extent, i, width), width);
}

/* Makes an exception of each value that was decoded, perhaps, and would move. */
static void keep_decoded(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                         const size_t extent[3], const struct zmpi_rows *src, double base)
{
    const size_t n = extent[0] * extent[1] * extent[2], width = zmpi_type_size(rule->type);
    for (size_t i = 0; i < n; i++) {
        const size_t row = i / extent[2];
        const int32_t v = w->flat.value[row / extent[1] * w->flat.plane +
                                        row % extent[1] * w->flat.row + i % extent[2]];
        const double x = zmpi_interp_value(rule->type, zmpi_interp_word(src, extent, i, width), 0);
        const double y = (base + (double)v) * rule->unit;
        const double z = rule->type == ZMPI_F64 ? y : (double)(float)y;
        if (!w->exception[i] && (z < x || z > x) && zmpi_grids_of(rule->grids, x)) {
            w->exception[i] = 2;
            w->sure = false;
        }
    }
}

size_t zmpi_interp_encode(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                          unsigned set, const size_t extent[3], const struct zmpi_rows *src,
                          unsigned char *dst, unsigned char *decoded)
{
    const size_t width = zmpi_type_size(rule->type), n = extent[0] * extent[1] * extent[2];
    const size_t most = HEAD + n * width;
    const int is_f64 = rule->type == ZMPI_F64;
    struct zmpi_interp_set own = rule->flare ? zmpi_interp_flat : rule->set[set];
    unsigned char *at = dst + HEAD, *end = dst + most;
    double base;
    zmpi_interp_layout(w, &own, extent);
    if (!need_books(w, rule) || !w->loops->load[is_f64](w, rule, extent, src, &base))
        return store(extent, src, width, dst, decoded);
    w->mode = ENCODE;
    w->watch = false;
    w->decoded = rule->decoded;
    w->wanted = !w->sure || rule->flare || rule->grids || decoded;
    bool constant;
    if (rule->flare) {
        constant = zmpi_flare_encode(w, extent);
    } else {
        run_set(w, &own, false);
        constant = all_zero(w);
    }
    if (!w->sure || rule->flare)
        w->loops->verify[is_f64](w, rule, extent, src, base);
    if (rule->grids)
        keep_decoded(w, rule, extent, src, base);
    if (w->codes.any >= CODE_MOST) /* the values in place of exceptions have grown too large */
        return store(extent, src, width, dst, decoded);
    memset(dst, 0, HEAD);
    dst[0] = (unsigned char)(constant ? KIND_CONSTANT : set + 1);
    const int64_t steps = (int64_t)(base / ZMPI_INTERP_STEP);
    at = zmpi_interp_put_varint(at, steps < 0 ? (uint64_t)(-2 * steps - 1) : (uint64_t)(2 * steps));
    at = zmpi_interp_put_exceptions(w, extent, src, width, &dst[1], at, end);
    if (!at)
        return store(extent, src, width, dst, decoded);
    if (!constant && !(at = put_codes(w, rule, extent[0], at, end)))
        return store(extent, src, width, dst, decoded);
    while ((at - dst) % 4)
        *at++ = 0;
    if ((size_t)(at - dst) >= most)
        return store(extent, src, width, dst, decoded);
    if (decoded) {
        const struct zmpi_rows rows = {
            .at = decoded, .row = extent[2] * width, .plane = extent[1] * extent[2] * width};
        w->to = (struct target){rule, &rows, base};
        w->loops->unload(w);
        keep_exceptions(w, extent, src, width, decoded);
    }
    return (size_t)(at - dst);
}

/* Loads a sample, or takes what is kept of it, as it is unless the set changes the tile itself.
 * False: no value could be an integer. */
static bool load_sample(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                        const struct zmpi_interp_set *set, const size_t extent[3],
                        const struct zmpi_rows *src, bool *decoded)
{
    const int is_f64 = rule->type == ZMPI_F64;
    const size_t bytes = (w->flat.plane * extent[0] + BEHIND) * sizeof *w->flat.value;
    struct kept *k = w->kept;
    double base;
    for (; k < w->kept + ZMPI_INTERP_KEPT; k++)
        if (k->at == src->at && memcmp(k->extent, extent, sizeof k->extent) == 0) {
            if (set->family == ZMPI_INTERP_LORENZO)
                memcpy(w->flat.value - PAD, k->values, bytes);
            else
                w->flat.value = k->values + PAD;
            *decoded = k->decoded;
            return true;
        }
    if (!w->loops->load[is_f64](w, rule, extent, src, &base))
        return false;
    *decoded = w->loops->decoded[is_f64](w, rule, extent, src, base);
    if (w->kept[0].at && bytes > 4 * w->kept[0].bytes) /* few sets are tried on so large ones */
        return true;
    k = &w->kept[w->next_kept++ % ZMPI_INTERP_KEPT];
    free(k->values);
    k->at = NULL;
    if (!(k->values = malloc(bytes)))
        return true;
    memcpy(k->values, w->flat.value - PAD, bytes);
    memcpy(k->extent, extent, sizeof k->extent);
    k->at = src->at;
    k->bytes = bytes;
    k->decoded = *decoded;
    return true;
}

uint64_t zmpi_interp_estimate(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                              struct zmpi_interp_set *set, bool choose, const size_t extent[3],
                              const struct zmpi_rows *src, enum zmpi_interp_origin *origin)
{
    const uint64_t stored =
        (uint64_t)(extent[0] * extent[1] * extent[2] * zmpi_type_size(rule->type)) << 11;
    bool decoded;
    *origin = ZMPI_INTERP_FRESH;
    zmpi_interp_layout(w, set, extent);
    if (!load_sample(w, rule, set, extent, src, &decoded))
        return stored;
    w->mode = ENCODE;
    w->watch = w->decoded = decoded;
    w->wanted = false;
    w->seen = w->off = 0;
    w->unlike = false;
    run_set(w, set, choose);
    if (decoded)
        *origin = zmpi_interp_known(w) ? ZMPI_INTERP_DECODED_BY_IT : ZMPI_INTERP_DECODED;
    return w->codes.any < CODE_MOST ? zmpi_interp_cost(w) : stored;
}

/* ---- decoder ---- */

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

/* All codes are 0: behind the exceptions there is only padding. */
static enum zmpi_status take_zeros(struct zmpi_interp_work *w, const size_t extent[3],
                                   const unsigned char *at, const unsigned char *end)
{
    zmpi_interp_layout(w, &zmpi_interp_flat, extent);
    memset(w->flat.value - PAD, 0, w->flat.plane * extent[0] * sizeof *w->flat.value);
    if (end - at > 3)
        return ZMPI_ERR_CORRUPT;
    for (; at < end; at++)
        if (*at)
            return ZMPI_ERR_CORRUPT;
    w->loops->unload(w);
    return ZMPI_OK;
}

/* Prepares w to decode codes by a set. */
static enum zmpi_status begin_codes(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                                    const struct zmpi_interp_set *set, const size_t extent[3],
                                    const unsigned char *at, const unsigned char *end)
{
    zmpi_interp_layout(w, set, extent);
    w->mode = DECODE;
    w->shift = set->shift;
    w->lag = set->family == ZMPI_INTERP_PLANES ? set->lag : 0;
    if (!(at = take_planes(w, extent[0], at, end)))
        return ZMPI_ERR_CORRUPT;
    if (!need_books(w, rule))
        return ZMPI_ERR_MEMORY;
    const size_t n = extent[0] * extent[1] * extent[2], size = (size_t)(end - at);
    if (!(w->books ? zmpi_interp_books_unpack(w, n, at, size) : zmpi_interp_unpack(w, at, size)))
        return ZMPI_ERR_CORRUPT;
    return ZMPI_OK;
}

static enum zmpi_status decode_flare(struct zmpi_interp_work *w, const size_t extent[3],
                                     const unsigned char *at, const unsigned char *end)
{
    zmpi_interp_layout(w, &zmpi_interp_flat, extent);
    w->mode = DECODE;
    if (!zmpi_flare_decode(w, extent, at, (size_t)(end - at)))
        return ZMPI_ERR_CORRUPT;
    w->loops->unload(w);
    return ZMPI_OK;
}

/* Reads a chunk up to its codes. *codes: 1 + the number of their set; 0: all but the exceptions is
 * decoded. */
static enum zmpi_status begin_chunk(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                                    const struct zmpi_interp_coded *c, unsigned *codes,
                                    struct zmpi_interp_exceptions *e)
{
    const size_t width = zmpi_type_size(rule->type), n = c->extent[0] * c->extent[1] * c->extent[2];
    const unsigned char *at = c->src + HEAD, *end = c->src + c->size;
    uint64_t number;
    *codes = 0;
    *e = (struct zmpi_interp_exceptions){0};
    if (c->size < HEAD || c->src[2] || c->src[3])
        return ZMPI_ERR_CORRUPT;
    if (c->src[0] == KIND_STORED) {
        if (c->src[1] || c->size != HEAD + n * width)
            return ZMPI_ERR_CORRUPT;
        zmpi_rows_scatter(&c->rows, c->extent, c->extent[2] * width, at,
                          width == 4 ? copy32 : copy64);
        return ZMPI_OK;
    }
    if (c->src[0] > (rule->flare ? 1 : rule->sets))
        return ZMPI_ERR_CORRUPT;
    if (!(at = zmpi_interp_take_varint(at, end, &number)) ||
        number / 2 > (uint64_t)(ZMPI_INTERP_BASE_MOST / ZMPI_INTERP_STEP))
        return ZMPI_ERR_CORRUPT;
    const int64_t steps = number & 1 ? -(int64_t)(number / 2) - 1 : (int64_t)(number / 2);
    if (!(at = zmpi_interp_take_exceptions(w, c->src[1], c->extent, width, at, end, e)))
        return ZMPI_ERR_CORRUPT;
    w->to = (struct target){rule, &c->rows, (double)steps * ZMPI_INTERP_STEP};
    if (c->src[0] == KIND_CONSTANT)
        return take_zeros(w, c->extent, at, end);
    if (rule->flare)
        return decode_flare(w, c->extent, at, end);
    *codes = c->src[0];
    return begin_codes(w, rule, &rule->set[*codes - 1], c->extent, at, end);
}

bool zmpi_interp_two_pay(const struct zmpi_interp_coded c[2])
{
    for (int k = 0; k < 2; k++)
        if (8 * c[k].size < c[k].extent[0] * c[k].extent[1] * c[k].extent[2])
            return false;
    return zmpi_kernels()->interp->take_rows != NULL;
}

void zmpi_interp_decode(struct zmpi_interp_work *const w[], const struct zmpi_interp_rule *rule,
                        const struct zmpi_interp_coded c[], int n, enum zmpi_status status[])
{
    struct zmpi_interp_exceptions e[2];
    unsigned codes[2] = {0};
    for (int k = 0; k < n; k++)
        if ((status[k] = begin_chunk(w[k], rule, &c[k], &codes[k], &e[k])))
            codes[k] = 0;
    const bool both = codes[0] && codes[0] == codes[1];
    w[0]->with = both ? w[1] : NULL;
    for (int k = 0; k < (both ? 1 : n); k++)
        if (codes[k]) {
            struct zmpi_interp_set set = rule->set[codes[k] - 1];
            run_set(w[k], &set, false);
        }
    w[0]->with = NULL;
    for (int k = 0; k < n; k++) {
        if (codes[k] && (w[k]->books ? w[k]->given.over : !zmpi_interp_unpacked(w[k])))
            status[k] = ZMPI_ERR_CORRUPT;
        if (!status[k])
            zmpi_interp_set_exceptions(w[k], &e[k], c[k].extent, &c[k].rows,
                                       zmpi_type_size(rule->type));
    }
}
