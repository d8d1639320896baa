/* device_buffer.h - buffers of MPI programs in the memory of an emulated GPU. The CPU's loads and
 * stores fault there, so that code which touches them without the device is found. */
#ifndef ZMPI_TESTS_DEVICE_BUFFER_H
#define ZMPI_TESTS_DEVICE_BUFFER_H

#include "../../mpi/check.h"
#include <cuda_runtime.h>

#define CUDA_OK(call) CHECK_SAY((call) == cudaSuccess, "%s", #call)

/* A buffer in either memory, with the same contents for whoever asks. */
struct buffer {
    void *at;
    size_t bytes;
    bool device;
};

static inline struct buffer buffer_make(size_t bytes, bool device)
{
    struct buffer b = {NULL, bytes, device};
    if (device)
        CUDA_OK(cudaMalloc(&b.at, bytes ? bytes : 1));
    else
        b.at = check_alloc(bytes ? bytes : 1);
    return b;
}

static inline void buffer_set(const struct buffer *b, const void *data)
{
    if (b->device)
        CUDA_OK(cudaMemcpy(b->at, data, b->bytes, cudaMemcpyHostToDevice));
    else
        memcpy(b->at, data, b->bytes);
}

static inline void buffer_fill(const struct buffer *b, int byte)
{
    if (b->device)
        CUDA_OK(cudaMemset(b->at, byte, b->bytes));
    else
        memset(b->at, byte, b->bytes);
}

/* malloc'ed */
static inline void *buffer_get(const struct buffer *b)
{
    void *data = check_alloc(b->bytes ? b->bytes : 1);
    if (b->device)
        CUDA_OK(cudaMemcpy(data, b->at, b->bytes, cudaMemcpyDeviceToHost));
    else
        memcpy(data, b->at, b->bytes);
    return data;
}

static inline void buffer_free(struct buffer *b)
{
    if (b->device)
        CUDA_OK(cudaFree(b->at));
    else
        free(b->at);
}

/* Which ranks have their buffers on a device: "host", "device", "mixed". */
static inline bool buffer_on_device(const char *who, int rank)
{
    return strcmp(who, "device") == 0 || (strcmp(who, "mixed") == 0 && rank % 2 == 0);
}

static inline void check_same(const struct buffer *is, const void *should, const char *what)
{
    unsigned char *data = buffer_get(is);
    size_t at = 0;
    while (at < is->bytes && data[at] == ((const unsigned char *)should)[at])
        at++;
    CHECK_SAY(at == is->bytes, "%s: byte %zu of %zu is not what host buffers give", what, at,
              is->bytes);
    free(data);
}

#endif
