/*
 * reader.c - fuzz target: any bytes as a file are opened by zmpi_reader.h or refused, parts agree
 * with the whole, and a file that grew is the same as one that was opened late.
 *
 * The first byte of the input chooses: bit 0: put the checksums right, bit 1: plain files too,
 * bits 2 and 3: threads, bit 4: values by the network in the file. The second one says how much of
 * the file is there when it is opened. The rest is the file.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fix_checksums.h"
#include "zmpi_reader.h"

#define FILE_MAX ((size_t)64 << 10)
#define READ_MAX ((size_t)20000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t size_of(struct zmpi_reader_file *file)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    if (zmpi_reader_info(file, &info, NULL) != ZMPI_OK)
        abort();
    return info.logical_size;
}

/* What READ_MAX bytes at `lo` are; false: an error, which names the file. */
static int read_at(struct zmpi_reader_file *file, uint64_t lo, size_t n, uint8_t *dst)
{
    struct zmpi_reader_error error;
    const enum zmpi_status status = zmpi_reader_read(file, lo, dst, n, &error);
    if (status != error.status || (status && strncmp(error.text, "file", 4) != 0))
        abort();
    return status == ZMPI_OK;
}

/* If the whole can be read, so can parts of it, and they are the same. */
static void check_reads(struct zmpi_reader_file *file, uint64_t lo)
{
    const uint64_t size = size_of(file);
    const size_t n = size - lo < READ_MAX ? (size_t)(size - lo) : READ_MAX;
    uint8_t *whole = malloc(READ_MAX), *part = malloc(READ_MAX);
    if (whole && part && n > 100 && read_at(file, lo, n, whole)) {
        const struct zmpi_reader_run run[] = {{lo + 3, 1}, {lo + 64, 30}, {lo + 94, n - 100}};
        if (zmpi_reader_read_runs(file, run, 3, part, NULL) != ZMPI_OK || part[0] != whole[3] ||
            memcmp(part + 1, whole + 64, n - 70) != 0)
            abort();
    }
    free(whole);
    free(part);
}

static void check_records(struct zmpi_reader_file *file)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    if (zmpi_reader_info(file, &info, NULL) != ZMPI_OK)
        abort();
    for (uint64_t i = 0; i < info.records && i < 50; i++) {
        struct zmpi_reader_record r = {.size = sizeof r};
        if (zmpi_reader_record(file, i, &r, NULL) != ZMPI_OK)
            continue;
        if (r.lo > r.hi || r.offset >= info.physical_size)
            abort();
        if (i % 8 == 0 && r.lo <= info.logical_size)
            check_reads(file, r.lo);
    }
}

/* Both were looked at when all was there. */
static void check_same(struct zmpi_reader_file *a, struct zmpi_reader_file *b)
{
    const uint64_t size = size_of(a);
    const size_t n = size < READ_MAX ? (size_t)size : READ_MAX;
    uint8_t *x = malloc(READ_MAX), *y = malloc(READ_MAX);
    if (size != size_of(b))
        abort();
    if (x && y &&
        (read_at(a, 0, n, x) != read_at(b, 0, n, y) ||
         (read_at(a, 0, n, x) && memcmp(x, y, n) != 0)))
        abort();
    free(x);
    free(y);
}

static void check_file(int fd, const uint8_t *data, size_t size, size_t first, int how)
{
    const struct zmpi_reader_options o = {.size = sizeof o,
                                          .threads = 1 + (how >> 2 & 3),
                                          .flags = (how & 2 ? ZMPI_READER_PLAIN : 0) |
                                                   (how & 16 ? ZMPI_READER_ENHANCE : 0)};
    struct zmpi_reader_file *early = NULL, *late = NULL;
    if (write(fd, data, first) != (ssize_t)first)
        return;
    if (zmpi_reader_open_fd(fd, "file", &o, &early, NULL) == ZMPI_OK)
        check_reads(early, 0);
    if (write(fd, data + first, size - first) != (ssize_t)(size - first))
        abort();
    const int opened = zmpi_reader_open_fd(fd, "file", &o, &late, NULL) == ZMPI_OK;
    if (early && zmpi_reader_refresh(early, NULL, NULL) == ZMPI_OK) {
        check_reads(early, size_of(early) / 2);
        /* With checksums put right a record may lie in another one that was not complete. */
        if (opened && !(how & 1))
            check_same(early, late);
    }
    if (opened) {
        check_reads(late, 0);
        check_records(late);
    }
    zmpi_reader_close(early);
    zmpi_reader_close(late);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > FILE_MAX)
        return 0;
    const int how = data[0];
    const size_t n = size - 2, first = n * data[1] / 255;
    uint8_t *file = malloc(n + 1);
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (file && fd >= 0) {
        memcpy(file, data + 2, n);
        if (how & 1)
            fix_container(file, n);
        check_file(fd, file, n, first, how);
    }
    free(file);
    close(fd);
    return 0;
}
