/*
 * files.c - which files zmpi-nicd writes to, and what. The plug-in itself asks, as a process would
 * that has gone wrong.
 *
 *     nic_files FOLDER OUTSIDE      the daemon has --files FOLDER
 */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bound/ratio.h"
#include "container/container.h"
#include "device.h"
#include "stream/compress_job.h"

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "nic_files: " __VA_ARGS__);                                                \
        fputc('\n', stderr);                                                                       \
        exit(1);                                                                                   \
    } while (0)

enum { COUNT = 50000, FILE_BYTES = 4096 };

static const struct zmpi_device_writer *nic;
static const unsigned char id[16] = "the file's id", other_id[16] = "another id";
static float data[COUNT];
static struct zmpi_job job;
static char name[1000];
static bool have_device; /* only root can make one */

static const char *in(const char *folder, const char *file)
{
    snprintf(name, sizeof name, "%s/%s", folder, file);
    return name;
}

/* A container without records, and something behind it that must stay. */
static void make(const char *path, const unsigned char file_id[16])
{
    unsigned char bytes[FILE_BYTES];
    struct zmpi_header h = {.generation = 1, .next_epoch = 1};
    memcpy(h.id, file_id, 16);
    memset(bytes, 0x55, sizeof bytes);
    memset(bytes, 0, ZMPI_HEADER_BYTES);
    zmpi_header_encode(&h, bytes + zmpi_header_slot(1));
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes || close(fd) != 0)
        FAIL("cannot make %s", path);
}

static size_t get(const char *path, unsigned char *bytes, size_t capacity)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, capacity);
    if (n < 0)
        FAIL("cannot read %s", path);
    close(fd);
    return (size_t)n;
}

static void untouched(const char *path)
{
    unsigned char bytes[FILE_BYTES + 1];
    if (get(path, bytes, sizeof bytes) != FILE_BYTES)
        FAIL("%s has another size", path);
    for (size_t i = ZMPI_HEADER_BYTES; i < FILE_BYTES; i++)
        if (bytes[i] != 0x55)
            FAIL("%s was written to", path);
}

static struct zmpi_write_request *submit(const char *path, const unsigned char file_id[16])
{
    struct zmpi_write_request *h = nic->submit(&job, data, path, file_id);
    if (!h)
        FAIL("%s: not taken", path);
    return h;
}

static void refused(const char *path, const unsigned char file_id[16])
{
    struct zmpi_coded c;
    struct zmpi_write_request *h = submit(path, file_id);
    const enum zmpi_status status = nic->coded(h, &c);
    if (status != ZMPI_ERR_IO)
        FAIL("%s: %s", path, zmpi_strerror(status));
    if (memcmp(nic->data(h), data, sizeof data) != 0)
        FAIL("%s: the data are lost", path);
    nic->drop(h);
}

static struct zmpi_record record_at(uint64_t offset, uint64_t payload)
{
    return (struct zmpi_record){.kind = ZMPI_RECORD_DATA,
                                .order = (uint64_t)1 << 32,
                                .offset = offset,
                                .payload_length = payload,
                                .extent = {.lo = 0, .hi = sizeof data, .bytes = sizeof data}};
}

/* The head of a record for `head_at` with a payload of `more` bytes more, to `offset`. */
static void place(const char *path, uint64_t offset, uint64_t head_at, uint64_t more,
                  const unsigned char head_id[16], enum zmpi_status expected)
{
    unsigned char head[ZMPI_RECORD_HEADER_BYTES];
    struct zmpi_coded c;
    double seconds;
    struct zmpi_write_request *h = submit(path, id);
    enum zmpi_status status = nic->coded(h, &c);
    if (status)
        FAIL("%s: %s", path, zmpi_strerror(status));
    const struct zmpi_record r = record_at(head_at, c.size + more);
    zmpi_record_encode(&r, head_id, NULL, head);
    nic->write(h, offset, head, sizeof head);
    status = nic->written(h, &seconds);
    if (status != expected)
        FAIL("place %llu: %s", (unsigned long long)offset, zmpi_strerror(status));
    nic->drop(h);
}

/* Whole record, as the CPU makes it. */
static void written(const char *path, uint64_t offset)
{
    const size_t capacity = zmpi_compress_capacity(&job.array);
    unsigned char *is = calloc(1, FILE_BYTES + capacity), *must = calloc(1, capacity);
    struct zmpi_record r;
    size_t size;
    if (!is || !must || zmpi_job_compress(zmpi_device_cpu(), &job, must, capacity, data, &size))
        FAIL("the CPU cannot");
    const size_t got = get(path, is, FILE_BYTES + capacity);
    if (zmpi_record_decode(&r, id, offset, is + offset, got - (size_t)offset) ||
        r.payload_length != size ||
        memcmp(is + offset + ZMPI_RECORD_HEADER_BYTES, must, (size_t)zmpi_pad8(size)) != 0)
        FAIL("%s: not the record", path);
    free(is);
    free(must);
}

