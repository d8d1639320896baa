/* reader.c - zmpi_reader.h: what was written is read, in any pieces, and what is wrong is said. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "container/container_file.h"
#include "zmpi_reader.h"

static void give_fd(int fd, const struct file *f)
{
    cr_assert_eq(pwrite(fd, f->data, f->size, 0), (ssize_t)f->size);
    cr_assert_eq(ftruncate(fd, (off_t)f->size), 0);
}

static int new_fd(const struct file *f)
{
    const int fd = memfd_create("reader", MFD_CLOEXEC);
    cr_assert(fd >= 0);
    give_fd(fd, f);
    return fd;
}

static struct zmpi_reader_file *open_fd(int fd, int threads)
{
    const struct zmpi_reader_options o = {.size = sizeof o, .threads = threads};
    struct zmpi_reader_file *file = NULL;
    struct zmpi_reader_error error;
    cr_assert_eq(zmpi_reader_open_fd(fd, "a.bin", &o, &file, &error), ZMPI_OK, "%s", error.text);
    return file;
}

static struct zmpi_reader_info info_of(struct zmpi_reader_file *file)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    cr_assert_eq(zmpi_reader_info(file, &info, NULL), ZMPI_OK);
    return info;
}

/* Random ranges and runs of the file, as the model has them. */
static void check_reads(struct zmpi_reader_file *file, const unsigned char *byte, uint64_t size)
{
    struct zmpi_reader_run run[30];
    unsigned char got[2 * SPACE + 200];
    struct zmpi_reader_error error;
    cr_assert_eq(info_of(file).logical_size, size);
    for (int i = 0; i < 20; i++) {
        const uint64_t at = random_below(size + 1), n = i ? random_below(size - at + 1) : size - at;
        memset(got, 0xEE, sizeof got);
        cr_assert_eq(zmpi_reader_read(file, at, got, n, &error), ZMPI_OK, "%s", error.text);
        cr_assert_eq(memcmp(got, byte + at, n), 0);
        cr_assert_eq(got[n], 0xEE);
        cr_assert_eq(error.text[0], 0);
    }
    size_t n = 0, position = 0;
    for (uint64_t at = random_below(size + 1); n < 30;) {
        const uint64_t length = random_below(size - at + 1) / 10;
        run[n++] = (struct zmpi_reader_run){at, length};
        at += length;
        at += random_below(size - at + 1) / 10;
    }
    cr_assert_eq(zmpi_reader_read_runs(file, run, n, got, &error), ZMPI_OK, "%s", error.text);
    for (size_t i = 0; i < n; position += run[i++].length)
        cr_assert_eq(memcmp(got + position, byte + run[i].offset, run[i].length), 0);
}

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

enum { NZ = 40, NY = 50, NX = 60, ARRAY = NZ * NY * NX };

/* Records of two arrays, one behind the other, by this encoder. */
static void file_arrays(struct file *f, struct zmpi_header *h, int encoder, float *value)
{
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const struct zmpi_codec_options o = {.size = sizeof o, .encoder = encoder, .threads = 2};
    struct zmpi_record record[2];
    for (size_t i = 0; i < 2 * ARRAY; i++)
        value[i] = sinf((float)i * 0.01f) + 0.01f * (float)kit_unit(&random_numbers);
    file_create(f, h, test_id);
    for (size_t k = 0; k < 2; k++) {
        struct zmpi_record *r = &record[k];
        const size_t bytes = ARRAY * 4, room = zmpi_compress_capacity(&a);
        const struct zmpi_extent e = {
            .lo = k * bytes, .hi = (k + 1) * bytes, .bytes = bytes, .run = bytes};
        *r = (struct zmpi_record){
            .kind = ZMPI_RECORD_DATA, .order = k, .offset = zmpi_pad8(f->size), .extent = e};
        unsigned char *out = calloc(1, room + ZMPI_RECORD_HEADER_BYTES + 8);
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out + zmpi_record_head_size(r), room,
                                        value + k * ARRAY, &r->payload_length),
                     ZMPI_OK);
        zmpi_record_encode(r, test_id, NULL, out);
        file_put(f, r->offset, out, zmpi_record_size(r));
        free(out);
    }
    file_index(f, h, record, 2, 1);
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
            zmpi_reader_close(file);
        }
        close(fd);
        file_free(&f);
    }
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

