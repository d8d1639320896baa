/*
 * gpu.h - what the files of the CUDA plug-in share. plugin.c is the device that zmpi sees;
 * kernels.h is the interface of the kernels.
 *
 * Several threads may call at once. A call borrows a lane (a stream with pinned host memory) and
 * blocks of device memory. The plug-in keeps both for the next call, because allocating them each
 * time takes too long.
 */
#ifndef ZMPI_GPU_H
#define ZMPI_GPU_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

#ifndef ZMPI_CUDA_DRIVER /* the emulator is its own */
#define ZMPI_CUDA_DRIVER "libcuda.so.1"
#endif

/* ---- errors.c ---- */

/* Did the CUDA call succeed? If not, the thread's problem is its name and the error. */
#define GPU_OK(call) gpu_ok((call), #call)
bool gpu_ok(cudaError_t error, const char *call);
/* The same for an error that is at hand, and for the driver's errors; the runtime's last error
 * stays. */
void gpu_note(cudaError_t error, const char *call);
/* The text of this thread's last failure; "" if there was none. */
const char *gpu_problem(void);
void gpu_problem_clear(void);
/* Did an error make the device useless for the rest of the process? */
bool gpu_broken(void);

/* ---- driver.c ---- */

/* What CUDA knows about an address. Unknown memory is the host's. */
struct gpu_memory {
    bool known, gpu; /* CUDA knows it; managed memory counts as the GPU's */
    int device;
    void *context; /* NULL: memory of a pool */
};

/* Makes no context. Returns false if CUDA does not answer. */
bool gpu_query(const void *address, struct gpu_memory *memory);
/* A number that no other memory of the process has or will have; 0 if it has none. It tells whether
 * our memory is still there after a program has reset the device. */
unsigned long long gpu_number(const void *address);
/* Does the address still belong to the memory with this number? */
bool gpu_is_still(const void *address, unsigned long long number);
/* Does the process have a CUDA context? Without one there is no device memory, and the first call
 * that needs one takes long. Does not start the driver. */
bool gpu_in_use(void);
/* Sets which GPU threads without a context get, if the process uses none yet. */
void gpu_prefer(unsigned number);

/* ---- where.c ---- */

struct gpu_place {
    enum zmpi_memory memory;
    void *context;
    int device;  /* of the GPU's memory; -1: unknown */
    bool pinned; /* copies need no staging, at least of the beginning */
};

struct gpu_place gpu_place_of(const void *address);
enum zmpi_memory gpu_where(const void *address);

/* ---- driver.c: the thread's context ---- */

/* Makes a context current that can work with what is at `place`; false: the problem says why. */
bool gpu_context_push(const struct gpu_place *place, void **context);
bool gpu_context_push_own(void *context);
/* Makes the context from before current again. */
void gpu_context_pop(void);

/* ---- lanes.c ---- */

#ifdef ZMPI_GPU_PIECE /* tests make it small */
enum { GPU_PIECE = ZMPI_GPU_PIECE };
#else
enum { GPU_PIECE = 4 << 20 }; /* bytes of a pinned buffer */
#endif
enum { GPU_AHEAD = 3 }; /* slices that are under way at a time */
enum { GPU_ANSWER = 256 };

/* A stream that copies, and two buffers for memory that is not pinned. */
struct gpu_way {
    cudaStream_t stream;
    struct gpu_buffer {
        unsigned char *pinned;
        cudaEvent_t copied; /* event: the last copy from or to it is done */
        bool busy;          /* that copy may still run */
        void *to;           /* where to copy what came from the device */
        size_t bytes;       /* bytes to copy there; 0: nothing */
    } buffer[2];
    unsigned next; /* buffer */
    bool direct;   /* the device may still write the program's memory */
};

struct gpu_lane {
    struct gpu_lane *next;
    void *context;
    int device;
    bool pools; /* cudaMallocAsync works */
    bool fresh; /* the lane or memory is new: the call's time says nothing about the next one */
    cudaStream_t stream;
    struct gpu_way way;        /* for copies on the same stream */
    unsigned char *answer;     /* pinned memory for kernels' results */
    unsigned long long number; /* gpu_number of `answer` */

    /* More streams, which gpu_lane_split makes when a call asks for them. */
    bool split;
    struct gpu_way up, down; /* up has the buffers of `way` */
    cudaEvent_t arrived, done[GPU_AHEAD];
};

/* A lane for what is at `place`, whose context becomes the thread's; NULL: the problem says why. */
struct gpu_lane *gpu_lane_borrow(const struct gpu_place *place);
/* From now on the call copies on `up` and `down`. `up` waits for the lane's stream so far, which
 * allocates memory of pools; `down` waits for what the caller names. */
bool gpu_lane_split(struct gpu_lane *lane);
/* Later work on the lane's stream waits for what the way does so far. */
bool gpu_lane_follow(struct gpu_lane *lane, const struct gpu_way *way);
/* The caller must have waited for all work on the lane, or given it up. */
void gpu_lane_return(struct gpu_lane *lane);

/* ---- memory.c ---- */

/* Device memory for the lane's work, aligned to 256 bytes; NULL: the problem says why. */
void *gpu_block_take(struct gpu_lane *lane, size_t bytes);
void gpu_block_give(void *block); /* NULL is allowed; no work may be using it */
void gpu_blocks_free(void);       /* those that nobody has */

/* ---- transfer.c: copies between host and device, on a lane ---- */

/* Starts a copy in order with other work of the way's stream. On return src is not needed any more,
 * unless it is pinned: then it must stay until the lane is returned. */
bool gpu_upload(struct gpu_way *way, void *device, const void *host, size_t bytes, bool pinned);
/* Starts a copy in order. The bytes are there after gpu_drain. */
bool gpu_fetch(struct gpu_way *way, void *host, const void *device, size_t bytes, bool pinned);
bool gpu_drain(struct gpu_way *way);
/* Waits for all work on the lane's stream. */
bool gpu_wait(struct gpu_lane *lane);
enum zmpi_status gpu_copy(void *dst, const void *src, const struct zmpi_box *box);

#endif
