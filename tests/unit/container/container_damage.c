/* container_damage.c - truncated, bit-flipped, foreign and hostile containers: right bytes or
 * an error. */
#include "container_file.h"

#include "base/hash.h"

static uint64_t record_end(const struct zmpi_record *r)
{
    return r->offset + zmpi_record_size(r);
}

/* ---- truncation ---- */

/* What is complete in the first `size` bytes must be all that is seen. */
static void check_truncated(const struct file *f, size_t size, struct op *ops, size_t n)
{
    struct file cut = {.data = malloc(size + 1), .size = size};
    struct zmpi_reader in = file_reader(&cut);
    struct zmpi_container c;
    struct model m;
    size_t complete = 0;
    bool same;
    cr_assert_not_null(cut.data);
    memcpy(cut.data, f->data, size);
    for (size_t i = 0; i < n; i++) {
        ops[i].lost = record_end(&ops[i].record) > size;
        complete += !ops[i].lost;
    }
    model_make(&m, ops, n);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, complete);
    cr_assert_eq(read_all(&c, &in, &m, &same), ZMPI_OK);
    cr_assert(same);
    zmpi_container_free(&c);
    free(cut.data);
}

Test(damage, truncated, .timeout = 300)
{
    static struct op ops[OPS_MAX];
    random_numbers.state = 11;
    for (int round = 0; round < (test_long() ? 30 : 16 / TEST_LESS); round++) {
        struct file f;
        struct zmpi_header h;
        size_t n = random_file(&f, &h, ops, round % 2 == 0);
        for (size_t i = 0; i < n; i++) {
            const struct zmpi_record *r = &ops[i].record;
            uint64_t ends[] = {r->offset, zmpi_record_payload(r), record_end(r)};
            for (int k = 0; k < 3; k++)
                for (uint64_t at = ends[k] - 8; at <= ends[k] + 8; at++)
                    if (at >= ZMPI_HEADER_BYTES && at <= f.size)
                        check_truncated(&f, at, ops, n);
        }
        for (int k = 0; k < 50; k++)
            check_truncated(&f, ZMPI_HEADER_BYTES + random_below(f.size + 1 - ZMPI_HEADER_BYTES),
                            ops, n);
        file_free(&f);
        ops_free(ops, n);
    }
}

Test(damage, truncated_header)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    file_create(&f, &h, test_id);
    file_index(&f, &h, NULL, 0, 1);
    zmpi_container_init(&c);
    for (size_t size = 0; size < ZMPI_HEADER_BYTES; size++) {
        f.size = size;
        struct zmpi_reader in = file_reader(&f);
        enum zmpi_status status = zmpi_container_open(&c, &in);
        cr_assert_eq(status == ZMPI_OK, size >= 128);
        cr_assert_eq(c.count, 0);
        zmpi_container_free(&c);
    }
    file_free(&f);
}

/* ---- flipped bits ---- */

/* With an index every byte is right or refused; without one, only the damaged record may be
 * missing. */
static void check_flipped(struct file *f, struct op *ops, size_t n, bool indexed, size_t at)
{
    struct zmpi_reader in = file_reader(f);
    struct zmpi_container c;
    struct model whole, without;
    bool same, same_without;
    for (size_t i = 0; i < n; i++)
        ops[i].lost = false;
    model_make(&whole, ops, n);
    for (size_t i = 0; i < n; i++)
        ops[i].lost = !indexed && at >= ops[i].record.offset && at < record_end(&ops[i].record);
    model_make(&without, ops, n);
    zmpi_container_init(&c);
    enum zmpi_status status = zmpi_container_open(&c, &in);
    if (status == ZMPI_OK) {
        status = read_all(&c, &in, &whole, &same);
        if (status == ZMPI_OK && !same) {
            status = read_all(&c, &in, &without, &same_without);
            cr_assert(status == ZMPI_OK && same_without && !indexed);
        }
    }
    zmpi_container_free(&c);
}

