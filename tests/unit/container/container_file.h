/*
 * container_file.h - for the tests of the container: a container in memory, a simple writer of it,
 * and a model of its contents, which is a plain array of bytes.
 */
#ifndef CONTAINER_FILE_H
#define CONTAINER_FILE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "container/container_private.h"
#include "kit.h"

#define SPACE   3000 /* logical bytes that the random records stay in */
#define OPS_MAX 64

/* ---- random numbers ---- */

static struct kit_random random_numbers;

static inline uint64_t random_next(void)
{
    return kit_next(&random_numbers);
}

static inline uint64_t random_below(uint64_t n)
{
    return kit_below(&random_numbers, n);
}

/* ---- a file in memory ---- */

struct file {
    unsigned char *data;
    size_t size, capacity;
    uint64_t reads, read_bytes;
};

static inline void file_put(struct file *f, size_t offset, const void *src, size_t size)
{
    if (offset + size > f->capacity) {
        size_t capacity = (offset + size) * 2;
        f->data = realloc(f->data, capacity);
        cr_assert_not_null(f->data);
        memset(f->data + f->capacity, 0, capacity - f->capacity);
        f->capacity = capacity;
    }
    if (size > 0)
        memcpy(f->data + offset, src, size);
    if (offset + size > f->size)
        f->size = offset + size;
}

static inline void file_free(struct file *f)
{
    free(f->data);
    memset(f, 0, sizeof *f);
}

static inline enum zmpi_status file_read(void *context, uint64_t offset, void *dst, size_t size)
{
    struct file *f = context;
    f->reads++;
    f->read_bytes += size;
    if (offset > f->size || size > f->size - offset)
        return ZMPI_ERR_TRUNCATED;
    memcpy(dst, f->data + offset, size);
    return ZMPI_OK;
}

static inline struct zmpi_reader file_reader(struct file *f)
{
    return (struct zmpi_reader){.read = file_read, .context = f, .file_size = f->size};
}

/* A reader with one read that fails. */
struct failing {
    struct file *file;
    int left; /* reads before the one that fails */
};

static inline enum zmpi_status failing_read(void *context, uint64_t offset, void *dst, size_t size)
{
    struct failing *f = context;
    return f->left-- == 0 ? ZMPI_ERR_IO : file_read(f->file, offset, dst, size);
}

/* ---- writing ---- */

static const unsigned char test_id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static inline void file_header(struct file *f, const struct zmpi_header *h)
{
    struct zmpi_header_part part[2];
    zmpi_header_parts(h, part);
    for (int i = 0; i < 2; i++)
        file_put(f, part[i].offset, part[i].bytes, part[i].size);
}

/* A new file without records; *h is its header. */
static inline void file_create(struct file *f, struct zmpi_header *h, const unsigned char id[16])
{
    unsigned char zero = 0;
    memset(f, 0, sizeof *f);
    memset(h, 0, sizeof *h);
    memcpy(h->id, id, 16);
    h->generation = 1;
    h->log_end = ZMPI_HEADER_BYTES;
    file_put(f, ZMPI_HEADER_BYTES - 1, &zero, 1);
    file_header(f, h);
}

/* Compress exactly, as a type that the size allows. */
static inline unsigned char *exact_stream(const unsigned char *data, size_t size, size_t *length)
{
    struct zmpi_array array = {ZMPI_BYTES, {1, 1, size}};
    struct zmpi_bound lossless = {ZMPI_LOSSLESS, 0};
    if (size % 8 == 0 && size % 3 == 0)
        array = (struct zmpi_array){ZMPI_F64, {1, 1, size / 8}};
    else if (size % 4 == 0)
        array = (struct zmpi_array){ZMPI_F32, {1, 1, size / 4}};
    size_t capacity = zmpi_compress_capacity(&array);
    unsigned char *stream = malloc(capacity);
    cr_assert_not_null(stream);
    cr_assert_eq(zmpi_compress(&array, &lossless, NULL, stream, capacity, data, length), ZMPI_OK);
    return stream;
}

/*
 * Write one record at `offset` (r->kind, order, rank and extent are set) and complete r. data: the
 * covered bytes.
 */
static inline void file_record(struct file *f, struct zmpi_record *r, uint64_t offset,
                               const unsigned char id[16], const unsigned char *data)
{
    unsigned char *list = NULL, *payload = NULL;
    size_t list_length = 0, payload_length = 0;
    r->offset = offset;
    if (r->kind == ZMPI_RECORD_DATA) {
        payload = exact_stream(data, r->extent.bytes, &payload_length);
        list_length =
            zmpi_extent_nest_size(r->extent.levels == ZMPI_EXTENT_LIST ? 0 : r->extent.levels);
        if (r->extent.levels == ZMPI_EXTENT_LIST)
            cr_assert_eq(zmpi_extent_list_encode(&r->extent, &list, &list_length), ZMPI_OK);
    }
    r->payload_length = payload_length;
    r->extents_length = (uint32_t)list_length;
    unsigned char *record = calloc(1, zmpi_record_size(r));
    cr_assert_not_null(record);
    zmpi_record_encode(r, id, list, record);
    if (payload_length > 0)
        memcpy(record + zmpi_record_head_size(r), payload, payload_length);
    file_put(f, offset, record, zmpi_record_size(r));
    free(record);
    free(payload);
    free(list);
}

