/*
 * boxes.c - the runs of a datatype in a device's memory, in as few copies as they allow: a vector
 * is one box, a subarray of up to three dimensions too.
 *
 * Runs come in the order of the type map, so that the packed side of a box is dense. A box grows
 * as long as runs continue it: first a row of equal runs at equal distances, then planes like the
 * first.
 */
#include "datatype/boxes.h"

#include <string.h>

static void copy(struct zboxes *b, unsigned char *place, unsigned char *packed, size_t rows,
                 size_t planes)
{
    struct zmpi_box box = {.bytes = b->bytes, .rows = rows, .planes = planes};
    size_t dense = b->bytes * rows;
    if (b->status || rows == 0 || planes == 0)
        return;
    if (b->to_packed) {
        box.src_row = b->row;
        box.src_plane = b->plane;
        box.dst_row = b->bytes;
        box.dst_plane = dense;
        b->status = b->device->copy(packed, place, &box);
    } else {
        box.dst_row = b->row;
        box.dst_plane = b->plane;
        box.src_row = b->bytes;
        box.src_plane = dense;
        b->status = b->device->copy(place, packed, &box);
    }
}

/* Copies all rows, also those of an incomplete last plane. */
void zboxes_flush(struct zboxes *b)
{
    if (b->rows == 0)
        return;
    size_t full = b->last_rows == b->rows ? b->planes : b->planes - 1;
    copy(b, b->place, b->packed, b->rows, full);
    if (full < b->planes)
        copy(b, b->place + full * b->plane, b->packed + full * b->rows * b->bytes, b->last_rows, 1);
    b->rows = 0;
}

static void start(struct zboxes *b, unsigned char *place, unsigned char *packed, size_t bytes)
{
    b->place = place;
    b->packed = packed;
    b->bytes = b->row = b->plane = bytes;
    b->rows = b->last_rows = b->planes = 1;
}

/* Does the run go on with the first plane, or with the last one? */
static bool next_row(struct zboxes *b, size_t distance)
{
    if (b->planes == 1) {
        if (b->rows == 1)
            b->row = b->plane = distance;
        if (distance != b->rows * b->row)
            return false;
        b->last_rows = ++b->rows;
        b->plane = b->rows * b->row;
        return true;
    }
    if (b->last_rows == b->rows || distance != (b->planes - 1) * b->plane + b->last_rows * b->row)
        return false;
    b->last_rows++;
    return true;
}

/* Does it begin a new plane? Planes are apart by a multiple of their rows' distance, as in an
 * array. */
static bool next_plane(struct zboxes *b, size_t distance)
{
    if (b->last_rows != b->rows || b->rows == 1)
        return false;
    if (b->planes == 1 && distance > b->rows * b->row && distance % b->row == 0)
        b->plane = distance;
    if (distance != b->planes * b->plane)
        return false;
    b->planes++;
    b->last_rows = 1;
    return true;
}

void zboxes_add(struct zboxes *b, unsigned char *place, unsigned char *packed, size_t bytes)
{
    bool follows =
        b->rows > 0 && bytes == b->bytes && (uintptr_t)place >= (uintptr_t)b->place + bytes;
    size_t distance = follows ? (size_t)((uintptr_t)place - (uintptr_t)b->place) : 0;
    if (follows && (next_row(b, distance) || next_plane(b, distance)))
        return;
    zboxes_flush(b);
    start(b, place, packed, bytes);
}
