/* Runs kernels on the CPU that are written with the operations of device_code.h. Every CUDA thread
 * is a fiber; a seed decides their order. A launch fails, with a message that names kernel, block,
 * thread and source line, if a GPU might not do what the kernel's author meant, or if it waits for
 * ever. */
#ifndef ZMPI_EMULATOR_H
#define ZMPI_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

/* How to run: from the environment (zmpi_emu_defaults), or a test's own. */
struct zmpi_emu_config {
    unsigned resident;   /* blocks that run at a time; ZMPI_EMU_RESIDENT, 8 */
    uint64_t seed;       /* of every choice; ZMPI_EMU_SEED, 1 */
    int store_buffer;    /* plain stores stay unseen until a fence; ZMPI_EMU_STORE_BUFFER, 1 */
    unsigned delay;      /* turns for which a store may be delayed; ZMPI_EMU_DELAY, 16 */
    uint64_t spin_limit; /* turns of waiting with no store by anyone: a deadlock; 2 million */
    /* What is wrong with a kernel's access to global memory? NULL if nothing is; then *p becomes
     * the address to use. If this function is NULL, all accesses use their own address. */
    const char *(*find)(void **p, size_t size);
};

typedef void zmpi_emu_kernel(const void *args);

struct zmpi_emu_grid {
    zmpi_emu_kernel *kernel;
    const char *name;
    unsigned grid, block; /* blocks; threads of one, a multiple of 32 */
    size_t shared_bytes;  /* dynamic shared memory */
    const void *args;
    size_t args_size;
};

void zmpi_emu_defaults(struct zmpi_emu_config *config);

/* Runs all blocks and returns 0, or -1 with a message in zmpi_emu_message(). Memory is the
 * caller's; one at a time. */
int zmpi_emu_run(const struct zmpi_emu_config *config, const struct zmpi_emu_grid *grid);

/* Why the last zmpi_emu_run failed, one line; "" if it did not. */
const char *zmpi_emu_message(void);

/* Counts since the last call: how often threads waited (ZD_SPIN), warp operations, delayed stores.
 * A test uses them to see that what it wants to test has happened. */
struct zmpi_emu_counts {
    uint64_t spins, warp_operations, barriers, delayed_stores;
};
void zmpi_emu_take_counts(struct zmpi_emu_counts *counts);

/* Sets what fails from now on, in place of ZMPI_EMU_FAIL (cuda_runtime.h); NULL: nothing. Returns
 * -1 if the text is wrong, else 0. */
int zmpi_emu_set_faults(const char *what);

/* With a seed other than 0, each call does some of the queued work, in an order that streams and
 * events allow, instead of as late as possible; ZMPI_EMU_EARLY. */
void zmpi_emu_set_early(uint64_t seed);

/* Counts since the last call: kernels that the runtime ran, and how many of them ran while another
 * stream had a copy to the device, or to the host, that waited for nothing. A device could do both
 * at the same time. */
struct zmpi_emu_overlaps {
    uint64_t kernels, up, down;
};
void zmpi_emu_take_overlaps(struct zmpi_emu_overlaps *overlaps);

/* Amount of queued work that has not been done. */
unsigned zmpi_emu_queued(void);

/* ZD_LAUNCH, ZD_ALLOW_SHARED and ZD_OCCUPANCY, in runtime_*.c: each returns a cudaError_t. The
 * launch is queued in its stream; args are copied. */
struct zmpi_emu_stream;
int zmpi_emu_launch(const struct zmpi_emu_grid *grid, struct zmpi_emu_stream *stream);
int zmpi_emu_allow_shared(zmpi_emu_kernel *kernel, size_t shared_bytes);
int zmpi_emu_occupancy(int *blocks, zmpi_emu_kernel *kernel, unsigned block, size_t shared_bytes);

/* The number of contexts, on all devices; whether the driver was started. */
unsigned zmpi_emu_contexts(void);
int zmpi_emu_started(void);

/* ---- for device_host.h: what a running thread calls ---- */

struct zmpi_emu_self {
    uint32_t tid, bid, bdim, gdim;
};
extern const struct zmpi_emu_self *zmpi_emu_self;

enum zmpi_emu_collective {
    ZMPI_EMU_SYNC,
    ZMPI_EMU_SYNC_OR,
    ZMPI_EMU_SYNC_AND,
    ZMPI_EMU_SYNC_COUNT,
    ZMPI_EMU_SYNCWARP,
    ZMPI_EMU_SHFL,
    ZMPI_EMU_SHFL_UP,
    ZMPI_EMU_SHFL_DOWN,
    ZMPI_EMU_SHFL_XOR,
    ZMPI_EMU_BALLOT,
    ZMPI_EMU_ANY,
    ZMPI_EMU_ALL,
    ZMPI_EMU_REDUX_OR,
    ZMPI_EMU_REDUX_ADD,
};

enum zmpi_emu_order { ZMPI_EMU_RELAXED, ZMPI_EMU_ACQUIRE, ZMPI_EMU_RELEASE };

enum zmpi_emu_operation {
    ZMPI_EMU_ADD,
    ZMPI_EMU_MAX,
    ZMPI_EMU_MIN,
    ZMPI_EMU_OR,
    ZMPI_EMU_AND,
    ZMPI_EMU_EXCHANGE,
    ZMPI_EMU_CAS,
};

void zmpi_emu_bounds(unsigned threads, size_t args_size);
void *zmpi_emu_shared(const void *key, size_t size);
void *zmpi_emu_shared_dynamic(void);
uint32_t zmpi_emu_barrier(const char *where, enum zmpi_emu_collective kind, uint32_t value);
uint64_t zmpi_emu_warp(const char *where, enum zmpi_emu_collective kind, uint64_t value,
                       uint32_t lane);
void zmpi_emu_load(const void *from, void *value, size_t size);
void zmpi_emu_store(void *to, const void *value, size_t size);
uint64_t zmpi_emu_load_ordered(const void *from, size_t size, enum zmpi_emu_order order);
void zmpi_emu_store_ordered(void *to, uint64_t value, size_t size, enum zmpi_emu_order order);
uint64_t zmpi_emu_atomic(void *at, uint64_t value, uint64_t expected, size_t size,
                         enum zmpi_emu_operation operation);
void zmpi_emu_fence(void);
void zmpi_emu_spin(const char *where);

#endif
