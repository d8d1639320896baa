/* container_copies.c - a record with a list whose head is damaged: its copy stands for it, and
 * what is lost is no more than what the record covers. */
#include "container_file.h"

enum { BASE = 1000, LIST = 30 };

/* A record of all bytes, then one with a list over it, with a copy of its head or without. */
struct scene {
    struct file f;
    struct zmpi_header h;
    struct zmpi_record r[2];
    struct model old, whole;
};

static const struct zmpi_run listed[3] = {{0, 10}, {500, 10}, {980, 10}};

static void scene_make(struct scene *s, bool copy, bool indexed)
{
    static struct op ops[2];
    memset(ops, 0, sizeof ops);
    memset(s, 0, sizeof *s);
    ops[0].record = (struct zmpi_record){
        .kind = ZMPI_RECORD_DATA, .order = 1, .extent = {.hi = BASE, .bytes = BASE, .run = BASE}};
    ops[1].record = (struct zmpi_record){.kind = ZMPI_RECORD_DATA, .order = 2};
    cr_assert_eq(zmpi_extent_from_runs(&ops[1].record.extent, listed, 3), ZMPI_OK);
    cr_assert_eq(ops[1].record.extent.levels, ZMPI_EXTENT_LIST);
    memset(ops[0].data, 7, BASE);
    memset(ops[1].data, 9, LIST);
    file_create(&s->f, &s->h, test_id);
    for (int i = 0; i < 2; i++)
        file_record(&s->f, &ops[i].record, zmpi_pad8(s->f.size), test_id, ops[i].data);
    if (copy)
        file_copy(&s->f, &ops[1].record);
    ops_records(ops, 2, s->r);
    if (indexed)
        file_index(&s->f, &s->h, s->r, 2, 1);
    model_make(&s->old, ops, 1);
    model_make(&s->whole, ops, 2);
    ops_free(ops, 2);
    s->r[1].extent.list = NULL;
    s->r[1].extent.list_count = 0;
}

static enum zmpi_status open_and_read(struct scene *s, struct zmpi_container *c,
                                      const struct model *m, bool *same)
{
    const struct zmpi_reader in = file_reader(&s->f);
    zmpi_container_init(c);
    cr_assert_eq(zmpi_container_open(c, &in), ZMPI_OK);
    return read_all(c, &in, m, same);
}

/* ---- one of the two is damaged ---- */

static void check_each_byte(struct scene *s, uint64_t from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        struct zmpi_container c;
        bool same;
        s->f.data[from + i] ^= (unsigned char)(1u << random_below(8));
        const unsigned char bad = s->f.data[from + i];
        cr_assert_eq(open_and_read(s, &c, &s->whole, &same), ZMPI_OK, "byte %zu", i);
        cr_assert(same && c.count == 2 && zmpi_container_whole(&c), "byte %zu", i);
        cr_assert_eq(c.damaged, 0, "byte %zu", i);
        cr_assert_eq(s->f.data[from + i], bad);
        zmpi_container_free(&c);
        s->f.data[from + i] = 0;
        cr_assert_eq(open_and_read(s, &c, &s->whole, &same), ZMPI_OK, "byte %zu is 0", i);
        cr_assert(same, "byte %zu is 0", i);
        zmpi_container_free(&c);
        struct scene again;
        scene_make(&again, true, s->h.index_offset != 0);
        memcpy(s->f.data, again.f.data, again.f.size);
        file_free(&again.f);
    }
}

Test(copies, head_or_copy, .timeout = 300)
{
    random_numbers.state = 31;
    for (int indexed = 0; indexed < 2; indexed++) {
        struct scene s;
        scene_make(&s, true, indexed);
        check_each_byte(&s, s.r[1].offset, zmpi_record_head_size(&s.r[1]));
        check_each_byte(&s, s.r[1].offset + zmpi_record_size(&s.r[1]),
                        zmpi_record_copy_size(&s.r[1]));
        file_free(&s.f);
    }
}