/* Puts the copy of a list record's head behind it, as writers do. */
static inline void file_copy(struct file *f, const struct zmpi_record *r)
{
    unsigned char *copy = malloc(zmpi_record_copy_size(r) + 1);
    cr_assert_not_null(copy);
    zmpi_record_copy(r, f->data + r->offset, copy);
    file_put(f, r->offset + zmpi_record_size(r), copy, zmpi_record_copy_size(r));
    free(copy);
}

/* The copy of the header at the end of the log, for which log_end has room. */
static inline void file_header_copy(struct file *f, const struct zmpi_header *h)
{
    unsigned char copy[ZMPI_HEADER_COPY_BYTES];
    zmpi_header_copy(h, copy);
    file_put(f, h->log_end - sizeof copy, copy, sizeof copy);
}

/* Write the index of records in at least `segments` segments behind all, and point the header at
 * it. */
static inline void file_index(struct file *f, struct zmpi_header *h,
                              const struct zmpi_record *record, size_t n, size_t segments)
{
    struct zmpi_builder b = {0};
    uint64_t begin = zmpi_pad8(f->size);
    for (size_t i = 0, part = 0; i < n; i++) {
        if (b.open.count > 0 && record[i].extent.lo < b.open.chain.last.extent.lo)
            cr_assert_eq(zmpi_builder_finish(&b), ZMPI_OK);
        if (i * segments / n > part) {
            cr_assert_eq(zmpi_builder_finish(&b), ZMPI_OK);
            part = i * segments / n;
        }
        cr_assert_eq(zmpi_builder_add(&b, &record[i]), ZMPI_OK);
    }
    cr_assert_eq(zmpi_builder_finish(&b), ZMPI_OK);
    size_t size = zmpi_index_segments_size(b.out.segment, b.out.count);
    size_t directory = zmpi_index_directory_size(b.out.count);
    unsigned char *index = malloc(size + directory);
    cr_assert_not_null(index);
    zmpi_index_put_segments(b.out.segment, b.out.count, h->id, begin, index);
    zmpi_index_put_directory(b.out.segment, b.out.count, h->id, begin + size, index + size);
    if (n > 0)
        file_put(f, begin, index, size + directory);
    h->index_offset = n > 0 ? begin + size : 0;
    h->index_length = n > 0 ? directory : 0;
    h->log_end = n > 0 ? begin + size + directory : ZMPI_HEADER_BYTES;
    h->tallied = true;
    h->tally = 0;
    for (size_t i = 0; i < n; i++)
        h->tally += zmpi_record_tally(&record[i]);
    h->generation++;
    file_header(f, h);
    free(index);
    zmpi_builder_free(&b);
}

/* ---- random operations and their model ---- */

struct op {
    struct zmpi_record record;
    unsigned char data[SPACE];
    bool lost; /* the model leaves it out */
};

struct model {
    unsigned char byte[SPACE];
    uint64_t size;
};

static inline int op_order(const void *a, const void *b)
{
    const struct zmpi_record *x = &(*(struct op *const *)a)->record;
    const struct zmpi_record *y = &(*(struct op *const *)b)->record;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->offset < y->offset ? -1 : 1;
}

static inline void model_apply(struct model *m, const struct op *op)
{
    const struct zmpi_record *r = &op->record;
    if (r->kind == ZMPI_RECORD_SIZE) {
        if (r->extent.lo < SPACE)
            memset(m->byte + r->extent.lo, 0, SPACE - r->extent.lo);
        m->size = r->extent.lo;
        return;
    }
    for (uint64_t i = 0; i < zmpi_extent_runs(&r->extent); i++) {
        uint64_t position;
        struct zmpi_run run = zmpi_extent_run(&r->extent, i, &position);
        memcpy(m->byte + run.offset, op->data + position, run.length);
    }
    if (r->extent.hi > m->size)
        m->size = r->extent.hi;
}

static inline void model_make(struct model *m, struct op *ops, size_t n)
{
    struct op *sorted[OPS_MAX];
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &ops[i];
    qsort(sorted, n, sizeof *sorted, op_order);
    for (size_t i = 0; i < n; i++)
        if (!sorted[i]->lost)
            model_apply(m, sorted[i]);
}

