/* reader.c - zmpi_reader.h: what was written is read, in any pieces. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "reader_file.h"

/* Every record is told, in the order in which they win. */
static void check_records(struct zmpi_reader_file *file, const struct op *ops, size_t n)
{
    uint64_t epoch = 0, bytes = 0, expected = 0;
    for (size_t i = 0; i < n; i++) {
        struct zmpi_reader_record r = {.size = sizeof r};
        cr_assert_eq(zmpi_reader_record(file, i, &r, NULL), ZMPI_OK);
        cr_assert(r.epoch >= epoch && r.status == ZMPI_OK);
        epoch = r.epoch;
        bytes += r.bytes;
        expected += ops[i].record.kind == ZMPI_RECORD_DATA ? ops[i].record.extent.bytes : 0;
        if (r.kind != ZMPI_RECORD_DATA)
            continue;
        cr_assert(r.array.extent[2] * zmpi_type_size(r.array.type) == r.bytes);
        cr_assert(r.bound.mode == ZMPI_LOSSLESS && r.encoder == ZMPI_FLE && !(r.abs_bound > 0));
    }
    cr_assert_eq(bytes, expected);
}

Test(reader, random_records)
{
    static struct op ops[OPS_MAX];
    struct zmpi_record record[OPS_MAX];
    random_numbers.state = 1;
    for (int round = 0; round < test_rounds(150); round++) {
        const size_t n = random_below(OPS_MAX), indexed = random_below(n + 1);
        struct file f;
        struct zmpi_header h;
        struct model m;
        file_create(&f, &h, test_id);
        for (size_t i = 0; i < n; i++)
            random_op(&ops[i]);
        file_ops(&f, ops, indexed, test_id);
        ops_records(ops, n, record);
        if (round % 3)
            file_index(&f, &h, record, indexed, 1 + random_below(3));
        file_ops(&f, ops + indexed, n - indexed, test_id);
        model_make(&m, ops, n);
        if (m.size <= SPACE) {
            const int fd = new_fd(&f);
            struct zmpi_reader_file *file = open_fd(fd, 1 + round % 4);
            cr_assert_eq(lseek(fd, 0, SEEK_CUR), 0);
            close(fd); /* it stays the caller's */
            const struct zmpi_reader_info info = info_of(file);
            cr_assert(info.records == n && info.whole && !info.written && info.containers == 1);
            cr_assert(info.physical_size == f.size);
            check_reads(file, m.byte, m.size);
            check_records(file, ops, n);
            zmpi_reader_close(file);
        }
        file_free(&f);
        ops_free(ops, n);
    }
}

/* Joined files are read in a row. */
Test(reader, joined)
{
    static struct op ops[2][20];
    static unsigned char all[2 * SPACE];
    random_numbers.state = 2;
    for (int round = 0; round < 30; round++) {
        struct file f[2];
        struct model m[2];
        uint64_t size = 0;
        for (int k = 0; k < 2; k++) {
            struct zmpi_header h;
            struct zmpi_record record[20];
            unsigned char id[16] = {(unsigned char)(k + 1), (unsigned char)round};
            file_create(&f[k], &h, id);
            for (size_t i = 0; i < 20; i++) {
                random_op(&ops[k][i]);
                ops[k][i].record.kind = ZMPI_RECORD_DATA;
                if (ops[k][i].record.extent.bytes == 0)
                    ops[k][i].record.extent =
                        (struct zmpi_extent){.lo = 5, .hi = 15, .bytes = 10, .run = 10};
            }
            file_ops(&f[k], ops[k], 20, id);
            ops_records(ops[k], 20, record);
            file_index(&f[k], &h, record, 20, 1);
            model_make(&m[k], ops[k], 20);
            memcpy(all + size, m[k].byte, m[k].size);
            size += m[k].size;
        }
        file_put(&f[0], f[0].size, f[1].data, f[1].size);
        const int fd = new_fd(&f[0]);
        struct zmpi_reader_file *file = open_fd(fd, 2);
        cr_assert(info_of(file).containers == 2 && info_of(file).records == 40);
        check_reads(file, all, size);
        struct zmpi_reader_record r = {.size = sizeof r};
        cr_assert_eq(zmpi_reader_record(file, 25, &r, NULL), ZMPI_OK);
        cr_assert(r.lo >= m[0].size && r.offset > f[0].size - f[1].size);
        zmpi_reader_close(file);
        close(fd);
        for (int k = 0; k < 2; k++) {
            file_free(&f[k]);
            ops_free(ops[k], 20);
        }
    }
}

