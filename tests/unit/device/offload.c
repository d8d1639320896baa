/*
 * offload.c - streams that a device decodes: right or an error, whatever the device does
 * (plugins/decoder.c); the same error for damaged ones.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"
#include "device/offload.h"
#include "kit.h"

#ifdef ZMPI_TEST_DECODERS

enum { Z = 20, Y = 60, X = 70, N = Z * Y * X, MOST = 64 };

static float field[N], expected[N], is[N + 1];
static unsigned char coded[2 * sizeof field];
static size_t size;
static struct zmpi_stream stream;
static struct zmpi_offload o;

static void make(int encoder)
{
    const struct zmpi_array array = {ZMPI_F32, {Z, Y, X}};
    const struct zmpi_bound bound = {ZMPI_ABS, 0.01};
    struct zmpi_job job;
    for (int i = 0; i < N; i++)
        field[i] = (float)(sin(0.01 * i) + 0.001 * (i * 7919 % 101));
    field[5] = NAN;
    cr_assert_eq(zmpi_job_make(&array, &bound, NULL, &job), ZMPI_OK);
    job.encoder = encoder;
    cr_assert_eq(zmpi_device_cpu()->compress(&job, coded, sizeof coded, field, &size), ZMPI_OK);
    cr_assert_eq(zmpi_stream_parse(&stream, coded, size), ZMPI_OK);
    cr_assert(stream.info.chunks > 8 && stream.info.chunks <= MOST);
    cr_assert_eq(zmpi_decompress(expected, sizeof expected, coded, size), ZMPI_OK);
}

static void begin(void)
{
    setenv("ZMPI_PLUGIN_PATH", ZMPI_TEST_DECODERS, 1);
    setenv("ZMPI_TEST_DECODER_CALLS", "0", 1);
    zmpi_log_set(ZMPI_LOG_WARN);
    cr_redirect_stderr();
    make(ZMPI_FLE);
    o = (struct zmpi_offload){.what = "a test", .name = "decoder"};
}

static int calls(void)
{
    return atoi(getenv("ZMPI_TEST_DECODER_CALLS"));
}

static void decodes(const unsigned char *need)
{
    memset(is, 0x77, sizeof is);
    const float behind = is[N];
    cr_assert_eq(zmpi_offload_decode(&o, &stream, need, 1, is), ZMPI_OK);
    cr_assert(memcmp(&is[N], &behind, sizeof behind) == 0, "written behind the array");
    if (!need)
        cr_assert_arr_eq(is, expected, sizeof expected);
}

Test(offload, by_the_device, .init = begin)
{
    decodes(NULL);
    cr_assert_eq(calls(), 1);
    cr_assert_eq(o.decoded.bytes, sizeof field);
    cr_assert_str_eq(zmpi_use_device(&o.decoded)->name, "decoder");
    cr_assert_str_eq(o.decoded.why, "ZMPI_DEVICE=decoder");
    cr_assert_eq(o.coded.last, NULL);
    o.name = "cpu";
    decodes(NULL);
    cr_assert_eq(calls(), 1);
}

/* Encoders that it lacks are the CPU's; so is all if nobody knows of devices. */
Test(offload, not_by_the_device, .init = begin)
{
    make(ZMPI_HUFFMAN);
    decodes(NULL);
    cr_assert_eq(calls(), 0);
    cr_assert_eq(zmpi_use_device(&o.decoded), zmpi_device_cpu());
    cr_assert_str_eq(o.decoded.why, "ZMPI_DEVICE=decoder, which did not take it");
    cr_assert_eq(zmpi_offload_decode(NULL, &stream, NULL, 1, is), ZMPI_OK);
    cr_assert_arr_eq(is, expected, sizeof expected);
}