/* ---- damage ---- */

Test(reader, damage_names_file_and_record)
{
    static float value[2 * ARRAY], got[2 * ARRAY];
    struct file f;
    struct zmpi_header h;
    char expected[100];
    file_arrays(&f, &h, ZMPI_FLE, value);
    const int fd = new_fd(&f);
    struct zmpi_reader_file *file = open_fd(fd, 2);
    struct zmpi_reader_record r = {.size = sizeof r};
    struct zmpi_reader_error error;
    cr_assert_eq(zmpi_reader_record(file, 1, &r, NULL), ZMPI_OK);
    const off_t place = (off_t)(r.offset + r.stored - 100);
    unsigned char byte;
    cr_assert_eq(pread(fd, &byte, 1, place), 1);
    byte ^= 4;
    cr_assert_eq(pwrite(fd, &byte, 1, place), 1);
    cr_assert_eq(zmpi_reader_read(file, 0, got, sizeof got, &error), ZMPI_ERR_CHECKSUM);
    cr_assert(error.status == ZMPI_ERR_CHECKSUM && error.record == r.offset && !error.system);
    snprintf(expected, sizeof expected, "a.bin: record at offset %llu: %s",
             (unsigned long long)r.offset, zmpi_strerror(ZMPI_ERR_CHECKSUM));
    cr_assert_str_eq(error.text, expected);
    cr_assert_eq(zmpi_reader_read(file, 0, got, sizeof got / 2, &error), ZMPI_OK);
    /* The file ends before what it had. */
    cr_assert_eq(ftruncate(fd, (off_t)r.offset + 200), 0);
    cr_assert_eq(zmpi_reader_read(file, ARRAY * 4, got, 4, &error), ZMPI_ERR_IO);
    cr_assert(strstr(error.text, "a.bin: record at offset ") && strstr(error.text, "shorter"));
    cr_assert_eq(zmpi_reader_refresh(file, NULL, &error), ZMPI_OK);
    cr_assert(!info_of(file).whole && strstr(error.text, "data may be missing"));
    zmpi_reader_close(file);
    close(fd);
    file_free(&f);
}

/* Of a file with any damage: the right bytes, or an error that names it. */
Test(reader, random_damage)
{
    static struct op ops[12];
    random_numbers.state = 5;
    for (int round = 0; round < test_rounds(300); round++) {
        struct file f;
        struct zmpi_header h;
        struct model m;
        struct zmpi_record record[12];
        struct zmpi_reader_file *file;
        struct zmpi_reader_error error;
        file_create(&f, &h, test_id);
        for (size_t i = 0; i < 12; i++) {
            random_op(&ops[i]);
            ops[i].record.order = i;
        }
        file_ops(&f, ops, 12, test_id);
        ops_records(ops, 12, record);
        file_index(&f, &h, record, 12, 2);
        model_make(&m, ops, 12);
        const size_t place = random_below(f.size);
        f.data[place] ^= (unsigned char)(1 + random_below(255));
        const int fd = new_fd(&f);
        if (zmpi_reader_open_fd(fd, "b.bin", NULL, &file, &error) != ZMPI_OK) {
            cr_assert(strncmp(error.text, "b.bin: ", 7) == 0);
        } else {
            unsigned char got[SPACE + 200];
            const uint64_t size = info_of(file).logical_size;
            const enum zmpi_status status =
                size > SPACE ? ZMPI_OK : zmpi_reader_read(file, 0, got, size, &error);
            if (status)
                cr_assert(strncmp(error.text, "b.bin: record at offset ", 24) == 0);
            else if (info_of(file).whole && size <= SPACE)
                cr_assert(size == m.size && memcmp(got, m.byte, size) == 0);
            zmpi_reader_close(file);
        }
        close(fd);
        file_free(&f);
        ops_free(ops, 12);
    }
}