Test(damage, flipped_bits, .timeout = 300)
{
    static struct op ops[OPS_MAX];
    random_numbers.state = 12;
    for (int round = 0; round < (test_long() ? 30 : 16 / TEST_LESS); round++) {
        struct file f;
        struct zmpi_header h;
        bool indexed = round % 2 == 0;
        size_t n = random_file(&f, &h, ops, indexed);
        for (int k = 0; k < 400; k++) {
            size_t at = ZMPI_HEADER_BYTES + random_below(f.size - ZMPI_HEADER_BYTES);
            if (random_below(4) == 0) /* heads, and streams' headers, are few among many bytes */
                at = ops[random_below(n)].record.offset + random_below(200);
            if (random_below(20) == 0)
                at = zmpi_header_slot(random_below(2)) + random_below(128);
            if (at >= f.size)
                continue;
            unsigned char bit = (unsigned char)(1u << random_below(8));
            f.data[at] ^= bit;
            check_flipped(&f, ops, n, indexed, at);
            f.data[at] ^= bit;
        }
        file_free(&f);
        ops_free(ops, n);
    }
}

/* A damaged record does no harm where newer data hide it, and is named where they do not. */
Test(damage, only_what_is_damaged_is_refused)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    unsigned char data[1000], got[1000];
    struct zmpi_record r[2] = {
        {.kind = ZMPI_RECORD_DATA, .order = 1, .extent = {.hi = 1000, .bytes = 1000, .run = 1000}},
        {.kind = ZMPI_RECORD_DATA, .order = 2, .extent = {.hi = 500, .bytes = 500, .run = 500}}};
    struct zmpi_run hidden = {0, 500}, visible = {450, 100};
    uint64_t bad = 0;
    memset(data, 7, sizeof data);
    file_create(&f, &h, test_id);
    file_record(&f, &r[0], zmpi_pad8(f.size), test_id, data);
    file_record(&f, &r[1], zmpi_pad8(f.size), test_id, data);
    file_index(&f, &h, r, 2, 1);
    f.data[zmpi_record_payload(&r[0]) + 90] ^= 1;
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, &hidden, 1, got, &bad), ZMPI_OK);
    cr_assert_eq(memcmp(got, data, 500), 0);
    cr_assert_eq(zmpi_container_read(&c, &in, &visible, 1, got, &bad), ZMPI_ERR_CHECKSUM);
    cr_assert_eq(bad, r[0].offset);
    zmpi_container_free(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, 1);
    cr_assert_eq(c.damaged, zmpi_record_size(&r[0]));
    zmpi_container_free(&c);
    file_free(&f);
}

/* Nor between its runs. */
Test(damage, what_lies_between_is_not_refused)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    unsigned char data[30] = {0}, got[10];
    struct zmpi_run runs[3] = {{0, 10}, {20, 10}, {40, 10}}, between = {10, 10};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA};
    cr_assert_eq(zmpi_extent_from_runs(&r.extent, runs, 3), ZMPI_OK);
    file_create(&f, &h, test_id);
    file_record(&f, &r, zmpi_pad8(f.size), test_id, data);
    file_index(&f, &h, &r, 1, 1);
    f.data[zmpi_record_payload(&r) + 70] ^= 1;
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, &between, 1, got, NULL), ZMPI_OK);
    cr_assert_eq(memcmp(got, data, 10), 0);
    cr_assert_neq(zmpi_container_read(&c, &in, runs, 1, got, NULL), ZMPI_OK);
    zmpi_container_free(&c);
    file_free(&f);
}

/* ---- foreign records ---- */

/*
 * Other containers, and this one's records moved elsewhere, as rubbish between records and as
 * incompressible payload.
 */
