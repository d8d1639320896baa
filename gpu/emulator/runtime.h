/* What the files of the fake CUDA runtime share. All of it is under one lock, which zmpi_rt_enter
 * takes. */
#ifndef ZMPI_EMULATOR_RUNTIME_H
#define ZMPI_EMULATOR_RUNTIME_H

#include "cuda_runtime.h"
#include "emulator.h"

#include <stdint.h>

#define SHARED_DEFAULT                                                                             \
    ((size_t)48 * 1024) /* dynamic shared memory that needs no ZD_ALLOW_SHARED                     \
                         */
#define SHARED_MOST     ((size_t)227 * 1024) /* of one block */
#define MULTIPROCESSORS 4
#define THREADS_EACH    2048 /* of a multiprocessor */

/* ---- runtime_state.c ---- */

/* Every function of the interface begins with zmpi_rt_enter (runtime_queue.c), which returns an
 * error if the call must fail, and ends with leave. */
cudaError_t zmpi_rt_leave(cudaError_t error);
/* Those that leave the thread without a context, if it has none; that forget the last error. */
cudaError_t zmpi_rt_enter_without_context(const char *function);
cudaError_t zmpi_rt_leave_cleared(void);
/* Functions of the driver: they do not start it, and leave the runtime's last error alone. */
cudaError_t zmpi_rt_enter_driver(const char *function);
void zmpi_rt_leave_driver(void);
/* Does the next one called `name` fail by order? The error, or cudaSuccess. */
cudaError_t zmpi_rt_fault(const char *name);
/* All that follows fails. */
void zmpi_rt_stick(cudaError_t error);
cudaError_t zmpi_rt_stuck(void);
void zmpi_rt_unstick(void);
int zmpi_rt_devices(void);
int zmpi_rt_pools(void);
size_t zmpi_rt_memory_size(void);
/* Below n, by the seed of zmpi_emu_set_early; 0 without one. */
uint64_t zmpi_rt_early(uint64_t n);

/* ---- runtime_context.c ---- */

struct zmpi_emu_context;

/* The thread's current one; if it has none, that of the device that it has chosen. */
struct zmpi_emu_context *zmpi_rt_context(void);
int zmpi_rt_device(void); /* of that */
/* The same, but none is made. */
struct zmpi_emu_context *zmpi_rt_chosen_context(void);
/* NULL: there is no such device. */
struct zmpi_emu_context *zmpi_rt_primary_context(int device);
/* Has a program made it? Else it is a primary one, or none. */
int zmpi_rt_is_own_context(const struct zmpi_emu_context *context);
/* Frees one that a program has made. */
void zmpi_rt_end_context(struct zmpi_emu_context *context);

/* ---- runtime_queue.c ---- */

/* Something queued. run() is called when it is its turn, unless an error has stuck; destroy()
 * always, last. */
struct work {
    struct work *next;
    uint64_t number; /* the order in which all work was queued */
    void (*run)(struct work *work);
    void (*destroy)(struct work *work);
    int kernel;                                     /* it is one */
    enum { COPIES_NOT, COPY_UP, COPY_DOWN } copies; /* between host and device */
    /* What must have been done before: of this stream, up to this number. */
    struct zmpi_emu_stream *after;
    uint64_t after_number;
};

struct zmpi_emu_stream {
    struct zmpi_emu_stream *next;
    const struct zmpi_emu_context *context; /* NULL: any, the legacy stream's */
    int live;
    unsigned flags;
    struct work *first, **last; /* last: where the next one goes */
};

/* NULL: not a stream. */
struct zmpi_emu_stream *zmpi_rt_stream(cudaStream_t stream);
/* The stream of a call, which must be one. */
cudaError_t zmpi_rt_known_stream(cudaStream_t handle, struct zmpi_emu_stream **stream);
void zmpi_rt_queue(struct zmpi_emu_stream *stream, struct work *work);
/* Waits for all that was queued. */
cudaError_t zmpi_rt_wait(struct zmpi_emu_stream *stream);
cudaError_t zmpi_rt_wait_all(void);
/* One piece of it, which must be there; all up to a number. */
void zmpi_rt_run_first(struct zmpi_emu_stream *stream);
void zmpi_rt_run_until(struct zmpi_emu_stream *stream, uint64_t number);
cudaError_t zmpi_rt_new_stream(struct zmpi_emu_stream **stream, unsigned flags);
int zmpi_rt_is_legacy(const struct zmpi_emu_stream *stream);
/* No stream of the context is one any more. */
void zmpi_rt_end_streams(const struct zmpi_emu_context *context);
/* A call begins; before it, with a seed, some of what is queued is done. */
cudaError_t zmpi_rt_enter(const char *function);

/* ---- runtime_memory.c ---- */

struct allocation {
    char *p;
    size_t size;
    enum cudaMemoryType type;
    int device;
    struct zmpi_emu_context *context;
    unsigned long long id; /* no other has had it; 0: registered */
    int pooled;            /* of cudaMallocAsync: the device's, not the context's */
    int there;             /* cudaMallocAsync's stream has come to it */
    int cut_off;           /* its context was reset since: kernels may find it or not */
    char *map;             /* with a guard page; NULL: registered, the caller's own */
    size_t map_size;
    char *writable; /* p in a second mapping of device memory, else p */
};

/* The allocation that p lies in, NULL: host memory CUDA knows nothing of. */
struct allocation *zmpi_rt_find(const void *p);
cudaError_t zmpi_rt_free(void *p, enum cudaMemoryType type);
/* Device memory can be read, or written too, between these. */
void zmpi_rt_open(int writable);
void zmpi_rt_close(void);
/* What the context has, but for memory of pools. */
void zmpi_rt_free_all(const struct zmpi_emu_context *context);

/* ---- runtime_stream.c ---- */

/* No event of the context is one any more. */
void zmpi_rt_end_events(const struct zmpi_emu_context *context);

#endif
