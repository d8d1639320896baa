/* copy_share.c - see copy_share.h. */
#include "close/copy_share.h"

#include <stdlib.h>
#include <string.h>

#include "file/physical.h"

/* Bytes that are copied at a time. The shares of ranks begin at multiples of it. */
#define PIECE ((uint64_t)4 << 20)

static bool is_zeros(const unsigned char *data, size_t size)
{
    return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool zcopy_share(struct zfile *f, struct zmpi_container *from, const struct zmpi_run *hole,
                 size_t holes, bool empty, int fd)
{
    const uint64_t pieces = (from->logical_size + PIECE - 1) / PIECE;
    const uint64_t share = (pieces + (uint64_t)f->ranks - 1) / (uint64_t)f->ranks * PIECE;
    const uint64_t begin = share * (uint64_t)f->rank;
    const uint64_t end = lower(begin + share, from->logical_size);
    struct zmpi_offload offload = {.what = f->path, .name = f->options.device};
    struct zmpi_reader reader = zfile_reader(f);
    reader.offload = &offload;
    unsigned char *bytes = begin < end ? malloc(PIECE) : NULL;
    bool ok = begin >= end || bytes;
    const struct zmpi_run *h = hole, *last = hole + holes;
    for (uint64_t at = begin; ok && at < end;) {
        while (h < last && h->offset + h->length <= at)
            h++;
        if (h < last && h->offset <= at) {
            at = h->offset + h->length;
            continue;
        }
        const uint64_t stop = h < last ? lower(h->offset, end) : end;
        const struct zmpi_run run = {at, lower(stop - at, PIECE)};
        uint64_t bad;
        ok = !zmpi_container_read(from, &reader, &run, 1, bytes, &bad) &&
             ((empty && is_zeros(bytes, run.length)) ||
              zfd_write(fd, bytes, run.length, (off_t)at) == 0);
        at += run.length;
    }
    free(bytes);
    return ok;
}
