/*
 * plugin_slices.c - arrays that go through the CUDA plug-in in slices: the CPU's bytes and values,
 * from and to memory of all kinds, whatever the order in which streams are worked on; failures of
 * each call; copies that can be made while kernels run. The plug-in here has slices of 32 KiB, a
 * chunk, and pieces of 20000 bytes.
 */
#include <stdio.h>

#include "layout/stream.h"
#include "plugin.h"

#include "../unit/kit.h"

#define OK(call) cr_assert_eq((int)(call), 0, "%s", #call)

/* Sanitizers take several times as long: then every third call fails. */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 2, STEP = 3 };
#else
enum { SEEDS = 3, STEP = 1 };
#endif
enum { SLICE = 32768, MOST = 200000 };

/* ---- arrays ---- */

static struct {
    struct zmpi_job job;
    size_t bytes, size; /* of the array, of its stream */
    unsigned char array[MOST], stream[MOST + MOST / 8], decoded[MOST];
} cpu;

static void fill(const struct zmpi_array *a)
{
    struct kit_random r = {7};
    for (size_t i = 0; i < cpu.bytes / zmpi_type_size(a->type); i++) {
        const double v = sin(0.001 * (double)i) * 100 + 1e-3 * (double)kit_below(&r, 100);
        if (kit_is_float(a->type))
            kit_put(a->type, cpu.array, i, i % 7001 == 5 ? NAN : v);
        else
            cpu.array[i] = (unsigned char)(v + 100);
    }
}

/* What the CPU makes of it. */
static void code(void)
{
    OK(zmpi_device_cpu()->compress(&cpu.job, cpu.stream, sizeof cpu.stream, cpu.array, &cpu.size));
    OK(zmpi_decompress(cpu.decoded, cpu.bytes, cpu.stream, cpu.size));
}

static void make(enum zmpi_type type, size_t z, size_t y, size_t x, struct zmpi_bound bound)
{
    const struct zmpi_array a = kit_array(type, z, y, x);
    struct zmpi_range range;
    OK(zmpi_array_bytes(&a, &cpu.bytes));
    cr_assert_leq(cpu.bytes, MOST);
    fill(&a);
    zmpi_range_scan(type, cpu.array, kit_elements(&a), 0, 1, &range);
    OK(zmpi_job_make(&a, &bound, &range, &cpu.job));
    code();
}

static const struct zmpi_bound absolute = {ZMPI_ABS, 1e-3}, lossless = {ZMPI_LOSSLESS, 0};

/* ---- memory ---- */

enum kind { PLAIN, PINNED, PINNED_IN_PART, DEVICE, MANAGED, KINDS };

static void *take(enum kind kind, size_t bytes)
{
    void *p = NULL;
    if (kind == PLAIN || kind == PINNED_IN_PART)
        p = malloc(bytes);
    else if (kind == PINNED)
        OK(cudaMallocHost(&p, bytes));
    else if (kind == DEVICE)
        OK(cudaMalloc(&p, bytes));
    else
        OK(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal));
    if (kind == PINNED_IN_PART) { /* slices with, without, and with a hole */
        OK(cudaHostRegister((char *)p + bytes / 5, bytes / 5, cudaHostRegisterDefault));
        OK(cudaHostRegister((char *)p + bytes / 2, bytes / 20, cudaHostRegisterDefault));
    }
    return p;
}

static void give(enum kind kind, void *p, size_t bytes)
{
    if (kind == PINNED_IN_PART) {
        OK(cudaHostUnregister((char *)p + bytes / 5));
        OK(cudaHostUnregister((char *)p + bytes / 2));
    }
    if (kind == PLAIN || kind == PINNED_IN_PART)
        free(p);
    else if (kind == PINNED)
        OK(cudaFreeHost(p));
    else
        OK(cudaFree(p));
}

static void put(enum kind kind, void *dst, const void *src, size_t bytes)
{
    if (kind == DEVICE)
        OK(cudaMemcpy(dst, src, bytes, cudaMemcpyHostToDevice));
    else
        memcpy(dst, src, bytes);
}

