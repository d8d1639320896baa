/* boxes.h - runs of bytes in a device's memory, copied many at a time (boxes.c). */
#ifndef ZMPI_BOXES_H
#define ZMPI_BOXES_H

#include "device.h"

/* Begin with the first two members and the rest zero. */
struct zboxes {
    const struct zmpi_device *device;
    bool to_packed;
    enum zmpi_status status; /* of all copies so far */
    /* What was not copied yet: planes of rows of runs; no rows: nothing. */
    unsigned char *place, *packed;
    size_t bytes, rows, planes, row, plane;
    size_t last_rows; /* of the last plane */
};

/* Adds a run: in the device's memory at `place`, packed (in any memory) behind the run before it.
 */
void zboxes_add(struct zboxes *b, unsigned char *place, unsigned char *packed, size_t bytes);
/* Copies what is left. All runs are copied if the status is ZMPI_OK. */
void zboxes_flush(struct zboxes *b);

#endif
