/* exceptions.c - heads and exceptions as encoder 2 stores them (format.md 1.4): by the engine as by
 * the CPU, wherever in a chunk exceptions are and wherever the first one is that differs. */
#include <stdio.h>

#include "base/bytes.h"
#include "compare.h"
#include "engine_books.h"

enum { CHUNK = 8192, LAYOUTS = 6, VALUES = 5 };

static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Where a block has exceptions. */
static bool is_exception(struct kit_random *r, size_t layout, size_t i, size_t count)
{
    switch (layout) {
    case 0: /* the ends */
        return i == 0 || i == count - 1;
    case 1: /* whole blocks and what is behind the last whole one */
        return i / 32 % 5 < 2 || i / 32 == count / 32;
    case 2: /* of every kind */
        return i / 32 % 4 == 0 || (i / 32 % 4 == 1 && i % 32 < 31) ||
               (i / 32 % 4 == 2 && i % 32 == 7);
    case 3: /* all but a few */
        return i % 700 != 699;
    case 4:
        return kit_below(r, 40) == 0;
    default:
        return false;
    }
}

/* What they are: exception k of the chunk, in block b of `blocks`. */
static float exception(size_t values, size_t k, size_t b, size_t blocks)
{
    switch (values) {
    case 0:
        return 1e35F;
    case 1: /* a NaN that is not the usual one */
        return of_bits(0xFFA12345);
    case 2: /* NaN with two payloads, in blocks of their own */
        return of_bits(b % 2 ? 0x7FC00001 : 0x7FC00002);
    case 3: /* two fill values in a block */
        return k % 3 ? 1e35F : -1e35F;
    default: /* the last block's are others */
        return b == blocks - 1 ? 9.96921e36F : 1e35F;
    }
}

static void fill(struct kit_random *r, float *data, size_t count, size_t layout, size_t values)
{
    const float amount = layout < LAYOUTS - 1 && count > 100 && kit_below(r, 3) ? 10 : 0;
    for (size_t i = 0; i < count; i += CHUNK) {
        const size_t n = count - i < CHUNK ? count - i : CHUNK;
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            data[i + j] = is_exception(r, layout, j, n)
                              ? exception(values, k++, j / 32, (n + 31) / 32)
                              : amount * sinf(0.01F * (float)j);
    }
}

enum { HAVE_EXCEPTIONS, ONCE, WITH_FULL_BLOCKS, SEVERAL, BY_ENCODER_1, CONSTANT, SAVED, KINDS };

/* Are any of its second marks set? */
static bool has_full_blocks(const unsigned char *chunk, size_t words)
{
    const size_t marks = 4 * ((words + 1023) / 1024);
    const unsigned char *second = chunk + 8 + (chunk[9] > 1 ? 8 : 4) + marks;
    for (size_t i = 0; i < marks; i++)
        if (second[i])
            return true;
    return false;
}

static void count_kinds(const struct kit_stream *s, size_t number[KINDS])
{
    struct zmpi_stream stream;
    size_t first[3], extent[3];
    cr_assert_eq(zmpi_stream_parse(&stream, s->data, s->size), ZMPI_OK);
    const unsigned char *chunk = s->data + stream.head;
    for (size_t k = 0; k < stream.info.chunks; k++) {
        const bool marked = chunk[2] & ZMPI_CHUNK_EXCEPTIONS, coded = chunk[2] & ZMPI_CHUNK_HUFFMAN,
                   once = chunk[2] & ZMPI_CHUNK_ONCE;
        zmpi_stream_tile(&stream, k, first, extent);
        cr_assert(chunk[0] != ZMPI_MAP_QUANTIZED || chunk[3]); /* all steps are levels' */
        number[HAVE_EXCEPTIONS] += marked;
        number[ONCE] += once;
        number[WITH_FULL_BLOCKS] +=
            once && has_full_blocks(chunk, extent[0] * extent[1] * extent[2]);
        number[SEVERAL] += marked && coded && !once;
        number[BY_ENCODER_1] += marked && !coded;
        number[CONSTANT] += chunk[0] == ZMPI_MAP_QUANTIZED && chunk[2] & ZMPI_CHUNK_ZERO;
        chunk += zmpi_load32(stream.table + 8 * k);
    }
}

