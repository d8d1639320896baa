/* container_header.c - damaged headers: the copy behind the index stands for both slots and for the
 * newer one, and without it nothing older is taken for what was lost. */
#include "base/hash.h"
#include "container_file.h"

enum { FIRST = 600, SECOND = 200, AT = 100, RECORDS = 3 };

/* Two sessions: a record of all bytes; then one over some of them, and one of the end. */
struct scene {
    struct file f;
    struct zmpi_header first, h; /* of the sessions */
    struct zmpi_record r[RECORDS];
    struct op op[RECORDS];
    struct model old, whole;
};

static void scene_close(struct scene *s, size_t n, bool copy)
{
    const uint64_t at = zmpi_pad8(s->f.size);
    file_index(&s->f, &s->h, s->r, n, 1);
    if (copy) {
        s->h.log_end += ZMPI_HEADER_COPY_BYTES;
        file_header_copy(&s->f, &s->h);
        file_header(&s->f, &s->h);
    }
    cr_assert(s->h.index_offset > at);
}

static void scene_make(struct scene *s, bool copy)
{
    memset(s, 0, sizeof *s);
    s->op[0].record = (struct zmpi_record){.kind = ZMPI_RECORD_DATA,
                                           .extent = {.hi = FIRST, .bytes = FIRST, .run = FIRST}};
    s->op[1].record = (struct zmpi_record){
        .kind = ZMPI_RECORD_DATA,
        .order = (uint64_t)1 << 32,
        .extent = {.lo = AT, .hi = AT + SECOND, .bytes = SECOND, .run = SECOND}};
    s->op[2].record = (struct zmpi_record){
        .kind = ZMPI_RECORD_DATA,
        .order = (uint64_t)1 << 32 | 1,
        .extent = {.lo = FIRST, .hi = 2 * FIRST, .bytes = FIRST, .run = FIRST}};
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t k = 0; k < SPACE; k++)
            s->op[i].data[k] = (unsigned char)(random_next() | 1);
    file_create(&s->f, &s->h, test_id);
    for (size_t i = 0; i < RECORDS; i++) {
        file_record(&s->f, &s->op[i].record, zmpi_pad8(s->f.size), test_id, s->op[i].data);
        s->r[i] = s->op[i].record;
        if (i == 0) {
            scene_close(s, 1, copy);
            s->first = s->h;
        }
    }
    scene_close(s, RECORDS, copy);
    model_make(&s->old, s->op, 1);
    model_make(&s->whole, s->op, RECORDS);
}

static void scene_open(struct scene *s, struct zmpi_container *c)
{
    const struct zmpi_reader in = file_reader(&s->f);
    zmpi_container_init(c);
    cr_assert_eq(zmpi_container_open(c, &in), ZMPI_OK);
}

/* All is there, and it is said what was damaged. */
static void check_whole(struct scene *s, bool copied, bool lost)
{
    struct zmpi_container c;
    bool same;
    scene_open(s, &c);
    const struct zmpi_reader in = file_reader(&s->f);
    cr_assert(zmpi_container_whole(&c));
    cr_assert_eq(c.copied, copied);
    cr_assert_eq(c.header_lost, lost);
    cr_assert_eq(read_all(&c, &in, &s->whole, &same), ZMPI_OK);
    cr_assert(same);
    zmpi_container_free(&c);
}

/* A read of the bytes that record 1 has does not give older ones. */
static void check_refused(struct scene *s, bool whole)
{
    struct zmpi_container c;
    unsigned char got[SECOND];
    const struct zmpi_run run = {AT, SECOND};
    scene_open(s, &c);
    const struct zmpi_reader in = file_reader(&s->f);
    cr_assert_eq(zmpi_container_whole(&c), whole);
    if (whole)
        cr_assert_neq(zmpi_container_read(&c, &in, &run, 1, got, NULL), ZMPI_OK);
    zmpi_container_free(&c);
}

static void tear(struct scene *s, const struct zmpi_header *h)
{
    s->f.data[zmpi_header_slot(h->generation) + 50] ^= 4;
}

/* ---- the newer slot ---- */

