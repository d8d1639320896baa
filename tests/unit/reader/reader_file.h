/* reader_file.h - containers of a model behind zmpi_reader.h. */
#ifndef TEST_READER_FILE_H
#define TEST_READER_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "container/container_file.h"
#include "zmpi_reader.h"

static inline void give_fd(int fd, const struct file *f)
{
    cr_assert_eq(pwrite(fd, f->data, f->size, 0), (ssize_t)f->size);
    cr_assert_eq(ftruncate(fd, (off_t)f->size), 0);
}

static inline int new_fd(const struct file *f)
{
    const int fd = memfd_create("reader", MFD_CLOEXEC);
    cr_assert(fd >= 0);
    give_fd(fd, f);
    return fd;
}

static inline struct zmpi_reader_file *open_fd(int fd, int threads)
{
    const struct zmpi_reader_options o = {.size = sizeof o, .threads = threads};
    struct zmpi_reader_file *file = NULL;
    struct zmpi_reader_error error;
    cr_assert_eq(zmpi_reader_open_fd(fd, "a.bin", &o, &file, &error), ZMPI_OK, "%s", error.text);
    return file;
}

static inline struct zmpi_reader_info info_of(struct zmpi_reader_file *file)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    cr_assert_eq(zmpi_reader_info(file, &info, NULL), ZMPI_OK);
    return info;
}

/* Random ranges and runs of the file, as the model has them. */
static inline void check_reads(struct zmpi_reader_file *file, const unsigned char *byte,
                               uint64_t size)
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

enum { NZ = 120, NY = 50, NX = 60, ARRAY = NZ * NY * NX };

/* Records of two arrays, one behind the other, by this encoder: so long that threads read them. */
static inline void file_arrays(struct file *f, struct zmpi_header *h, int encoder, float *value)
{
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const struct zmpi_codec_options o = {.size = sizeof o, .encoder = encoder, .threads = 2};
    struct zmpi_record record[2];
    for (size_t i = 0; i < 2 * ARRAY; i++)
        value[i] = sinf((float)i * 0.01f) + (float)kit_unit(&random_numbers);
    file_create(f, h, test_id);
    for (size_t k = 0; k < 2; k++) {
        struct zmpi_record *r = &record[k];
        const size_t bytes = ARRAY * 4, capacity = zmpi_compress_capacity(&a);
        const struct zmpi_extent e = {
            .lo = k * bytes, .hi = (k + 1) * bytes, .bytes = bytes, .run = bytes};
        *r = (struct zmpi_record){
            .kind = ZMPI_RECORD_DATA, .order = k, .offset = zmpi_pad8(f->size), .extent = e};
        unsigned char *out = calloc(1, capacity + ZMPI_RECORD_HEADER_BYTES + 8);
        cr_assert_eq(zmpi_compress_with(&o, &a, &bound, NULL, out + zmpi_record_head_size(r),
                                        capacity, value + k * ARRAY, &r->payload_length),
                     ZMPI_OK);
        zmpi_record_encode(r, test_id, NULL, out);
        file_put(f, r->offset, out, zmpi_record_size(r));
        free(out);
    }
    file_index(f, h, record, 2, 1);
}

#endif