/* Nearly all chunks: all by the device. Fewer: those, by the CPU. */
Test(offload, parts, .init = begin)
{
    const size_t chunks = stream.info.chunks;
    for (size_t missing = 0; missing <= chunks; missing++) {
        unsigned char need[MOST];
        const int before = calls();
        memset(need, 1, chunks);
        memset(need, 0, missing);
        decodes(need);
        cr_assert_eq(calls(), before + (missing <= chunks / 8), "%zu of %zu missing", missing,
                     chunks);
        for (size_t k = 0; k < chunks; k++) {
            size_t first[3], extent[3];
            zmpi_stream_tile(&stream, k, first, extent);
            const size_t at = (first[0] * Y + first[1]) * X + first[2];
            cr_assert(!need[k] || memcmp(&is[at], &expected[at], 4 * extent[2]) == 0);
        }
    }
}

/* A chunk that is most of the stream is not fetched for the others' sake. */
Test(offload, large_rest, .init = begin)
{
    const struct zmpi_array array = {ZMPI_F32, {1, 1, N}};
    const struct zmpi_bound exact = {ZMPI_LOSSLESS, 0};
    struct kit_random r = {3};
    struct zmpi_job job;
    memset(field, 0, sizeof field);
    for (int i = N / 8192 * 8192; i < N; i++)
        field[i] = (float)kit_below(&r, 1 << 20);
    cr_assert_eq(zmpi_job_make(&array, &exact, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_device_cpu()->compress(&job, coded, sizeof coded, field, &size), ZMPI_OK);
    cr_assert_eq(zmpi_stream_parse(&stream, coded, size), ZMPI_OK);
    unsigned char need[MOST] = {0};
    cr_assert(stream.info.chunks / 8 == 1);
    memset(need, 1, stream.info.chunks - 1);
    cr_assert_not(zmpi_offload_whole(&stream, need));
    decodes(need);
    cr_assert_eq(calls(), 0);
    memset(need, 1, stream.info.chunks);
    need[0] = 0;
    cr_assert(zmpi_offload_whole(&stream, need));
    decodes(need);
    cr_assert_eq(calls(), 1);
}

/* What goes wrong is said once, the data are right, and the device is not asked again. */
Test(offload, failures, .init = begin)
{
    static const char *const kinds[] = {"fail:0", "memory:0", "damaged:0", "garbage:0", "zeros:0"};
    char line[4096];
    int lines = 0;
    for (size_t i = 0; i < KIT_COUNT(kinds); i++) {
        const int before = calls();
        setenv("ZMPI_TEST_DECODER", kinds[i], 1);
        o = (struct zmpi_offload){.what = "a test", .name = "decoder"};
        for (int n = 0; n < 3; n++)
            decodes(NULL);
        cr_assert(o.failed, "%s: not noticed", kinds[i]);
        cr_assert_eq(calls(), before + 1);
        cr_assert_eq(o.decoded.bytes, 0);
        cr_assert_str_eq(o.decoded.why, "another device failed");
    }
    fflush(stderr);
    FILE *log = cr_get_redirected_stderr();
    while (fgets(line, sizeof line, log)) {
        cr_assert_not_null(strstr(line, "a test: device decoder: "), "%s", line);
        lines++;
    }
    cr_assert_eq(lines, KIT_COUNT(kinds));
}

/* What it does not do is none; it is asked again. */
Test(offload, unsupported, .init = begin)
{
    setenv("ZMPI_TEST_DECODER", "unsupported:1", 1);
    decodes(NULL);
    cr_assert(!o.failed && o.decoded.bytes == 0);
    decodes(NULL);
    cr_assert_eq(o.decoded.bytes, sizeof field);
}

/* A device that takes anything does not make damaged data good, nor is it to blame. */
Test(offload, damage, .init = begin)
{
    static const char *const kinds[] = {"none", "zeros:0", "damaged:0"};
    for (size_t i = 0; i < KIT_COUNT(kinds); i++) {
        setenv("ZMPI_TEST_DECODER", kinds[i], 1);
        for (size_t at = stream.head; at < size; at += 97) {
            unsigned char need[MOST];
            coded[at] ^= 0x10;
            cr_assert_eq(zmpi_offload_decode(&o, &stream, NULL, 1, is), ZMPI_ERR_CHECKSUM);
            cr_assert(!o.failed && calls() == 0);
            /* All but the damaged chunk can be had. */
            memset(need, 1, sizeof need);
            size_t k = 0, end = stream.head + zmpi_load32(stream.table);
            while (end <= at)
                end += zmpi_load32(stream.table + 8 * ++k);
            need[k] = 0;
            cr_assert_eq(zmpi_offload_decode(&o, &stream, need, 1, is), ZMPI_OK);
            cr_assert(!o.failed);
            coded[at] ^= 0x10;
        }
    }
}

/* A chunk that was wrong when its checksum was made, and is not needed: the device says so, and is
 * right. */
Test(offload, damage_that_is_not_needed, .init = begin)
{
    unsigned char need[MOST] = {0}, *first = coded + stream.head;
    memset(need + 1, 1, sizeof need - 1);
    setenv("ZMPI_TEST_DECODER", "damaged:0", 1);
    first[0] = 0xff;
    zmpi_store32(coded + (stream.table - stream.src) + 4,
                 (uint32_t)zmpi_hash(first, zmpi_load32(stream.table), 0));
    cr_assert(zmpi_stream_intact(&stream));
    cr_assert_eq(zmpi_offload_decode(&o, &stream, NULL, 1, is), ZMPI_ERR_CORRUPT);
    cr_assert_eq(zmpi_offload_decode(&o, &stream, need, 1, is), ZMPI_OK);
    cr_assert(!o.failed && calls() == 2);
}

Test(offload, automatic, .init = begin)
{
    o.name = "auto";
    setenv("ZMPI_TEST_DECODER_COST", "10", 1);
    decodes(NULL);
    cr_assert_eq(calls(), 0);
    setenv("ZMPI_TEST_DECODER_COST", "0", 1);
    decodes(NULL);
    cr_assert_eq(calls(), 1);
    cr_assert_not_null(strstr(o.decoded.why, "expected, on the CPU"), "%s", o.decoded.why);
}

/* The comparison itself, of each value. */
Test(offload, comparison, .init = begin)
{
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++) {
        make(encoder);
        const size_t all = stream.info.chunks;
        cr_assert_eq(zmpi_stream_compare(&stream, expected, all), ZMPI_OK);
        cr_assert_eq(zmpi_stream_compare(&stream, expected, 3), ZMPI_OK);
        for (size_t bit = 0; bit < 32 * (size_t)N; bit += 10007) {
            unsigned char *byte = (unsigned char *)expected + bit / 8;
            *byte ^= (unsigned char)(1u << bit % 8);
            cr_assert_eq(zmpi_stream_compare(&stream, expected, all), ZMPI_ERR_DEVICE);
            *byte ^= (unsigned char)(1u << bit % 8);
        }
    }
}

/* Bytes that end within a word. */
Test(offload, odd_bytes, .init = begin)
{
    static unsigned char bytes[70001], back[70001];
    const struct zmpi_bound exact = {ZMPI_LOSSLESS, 0};
    struct zmpi_job job;
    for (size_t n = 69990; n <= sizeof bytes; n++) {
        const struct zmpi_array array = {ZMPI_BYTES, {1, 1, n}};
        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)(i * i >> 7);
        cr_assert_eq(zmpi_job_make(&array, &exact, NULL, &job), ZMPI_OK);
        cr_assert_eq(zmpi_device_cpu()->compress(&job, coded, sizeof coded, bytes, &size), ZMPI_OK);
        cr_assert_eq(zmpi_stream_parse(&stream, coded, size), ZMPI_OK);
        const uint64_t before = o.decoded.bytes;
        cr_assert_eq(zmpi_offload_decode(&o, &stream, NULL, 1, back), ZMPI_OK);
        cr_assert_arr_eq(back, bytes, n);
        cr_assert_eq(o.decoded.bytes, before + n);
        back[n - 1] ^= 1;
        cr_assert_eq(zmpi_stream_compare(&stream, back, stream.info.chunks), ZMPI_ERR_DEVICE);
    }
}

#endif