/* ---- what is lost ---- */

/* Runs of 10 bytes that the record has are refused, all others are right. */
static void check_only_its_own(struct scene *s)
{
    struct zmpi_reader in = file_reader(&s->f);
    struct zmpi_container c;
    unsigned char got[BASE];
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    for (uint64_t at = 0; at < BASE; at += 10) {
        const struct zmpi_run run = {at, 10};
        uint64_t bad = 0;
        const bool lost = at == 0 || at == 500 || at == 980;
        const enum zmpi_status status = zmpi_container_read(&c, &in, &run, 1, got, &bad);
        cr_assert_eq(status == ZMPI_OK, !lost, "at %d", (int)at);
        cr_assert(lost ? bad == s->r[1].offset : memcmp(got, s->old.byte + at, 10) == 0);
    }
    struct zmpi_losses losses = {0};
    const struct zmpi_run all = {0, BASE};
    in.losses = &losses;
    cr_assert_eq(zmpi_container_read(&c, &in, &all, 1, got, NULL), ZMPI_OK);
    cr_assert_eq(losses.count, 3);
    for (size_t i = 0; i < 3; i++)
        cr_assert(losses.loss[i].offset == listed[i].offset && losses.loss[i].length == 10 &&
                  losses.loss[i].kind == ZMPI_LOSS_LOST);
    for (size_t i = 0; i < BASE; i++)
        cr_assert_eq(got[i], s->whole.byte[i] == 9 ? 0 : 7);
    zmpi_losses_free(&losses);
    zmpi_container_free(&c);
}

Test(copies, head_and_payload_are_damaged)
{
    struct scene s;
    scene_make(&s, true, true);
    s.f.data[s.r[1].offset + 70] ^= 1;
    s.f.data[zmpi_record_payload(&s.r[1]) + 70] ^= 1;
    check_only_its_own(&s);
    /* All but the copy never reached the disk. */
    memset(s.f.data + s.r[1].offset, 0, zmpi_record_size(&s.r[1]));
    check_only_its_own(&s);
    file_free(&s.f);
}

/* Of a record with a damaged head only those chunks are lost that are damaged too. */
Test(copies, chunks_are_saved)
{
    enum { RUN = 40000, GAP = 16, SECOND = RUN + GAP };
    struct file f;
    struct zmpi_header h;
    struct zmpi_container c;
    struct zmpi_losses losses = {0};
    static unsigned char data[2 * RUN], got[2 * RUN + GAP + RUN];
    const struct zmpi_run runs[3] = {{0, RUN}, {SECOND, RUN / 2}, {SECOND + RUN, RUN / 2}};
    const struct zmpi_run all = {0, SECOND + RUN + RUN / 2};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)random_next();
    cr_assert_eq(zmpi_extent_from_runs(&r.extent, runs, 3), ZMPI_OK);
    cr_assert_eq(r.extent.levels, ZMPI_EXTENT_LIST);
    file_create(&f, &h, test_id);
    file_record(&f, &r, zmpi_pad8(f.size), test_id, data);
    file_copy(&f, &r);
    file_index(&f, &h, &r, 1, 1);
    f.data[r.offset + 20] ^= 1;
    f.data[r.offset + zmpi_record_size(&r) - 100] ^= 1; /* in the last chunk */
    struct zmpi_reader in = file_reader(&f);
    in.losses = &losses;
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert_eq(zmpi_container_read(&c, &in, &all, 1, got, NULL), ZMPI_OK);
    cr_assert_eq(memcmp(got, data, RUN), 0);
    cr_assert_eq(losses.count, 1);
    cr_assert_eq(losses.loss[0].offset, SECOND + RUN + RUN / 2 - (2 * RUN - 2 * 32768));
    cr_assert_eq(losses.loss[0].length, 2 * RUN - 2 * 32768);
    zmpi_losses_free(&losses);
    zmpi_container_free(&c);
    zmpi_extent_free(&r.extent);
    file_free(&f);
}