/* ---- arrays of many chunks, lossy ---- */

/* All but a fifth in the middle of an array, whose chunks are not read. */
static void check_gap(struct zmpi_reader_file *file, const float *expected, float *got)
{
    const size_t before = ARRAY * 7 / 20, behind = ARRAY * 9 / 20;
    const struct zmpi_reader_run run[] = {{0, 4 * before}, {4 * (ARRAY - behind), 4 * behind}};
    cr_assert_eq(zmpi_reader_read_runs(file, run, 2, got, NULL), ZMPI_OK);
    cr_assert_eq(memcmp(got, expected, 4 * before), 0);
    cr_assert_eq(memcmp(got + before, expected + ARRAY - behind, 4 * behind), 0);
}

Test(reader, arrays_in_parts)
{
    static float value[2 * ARRAY], got[2 * ARRAY], part[2 * ARRAY];
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_INTERP; encoder++) {
        struct file f;
        struct zmpi_header h;
        random_numbers.state = 3;
        file_arrays(&f, &h, encoder, value);
        const int fd = new_fd(&f);
        for (int threads = 1; threads <= 4; threads++) {
            struct zmpi_reader_file *file = open_fd(fd, threads);
            struct zmpi_reader_record r = {.size = sizeof r};
            cr_assert_eq(zmpi_reader_record(file, 1, &r, NULL), ZMPI_OK);
            cr_assert(r.array.type == ZMPI_F32 && r.array.extent[0] == NZ &&
                      r.array.extent[1] == NY && r.array.extent[2] == NX);
            cr_assert(r.encoder == encoder && r.bound.mode == ZMPI_ABS && r.abs_bound <= 1e-3);
            cr_assert(r.lo == ARRAY * 4 && r.hi == 2 * ARRAY * 4 && r.levels == 0 && r.chunks > 0);
            cr_assert_eq(zmpi_reader_read(file, 0, got, sizeof got, NULL), ZMPI_OK);
            for (size_t i = 0; i < 2 * ARRAY; i++)
                cr_assert(fabs((double)got[i] - (double)value[i]) <= 1e-3);
            for (int i = 0; i < 20; i++) {
                const size_t at = random_below(sizeof got), n = random_below(sizeof got - at);
                cr_assert_eq(zmpi_reader_read(file, at, part, n, NULL), ZMPI_OK);
                cr_assert_eq(memcmp(part, (char *)got + at, n), 0);
            }
            check_gap(file, got, part);
            zmpi_reader_close(file);
        }
        close(fd);
        file_free(&f);
    }
}

/* More large records than are kept open, read in small pieces. */
Test(reader, many_large_records)
{
    enum { RECORDS = 11, BYTES = 100000 };
    static unsigned char data[RECORDS * BYTES], got[2 * BYTES];
    struct file f;
    struct zmpi_header h;
    struct zmpi_record record[RECORDS];
    random_numbers.state = 7;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)random_below(256);
    file_create(&f, &h, test_id);
    for (uint64_t k = 0; k < RECORDS; k++) {
        record[k] = (struct zmpi_record){
            .kind = ZMPI_RECORD_DATA,
            .order = k,
            .extent = {.lo = k * BYTES, .hi = (k + 1) * BYTES, .bytes = BYTES, .run = BYTES}};
        file_record(&f, &record[k], zmpi_pad8(f.size), test_id, data + k * BYTES);
    }
    file_index(&f, &h, record, RECORDS, 1);
    const int fd = new_fd(&f);
    struct zmpi_reader_file *file = open_fd(fd, 2);
    for (int i = 0; i < 500; i++) {
        const size_t n = random_below(i % 10 ? 1000 : sizeof got);
        const size_t at = random_below(sizeof data - n);
        cr_assert_eq(zmpi_reader_read(file, at, got, n, NULL), ZMPI_OK);
        cr_assert_eq(memcmp(got, data + at, n), 0);
    }
    zmpi_reader_close(file);
    close(fd);
    file_free(&f);
}

struct reading {
    struct zmpi_reader_file *file;
    const float *expected;
    uint64_t seed;
};

