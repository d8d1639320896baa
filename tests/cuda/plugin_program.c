/*
 * plugin_program.c - what a program that knows nothing of the CUDA plug-in sees of it: driver,
 * contexts, errors and streams are as they would be without it.
 */
#include "layout/stream.h"
#include "plugin.h"

#include <cuda.h>
#include <pthread.h>

#define OK(call) cr_assert_eq((int)(call), 0, "%s", #call)

static bool active(int device)
{
    unsigned flags;
    int is = 0;
    OK(cuDevicePrimaryCtxGetState(device, &flags, &is));
    return is;
}

static void decompresses(void *dst)
{
    float decoded[N];
    cr_assert_eq(zmpi_decompress(decoded, sizeof decoded, expected, expected_size), ZMPI_OK);
    cr_assert_eq(cuda->decompress(dst, sizeof field, expected, expected_size, NULL, 1), ZMPI_OK,
                 "%s", cuda->problem());
    cr_assert_arr_eq(dst, decoded, sizeof decoded);
}

static void *compress_field(void *unused)
{
    succeeds(field);
    return unused;
}

static void compress_in_another_thread(void)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, compress_field, NULL), 0);
    pthread_join(thread, NULL);
}

/* ---- the driver, contexts ---- */

/* The driver sleeps until the program, or a buffer that is worth it, starts it. */
Test(plugin_program, driver_sleeps, .init = open_plugins)
{
    const char *why;
    cr_assert_eq(zmpi_device_find("auto", &(struct zmpi_work){sizeof field, ZMPI_FLE, false}, &why),
                 zmpi_device_cpu());
    cr_assert_null(zmpi_device_holding(field));
    cr_assert_not(zmpi_emu_started());
    cr_assert_str_eq(
        zmpi_device_find("auto", &(struct zmpi_work){(size_t)1 << 40, ZMPI_FLE, false}, &why)->name,
        "cuda");
    cr_assert(zmpi_emu_started());
    cr_assert_null(zmpi_device_holding(field));
    cr_assert_eq(zmpi_emu_contexts(), 0);
}

/* The plug-in finds memory of the device although nobody has asked for the device. */
Test(plugin_program, keeps, .init = open_plugins)
{
    void *device = on_device(field, sizeof field);
    cuda = zmpi_device_holding(device);
    cr_assert_not_null(cuda);
    succeeds(device);
}

/* If it is asked for by name, it makes a context when there is work, and no earlier. */
Test(plugin_program, context_for_work, .init = find_plugin)
{
    cr_assert_eq(cuda->where(field), ZMPI_MEMORY_HOST);
    cr_assert_eq(zmpi_emu_contexts(), 0);
    succeeds(field);
    cr_assert_eq(zmpi_emu_contexts(), 1);
}

/* It works in a context that the program has made, which stays the current one, and makes no other.
 */
Test(plugin_program, own_context, .init = find_plugin)
{
    CUcontext own, now;
    OK(cuCtxCreate_v2(&own, 0, 0));
    void *device = on_device(field, sizeof field);
    succeeds(device);
    succeeds(field);
    OK(cuCtxGetCurrent(&now));
    cr_assert_eq(now, own);
    cr_assert_eq(zmpi_emu_contexts(), 1);
    /* Its memory, from a thread without a context, and beside another. */
    OK(cuCtxPopCurrent_v2(&now));
    succeeds(device);
    OK(cuCtxGetCurrent(&now));
    cr_assert_null(now);
    cr_assert_eq(zmpi_emu_contexts(), 1);
    OK(cudaSetDevice(0));
    succeeds(device);
    succeeds(on_device(field, sizeof field));
    cr_assert_eq(zmpi_emu_contexts(), 2);
}

/* It uses nothing of a destroyed context in the next one, though that has its address; nor later,
 * to release what is left. */
Test(plugin_program, contexts_come_and_go, .init = find_plugin)
{
    size_t available, total;
    for (int i = 0; i < 4; i++) {
        CUcontext own;
        OK(cuCtxCreate_v2(&own, 0, 0));
        succeeds(on_device(field, sizeof field));
        succeeds(field);
        OK(cuCtxDestroy_v2(own));
    }
    cr_assert_eq(zmpi_emu_contexts(), 0);
    cuda->give_all();
    OK(cudaDeviceSynchronize());
    OK(cudaMemGetInfo(&available, &total));
    cr_assert_eq(available, total);
}

