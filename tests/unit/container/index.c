/* index.c - entries, segments and directories: back as they were, and read in parts. */
#include "container_file.h"

#include "base/hash.h"

/* ---- entries ---- */

static struct zmpi_record random_record(void)
{
    struct zmpi_run runs[100];
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA};
    uint64_t bits = 1 + random_below(63);
    r.order = random_next() >> random_below(64);
    r.rank = (uint32_t)(random_next() >> (32 + random_below(32)));
    r.offset = (random_next() >> (1 + random_below(40))) & ~UINT64_C(7);
    r.payload_length = 20000 + (random_next() >> (2 + random_below(50)));
    if (random_below(8) == 0) {
        r.kind = ZMPI_RECORD_SIZE;
        r.payload_length = 0;
        r.extent.lo = r.extent.hi = random_next() >> (64 - bits);
        return r;
    }
    cr_assert_eq(zmpi_extent_from_runs(&r.extent, runs, random_runs(runs, 100)), ZMPI_OK);
    uint64_t shift = random_below(UINT64_C(1) << 62);
    r.extent.lo += shift;
    r.extent.hi += shift;
    r.extents_length = r.extent.levels == ZMPI_EXTENT_LIST
                           ? 80 + (uint32_t)random_below(9999)
                           : (uint32_t)zmpi_extent_nest_size(r.extent.levels);
    return r;
}

Test(index, entries_come_back)
{
    random_numbers.state = 21;
    for (int round = 0; round < 300; round++) {
        struct zmpi_record record[50];
        struct zmpi_entries e = {0};
        size_t n = 1 + random_below(50);
        for (size_t i = 0; i < n; i++) {
            record[i] = random_record();
            cr_assert_eq(zmpi_entries_add(&e, &record[i]), ZMPI_OK);
        }
        struct zmpi_chain chain = {0};
        const unsigned char *at = e.data, *end = e.data + e.size;
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq(zmpi_entry_decode(&chain, &at, end), ZMPI_OK);
            cr_assert(zmpi_record_same(&chain.last, &record[i]));
            zmpi_extent_free(&record[i].extent);
        }
        cr_assert_eq(at, end);
        zmpi_entries_free(&e);
    }
}

/* As format.md 2.3 has them: a first entry, one of another epoch, one as expected, nests that
 * differ in a stride alone, a size record. */
Test(index, bytes_of_entries)
{
    static const unsigned char want[] = {65, 0, 16, 200, 1, 14, 32, 2,  10, 0, 1,   1,
                                         4,  3, 8,  1,   1, 4,  3,  10, 65, 6, 199, 1};
    const uint64_t epoch = UINT64_C(1) << 32;
    struct zmpi_record record[6] = {
        {.extent = {.run = 16}, .offset = 512},
        {.extent = {.lo = 16, .run = 16}, .offset = 680, .order = epoch | 5},
        {.extent = {.lo = 32, .run = 16}, .offset = 848, .order = epoch | 6},
        {.extent = {.lo = 48, .run = 4, .levels = 1, .count = {3}, .stride = {8}},
         .offset = 1016,
         .order = epoch | 7},
        {.extent = {.lo = 64, .run = 4, .levels = 1, .count = {3}, .stride = {10}},
         .offset = 1208,
         .order = epoch | 8},
        {.extent = {.lo = 80}, .offset = 1400, .order = epoch | 9}};
    struct zmpi_entries e = {0};
    struct zmpi_chain chain = {0};
    for (int i = 0; i < 6; i++) {
        struct zmpi_record *r = &record[i];
        r->kind = i < 5 ? ZMPI_RECORD_DATA : ZMPI_RECORD_SIZE;
        r->payload_length = i < 5 ? 100 : 0;
        r->extents_length = (uint32_t)zmpi_extent_nest_size(r->extent.levels);
        cr_assert_eq(zmpi_extent_close(&r->extent), ZMPI_OK);
        cr_assert_eq(zmpi_entries_add(&e, r), ZMPI_OK);
    }
    cr_assert_eq(e.size, sizeof want);
    cr_assert_eq(memcmp(e.data, want, e.size), 0);
    const unsigned char *at = e.data;
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(zmpi_entry_decode(&chain, &at, e.data + e.size), ZMPI_OK);
        cr_assert(zmpi_record_same(&chain.last, &record[i]));
    }
    zmpi_entries_free(&e);
    /* In a file, zeros follow up to a multiple of 8. */
    struct zmpi_builder b = {0};
    unsigned char segment[48], zeros[5] = {0};
    memset(segment, 0xEE, sizeof segment);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(zmpi_builder_add(&b, &record[i]), ZMPI_OK);
    cr_assert_eq(zmpi_builder_finish(&b), ZMPI_OK);
    cr_assert_eq(zmpi_index_segments_size(b.out.segment, b.out.count), 40);
    zmpi_index_put_segments(b.out.segment, b.out.count, test_id, 4096, segment);
    cr_assert_eq(memcmp(segment + 24, want, 10), 0);
    cr_assert_eq(memcmp(segment + 35, zeros, 5), 0);
    cr_assert_eq(segment[40], 0xEE);
    zmpi_builder_free(&b);
}

