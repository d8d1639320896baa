/* huffman_head.c - what chunks of encoder 2 do not store: steps, halves of bases, exceptions that
 * are all the same. It comes back; what no encoder writes is refused. */
#include "kit.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "device.h"
#include "huffman/huffman.h"

/* ---- heads ---- */

static size_t make_head(unsigned char *dst, size_t width, double step, int64_t base)
{
    const float narrow = (float)step;
    memset(dst, 0, 4);
    dst[1] = 5;
    dst[2] = ZMPI_CHUNK_ZERO;
    if (width == 4)
        memcpy(dst + 4, &narrow, 4);
    else
        memcpy(dst + 4, &step, 8);
    memcpy(dst + 4 + width, &base, width);
    return 4 + 2 * width;
}

static const int64_t bases[] = {
    0,         -1,       INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, (int64_t)INT32_MIN - 1,
    INT64_MAX, INT64_MIN};

/* By every level, to the byte; a byte less is refused. */
static void check_levels(const struct zmpi_chunk_rule *rule, size_t width)
{
    unsigned char full[ZMPI_HEAD_MAX], brief[ZMPI_HEAD_MAX], back[ZMPI_HEAD_MAX];
    for (int i = 0; i < rule->levels; i++)
        for (size_t b = 0; b < KIT_COUNT(bases); b++) {
            const size_t size = make_head(full, width, rule->level[i].step, bases[b]);
            const bool narrow = width == 8 && bases[b] == (int32_t)bases[b];
            const size_t got = zmpi_head_shorten(rule, width, full, brief);
            cr_assert_eq(got, narrow ? 8 : 4 + width);
            cr_assert_eq(brief[2], narrow ? ZMPI_CHUNK_ZERO | ZMPI_CHUNK_NARROW : ZMPI_CHUNK_ZERO);
            cr_assert_eq(zmpi_head_lengthen(rule, width, brief, got, back), got);
            cr_assert_arr_eq(back, full, size);
            cr_assert_eq(zmpi_head_lengthen(rule, width, brief, got - 1, back), 0);
        }
}

Test(huffman_head, every_level_comes_back)
{
    static const double bounds[] = {1e-3, 0x1p-50, 1, 3e20, 0x1p-890, 0x1p130, 0x1p1022, INFINITY};
    for (size_t i = 0; i < KIT_COUNT(bounds); i++)
        for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
            struct zmpi_chunk_rule rule;
            zmpi_chunk_rule_make(&rule, type, bounds[i], (double)INFINITY);
            cr_assert(rule.levels == ZMPI_STEP_LEVELS || (type == ZMPI_F32 && bounds[i] < 0x1p-99));
            check_levels(&rule, zmpi_type_size(type));
        }
}

/* Other steps, and other maps, are left as they are; other levels are refused. */
Test(huffman_head, what_has_no_level)
{
    unsigned char full[ZMPI_HEAD_MAX], got[ZMPI_HEAD_MAX];
    struct zmpi_chunk_rule rule, none;
    zmpi_chunk_rule_make(&rule, ZMPI_F64, 1e-3, (double)INFINITY);
    zmpi_chunk_rule_make(&none, ZMPI_F64, 0x1p-950, (double)INFINITY);
    size_t size = make_head(full, 8, nextafter(rule.level[0].step, 1), 5);
    cr_assert_eq(zmpi_head_shorten(&rule, 8, full, got), size);
    cr_assert_arr_eq(got, full, size);
    make_head(full, 8, rule.level[0].step, 5);
    full[0] = ZMPI_MAP_INTEGER;
    cr_assert_eq(zmpi_head_shorten(&rule, 8, full, got), 12);
    cr_assert_arr_eq(got, full, 12);
    for (unsigned b = 0; b < 256; b++) {
        const unsigned char brief[20] = {ZMPI_MAP_QUANTIZED, 0, ZMPI_CHUNK_ZERO, (unsigned char)b};
        const bool level = b == 22 || b == 10 || b == 2;
        cr_assert_eq(zmpi_head_lengthen(&rule, 8, brief, 20, got), level ? 12 : 0, "level %u", b);
        cr_assert_eq(zmpi_head_lengthen(&none, 8, brief, 20, got), 0, "level %u", b);
    }
}

/* ---- exceptions ---- */

enum { ROW = 70, ROWS = 61 };

/* Two rows of nothing but exceptions, some here and there, and the last, shorter block. */
static struct kit_stream make(enum zmpi_type type, bool once, struct zmpi_bound bound,
                              unsigned char **src)
{
    struct zmpi_array a = kit_array(type, 1, ROWS, ROW);
    struct zmpi_range range;
    struct zmpi_job job;
    struct kit_random r = {4};
    const size_t n = kit_elements(&a);
    *src = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t i = 0; i < n; i++)
        if ((i > 30 * ROW && i < 32 * ROW) || i % 97 == 9 || i >= n / 32 * 32)
            kit_put(type, *src, i, 1e20);
    if (!once)
        kit_put(type, *src, 30 * ROW + 1, (double)INFINITY);
    struct kit_stream s = {malloc(zmpi_compress_capacity(&a)), 0};
    zmpi_range_of(type, *src, n, &range);
    cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
    job.encoder = ZMPI_HUFFMAN;
    cr_assert_eq(
        zmpi_device_cpu()->compress(&job, s.data, zmpi_compress_capacity(&a), *src, &s.size),
        ZMPI_OK);
    return s;
}