/* Lists that are long beside the payload or the data have parity: a copy would cost too much. */
Test(copies, cost)
{
    static const struct {
        uint32_t list;
        uint64_t bytes, payload;
        bool copied;
    } row[] = {
        {100, 30, 100, true},
        {1024 - 64, 30, 100, true},
        {1025 - 64, 30, 100, false},
        {4096 - 64, 4096 * 256, 4096 * 64, true},
        {4097 - 64, 4096 * 256, 4096 * 256, false},
        {4096 - 64, 4096 * 256 - 1, 4096 * 256, false},
        {4096 - 64, 4096 * 256, 4096 * 64 - 1, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                                .extents_length = row[i].list,
                                .payload_length = row[i].payload,
                                .extent = {.levels = ZMPI_EXTENT_LIST, .bytes = row[i].bytes}};
        const size_t head = zmpi_record_head_size(&r);
        const size_t more = row[i].copied ? head : zmpi_record_parity_size(&r);
        cr_assert_eq(zmpi_record_copy_size(&r), more, "row %zu", i);
        cr_assert_eq(zmpi_record_stored(&r), zmpi_record_size(&r) + more);
        cr_assert(more <= head && (row[i].copied || more <= 600 + head / 128));
        r.extent.levels = 1;
        cr_assert_eq(zmpi_record_copy_size(&r), 0);
    }
}

/* Without the copy, as older writers leave it, or with both damaged, nobody can tell. */
Test(copies, none)
{
    for (int copy = 0; copy < 2; copy++) {
        struct scene s;
        struct zmpi_container c;
        bool same;
        scene_make(&s, copy, true);
        cr_assert_eq(open_and_read(&s, &c, &s.whole, &same), ZMPI_OK);
        cr_assert(same);
        zmpi_container_free(&c);
        s.f.data[s.r[1].offset + 70] ^= 1;
        if (copy)
            s.f.data[s.r[1].offset + zmpi_record_size(&s.r[1]) + 70] ^= 1;
        cr_assert_eq(open_and_read(&s, &c, &s.whole, &same), ZMPI_ERR_CHECKSUM);
        zmpi_container_free(&c);
        file_free(&s.f);
    }
}

/* ---- scans ---- */

/* What a scan finds: the number of records, of those taken by their copies, of damaged bytes. */
static void check_scan(struct scene *s, size_t count, uint64_t mended, bool damaged,
                       const struct model *m)
{
    const struct zmpi_reader in = file_reader(&s->f);
    struct zmpi_container c;
    bool same;
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK);
    cr_assert_eq(c.count, count);
    cr_assert_eq(c.mended, mended);
    cr_assert_eq(c.damaged > 0, damaged);
    cr_assert_eq(read_all(&c, &in, m, &same), ZMPI_OK);
    cr_assert(same);
    zmpi_container_free(&c);
}

Test(copies, scan)
{
    struct scene s;
    scene_make(&s, true, false);
    const uint64_t head = s.r[1].offset, copy = head + zmpi_record_size(&s.r[1]);
    check_scan(&s, 2, 0, false, &s.whole);
    s.f.data[head + 9] ^= 1;
    check_scan(&s, 2, 1, false, &s.whole);
    s.f.data[head] ^= 1; /* the magic, too */
    check_scan(&s, 2, 1, false, &s.whole);
    s.f.data[zmpi_record_payload(&s.r[1]) + 85] ^= 1; /* the record is not whole */
    check_scan(&s, 1, 0, false, &s.old);
    s.f.data[zmpi_record_payload(&s.r[1]) + 85] ^= 1;
    s.f.data[copy + 9] ^= 1;
    check_scan(&s, 1, 0, false, &s.old);
    s.f.data[head] ^= 1;
    check_scan(&s, 1, 0, true, &s.old);
    file_free(&s.f);
}

