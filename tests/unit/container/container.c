/* container.c - what is written into a container is read back, by index and by scan. */
#include "container_file.h"

/* Random pieces of the file, as the model has them. */
static void check_reads(struct zmpi_container *c, const struct zmpi_reader *in,
                        const struct model *m)
{
    struct zmpi_run runs[100];
    unsigned char got[SPACE + 1];
    bool same;
    cr_assert_eq(read_all(c, in, m, &same), ZMPI_OK);
    cr_assert(same);
    cr_assert_eq(c->logical_size, m->size);
    for (int k = 0; k < 10; k++) {
        size_t n = random_runs(runs, 100), position = 0;
        memset(got, 0xEE, sizeof got);
        cr_assert_eq(zmpi_container_read(c, in, runs, n, got, NULL), ZMPI_OK);
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq(memcmp(got + position, m->byte + runs[i].offset, runs[i].length), 0);
            position += runs[i].length;
        }
        cr_assert_eq(got[position], 0xEE);
    }
}

/* Records handed over from another rank, or kept from one's own writes. */
static void check_in_memory(struct op *ops, size_t n, struct file *f, const struct model *m)
{
    struct zmpi_record record[OPS_MAX];
    struct zmpi_reader in = file_reader(f);
    struct zmpi_container c;
    ops_records(ops, n, record);
    struct zmpi_entries e = {0};
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(zmpi_entries_add(&e, &record[i]), ZMPI_OK);
    zmpi_container_init(&c);
    memcpy(c.header.id, test_id, 16);
    cr_assert_eq(zmpi_container_add_entries(&c, e.data, e.size), ZMPI_OK);
    cr_assert_eq(c.count, n);
    check_reads(&c, &in, m);
    if (n > 0)
        cr_assert_neq(zmpi_container_add_entries(&c, e.data, e.size - 1), ZMPI_OK);
    cr_assert_eq(c.count, n);
    check_reads(&c, &in, m);
    zmpi_container_free(&c);
    zmpi_entries_free(&e);
}

/* The next epoch is behind all that were found. */
static void check_epoch(struct zmpi_container *c, const struct zmpi_reader *in)
{
    struct zmpi_record *record;
    cr_assert_eq(zmpi_container_records(c, in, &record), ZMPI_OK);
    cr_assert_eq(c->header.next_epoch, c->count == 0 ? 0 : (record[c->count - 1].order >> 32) + 1);
    free(record);
}

static void check_file(struct file *f, size_t n, uint64_t scanned, const struct model *m)
{
    struct zmpi_reader in = file_reader(f);
    struct zmpi_container c;
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, n);
    cr_assert_eq(c.scanned, scanned);
    cr_assert(!c.index_damaged);
    check_epoch(&c, &in);
    check_reads(&c, &in, m);
    zmpi_container_free(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, n);
    cr_assert_eq(c.scanned, n);
    check_epoch(&c, &in);
    check_reads(&c, &in, m);
    zmpi_container_free(&c);
}

Test(container, random_records)
{
    static struct op ops[OPS_MAX];
    struct zmpi_record record[OPS_MAX];
    random_numbers.state = 1;
    for (int round = 0; round < test_rounds(400); round++) {
        size_t n = random_below(OPS_MAX), indexed = random_below(n + 1);
        struct file f;
        struct zmpi_header h;
        struct model m;
        file_create(&f, &h, test_id);
        for (size_t i = 0; i < n; i++)
            random_op(&ops[i]);
        file_ops(&f, ops, n, test_id);
        model_make(&m, ops, n);
        check_in_memory(ops, n, &f, &m);
        check_file(&f, n, n, &m);
        file_free(&f);

        /* The same with an index in the middle, a second session behind it, and an index of all. */
        file_create(&f, &h, test_id);
        file_ops(&f, ops, indexed, test_id);
        ops_records(ops, n, record);
        file_index(&f, &h, record, indexed, 1 + random_below(3));
        file_ops(&f, ops + indexed, n - indexed, test_id);
        model_make(&m, ops, n);
        check_file(&f, n, n - indexed, &m);
        ops_records(ops, n, record);
        file_index(&f, &h, record, n, 1 + random_below(3));
        check_file(&f, n, 0, &m);
        file_free(&f);
        ops_free(ops, n);
    }
}

