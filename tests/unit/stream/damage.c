/*
 * damage.c - truncated, flipped and forged streams: an error or the right bytes, never a crash,
 * never wrong data.
 */
#include "base/bytes.h"
#include "base/hash.h"
#include "kit.h"

/* A small stream with exceptions, planes and several chunks. */
struct victim {
    struct zmpi_array array;
    struct kit_stream stream;
    unsigned char *out; /* what it decodes to */
    size_t bytes;
};

static struct victim victim_make(enum zmpi_type type, enum kit_data kind, struct zmpi_bound bound)
{
    struct kit_random r = {(uint64_t)type * 10 + (uint64_t)kind};
    struct victim v = {.array = kit_array(type, 2, 3, type == ZMPI_BYTES ? 50 : 21)};
    void *src = kit_make(&r, &v.array, kind);
    v.stream = kit_compress(&v.array, bound, src);
    v.out = kit_decompress(&v.stream);
    v.bytes = kit_bytes(&v.array);
    free(src);
    return v;
}

static void victim_free(struct victim *v)
{
    free(v->stream.data);
    free(v->out);
}

/* The functions that take untrusted streams, on a buffer that ends at a guard page. */
static enum zmpi_status decode(const struct victim *v, const unsigned char *src, size_t size,
                               unsigned char *out)
{
    struct kit_guarded g = kit_guard(size, true);
    if (size != 0)
        memcpy(g.data, src, size);
    enum zmpi_status status = zmpi_decompress(out, v->bytes, g.data, size);
    size_t bad;
    struct zmpi_stream_info info;
    enum zmpi_status verified = zmpi_stream_verify(g.data, size, &bad);
    /* What decodes also verifies; the other way round the buffer may be too small. */
    cr_assert(status != ZMPI_OK || verified == ZMPI_OK);
    cr_assert(status != ZMPI_OK || zmpi_stream_info(g.data, size, &info) == ZMPI_OK);
    kit_unguard(&g);
    return status;
}

static void each_victim(void (*f)(const struct victim *v))
{
    static const struct {
        enum zmpi_type type;
        enum kit_data kind;
        struct zmpi_bound bound;
    } kinds[] = {
        {ZMPI_F32, KIT_SMOOTH, {ZMPI_ABS, 1e-2}},     {ZMPI_F32, KIT_SPECIAL, {ZMPI_ABS, 1e-2}},
        {ZMPI_F64, KIT_SPECIAL, {ZMPI_ABS, 1e-2}},    {ZMPI_F32, KIT_SMOOTH, {ZMPI_LOSSLESS, 0}},
        {ZMPI_F64, KIT_BITS, {ZMPI_LOSSLESS, 0}},     {ZMPI_F32, KIT_CONSTANT, {ZMPI_REL, 1e-3}},
        {ZMPI_I32, KIT_SMOOTH, {ZMPI_LOSSLESS, 0}},   {ZMPI_I64, KIT_SMOOTH, {ZMPI_LOSSLESS, 0}},
        {ZMPI_BYTES, KIT_BITS, {ZMPI_LOSSLESS, 0}},   {ZMPI_F32, KIT_SPECIAL, {ZMPI_PW_REL, 1e-2}},
        {ZMPI_F64, KIT_DECADES, {ZMPI_PW_REL, 1e-4}}, {ZMPI_F32, KIT_SPECIAL, {ZMPI_PSNR, 50}},
    };
    for (size_t i = 0; i < KIT_COUNT(kinds); i++) {
        struct victim v = victim_make(kinds[i].type, kinds[i].kind, kinds[i].bound);
        f(&v);
        victim_free(&v);
    }
}

/* ---- truncation ---- */

static void truncate_everywhere(const struct victim *v)
{
    unsigned char *out = malloc(v->bytes);
    for (size_t n = 0; n < v->stream.size; n++)
        cr_assert_neq(decode(v, v->stream.data, n, out), ZMPI_OK, "%zu bytes of %zu", n,
                      v->stream.size);
    free(out);
}