static void same(enum kind kind, const void *is, const void *should, size_t bytes)
{
    static unsigned char copy[MOST + MOST / 8];
    if (kind == DEVICE)
        OK(cudaMemcpy(copy, is, bytes, cudaMemcpyDeviceToHost));
    else
        memcpy(copy, is, bytes);
    size_t first = 0;
    while (first < bytes && copy[first] == ((const unsigned char *)should)[first])
        first++;
    cr_assert_eq(first, bytes, "byte %zu of %zu", first, bytes);
}

/* ---- there and back ---- */

static bool cannot_wait; /* it is the waiting that fails */

/* Nothing of the call goes on in the background, whatever became of it: the program may use its
 * memory, and other calls that of the plug-in. */
static void ended(void)
{
    cr_assert(cannot_wait || zmpi_emu_queued() == 0, "work is left: %u", zmpi_emu_queued());
}

static enum zmpi_status compress(enum kind from, enum kind to)
{
    size_t size = 0;
    unsigned char *src = take(from, cpu.bytes), *dst = take(to, cpu.size + 1);
    put(from, src, cpu.array, cpu.bytes);
    memset(dst, 0xEE, cpu.size + 1);
    enum zmpi_status status = cuda->compress(&cpu.job, dst, cpu.size, src, &size);
    ended();
    if (!status) {
        cr_assert_eq(size, cpu.size);
        same(PLAIN, dst, cpu.stream, size);
    }
    cr_assert_eq(dst[cpu.size], 0xEE, "written behind the room");
    give(from, src, cpu.bytes);
    give(to, dst, cpu.size + 1);
    return status;
}

static enum zmpi_status decompress(enum kind from, enum kind to)
{
    unsigned char *src = take(from, cpu.size), *dst = take(to, cpu.bytes);
    put(from, src, cpu.stream, cpu.size);
    enum zmpi_status status = cuda->decompress(dst, cpu.bytes, src, cpu.size, NULL, 1);
    ended();
    if (!status)
        same(to, dst, cpu.decoded, cpu.bytes);
    give(from, src, cpu.size);
    give(to, dst, cpu.bytes);
    return status;
}

static void there_and_back(enum kind kind)
{
    const enum kind host = kind < DEVICE ? kind : PLAIN;
    enum zmpi_status status = compress(kind, host);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", zmpi_strerror(status), cuda->problem());
    status = decompress(host, kind);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", zmpi_strerror(status), cuda->problem());
}

/* With streams as late as possible, and in other orders. */
static void in_all_orders(enum kind kind)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        zmpi_emu_set_early(seed);
        there_and_back(kind);
    }
    zmpi_emu_set_early(0);
}

/* ---- shapes ---- */

Test(plugin_slices, sizes, .init = find_plugin)
{
    const size_t slice = SLICE / sizeof(float);
    const size_t count[] = {slice - 1, slice,         slice + 1,     slice + slice / 2,
                            2 * slice, 2 * slice + 1, 3 * slice - 1, 5 * slice + 77};
    for (size_t i = 0; i < KIT_COUNT(count); i++) {
        make(ZMPI_F32, 1, 1, count[i], absolute);
        in_all_orders(PLAIN);
        there_and_back(DEVICE);
    }
}

Test(plugin_slices, types, .init = find_plugin)
{
    make(ZMPI_F64, 1, 1, 17333, absolute);
    in_all_orders(PLAIN);
    in_all_orders(DEVICE);
    make(ZMPI_F32, 1, 1, 35000, lossless);
    in_all_orders(PLAIN);
    in_all_orders(DEVICE);
    make(ZMPI_I64, 1, 1, 10001, lossless);
    there_and_back(PLAIN);
    make(ZMPI_BYTES, 1, 1, 80001, lossless);
    in_all_orders(PLAIN);
    there_and_back(DEVICE);
}