Test(container, empty)
{
    struct file f;
    struct zmpi_header h;
    struct model m = {.size = 0};
    file_create(&f, &h, test_id);
    check_file(&f, 0, 0, &m);
    file_index(&f, &h, NULL, 0, 1);
    check_file(&f, 0, 0, &m);
    file_free(&f);
}

/* An empty raw file compressed is one record of no bytes. */
Test(container, record_of_no_bytes)
{
    struct file f;
    struct zmpi_header h;
    struct model m = {.size = 0};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, (const unsigned char *)"");
    check_file(&f, 1, 1, &m);
    file_index(&f, &h, &r, 1, 1);
    check_file(&f, 1, 0, &m);
    file_free(&f);
}

Test(container, size_records_cut)
{
    static struct op ops[4];
    struct model m;
    struct file f;
    struct zmpi_header h;
    memset(ops, 0, sizeof ops);
    for (size_t i = 0; i < 4; i++) {
        ops[i].record.order = i;
        ops[i].record.kind = i == 1 || i == 2 ? ZMPI_RECORD_SIZE : ZMPI_RECORD_DATA;
        memset(ops[i].data, 'a' + (int)i, SPACE);
    }
    ops[0].record.extent = (struct zmpi_extent){.lo = 0, .hi = 1000, .bytes = 1000, .run = 1000};
    ops[1].record.extent = (struct zmpi_extent){.lo = 300, .hi = 300};
    ops[2].record.extent = (struct zmpi_extent){.lo = 2000, .hi = 2000};
    ops[3].record.extent = (struct zmpi_extent){.lo = 500, .hi = 510, .bytes = 10, .run = 10};
    file_create(&f, &h, test_id);
    file_ops(&f, ops, 4, test_id);
    model_make(&m, ops, 4);
    cr_assert(m.size == 2000 && m.byte[299] == 'a' && m.byte[300] == 0 && m.byte[500] == 'd');
    check_file(&f, 4, 4, &m);
    file_free(&f);
}

Test(container, moved_head)
{
    struct zmpi_record r = {.kind = ZMPI_RECORD_SIZE, .offset = 512, .extent = {.lo = 7, .hi = 7}};
    struct zmpi_record back;
    unsigned char head[ZMPI_RECORD_HEADER_BYTES];
    zmpi_record_encode(&r, test_id, NULL, head);
    cr_assert_eq(zmpi_record_decode(&back, test_id, 512, head, sizeof head), ZMPI_OK);
    cr_assert_eq(zmpi_record_decode(&back, test_id, 8192, head, sizeof head), ZMPI_ERR_CHECKSUM);
    zmpi_record_rebind(head, test_id, 8192);
    cr_assert_eq(zmpi_record_decode(&back, test_id, 8192, head, sizeof head), ZMPI_OK);
    cr_assert(back.offset == 8192 && back.extent.lo == 7);
    for (size_t size = 0; size < sizeof head; size++)
        cr_assert_eq(zmpi_record_decode(&back, test_id, 8192, head, size), ZMPI_ERR_TRUNCATED);
}

/* All pieces, in order, are the map's bytes; bytes begin in the destination where they did. */
static void check_uncovered(const struct zmpi_uncovered *s, const unsigned char *map,
                            const uint64_t *position)
{
    struct zmpi_piece piece;
    uint64_t at = 0, end;
    for (; zmpi_uncovered_find(s, at, &piece); at = end) {
        end = piece.offset + piece.length;
        cr_assert(piece.offset >= at && piece.length > 0 && end <= SPACE);
        for (; at < piece.offset; at++)
            cr_assert_eq(map[at], 0);
        cr_assert_eq(piece.position, position[at]);
        for (; at < end; at++)
            cr_assert_eq(map[at], 1);
    }
    for (; at < SPACE; at++)
        cr_assert_eq(map[at], 0);
}