Test(damage, foreign_records)
{
    static struct op ops[OPS_MAX];
    static const unsigned char other_id[16] = {9};
    random_numbers.state = 13;
    for (int round = 0; round < 40; round++) {
        struct file foreign, f;
        struct zmpi_header h;
        struct zmpi_container c;
        struct zmpi_record r = {.kind = ZMPI_RECORD_DATA};
        const unsigned char *id = round % 2 ? test_id : other_id;
        size_t n = 1 + random_below(10), shift = random_below(8);
        file_create(&foreign, &h, id);
        for (size_t i = 0; i < n; i++)
            random_op(&ops[i]);
        file_ops(&foreign, ops, n, id);
        ops_free(ops, n);
        unsigned char *data = malloc(shift + foreign.size), *got = malloc(shift + foreign.size);
        cr_assert(data != NULL && got != NULL);
        for (size_t i = 0; i < shift; i++)
            data[i] = (unsigned char)random_next();
        memcpy(data + shift, foreign.data, foreign.size);
        r.extent.hi = r.extent.bytes = r.extent.run = shift + foreign.size;
        file_create(&f, &h, test_id);
        file_put(&f, ZMPI_HEADER_BYTES + 8, foreign.data + ZMPI_HEADER_BYTES,
                 foreign.size - ZMPI_HEADER_BYTES);
        file_record(&f, &r, zmpi_pad8(f.size), test_id, data);
        file_put(&f, zmpi_pad8(f.size) + 8, foreign.data + ZMPI_HEADER_BYTES,
                 foreign.size - ZMPI_HEADER_BYTES);
        struct zmpi_reader in = file_reader(&f);
        struct zmpi_run all = {0, r.extent.hi};
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_eq(c.count, 1);
        cr_assert_eq(zmpi_container_read(&c, &in, &all, 1, got, NULL), ZMPI_OK);
        cr_assert_eq(memcmp(got, data, r.extent.hi), 0);
        zmpi_container_free(&c);
        /* With the payload damaged, the scan goes through its inside. */
        f.data[zmpi_record_payload(&r) + 81] ^= 1;
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_eq(c.count, 0);
        cr_assert(c.damaged > 0);
        zmpi_container_free(&c);
        file_free(&f);
        file_free(&foreign);
        free(data);
        free(got);
    }
}

/* ---- indexes with right checksums that lie ---- */

/* One good record, and an index that says `lie` of it. */
static void check_lie(const struct zmpi_record *good, struct zmpi_record lie,
                      const struct file *from, struct zmpi_header h, bool index_usable)
{
    struct file f = {0};
    struct zmpi_container c;
    unsigned char got[SPACE];
    struct zmpi_run all = {0, SPACE};
    file_put(&f, 0, from->data, from->size);
    file_index(&f, &h, &lie, 1, 1);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(c.index_damaged, !index_usable);
    cr_assert_eq(c.count, 1);
    enum zmpi_status status = zmpi_container_read(&c, &in, &all, 1, got, NULL);
    cr_assert_eq(status == ZMPI_OK, !index_usable);
    struct zmpi_record *record;
    if (!index_usable) {
        cr_assert_eq(zmpi_container_records(&c, &in, &record), ZMPI_OK);
        cr_assert_eq(record[0].offset, good->offset);
        free(record);
    }
    zmpi_container_free(&c);
    file_free(&f);
}

Test(damage, lying_index)
{
    struct file f;
    struct zmpi_header h;
    unsigned char data[SPACE] = {1, 2, 3};
    struct zmpi_record lie,
        r = {.kind = ZMPI_RECORD_DATA, .extent = {.hi = SPACE, .bytes = SPACE, .run = SPACE}};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, data);

    lie = r, lie.offset = 0; /* in the header */
    check_lie(&r, lie, &f, h, false);
    lie = r, lie.offset = UINT64_C(1) << 62; /* beyond the end */
    check_lie(&r, lie, &f, h, false);

    lie = r, lie.offset += 8; /* another head, or none, is there */
    check_lie(&r, lie, &f, h, true);
    lie = r, lie.extent.hi = lie.extent.bytes = lie.extent.run = SPACE - 1;
    check_lie(&r, lie, &f, h, true);
    lie = r, lie.order = 5;
    check_lie(&r, lie, &f, h, true);
    lie = r, lie.payload_length -= 8;
    check_lie(&r, lie, &f, h, true);
    file_free(&f);
}

