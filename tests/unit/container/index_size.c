/* index_size.c - what the index of many records takes, in memory and in the file. */
#include "container_file.h"

/* ---- how large ---- */

#define MANY (1000000 / TEST_LESS)

enum pattern { CONTIGUOUS, INTERLEAVED, SHUFFLED, NESTED, PATTERNS };

static struct zmpi_record many_record(enum pattern pattern, uint64_t k)
{
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA, .order = UINT64_C(1) << 32 | k};
    uint64_t place = pattern == SHUFFLED ? k * 611953 % MANY : k;
    uint64_t lo = pattern == INTERLEAVED ? k * 16384 : place * 1024;
    r.payload_length = 600 + random_below(500);
    r.extent = (struct zmpi_extent){.lo = lo, .run = 1024};
    if (pattern == NESTED) {
        r.extent.lo = (k / 16 * 4096 + k % 16) * 64;
        r.extent.levels = 2;
        r.extent.run = 64;
        r.extent.count[0] = r.extent.count[1] = 4;
        r.extent.stride[0] = 1024;
        r.extent.stride[1] = 65536;
    }
    cr_assert_eq(zmpi_extent_close(&r.extent), ZMPI_OK);
    r.extents_length = (uint32_t)zmpi_extent_nest_size(r.extent.levels);
    return r;
}

/* Bytes that the container holds for its records, and the index in the file. */
static void check_many(enum pattern pattern)
{
    static const char *const name[] = {"contiguous", "interleaved", "shuffled", "nested"};
    struct zmpi_container c;
    uint64_t offset = ZMPI_HEADER_BYTES;
    unsigned char *index;
    size_t size, held = 0;
    zmpi_container_init(&c);
    for (uint64_t k = 0; k < MANY; k++) {
        struct zmpi_record r = many_record(pattern, k);
        r.offset = offset;
        offset += zmpi_record_size(&r);
        cr_assert_eq(zmpi_container_add(&c, &r), ZMPI_OK);
    }
    cr_assert_eq(c.count, MANY);
    for (size_t k = 0; k < c.all.count; k++)
        held += c.all.segment[k].size + sizeof *c.all.segment;
    held += c.tail_count * sizeof *c.tail;
    cr_assert_eq(zmpi_index_make(&c, NULL, offset, 7, &index, &size), ZMPI_OK);
    cr_log_info("%s: %.1f bytes in memory, %.1f in the file", name[pattern], (double)held / MANY,
                (double)size / MANY);
    cr_assert(held < 24 * (size_t)MANY && size < 24 * (size_t)MANY);
    free(index);
    zmpi_container_free(&c);
}

Test(index_size, a_million_records_are_small, .timeout = 300)
{
    random_numbers.state = 23;
    for (enum pattern p = CONTIGUOUS; p < PATTERNS; p++)
        check_many(p);
}

/* ---- one session after the other ---- */

/* Many short sessions leave few segments, and every record once, also in the header's tally, as
 * long as all of the sessions have known that. */
static void short_sessions(size_t unknown)
{
    struct file f;
    struct zmpi_header h;
    uint64_t tally = 0;
    unsigned char data[8] = {0}, got[8 * 1000], *index;
    size_t size;
    file_create(&f, &h, test_id);
    for (size_t k = 0; k < 1000; k++) {
        struct zmpi_container c;
        struct zmpi_reader in = file_reader(&f);
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_open_lazily(&c, &in), ZMPI_OK);
        cr_assert_eq(c.count, k);
        cr_assert(k == 0 || c.header.tallied == (k <= unknown));
        cr_assert(k > unknown || c.header.tally == tally);
        struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                                .order = (uint64_t)k << 32,
                                .extent = {.lo = 8 * k, .run = 8}};
        cr_assert_eq(zmpi_extent_close(&r.extent), ZMPI_OK);
        zmpi_store64(data, k);
        file_record(&f, &r, zmpi_pad8(f.size), test_id, data);
        cr_assert_eq(zmpi_container_add(&c, &r), ZMPI_OK);
        in = file_reader(&f);
        cr_assert_eq(
            zmpi_index_make(&c, &in, zmpi_pad8(f.size), c.header.generation + 1, &index, &size),
            ZMPI_OK);
        file_put(&f, zmpi_pad8(f.size), index, size);
        free(index);
        tally += zmpi_record_tally(&r);
        if (k == unknown) /* a writer from before there were tallies */
            c.header.tallied = false;
        c.header.generation++;
        file_header(&f, &c.header);
        cr_assert(c.indexed <= k / (ZMPI_SEGMENT_RECORDS / 2) + 1);
        zmpi_container_free(&c);
    }
    struct zmpi_container c;
    struct zmpi_reader in = file_reader(&f);
    struct zmpi_run all = {0, sizeof got};
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open_lazily(&c, &in), ZMPI_OK);
    cr_assert(c.count == 1000 && c.scanned == 0 && c.logical_size == 8000);
    cr_assert_eq(zmpi_container_read(&c, &in, &all, 1, got, NULL), ZMPI_OK);
    for (size_t k = 0; k < 1000; k++)
        cr_assert_eq(zmpi_load64(got + 8 * k), k);
    zmpi_container_free(&c);
    file_free(&f);
}

Test(index_size, short_sessions)
{
    short_sessions(1000);
    short_sessions(500);
}

/* There is room for more segments than the index has. */
Test(index_size, many_records_behind_an_index)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    size_t n = 2 * ZMPI_SEGMENT_RECORDS, more = 10000;
    wide_file(&f, &h, n);
    struct zmpi_reader in = file_reader(&f);
    uint64_t offset = zmpi_pad8(f.size);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open_lazily(&c, &in), ZMPI_OK);
    for (uint64_t k = 0; k < more; k++) {
        struct zmpi_record r = many_record(CONTIGUOUS, k);
        r.offset = offset;
        offset += zmpi_record_size(&r);
        cr_assert_eq(zmpi_container_add(&c, &r), ZMPI_OK);
    }
    cr_assert(c.count == n + more && c.indexed == 2);
    cr_assert(c.all.count > 20 && c.all.count <= c.all.capacity);
    zmpi_container_free(&c);
    file_free(&f);
}