static void *read_along(void *context)
{
    const struct reading *w = context;
    struct kit_random random = {w->seed};
    for (int i = 0; i < 30; i++) {
        const size_t at = kit_below(&random, 2 * ARRAY - 5000);
        float part[5000];
        if (zmpi_reader_read(w->file, at * 4, part, sizeof part, NULL) != ZMPI_OK ||
            memcmp(part, w->expected + at, sizeof part) != 0)
            return context;
        if (i % 10 == 0 && zmpi_reader_refresh(w->file, NULL, NULL) != ZMPI_OK)
            return context;
    }
    return NULL;
}

Test(reader, several_threads)
{
    static float value[2 * ARRAY], got[2 * ARRAY];
    struct file f;
    struct zmpi_header h;
    file_arrays(&f, &h, ZMPI_HUFFMAN, value);
    const int fd = new_fd(&f);
    struct zmpi_reader_file *file = open_fd(fd, 2);
    cr_assert_eq(zmpi_reader_read(file, 0, got, sizeof got, NULL), ZMPI_OK);
    pthread_t thread[4];
    struct reading w[4];
    for (uint64_t i = 0; i < 4; i++) {
        w[i] = (struct reading){file, got, i};
        cr_assert_eq(pthread_create(&thread[i], NULL, read_along, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        cr_assert_null(failed);
    }
    zmpi_reader_close(file);
    close(fd);
    file_free(&f);
}

/* ---- a file that grows ---- */

/* op[0] was added at `before`. Adds op[1] behind it, and meanwhile takes its bytes out: they may
 * arrive last. */
static void grow_out_of_order(struct zmpi_reader_file *file, int fd, struct file *f, struct op *op,
                              size_t before, size_t records)
{
    int changed;
    const size_t end = zmpi_pad8(f->size);
    unsigned char *saved = malloc(end - before);
    memcpy(saved, f->data + before, f->size - before);
    const size_t size = f->size - before;
    memset(f->data + before, 0, size);
    file_ops(f, op + 1, 1, test_id);
    give_fd(fd, f);
    cr_assert_eq(zmpi_reader_refresh(file, &changed, NULL), ZMPI_OK);
    cr_assert(changed);
    cr_assert_eq(info_of(file).records, records);
    memcpy(f->data + before, saved, size);
    free(saved);
}

Test(reader, follows_a_growing_file)
{
    static struct op ops[24];
    random_numbers.state = 6;
    for (int round = 0; round < 20; round++) {
        struct file f;
        struct zmpi_header h;
        struct model m;
        struct zmpi_record record[24];
        struct zmpi_reader_file *file = NULL;
        int changed, fd = -1;
        file_create(&f, &h, test_id);
        for (size_t i = 0; i < 24; i++)
            random_op(&ops[i]);
        for (size_t n = 0; n < 24; n++) {
            const bool late = n > 0 && n < 23 && random_below(3) == 0;
            const size_t before = f.size;
            file_ops(&f, ops + n, 1, test_id);
            if (late) { /* what comes behind it is complete before it */
                grow_out_of_order(file, fd, &f, ops + n, before, n + 1);
                n++;
                if (n < 23 && random_below(2)) /* and more behind that */
                    file_ops(&f, ops + ++n, 1, test_id);
            }
            if (!file)
                file = open_fd(fd = new_fd(&f), 2);
            give_fd(fd, &f);
            cr_assert_eq(zmpi_reader_refresh(file, &changed, NULL), ZMPI_OK);
            cr_assert_eq(info_of(file).records, n + 1);
            model_make(&m, ops, n + 1);
            if (m.size <= SPACE)
                check_reads(file, m.byte, m.size);
            if (random_below(6) == 0) { /* it is synchronised */
                ops_records(ops, n + 1, record);
                file_index(&f, &h, record, n + 1, 1);
                give_fd(fd, &f);
                cr_assert_eq(zmpi_reader_refresh(file, &changed, NULL), ZMPI_OK);
                cr_assert(changed && info_of(file).scanned == 0);
                check_records(file, ops, n + 1);
            }
            cr_assert_eq(zmpi_reader_refresh(file, &changed, NULL), ZMPI_OK);
            cr_assert(!changed);
        }
        /* What cannot be opened leaves all as it was. */
        const uint64_t size = info_of(file).logical_size;
        cr_assert_eq(ftruncate(fd, 0), 0);
        cr_assert_neq(zmpi_reader_refresh(file, NULL, NULL), ZMPI_OK);
        cr_assert_eq(info_of(file).logical_size, size);
        zmpi_reader_close(file);
        close(fd);
        file_free(&f);
        ops_free(ops, 24);
    }
}
