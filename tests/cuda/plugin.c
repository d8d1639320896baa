/*
 * plugin.c - the CUDA plug-in as zmpi sees it, on the emulated runtime: bytes, memory of both
 * kinds, what is kept from call to call, threads, several GPUs, failures.
 */
#include "plugin.h"

#include <pthread.h>

#include "device/offload.h"

Test(plugin, bytes_of_all_kinds_of_memory, .init = find_plugin)
{
    void *pinned, *managed, *device = on_device(field, sizeof field);
    cr_assert_eq(cudaMallocHost(&pinned, sizeof field), cudaSuccess);
    memcpy(pinned, field, sizeof field);
    cr_assert_eq(cudaMallocManaged(&managed, sizeof field, cudaMemAttachGlobal), cudaSuccess);
    cr_assert_eq(cudaMemcpy(managed, field, sizeof field, cudaMemcpyDefault), cudaSuccess);
    succeeds(field);
    succeeds(pinned);
    succeeds(device);
    succeeds(managed);
    cr_assert_eq(cuda->where(field), ZMPI_MEMORY_HOST);
    cr_assert_eq(cuda->where(pinned), ZMPI_MEMORY_HOST);
    cr_assert_eq(cuda->where(device), ZMPI_MEMORY_GPU);
    cr_assert_eq(cuda->where(managed), ZMPI_MEMORY_GPU);
    cr_assert_eq(cuda->where((char *)device + sizeof field - 1), ZMPI_MEMORY_GPU);
    cr_assert_eq(zmpi_device_holding(device), cuda);
    cr_assert_null(zmpi_device_holding(field));
}

Test(plugin, decompresses_to_both, .init = find_plugin)
{
    float decoded[N], is[N];
    void *device = on_device(NULL, sizeof field);
    cr_assert_eq(zmpi_decompress(decoded, sizeof decoded, expected, expected_size), ZMPI_OK);
    cr_assert_eq(cuda->decompress(is, sizeof is, expected, expected_size, NULL, 1), ZMPI_OK);
    cr_assert_arr_eq(is, decoded, sizeof is);
    cr_assert_eq(cuda->decompress(device, sizeof is, expected, expected_size, NULL, 1), ZMPI_OK);
    cr_assert_eq(cudaMemcpy(is, device, sizeof is, cudaMemcpyDeviceToHost), cudaSuccess);
    cr_assert_arr_eq(is, decoded, sizeof is);
    cr_assert_eq(cuda->decompress(is, sizeof is - 1, expected, expected_size, NULL, 1),
                 ZMPI_ERR_SPACE);
    expected[expected_size - 1] ^= 1;
    cr_assert_eq(cuda->decompress(is, sizeof is, expected, expected_size, NULL, 1),
                 ZMPI_ERR_CHECKSUM);
    cr_assert_eq(cuda->decompress(is, sizeof is, expected, 100, NULL, 1),
                 zmpi_decompress(is, sizeof is, expected, 100));
}

/* Room for the stream and no more; one byte less. */
Test(plugin, capacity, .init = find_plugin)
{
    unsigned char coded[sizeof expected];
    size_t size;
    cr_assert_eq(cuda->compress(&job, coded, expected_size, field, &size), ZMPI_OK);
    cr_assert_arr_eq(coded, expected, expected_size);
    cr_assert_eq(cuda->compress(&job, coded, expected_size - 1, field, &size), ZMPI_ERR_SPACE);
}

/* The second call allocates nothing: no memory on the device, no pinned memory, no streams or
 * events. */
Test(plugin, keeps_what_it_allocated, .init = find_plugin)
{
    float decoded[N];
    succeeds(field);
    cr_assert_eq(cuda->decompress(decoded, sizeof decoded, expected, expected_size, NULL, 1),
                 ZMPI_OK);
    zmpi_emu_set_faults("cudaMalloc:1+,cudaMallocAsync:1+,cudaMallocHost:1+,cudaStreamCreate:1+,"
                        "cudaEventCreateWithFlags:1+,cudaFree:1+,cudaFreeAsync:1+");
    succeeds(field);
    cr_assert_eq(cuda->decompress(decoded, sizeof decoded, expected, expected_size, NULL, 1),
                 ZMPI_OK, "%s", cuda->problem());
}

static void *work(void *src)
{
    for (int i = 0; i < 3; i++)
        succeeds(src);
    return NULL;
}

Test(plugin, threads, .init = find_plugin)
{
    pthread_t thread[4];
    void *device = on_device(field, sizeof field);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, work, i % 2 ? device : (void *)field), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

/* The work happens on the GPU that holds the data; the program's choice of a GPU stays. */
Test(plugin, two_devices, .init = two_gpus)
{
    int device;
    cr_assert_eq(cudaSetDevice(1), cudaSuccess);
    void *second = on_device(field, sizeof field);
    cr_assert_eq(cudaSetDevice(0), cudaSuccess);
    succeeds(second);
    succeeds(field);
    cr_assert_eq(cudaGetDevice(&device), cudaSuccess);
    cr_assert_eq(device, 0);
    void *scratch = cuda->take(second, 1000);
    struct cudaPointerAttributes a;
    cr_assert_eq(cudaPointerGetAttributes(&a, scratch), cudaSuccess);
    cr_assert_eq(a.device, 1);
    cuda->give(scratch);
    cr_assert_eq(cuda->take(second, 900), scratch, "not kept");
}

