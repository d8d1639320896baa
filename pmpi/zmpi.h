/*
 * zmpi.h - what a program may ask of libzmpi beyond preloading it. Include after <mpi.h>; link with
 * -lzmpi before the MPI library.
 *
 * Nothing here is needed for compression to happen: the environment (ZMPI_ERROR_BOUND, ...; see
 * `zmpi options`) and MPI_Info hints (zmpi_error_bound, ...) say the same. Precedence: hint > these
 * calls > environment > rules file; what a stronger one has set stays as it is, which is no error.
 *
 * Functions return MPI_SUCCESS or an MPI error class unless said otherwise, and write their outputs
 * only on success. No pointer that they are given is kept; none may be NULL unless said otherwise.
 * Any thread may call them at any time after MPI_Init, for a file that no thread is closing and a
 * communicator that none is freeing. Sizes are in bytes, times in seconds of wall clock, both those
 * of this rank alone.
 */
#ifndef ZMPI_H
#define ZMPI_H

#include <mpi.h>

#include "zmpi_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The bound of what this file is given from now on: "abs=V", "rel=V", "pw_rel=V", "psnr=dB",
 * "ratio=R", "lossless". Collective by convention: all ranks of the file's communicator should say
 * the same; nothing is waited for. Data that were given before keep their bound: those that are
 * still held back are compressed now, and if that fails its error is returned, after the file's
 * error handler was called. A new file that was opened without a bound becomes a container while it
 * is empty; this call is collective then. MPI_ERR_FILE if fh is not a zmpi container and cannot
 * become one, MPI_ERR_ARG if the text is wrong or NULL.
 */
ZMPI_API int zmpi_file_set_bound(MPI_File fh, const char *bound);

/*
 * The shape of the arrays this rank writes from now on: extents z, y, x, in elements, of what one
 * call writes; leading ones are 1. A call whose number of elements is different ignores it, and
 * takes the shape from its datatypes as without it. (1, 1, 0) forgets it. Local. MPI_ERR_FILE if fh
 * is not a zmpi container.
 */
ZMPI_API int zmpi_file_set_shape(MPI_File fh, const size_t extent[3]);

/*
 * Set an option of what this file is given from now on, by its name and value in `zmpi options`:
 * threshold, fill, components, exact_below or shape. Collective by convention, and what was given
 * before keeps what it had, as with zmpi_file_set_bound. MPI_ERR_FILE if fh is not a zmpi
 * container, MPI_ERR_ARG if a text is wrong or NULL.
 */
ZMPI_API int zmpi_file_set(MPI_File fh, const char *option, const char *value);

/* 1 if this file is a container, 0 if it is not, or no open file. Local. */
ZMPI_API int zmpi_file_is_container(MPI_File fh);

/* What this rank did with an open container so far. */
struct zmpi_file_stats {
    uint64_t bytes_written;  /* by the program                     */
    uint64_t bytes_stored;   /* records, heads included            */
    uint64_t bytes_read;     /* by the program                     */
    uint64_t records;        /* written                            */
    double seconds_scan;     /* looking for the value range        */
    double seconds_compress; /* and then compressing               */
    double seconds_write;    /* in the MPI library                 */
    double seconds_read;     /* in the MPI library and in decoding */
    double seconds_decode;   /* of those, in decoding              */
    double ratio_bound;      /* the largest absolute bound that a  */
                             /* ratio took; 0: nothing was lost    */
    /* By other devices than the CPU: */
    uint64_t bytes_offloaded, bytes_decoded_offloaded;
};

/* Local. MPI_ERR_FILE if fh is not a zmpi container. */
ZMPI_API int zmpi_file_get_stats(MPI_File fh, struct zmpi_file_stats *stats);

/*
 * Set an option for the collective operations on a communicator from now on, by its name and value
 * in `zmpi options`: error_bound, threshold, fill, codec, device, shape, components, collectives,
 * collective_mode, collective_min, collective_piece. Collective: all ranks with the same arguments,
 * none of them inside a collective operation on this communicator. MPI_ERR_ARG if the text is
 * wrong, MPI_ERR_COMM if nothing is compressed on this communicator anyhow (one rank, two groups,
 * ranks of another MPI_COMM_WORLD, MPI-4 sessions without MPI_Init). Where some ranks did not call
 * it with the same arguments, operations go raw until they have, with a line that says so; but MPI
 * hangs where only some of them still ask each other whether to compress (collectives,
 * collective_mode, collective_min, the first bound), or where only some call it before the first
 * operation that might be compressed.
 */
ZMPI_API int zmpi_comm_set(MPI_Comm comm, const char *option, const char *value);

/* What this rank did in collective operations on a communicator so far. */
struct zmpi_comm_stats {
    uint64_t calls;          /* that might have been compressed    */
    uint64_t compressed;     /* that were                          */
    uint64_t bytes;          /* that this rank sent in those       */
    uint64_t bytes_sent;     /* as compressed messages             */
    double seconds;          /* in those; of them:                 */
    double seconds_scan;     /* looking for the value range        */
    double seconds_compress; /* and then compressing               */
    double seconds_decode;   /* checking and decoding what arrived */
    double ratio_bound;      /* the largest absolute bound that a  */
                             /* ratio took; 0: nothing was lost    */
    /* By other devices than the CPU: */
    uint64_t bytes_offloaded, bytes_decoded_offloaded;
};

/* Local. MPI_ERR_COMM if there was none yet. */
ZMPI_API int zmpi_comm_get_stats(MPI_Comm comm, struct zmpi_comm_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