/* Slices are layers of tiles; an array with one layer has one slice. */
Test(plugin_slices, shapes, .init = find_plugin)
{
    static const size_t extent[][3] = {{1, 151, 257}, {1, 45, 1000}, {21, 50, 33}, {17, 65, 40},
                                       {30, 5, 260},  {3, 9, 1501},  {1, 3, 10001}};
    for (size_t i = 0; i < KIT_COUNT(extent); i++) {
        make(ZMPI_F32, extent[i][0], extent[i][1], extent[i][2], absolute);
        in_all_orders(PLAIN);
        there_and_back(DEVICE);
    }
    make(ZMPI_F64, 11, 29, 51, absolute);
    in_all_orders(PLAIN);
    there_and_back(DEVICE);
}

Test(plugin_slices, memory, .init = find_plugin)
{
    make(ZMPI_F32, 21, 40, 57, absolute);
    for (int kind = 0; kind < KINDS; kind++)
        in_all_orders((enum kind)kind);
}

static void without_pools(void)
{
    setenv("ZMPI_EMU_POOLS", "0", 1);
    find_plugin();
}

Test(plugin_slices, memory_without_pools, .init = without_pools)
{
    make(ZMPI_F32, 21, 40, 57, absolute);
    in_all_orders(PLAIN);
    in_all_orders(DEVICE);
}

/* The first slice suggests other axes than the whole array. The CPU chooses them from all of it, of
 * which the device has only that slice. */
Test(plugin_slices, axes, .init = find_plugin)
{
    enum { ROWS = 120, ROW = 256 };
    make(ZMPI_F32, 1, ROWS, ROW, absolute);
    struct kit_random r = {3};
    float *x = (float *)(void *)cpu.array;
    float row[ROW];
    for (size_t i = 0; i < ROW; i++)
        row[i] = (float)kit_below(&r, 1000);
    for (size_t i = 0; i < (size_t)ROWS * ROW; i++) /* noise; then all rows alike */
        x[i] = i < ROWS / 2 * ROW ? (float)kit_below(&r, 1000) : row[i % ROW];
    code();
    in_all_orders(PINNED); /* the device's memory is new, and the second slice comes late */
    there_and_back(PLAIN);
}

/* Axes that a job has: from the host, where they are chosen before the array is there, and as a
 * whole. */
Test(plugin_slices, given_axes, .init = find_plugin)
{
    for (unsigned axes = 0; axes < 8; axes += 3) {
        make(ZMPI_F32, 21, 40, 57, absolute);
        cpu.job.axes = ZMPI_AXES_GIVEN | axes;
        code();
        there_and_back(PLAIN);
        there_and_back(DEVICE);
        make(ZMPI_F32, 3, 20, 57, absolute); /* one slice */
        cpu.job.axes = ZMPI_AXES_GIVEN | axes;
        code();
        there_and_back(PLAIN);
    }
}

/* Compressed more than once. */
Test(plugin_slices, psnr, .init = find_plugin)
{
    make(ZMPI_F32, 1, 1, 35001, (struct zmpi_bound){ZMPI_PSNR, 60});
    in_all_orders(PLAIN);
    in_all_orders(DEVICE);
}

/* ---- what does not succeed ---- */

static void refused(size_t capacity)
{
    unsigned char *dst = malloc(capacity + 1), *device = take(DEVICE, cpu.bytes);
    size_t size;
    put(DEVICE, device, cpu.array, cpu.bytes);
    dst[capacity] = 0xEE;
    cr_assert_eq(cuda->compress(&cpu.job, dst, capacity, cpu.array, &size), ZMPI_ERR_SPACE);
    ended();
    cr_assert_eq(cuda->compress(&cpu.job, dst, capacity, device, &size), ZMPI_ERR_SPACE);
    ended();
    cr_assert_eq(dst[capacity], 0xEE, "written behind the room");
    give(DEVICE, device, cpu.bytes);
    free(dst);
}

Test(plugin_slices, capacity, .init = find_plugin)
{
    make(ZMPI_F32, 1, 1, 45000, absolute);
    refused(0);
    refused(90);
    refused(cpu.size / 2);
    refused(cpu.size - 1);
    there_and_back(PLAIN);
}

static void damaged(size_t at)
{
    cpu.stream[at] ^= 4;
    for (int kind = 0; kind < KINDS; kind++)
        cr_assert_eq(decompress(kind < DEVICE ? (enum kind)kind : PLAIN, (enum kind)kind),
                     ZMPI_ERR_CHECKSUM);
    cpu.stream[at] ^= 4;
    there_and_back(PLAIN);
}

