/* calls.c - what a file's write calls were, as bytes (docs/format.md 2.10) and as JSON. */
#include "format/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/format_private.h"
#include "options/options.h"

#define MAGIC UINT32_C(0x4C41435A) /* ZCAL */
#define NONE  UINT32_MAX           /* in place of a rank */

enum { VERSION = 1, HEAD = 32, CALL = 80, PART = 32, COMPONENTS_MOST = 64 };
enum { APPENDED = 1, MORE = 2, SAMPLED = 1 };

static const char *const shapes[] = {"one row", "set", "view", "datatype", "runs", "data"};
static const char *const reasons[] = {"",
                                      "the bound is lossless",
                                      "small",
                                      "not of a float type",
                                      "does not look like its type",
                                      "a known format"};

const char *zmpi_shape_from_name(enum zmpi_shape_from from)
{
    return shapes[from];
}

const char *zmpi_exact_name(enum zmpi_exact_why why)
{
    return reasons[why];
}

/* ---- JSON ---- */

static void print_number(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fputs("null", out);
}

static void print_parts(FILE *out, const struct zmpi_call *c)
{
    fputs(", \"ranges\": [", out);
    for (unsigned i = 0; i < c->parts; i++) {
        fputs(i ? ", [" : "[", out);
        print_number(out, c->part[i].min);
        fputs(", ", out);
        print_number(out, c->part[i].max);
        fputc(']', out);
    }
    fprintf(out, "], \"ranges_on_samples\": %s, \"absolute_bounds\": [",
            c->sampled ? "true" : "false");
    for (unsigned i = 0; i < c->parts; i++) {
        fputs(i ? ", " : "", out);
        print_number(out, c->part[i].abs_bound);
    }
    fputs("], \"errors_on_samples\": [", out);
    for (unsigned i = 0; i < c->parts; i++) {
        fputs(i ? ", " : "", out);
        print_number(out, c->part[i].error);
    }
    fputc(']', out);
}

void zmpi_call_json(FILE *out, const struct zmpi_call *c)
{
    static const char *const type[] = {"", "f32", "f64", "i32", "i64", "bytes"};
    char bound[40];
    zmpi_bound_format(&c->bound, bound);
    fprintf(out, "\"call\": %u, \"to\": %u", c->first, c->last);
    if (c->rank >= 0)
        fprintf(out, ", \"rank\": %lld", (long long)c->rank);
    fprintf(out, ", \"values\": %llu, \"type\": \"%s\", \"components\": %d",
            (unsigned long long)c->values, type[c->type], c->components);
    if (c->shape[2])
        fprintf(out, ", \"shape\": [%llu, %llu, %llu], \"shape_from\": \"%s\"",
                (unsigned long long)c->shape[0], (unsigned long long)c->shape[1],
                (unsigned long long)c->shape[2], shapes[c->shape_from]);
    if (c->encoder)
        fprintf(out, ", \"encoder\": \"%s\"", zmpi_encoder_name(c->encoder));
    fprintf(out, ", \"bound\": \"%s\"", bound);
    if (c->exact)
        fprintf(out, ", \"exact\": \"%s\"", reasons[c->exact]);
    print_parts(out, c);
    fprintf(out, ", \"bytes\": %llu, \"stored\": %llu, \"ratio\": ", (unsigned long long)c->raw,
            (unsigned long long)c->stored);
    print_number(out, c->stored ? (double)c->raw / (double)c->stored : HUGE_VAL);
}

/* ---- bytes ---- */

static void store_double(unsigned char *dst, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    zmpi_store64(dst, bits);
}

