/* emulator_streams.c - several streams of the fake CUDA runtime: any order that events allow, if
 * the test asks for it; memory of pools before its time; work that could overlap. */
#include <stdlib.h>

#include "runtime_kit.h"

enum { WORDS = 32, BYTES = WORDS * sizeof(uint32_t), SEEDS = 40 };

static uint32_t *pinned(uint32_t value)
{
    void *p;
    OK(cudaMallocHost(&p, BYTES));
    for (int i = 0; i < WORDS; i++)
        ((uint32_t *)p)[i] = value;
    return p;
}

static void *device(void)
{
    void *p;
    OK(cudaMalloc(&p, BYTES));
    return p;
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static cudaEvent_t new_event(void)
{
    cudaEvent_t event;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

static void spend_time(void)
{
    size_t available, total;
    for (int i = 0; i < 100; i++)
        OK(cudaMemGetInfo(&available, &total));
}

/* ---- when ---- */

Test(streams, late_unless_asked)
{
    uint32_t *d = device(), *h = pinned(1), *is = pinned(0);
    cudaStream_t stream = new_stream();
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyAsync(is, d, BYTES, cudaMemcpyDeviceToHost, stream));
    spend_time();
    cr_assert_eq(is[0], 0);
    zmpi_emu_set_early(1);
    spend_time();
    cr_assert_eq(is[0], 1);
    OK(cudaStreamQuery(stream));
}

/* Two streams store to the same words. The second one's stay; or the first one's, if the second
 * does not have to wait. */
static unsigned outcomes(int wait)
{
    uint32_t *d = device(), *first = pinned(1), *second = pinned(2), *is = pinned(0);
    cudaStream_t one = new_stream(), two = new_stream();
    cudaEvent_t event = new_event();
    unsigned seen = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        zmpi_emu_set_early(seed);
        OK(cudaMemcpyAsync(d, first, BYTES, cudaMemcpyHostToDevice, one));
        OK(cudaEventRecord(event, one));
        if (wait)
            OK(cudaStreamWaitEvent(two, event, 0));
        OK(cudaMemcpyAsync(d, second, BYTES, cudaMemcpyHostToDevice, two));
        OK(cudaDeviceSynchronize());
        OK(cudaMemcpy(is, d, BYTES, cudaMemcpyDeviceToHost));
        seen |= 1u << is[0];
    }
    return seen;
}

Test(streams, order)
{
    cr_assert_eq(outcomes(0), 1u << 1 | 1u << 2);
    cr_assert_eq(outcomes(1), 1u << 2);
}

Test(streams, environment_asks)
{
    uint32_t *h, *is;
    setenv("ZMPI_EMU_EARLY", "3", 1);
    void *d = device();
    h = pinned(1);
    is = pinned(0);
    cudaStream_t stream = new_stream();
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyAsync(is, d, BYTES, cudaMemcpyDeviceToHost, stream));
    spend_time();
    cr_assert_eq(is[0], 1);
}

/* The next call after a failure reports it, whichever call it is. */
Test(streams, failures_are_early_too)
{
    void *d = device();
    uint32_t *h = pinned(1);
    cudaStream_t stream = new_stream();
    size_t available, total;
    cr_assert_eq(zmpi_emu_set_faults("copy:1"), 0);
    zmpi_emu_set_early(1);
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, stream));
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 100 && !error; i++)
        error = cudaMemGetInfo(&available, &total);
    cr_assert_eq(error, cudaErrorLaunchFailure);
}

/* ---- memory of pools ---- */

/* Another stream may use the memory once the stream of its allocation has come to that. */
static cudaError_t use_in_other_stream(int wait, int kernel)
{
    uint32_t *h = pinned(1);
    void *d;
    cudaStream_t one = new_stream(), two = new_stream();
    cudaEvent_t event = new_event();
    OK(cudaMallocAsync(&d, BYTES, one));
    OK(cudaEventRecord(event, one));
    if (wait)
        OK(cudaStreamWaitEvent(two, event, 0));
    const struct add_args args = {d, WORDS, 1};
    if (kernel)
        OK(ZD_LAUNCH(add, 1, WORDS, 0, two, args));
    else
        OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, two));
    return cudaStreamSynchronize(two);
}

Test(streams, pools)
{
    OK(use_in_other_stream(1, 0));
    OK(use_in_other_stream(1, 1));
    FAILS(use_in_other_stream(0, 0), cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    FAILS(use_in_other_stream(0, 1), cudaErrorLaunchFailure);
}

/* Later work must not find memory that was given back. */
Test(streams, freed)
{
    uint32_t *h = pinned(1);
    void *d;
    cudaStream_t stream = new_stream();
    OK(cudaMallocAsync(&d, BYTES, stream));
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaFreeAsync(d, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMallocAsync(&d, BYTES, stream));
    OK(cudaFreeAsync(d, stream));
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, stream));
    FAILS(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
}

/* ---- what could overlap ---- */

Test(streams, overlaps)
{
    uint32_t *d = device(), *h = pinned(1), *is = pinned(0);
    void *other = device();
    cudaStream_t one = new_stream(), two = new_stream(), three = new_stream();
    cudaEvent_t event = new_event();
    struct zmpi_emu_overlaps o;
    const struct add_args args = {d, WORDS, 1};
    OK(cudaMemset(d, 0, BYTES));
    zmpi_emu_take_overlaps(&o);
    OK(ZD_LAUNCH(add, 1, WORDS, 0, one, args));
    OK(cudaMemcpyAsync(other, h, BYTES, cudaMemcpyHostToDevice, two));
    OK(cudaStreamSynchronize(one));
    zmpi_emu_take_overlaps(&o);
    cr_assert(o.kernels == 1 && o.up == 1 && o.down == 0);
    /* Not one that waits for the kernel, or comes before it. */
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, one));
    OK(ZD_LAUNCH(add, 1, WORDS, 0, one, args));
    OK(cudaEventRecord(event, one));
    OK(cudaStreamWaitEvent(three, event, 0));
    OK(cudaMemcpyAsync(is, d, BYTES, cudaMemcpyDeviceToHost, three));
    OK(cudaStreamSynchronize(three));
    zmpi_emu_take_overlaps(&o);
    cr_assert(o.kernels == 1 && o.up == 1 && o.down == 0); /* the first one's has not been made */
    OK(cudaDeviceSynchronize());
    OK(ZD_LAUNCH(add, 1, WORDS, 0, one, args));
    OK(cudaMemcpyAsync(is, other, BYTES, cudaMemcpyDeviceToHost, three));
    OK(cudaStreamSynchronize(one));
    zmpi_emu_take_overlaps(&o);
    cr_assert(o.kernels == 1 && o.up == 0 && o.down == 1);
}