/* A file of some hundred bytes that claims 2^62: no more memory than what is asked for. */
Test(reader, forged_sizes)
{
    struct file f;
    struct zmpi_header h;
    unsigned char got[4096];
    const uint64_t huge = (uint64_t)1 << 62;
    struct zmpi_record r[2] = {{.kind = ZMPI_RECORD_SIZE, .extent = {.lo = huge, .hi = huge}},
                               {.kind = ZMPI_RECORD_DATA,
                                .order = 1,
                                .extent = {.lo = huge - 8, .hi = huge, .bytes = 8, .run = 8}}};
    file_create(&f, &h, test_id);
    for (int i = 0; i < 2; i++)
        file_record(&f, &r[i], zmpi_pad8(f.size), test_id, (const unsigned char *)"12345678");
    file_index(&f, &h, r, 2, 1);
#ifndef __SANITIZE_ADDRESS__
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30}), 0);
#endif
    const int fd = new_fd(&f);
    struct zmpi_reader_file *file = open_fd(fd, 4);
    cr_assert_eq(info_of(file).logical_size, huge);
    cr_assert_eq(zmpi_reader_read(file, huge - sizeof got, got, sizeof got, NULL), ZMPI_OK);
    cr_assert_eq(memcmp(got + sizeof got - 8, "12345678", 8), 0);
    cr_assert(got[0] == 0 && got[sizeof got - 9] == 0);
    cr_assert_eq(zmpi_reader_read(file, 1, got, 100, NULL), ZMPI_OK);
    zmpi_reader_close(file);
    /* Twice that is more than a file may have. */
    struct file twice = {0};
    file_put(&twice, 0, f.data, f.size);
    h.id[0] ^= 1;
    struct file other;
    file_create(&other, &h, h.id);
    for (int i = 0; i < 2; i++)
        file_record(&other, &r[i], zmpi_pad8(other.size), h.id, (const unsigned char *)"12345678");
    file_index(&other, &h, r, 2, 1);
    file_put(&twice, twice.size, other.data, other.size);
    give_fd(fd, &twice);
    struct zmpi_reader_error error;
    cr_assert_eq(zmpi_reader_open_fd(fd, "twice", NULL, &file, &error), ZMPI_ERR_SIZE);
    cr_assert(strncmp(error.text, "twice: ", 7) == 0);
    close(fd);
    file_free(&f);
    file_free(&twice);
    file_free(&other);
}

/* ---- a file that grows ---- */

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
                const size_t end = zmpi_pad8(f.size);
                unsigned char *saved = malloc(end - before);
                memcpy(saved, f.data + before, f.size - before);
                const size_t size = f.size - before;
                memset(f.data + before, 0, size);
                file_ops(&f, ops + n + 1, 1, test_id);
                give_fd(fd, &f);
                cr_assert_eq(zmpi_reader_refresh(file, &changed, NULL), ZMPI_OK);
                cr_assert(changed);
                cr_assert_eq(info_of(file).records, n + 1);
                memcpy(f.data + before, saved, size);
                free(saved);
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

/* ---- arguments ---- */

static void check_refused(const char *path, enum zmpi_status status, int system, const char *what)
{
    struct zmpi_reader_file *file;
    struct zmpi_reader_error error;
    cr_assert_eq(zmpi_reader_open(path, NULL, &file, &error), status);
    cr_assert(error.status == status && error.system == system);
    cr_assert(strncmp(error.text, path, strlen(path)) == 0 && strstr(error.text, what), "%s",
              error.text);
}

Test(reader, what_is_no_container)
{
    struct zmpi_reader_file *file;
    struct zmpi_reader_error error;
    const struct zmpi_reader_options plain = {.size = sizeof plain, .flags = ZMPI_READER_PLAIN};
    unsigned char got[8];
    char folder[] = "/tmp/zmpi-reader.XXXXXX", name[64];
    cr_assert_not_null(mkdtemp(folder));
    check_refused(folder, ZMPI_ERR_ARG, 0, "is not a regular file");
    snprintf(name, sizeof name, "%s/missing", folder);
    check_refused(name, ZMPI_ERR_IO, ENOENT, "No such file");
    snprintf(name, sizeof name, "%s/pipe", folder);
    cr_assert_eq(mkfifo(name, 0600), 0);
    check_refused(name, ZMPI_ERR_ARG, 0, "is not a regular file");
    unlink(name);
    snprintf(name, sizeof name, "%s/plain", folder);
    FILE *out = fopen(name, "w");
    fputs("0123456789", out);
    fclose(out);
    check_refused(name, ZMPI_ERR_FORMAT, 0, "is not a zmpi container");
    cr_assert_eq(zmpi_reader_open(name, &plain, &file, &error), ZMPI_OK);
    cr_assert(info_of(file).containers == 0 && info_of(file).logical_size == 10);
    cr_assert_eq(zmpi_reader_read(file, 3, got, 7, &error), ZMPI_OK);
    cr_assert_eq(memcmp(got, "3456789", 7), 0);
    cr_assert_eq(truncate(name, 12), 0);
    cr_assert_eq(zmpi_reader_refresh(file, NULL, NULL), ZMPI_OK);
    cr_assert_eq(info_of(file).logical_size, 12);
    zmpi_reader_close(file);
    zmpi_reader_close(NULL);
    unlink(name);
    rmdir(folder);
    check_refused("/proc/self/status", ZMPI_ERR_ARG, 0, "how long");
    cr_assert_eq(zmpi_reader_open_fd(-1, "none", NULL, &file, &error), ZMPI_ERR_IO);
    cr_assert(error.system == EBADF && strncmp(error.text, "none: ", 6) == 0);
}

