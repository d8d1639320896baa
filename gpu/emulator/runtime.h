/* What the files of the fake CUDA runtime share. One lock protects all of it; zmpi_rt_enter takes
 * it. */
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
/* Variants for calls that need no context, and for calls that clear the last error. */
cudaError_t zmpi_rt_enter_without_context(const char *function);
cudaError_t zmpi_rt_leave_cleared(void);
/* For the driver's functions: they do not start the driver, and leave the runtime's last error
 * alone. */
cudaError_t zmpi_rt_enter_driver(const char *function);
void zmpi_rt_leave_driver(void);
/* Must the next call of `name` fail (ZMPI_EMU_FAIL)? The error, or cudaSuccess. */
cudaError_t zmpi_rt_fault(const char *name);
/* From now on every call fails. */
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

/* The thread's current context; if it has none, that of the device that it has chosen. */
struct zmpi_emu_context *zmpi_rt_context(void);
int zmpi_rt_device(void); /* of that */
/* The same, but makes no context. */
struct zmpi_emu_context *zmpi_rt_chosen_context(void);
/* NULL: there is no such device. */
struct zmpi_emu_context *zmpi_rt_primary_context(int device);
/* Did a program make it? Otherwise it is a primary context, or none. */
int zmpi_rt_is_own_context(const struct zmpi_emu_context *context);
/* Frees a context that a program has made. */
void zmpi_rt_end_context(struct zmpi_emu_context *context);

/* ---- runtime_queue.c ---- */

/* Queued work. run() is called when its turn comes, unless an error has stuck; destroy() is always
 * called, last. */
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
/* The stream of a call, or an error if it is not one. */
cudaError_t zmpi_rt_known_stream(cudaStream_t handle, struct zmpi_emu_stream **stream);
void zmpi_rt_queue(struct zmpi_emu_stream *stream, struct work *work);
/* Waits for all that was queued. */
cudaError_t zmpi_rt_wait(struct zmpi_emu_stream *stream);
cudaError_t zmpi_rt_wait_all(void);
/* Runs one piece of work, which must be there; runs all up to a number. */
void zmpi_rt_run_first(struct zmpi_emu_stream *stream);
void zmpi_rt_run_until(struct zmpi_emu_stream *stream, uint64_t number);
cudaError_t zmpi_rt_new_stream(struct zmpi_emu_stream **stream, unsigned flags);
int zmpi_rt_is_legacy(const struct zmpi_emu_stream *stream);
/* Forgets all streams of the context. */
void zmpi_rt_end_streams(const struct zmpi_emu_context *context);
/* Begins a call. With a seed, some of the queued work happens first. */
cudaError_t zmpi_rt_enter(const char *function);

/* ---- runtime_memory.c ---- */

struct allocation {
    char *p;
    size_t size;
    enum cudaMemoryType type;
    int device;
    struct zmpi_emu_context *context;
    unsigned long long id; /* unique in the process; 0: registered */
    int pooled;            /* of cudaMallocAsync: the device's, not the context's */
    int there;             /* cudaMallocAsync's stream has come to it */
    int cut_off;           /* its context was reset: kernels may find it or not */
    char *map;             /* with a guard page; NULL: registered, the caller's own */
    size_t map_size;
    char *writable; /* p in a second mapping of device memory, else p */
};

/* The allocation that contains p; NULL: host memory that CUDA does not know. */
struct allocation *zmpi_rt_find(const void *p);
cudaError_t zmpi_rt_free(void *p, enum cudaMemoryType type);
/* Makes device memory readable, or writable too, between these two calls. */
void zmpi_rt_open(int writable);
void zmpi_rt_close(void);
/* Frees what the context has, except memory of pools. */
void zmpi_rt_free_all(const struct zmpi_emu_context *context);

/* ---- runtime_stream.c ---- */

/* Forgets all events of the context. */
void zmpi_rt_end_events(const struct zmpi_emu_context *context);

#endif