/* What is left of a request, in many buckets that are split and go away, until nothing is. */
Test(container, uncovered)
{
    struct zmpi_run run[501] = {{0, SPACE / 2}};
    unsigned char map[SPACE] = {0};
    uint64_t position[SPACE], bytes = 0;
    struct zmpi_uncovered s;
    size_t steps = 0;
    random_numbers.state = 3;
    for (size_t i = 0; i < 501; i++) {
        if (i > 0)
            run[i] = (struct zmpi_run){SPACE / 2 + 3 * (i - 1), random_below(4)};
        for (uint64_t at = run[i].offset; at < run[i].offset + run[i].length; at++) {
            map[at] = 1;
            position[at] = bytes++;
        }
    }
    cr_assert_eq(zmpi_uncovered_init(&s, run, 501), ZMPI_OK);
    for (uint64_t k = 0; k < SPACE / 4; k++) { /* into single bytes */
        const uint64_t at = 2 * (k * 331 % (SPACE / 4)) + 1;
        cr_assert_eq(zmpi_uncovered_cut(&s, at, at + 1), ZMPI_OK);
        map[at] = 0;
        if (k % 64 == 0)
            check_uncovered(&s, map, position);
    }
    for (; s.count > 0; steps++) {
        struct zmpi_piece piece;
        uint64_t begin, end;
        if (steps % 64 == 0)
            check_uncovered(&s, map, position);
        zmpi_uncovered_range(&s, &begin, &end);
        uint64_t at = begin + random_below(end - begin);
        cr_assert(map[begin] == 1 && map[end - 1] == 1 && zmpi_uncovered_find(&s, at, &piece));
        at = piece.offset > at ? piece.offset : at;
        end = piece.offset + piece.length;
        end = random_below(4) == 0 ? end : at + 1;
        cr_assert_eq(zmpi_uncovered_cut(&s, at, end), ZMPI_OK);
        memset(map + at, 0, end - at);
    }
    check_uncovered(&s, map, position);
    cr_assert_eq(zmpi_uncovered_cut(&s, 0, 1), ZMPI_ERR_ARG);
    zmpi_uncovered_free(&s);
    struct zmpi_run odd[2] = {{10, 5}, {14, 1}};
    cr_assert_eq(zmpi_uncovered_init(&s, odd, 2), ZMPI_ERR_ARG);
    odd[1] = (struct zmpi_run){ZMPI_SIZE_MAX, 1};
    cr_assert_eq(zmpi_uncovered_init(&s, odd, 2), ZMPI_ERR_SIZE);
    odd[1] = (struct zmpi_run){UINT64_MAX, 2};
    cr_assert_eq(zmpi_uncovered_init(&s, odd, 2), ZMPI_ERR_SIZE);
}

/* Lists are read once, until there are too many. */
Test(container, lists_are_kept)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    unsigned char data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, got[4];
    struct zmpi_record r[3] = {{.order = 0}, {.order = 1}, {.order = 2}};
    file_create(&f, &h, test_id);
    for (uint64_t i = 0; i < 3; i++) {
        struct zmpi_run runs[3] = {{100 * i, 1}, {100 * i + 3, 3}, {100 * i + 7, 5}};
        r[i].kind = ZMPI_RECORD_DATA;
        cr_assert_eq(zmpi_extent_from_runs(&r[i].extent, runs, 3), ZMPI_OK);
        file_record(&f, &r[i], zmpi_pad8(f.size), test_id, data);
        zmpi_extent_free(&r[i].extent);
    }
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    for (uint64_t k = 0; k < 6; k++) { /* records 0, 1, 0, 1, 2, 0 */
        const uint64_t i = k == 4 ? 2 : k == 5 ? 0 : k % 2;
        const struct zmpi_run middle = {100 * i + 2, 4};
        if (k == 4)
            c.list_runs = UINT64_C(1) << 40;
        f.reads = 0;
        cr_assert_eq(zmpi_container_read(&c, &in, &middle, 1, got, NULL), ZMPI_OK);
        cr_assert_eq(memcmp(got, "\0\2\3\4", 4), 0);
        cr_assert_eq(f.reads, k == 2 || k == 3 ? 1 : 2, "read %d", (int)k);
        cr_assert_eq(c.list_runs, k == 0 || k == 4 ? 3 : 6);
    }
    zmpi_container_free(&c);
    file_free(&f);
}

