/* datatype.h - inside view of the flattening, shared by datatype.c and datatype_array.c. */
#ifndef ZMPI_DATATYPE_H
#define ZMPI_DATATYPE_H

#include "datatype/buffer.h"

/* A growing list of segments. Once `failed`, nothing is added any more. */
struct zsegments {
    struct zsegment *segment;
    size_t count, capacity;
    bool failed;
};

/* Append [offset, offset + length), merging with the last if it continues it. */
void zsegments_add(struct zsegments *s, int64_t offset, uint64_t length);
/* Append `count` copies of a type, one extent apart, the first at `offset`. */
void zsegments_repeat(struct zsegments *s, const struct ztype *t, int64_t offset, int64_t count);

/* How a derived type was made: what MPI_Type_get_contents gives back, in its order, whatever call
 * made the type (contents.c). */
struct zcontents {
    int combiner;
    int64_t *integer;
    int64_t *address;
    size_t datatypes;
    MPI_Datatype *datatype;
    struct ztype *child; /* flattened, one per datatype */
};

/* The children are still to be made. To be freed after an error, too. */
int zcontents_get(MPI_Datatype t, struct zcontents *c);
void zcontents_free(struct zcontents *c);

/* Subarrays and distributed arrays: contents to segments. */
int ztype_subarray(const struct zcontents *c, struct zsegments *s);
int ztype_darray(const struct zcontents *c, struct zsegments *s);

#endif
