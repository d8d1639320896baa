/* container_compaction.c - records that no read can see any more are found, all of them and no
 * others; the file is the same without them, and beside any of those that were dropped. */
#include "container_file.h"

static int by_order(const void *a, const void *b)
{
    return zmpi_record_compare(a, b);
}

/* Which records, in order, have a byte that a reader sees; size records always count. */
static void find_visible(const struct zmpi_record *record, size_t n, bool *visible)
{
    size_t owner[SPACE];
    for (size_t i = 0; i < SPACE; i++)
        owner[i] = n;
    for (size_t k = 0; k < n; k++) {
        const struct zmpi_extent *e = &record[k].extent;
        visible[k] = record[k].kind == ZMPI_RECORD_SIZE;
        for (uint64_t i = e->lo; visible[k] && i < SPACE; i++)
            owner[i] = n;
        for (uint64_t i = 0, position; !visible[k] && i < zmpi_extent_runs(e); i++) {
            struct zmpi_run run = zmpi_extent_run(e, i, &position);
            for (uint64_t j = 0; j < run.length; j++)
                owner[run.offset + j] = k;
        }
    }
    for (size_t i = 0; i < SPACE; i++)
        if (owner[i] < n)
            visible[owner[i]] = true;
}

static void check_dropped(const struct op *ops, size_t n, struct zmpi_compaction *s,
                          const struct zmpi_reader *in, bool all)
{
    struct zmpi_record record[OPS_MAX], *kept;
    bool visible[OPS_MAX];
    uint64_t live = 0, dead = 0;
    size_t found = 0;
    ops_records(ops, n, record);
    qsort(record, n, sizeof *record, by_order);
    find_visible(record, n, visible);
    cr_assert_eq(zmpi_container_records(&s->kept, in, &kept), ZMPI_OK);
    for (size_t k = 0; k < n; k++) {
        bool is_kept = found < s->kept.count && kept[found].offset == record[k].offset;
        cr_assert(is_kept || !visible[k], "a record is dropped that readers see");
        cr_assert(!is_kept || visible[k] || !all, "a record is kept that nobody sees");
        *(is_kept ? &live : &dead) += zmpi_record_stored(&record[k]);
        found += is_kept;
    }
    cr_assert_eq(found, s->kept.count);
    cr_assert_eq(s->dropped, n - found);
    cr_assert(s->live == live && s->dead == dead);
    free(kept);
}

static void check_same(struct zmpi_container *c, const struct zmpi_reader *in,
                       const struct model *m)
{
    bool same;
    cr_assert_eq(read_all(c, in, m, &same), ZMPI_OK);
    cr_assert(same);
    cr_assert_eq(c->logical_size, m->size);
}

/* The file with an index of what is kept, of whose gaps some are zero: by index, and scanned. */
static void check_file(struct file *f, struct zmpi_compaction *s, const struct model *m)
{
    struct zmpi_reader in = file_reader(f);
    struct zmpi_container c;
    struct zmpi_run *gap;
    unsigned char *index;
    size_t size, n;
    uint64_t end = zmpi_pad8(f->size);
    cr_assert_eq(zmpi_index_make(&s->kept, &in, end, 0, &index, &size), ZMPI_OK);
    file_put(f, end, index, size);
    free(index);
    s->kept.header.generation++;
    file_header(f, &s->kept.header);
    in = file_reader(f);
    cr_assert_eq(zmpi_container_gaps(&s->kept, &in, end, &gap, &n), ZMPI_OK);
    for (size_t i = 0; i < n; i++) {
        cr_assert(gap[i].offset >= ZMPI_HEADER_BYTES && gap[i].offset + gap[i].length <= end);
        if (random_below(2))
            memset(f->data + gap[i].offset, 0, gap[i].length);
    }
    free(gap);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, s->kept.count);
    cr_assert(!c.index_damaged && c.scanned == 0);
    check_same(&c, &in, m);
    zmpi_container_free(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
    cr_assert_geq(c.count, s->kept.count);
    check_same(&c, &in, m);
    zmpi_container_free(&c);
    for (size_t k = 0; k < s->dropped; k++) {
        cr_assert(k == 0 || s->gone[k].offset >= s->gone[k - 1].offset + s->gone[k - 1].length);
        memset(f->data + s->gone[k].offset, 0, s->gone[k].length);
    }
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, s->kept.count);
    check_same(&c, &in, m);
    zmpi_container_free(&c);
}

