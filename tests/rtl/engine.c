/* engine.c - the engine's streams are those of the CPU: every kind of data, shape and bound, with
 * sources and sinks that stall. */
#include <stdio.h>

#include "base/bytes.h"
#include "compare.h"
#include "engine_books.h"

static const unsigned lanes[] = {8, 64};

static void check(struct zmpi_rtl *rtl, const struct zmpi_array *a, struct zmpi_bound bound,
                  const void *data, const char *what)
{
    for (int encoder = 1; encoder <= 2; encoder++) {
        struct kit_stream s = check_encoder(rtl, a, bound, encoder, data, what);
        free(s.data);
    }
}

Test(rtl, every_kind_of_data)
{
    static const size_t shape[][3] = {{1, 1, 8192}, {1, 1, 5000}, {1, 1, 17},
                                      {1, 90, 100}, {1, 7, 3},    {5, 30, 33}};
    static const double bound[] = {1e-3, 1e-1, 1e-6, 1e30};
    for (size_t l = 0; l < KIT_COUNT(lanes); l++) {
        struct zmpi_rtl *rtl = open_engine(lanes[l]);
        struct kit_random r = {lanes[l]};
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++)
            for (size_t s = 0; s < KIT_COUNT(shape); s++) {
                struct zmpi_array a = kit_array(ZMPI_F32, shape[s][0], shape[s][1], shape[s][2]);
                void *data = kit_make(&r, &a, (enum kit_data)kind);
                char what[80];
                double b = bound[kit_below(&r, KIT_COUNT(bound))];
                snprintf(what, sizeof what, "%u lanes, data %d, shape %zu, bound %g", lanes[l],
                         kind, s, b);
                zmpi_rtl_stall(rtl, s % 2 ? 100 : 0, s % 3 ? 90 : 0, (unsigned)s + 1);
                /* By encoder 2, which is slow to simulate, only now and then. */
                const int encoder = ((size_t)kind + s) % (lanes[l] > 8 ? 9 : 3) ? 1 : 2;
                struct zmpi_job job = make_job(&a, kit_abs(b), encoder, data);
                job.axes = kind % 2 ? ZMPI_AXES_GIVEN | (unsigned)kit_below(&r, 8) : 0;
                struct kit_stream made = check_job(rtl, &job, data, what);
                free(made.data);
                free(data);
            }
        zmpi_rtl_close(rtl);
    }
}

/* Several chunks, clipped ones among them; data that are multiples of a step already. */
Test(rtl, arrays)
{
    static const size_t shape[][3] = {{1, 1, 20000}, {1, 150, 200}, {20, 40, 20}};
    for (size_t l = 0; l < KIT_COUNT(lanes); l++) {
        struct zmpi_rtl *rtl = open_engine(lanes[l]);
        struct kit_random r = {7};
        for (size_t s = 0; s < KIT_COUNT(shape); s++) {
            struct zmpi_array a = kit_array(ZMPI_F32, shape[s][0], shape[s][1], shape[s][2]);
            void *data = kit_make(&r, &a, s == 1 ? KIT_PATCHES : KIT_SMOOTH);
            zmpi_rtl_stall(rtl, 20, 20, 5);
            check(rtl, &a, kit_rel(1e-3), data, "array");
            struct kit_stream once = kit_compress(&a, kit_rel(1e-3), data);
            void *again = kit_decompress(&once);
            struct kit_stream twice =
                check_encoder(rtl, &a, kit_abs(kit_abs_bound(&once)), 1, again, "array again");
            free(twice.data);
            free(again);
            free(once.data);
            free(data);
        }
        zmpi_rtl_close(rtl);
    }
}

/* CEAZ's sort: the same books again, of a sample that is large enough for symbols to be rare. */
Test(rtl, approximate_sort)
{
    struct zmpi_rtl *rtl = open_engine(8);
    struct kit_random r = {12};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 9 * 8192);
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t k = 0; k < kit_elements(&a); k++)
        data[k] += (float)(kit_unit(&r) * kit_unit(&r));
    struct zmpi_job job = make_job(&a, kit_abs(1e-2), 2, data);
    job.variant = ZMPI_VARIANT_APPROXIMATE;
    struct kit_stream s = check_job(rtl, &job, data, "CEAZ's sort");
    free(s.data);
    free(data);
    zmpi_rtl_close(rtl);
}

Test(rtl, exact_types)
{
    static const enum zmpi_type type[] = {ZMPI_F32, ZMPI_I32, ZMPI_BYTES};
    struct zmpi_rtl *rtl = open_engine(8);
    struct kit_random r = {3};
    for (size_t t = 0; t < KIT_COUNT(type); t++)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            struct zmpi_array a = kit_array(type[t], 1, 1, 9001 + kit_below(&r, 8));
            void *data = kit_make(&r, &a, (enum kit_data)kind);
            struct kit_stream made = check_encoder(rtl, &a, (struct zmpi_bound){ZMPI_LOSSLESS, 0},
                                                   ((size_t)kind + t) % 3 ? 1 : 2, data, "exact");
            free(made.data);
            free(data);
        }
    zmpi_rtl_close(rtl);
}

