/* emulator_runtime.c - the fake CUDA runtime does what CUDA's documentation says, as late as that
 * allows, and fails on order. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime_kit.h"

static uint32_t *device(size_t n)
{
    void *p;
    OK(cudaMalloc(&p, n * sizeof(uint32_t)));
    return p;
}

static uint32_t *pinned(size_t n)
{
    void *p;
    OK(cudaMallocHost(&p, n * sizeof(uint32_t)));
    return p;
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* ---- memory ---- */

static void touch_device_memory(void)
{
    *(volatile uint32_t *)device(8) = 1;
}

Test(runtime, host_cannot_store_to_device_memory, .signal = SIGSEGV)
{
    touch_device_memory();
}

Test(runtime, host_cannot_load_after_a_kernel, .signal = SIGSEGV)
{
    uint32_t *p = device(32);
    struct add_args args = {p, 32, 1};
    OK(ZD_LAUNCH(add, 1, 32, 0, NULL, args));
    OK(cudaDeviceSynchronize());
    cr_assert_eq(*(volatile uint32_t *)p, 1);
}

ZD_KERNEL(read_beyond, struct add_args, a)
{
    zd_st_u32(a.p, a.p[64 + zd_tid()]);
}

ZD_KERNEL(assign, struct add_args, a)
{
    if (zd_tid() == 5)
        a.p[5] = a.by; /* not zd_st_u32 */
}

static void assign_in(uint32_t *p)
{
    struct add_args args = {p, 32, 1};
    OK(ZD_LAUNCH(assign, 1, 32, 0, NULL, args));
    cudaDeviceSynchronize();
}

Test(runtime, kernels_cannot_assign_to_device_memory, .signal = SIGSEGV)
{
    assign_in(device(32));
}

Test(runtime, kernels_cannot_read_behind_the_end, .signal = SIGSEGV)
{
    uint32_t *p = device(64);
    struct add_args args = {p, 1, 1};
    OK(cudaMemset(p, 0, 256));
    OK(ZD_LAUNCH(read_beyond, 1, 32, 0, NULL, args));
    cudaDeviceSynchronize();
}

Test(runtime, faults_are_named)
{
    char line[256] = "";
    int status, ends[2];
    cr_assert_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        assign_in(device(32));
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    cr_assert_gt(read(ends[0], line, sizeof line - 1), 0);
    cr_assert_not_null(strstr(line, "kernel assign, block 0, thread 5, "), "%s", line);
}

