/* container_scan.c - what a scan of the log takes, passes or refuses, and what that may cost. */
#include "container_file.h"

#include "base/hash.h"
#include "layout/stream.h"

/* ---- payloads that are no stream of the record's bytes ---- */

/* A scan does not take the record, and a read through an index is refused with `why`. */
static void check_refused(const struct file *from, struct zmpi_header h,
                          const struct zmpi_record *r, enum zmpi_status why)
{
    struct file f = {0};
    struct zmpi_container c;
    unsigned char got[16];
    struct zmpi_run all = {0, r->extent.hi};
    file_put(&f, 0, from->data, from->size);
    zmpi_record_encode(r, test_id, NULL, f.data + r->offset);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
    cr_assert(c.count == 0 && c.damaged == zmpi_record_size(r));
    zmpi_container_free(&c);
    file_index(&f, &h, r, 1, 1);
    in = file_reader(&f);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, &all, 1, got, NULL), why);
    zmpi_container_free(&c);
    file_free(&f);
}

Test(scan, wrong_payloads)
{
    struct file f;
    struct zmpi_header h;
    const float data[4] = {1, 2, 3, 4};
    struct zmpi_record lie,
        r = {.kind = ZMPI_RECORD_DATA, .extent = {.hi = 16, .bytes = 16, .run = 16}};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, (const unsigned char *)data);
    file_put(&f, f.size, "\0\0\0\0\0\0\0", 8); /* for a payload that is too long */
    unsigned char *stream = f.data + zmpi_record_payload(&r);
    for (size_t at = 4; at <= 8; at += 4) { /* version, encoder */
        unsigned char *byte = stream + at, good = *byte;
        *byte = 9;
        zmpi_store64(stream + 72, zmpi_hash2(stream, 72, stream + 80, 8, 0));
        check_refused(&f, h, &r, ZMPI_ERR_VERSION);
        *byte = good;
        zmpi_store64(stream + 72, zmpi_hash2(stream, 72, stream + 80, 8, 0));
    }
    lie = r, lie.extent.hi = lie.extent.bytes = lie.extent.run = 12;
    check_refused(&f, h, &lie, ZMPI_ERR_CORRUPT);
    lie = r, lie.payload_length = zmpi_pad8(r.payload_length) + 8;
    check_refused(&f, h, &lie, ZMPI_ERR_CORRUPT);
    file_free(&f);
}

/* A segment of an older index, larger than what a scan reads at once: what it holds is no damage.
 */
Test(scan, segments_are_passed)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    const unsigned char data[4] = {1};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA, .extent = {.hi = 4, .bytes = 4, .run = 4}};
    const size_t size = (2u << 20) + 3, at = ZMPI_HEADER_BYTES;
    file_create(&f, &h, test_id);
    file_put(&f, at + ZMPI_SEGMENT_HEADER_BYTES + size, "", 1);
    unsigned char *frame = f.data + at, *entries = frame + ZMPI_SEGMENT_HEADER_BYTES;
    memcpy(entries + 800, "ZREC\1\0\0", 8);
    memcpy(frame, "ZIDX\1\0\0", 8);
    zmpi_store64(frame + 8, size);
    zmpi_store64(frame + 16, zmpi_hash2(frame, 16, entries, size, zmpi_seed(test_id, at)));
    file_record(&f, &r, zmpi_pad8(f.size), test_id, data);
    for (int damaged = 0; damaged < 2; damaged++) {
        struct zmpi_reader in = file_reader(&f);
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
        cr_assert_eq(c.count, 1);
        cr_assert_eq(c.damaged, damaged ? ZMPI_RECORD_HEADER_BYTES : 0);
        zmpi_container_free(&c);
        f.data[at + ZMPI_SEGMENT_HEADER_BYTES + size - 1] ^= 1;
    }
    file_free(&f);
}

static unsigned char *noise(size_t bytes, uint64_t seed)
{
    unsigned char *data = malloc(bytes);
    cr_assert_not_null(data);
    random_numbers.state = seed;
    for (size_t i = 0; i < bytes; i += 8)
        zmpi_store64(data + i, random_next());
    return data;
}