/* Chunks of a stream of encoder 2 by their number of streams; [0]: those of encoder 1. */
static void count_streams(const struct kit_stream *s, size_t number[5])
{
    struct zmpi_stream stream;
    cr_assert_eq(zmpi_stream_parse(&stream, s->data, s->size), ZMPI_OK);
    const unsigned char *entry = s->data + ZMPI_STREAM_HEADER_BYTES,
                        *chunk = entry + 8 * stream.info.chunks + stream.books_size;
    for (size_t k = 0; k < stream.info.chunks; k++, chunk += zmpi_load32(entry), entry += 8)
        number[chunk[2] & ZMPI_CHUNK_HUFFMAN ? chunk[8 + 1] : 0]++; /* no head has a step */
}

/* The comparisons see chunks of every kind: small ones, large ones, those better left alone. */
Test(rtl, chunks_of_encoder_2)
{
    static const struct {
        size_t words;
        enum kit_data kind;
        struct zmpi_bound bound;
    } of[] = {{2000, KIT_SMOOTH, {ZMPI_ABS, 1}},
              {3 * 8192, KIT_PATCHES, {ZMPI_REL, 1e-4}},
              {20000, KIT_BITS, {ZMPI_REL, 0.1}}, /* multiples of the step that overflow */
              {8192, KIT_BITS, {ZMPI_LOSSLESS, 0}}};
    struct kit_random r = {5};
    size_t number[5] = {0};
    struct zmpi_rtl *rtl = open_engine(8);
    for (size_t i = 0; i < KIT_COUNT(of); i++) {
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, of[i].words);
        void *data = kit_make(&r, &a, of[i].kind);
        struct kit_stream s = check_encoder(rtl, &a, of[i].bound, 2, data, "kinds of chunks");
        count_streams(&s, number);
        free(s.data);
        check(rtl, &a, of[i].bound, data, "kinds of chunks");
        free(data);
    }
    cr_log_info("chunks: %zu of encoder 1, %zu with one stream, %zu with four", number[0],
                number[1], number[4]);
    cr_assert(number[0] && number[1] && number[4]);
    zmpi_rtl_close(rtl);
}

/* Cycles: a beat in each but for some at a chunk's end; by encoder 2 four words for each stage. */
Test(rtl, cycles)
{
    enum { CHUNKS = 12, WORDS = CHUNKS * 8192 };
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, WORDS);
    struct kit_random r = {9};
    void *data = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t l = 0; l < KIT_COUNT(lanes); l++)
        for (size_t encoder = 1; encoder <= 2; encoder++) {
            struct zmpi_rtl *rtl = open_engine(lanes[l]);
            /* So few chunks are all counted before they are coded. */
            const size_t chunks = encoder * CHUNKS, words = encoder * WORDS;
            const size_t coded = 4 * rtl->type->read(rtl->model, MODEL_STAGES);
            const size_t rate = encoder == 2 && coded < lanes[l] ? coded : lanes[l];
            zmpi_rtl_count(rtl);
            struct kit_stream s = check_encoder(rtl, &a, kit_abs(1e-3), (int)encoder, data, "long");
            struct zmpi_rtl_counts c = zmpi_rtl_count(rtl);
            cr_log_info("%u lanes, encoder %zu: %.4f cycles for a byte, %.2f GB/s at 300 MHz",
                        lanes[l], encoder, (double)c.cycles / (4.0 * (double)words),
                        4 * (double)words / (double)c.cycles * 0.3);
            cr_assert_eq(c.beats_in, words / lanes[l]);
            cr_assert_eq(c.chunks, chunks);
            /* The pipeline is long: twice, chunks go through all of its stages. */
            const size_t length = 4 * 8192 / lanes[l] + (encoder == 2 ? 8192 / 4 : 0);
            cr_assert_leq(c.cycles, words / rate + chunks * 64 + encoder * length);
            free(s.data);
            zmpi_rtl_close(rtl);
        }
    free(data);
}

Test(rtl, refuses_what_it_has_not)
{
    struct zmpi_rtl *rtl = open_engine(8);
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 1, 4);
    struct zmpi_bound bound = kit_abs(1);
    struct zmpi_job job;
    unsigned char out[256];
    double data[4] = {1, 2, 3, 4};
    size_t size;
    cr_assert_null(zmpi_rtl_open(3));
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, sizeof out, data, &size), ZMPI_ERR_UNSUPPORTED);
    a = kit_array(ZMPI_I32, 1, 1, 8);
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, 100, data, &size), ZMPI_ERR_SPACE);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, sizeof out, data, &size), ZMPI_OK);
    zmpi_rtl_close(rtl);
}

/* Long rows: refused where differences go along y. */
Test(rtl, long_rows)
{
    enum { ROW = 2000, BYTES = 16 * ROW + 256 };
    struct zmpi_rtl *rtl = open_engine(8);
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 3, ROW);
    struct zmpi_bound bound = kit_abs(1e-2);
    struct zmpi_job job;
    struct kit_random r = {2};
    float *data = malloc(kit_bytes(&a));
    unsigned char *out = malloc(BYTES);
    size_t size;
    for (size_t i = 0; i < 3 * ROW; i++) /* rows that are alike, then rows that are not */
        data[i] = i < ROW ? (float)kit_unit(&r) : data[i - ROW];
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_rtl_compress(rtl, &job, out, BYTES, data, &size), ZMPI_ERR_UNSUPPORTED);
    for (size_t i = 1; i < 3 * ROW; i++)
        data[i] = data[i - 1] + 0.1F * (float)kit_unit(&r);
    struct kit_stream s = check_encoder(rtl, &a, bound, 1, data, "long rows");
    free(s.data);
    free(data);
    free(out);
    zmpi_rtl_close(rtl);
}
