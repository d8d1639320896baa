/* reader_damage.c - zmpi_reader.h with damaged and forged files: the right bytes, or an error that
 * names the place; and what is no container. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "reader_file.h"

/* ---- damage ---- */

Test(reader_damage, damage_names_file_and_record)
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
    /* The file ends before what it had: near the end of the record, and of its head. */
    cr_assert_eq(ftruncate(fd, place), 0);
    cr_assert_eq(zmpi_reader_read(file, 0, got, sizeof got, &error), ZMPI_ERR_IO);
    cr_assert(error.record == r.offset && strstr(error.text, "shorter"));
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
/* What is damaged or cut off after it was read once, when heads of records are kept. */
Test(reader_damage, damage_while_it_is_open)
{
    static float value[2 * ARRAY], whole[2 * ARRAY], got[2 * ARRAY];
    struct file f;
    struct zmpi_header h;
    struct zmpi_reader_error error;
    struct zmpi_reader_record r = {.size = sizeof r};
    file_arrays(&f, &h, ZMPI_FLE, value);
    const int fd = new_fd(&f);
    struct zmpi_reader_file *file = open_fd(fd, 2);
    cr_assert_eq(zmpi_reader_read(file, 0, whole, sizeof whole, NULL), ZMPI_OK);
    cr_assert_eq(zmpi_reader_record(file, 1, &r, NULL), ZMPI_OK);
    const off_t last = (off_t)(r.offset + r.stored - 100); /* in its last chunk */
    cr_assert_eq(pwrite(fd, "other", 5, last), 5);
    cr_assert_eq(zmpi_reader_read(file, 8 * ARRAY - 64, got, 64, &error), ZMPI_ERR_CHECKSUM);
    cr_assert_eq(error.record, r.offset, "%s", error.text);
    cr_assert_eq(zmpi_reader_read(file, 0, got, 6 * ARRAY, &error), ZMPI_OK, "%s", error.text);
    cr_assert_eq(memcmp(got, whole, 6 * ARRAY), 0);
    cr_assert_eq(ftruncate(fd, (off_t)r.offset + 1000), 0);
    cr_assert_eq(zmpi_reader_read(file, 8 * ARRAY - 64, got, 64, &error), ZMPI_ERR_IO);
    cr_assert(strstr(error.text, "shorter"), "%s", error.text);
    cr_assert_eq(zmpi_reader_read(file, 64, got, 1000, &error), ZMPI_OK, "%s", error.text);
    cr_assert_eq(memcmp(got, whole + 16, 1000), 0);
    zmpi_reader_close(file);
    close(fd);
    file_free(&f);
}

Test(reader_damage, random_damage)
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
Test(reader_damage, forged_sizes)
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

Test(reader_damage, what_is_no_container)
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

Test(reader_damage, arguments)
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
    o = (struct zmpi_reader_options){.size = sizeof o, .flags = 4};
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