/* What is cut off, or of which a bit is flipped, is refused or is something that obeys the rules.
 */
Test(index, entries_that_are_damaged)
{
    random_numbers.state = 22;
    for (int round = 0; round < test_rounds(20000); round++) {
        struct zmpi_record record[2] = {random_record(), random_record()};
        struct zmpi_entries e = {0};
        cr_assert_eq(zmpi_entries_add(&e, &record[0]), ZMPI_OK);
        cr_assert_eq(zmpi_entries_add(&e, &record[1]), ZMPI_OK);
        size_t size = 1 + random_below(e.size);
        unsigned char *copy = malloc(size); /* of exactly that size, for the sanitizer */
        memcpy(copy, e.data, size);
        copy[random_below(size)] ^= (unsigned char)(1u << random_below(8));
        struct zmpi_chain chain = {0};
        const unsigned char *at = copy;
        while (at < copy + size && zmpi_entry_decode(&chain, &at, copy + size) == ZMPI_OK) {
            cr_assert_eq(zmpi_record_check(&chain.last), ZMPI_OK);
            cr_assert(chain.last.extent.hi <= ZMPI_SIZE_MAX);
        }
        zmpi_entries_free(&e);
        zmpi_extent_free(&record[0].extent);
        zmpi_extent_free(&record[1].extent);
        free(copy);
    }
}

static enum zmpi_status decode_bytes(const unsigned char *src, size_t size)
{
    struct zmpi_chain chain = {0};
    enum zmpi_status status = ZMPI_OK;
    for (const unsigned char *end = src + size; status == ZMPI_OK && src < end;)
        status = zmpi_entry_decode(&chain, &src, end);
    return status;
}