/* Somebody empties the file while the stream waits for its place. */
static void place_too_late(const char *path)
{
    unsigned char head[ZMPI_RECORD_HEADER_BYTES], bytes[1];
    struct zmpi_coded c;
    double seconds;
    struct zmpi_write_request *h = submit(path, id);
    if (nic->coded(h, &c) || truncate(path, 0) != 0)
        FAIL("truncate");
    const struct zmpi_record r = record_at(512, c.size);
    zmpi_record_encode(&r, id, NULL, head);
    nic->write(h, 512, head, sizeof head);
    if (nic->written(h, &seconds) != ZMPI_ERR_IO || get(path, bytes, 1) != 0)
        FAIL("written to a file that was emptied");
    nic->drop(h);
}

static void paths(const char *folder, const char *outside)
{
    char long_way[1000];
    make(in(outside, "victim"), id);
    snprintf(long_way, sizeof long_way, "%s/../%s/victim", folder, strrchr(outside, '/') + 1);
    refused(long_way, id);
    refused(in(outside, "victim"), id);
    refused(in(folder, "link"), id);
    refused(in(folder, "linked/victim"), id);
    refused(in(folder, "missing"), id);
    refused(in(folder, "fifo"), id);
    if (have_device)
        refused(in(folder, "device"), id);
    refused(in(folder, "sub"), id);
    refused(in(folder, "plain"), id);
    refused(in(folder, "."), id);
    refused(folder, id);
    refused("victim", id);
    make(in(folder, "good"), id);
    refused(in(folder, "sub/../good"), id); /* it is there, but nobody says so who means well */
    refused(in(folder, "./good"), id);
    refused(in(folder, "/good"), id);
    refused(in(folder, "good/"), id);
    refused(in(folder, "good/good"), id);
    make(in(folder, "protected"), id);
    if (chmod(name, 0400) != 0)
        FAIL("chmod");
    refused(in(folder, "protected"), id);
    untouched(in(folder, "protected"));
    refused(in(folder, "good"), other_id);
    untouched(in(folder, "good"));
    untouched(in(outside, "victim"));
}

static void places(const char *folder)
{
    const char *good = in(folder, "good");
    place(good, 256, 256, 0, id, ZMPI_ERR_IO); /* the header */
    place(good, 516, 516, 0, id, ZMPI_ERR_IO);
    place(good, 520, 512, 0, id, ZMPI_ERR_IO);
    place(good, (uint64_t)INT64_MAX - 7, (uint64_t)INT64_MAX - 7, 0, id, ZMPI_ERR_IO);
    place(good, 512, 512, 8, id, ZMPI_ERR_IO);
    place(good, 512, 512, 0, other_id, ZMPI_ERR_IO);
    struct zmpi_write_request *h = submit(good, id);
    nic->drop(h); /* nobody wants it any more */
    untouched(good);
    place(good, 512, 512, 0, id, ZMPI_OK);
    written(good, 512);
    place_too_late(good);
}

int main(int argc, char **argv)
{
    const char *why = "", *folder = argv[1], *outside = argv[2];
    const struct zmpi_array a = {ZMPI_F32, {1, 1, COUNT}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const struct zmpi_device *d = argc == 3 ? zmpi_device_find("smartnic", NULL, &why) : NULL;
    if (!d || !d->writer)
        FAIL("two folders, and %s", why);
    nic = d->writer;
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)sin(0.01 * i);
    if (zmpi_job_make(&a, &bound, NULL, &job))
        FAIL("job");
    int fd = open(in(folder, "plain"), O_WRONLY | O_CREAT, 0600), pipe;
    char outside_victim[1000];
    snprintf(outside_victim, sizeof outside_victim, "%s/victim", outside);
    if (fd < 0 || symlink(outside_victim, in(folder, "link")) != 0 ||
        symlink(outside, in(folder, "linked")) != 0 || mkfifo(in(folder, "fifo"), 0600) != 0 ||
        (pipe = open(name, O_RDONLY | O_NONBLOCK)) < 0 || mkdir(in(folder, "sub"), 0700) != 0)
        FAIL("cannot make what is to be refused");
    close(fd);
    have_device = mknod(in(folder, "device"), S_IFCHR | 0600, makedev(1, 3)) == 0; /* null */
    paths(folder, outside);
    if (poll(&(struct pollfd){.fd = pipe, .events = POLLIN}, 1, 0) != 0)
        FAIL("the pipe was opened");
    close(pipe);
    places(folder);
    return 0;
}