Test(plugin_slices, damage, .init = find_plugin)
{
    make(ZMPI_F32, 1, 1, 35000, absolute);
    struct zmpi_stream s;
    OK(zmpi_stream_parse(&s, cpu.stream, cpu.size));
    damaged(s.head + 20);
    damaged(s.head + (cpu.size - s.head) / 2);
    damaged(cpu.size - 1);
}

/* Chunks that are not needed stay as they were. */
Test(plugin_slices, parts, .init = find_plugin)
{
    make(ZMPI_F32, 1, 1, 35000, absolute);
    struct zmpi_stream s;
    unsigned char need[16], *device = take(DEVICE, cpu.bytes);
    OK(zmpi_stream_parse(&s, cpu.stream, cpu.size));
    cr_assert_leq(s.info.chunks, sizeof need);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        zmpi_emu_set_early(seed);
        for (size_t i = 0; i < s.info.chunks; i++)
            need[i] = i % 3 == seed % 3;
        memset(cpu.decoded, 0xEE, cpu.bytes);
        put(DEVICE, device, cpu.decoded, cpu.bytes);
        OK(zmpi_stream_decode(&s, need, 1, cpu.decoded, NULL));
        OK(cuda->decompress(device, cpu.bytes, cpu.stream, cpu.size, need, 1));
        same(DEVICE, device, cpu.decoded, cpu.bytes);
    }
}

/* ---- failures ---- */

/* The n-th call of `name` fails, for every n. The call reports that, or nothing is wrong; the next
 * call is right again, in memory that nobody else writes any more. */
static size_t each_fails(const char *name, enum kind kind, bool reset)
{
    size_t failed = 0;
    char fault[80];
    for (unsigned n = 1; n < 200; n += STEP) {
        snprintf(fault, sizeof fault, "%s:%u", name, n);
        zmpi_emu_set_faults(fault);
        cannot_wait = reset || strcmp(name, "cudaStreamSynchronize") == 0;
        enum zmpi_status coded = compress(kind, kind < DEVICE ? kind : PLAIN);
        enum zmpi_status decoded = coded ? ZMPI_OK : decompress(PLAIN, kind);
        zmpi_emu_set_faults("");
        cannot_wait = false;
        if (!coded && !decoded && n > STEP * failed + 4)
            return failed;
        failed += coded || decoded;
        cr_assert(!coded || coded == ZMPI_ERR_DEVICE || coded == ZMPI_ERR_MEMORY, "%s", fault);
        cr_assert(!decoded || decoded == ZMPI_ERR_DEVICE || decoded == ZMPI_ERR_MEMORY, "%s",
                  fault);
        if (reset && (coded || decoded))
            OK(cudaDeviceReset());
        if (coded)
            OK(compress(kind, kind < DEVICE ? kind : PLAIN));
        if (decoded)
            OK(decompress(PLAIN, kind));
    }
    cr_assert_fail("%s never stops failing", name);
    return failed;
}

static void frees_all(void)
{
    size_t available, total;
    cuda->give_all();
    OK(cudaDeviceSynchronize());
    OK(cudaMemGetInfo(&available, &total));
    cr_assert_eq(available, total);
}

static void calls_fail(enum kind kind, uint64_t seed)
{
    static const char *const name[] = {
        "cudaMemcpyAsync",       "cudaEventRecord",  "cudaStreamWaitEvent", "cudaEventSynchronize",
        "cudaStreamSynchronize", "cudaLaunchKernel", "cudaEventQuery",      "cudaMallocAsync"};
    make(ZMPI_F32, 1, 1, 24600, absolute);
    zmpi_emu_set_early(seed);
    for (size_t i = 0; i < KIT_COUNT(name); i++) {
        size_t failed = each_fails(name[i], kind, false);
        cr_assert(failed >= (STEP > 1 ? 1 : 2) || i >= 6, "%s: %zu failures", name[i], failed);
    }
    frees_all();
}

Test(plugin_slices, calls_fail, .init = find_plugin)
{
    calls_fail(PLAIN, 0);
}