Test(container_header, newer_slot_torn)
{
    for (int copy = 0; copy < 2; copy++) {
        struct scene s;
        scene_make(&s, copy);
        check_whole(&s, false, false);
        tear(&s, &s.h);
        check_whole(&s, copy, false);
        /* All of it zero: the tally tells. */
        memset(s.f.data + zmpi_header_slot(s.h.generation), 0, 128);
        check_whole(&s, copy, false);
        file_free(&s.f);
    }
}

/* And a record: older data are no answer, wherever the record is damaged. */
Test(container_header, newer_slot_and_a_record)
{
    for (int copy = 0; copy < 2; copy++) {
        struct scene s;
        scene_make(&s, copy);
        tear(&s, &s.h);
        const size_t size = zmpi_record_size(&s.r[1]);
        for (size_t i = 0; i < 64 + 8; i++) {
            unsigned char *byte = s.f.data + s.r[1].offset + i * size / 72;
            *byte ^= 1;
            check_refused(&s, copy);
            *byte ^= 1;
        }
        memset(s.f.data + s.r[1].offset, 0, size);
        check_refused(&s, copy);
        /* The other slot: what the newer one tells is known. */
        tear(&s, &s.h);
        tear(&s, &s.first);
        check_refused(&s, true);
        file_free(&s.f);
    }
}

/* The older slot is damaged, and may have been a newer one; the index of the other was cut off,
 * with a record: nothing looks damaged, and not all is there. */
Test(container_header, older_slot_and_the_end)
{
    for (int tallies = 0; tallies < 2; tallies++) {
        struct scene s;
        struct zmpi_container c;
        scene_make(&s, false);
        s.h.logical_size = s.whole.size;
        file_header(&s.f, &s.h);
        tear(&s, &s.first);
        if (!tallies)
            memset(s.f.data + 128, 0, 48);
        s.f.size = s.r[1].offset;
        scene_open(&s, &c);
        cr_assert(c.damaged == 0 && c.index_damaged && !zmpi_container_whole(&c));
        zmpi_container_free(&c);
        file_free(&s.f);
    }
}

/* Both slots have right checksums, and yet are none. */
Test(container_header, reserved_fields)
{
    struct scene s;
    scene_make(&s, true);
    for (size_t at = 0; at <= 256; at += 256) {
        s.f.data[at + 100] = 1;
        zmpi_store64(s.f.data + at + 120, zmpi_hash(s.f.data + at, 120, 0));
    }
    check_whole(&s, true, true);
    file_free(&s.f);
}

/* A slot lies at the place of its generation. */
Test(container_header, slot_at_the_others_place)
{
    struct zmpi_header h = {.generation = 4, .log_end = ZMPI_HEADER_BYTES}, back;
    unsigned char src[ZMPI_HEADER_BYTES] = {0};
    zmpi_header_encode(&h, src);
    cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_ERR_CORRUPT);
    zmpi_header_encode(&h, src + zmpi_header_slot(4));
    cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_OK);
}

/* The tally of the slot is lost with it: what looks like a record and is none tells. */
Test(container_header, newer_slot_and_its_tally)
{
    struct scene s;
    scene_make(&s, false);
    tear(&s, &s.h);
    memset(s.f.data + 128, 7, 48);
    check_whole(&s, false, false);
    s.f.data[s.r[1].offset + 30] ^= 1;
    check_refused(&s, false);
    file_free(&s.f);
}

/* The next session was killed: its slot was not written, and what is not complete is older. */
Test(container_header, never_written)
{
    struct scene s;
    struct zmpi_container c;
    bool same;
    scene_make(&s, true);
    struct zmpi_header next = s.h;
    struct zmpi_header_part part[2];
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                            .order = (uint64_t)2 << 32,
                            .extent = {.hi = FIRST, .bytes = FIRST, .run = FIRST}};
    file_record(&s.f, &r, zmpi_pad8(s.f.size), test_id, s.op[1].data);
    s.f.data[r.offset + 100] ^= 1;
    next.generation++;
    next.tally += zmpi_record_tally(&r);
    zmpi_header_parts(&next, part);
    for (int tally = 0; tally < 2; tally++) {
        if (tally)
            file_put(&s.f, part[0].offset, part[0].bytes, part[0].size);
        scene_open(&s, &c);
        const struct zmpi_reader in = file_reader(&s.f);
        cr_assert(zmpi_container_whole(&c) && c.damaged > 0 && !c.copied);
        cr_assert_eq(read_all(&c, &in, &s.whole, &same), ZMPI_OK);
        cr_assert(same);
        zmpi_container_free(&c);
    }
    file_free(&s.f);
}

