/* buffer.h - the data of a call as the program describes them: datatype, file view, buffer. */
#ifndef ZMPI_BUFFER_H
#define ZMPI_BUFFER_H

#include <mpi.h>
#include <stdbool.h>

#include "container/container.h"
#include "datatype/extents.h"
#include "device.h"
#include "next_mpi.h"
#include "options/options.h"

/* ---- datatype.c: a datatype as runs of bytes ---- */

struct zsegment {
    int64_t offset; /* from the buffer's address or the view's displacement */
    uint64_t length;
    uint64_t before; /* data bytes in front of this segment */
};

struct ztype {
    struct zsegment *segment; /* in the order of the type map, neighbours merged */
    size_t count;
    uint64_t size; /* data bytes */
    int64_t lb, extent;
    enum zmpi_type element; /* what all its basic types are, else ZMPI_BYTES */
    size_t shape[3]; /* z, y, x in elements, as the constructors tell it; the product is size /
                        width */
    struct zextents extents; /* the same, all of them */
    bool dense;              /* one segment at 0 that fills the extent */
};

int ztype_make(MPI_Datatype datatype, struct ztype *t);
/* As PMPI_Type_size_x, without a call of the error handler of MPI_COMM_WORLD for invalid types. */
int ztype_size(MPI_Datatype datatype, MPI_Count *size);
/* The call that made it, MPI_COMBINER_VECTOR. */
int ztype_combiner(MPI_Datatype datatype, int *combiner);
/* Is it a type of MPI's own, which nobody frees? */
bool ztype_is_predefined(MPI_Datatype datatype);
/* Number of the segment that holds data byte `at`, which is below the type's size. */
size_t ztype_segment(const struct ztype *t, uint64_t at);
/* n times an array of this shape, one behind the other: one more dimension, as far as there is room
 * for it. */
void zshape_prepend(size_t shape[3], size_t n);
void ztype_free(struct ztype *t);

/* ---- view.c: from positions in the view to logical bytes of the file ---- */

struct zview {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype; /* our own duplicates unless named */
    uint64_t etype_size;
    struct ztype file; /* the flattened filetype */
    bool increasing;   /* segments increase without overlap, across tiles too */
};

int zview_default(struct zview *v);
int zview_make(struct zview *v, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype);
void zview_free(struct zview *v);
/* Why MPI forbids this view (MPI 3.1, 13.3), of a file that may be written or one that is only
 * read; NULL: it does not. */
const char *zview_forbidden(const struct zview *v, bool written);
/* Logical offset of data byte `position` of the view. */
uint64_t zview_offset(const struct zview *v, uint64_t position);
/* How many data bytes of the view lie below logical byte `size` when one starts at position 0. */
uint64_t zview_bytes_below(const struct zview *v, uint64_t size);
/* Runs of data bytes [position, position + bytes), neighbours merged. *runs is malloc'ed (NULL if
 * bytes is 0). */
enum zmpi_status zview_runs(const struct zview *v, uint64_t position, uint64_t bytes,
                            struct zmpi_run **runs, size_t *count);

/* ---- memory.c: the program's buffer, in the host's memory or a device's ---- */

struct zmemory {
    /* The bytes in type-map order: the program's buffer, or a packed copy. */
    const unsigned char *data;
    const struct zmpi_device *holder; /* of the memory that data are in; NULL: the host's */
    unsigned char *owned;             /* the copy, if there is one */
    void *taken;                      /* the same, if it is in the memory of `taker` */
    const struct zmpi_device *taker;
    uint64_t bytes;
    enum zmpi_type element;
    bool known;       /* by a library: written as bytes (known.h) */
    bool retyped;     /* by the option element_type: another type than the datatype's */
    bool big_endian;  /* the program's; `data` are a copy in this machine's order */
    uint64_t written; /* elements that the library's call writes; 0: not known */
    bool exact;       /* whatever the bound */
    uint64_t array;   /* elements of the array that they are a part of; 0: not known */
    size_t shape[3];  /* of all elements, as the datatype tells it */
    struct zextents extents;
};

int zmemory_pack(struct zmemory *m, const void *buf, MPI_Count count, MPI_Datatype datatype);
void zmemory_free(struct zmemory *m);
/* Copies data of a device to the host's memory; on failure they stay where they are. */
enum zmpi_status zmemory_to_host(struct zmemory *m);
/* The value range; data of a device may come to the host for it. */
enum zmpi_status zmemory_range(struct zmemory *m, const struct zmpi_options *o, double threshold,
                               const struct zmpi_fills *fills, struct zmpi_range *range);
/* If the buffer is one stretch of memory: its address, else NULL. */
unsigned char *zmemory_stretch(const struct ztype *t, const void *buf, MPI_Count count);
/* The first byte of data, by which a device knows its own. */
void *zmemory_first(const struct ztype *t, const void *buf);
/* The device in whose memory the buffer is, NULL for the host's. */
const struct zmpi_device *zmemory_holder(const struct ztype *t, const void *buf, MPI_Count count);
/* Copy `bytes` data bytes of elements of a type, from data byte `at` on, to `packed` or from it.
 * holder: zmemory_holder's answer; `packed` may be in its memory too. */
enum zmpi_status zmemory_copy(const struct ztype *t, const struct zmpi_device *holder, void *buf,
                              uint64_t at, unsigned char *packed, uint64_t bytes, bool to_packed);

/* The program's buffer for what is read. */
struct ztarget {
    struct ztype type;
    const struct zmpi_device *holder;
    unsigned char *direct; /* if it is one stretch of memory */
    void *first;           /* byte of it */
};

int ztarget_make(struct ztarget *t, void *buf, MPI_Count count, MPI_Datatype datatype);
void ztarget_free(struct ztarget *t);

#endif