static void three_gpus(void)
{
    setenv("ZMPI_EMU_DEVICES", "3", 1);
    find_plugin();
}

/* Ranks that have no GPU of their own share those that there are. */
Test(plugin_program, number, .init = three_gpus)
{
    zmpi_device_prefer(5);
    succeeds(field);
    cr_assert(active(2));
    cr_assert_eq(zmpi_emu_contexts(), 1);
}

/* The one that the program uses comes first. */
Test(plugin_program, other_thread, .init = three_gpus)
{
    OK(cudaSetDevice(1));
    zmpi_device_prefer(2);
    compress_in_another_thread();
    cr_assert_eq(zmpi_emu_contexts(), 1);
    succeeds(field);
    cr_assert_eq(zmpi_emu_contexts(), 1);
}

/* Memory of a pool has no context: its device's is taken, wherever the thread is. */
Test(plugin_program, pools, .init = three_gpus)
{
    void *device;
    OK(cudaSetDevice(2));
    OK(cudaMallocAsync(&device, sizeof field, NULL));
    OK(cudaMemcpy(device, field, sizeof field, cudaMemcpyDefault));
    OK(cudaSetDevice(1));
    succeeds(device);
    succeeds(field);
    int now;
    OK(cudaGetDevice(&now));
    cr_assert_eq(now, 1);
    cr_assert_not(active(0));
}

/* ---- a reset of the device ---- */

static void without_pools(void)
{
    setenv("ZMPI_EMU_POOLS", "0", 1);
    find_plugin();
}

static void reset(void)
{
    float is[N];
    for (int i = 0; i < 3; i++) {
        void *device = on_device(field, sizeof field);
        succeeds(device);
        succeeds(field);
        decompresses(is);
        cuda->give(cuda->take(device, 1 << 20));
        OK(cudaDeviceReset());
        cr_assert_eq(cuda->where(device), ZMPI_MEMORY_HOST); /* nobody's */
    }
    cuda->give_all();
    compress_in_another_thread();
    decompresses(is);
}

Test(plugin_program, reset, .init = find_plugin)
{
    reset();
}

Test(plugin_program, reset_without_pools, .init = without_pools)
{
    reset();
}

/* ---- errors ---- */

/* An error that the program has not read yet is still there when it does, and the plug-in does not
 * take it for its own. */
Test(plugin_program, last_error_stays, .init = open_plugins)
{
    const char *why;
    float is[N];
    void *device = on_device(field, sizeof field), *none;
    struct zmpi_range range;
    cr_assert_eq(cudaMalloc(&none, (size_t)1 << 50), cudaErrorMemoryAllocation);
    cuda = zmpi_device_find("cuda", NULL, &why);
    cr_assert_eq(cuda->where(is), ZMPI_MEMORY_HOST);
    succeeds(field);
    succeeds(device);
    decompresses(is);
    OK(cuda->range(ZMPI_F32, device, N, 0, &range));
    OK(zmpi_device_move(cuda, is, device, sizeof is));
    cuda->give(cuda->take(device, 100));
    cr_assert_eq(cudaGetLastError(), cudaErrorMemoryAllocation);
}

/* Errors that end the process's use of the device are told from others. */
Test(plugin_program, broken, .init = find_plugin)
{
    succeeds(field);
    zmpi_emu_set_faults("cudaStreamSynchronize:1");
    cr_assert_eq(compress_as_expected(field), ZMPI_ERR_DEVICE);
    cr_assert(isfinite(cuda->cost(&(struct zmpi_work){1, ZMPI_FLE, false})));
    succeeds(field);
    zmpi_emu_set_faults("cudaStreamSynchronize:1:716"); /* of a kernel of the program's */
    cr_assert_eq(compress_as_expected(field), ZMPI_ERR_DEVICE);
    cr_assert(isinf(cuda->cost(&(struct zmpi_work){1, ZMPI_FLE, false})));
    cr_assert_eq(cudaGetLastError(), cudaSuccess);
}

/* ---- memory ---- */

