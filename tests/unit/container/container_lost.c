/* container_lost.c - containers whose header, index or first page never reached the disk, or was
 * written over: what is left tells what the file was. */
#include "container_file.h"

#include "base/hash.h"

/* ---- headers ---- */

Test(lost, torn_headers)
{
    struct zmpi_header h = {.generation = 5, .log_end = 512, .next_epoch = 9}, back;
    unsigned char src[ZMPI_HEADER_BYTES] = {0};
    cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_ERR_FORMAT);
    cr_assert(!zmpi_is_container(src, sizeof src));
    zmpi_header_encode(&h, src + zmpi_header_slot(5));
    h.generation = 6;
    zmpi_header_encode(&h, src + zmpi_header_slot(6));
    cr_assert(zmpi_is_container(src, 8) && !zmpi_is_container(src, 7));
    cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_OK);
    cr_assert(back.generation == 6 && back.next_epoch == 9 && !zmpi_header_torn(&back, src));
    for (size_t at = 0; at < 128; at++) { /* generation 6 torn: 5 counts */
        src[256 + at] ^= 0x10;
        cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_OK);
        cr_assert(back.generation == 5 && zmpi_header_torn(&back, src));
        src[at] ^= 1; /* and both */
        enum zmpi_status status = zmpi_header_decode(&back, src);
        cr_assert(status == ZMPI_ERR_CHECKSUM || (at < 8 && status == ZMPI_ERR_FORMAT));
        src[256 + at] ^= 0x10;
        cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_OK);
        cr_assert(back.generation == 6 && zmpi_header_torn(&back, src));
        src[at] ^= 1;
    }
    memset(src, 0, 128); /* the first slot lost */
    cr_assert(!zmpi_is_container(src, 256 + 7) && zmpi_is_container(src, 256 + 8));
    cr_assert(zmpi_header_torn(&back, src));
    cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_OK);
    zmpi_store16(src + 256 + 8, 2);
    zmpi_store64(src + 256 + 120, zmpi_hash(src + 256, 120, 0));
    cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_ERR_VERSION);
    zmpi_header_encode(&h, src + 256);
    for (size_t at = 10; at < 120; at = at == 15 ? 80 : at + 1) { /* what is reserved */
        src[256 + at] = 1;
        zmpi_store64(src + 256 + 120, zmpi_hash(src + 256, 120, 0));
        cr_assert_eq(zmpi_header_decode(&back, src), ZMPI_ERR_CORRUPT);
        src[256 + at] = 0;
    }
    /* A first session has no other slot, unless its index was half written. */
    memset(src, 0, sizeof src);
    back.generation = 1;
    zmpi_header_encode(&back, src);
    cr_assert(!zmpi_header_torn(&back, src));
    for (size_t at = 0; at < 128; at++) {
        src[256 + at] = 1;
        cr_assert(zmpi_header_torn(&back, src));
        src[256 + at] = 0;
    }
}

/* Something else wrote over the first bytes: what is left tells what the file was. */
Test(lost, overwritten_header)
{
    struct file f;
    struct zmpi_header h;
    const unsigned char data[4] = {0};
    struct zmpi_record r[2] = {
        {.kind = ZMPI_RECORD_DATA, .extent = {.hi = 4, .bytes = 4, .run = 4}},
        {.kind = ZMPI_RECORD_SIZE, .order = 1, .extent = {.lo = 4, .hi = 4}}};
    file_create(&f, &h, test_id);
    file_record(&f, &r[0], ZMPI_HEADER_BYTES, test_id, data);
    file_record(&f, &r[1], zmpi_pad8(f.size), test_id, NULL);
    file_index(&f, &h, r, 2, 2);
    const size_t most = ZMPI_HEADER_BYTES + 8, directory = zmpi_index_directory_size(2);
    unsigned char *const head = f.data, *const end = f.data + f.size;
    unsigned char *const record = f.data + ZMPI_HEADER_BYTES;
    cr_assert(!zmpi_was_container(head, most, end, 0));
    head[0] = 0;
    cr_assert(zmpi_was_container(head, 256 + 8, end, 0));
    cr_assert(!zmpi_was_container(head, 256 + 7, end, 0));
    head[256] = 0;
    cr_assert(zmpi_was_container(head, most, end, 0));
    cr_assert(!zmpi_was_container(head, most - 1, end, 0));
    for (unsigned kind = 0; kind < 4; kind++) {
        zmpi_store16(record + 4, (uint16_t)kind);
        cr_assert_eq(zmpi_was_container(head, most, end, 0), kind == 1 || kind == 2);
    }
    zmpi_store16(record + 4, ZMPI_RECORD_SIZE);
    for (unsigned levels = 0; levels <= UINT16_MAX; levels++) {
        zmpi_store16(record + 6, (uint16_t)levels);
        cr_assert_eq(zmpi_was_container(head, most, end, 0), levels <= 4 || levels == UINT16_MAX);
    }
    record[0] ^= 1;
    cr_assert(!zmpi_was_container(head, most, end, 0));
    for (size_t tail = 0; tail < f.size - most; tail += 4) /* the end of the file is at hand */
        cr_assert_eq(zmpi_was_container(head, most, end - tail, tail), tail >= directory);
    for (size_t at = 0; at < 16; at += 4) { /* magic, count, size */
        end[at - directory] ^= 1;
        cr_assert(!zmpi_was_container(head, most, end - directory, directory));
        end[at - directory] ^= 1;
    }
    const size_t least = zmpi_index_directory_size(1);
    zmpi_store32(end - least, ZMPI_DIRECTORY_MAGIC); /* of one segment */
    zmpi_store32(end - least + 4, 1);
    zmpi_store64(end - least + 8, ZMPI_DIRECTORY_ENTRY_BYTES);
    cr_assert(zmpi_was_container(head, most, end - least, least));
    file_free(&f);
}