/* Boxes of all shapes, between all kinds of memory, beside a loop. */
static void copy_box(const struct zmpi_box *box, bool from_device, bool to_device)
{
    enum { BYTES = 4096 };
    unsigned char src[BYTES], dst[BYTES], is[BYTES];
    for (int i = 0; i < BYTES; i++) {
        src[i] = (unsigned char)(i * 7 + i / 256);
        dst[i] = 0xEE;
    }
    void *there = on_device(src, BYTES), *target = on_device(dst, BYTES);
    memcpy(is, dst, BYTES);
    cr_assert_eq(cuda->copy(to_device ? target : is, from_device ? there : src, box), ZMPI_OK, "%s",
                 cuda->problem());
    if (to_device)
        cr_assert_eq(cudaMemcpy(is, target, BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t z = 0; z < box->planes; z++)
        for (size_t y = 0; y < box->rows; y++)
            memcpy(dst + z * box->dst_plane + y * box->dst_row,
                   src + z * box->src_plane + y * box->src_row, box->bytes);
    cr_assert_arr_eq(is, dst, BYTES);
    cudaFree(there);
    cudaFree(target);
}

Test(plugin, copies_boxes, .init = find_plugin)
{
    static const struct zmpi_box box[] = {
        {100, 1, 1, 100, 100, 100, 100}, {4, 50, 1, 4, 200, 12, 600}, {12, 5, 6, 12, 60, 40, 400},
        {12, 5, 6, 20, 101, 40, 399},    {1, 1, 9, 1, 1, 300, 300},   {30, 2, 3, 90, 450, 30, 60},
    };
    for (size_t i = 0; i < sizeof box / sizeof *box; i++)
        for (int k = 0; k < 4; k++)
            copy_box(&box[i], k & 1, k & 2);
}

Test(plugin, range, .init = find_plugin)
{
    struct zmpi_range is, should;
    void *device = on_device(field, sizeof field);
    zmpi_range_scan(ZMPI_F32, field, N, 0.5, 1, &should);
    cr_assert_eq(cuda->range(ZMPI_F32, device, N, 0.5, &is), ZMPI_OK);
    cr_assert(is.min == should.min && is.max == should.max && is.fill == should.fill);
    cr_assert_eq(cuda->range(ZMPI_F32, (char *)device + 1, N - 1, 0, &is), ZMPI_ERR_UNSUPPORTED);
}

/* A failure names the call; the host compresses the device's data; `auto` learns. */
Test(plugin, failure, .init = find_plugin)
{
    struct zmpi_offload o = {.what = "test", .name = "auto"};
    unsigned char coded[sizeof expected];
    size_t size;
    void *device = on_device(field, sizeof field);
    succeeds(device);
    zmpi_emu_set_faults("cudaMemcpyAsync:1+");
    cr_assert_eq(compress_as_expected(device), ZMPI_ERR_DEVICE);
    cr_assert_not_null(strstr(cuda->problem(), "cudaMemcpyAsync: "), "%s", cuda->problem());
    cr_assert_eq(zmpi_offload_compress(&o, &job, cuda, coded, sizeof coded, device, &size),
                 ZMPI_OK);
    cr_assert_arr_eq(coded, expected, size);
    cr_assert(o.failed);
    cr_assert_eq(zmpi_use_device(&o.coded), zmpi_device_cpu());
    cr_assert_eq(zmpi_offload_decompress(&o, cuda, device, sizeof field, coded, size, 1), ZMPI_OK);
    zmpi_emu_set_faults("");
    float is[N], decoded[N];
    zmpi_decompress(decoded, sizeof decoded, coded, size);
    cr_assert_eq(cudaMemcpy(is, device, sizeof is, cudaMemcpyDeviceToHost), cudaSuccess);
    cr_assert_arr_eq(is, decoded, sizeof is);
    succeeds(device);
    cr_assert(isfinite(cuda->cost(&(struct zmpi_work){1 << 20, ZMPI_FLE, false})));
    zmpi_emu_set_faults("kernel:1");
    cr_assert_eq(compress_as_expected(device), ZMPI_ERR_DEVICE);
    cr_assert(isinf(cuda->cost(&(struct zmpi_work){1 << 20, ZMPI_FLE, false})),
              "a broken device can be had");
    cr_assert_eq(cuda->where(field), ZMPI_MEMORY_HOST);
    cr_assert_eq(cuda->where(device), ZMPI_MEMORY_GPU);
}

/* A call with too little memory says so, after idle memory was given up for it. */
Test(plugin, memory, .init = find_plugin)
{
    size_t available, total;
    void *block[64], *first;
    cr_assert_eq(cudaMemGetInfo(&available, &total), cudaSuccess);
    void *device = on_device(field, sizeof field);
    first = cuda->take(device, available / 2);
    cr_assert_not_null(first);
    cuda->give(first);
    block[0] = cuda->take(device, available / 4 * 3);
    cr_assert_not_null(block[0], "%s", cuda->problem());
    cr_assert_null(cuda->take(device, available / 2));
    cr_assert_not_null(strstr(cuda->problem(), "cudaMalloc"));
    succeeds(field);
}