Test(index, entries_that_are_odd)
{
    /* flags FORM and PAYLOAD, contiguous, 16 bytes, payload 100; then each thing wrong in turn */
    static const unsigned char good[] = {65, 0, 16, 200, 1};
    static const unsigned char flag[] = {193, 0, 16, 200, 1}, form[] = {65, 7, 16, 200, 1};
    static const unsigned char longer[] = {65, 0, 144, 0, 200, 1}, zero[] = {67, 0, 16, 0, 200, 1};
    static const unsigned char short_payload[] = {65, 0, 16, 100}, none[] = {64, 200, 1};
    static const unsigned char huge[] = {65, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
    static const unsigned char negative[] = {67, 0, 16, 1, 200, 1};
    static const unsigned char rank[] = {81, 0, 16, 1, 200, 1};
    cr_assert_eq(decode_bytes(good, sizeof good), ZMPI_OK);
    cr_assert_eq(decode_bytes(good, sizeof good - 1), ZMPI_ERR_TRUNCATED);
    cr_assert_eq(decode_bytes(flag, sizeof flag), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(form, sizeof form), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(longer, sizeof longer), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(zero, sizeof zero), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(short_payload, sizeof short_payload), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(none, sizeof none), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(huge, sizeof huge), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(negative, sizeof negative), ZMPI_ERR_CORRUPT);
    cr_assert_eq(decode_bytes(rank, sizeof rank), ZMPI_ERR_CORRUPT);
}

/* What does not follow from itself cannot be put into an index. */
Test(index, records_that_lie)
{
    struct zmpi_entries e = {0};
    struct zmpi_record lie, r = {.kind = ZMPI_RECORD_DATA,
                                 .offset = 512,
                                 .payload_length = 200,
                                 .extent = {.hi = SPACE, .bytes = SPACE, .run = SPACE}};
    cr_assert_eq(zmpi_entries_add(&e, &r), ZMPI_OK);
    lie = r, lie.offset++;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.offset = UINT64_C(1) << 63;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.payload_length = UINT64_C(1) << 62;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.payload_length = 8;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    const uint64_t most =
        (200 - 80) / 12 * (UINT64_C(16) << 20); /* of a stream of 200 bytes: format.md 1.3 */
    lie = r, lie.extent.hi = lie.extent.bytes = lie.extent.run = most + 1;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.extent.levels = ZMPI_EXTENT_LIST, lie.extents_length = 80, lie.extent.bytes++;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.extent.hi = UINT64_MAX;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.extent.hi++;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.extents_length = 24;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.kind = (enum zmpi_record_kind)3;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    lie = r, lie.kind = ZMPI_RECORD_SIZE;
    cr_assert_eq(zmpi_entries_add(&e, &lie), ZMPI_ERR_ARG);
    cr_assert_eq(e.count, 1);
    zmpi_entries_free(&e);
}

/* ---- read in parts ---- */

static size_t loaded(const struct zmpi_container *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->indexed; k++)
        n += c->all.segment[k].entries != NULL;
    return n;
}

Test(index, only_what_is_touched_is_read)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    size_t n = 40 * ZMPI_SEGMENT_RECORDS;
    unsigned char got[300];
    wide_file(&f, &h, n);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    f.reads = 0;
    cr_assert_eq(zmpi_container_open_lazily(&c, &in), ZMPI_OK);
    cr_assert_eq(f.reads, 2, "header and directory");
    cr_assert(c.indexed == 40 && c.count == n && c.logical_size == n * 100 && loaded(&c) == 0);
    struct zmpi_run middle = {20 * ZMPI_SEGMENT_RECORDS * 100 + 50, 300};
    cr_assert_eq(zmpi_container_read(&c, &in, &middle, 1, got, NULL), ZMPI_OK);
    for (size_t i = 0; i < sizeof got; i++)
        cr_assert_eq(got[i], (unsigned char)((middle.offset + i) / 100));
    cr_assert_eq(loaded(&c), 1);
    cr_assert_eq(f.reads, 2 + 1 + 4, "one segment and four records");
    struct zmpi_run edge = {10 * ZMPI_SEGMENT_RECORDS * 100 - 50, 100};
    f.reads = 0;
    cr_assert_eq(zmpi_container_read(&c, &in, &edge, 1, got, NULL), ZMPI_OK);
    cr_assert_eq(loaded(&c), 3);
    cr_assert_eq(f.reads, 1 + 2, "two segments at once, and two records");
    f.reads = 0;
    cr_assert_eq(zmpi_container_load(&c, &in, 0, c.indexed), ZMPI_OK);
    cr_assert(f.reads == 1 && loaded(&c) == 40);
    zmpi_container_free(&c);
    file_free(&f);
}

/* A damaged segment is an error that names it, where it is needed and only there; opening all of
 * the index scans instead. */