Test(damage, every_truncation_is_an_error)
{
    each_victim(truncate_everywhere);
}

/* ---- flipped bits ---- */

static void flip_every_bit(const struct victim *v)
{
    const size_t step = TEST_LESS > 1 && !test_long() ? 13 : 1;
    unsigned char *out = malloc(v->bytes);
    for (size_t bit = 0; bit < 8 * v->stream.size; bit += step) {
        unsigned char *byte = v->stream.data + bit / 8;
        *byte ^= (unsigned char)(1u << bit % 8);
        memset(out, 0, v->bytes);
        if (decode(v, v->stream.data, v->stream.size, out) == ZMPI_OK)
            cr_assert_eq(memcmp(out, v->out, v->bytes), 0, "bit %zu: wrong data", bit);
        *byte ^= (unsigned char)(1u << bit % 8);
    }
    free(out);
}

Test(damage, every_flipped_bit_is_found)
{
    each_victim(flip_every_bit);
}

Test(damage, bad_chunk_is_named)
{
    struct kit_random r = {1};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 50000);
    float *src = kit_make(&r, &a, KIT_NOISE);
    struct kit_stream s = kit_compress(&a, kit_abs(1e-3), src);
    struct zmpi_stream stream;
    cr_assert_eq(zmpi_stream_parse(&stream, s.data, s.size), ZMPI_OK);
    cr_assert_geq(stream.info.chunks, 4);
    size_t third = 80 + 8 * stream.info.chunks, bad = 99;
    for (size_t k = 0; k < 2; k++)
        third += zmpi_load32(stream.table + 8 * k);
    s.data[third + 40] ^= 1;
    cr_assert_eq(zmpi_stream_verify(s.data, s.size, &bad), ZMPI_ERR_CHECKSUM);
    cr_assert_eq(bad, 2);
    cr_assert_eq(zmpi_decompress(src, kit_bytes(&a), s.data, s.size), ZMPI_ERR_CHECKSUM);

    /* The other chunks can still be read. */
    unsigned char *need = malloc(stream.info.chunks);
    memset(need, 1, stream.info.chunks);
    cr_assert_eq(zmpi_stream_decode(&stream, need, 1, src, &bad), ZMPI_ERR_CHECKSUM);
    need[2] = 0;
    cr_assert_eq(zmpi_stream_decode(&stream, need, 1, src, &bad), ZMPI_OK);
    free(need);
    free(s.data);
    free(src);
}

/* ---- forgeries: changed at random, then given right checksums ---- */

/* Chunks that the header speaks of; 0 if they cannot be in the stream. */
static size_t forged_chunks(const unsigned char *s, size_t size)
{
    uint64_t chunks = 1, most = (size - ZMPI_STREAM_HEADER_BYTES) / 8;
    for (size_t axis = 0; axis < 3; axis++) {
        uint64_t tile = zmpi_load32(s + 12 + 4 * axis), n = zmpi_load64(s + 24 + 8 * axis);
        if (s[5] == ZMPI_BYTES && axis == 2)
            n = n / 4 + (n % 4 != 0);
        if (tile == 0)
            return 0;
        uint64_t tiles = n / tile + (n % tile != 0);
        if (tiles > most || (chunks *= tiles) > most)
            return 0;
    }
    return (size_t)chunks;
}

static void forge_checksums(unsigned char *s, size_t size)
{
    size_t chunks = forged_chunks(s, size), table = ZMPI_STREAM_HEADER_BYTES;
    size_t at = table + 8 * chunks;
    for (size_t k = 0; k < chunks; k++) {
        size_t length = zmpi_load32(s + table + 8 * k);
        if (length > size - at)
            break;
        zmpi_store32(s + table + 8 * k + 4, (uint32_t)zmpi_hash(s + at, length, 0));
        at += length;
    }
    zmpi_store64(s + 72, zmpi_hash2(s, 72, s + table, 8 * chunks, 0));
}