/* With copies from and to the program's own memory under way. */
Test(plugin_slices, calls_fail_with_pinned_memory, .init = find_plugin)
{
    calls_fail(PINNED, 1);
}

/* What the device does not survive. */
Test(plugin_slices, work_fails, .init = find_plugin)
{
    make(ZMPI_F32, 1, 1, 24600, absolute);
    zmpi_emu_set_early(1);
    cr_assert_geq(each_fails("kernel", PLAIN, true), 6 / STEP);
    cr_assert_geq(each_fails("copy", PLAIN, true), 10 / STEP);
}

/* The streams beside the first one cannot be made: the call says so, and nothing is half made. */
Test(plugin_slices, nothing_to_make_them_of, .init = find_plugin)
{
    static const char *const name[] = {"cudaStreamCreate", "cudaEventCreateWithFlags",
                                       "cudaMallocHost"};
    char fault[80];
    make(ZMPI_F32, 1, 1, 30000, absolute);
    for (size_t i = 0; i < KIT_COUNT(name); i++)
        for (int n = 1; n < 12; n++) {
            snprintf(fault, sizeof fault, "%s:%d", name[i], n);
            OK(cudaDeviceReset()); /* with all that is kept */
            zmpi_emu_set_faults(fault);
            enum zmpi_status status = compress(PLAIN, PLAIN);
            zmpi_emu_set_faults("");
            cr_assert(status == ZMPI_ERR_DEVICE || (status == ZMPI_OK && n > 2), "%s", fault);
            there_and_back(PLAIN);
        }
}

/* ---- what is kept, what overlaps ---- */

/* The second call makes nothing; small ones ask for less: no event is waited for by a stream. */
Test(plugin_slices, keeps_what_it_made, .init = find_plugin)
{
    static const char *const made =
        "cudaMalloc:1+,cudaMallocAsync:1+,cudaStreamCreate:1+,cudaEventCreateWithFlags:1+,"
        "cudaFree:1+,cudaFreeAsync:1+";
    make(ZMPI_F32, 1, 1, 30000, absolute);
    there_and_back(PLAIN);
    zmpi_emu_set_faults(made);
    there_and_back(PLAIN);
    zmpi_emu_set_faults("cudaStreamWaitEvent:1+,cudaEventQuery:1+");
    make(ZMPI_F32, 1, 1, SLICE / sizeof(float), absolute);
    there_and_back(PLAIN);
}

/* While a slice is in the kernel, the device could fetch the next one and return the last one's
 * payload. */
Test(plugin_slices, copies_and_kernels_overlap, .init = find_plugin)
{
    struct zmpi_emu_overlaps o;
    size_t size;
    make(ZMPI_F32, 1, 1, 6 * SLICE / sizeof(float), absolute);
    unsigned char *src = take(PINNED, cpu.bytes), *dst = take(PINNED, cpu.bytes);
    memcpy(src, cpu.array, cpu.bytes);
    zmpi_emu_take_overlaps(&o);
    OK(cuda->compress(&cpu.job, dst, cpu.bytes, src, &size));
    zmpi_emu_take_overlaps(&o);
    cr_assert_eq(o.kernels, 7);
    cr_assert(o.up >= 4 && o.down >= 3, "up %d, down %d", (int)o.up, (int)o.down);
    memcpy(src, cpu.stream, cpu.size);
    OK(cuda->decompress(dst, cpu.bytes, src, cpu.size, NULL, 1));
    zmpi_emu_take_overlaps(&o);
    cr_assert_eq(o.kernels, 7);
    cr_assert(o.up >= 4 && o.down >= 3, "up %d, down %d", (int)o.up, (int)o.down);
    /* From the device's memory there are copies in one direction only. */
    unsigned char *device = take(DEVICE, cpu.bytes);
    put(DEVICE, device, cpu.array, cpu.bytes);
    zmpi_emu_take_overlaps(&o);
    OK(cuda->compress(&cpu.job, dst, cpu.bytes, device, &size));
    zmpi_emu_take_overlaps(&o);
    cr_assert(o.up == 0 && o.down >= 3, "up %d, down %d", (int)o.up, (int)o.down);
}