Test(index, a_damaged_segment)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    size_t n = 4 * ZMPI_SEGMENT_RECORDS;
    unsigned char got[100];
    wide_file(&f, &h, n);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open_lazily(&c, &in), ZMPI_OK);
    uint64_t place = c.all.segment[2].offset, bad = 0;
    f.data[place + ZMPI_SEGMENT_HEADER_BYTES + 5] ^= 4;
    struct zmpi_run first = {0, 100}, third = {2 * ZMPI_SEGMENT_RECORDS * 100 + 100, 100};
    cr_assert_eq(zmpi_container_read(&c, &in, &first, 1, got, &bad), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, &third, 1, got, &bad), ZMPI_ERR_CHECKSUM);
    cr_assert_eq(bad, place);
    zmpi_container_free(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert(c.index_damaged && c.count == n && c.scanned == n && zmpi_container_whole(&c));
    cr_assert_eq(zmpi_container_read(&c, &in, &third, 1, got, &bad), ZMPI_OK);
    cr_assert_eq(got[0], (unsigned char)(third.offset / 100));
    zmpi_container_free(&c);
    file_free(&f);
}

/* Directories with right checksums that lie of their segments. */
Test(index, lying_directory)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    size_t n = 3 * ZMPI_SEGMENT_RECORDS;
    wide_file(&f, &h, n);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    struct zmpi_segment good[3];
    memcpy(good, c.all.segment, sizeof good);
    zmpi_container_free(&c);
    for (int lie = 0; lie < 10; lie++) {
        struct zmpi_segment s[3];
        memcpy(s, good, sizeof s);
        s[1].lo += lie == 0;
        s[1].hi -= lie == 1;
        s[1].newest++, s[1].newest -= lie != 2;
        s[1].size += lie == 3;
        s[1].count -= lie == 4;
        s[1].sizes += lie == 5;
        s[1].offset += lie == 6 ? 8 : 0;
        if (lie == 7)
            s[1] = s[0];
        if (lie == 8)
            s[1] = good[2], s[2] = good[1];
        s[2].offset = lie == 9 ? UINT64_C(1) << 60 : s[2].offset;
        zmpi_index_put_directory(s, 3, test_id, h.index_offset, f.data + h.index_offset);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert(c.index_damaged && c.count == n && c.scanned == n, "lie %d", lie);
        zmpi_container_free(&c);
    }
    /* All is true, but there is more than entries. */
    zmpi_index_put_directory(good, 3, test_id, h.index_offset, f.data + h.index_offset);
    file_put(&f, f.size + 7, "", 1);
    in = file_reader(&f);
    unsigned char *frame = f.data + h.index_offset;
    size_t longer = 3 * ZMPI_DIRECTORY_ENTRY_BYTES + 8;
    for (int lie = 0; lie < 2; lie++) {
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_eq(c.index_damaged, lie == 1);
        zmpi_container_free(&c);
        h.index_length += 8;
        h.log_end += 8;
        file_header(&f, &h);
        zmpi_store64(frame + 8, longer);
        zmpi_store64(frame + 16, zmpi_hash2(frame, 16, frame + ZMPI_SEGMENT_HEADER_BYTES, longer,
                                            zmpi_seed(test_id, h.index_offset)));
    }
    file_free(&f);
}

/* A segment and the directory agree on a number of records that are not there. */
Test(index, lying_segment)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_record *record;
    size_t n = 2 * ZMPI_SEGMENT_RECORDS;
    wide_file(&f, &h, n);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    for (uint32_t wrong = 0; wrong < 2; wrong++) {
        struct zmpi_segment s[2];
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert(!c.index_damaged);
        memcpy(s, c.all.segment, sizeof s);
        s[1].count = wrong == 0 ? ZMPI_SEGMENT_RECORDS - 1 : ZMPI_SEGMENT_RECORDS + 1;
        zmpi_index_put_segments(&s[1], 1, test_id, s[1].offset, f.data + s[1].offset);
        zmpi_index_put_directory(s, 2, test_id, h.index_offset, f.data + h.index_offset);
        zmpi_container_free(&c);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert(c.index_damaged && c.count == n && c.scanned == n);
        cr_assert_eq(zmpi_container_records(&c, &in, &record), ZMPI_OK);
        free(record);
        zmpi_container_free(&c);
        file_free(&f);
        wide_file(&f, &h, n);
        in = file_reader(&f);
    }
    file_free(&f);
}