static void mutate(struct kit_random *r, unsigned char *s, size_t size)
{
    static const unsigned char nasty[] = {0, 1, 0x7F, 0x80, 0xFF, 0xC0, 0x3F, 0x40, 0x20};
    for (size_t n = 1 + kit_below(r, 3); n > 0; n--) {
        /* Header, table and chunk headers are the places that matter. */
        size_t most = kit_below(r, 3) == 0 ? size : kit_below(r, 2) == 0 ? 80 : 140;
        unsigned char *byte = s + kit_below(r, most < size ? most : size);
        switch (kit_below(r, 3)) {
        case 0:
            *byte ^= (unsigned char)(1u << kit_below(r, 8));
            break;
        case 1:
            *byte = nasty[kit_below(r, KIT_COUNT(nasty))];
            break;
        default:
            *byte = (unsigned char)kit_next(r);
        }
    }
}

static void forge(const struct victim *v)
{
    struct kit_random r = {v->stream.size};
    unsigned char *s = malloc(v->stream.size), *out = malloc(v->bytes);
    unsigned decoded = 0;
    for (int i = 0; i < test_rounds(test_long() ? 4000 : 1500); i++) {
        memcpy(s, v->stream.data, v->stream.size);
        mutate(&r, s, v->stream.size);
        forge_checksums(s, v->stream.size);
        decoded += decode(v, s, v->stream.size, out) == ZMPI_OK;
    }
    /* Else the checksums were not right and nothing was tested. */
    cr_assert_gt(decoded, 20 / TEST_LESS);
    free(s);
    free(out);
}

Test(damage, forged_streams_do_not_crash)
{
    each_victim(forge);
}

/* ---- headers that promise too much ---- */

static enum zmpi_status forged_extent(const unsigned char *stream, size_t size, size_t axis,
                                      uint64_t extent)
{
    unsigned char *s = malloc(size);
    unsigned char out[64];
    memcpy(s, stream, size);
    zmpi_store64(s + 24 + 8 * axis, extent);
    s[6] = 3;
    forge_checksums(s, size);
    size_t head;
    zmpi_stream_head_size(s, size, &head);
    enum zmpi_status status = zmpi_decompress(out, sizeof out, s, size);
    cr_assert_neq(zmpi_stream_verify(s, size, NULL), ZMPI_OK);
    free(s);
    return status;
}

Test(damage, huge_extents_are_refused)
{
    static const uint64_t huge[] = {1u << 20,          (uint64_t)1 << 33,   (uint64_t)1 << 60,
                                    (uint64_t)1 << 62, (uint64_t)INT64_MAX, UINT64_MAX};
    struct kit_random r = {2};
    struct zmpi_array a = kit_array(ZMPI_F64, 2, 3, 5);
    double *src = kit_make(&r, &a, KIT_SMOOTH);
    struct kit_stream s = kit_compress(&a, kit_abs(1e-3), src);
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < KIT_COUNT(huge); i++)
            cr_assert_neq(forged_extent(s.data, s.size, axis, huge[i]), ZMPI_OK);
    free(s.data);
    free(src);
}