/* A long first record of MPI-IO lies behind the header's page. */
Test(lost, overwritten_page)
{
    struct file f;
    struct zmpi_header h;
    const unsigned char data[4] = {0};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA, .extent = {.hi = 4, .bytes = 4, .run = 4}};
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_FIRST_PAGE, test_id, data);
    memset(f.data, 0, ZMPI_FIRST_PAGE);
    const struct zmpi_reader in = file_reader(&f);
    cr_assert(!zmpi_was_container(f.data, ZMPI_HEAD_BYTES, f.data, 0));
    cr_assert(zmpi_container_lost(f.data, ZMPI_HEAD_BYTES, &in));
    f.data[ZMPI_HEADER_BYTES - 1] = 1;
    cr_assert(zmpi_was_container(f.data, ZMPI_HEAD_BYTES, f.data, 0));
    cr_assert(!zmpi_was_container(f.data, ZMPI_HEAD_BYTES - 1, f.data, 0));
    file_free(&f);
}

/* What is found where the index cannot be read, and whether that is all there was. */
static bool found_whole(struct file *f, size_t records)
{
    struct zmpi_container c;
    struct zmpi_reader in = file_reader(f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert(c.index_damaged && c.count == records, "%zu records", c.count);
    const bool whole = zmpi_container_whole(&c);
    zmpi_container_free(&c);
    return whole;
}

/* A closed file of three records, where the last one and the index begin, and its bytes. */
struct closed {
    struct file f;
    struct zmpi_header h;
    struct zmpi_record r[3];
    unsigned char data[SPACE], *was;
    size_t size, last, index;
};

static void closed_make(struct closed *c)
{
    *c = (struct closed){.data = {1, 2, 3}};
    file_create(&c->f, &c->h, test_id);
    for (size_t i = 0; i < 3; i++) {
        c->r[i] = (struct zmpi_record){.kind = ZMPI_RECORD_DATA,
                                       .order = i,
                                       .extent = {.hi = SPACE, .bytes = SPACE, .run = SPACE}};
        file_record(&c->f, &c->r[i], c->f.size, test_id, c->data);
    }
    file_index(&c->f, &c->h, c->r, 3, 1);
    c->size = c->f.size;
    c->last = c->r[2].offset;
    c->index = c->last + zmpi_record_size(&c->r[2]);
    c->was = malloc(c->size);
    cr_assert_not_null(c->was);
    memcpy(c->was, c->f.data, c->size);
}

/* The index is gone, and the header tells of one record less than there are. */
static void closed_less_one(struct closed *c)
{
    c->f.size = c->index;
    c->h.tally -= zmpi_record_tally(&c->r[1]);
    file_header(&c->f, &c->h);
}

static void closed_free(struct closed *c)
{
    free(c->was);
    file_free(&c->f);
}

/* Records that never reached the disk, with the index that knew them: the header tells which there
 * were, though older ones reach as far. */
Test(lost, lost_with_the_index)
{
    struct closed c;
    closed_make(&c);
    unsigned char *const at = c.f.data;
    c.f.size = c.index; /* the index alone is cut off */
    cr_assert(found_whole(&c.f, 3));
    for (c.f.size = c.last; c.f.size < c.index; c.f.size += 8)
        cr_assert(!found_whole(&c.f, 2));
    c.f.size = c.size;
    memset(at + c.index, 0, c.size - c.index); /* the same of what never came */
    cr_assert(found_whole(&c.f, 3));
    memset(at + c.last, 0, c.size - c.last);
    cr_assert(!found_whole(&c.f, 2));
    memset(at + c.r[0].offset, 0, c.last - c.r[0].offset);
    memcpy(at + c.last, c.was + c.last, c.index - c.last);
    cr_assert(!found_whole(&c.f, 1));
    /* Records behind the index are not those. */
    memcpy(at, c.was, c.index);
    memset(at + c.last, 0, c.index - c.last);
    file_record(&c.f, &c.r[2], c.size, test_id, c.data);
    cr_assert(!found_whole(&c.f, 3));
    closed_free(&c);
}

/* The header tells of other records than those that are there. */
Test(lost, others_than_the_header_tells)
{
    struct closed c;
    closed_make(&c);
    unsigned char *const at = c.f.data;
    /* What looks like a record of a job that was killed was not in the index. */
    c.f.size = c.index;
    file_put(&c.f, c.index, "ZREC....", 8);
    cr_assert(found_whole(&c.f, 3));
    /* One that left the index makes one more: whether one of the others is gone, nobody knows. */
    closed_less_one(&c);
    cr_assert(!found_whole(&c.f, 3));
    /* As many as there were, but not those. */
    memset(at + c.last, 0, c.index - c.last);
    cr_assert(!found_whole(&c.f, 2));
    memcpy(at + c.last, c.was + c.last, c.index - c.last);
    memset(at + c.r[1].offset, 0, c.last - c.r[1].offset);
    cr_assert(found_whole(&c.f, 2));
    closed_free(&c);
}

/* Where no header tells, as in older files, or its tally is damaged, the size must do, and that
 * nothing is damaged. */
Test(lost, header_does_not_tell)
{
    struct closed c;
    unsigned char tally[ZMPI_TALLY_BYTES];
    closed_make(&c);
    closed_less_one(&c);
    c.h.tallied = false;
    file_header(&c.f, &c.h);
    cr_assert(found_whole(&c.f, 3));
    file_put(&c.f, c.index, "ZREC....", 8);
    cr_assert(!found_whole(&c.f, 3));
    c.f.size = c.index;
    c.h.tallied = true;
    file_put(&c.f, zmpi_header_tally(&c.h, tally), tally, sizeof tally);
    cr_assert(!found_whole(&c.f, 3));
    for (size_t at = 0; at < ZMPI_TALLY_BYTES; at++) {
        c.f.data[zmpi_header_tally(&c.h, tally) + at] ^= 1;
        cr_assert(found_whole(&c.f, 3));
        c.f.data[zmpi_header_tally(&c.h, tally) + at] ^= 1;
    }
    c.h.generation += 2; /* another slot's */
    file_put(&c.f, zmpi_header_tally(&c.h, tally), tally, sizeof tally);
    cr_assert(found_whole(&c.f, 3));
    closed_free(&c);
}

/* 24 bytes get into the header of a file that was closed once: its second slot and all records are
 * where nobody finds them. */
Test(lost, moved)
{
    static struct op ops[OPS_MAX];
    struct file f, g = {0};
    struct zmpi_header h;
    struct zmpi_container c;
    random_numbers.state = 20;
    size_t n = random_file(&f, &h, ops, true);
    cr_assert_eq(h.generation, 2);
    file_put(&g, 0, f.data, 177);
    file_put(&g, 177 + 24, f.data + 177, f.size - 177);
    const struct zmpi_reader in = file_reader(&g);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    cr_assert(c.count == 0 && !zmpi_container_whole(&c));
    zmpi_container_free(&c);
    file_free(&g);
    file_free(&f);
    ops_free(ops, n);
}

/* ---- a first page that never reached the disk ---- */

static bool is_lost(struct file *f, size_t zeros)
{
    struct file copy = {0};
    file_put(&copy, 0, f->data, f->size);
    memset(copy.data, 0, zeros < f->size ? zeros : f->size);
    const struct zmpi_reader in = file_reader(&copy);
    const bool lost = zmpi_container_lost(copy.data, copy.size, &in);
    file_free(&copy);
    return lost;
}

/* Before the file was closed, and so without an index. */
Test(lost, lost_header)
{
    static struct op ops[OPS_MAX];
    random_numbers.state = 19;
    for (int round = 0; round < 40; round++) {
        struct file f;
        struct zmpi_header h;
        size_t n = random_file(&f, &h, ops, false), last = 0;
        for (size_t i = 0; i < n; i++)
            if (ops[i].record.kind == ZMPI_RECORD_DATA && ops[i].record.offset > last)
                last = ops[i].record.offset;
        cr_assert(!is_lost(&f, 0) && !is_lost(&f, f.size));
        cr_assert_eq(is_lost(&f, 512), last > 0);
        cr_assert_eq(is_lost(&f, 4096), last >= 4096);
        cr_assert(!is_lost(&f, last + 8));
        /* A tail that is no record: its payload never arrived. */
        f.size = last + ZMPI_RECORD_HEADER_BYTES;
        cr_assert(!is_lost(&f, last));
        file_free(&f);
        ops_free(ops, n);
    }
}

/* Nothing but a part of the index arrived. */
Test(lost, lost_header_index)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA};
    const struct zmpi_run run = {0, 96};
    const unsigned char data[96] = {1, 2, 3};
    cr_assert_eq(zmpi_extent_from_runs(&r.extent, &run, 1), ZMPI_OK);
    file_create(&f, &h, test_id);
    file_record(&f, &r, ZMPI_HEADER_BYTES, test_id, data);
    const size_t index = zmpi_pad8(f.size);
    file_index(&f, &h, &r, 1, 1);
    cr_assert(is_lost(&f, index) && is_lost(&f, h.index_offset));
    cr_assert(!is_lost(&f, h.index_offset + 8));
    zmpi_store64(f.data + h.index_offset + 8, h.log_end);
    cr_assert(!is_lost(&f, h.index_offset));
    file_free(&f);
}