/* A copy counts at its place, in its file, and for a record with a list alone. */
Test(copies, foreign)
{
    struct scene s;
    unsigned char lone[512];
    scene_make(&s, true, false);
    const uint64_t head = s.r[1].offset, size = zmpi_record_stored(&s.r[1]);
    memset(s.f.data + head, 0, zmpi_record_head_size(&s.r[1]));
    memmove(s.f.data + head + 8, s.f.data + head, size - 8);
    check_scan(&s, 1, 0, false, &s.old);
    file_free(&s.f);

    scene_make(&s, true, false);
    memset(s.f.data + s.r[1].offset, 0, zmpi_record_head_size(&s.r[1]));
    s.h.id[3] ^= 1;
    s.h.generation += 2;
    file_header(&s.f, &s.h);
    check_scan(&s, 0, 0, true, &(struct model){.size = 0});
    file_free(&s.f);

    scene_make(&s, false, false);
    const size_t first = zmpi_record_head_size(&s.r[0]);
    file_free(&s.f);
    file_create(&s.f, &s.h, test_id);
    memset(lone, 7, sizeof lone);
    file_record(&s.f, &s.r[0], ZMPI_HEADER_BYTES, test_id, s.old.byte);
    memcpy(lone, s.f.data + s.r[0].offset, first);
    zmpi_store32(lone, ZMPI_COPY_MAGIC);
    file_put(&s.f, zmpi_pad8(s.f.size), lone, first);
    s.f.data[s.r[0].offset + 9] ^= 1;
    check_scan(&s, 0, 0, true, &(struct model){.size = 0});
    file_free(&s.f);
}

/* ---- room between records ---- */

Test(copies, are_no_gaps)
{
    for (int copy = 0; copy < 2; copy++) {
        struct scene s;
        struct zmpi_container c;
        struct zmpi_run *gap;
        size_t n;
        scene_make(&s, copy, true);
        const struct zmpi_reader in = file_reader(&s.f);
        const uint64_t index = s.h.index_offset;
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_eq(zmpi_container_gaps(&c, &in, index, &gap, &n), ZMPI_OK);
        cr_assert_eq(n, 1); /* the segment */
        cr_assert_eq(gap[0].offset, s.r[1].offset + (copy ? zmpi_record_stored(&s.r[1])
                                                          : zmpi_record_size(&s.r[1])));
        free(gap);
        zmpi_container_free(&c);
        file_free(&s.f);
    }
}

/* ---- parity ---- */

enum { PIECES = 3000, PIECE = 8, STEP = 40, AREA = PIECES * STEP, BAD_SECTOR = 512 };

/* A record of all bytes, then one with a long list over it, and its parity. */
struct long_scene {
    struct file f;
    struct zmpi_header h;
    struct zmpi_record r[2];
    unsigned char whole[AREA];
    uint64_t unreadable; /* a sector; 0: none */
};

static enum zmpi_status long_read(void *context, uint64_t offset, void *dst, size_t size)
{
    struct long_scene *s = context;
    if (s->unreadable != 0 && offset < s->unreadable + BAD_SECTOR && offset + size > s->unreadable)
        return ZMPI_ERR_IO;
    return file_read(&s->f, offset, dst, size);
}