/* What the engine says that its chunks are shorter than encoder 1's. Books of its own: the stream
 * was not coded a second time. */
static void check_saved(struct zmpi_rtl *rtl, const struct zmpi_array *a, const float *data,
                        const struct kit_stream *s, size_t number[KINDS])
{
    struct zmpi_stream stream;
    const size_t saved = rtl->type->read(rtl->model, MODEL_SAVED);
    cr_assert_eq(zmpi_stream_parse(&stream, s->data, s->size), ZMPI_OK);
    struct kit_stream fle = kit_compress(a, kit_abs(1e-2), data);
    if (stream.books_size) {
        cr_assert_eq(4 * saved, fle.size + stream.books_size - s->size);
        number[SAVED]++;
    }
    free(fle.data);
}

static void check(struct zmpi_rtl *rtl, unsigned lanes, size_t every, size_t number[KINDS])
{
    static const size_t shape[][3] = {
        {1, 1, CHUNK + 1500}, {1, 1, 45}, {1, 90, 91}, {9, 30, 33}, {1, 1, CHUNK}};
    struct kit_random r = {lanes};
    for (size_t values = 0; values < VALUES; values++)
        for (size_t layout = values % every; layout < LAYOUTS; layout += every) {
            const size_t i = (values + layout) / every % KIT_COUNT(shape);
            struct zmpi_array a = kit_array(ZMPI_F32, shape[i][0], shape[i][1], shape[i][2]);
            float *data = malloc(kit_bytes(&a));
            char what[80];
            cr_assert_not_null(data);
            fill(&r, data, kit_elements(&a), layout, values);
            snprintf(what, sizeof what, "%u lanes, layout %zu, values %zu, shape %zu", lanes,
                     layout, values, i);
            zmpi_rtl_stall(rtl, i % 2 ? 100 : 0, i % 3 ? 90 : 0, (unsigned)i + 1);
            zmpi_rtl_count(rtl);
            struct kit_stream s = check_encoder(rtl, &a, kit_abs(1e-2), 2, data, what);
            count_kinds(&s, number);
            check_saved(rtl, &a, data, &s, number);
            free(s.data);
            free(data);
        }
}

Test(rtl, exceptions_of_encoder_2)
{
    static const unsigned lanes[] = {8, 64};
    for (size_t l = 0; l < KIT_COUNT(lanes); l++) {
        struct zmpi_rtl *rtl = open_engine(lanes[l]);
        size_t number[KINDS] = {0};
        check(rtl, lanes[l], 1 + 2 * l, number); /* those of 64 are slow to simulate */
        cr_log_info("%zu chunks with exceptions: %zu with one value, of these %zu with full blocks,"
                    " %zu with several, %zu by encoder 1; %zu constant; %zu streams with books",
                    number[HAVE_EXCEPTIONS], number[ONCE], number[WITH_FULL_BLOCKS],
                    number[SEVERAL], number[BY_ENCODER_1], number[CONSTANT], number[SAVED]);
        for (size_t k = 0; k < KINDS; k++)
            cr_assert(number[k], "%u lanes: kind %zu", lanes[l], k);
        zmpi_rtl_close(rtl);
    }
}

/* A bound so large that all levels have the same step: it is called by the first one's bits. */
Test(rtl, equal_steps)
{
    struct zmpi_rtl *rtl = open_engine(8);
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 1000);
    static float data[1000];
    struct kit_stream s = check_encoder(rtl, &a, kit_abs(1e38), 2, data, "equal steps");
    cr_assert_eq(s.data[ZMPI_STREAM_HEADER_BYTES + 8 + 3], 10);
    free(s.data);
    zmpi_rtl_close(rtl);
}
