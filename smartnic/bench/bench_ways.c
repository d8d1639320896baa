/* bench_ways.c - see bench_ways.h. */
#define _GNU_SOURCE
#include "bench_ways.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The records of a file that may be under way at once lie side by side. */
enum { RECORDS = 4 };
/* How much of a process's data the plug-in takes at a time. */
#define MOST_PENDING ((size_t)256 << 20)

bool bench_file_make(struct bench_client *c, const char *folder)
{
    unsigned char bytes[ZMPI_HEADER_BYTES] = {0};
    struct zmpi_header h = {.generation = 1, .next_epoch = 1};
    snprintf(c->path, sizeof c->path, "%s/client-%d", folder, (int)getpid());
    memcpy(c->id, &(pid_t){getpid()}, sizeof(pid_t));
    memcpy(h.id, c->id, sizeof h.id);
    zmpi_header_encode(&h, bytes + zmpi_header_slot(1));
    c->fd = open(c->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return c->fd >= 0 && pwrite(c->fd, bytes, sizeof bytes, 0) == sizeof bytes;
}

/* The head of a record with a stream of `size` bytes, at the next place. */
static uint64_t next_place(struct bench_client *c, size_t size,
                           unsigned char head[ZMPI_RECORD_HEADER_BYTES])
{
    const struct zmpi_extent all = {.hi = c->bytes, .bytes = c->bytes};
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA, .order = (uint64_t)1 << 32, .extent = all};
    r.payload_length = size;
    if (c->at < ZMPI_HEADER_BYTES || c->at + zmpi_record_size(&r) > c->end)
        c->at = ZMPI_HEADER_BYTES;
    r.offset = c->at;
    c->end = ZMPI_HEADER_BYTES + RECORDS * (uint64_t)(c->capacity + ZMPI_RECORD_HEADER_BYTES);
    c->at += zmpi_record_size(&r);
    zmpi_record_encode(&r, c->id, NULL, head);
    return r.offset;
}

static bool compress(struct bench_client *c, const struct zmpi_device *device)
{
    return device->compress(&c->job, c->dst + ZMPI_RECORD_HEADER_BYTES, c->capacity, c->src,
                            &c->coded) == ZMPI_OK;
}

static bool by_cpu(struct bench_client *c)
{
    return compress(c, c->cpu);
}

static bool by_nic(struct bench_client *c)
{
    return compress(c, c->nic);
}

static bool written_by_cpu(struct bench_client *c)
{
    if (!compress(c, c->cpu))
        return false;
    const size_t size = ZMPI_RECORD_HEADER_BYTES + (size_t)zmpi_pad8(c->coded);
    const uint64_t offset = next_place(c, c->coded, c->dst);
    return pwrite(c->fd, c->dst, size, (off_t)offset) == (ssize_t)size;
}

/* ---- by the daemon ---- */

static bool land(struct bench_client *c)
{
    const struct zmpi_device_writer *t = c->nic->writer;
    unsigned char head[ZMPI_RECORD_HEADER_BYTES];
    struct zmpi_coded coded;
    double seconds;
    bool good = true;
    if (c->under_way) {
        good = t->coded(c->under_way, &coded) == ZMPI_OK;
        if (good) {
            c->coded = coded.size;
            const uint64_t offset = next_place(c, coded.size, head);
            t->write(c->under_way, offset, head, sizeof head);
            good = t->written(c->under_way, &seconds) == ZMPI_OK;
        }
        t->drop(c->under_way);
    }
    c->under_way = NULL;
    return good;
}

/* The record before lands while the daemon has this one. If both are too much for the plug-in, it
 * lands first. */
static bool written_by_nic(struct bench_client *c)
{
    if (2 * c->bytes > MOST_PENDING && !land(c))
        return false;
    struct zmpi_write_request *h = c->nic->writer->submit(&c->job, c->src, c->path, c->id);
    const bool good = land(c);
    c->under_way = h;
    return good && h;
}

const struct bench_way bench_ways[BENCH_WAYS] = {
    {"CPU", false, false, by_cpu, NULL},
    {"daemon", true, false, by_nic, NULL},
    {"CPU, file", false, true, written_by_cpu, NULL},
    {"daemon, file", true, true, written_by_nic, land},
};