/* Each field of the header by itself, before any checksum is looked at. */
Test(damage, wrong_headers)
{
    static const struct {
        size_t at, size;
        uint64_t value;
        enum zmpi_status status;
    } wrong[] = {
        {5, 1, ZMPI_F32 - 1, ZMPI_ERR_CORRUPT},
        {5, 1, ZMPI_BYTES + 1, ZMPI_ERR_CORRUPT},
        {6, 1, 0, ZMPI_ERR_CORRUPT},
        {6, 1, 4, ZMPI_ERR_CORRUPT},
        {7, 1, ZMPI_PW_REL + 1, ZMPI_ERR_CORRUPT},
        {8, 4, 0, ZMPI_ERR_CORRUPT},
        {8, 4, ZMPI_ENCODERS + 1, ZMPI_ERR_VERSION}, /* one that newer versions have */
        {8, 4, 255 | 1 << 8, ZMPI_ERR_VERSION},
        {8, 4, ZMPI_FLE | 1 << 8, ZMPI_ERR_CORRUPT},
        {8, 4, ZMPI_HUFFMAN | 16385 << 8, ZMPI_ERR_CORRUPT},
        {12, 4, 0, ZMPI_ERR_CORRUPT},
        {16, 4, 32769, ZMPI_ERR_CORRUPT},
        {20, 4, 0, ZMPI_ERR_CORRUPT},
        {24, 8, UINT64_C(1) << 63, ZMPI_ERR_SIZE},
        {48, 8, UINT64_C(0xBFF0000000000000), ZMPI_ERR_CORRUPT}, /* -1 */
        {48, 8, UINT64_C(0x7FF8000000000000), ZMPI_ERR_CORRUPT}, /* NaN */
        {56, 8, UINT64_C(0xBFF0000000000000), ZMPI_ERR_CORRUPT},
        {56, 8, UINT64_C(0x7FF8000000000000), ZMPI_ERR_CORRUPT},
        {64, 8, 79, ZMPI_ERR_CORRUPT},
        {64, 8, UINT64_C(1) << 63, ZMPI_ERR_CORRUPT},
    };
    struct kit_random r = {4};
    struct zmpi_array a = kit_array(ZMPI_F32, 3, 4, 5);
    float src[60];
    size_t head;
    kit_fill(&r, &a, KIT_SMOOTH, src);
    struct kit_stream s = kit_compress(&a, kit_abs(1e-3), src);
    for (size_t i = 0; i < KIT_COUNT(wrong); i++) {
        unsigned char header[80], value[8];
        memcpy(header, s.data, sizeof header);
        zmpi_store64(value, wrong[i].value);
        memcpy(header + wrong[i].at, value, wrong[i].size);
        cr_assert_eq(zmpi_stream_head_size(header, 80, &head), wrong[i].status, "case %zu", i);
    }
    /* Tiles of 2^64 words. */
    zmpi_store32(s.data + 12, 1u << 31);
    zmpi_store32(s.data + 16, 1u << 31);
    zmpi_store32(s.data + 20, 4);
    cr_assert_eq(zmpi_stream_head_size(s.data, s.size, &head), ZMPI_ERR_CORRUPT);
    free(s.data);
}

/* Dimensions that the header does not count must be 1: format.md 1.1. */
Test(damage, unused_dimensions)
{
    struct kit_random r = {3};
    struct zmpi_array a = kit_array(ZMPI_F32, 3, 4, 5);
    float src[60];
    kit_fill(&r, &a, KIT_SMOOTH, src);
    struct kit_stream s = kit_compress(&a, kit_abs(1e-3), src);
    cr_assert_eq(s.data[6], 3);
    for (unsigned char ndim = 1; ndim < 3; ndim++) {
        s.data[6] = ndim;
        forge_checksums(s.data, s.size);
        cr_assert_neq(zmpi_decompress(src, sizeof src, s.data, s.size), ZMPI_OK, "%d", ndim);
    }
    free(s.data);
}

Test(damage, foreign_bytes)
{
    unsigned char out[256], src[200];
    static const char text[] =
        "CDF\1 this is another format's file, and longer than any header of ours "
        "needs to be, so that it is not refused for its length alone";
    memset(src, 0, sizeof src);
    cr_assert_eq(zmpi_decompress(out, sizeof out, src, sizeof src), ZMPI_ERR_FORMAT);
    cr_assert_eq(zmpi_decompress(out, sizeof out, text, sizeof text), ZMPI_ERR_FORMAT);
}

Test(damage, newer_version)
{
    struct victim v = victim_make(ZMPI_F32, KIT_SMOOTH, (struct zmpi_bound){ZMPI_ABS, 1e-2});
    unsigned char *out = malloc(v.bytes);
    v.stream.data[4] = 2;
    forge_checksums(v.stream.data, v.stream.size);
    cr_assert_eq(decode(&v, v.stream.data, v.stream.size, out), ZMPI_ERR_VERSION);
    free(out);
    victim_free(&v);
}
