/* slices.h - an array cut into parts of some megabytes, so that copies and kernels overlap. */
#ifndef ZMPI_GPU_SLICES_H
#define ZMPI_GPU_SLICES_H

#include "kernels/kernels.h"

/* About the bytes of a slice: enough that the host starts the next one while the device copies one.
 * The benchmark changes it. */
extern size_t gpu_slice_bytes;

struct gpu_slices {
    size_t count;                     /* at least 1 */
    size_t layers;                    /* of a slice */
    size_t layer_chunks, layer_bytes; /* of a layer */
    size_t chunks, bytes;             /* of the array */
};

/* Chunks [first, first + chunks), whose elements are the bytes [begin, end) of the array. */
struct gpu_slice {
    size_t first, chunks;
    size_t begin, end;
};

/*
 * whole: the bytes of a slice are contiguous in the array. Chunks are numbered along x first, so
 * such slices are layers of tiles along the slowest axis; an array with one layer has one slice.
 * Otherwise a slice is any set of consecutive chunks, and `begin` and `end` mean nothing.
 */
struct gpu_slices gpu_slices_of(const struct zmpi_cuda_tiles *tiles, bool whole);
struct gpu_slice gpu_slice(const struct gpu_slices *slices, size_t i);

#endif
