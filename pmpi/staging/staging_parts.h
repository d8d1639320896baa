/* staging_parts.h - parts of a batch that lie regularly in the file. */
#ifndef ZMPI_STAGING_PARTS_H
#define ZMPI_STAGING_PARTS_H

#include "file/zfile.h"

/* A batch is regular if it has no more parts. A component has at most three records of a part,
 * whose heads have no more bytes together. */
enum { ZPARTS_MOST = 16, ZPARTS_HEADS = 768 };

struct zpart {
    size_t first, count;       /* patches */
    struct zmpi_extent extent; /* of less than ZMPI_EXTENT_LEVELS levels, without a list */
};

struct zparts {
    struct zpatch *patch;  /* of all parts, one behind the other: rows, if the calls tell them */
    size_t patches, count; /* count: of parts */
    struct zpart part[ZPARTS_MOST];
};

/* False: the batch is not regular, or there is no memory; then *parts needs no zparts_free. */
bool zparts_find(const struct zbatch *b, struct zparts *parts);
void zparts_free(struct zparts *parts);

#endif