Test(reader, arguments)
{
    struct file f;
    struct zmpi_header h;
    struct zmpi_record record = {.kind = ZMPI_RECORD_DATA,
                                 .extent = {.hi = 100, .bytes = 100, .run = 100}};
    unsigned char data[100] = {1, 2, 3}, got[200];
    struct zmpi_reader_file *file;
    struct zmpi_reader_error error;
    file_create(&f, &h, test_id);
    file_record(&f, &record, zmpi_pad8(f.size), test_id, data);
    file_index(&f, &h, &record, 1, 1);
    const int fd = new_fd(&f);
    struct zmpi_reader_options o = {.size = sizeof o - 1};
    cr_assert_eq(zmpi_reader_open_fd(fd, "c", &o, &file, &error), ZMPI_ERR_ARG);
    o = (struct zmpi_reader_options){.size = sizeof o, .threads = -1};
    cr_assert_eq(zmpi_reader_open_fd(fd, "c", &o, &file, NULL), ZMPI_ERR_ARG);
    o = (struct zmpi_reader_options){.size = sizeof o, .flags = 2};
    cr_assert_eq(zmpi_reader_open_fd(fd, "c", &o, &file, NULL), ZMPI_ERR_ARG);
    file = open_fd(fd, 0);
    const struct {
        struct zmpi_reader_run run[2];
        size_t n;
        enum zmpi_status status;
    } cases[] = {{{{0, 100}}, 1, ZMPI_OK},
                 {{{0, 101}}, 1, ZMPI_ERR_ARG},
                 {{{100, 0}}, 1, ZMPI_OK},
                 {{{101, 0}}, 1, ZMPI_ERR_ARG},
                 {{{1, UINT64_MAX}}, 1, ZMPI_ERR_ARG},
                 {{{UINT64_MAX, 1}}, 1, ZMPI_ERR_ARG},
                 {{{0, 10}, {10, 10}}, 2, ZMPI_OK},
                 {{{0, 10}, {9, 10}}, 2, ZMPI_ERR_ARG},
                 {{{50, 10}, {0, 10}}, 2, ZMPI_ERR_ARG},
                 {{{0, 0}}, 0, ZMPI_OK}};
    for (size_t i = 0; i < KIT_COUNT(cases); i++)
        cr_assert_eq(zmpi_reader_read_runs(file, cases[i].run, cases[i].n, got, &error),
                     cases[i].status, "case %zu", i);
    struct zmpi_reader_info info = {.size = sizeof info - 1};
    cr_assert_eq(zmpi_reader_info(file, &info, NULL), ZMPI_ERR_ARG);
    struct zmpi_reader_record r = {.size = sizeof r};
    cr_assert_eq(zmpi_reader_record(file, 1, &r, &error), ZMPI_ERR_ARG);
    cr_assert(strstr(error.text, "has 1 records"));
    /* A caller of a later version has more members. */
    struct {
        struct zmpi_reader_info info;
        uint64_t more;
    } later = {{.size = sizeof later}, 77};
    cr_assert_eq(zmpi_reader_info(file, &later.info, NULL), ZMPI_OK);
    cr_assert(later.info.logical_size == 100 && later.more == 77);
    zmpi_reader_close(file);
    close(fd);
    file_free(&f);
}
