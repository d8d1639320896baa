/*
 * field_io: moves a raw field between an ordinary file and a shared file written through MPI-IO.
 * field_io.c holds the command line and the MPI-IO, field_io_posix.c the raw file and comparison.
 */
#ifndef FIELD_IO_H
#define FIELD_IO_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* The whole field, folded to three dimensions z, y, x, and this rank's block of it. */
struct field {
    int dimensions; /* 1 to 3 as given; the leading extents below are 1 beyond that */
    int size[3];
    int start[3];
    int count[3];
    bool is_double;
    size_t element;  /* bytes */
    size_t elements; /* of the whole field */
    size_t own;      /* elements of the block; 0 on a rank without one */
    MPI_Datatype type;
};

struct difference {
    double largest;      /* |x - x'| over finite pairs; infinite if finite became non-finite */
    long long beyond;    /* finite elements further off than allowed */
    long long special;   /* NaN, infinite and fill elements that are not bit-identical */
    long long differing; /* elements that are not bit-identical, of any kind */
};

/* The element of the whole field at which a row of the block starts. */
size_t field_row_start(const struct field *f, int z, int y);

/* All of these abort the job with a message when the file cannot be used. */
void raw_check_size(const struct field *f, const char *path);
void raw_read_block(const struct field *f, const char *path, void *block);
void raw_write_block(const struct field *f, const char *path, const void *block);

/* Compares this rank's blocks element by element, in exact arithmetic. */
struct difference compare_blocks(const struct field *f, const void *original, const void *copy,
                                 double allowed);

#endif