Test(container, bad_requests)
{
    unsigned char got[100];
    struct file f = {0};
    struct zmpi_reader in = file_reader(&f);
    struct zmpi_container c;
    struct zmpi_run overlap[] = {{0, 10}, {5, 10}}, far[] = {{INT64_MAX, 10}}, holes[] = {{9, 100}};
    struct zmpi_run empty[] = {{100, 0}, {5, 10}, {3, 0}};
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_read(&c, &in, overlap, 2, got, NULL), ZMPI_ERR_ARG);
    cr_assert_eq(zmpi_container_read(&c, &in, far, 1, got, NULL), ZMPI_ERR_SIZE);
    cr_assert_eq(zmpi_container_read(&c, &in, overlap, 0, got, NULL), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, empty, 3, got, NULL), ZMPI_OK);
    memset(got, 1, sizeof got);
    cr_assert_eq(zmpi_container_read(&c, &in, holes, 1, got, NULL), ZMPI_OK);
    for (size_t i = 0; i < sizeof got; i++)
        cr_assert_eq(got[i], 0);
    zmpi_container_free(&c);
}

/* A small part of a large record costs a small part of its bytes. */
Test(container, partial_reads_are_partial)
{
    size_t bytes = 8u << 20;
    unsigned char *data = malloc(bytes), got[64];
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    cr_assert_not_null(data);
    random_numbers.state = 5;
    for (size_t i = 0; i < bytes; i += 8)
        zmpi_store64(data + i, random_next());
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                            .extent = {.lo = 100, .hi = 100 + bytes, .bytes = bytes, .run = bytes}};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, data);
    file_index(&f, &h, &r, 1, 1);
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert(f.read_bytes < 10000, "an index is read without the records");
    for (int k = 0; k < test_rounds(200); k++) {
        struct zmpi_run runs[] = {{100 + random_below(bytes / 2), 32},
                                  {100 + bytes / 2 + random_below(bytes / 2 - 32), 32}};
        f.read_bytes = f.reads = 0;
        cr_assert_eq(zmpi_container_read(&c, &in, runs, 2, got, NULL), ZMPI_OK);
        cr_assert_eq(memcmp(got, data + runs[0].offset - 100, 32), 0);
        cr_assert_eq(memcmp(got + 32, data + runs[1].offset - 100, 32), 0);
        cr_assert(f.read_bytes < 300000 && f.reads <= 4);
    }
    zmpi_container_free(&c);
    file_free(&f);
    free(data);
}

/* ---- many records ---- */

#define MANY       (1000000 / TEST_LESS / TEST_LESS)
#define PIECE      16
#define HEAD       ZMPI_RECORD_HEADER_BYTES
#define MANY_SPACE ((uint64_t)MANY * PIECE)

/* A file of MANY equal records that is made up while it is read. */
struct many {
    struct zmpi_record record[MANY];
    unsigned char stream[1024];
    size_t length;
};

static enum zmpi_status many_read(void *context, uint64_t offset, void *dst, size_t size)
{
    const struct many *many = context;
    unsigned char whole[HEAD + 1024];
    uint64_t each = HEAD + zmpi_pad8(many->length), k = (offset - ZMPI_HEADER_BYTES) / each;
    uint64_t inside = (offset - ZMPI_HEADER_BYTES) % each;
    cr_assert(k < MANY && inside + size <= sizeof whole);
    memset(whole, 0, sizeof whole);
    zmpi_record_encode(&many->record[k], test_id, NULL, whole);
    memcpy(whole + HEAD, many->stream, many->length);
    memcpy(dst, whole + inside, size);
    return ZMPI_OK;
}

