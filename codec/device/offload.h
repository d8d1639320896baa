/*
 * offload.h - gives arrays to the device that is best for them. If that device fails, one line
 * says so, the CPU takes over, and nothing is lost.
 */
#ifndef ZMPI_OFFLOAD_H
#define ZMPI_OFFLOAD_H

#include "device.h"
#include "layout/stream.h"

/* Statistics of coded, or decoded, arrays. */
struct zmpi_use {
    const struct zmpi_device *last; /* that did some of it; NULL: none yet */
    uint64_t bytes;                 /* by others than the CPU */
    char why[96];                   /* `last` was taken */
};

/* State of the devices for one file, or one communicator. Zeroed, except for the first two. */
struct zmpi_offload {
    const char *what; /* for the log: the file, the communicator */
    const char *name; /* of the device, as asked for: "auto", "cpu", ... */
    bool failed;      /* a device did: the CPU from here on */
    struct zmpi_use coded, decoded;
};

/* src is in the memory of `holder`, of the host if that is NULL. */
enum zmpi_status zmpi_offload_compress(struct zmpi_offload *o, const struct zmpi_job *job,
                                       const struct zmpi_device *holder, void *dst, size_t capacity,
                                       const void *src, size_t *size);
/* Gives an array to the device that is best for it, to be compressed and written to a file (struct
 * zmpi_device_writer). NULL: no device does that. *device: the one that has it. */
struct zmpi_write_request *zmpi_offload_submit(struct zmpi_offload *o, const struct zmpi_job *job,
                                               const void *src, const char *path,
                                               const unsigned char id[16],
                                               const struct zmpi_device **device);
/* Decodes all of a stream; dst is in the memory of `holder`. */
enum zmpi_status zmpi_offload_decompress(struct zmpi_offload *o, const struct zmpi_device *holder,
                                         void *dst, size_t capacity, const void *src,
                                         size_t src_size, int threads);

/*
 * zmpi_stream_decode to the host's memory, dst, by a device where that is the best for it and
 * nearly all chunks are needed; other bytes of the array may then be written, too. That the chunks
 * are what was written is checked here, whatever the device says, and some of its values are
 * compared with the CPU's.
 */
enum zmpi_status zmpi_offload_decode(struct zmpi_offload *o, const struct zmpi_stream *s,
                                     const unsigned char *need, int threads, void *dst);
/* Are enough chunks needed that a device may decode all of them? Then all must be read: not if the
 * few that are not needed are a large part of the stream's bytes. */
bool zmpi_offload_whole(const struct zmpi_stream *s, const unsigned char *need);

/* The device that a report names; never NULL. */
const struct zmpi_device *zmpi_use_device(const struct zmpi_use *use);

#endif