static unsigned char *first_chunk(const struct kit_stream *s, struct zmpi_stream *parsed)
{
    cr_assert_eq(zmpi_stream_parse(parsed, s->data, s->size), ZMPI_OK);
    return s->data + parsed->head;
}

Test(huffman_head, equal_exceptions_are_stored_once)
{
    static const struct zmpi_bound bounds[] = {{ZMPI_REL, 1e-3}, {ZMPI_PW_REL, 1e-3}};
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
            size_t size[2];
            for (int once = 0; once < 2; once++) {
                struct zmpi_stream parsed;
                unsigned char *src;
                struct kit_stream s = make(type, once, bounds[i], &src);
                const unsigned char *chunk = first_chunk(&s, &parsed);
                cr_assert_eq(!(chunk[2] & ZMPI_CHUNK_ONCE), !once);
                size[once] = s.size;
                unsigned char *out = kit_decompress(&s);
                const struct zmpi_array a = kit_array(type, 1, ROWS, ROW);
                if (i == 0)
                    kit_check(&a, src, out, parsed.info.abs_bound, "once");
                else
                    kit_check_relative(&a, src, out, 1e-3, "once");
                free(out);
                free(src);
                free(s.data);
            }
            /* Values of 20 blocks and more, and masks, of the first chunk. */
            cr_assert_lt(size[1] + 20 * zmpi_type_size(type), size[0], "%zu, not %zu", size[1],
                         size[0]);
        }
}

/* ---- what is refused ---- */

static void fix_checksums(struct kit_stream *s, const struct zmpi_stream *parsed)
{
    unsigned char *entry = s->data + ZMPI_STREAM_HEADER_BYTES;
    zmpi_store32(entry + 4, (uint32_t)zmpi_hash(s->data + parsed->head, zmpi_load32(entry), 0));
    zmpi_store64(s->data + 72,
                 zmpi_hash2(s->data, 72, entry, parsed->head - ZMPI_STREAM_HEADER_BYTES, 0));
}

/* With one byte of the first chunk other than it was. */
static enum zmpi_status changed(struct kit_stream *s, size_t at, unsigned flip)
{
    struct zmpi_stream parsed;
    unsigned char *chunk = first_chunk(s, &parsed), *out = malloc(parsed.info.decoded_bytes);
    const unsigned char was = chunk[at];
    chunk[at] ^= (unsigned char)flip;
    fix_checksums(s, &parsed);
    const enum zmpi_status status =
        zmpi_decompress(out, parsed.info.decoded_bytes, s->data, s->size);
    chunk[at] = was;
    fix_checksums(s, &parsed);
    free(out);
    return status;
}

/* Each flag alone; every other byte for the level: only levels are taken, and give other numbers.
 */
Test(huffman_head, flags_and_levels_that_are_refused)
{
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct zmpi_stream parsed;
        unsigned char *src;
        struct kit_stream s = make(type, true, kit_rel(1e-3), &src);
        const unsigned char *chunk = first_chunk(&s, &parsed);
        const unsigned finest = type == ZMPI_F32 ? 10 : 22, middle = type == ZMPI_F32 ? 6 : 10;
        cr_assert_eq(chunk[3], finest);
        cr_assert_eq(changed(&s, 2, 0), ZMPI_OK);
        for (unsigned bit = 0; bit < 8; bit++)
            cr_assert_eq(changed(&s, 2, 1U << bit), ZMPI_ERR_CORRUPT, "flag bit %u", bit);
        for (unsigned b = 0; b < 256; b++)
            cr_assert_eq(changed(&s, 3, b ^ finest) == ZMPI_OK,
                         b == finest || b == middle || b == 2, "level %u", b);
        free(src);
        free(s.data);
    }
}

/* Blocks marked as nothing but exceptions that are not marked as having some, or whose masks then
 * are too many. */
Test(huffman_head, marks_that_are_refused)
{
    struct zmpi_stream parsed;
    unsigned char *src;
    struct kit_stream s = make(ZMPI_F32, true, kit_rel(1e-3), &src);
    const unsigned char *chunk = first_chunk(&s, &parsed);
    const size_t blocks = (kit_elements(&parsed.info.array) + 31) / 32;
    cr_assert_eq(parsed.info.chunks, 1);
    cr_assert_eq(chunk[9], ZMPI_HUFFMAN_STREAMS);
    for (size_t b = 0; b < blocks; b++)
        cr_assert_neq(changed(&s, 16 + (blocks + 31) / 32 * 4 + b / 8, 1U << b % 8), ZMPI_OK,
                      "block %zu", b);
    free(src);
    free(s.data);
}