/* Of a buffer that is pinned in part no copy can be made at once. */
Test(plugin_program, partly_pinned, .init = find_plugin)
{
    static float data[N], copy[N];
    void *device = on_device(NULL, sizeof data);
    memcpy(data, field, sizeof data);
    OK(cudaHostRegister(data, sizeof data / 2, cudaHostRegisterDefault));
    OK(cudaHostRegister(copy, sizeof copy / 3, cudaHostRegisterDefault));
    succeeds(data);
    decompresses(copy);
    OK(cudaHostRegister(data + N - 100, 400, cudaHostRegisterDefault)); /* a hole is left */
    succeeds(data);
    OK(zmpi_device_move(cuda, device, data, sizeof data));
    OK(zmpi_device_move(cuda, copy, device, sizeof copy));
    cr_assert_arr_eq(copy, field, sizeof field);
}

Test(plugin_program, nothing, .init = find_plugin)
{
    struct zmpi_range range;
    struct zmpi_job none = job;
    size_t size = 0, should = 0;
    unsigned char coded[4096], cpu[4096];
    void *device = on_device(field, sizeof field), *p = cuda->take(device, 0);
    cr_assert_not_null(p);
    cuda->give(p);
    cuda->give(NULL);
    OK(cuda->copy(device, field, &(struct zmpi_box){.rows = 3, .planes = 2}));
    OK(cuda->copy(device, field, &(struct zmpi_box){.bytes = 4, .planes = 2}));
    OK(cuda->range(ZMPI_F32, device, 0, 0, &range));
    cr_assert(range.min == INFINITY && range.max == -INFINITY);
    none.array.extent[1] = 0;
    enum zmpi_status is = cuda->compress(&none, coded, sizeof coded, device, &size);
    cr_assert_eq(is, zmpi_device_cpu()->compress(&none, cpu, sizeof cpu, field, &should));
    cr_assert_eq(size, should);
    cr_assert_arr_eq(coded, cpu, size);
    succeeds(device);
}

/* ---- who waits ---- */

/* Work of the program outside the default stream may wait for other ranks. Nothing here waits for
 * it, neither to allocate nor to free. Without pools this cannot be avoided. */
static void leaves_streams_alone(bool alone)
{
    cudaStream_t stream;
    void *theirs = on_device(NULL, 64), *pinned, *big;
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    succeeds(field); /* the first call makes a lane */
    OK(cudaMemcpyAsync(theirs, pinned, 64, cudaMemcpyHostToDevice, stream));
    succeeds(field);
    cr_assert_not_null(big = cuda->take(theirs, (size_t)300 << 20));
    cuda->give(big);
    cr_assert_not_null(big = cuda->take(theirs, (size_t)700 << 20)); /* the other is freed */
    cuda->give(big);
    cuda->give_all();
    cr_assert_eq(cudaStreamQuery(stream), alone ? cudaErrorNotReady : cudaSuccess);
}

Test(plugin_program, streams, .init = find_plugin)
{
    leaves_streams_alone(true);
}

Test(plugin_program, streams_without_pools, .init = without_pools)
{
    leaves_streams_alone(false);
}

/* Memory that is kept in one context is not lost to another. */
static void frees_memory(void)
{
    void *memory;
    for (int i = 0; i < 3; i++) {
        CUcontext own;
        OK(cuCtxCreate_v2(&own, 0, 0));
        cr_assert_not_null(memory = cuda->take(on_device(NULL, 64), (size_t)700 << 20), "%s",
                           cuda->problem());
        cuda->give(memory);
    }
    cuda->give_all();
}

Test(plugin_program, memory, .init = find_plugin)
{
    frees_memory();
}

Test(plugin_program, memory_without_pools, .init = without_pools)
{
    frees_memory();
}

/* All that is kept can be had back. */
Test(plugin_program, gives_all, .init = find_plugin)
{
    size_t before, after, total;
    OK(cudaMemGetInfo(&before, &total));
    succeeds(field);
    OK(cudaMemGetInfo(&after, &total));
    cr_assert_lt(after, before);
    cuda->give_all();
    OK(cudaDeviceSynchronize());
    OK(cudaMemGetInfo(&after, &total));
    cr_assert_eq(after, before);
    succeeds(field);
}