Test(damage, index_outside_the_file)
{
    struct file f;
    struct zmpi_header h;
    unsigned char data[SPACE] = {1, 2, 3};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                            .extent = {.hi = SPACE, .bytes = SPACE, .run = SPACE}};
    struct zmpi_container c;
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, data);
    file_index(&f, &h, &r, 1, 1);
    struct zmpi_header good = h;
    static const uint64_t wrong[] = {0,         1, 8, 4096, 1 << 20, UINT64_MAX, UINT64_MAX - 7,
                                     1ull << 63};
    zmpi_container_init(&c);
    for (size_t i = 0; i < 3 * (sizeof wrong / sizeof *wrong); i++) {
        uint64_t value = wrong[i / 3];
        h = good;
        *(i % 3 == 0 ? &h.index_offset : i % 3 == 1 ? &h.index_length : &h.log_end) = value;
        file_header(&f, &h);
        struct zmpi_reader in = file_reader(&f);
        struct model m = {.size = SPACE};
        bool same;
        memcpy(m.byte, data, SPACE);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert(c.index_damaged &&
                  (zmpi_container_whole(&c) || h.index_offset != good.index_offset));
        cr_assert_eq(read_all(&c, &in, &m, &same), ZMPI_OK);
        cr_assert(same);
        zmpi_container_free(&c);
    }
    /* Without an index, a record that is missing at the end shows in the size alone. */
    h = good;
    h.index_offset = 0;
    h.logical_size = SPACE + 1;
    file_header(&f, &h);
    struct zmpi_reader in = file_reader(&f);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert(!zmpi_container_whole(&c));
    zmpi_container_free(&c);
    file_free(&f);
}

/* As zmpi_reader.py has it. */
Test(damage, tally)
{
    const struct zmpi_record r = {.offset = 512, .order = (uint64_t)1 << 32 | 7};
    cr_assert_eq(zmpi_record_tally(&r), UINT64_C(0x73700d0d9cee410));
}

/* ---- a reader that fails ---- */

/* Whichever read fails, that is the error: never damage, and never fewer records. */
Test(damage, failing_reads)
{
    static struct op ops[OPS_MAX];
    random_numbers.state = 15;
    for (int round = 0; round < 12; round++) {
        struct file f;
        struct zmpi_header h;
        struct zmpi_container c;
        struct model m;
        size_t n = random_file(&f, &h, ops, round % 2 == 0);
        struct failing failing = {.file = &f};
        struct zmpi_reader in = {.read = failing_read, .context = &failing, .file_size = f.size};
        enum zmpi_status status = ZMPI_ERR_IO;
        bool same;
        model_make(&m, ops, n);
        zmpi_container_init(&c);
        for (int reads = 0; status != ZMPI_OK; reads++) {
            failing.left = reads;
            status = round % 3 == 0 ? zmpi_container_scan(&c, &in) : zmpi_container_open(&c, &in);
            cr_assert(status == ZMPI_OK || (status == ZMPI_ERR_IO && c.count == 0 && !c.tail));
        }
        cr_assert_eq(c.count, n);
        status = ZMPI_ERR_IO;
        for (int reads = 0; status != ZMPI_OK; reads++) {
            failing.left = reads;
            status = read_all(&c, &in, &m, &same);
            cr_assert(status == ZMPI_OK ? same : status == ZMPI_ERR_IO);
        }
        zmpi_container_free(&c);
        file_free(&f);
        ops_free(ops, n);
    }
}