/* Records in random places of the logical file: piece k lies at shuffled[k]. */
static struct many *many_make(struct zmpi_reader *in)
{
    struct many *many = calloc(1, sizeof *many);
    uint32_t *shuffled = malloc(MANY * sizeof *shuffled);
    unsigned char data[PIECE];
    memcpy(data, "0123456789abcdef", PIECE);
    cr_assert(many != NULL && shuffled != NULL);
    unsigned char *stream = exact_stream(data, PIECE, &many->length);
    cr_assert(many->length <= sizeof many->stream);
    memcpy(many->stream, stream, many->length);
    free(stream);
    for (uint32_t k = 0; k < MANY; k++) {
        uint32_t j = (uint32_t)random_below(k + 1);
        shuffled[k] = shuffled[j];
        shuffled[j] = k;
    }
    uint64_t each = HEAD + zmpi_pad8(many->length);
    for (uint64_t k = 0; k < MANY; k++) {
        uint64_t lo = (uint64_t)shuffled[k] * PIECE;
        many->record[k] = (struct zmpi_record){
            .kind = ZMPI_RECORD_DATA,
            .order = k + 1,
            .offset = ZMPI_HEADER_BYTES + k * each,
            .payload_length = many->length,
            .extent = {.lo = lo, .hi = lo + PIECE, .bytes = PIECE, .run = PIECE}};
    }
    free(shuffled);
    *in = (struct zmpi_reader){
        .read = many_read, .context = many, .file_size = ZMPI_HEADER_BYTES + MANY * each};
    return many;
}

/* One that covers all lies below them, and must not make every look-up long: that would be hours.
 */
Test(container, a_million_records, .timeout = 300)
{
    struct zmpi_reader in;
    struct zmpi_container c;
    random_numbers.state = 6;
    struct many *many = many_make(&in);
    zmpi_container_init(&c);
    memcpy(c.header.id, test_id, 16);
    struct zmpi_record below = many->record[0];
    below.order = 0;
    below.payload_length = MANY_SPACE;
    below.extent = (struct zmpi_extent){.hi = MANY_SPACE, .bytes = MANY_SPACE, .run = MANY_SPACE};
    below.offset = in.file_size;
    cr_assert_eq(zmpi_container_add(&c, &below), ZMPI_OK);
    for (size_t k = 0; k < MANY; k++)
        cr_assert_eq(zmpi_container_add(&c, &many->record[k]), ZMPI_OK);
    cr_assert_eq(zmpi_container_seal(&c, &in), ZMPI_OK);
    for (int k = 0; k < test_rounds(10000); k++) {
        unsigned char got[64];
        struct zmpi_run run = {random_below(MANY_SPACE - 64), 64};
        cr_assert_eq(zmpi_container_read(&c, &in, &run, 1, got, NULL), ZMPI_OK);
        for (size_t i = 0; i < 64; i++)
            cr_assert_eq(got[i], "0123456789abcdef"[(run.offset + i) % PIECE]);
    }
    zmpi_container_free(&c);
    free(many);
}

/* A read of a fifth of the records, which cut it in random places. */
Test(container, a_read_of_many_records, .timeout = 300)
{
    struct zmpi_reader in;
    struct zmpi_container c;
    random_numbers.state = 7;
    struct many *many = many_make(&in);
    size_t size = MANY_SPACE / 5;
    unsigned char *got = malloc(size);
    struct zmpi_run run = {0, size};
    cr_assert_not_null(got);
    zmpi_container_init(&c);
    memcpy(c.header.id, test_id, 16);
    for (size_t k = 0; k < MANY; k++)
        cr_assert_eq(zmpi_container_add(&c, &many->record[k]), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, &run, 1, got, NULL), ZMPI_OK);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(got[i], "0123456789abcdef"[i % PIECE]);
    zmpi_container_free(&c);
    free(many);
    free(got);
}