Test(container_compaction, random_records)
{
    static struct op ops[OPS_MAX];
    struct zmpi_record record[OPS_MAX];
    size_t dropped = 0;
    random_numbers.state = 11;
    for (int round = 0; round < test_rounds(1000); round++) {
        size_t n = 1 + random_below(OPS_MAX - 1);
        bool all = random_below(4) != 0;
        struct file f;
        struct zmpi_header h;
        struct model m;
        struct zmpi_container c;
        struct zmpi_compaction s;
        file_create(&f, &h, test_id);
        for (size_t i = 0; i < n; i++) {
            random_op(&ops[i]);
            if (i > 0 && random_below(4) == 0) { /* the same place again */
                zmpi_extent_free(&ops[i].record.extent);
                size_t like = random_below(i);
                if (ops[like].record.extent.levels != ZMPI_EXTENT_LIST) {
                    ops[i].record.kind = ops[like].record.kind;
                    ops[i].record.extent = ops[like].record.extent;
                } else {
                    random_op(&ops[i]);
                }
            }
        }
        file_ops(&f, ops, n, test_id);
        ops_records(ops, n, record);
        file_index(&f, &h, record, n, 1 + random_below(3));
        model_make(&m, ops, n);
        struct zmpi_reader in = file_reader(&f);
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_eq(
            zmpi_container_plan_compaction(&c, &in, all ? UINT64_MAX : random_below(100), &s),
            ZMPI_OK);
        zmpi_container_free(&c);
        check_dropped(ops, n, &s, &in, all);
        check_file(&f, &s, &m);
        dropped += s.dropped;
        zmpi_compaction_free(&s);
        file_free(&f);
        ops_free(ops, n);
    }
    cr_assert_gt(dropped, (size_t)test_rounds(1000));
}

/* What was written again in the same places goes without a look at any runs. */
Test(container_compaction, repeated)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_compaction s;
    const unsigned char data[30] = {0};
    struct zmpi_run runs[3] = {{0, 10}, {20, 10}, {40, 10}},
                    other[3] = {{0, 10}, {22, 10}, {44, 6}};
    struct zmpi_record r[4] = {{.order = 1}, {.order = 2}, {.order = 3}, {.order = 4}};
    file_create(&f, &h, test_id);
    for (int i = 0; i < 4; i++) {
        r[i].kind = ZMPI_RECORD_DATA;
        cr_assert_eq(zmpi_extent_from_runs(&r[i].extent, i == 1 ? other : runs, 3), ZMPI_OK);
        file_record(&f, &r[i], zmpi_pad8(f.size), test_id, data);
    }
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(zmpi_container_plan_compaction(&c, &in, 0, &s), ZMPI_OK);
    cr_assert(s.dropped == 2 && s.kept.count == 2);
    cr_assert_eq(s.dead, zmpi_record_stored(&r[0]) + zmpi_record_stored(&r[2]));
    zmpi_compaction_free(&s);
    zmpi_container_free(&c);
    zmpi_extent_free(&r[1].extent);
    file_free(&f);
}

/* A record of no bytes tells of the size. */
Test(container_compaction, no_bytes)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_compaction s;
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA, .extent = {.lo = 70, .hi = 70}};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, (const unsigned char *)"");
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(zmpi_container_plan_compaction(&c, &in, UINT64_MAX, &s), ZMPI_OK);
    cr_assert(s.kept.count == 1 && s.kept.logical_size == 70 && s.dropped == 0);
    zmpi_compaction_free(&s);
    zmpi_container_free(&c);
    file_free(&f);
}

/* ---- holes ---- */

/* Room that was given back is skipped by a scan. */
static uint64_t data_at(void *context, uint64_t offset)
{
    const struct file *f = context;
    while (offset < f->size && f->data[offset] == 0)
        offset++;
    return offset;
}

Test(container_compaction, holes_are_not_read)
{
    enum { FAR = 64 << 20 };
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_record r[2] = {
        {.kind = ZMPI_RECORD_DATA, .extent = {.lo = 0, .hi = 5, .bytes = 5, .run = 5}},
        {.kind = ZMPI_RECORD_DATA, .order = 1, .extent = {.lo = 5, .hi = 9, .bytes = 4, .run = 4}}};
    unsigned char got[9];
    struct zmpi_run run = {0, 9};
    file_create(&f, &h, test_id);
    file_record(&f, &r[0], ZMPI_HEADER_BYTES, test_id, (const unsigned char *)"abcde");
    file_record(&f, &r[1], FAR, test_id, (const unsigned char *)"fghi");
    f.size += FAR; /* and behind it */
    f.data = realloc(f.data, f.size);
    cr_assert_not_null(f.data);
    memset(f.data + f.size - FAR, 0, FAR);
    struct zmpi_reader in = file_reader(&f);
    in.data_at = data_at;
    f.read_bytes = 0;
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_lt(f.read_bytes, 4 << 20);
    cr_assert_eq(c.scanned, 2);
    cr_assert_eq(zmpi_container_read(&c, &in, &run, 1, got, NULL), ZMPI_OK);
    cr_assert_eq(memcmp(got, "abcdefghi", 9), 0);
    zmpi_container_free(&c);
    file_free(&f);
}