static void long_scene_make(struct long_scene *s, bool indexed, size_t shift)
{
    static struct zmpi_run run[PIECES];
    static unsigned char data[PIECES * PIECE];
    memset(s, 0, sizeof *s);
    memset(s->whole, 7, AREA);
    for (size_t i = 0; i < PIECES; i++) {
        run[i] = (struct zmpi_run){i * STEP + random_below(STEP - PIECE), PIECE};
        for (size_t k = 0; k < PIECE; k++)
            data[i * PIECE + k] = (unsigned char)random_next();
        memcpy(s->whole + run[i].offset, data + i * PIECE, PIECE);
    }
    unsigned char *base = malloc(AREA);
    cr_assert_not_null(base);
    memset(base, 7, AREA);
    s->r[0] = (struct zmpi_record){
        .kind = ZMPI_RECORD_DATA, .order = 1, .extent = {.hi = AREA, .bytes = AREA, .run = AREA}};
    s->r[1] = (struct zmpi_record){.kind = ZMPI_RECORD_DATA, .order = 2};
    cr_assert_eq(zmpi_extent_from_runs(&s->r[1].extent, run, PIECES), ZMPI_OK);
    file_create(&s->f, &s->h, test_id);
    file_record(&s->f, &s->r[0], zmpi_pad8(s->f.size), test_id, base);
    file_record(&s->f, &s->r[1], zmpi_pad8(s->f.size) + shift, test_id, data);
    file_copy(&s->f, &s->r[1]);
    cr_assert_eq(zmpi_record_copy_size(&s->r[1]), zmpi_record_parity_size(&s->r[1]));
    if (indexed)
        file_index(&s->f, &s->h, s->r, 2, 1);
    zmpi_extent_free(&s->r[1].extent);
    s->r[1].extent.list = NULL;
    free(base);
}

static void check_long(struct long_scene *s, bool mended)
{
    static unsigned char got[AREA];
    struct zmpi_container c;
    const struct zmpi_run all = {0, AREA};
    const struct zmpi_reader in = {.read = long_read, .context = s, .file_size = s->f.size};
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    const enum zmpi_status status = zmpi_container_read(&c, &in, &all, 1, got, NULL);
    const bool same = status == ZMPI_OK && memcmp(got, s->whole, AREA) == 0;
    cr_assert_eq(same, mended);
    cr_assert(mended || status != ZMPI_OK || c.damaged > 0);
    zmpi_container_free(&c);
}

/* Each sector of the head is lost, or cannot be read, wherever the record begins. */
Test(copies, parity, .timeout = 300)
{
    static struct long_scene s;
    random_numbers.state = 37;
    for (size_t shift = 0; shift < BAD_SECTOR; shift += 72)
        for (int indexed = 0; indexed < 2; indexed++) {
            long_scene_make(&s, indexed, shift);
            check_long(&s, true);
            const uint64_t head = s.r[1].offset, end = head + zmpi_record_head_size(&s.r[1]);
            for (uint64_t at = head, next; at < end; at = next) {
                unsigned char kept[BAD_SECTOR];
                next = (at / BAD_SECTOR + 1) * BAD_SECTOR;
                next = next < end ? next : end;
                memcpy(kept, s.f.data + at, next - at);
                memset(s.f.data + at, at % 3 ? 0 : 0xA5, next - at);
                check_long(&s, true);
                memcpy(s.f.data + at, kept, next - at);
                /* A scan reads all; whoever has an index, no more than it needs. */
                s.unreadable = next - at == BAD_SECTOR && indexed ? at : 0;
                check_long(&s, true);
                s.unreadable = 0;
            }
            file_free(&s.f);
        }
}

/* Two sectors, or one and the parity: nobody can tell. */
Test(copies, parity_is_not_enough)
{
    static struct long_scene s;
    random_numbers.state = 38;
    for (int indexed = 0; indexed < 2; indexed++) {
        long_scene_make(&s, indexed, 0);
        const uint64_t list = s.r[1].offset + 64 + BAD_SECTOR,
                       parity = s.r[1].offset + zmpi_record_size(&s.r[1]);
        s.f.data[parity + 100] ^= 1;
        check_long(&s, true);
        s.f.data[list] ^= 1;
        check_long(&s, false);
        s.f.data[parity + 100] ^= 1;
        check_long(&s, true);
        s.f.data[list + 2 * BAD_SECTOR] ^= 1;
        check_long(&s, false);
        file_free(&s.f);
    }
}