/* A record larger than what is read at once: whichever read fails, that is the error. */
Test(scan, failing_reads)
{
    const size_t bytes = 5u << 19;
    unsigned char *data = noise(bytes, 16);
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                            .extent = {.hi = bytes, .bytes = bytes, .run = bytes}};
    struct failing failing = {.file = &f};
    struct zmpi_reader in = {.read = failing_read, .context = &failing};
    enum zmpi_status status = ZMPI_ERR_IO;
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, data);
    in.file_size = f.size;
    zmpi_container_init(&c);
    for (int reads = 0; status != ZMPI_OK; reads++) {
        failing.left = reads;
        status = zmpi_container_scan(&c, &in);
        cr_assert(status == ZMPI_OK ? reads > 3 && c.count == 1 : status == ZMPI_ERR_IO);
    }
    zmpi_container_free(&c);
    file_free(&f);
    free(data);
}

/* ---- files made to keep readers busy ---- */

/* Make the stream at src right for the bytes that follow its table, but for the last chunk. */
static void bind_stream(unsigned char *src)
{
    struct zmpi_stream s;
    size_t head;
    cr_assert_eq(zmpi_stream_head_size(src, ZMPI_STREAM_HEADER_BYTES, &head), ZMPI_OK);
    unsigned char *chunk = src + head, *end = src + head;
    for (unsigned char *entry = src + ZMPI_STREAM_HEADER_BYTES; entry < end; entry += 8) {
        uint32_t size = zmpi_load32(entry);
        uint32_t hash = (uint32_t)zmpi_hash(chunk, size, 0);
        zmpi_store32(entry + 4, entry + 8 == end ? ~hash : hash);
        chunk += size;
    }
    zmpi_store64(src + 72, zmpi_hash2(src, 72, src + ZMPI_STREAM_HEADER_BYTES,
                                      head - ZMPI_STREAM_HEADER_BYTES, 0));
    cr_assert_eq(zmpi_stream_parse(&s, src, zmpi_load64(src + 64)), ZMPI_OK);
}

/* Right heads one inside the other, each with a payload of megabytes that is damaged at its end
 * only. */
Test(scan, nested_damaged_records, .timeout = 300)
{
    size_t bytes = 4u << 20, head = ZMPI_RECORD_HEADER_BYTES, stream_head;
    unsigned char *data = noise(bytes, 14);
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                            .extent = {.hi = bytes, .bytes = bytes, .run = bytes}};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, data);
    unsigned char *stream = malloc(r.payload_length);
    cr_assert_not_null(stream);
    memcpy(stream, f.data + zmpi_record_payload(&r), r.payload_length);
    cr_assert_eq(zmpi_stream_head_size(stream, r.payload_length, &stream_head), ZMPI_OK);
    size_t fakes = 500, step = head + zmpi_pad8(stream_head);
    file_put(&f, f.size + fakes * step, "", 1);
    for (size_t k = fakes; k-- > 0;) {
        struct zmpi_record fake = r;
        fake.offset = ZMPI_HEADER_BYTES + k * step;
        zmpi_record_encode(&fake, test_id, NULL, f.data + fake.offset);
        memcpy(f.data + fake.offset + head, stream, stream_head);
        bind_stream(f.data + fake.offset + head);
    }
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_ERR_CORRUPT);
    cr_assert(f.read_bytes < 100 * f.size);
    zmpi_container_free(&c);
    file_free(&f);
    free(stream);
    free(data);
}

/* A long stretch of nothing, and of almost-magic. */
Test(scan, long_gaps, .timeout = 300)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    size_t gap = 64u << 20;
    unsigned char data[100] = {5};
    struct zmpi_record r[2] = {
        {.kind = ZMPI_RECORD_DATA, .extent = {.hi = 100, .bytes = 100, .run = 100}},
        {.kind = ZMPI_RECORD_DATA, .order = 1, .extent = {.hi = 100, .bytes = 100, .run = 100}}};
    file_create(&f, &h, test_id);
    file_put(&f, ZMPI_HEADER_BYTES + gap, "", 1);
    file_record(&f, &r[0], zmpi_pad8(f.size), test_id, data);
    size_t second = zmpi_pad8(f.size);
    file_put(&f, second + gap, "", 1);
    for (size_t at = second; at < second + gap; at += 8)
        memcpy(f.data + at, at % 16 ? "ZREC\1\0\0" : "ZIDX\1\0\0", 8);
    file_record(&f, &r[1], zmpi_pad8(f.size), test_id, data);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, 2);
    cr_assert(f.read_bytes < 2 * f.size);
    zmpi_container_free(&c);
    file_free(&f);
}