Test(runtime, pointers)
{
    static uint32_t plain[64];
    uint32_t *d = device(64), *h = pinned(64);
    void *m;
    struct cudaPointerAttributes a;
    OK(cudaMallocManaged(&m, 256, cudaMemAttachGlobal));
    memset(m, 1, 256); /* the host's too */
    const struct {
        const void *p;
        enum cudaMemoryType type;
        int device, on_device, on_host;
    } cases[] = {{d, cudaMemoryTypeDevice, 0, 1, 0},
                 {d + 63, cudaMemoryTypeDevice, 0, 1, 0},
                 {h, cudaMemoryTypeHost, 0, 1, 1},
                 {m, cudaMemoryTypeManaged, 0, 1, 1},
                 {plain, cudaMemoryTypeUnregistered, -2, 0, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        OK(cudaPointerGetAttributes(&a, cases[i].p));
        cr_assert_eq(a.type, cases[i].type);
        cr_assert_eq(a.device, cases[i].device);
        cr_assert_eq(a.devicePointer, cases[i].on_device ? cases[i].p : NULL);
        cr_assert_eq(a.hostPointer, cases[i].on_host ? cases[i].p : NULL);
    }
    OK(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    FAILS(cudaHostRegister(plain + 2, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaPointerGetAttributes(&a, plain + 1));
    cr_assert_eq(a.type, cudaMemoryTypeHost);
    OK(cudaHostUnregister(plain));
    FAILS(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
    FAILS(cudaFree(h), cudaErrorInvalidValue);
    FAILS(cudaFreeHost(d), cudaErrorInvalidValue);
    FAILS(cudaFree(d + 1), cudaErrorInvalidValue);
    OK(cudaFree(d));
    FAILS(cudaFree(d), cudaErrorInvalidValue);
    OK(cudaFree(m));
    OK(cudaFree(NULL));
}

Test(runtime, memory_runs_out)
{
    size_t before, after, total;
    void *p, *q;
    setenv("ZMPI_EMU_MEMORY", "1000000", 1);
    OK(cudaMemGetInfo(&before, &total));
    cr_assert_eq(total, 1000000);
    cr_assert_eq(before, total);
    OK(cudaMalloc(&p, 600000));
    OK(cudaMemGetInfo(&after, &total));
    cr_assert_eq(after, 400000);
    FAILS(cudaMalloc(&q, 400001), cudaErrorMemoryAllocation);
    FAILS(cudaMallocAsync(&q, 400001, NULL), cudaErrorMemoryAllocation);
    cr_assert_null(q);
    FAILS(cudaGetLastError(), cudaErrorMemoryAllocation);
    FAILS(cudaGetLastError(), cudaSuccess);
    OK(cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMalloc(&q, 1000000));
    OK(cudaFree(q));
}

/* ---- streams ---- */

Test(runtime, nothing_happens_before_somebody_waits)
{
    enum { N = 100 };
    uint32_t *d = device(N), *h = pinned(N);
    struct add_args args = {d, N, 5};
    cudaStream_t stream = new_stream();
    for (uint32_t i = 0; i < N; i++)
        h[i] = i;
    OK(cudaMemcpyAsync(d, h, N * 4, cudaMemcpyHostToDevice, stream));
    OK(ZD_LAUNCH(add, 4, 32, 0, stream, args));
    args.by = 1000; /* the launch has its own copy */
    OK(cudaMemcpyAsync(h, d, N * 4, cudaMemcpyDeviceToHost, stream));
    for (uint32_t i = 0; i < N; i++)
        cr_assert_eq(h[i], i);
    FAILS(cudaStreamQuery(stream), cudaErrorNotReady);
    FAILS(cudaStreamQuery(stream), cudaErrorNotReady);
    FAILS(cudaStreamQuery(stream), cudaErrorNotReady);
    OK(cudaStreamQuery(stream));
    for (uint32_t i = 0; i < N; i++)
        cr_assert_eq(h[i], i + 5);
    FAILS(cudaGetLastError(), cudaErrorNotReady);
    OK(cudaStreamDestroy(stream));
    FAILS(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}

/* A copy reads a source in pinned memory when its turn comes, one in pageable memory at once. */
Test(runtime, sources)
{
    static uint32_t plain[4] = {1, 2, 3, 4};
    uint32_t *d = device(8), *h = pinned(4), out[8];
    cudaStream_t stream = new_stream();
    memcpy(h, plain, sizeof plain);
    OK(cudaMemcpyAsync(d, plain, 16, cudaMemcpyDefault, stream));
    OK(cudaMemcpyAsync(d + 4, h, 16, cudaMemcpyDefault, stream));
    plain[0] = h[0] = 9;                                             /* too early for h */
    OK(cudaMemcpyAsync(out, d, 32, cudaMemcpyDeviceToHost, stream)); /* pageable: waits */
    cr_assert_eq(out[0], 1);
    cr_assert_eq(out[4], 9);
}

Test(runtime, order_between_streams)
{
    uint32_t *d = device(32), *h = pinned(32);
    cudaStream_t one = new_stream(), two = new_stream(), ordinary;
    cudaEvent_t event;
    OK(cudaStreamCreate(&ordinary));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const struct add_args args = {d, 32, 1};

    /* An event: the second stream waits for what the first one had then, and no more. */
    OK(cudaMemsetAsync(d, 0, 128, one));
    OK(cudaEventRecord(event, one));
    OK(ZD_LAUNCH(add, 1, 32, 0, one, args));
    OK(cudaStreamWaitEvent(two, event, 0));
    OK(cudaMemcpyAsync(h, d, 128, cudaMemcpyDefault, two));
    FAILS(cudaEventQuery(event), cudaErrorNotReady);
    OK(cudaStreamSynchronize(two));
    cr_assert_eq(h[31], 0);
    OK(cudaEventQuery(event));
    FAILS(cudaStreamQuery(one), cudaErrorNotReady);

    /* None: it does not wait. */
    OK(cudaMemsetAsync(d, 7, 128, one));
    OK(cudaMemcpyAsync(h, d, 128, cudaMemcpyDefault, two));
    OK(cudaStreamSynchronize(two));
    cr_assert_eq(h[31], 1);
    OK(cudaStreamSynchronize(one));

    /* The legacy stream and ordinary ones wait for each other. */
    OK(cudaMemset(d, 0, 128));
    OK(ZD_LAUNCH(add, 1, 32, 0, ordinary, args));
    OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    cr_assert_eq(h[31], 1);
    OK(cudaMemsetAsync(d, 0, 128, NULL));
    OK(cudaMemcpyAsync(h, d, 128, cudaMemcpyDefault, ordinary));
    OK(cudaStreamSynchronize(ordinary));
    cr_assert_eq(h[31], 0);
    OK(cudaMemsetAsync(d, 9, 128, one));
    OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost)); /* and not for those that are not ordinary */
    cr_assert_eq(h[31], 0);
    OK(cudaEventDestroy(event));
    FAILS(cudaEventRecord(event, one), cudaErrorInvalidResourceHandle);
}

Test(runtime, elapsed)
{
    cudaEvent_t start, stop, silent;
    float ms;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming));
    FAILS(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(start, NULL));
    OK(cudaEventRecord(silent, NULL));
    OK(cudaEventRecord(stop, NULL));
    FAILS(cudaEventElapsedTime(&ms, start, stop), cudaErrorNotReady);
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    cr_assert_geq(ms, 0);
    OK(cudaEventRecord(stop, NULL));
    OK(cudaEventRecord(stop, NULL)); /* the second one counts */
    FAILS(cudaStreamQuery(NULL), cudaErrorNotReady);
    FAILS(cudaEventElapsedTime(&ms, start, stop), cudaErrorNotReady);
    FAILS(cudaEventQuery(stop), cudaErrorNotReady);
    OK(cudaEventElapsedTime(&ms, start, stop));
    FAILS(cudaEventElapsedTime(&ms, start, silent), cudaErrorInvalidResourceHandle);
}

/* ---- copies ---- */

Test(runtime, wrong_copies)
{
    uint32_t *d = device(16), *h = pinned(16), out[64];
    FAILS(cudaMemcpy(d, h, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d + 15, h, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(out, d, 68, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, h, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, out, 8, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(h, d, 8, cudaMemcpyHostToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, h, 8, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy2DAsync(d, 3, h, 8, 4, 2, cudaMemcpyDefault, NULL), cudaErrorInvalidPitchValue);
    FAILS(cudaMemcpyAsync(d, h, 8, cudaMemcpyDefault, (cudaStream_t)(void *)out),
          cudaErrorInvalidResourceHandle);
    FAILS(cudaMemset(out, 0, 8), cudaErrorInvalidValue);
    OK(cudaMemcpy(d, h, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

/* A box of 2 planes of 3 rows of 4 words out of 4 x 5 x 6 at (1, 1, 2), through the device and back
 * into a box of other pitches at (1, 0, 1). */
Test(runtime, boxes)
{
    uint32_t words[4 * 5 * 6], from[4][5][6], to[3][4][8], *d = device(2 * 3 * 4);
    for (unsigned i = 0; i < 4 * 5 * 6; i++)
        words[i] = i;
    memcpy(from, words, sizeof from);
    memset(to, 0, sizeof to);
    struct cudaMemcpy3DParms p = {
        .srcPtr = {from, 24, 24, 5},
        .srcPos = {8, 1, 1},
        .dstPtr = {d, 16, 16, 3},
        .extent = {16, 3, 2},
        .kind = cudaMemcpyHostToDevice,
    };
    cudaStream_t stream = new_stream();
    OK(cudaMemcpy3DAsync(&p, stream));
    p.srcPtr = p.dstPtr;
    p.srcPos = (struct cudaPos){0, 0, 0};
    p.dstPtr = (struct cudaPitchedPtr){to, 32, 32, 4};
    p.dstPos = (struct cudaPos){4, 0, 1};
    p.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&p, stream));
    for (unsigned z = 0; z < 3; z++)
        for (unsigned y = 0; y < 4; y++)
            for (unsigned x = 0; x < 8; x++) {
                const int inside = z >= 1 && y < 3 && x >= 1 && x < 5;
                cr_assert_eq(to[z][y][x], inside ? from[z][y + 1][x + 1] : 0);
            }
    uint32_t rows[3][2] = {{0}};
    OK(cudaMemcpy2DAsync(rows, 8, d + 1, 16, 8, 3, cudaMemcpyDeviceToHost, stream));
    cr_assert_eq(rows[2][1], from[1][3][4]);
}

/* ---- failures ---- */

static void without(const char *devices, cudaError_t error, int driver)
{
    int count = 5, version = -1;
    void *p;
    setenv("ZMPI_EMU_DEVICES", devices, 1);
    FAILS(cudaGetDeviceCount(&count), error);
    cr_assert_eq(count, 0);
    FAILS(cudaMalloc(&p, 8), error);
    OK(cudaDriverGetVersion(&version));
    cr_assert_eq(version, driver);
}

Test(runtime, no_device)
{
    without("0", cudaErrorNoDevice, 0);
}

Test(runtime, old_driver)
{
    without("-1", cudaErrorInsufficientDriver, 11000);
}

Test(runtime, devices)
{
    int count, value, device;
    struct cudaDeviceProp properties;
    setenv("ZMPI_EMU_DEVICES", "2", 1);
    OK(cudaGetDeviceCount(&count));
    cr_assert_eq(count, 2);
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&device));
    cr_assert_eq(device, 1);
    FAILS(cudaSetDevice(2), cudaErrorInvalidDevice);
    OK(cudaGetDeviceProperties(&properties, 1));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
    cr_assert_eq(value, properties.multiProcessorCount);
    OK(ZD_OCCUPANCY(&value, add, 256, 0));
    cr_assert_eq(value, 8);
}

Test(runtime, faults_on_order)
{
    void *p, *q;
    cr_assert_eq(zmpi_emu_set_faults("cudaMalloc:2,cudaStreamCreateWithFlags:2+:46"), 0);
    cr_assert_eq(zmpi_emu_set_faults("cudaMalloc:x"), -1);
    cr_assert_eq(zmpi_emu_set_faults("cudaMalloc:2,cudaStreamCreateWithFlags:2+:46"), 0);
    OK(cudaMalloc(&p, 8));
    FAILS(cudaMalloc(&q, 8), cudaErrorMemoryAllocation);
    OK(cudaMalloc(&q, 8));
    cudaStream_t stream = new_stream();
    FAILS(cudaStreamCreateWithFlags(&stream, 0), cudaErrorDevicesUnavailable);
    FAILS(cudaStreamCreateWithFlags(&stream, 0), cudaErrorDevicesUnavailable);
    cr_assert_eq(zmpi_emu_set_faults(NULL), 0);
    OK(cudaStreamCreateWithFlags(&stream, 0));
}

Test(runtime, environment_orders_faults)
{
    void *p;
    setenv("ZMPI_EMU_FAIL", "cudaHostAlloc", 1);
    FAILS(cudaHostAlloc(&p, 8, 0), cudaErrorMemoryAllocation);
    OK(cudaHostAlloc(&p, 8, 0));
    OK(cudaFreeHost(p));
}

/* Everything queued behind it is lost, and nothing works any more. */
static void stuck_after(cudaError_t error)
{
    void *p;
    FAILS(cudaDeviceSynchronize(), error);
    FAILS(cudaMalloc(&p, 8), error);
    FAILS(cudaGetLastError(), error);
    OK(cudaGetLastError()); /* asked and taken away; the next call brings it back */
    FAILS(cudaFree(NULL), error);
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMalloc(&p, 8));
}

ZD_KERNEL(add_wide, struct add_args, a)
{
    zd_ld_u64((uint64_t *)a.p + zd_tid());
}

Test(runtime, failing_kernels_stick)
{
    uint32_t *d = device(32), *h = pinned(1);
    struct add_args args = {d, 32, 1};
    cr_assert_eq(zmpi_emu_set_faults("kernel:2"), 0);
    OK(ZD_LAUNCH(add, 1, 32, 0, NULL, args));
    OK(cudaDeviceSynchronize());
    OK(ZD_LAUNCH(add, 1, 32, 0, NULL, args)); /* the launch itself is well */
    *h = 1234;
    OK(cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, NULL)); /* never done */
    FAILS(cudaStreamSynchronize(NULL), cudaErrorLaunchFailure);
    cr_assert_eq(*h, 1234);
    stuck_after(cudaErrorLaunchFailure);

    d = device(32);
    args.p = d;
    cr_assert_eq(zmpi_emu_set_faults("cudaLaunchKernel"), 0);
    FAILS(ZD_LAUNCH(add, 1, 32, 0, NULL, args), cudaErrorLaunchOutOfResources);
    OK(ZD_LAUNCH(add, 1, 32, 0, NULL, args));
    OK(cudaDeviceSynchronize());

    args.n = 33; /* beyond the end */
    OK(ZD_LAUNCH(add, 2, 32, 0, NULL, args));
    stuck_after(cudaErrorLaunchFailure);
    cr_assert_not_null(strstr(zmpi_emu_message(), "kernel add, block 1, thread 0"), "%s",
                       zmpi_emu_message());

    args.p = device(63); /* half of the last word is beyond the end */
    OK(ZD_LAUNCH(add_wide, 1, 32, 0, NULL, args));
    stuck_after(cudaErrorLaunchFailure);
    cr_assert_not_null(strstr(zmpi_emu_message(), "thread 31"), "%s", zmpi_emu_message());

    cr_assert_eq(zmpi_emu_set_faults("cudaStreamSynchronize:1:700"), 0);
    FAILS(cudaStreamSynchronize(NULL), cudaErrorIllegalAddress);
    stuck_after(cudaErrorIllegalAddress);

    uint32_t plain[32] = {0}; /* memory that a GPU would not find */
    args = (struct add_args){plain, 32, 1};
    OK(ZD_LAUNCH(add, 1, 32, 0, NULL, args));
    stuck_after(cudaErrorLaunchFailure);
}

ZD_KERNEL(first_word, struct add_args, a)
{
    ZD_SHARED_DYNAMIC(uint32_t, words);
    words[zd_tid()] = a.by;
    if (zd_tid() == 0)
        zd_st_u32(a.p, words[0]);
}

Test(runtime, launch_arguments)
{
    uint32_t *d = device(32), h = 0;
    const struct add_args args = {d, 32, 77};
    FAILS(ZD_LAUNCH(add, 0, 32, 0, NULL, args), cudaErrorInvalidConfiguration);
    FAILS(ZD_LAUNCH(add, 1, 2048, 0, NULL, args), cudaErrorInvalidConfiguration);
    FAILS(ZD_LAUNCH(first_word, 1, 32, 50000, NULL, args), cudaErrorInvalidValue);
    FAILS(ZD_ALLOW_SHARED(first_word, 300000), cudaErrorInvalidValue);
    OK(ZD_ALLOW_SHARED(first_word, 100000));
    OK(ZD_LAUNCH(first_word, 1, 32, 100000, NULL, args));
    OK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    cr_assert_eq(h, 77);
}