/* ---- both slots ---- */

Test(container_header, both_slots)
{
    struct scene s;
    struct zmpi_container c;
    scene_make(&s, true);
    tear(&s, &s.first);
    tear(&s, &s.h);
    check_whole(&s, true, true);
    memset(s.f.data, 0, ZMPI_HEADER_BYTES);
    check_whole(&s, true, true);
    /* Each record says whether it is there. */
    s.f.data[s.r[1].offset + 100] ^= 1;
    check_refused(&s, true);
    s.f.data[s.r[1].offset + 100] ^= 1;
    /* Another program's bytes: nobody knows what else it wrote. */
    memset(s.f.data, 'x', ZMPI_HEADER_BYTES);
    scene_open(&s, &c);
    cr_assert(c.overwritten && c.copied && !zmpi_container_whole(&c));
    zmpi_container_free(&c);
    file_free(&s.f);
}

/* A copy that is older than what the header tells of is not taken for the newest. */
Test(container_header, outdated_copy)
{
    struct scene s;
    struct zmpi_container c;
    scene_make(&s, true);
    tear(&s, &s.first);
    tear(&s, &s.h);
    s.f.data[s.h.log_end - 1] ^= 1; /* the last copy */
    scene_open(&s, &c);
    cr_assert(c.copied && !zmpi_container_whole(&c));
    zmpi_container_free(&c);
    file_free(&s.f);
}

/* What a crashed session has written behind the copy is found, far behind it too. */
Test(container_header, not_at_the_end)
{
    struct scene s;
    scene_make(&s, true);
    const uint64_t end = s.f.size;
    static const size_t behind[] = {8, 1000, 4096 - 136, 4096, 4096 + 64, 1100000, 20000000};
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        const unsigned char last = 1;
        file_put(&s.f, end + behind[i] - 1, &last, 1);
        memset(s.f.data, 0, ZMPI_HEADER_BYTES);
        check_whole(&s, true, true);
    }
    file_free(&s.f);
}

/* One that is damaged, elsewhere than it was written, or of another file, is none. */
Test(container_header, no_copy)
{
    struct scene s;
    struct zmpi_container c;
    scene_make(&s, true);
    unsigned char header[ZMPI_HEADER_BYTES];
    memcpy(header, s.f.data, sizeof header);
    memset(s.f.data, 0, ZMPI_HEADER_BYTES);
    memset(s.f.data + s.first.log_end - ZMPI_HEADER_COPY_BYTES, 0, ZMPI_HEADER_COPY_BYTES);
    unsigned char *copy = s.f.data + s.h.log_end - ZMPI_HEADER_COPY_BYTES;
    const struct zmpi_reader in = file_reader(&s.f);
    cr_assert(zmpi_container_copied(s.f.data, s.f.size, &in));
    cr_assert(zmpi_container_copied(NULL, 0, &in));
    cr_assert(!zmpi_container_copied(copy, ZMPI_HEADER_COPY_BYTES, &in));
    zmpi_container_init(&c);
    for (size_t i = 0; i < ZMPI_HEADER_COPY_BYTES; i++) {
        copy[i] ^= 2;
        cr_assert(!zmpi_container_copied(s.f.data, s.f.size, &in), "byte %zu", i);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_ERR_FORMAT, "byte %zu", i);
        copy[i] ^= 2;
    }
    memmove(copy - 8, copy, ZMPI_HEADER_COPY_BYTES);
    cr_assert(!zmpi_container_copied(s.f.data, s.f.size, &in));
    /* Of another file: nothing instead of the newer slot. */
    memcpy(s.f.data, header, sizeof header);
    struct zmpi_header other = s.h;
    other.id[2] ^= 1;
    other.generation++;
    file_header_copy(&s.f, &other);
    tear(&s, &s.h);
    check_whole(&s, false, false);
    file_free(&s.f);
}
