/* rows.c - tiles between an array and a chunk's buffers. */
#include <stdlib.h>
#include <string.h>

#include "layout/chunk.h"

void zmpi_chunk_work_init(struct zmpi_chunk_work *work, size_t plane, size_t before)
{
    const size_t front = plane + ZMPI_CHUNK_BEHIND;
    if (front + before < ZMPI_CHUNK_BEFORE) {
        memset(work->integers, 0, front);
        memset(work->integers + (ZMPI_CHUNK_BEFORE - before), 0, before);
    } else {
        memset(work->integers, 0, ZMPI_CHUNK_BEFORE);
    }
    work->level = 0;
    work->masked = work->filled = false;
    work->apart = work->apart_run = 0;
    work->edges.extent[0] = 0; /* no chunk's */
    work->cached = work->keep = work->given = false;
    work->far = 0;
}

struct zmpi_chunk_work *zmpi_chunk_work_for(size_t plane, size_t before)
{
    struct zmpi_chunk_work *work = aligned_alloc(64, sizeof *work);
    if (work)
        zmpi_chunk_work_init(work, plane, before);
    return work;
}

struct zmpi_chunk_work *zmpi_chunk_work_new(void)
{
    return zmpi_chunk_work_for(ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);
}

/* Rows that lie behind each other, without gaps, are copied as one. */
struct runs {
    size_t bytes, rows, planes;
};

static struct runs runs_of(const struct zmpi_rows *rows, const size_t extent[3], size_t bytes)
{
    struct runs r = {bytes, extent[1], extent[0]};
    if (rows->row == bytes || r.rows == 1) {
        r.bytes *= r.rows;
        r.rows = 1;
    }
    if (r.rows == 1 && (rows->plane == r.bytes || r.planes == 1)) {
        r.bytes *= r.planes;
        r.planes = 1;
    }
    return r;
}

void zmpi_rows_gather(const struct zmpi_rows *src, const size_t extent[3], size_t bytes,
                      unsigned char *words)
{
    const struct runs r = runs_of(src, extent, bytes);
    if (src->at == words)
        return;
    for (size_t z = 0; z < r.planes; z++)
        for (size_t y = 0; y < r.rows; y++, words += r.bytes)
            memcpy(words, src->at + z * src->plane + y * src->row, r.bytes);
}

void zmpi_rows_scatter(const struct zmpi_rows *dst, const size_t extent[3], size_t bytes,
                       const unsigned char *words, zmpi_copy_fn *copy)
{
    const struct runs r = runs_of(dst, extent, bytes);
    if (dst->at == words)
        return;
    for (size_t z = 0; z < r.planes; z++)
        for (size_t y = 0; y < r.rows; y++, words += r.bytes)
            copy(dst->at + z * dst->plane + y * dst->row, words, r.bytes);
}