/* Increasing random runs below SPACE; regular ones in one of three cases. */
static inline size_t random_runs(struct zmpi_run *runs, size_t limit)
{
    size_t n = 0, count = 1 + random_below(limit);
    bool regular = random_below(3) == 0;
    uint64_t end = random_below(SPACE / 2), length = 1 + random_below(40), gap = random_below(40);
    while (n < count) {
        if (!regular) {
            length = 1 + random_below(60);
            gap = random_below(60);
        }
        if (end + gap + length > SPACE)
            break;
        runs[n++] = (struct zmpi_run){end + gap, length};
        end += gap + length;
    }
    if (n == 0)
        runs[n++] = (struct zmpi_run){random_below(SPACE - 1000), 1 + random_below(1000)};
    return n;
}

static inline void random_op(struct op *op)
{
    struct zmpi_run runs[100];
    memset(op, 0, sizeof *op);
    op->record.order = random_below(4) << 32 | random_below(6);
    op->record.rank = (uint32_t)random_below(3);
    op->record.kind = random_below(6) == 0 ? ZMPI_RECORD_SIZE : ZMPI_RECORD_DATA;
    if (op->record.kind == ZMPI_RECORD_SIZE) {
        op->record.extent.lo = op->record.extent.hi = random_below(SPACE + 100);
        return;
    }
    size_t n = random_runs(runs, random_below(2) == 0 ? 1 : 100);
    cr_assert_eq(zmpi_extent_from_runs(&op->record.extent, runs, n), ZMPI_OK);
    unsigned char value = (unsigned char)random_next();
    bool noise = random_below(2) == 0;
    for (size_t i = 0; i < SPACE; i++)
        op->data[i] = noise ? (unsigned char)random_next() : (unsigned char)(value + i / 50);
}

/* Put the records of all ops into a file, with gaps of rubbish between some. */
static inline void file_ops(struct file *f, struct op *ops, size_t n, const unsigned char id[16])
{
    for (size_t i = 0; i < n; i++) {
        uint64_t offset = zmpi_pad8(f->size);
        for (uint64_t gap = random_below(3) == 0 ? random_below(60) : 0; gap > 0; gap--) {
            uint64_t rubbish = random_next();
            if (random_below(3) == 0)
                memcpy(&rubbish, random_below(2) ? "ZREC\1\0\0" : "ZIDX\1\0\0", 8);
            file_put(f, offset, &rubbish, 8);
            offset += 8;
        }
        file_record(f, &ops[i].record, offset, id, ops[i].data);
        if (random_below(2))
            file_copy(f, &ops[i].record);
    }
}

/* Records as an index has them. The lists stay those of the ops. */
static inline void ops_records(const struct op *ops, size_t n, struct zmpi_record *record)
{
    for (size_t i = 0; i < n; i++)
        record[i] = ops[i].record;
}

static inline void ops_free(struct op *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        zmpi_extent_free(&ops[i].record.extent);
}

/* Reads all logical bytes at once. Returns the status, and whether they are the model's if it is
 * ZMPI_OK. */
static inline enum zmpi_status read_all(struct zmpi_container *c, const struct zmpi_reader *in,
                                        const struct model *m, bool *same)
{
    unsigned char got[SPACE];
    struct zmpi_run all = {0, SPACE};
    enum zmpi_status status = zmpi_container_read(c, in, &all, 1, got, NULL);
    *same = status == ZMPI_OK && memcmp(got, m->byte, SPACE) == 0;
    return status;
}

/* Random ops in a file; indexed or not. */
static inline size_t random_file(struct file *f, struct zmpi_header *h, struct op *ops,
                                 bool indexed)
{
    struct zmpi_record record[OPS_MAX];
    size_t n = 1 + random_below(12);
    file_create(f, h, test_id);
    for (size_t i = 0; i < n; i++)
        random_op(&ops[i]);
    file_ops(f, ops, n, test_id);
    ops_records(ops, n, record);
    if (indexed)
        file_index(f, h, record, n, 1 + random_below(2));
    return n;
}

/* A file of records of 100 bytes, one behind the other, with an index of many segments. */
static inline void wide_file(struct file *f, struct zmpi_header *h, size_t n)
{
    struct zmpi_record *record = calloc(n, sizeof *record);
    unsigned char data[100];
    cr_assert_not_null(record);
    file_create(f, h, test_id);
    for (size_t k = 0; k < n; k++) {
        memset(data, (int)k, sizeof data);
        record[k] = (struct zmpi_record){
            .kind = ZMPI_RECORD_DATA, .order = k, .extent = {.lo = k * 100, .run = 100}};
        cr_assert_eq(zmpi_extent_close(&record[k].extent), ZMPI_OK);
        file_record(f, &record[k], zmpi_pad8(f->size), test_id, data);
    }
    h->logical_size = n * 100;
    file_index(f, h, record, n, 1);
    free(record);
}

#endif