static double load_double(const unsigned char *src)
{
    const uint64_t bits = zmpi_load64(src);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

size_t zmpi_calls_size(const struct zmpi_calls *calls)
{
    size_t size = HEAD;
    for (unsigned i = 0; i < calls->count; i++)
        size += CALL + PART * calls->call[i].parts;
    return size;
}

static unsigned char *encode_call(const struct zmpi_call *c, unsigned char *dst)
{
    const unsigned char small[] = {(unsigned char)c->type,
                                   (unsigned char)c->encoder,
                                   (unsigned char)abs(c->components),
                                   c->components < 0,
                                   (unsigned char)c->exact,
                                   (unsigned char)c->shape_from,
                                   (unsigned char)c->bound.mode,
                                   (unsigned char)c->parts,
                                   c->sampled ? SAMPLED : 0,
                                   0,
                                   0,
                                   0};
    zmpi_store32(dst, c->first);
    zmpi_store32(dst + 4, c->last);
    zmpi_store32(dst + 8, c->rank < 0 ? NONE : (uint32_t)c->rank);
    memcpy(dst + 12, small, sizeof small);
    for (int i = 0; i < 3; i++)
        zmpi_store64(dst + 24 + 8 * i, c->shape[i]);
    store_double(dst + 48, c->bound.value);
    zmpi_store64(dst + 56, c->values);
    zmpi_store64(dst + 64, c->raw);
    zmpi_store64(dst + 72, c->stored);
    dst += CALL;
    for (unsigned i = 0; i < c->parts; i++, dst += PART) {
        store_double(dst, c->part[i].min);
        store_double(dst + 8, c->part[i].max);
        store_double(dst + 16, c->part[i].abs_bound);
        store_double(dst + 24, c->part[i].error);
    }
    return dst;
}

void zmpi_calls_encode(const struct zmpi_calls *calls, unsigned char *dst)
{
    memset(dst, 0, HEAD);
    zmpi_store32(dst, MAGIC);
    dst[4] = VERSION;
    dst[5] = (unsigned char)((calls->appended ? APPENDED : 0) | (calls->more ? MORE : 0));
    zmpi_store64(dst + 8, zmpi_calls_size(calls));
    zmpi_store32(dst + 24, calls->count);
    dst += HEAD;
    for (unsigned i = 0; i < calls->count; i++)
        dst = encode_call(&calls->call[i], dst);
}

static uint64_t hash(const unsigned char *section, size_t size, uint64_t seed)
{
    return zmpi_hash2(section, 16, section + 24, size - 24, seed);
}

void zmpi_calls_seal(unsigned char *section, size_t size, const unsigned char id[16],
                     uint64_t offset)
{
    zmpi_store64(section + 16, hash(section, size, zmpi_seed(id, offset)));
}

void zmpi_calls_point(const unsigned char id[16], uint64_t offset, size_t size, uint64_t tally,
                      unsigned char dst[ZMPI_CALLS_POINTER])
{
    zmpi_store64(dst, offset);
    zmpi_store64(dst + 8, size);
    zmpi_store64(dst + 16, tally);
    zmpi_store64(dst + 24, zmpi_hash(dst, 24, zmpi_seed(id, ZMPI_CALLS_AT)));
}

/* Are the bytes of an entry what a writer puts there? */
static bool is_call(const unsigned char *src)
{
    const uint32_t first = zmpi_load32(src), last = zmpi_load32(src + 4);
    const double value = load_double(src + 48);
    return first >= 1 && first <= last && src[12] >= ZMPI_F32 && src[12] <= ZMPI_BYTES &&
           src[13] <= ZMPI_INTERP && src[14] >= 1 && src[14] <= COMPONENTS_MOST && src[15] <= 1 &&
           src[16] <= ZMPI_EXACT_FORMAT && src[17] <= ZMPI_SHAPE_DATA && src[18] <= ZMPI_PW_REL &&
           src[19] >= 1 && src[19] <= ZMPI_CALL_PARTS && src[20] <= SAMPLED && src[21] == 0 &&
           zmpi_load16(src + 22) == 0 && value >= 0 && isfinite(value);
}

static void decode_call(struct zmpi_call *c, const unsigned char *src)
{
    const uint32_t rank = zmpi_load32(src + 8);
    *c = (struct zmpi_call){.first = zmpi_load32(src),
                            .last = zmpi_load32(src + 4),
                            .rank = rank == NONE ? -1 : (int64_t)rank,
                            .type = (enum zmpi_type)src[12],
                            .encoder = src[13],
                            .components = src[15] ? -src[14] : src[14],
                            .exact = (enum zmpi_exact_why)src[16],
                            .shape_from = (enum zmpi_shape_from)src[17],
                            .bound = {(enum zmpi_mode)src[18], load_double(src + 48)},
                            .parts = src[19],
                            .sampled = src[20] == SAMPLED,
                            .values = zmpi_load64(src + 56),
                            .raw = zmpi_load64(src + 64),
                            .stored = zmpi_load64(src + 72)};
    for (int i = 0; i < 3; i++)
        c->shape[i] = zmpi_load64(src + 24 + 8 * i);
    src += CALL;
    for (unsigned i = 0; i < c->parts; i++, src += PART)
        c->part[i] = (struct zmpi_call_part){load_double(src), load_double(src + 8),
                                             load_double(src + 16), load_double(src + 24)};
}

enum zmpi_status zmpi_calls_decode(struct zmpi_calls *calls, const unsigned char id[16],
                                   uint64_t offset, const unsigned char *section, size_t size)
{
    memset(calls, 0, sizeof *calls);
    if (size < HEAD || zmpi_load32(section) != MAGIC || zmpi_load64(section + 8) != size ||
        hash(section, size, zmpi_seed(id, offset)) != zmpi_load64(section + 16))
        return ZMPI_ERR_CHECKSUM;
    if (section[4] != VERSION)
        return ZMPI_ERR_VERSION;
    const uint32_t count = zmpi_load32(section + 24);
    if (section[5] > (APPENDED | MORE) || zmpi_load16(section + 6) || zmpi_load32(section + 28) ||
        count < 1 || count > ZMPI_CALLS_MOST)
        return ZMPI_ERR_CORRUPT;
    const unsigned char *at = section + HEAD, *end = section + size;
    for (unsigned i = 0; i < count; i++) {
        if (end - at < CALL || !is_call(at) || end - at < CALL + PART * at[19])
            return ZMPI_ERR_CORRUPT;
        decode_call(&calls->call[i], at);
        at += CALL + PART * at[19];
    }
    calls->appended = section[5] & APPENDED;
    calls->more = section[5] & MORE;
    calls->count = count;
    return at == end ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}
