/*
 * bench_cases.c - what real programs do: buffers at odd addresses and in all kinds of memory, too
 * little room, parts of a stream, damaged streams, threads, contexts of a program's own, resets of
 * the device. Each case is compared with the CPU.
 */
#include "bench.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layout/stream.h"

/* A field, its stream and its decoded values as the CPU makes them, and room on host and device,
 * with space for odd addresses. */
enum { MARGIN = 64, THREADS = 4 };
struct base {
    const struct field *field;
    struct zmpi_job job;
    bool quick;
    size_t bytes, capacity, size, cases;
    unsigned char *coded, *decoded, *host;
    unsigned char *device;
};

#define CUDA() zmpi_device_plugin()
#define MUST(call)                                                                                 \
    do {                                                                                           \
        if (!GPU_OK(call))                                                                         \
            die("%s", gpu_problem());                                                              \
    } while (0)

static void expect(const struct base *b, enum zmpi_status is, enum zmpi_status should,
                   const char *what)
{
    if (is != should)
        die("%s: %s: %s, not %s (%s)", b->field->name, what, zmpi_strerror(is),
            zmpi_strerror(should), gpu_problem());
}

static void same(const struct base *b, const void *is, const void *should, size_t bytes,
                 const char *what)
{
    if (memcmp(is, should, bytes) != 0)
        die("%s: %s: not what the CPU makes", b->field->name, what);
}

/* The stream of what is at src. */
static void compresses(struct base *b, const void *src, const char *what)
{
    doing(b->field->name, what);
    size_t size = 0;
    unsigned char *coded = allocate(b->capacity);
    expect(b, CUDA()->compress(&b->job, coded, b->capacity, src, &size), ZMPI_OK, what);
    if (size != b->size)
        die("%s: %s: %zu bytes, not %zu", b->field->name, what, size, b->size);
    same(b, coded, b->coded, size, what);
    free(coded);
    b->cases++;
}

/* Decodes to dst, in any memory, and checks that nothing behind the values changed. */
static void decompresses(struct base *b, void *dst, const void *src, const char *what)
{
    doing(b->field->name, what);
    unsigned char *is = allocate(b->bytes + 8), *full = allocate(b->bytes + 8);
    memset(full, 0xEE, b->bytes + 8);
    MUST(cudaMemcpy(dst, full, b->bytes + 8, cudaMemcpyDefault));
    expect(b, CUDA()->decompress(dst, b->bytes, src, b->size, NULL, 1), ZMPI_OK, what);
    MUST(cudaMemcpy(is, dst, b->bytes + 8, cudaMemcpyDefault));
    same(b, is, b->decoded, b->bytes, what);
    same(b, is + b->bytes, full, 8, what);
    free(is);
    free(full);
    b->cases++;
}

/* ---- memory ---- */

static void check_addresses(struct base *b)
{
    static const size_t odds[] = {1, 12, 2, 3, 4, 8, 19};
    for (int i = 0; i < (b->quick ? 2 : 7); i++) {
        const size_t odd = odds[i];
        MUST(cudaMemcpy(b->device + odd, b->field->data, b->bytes, cudaMemcpyHostToDevice));
        compresses(b, b->device + odd, "compressed from an odd address");
        decompresses(b, b->device + odd, b->coded, "decompressed to an odd address");
        memcpy(b->host + odd, b->field->data, b->bytes);
        compresses(b, b->host + odd, "compressed from an odd address of the host");
    }
}

static void check_memory(struct base *b, void *memory, const char *what)
{
    MUST(cudaMemcpy(memory, b->field->data, b->bytes, cudaMemcpyDefault));
    compresses(b, memory, what);
    decompresses(b, memory, b->coded, what);
}

static void check_kinds(struct base *b)
{
    void *p;
    MUST(cudaMallocHost(&p, b->bytes + 8));
    check_memory(b, p, "pinned memory");
    MUST(cudaFreeHost(p));
    MUST(cudaMallocManaged(&p, b->bytes + 8, cudaMemAttachGlobal));
    check_memory(b, p, "managed memory");
    MUST(cudaFree(p));
    if (cudaMallocAsync(&p, b->bytes + 8, NULL) == cudaSuccess) {
        check_memory(b, p, "memory of a pool");
        MUST(cudaFreeAsync(p, NULL));
    } else {
        cudaGetLastError();
    }
    /* Whole pages of it, in the middle. */
    unsigned char *pages = (unsigned char *)(((uintptr_t)b->host + 4095) / 4096 * 4096);
    MUST(cudaHostRegister(pages, b->bytes / 2 / 4096 * 4096, cudaHostRegisterDefault));
    memcpy(b->host, b->field->data, b->bytes);
    compresses(b, b->host, "memory that is pinned in the middle");
    memcpy(pages, b->field->data, b->bytes);
    compresses(b, pages, "memory that is pinned at its beginning");
    expect(b, CUDA()->decompress(pages, b->bytes, b->coded, b->size, NULL, 1), ZMPI_OK,
           "decompressed to memory that is pinned at its beginning");
    same(b, pages, b->decoded, b->bytes, "decompressed to memory that is pinned at its beginning");
    MUST(cudaHostUnregister(pages));
}

static void check_box(struct base *b, const struct zmpi_box *box, bool from_device, bool to_device)
{
    enum { BYTES = 1 << 14 };
    unsigned char src[BYTES], dst[BYTES], is[BYTES];
    unsigned char *there = b->device, *target = b->device + BYTES;
    for (int i = 0; i < BYTES; i++)
        src[i] = (unsigned char)(i * 7 + i / 256);
    memset(dst, 0xEE, BYTES);
    memset(is, 0xEE, BYTES);
    MUST(cudaMemcpy(there, src, BYTES, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(target, dst, BYTES, cudaMemcpyHostToDevice));
    expect(b, CUDA()->copy(to_device ? target : is, from_device ? there : src, box), ZMPI_OK,
           "a box");
    if (to_device)
        MUST(cudaMemcpy(is, target, BYTES, cudaMemcpyDeviceToHost));
    for (size_t z = 0; z < box->planes; z++)
        for (size_t y = 0; y < box->rows; y++)
            memcpy(dst + z * box->dst_plane + y * box->dst_row,
                   src + z * box->src_plane + y * box->src_row, box->bytes);
    same(b, is, dst, BYTES, "a box");
    b->cases++;
}

static void check_boxes(struct base *b)
{
    static const struct zmpi_box box[] = {
        {100, 1, 1, 100, 100, 100, 100},   {4, 50, 1, 4, 200, 12, 600}, {12, 5, 6, 12, 60, 40, 400},
        {12, 5, 6, 20, 101, 40, 399},      {1, 1, 9, 1, 1, 300, 300},   {30, 2, 3, 90, 450, 30, 60},
        {512, 7, 4, 512, 3584, 514, 4000}, {0, 3, 2, 4, 12, 4, 12},
    };
    for (size_t i = 0; i < sizeof box / sizeof *box; i++)
        for (int k = 0; k < 4; k++)
            check_box(b, &box[i], k & 1, k & 2);
}

/* ---- room, parts, damage ---- */

static void check_capacity(struct base *b)
{
    size_t size = 0;
    const size_t capacity[] = {b->size, b->size - 1, b->size / 2, 0};
    unsigned char *coded = allocate(b->size + 1);
    for (int i = 0; i < 4; i++) {
        memset(coded, 0xEE, b->size + 1);
        expect(b, CUDA()->compress(&b->job, coded, capacity[i], b->field->data, &size),
               i ? ZMPI_ERR_SPACE : ZMPI_OK, "little room");
        if (coded[capacity[i]] != 0xEE)
            die("%s: little room: written behind it", b->field->name);
    }
    expect(b, CUDA()->decompress(b->device, b->bytes - 1, b->coded, b->size, NULL, 1),
           ZMPI_ERR_SPACE, "little room for the values");
    free(coded);
    b->cases += 5;
}

/* Decodes some chunks only; the others must stay as they were. */
static void check_parts(struct base *b)
{
    struct zmpi_stream s;
    unsigned char *cpu = allocate(b->bytes), *is = allocate(b->bytes);
    expect(b, zmpi_stream_parse(&s, b->coded, b->size), ZMPI_OK, "parsing");
    unsigned char *need = allocate(s.info.chunks);
    for (size_t step = 1; step <= 3; step++) {
        for (size_t i = 0; i < s.info.chunks; i++)
            need[i] = i % step == step / 2;
        memset(cpu, 0xEE, b->bytes);
        MUST(cudaMemcpy(b->device, cpu, b->bytes, cudaMemcpyHostToDevice));
        expect(b, zmpi_device_cpu()->decompress(cpu, b->bytes, b->coded, b->size, need, 1), ZMPI_OK,
               "parts, the CPU");
        expect(b, CUDA()->decompress(b->device, b->bytes, b->coded, b->size, need, 1), ZMPI_OK,
               "parts");
        MUST(cudaMemcpy(is, b->device, b->bytes, cudaMemcpyDeviceToHost));
        same(b, is, cpu, b->bytes, "parts");
        b->cases++;
    }
    free(need);
    free(cpu);
    free(is);
}

/* Damages header, table and chunks; the device must report what the CPU reports. */
static void check_damage(struct base *b)
{
    unsigned char *bad = allocate(b->size), *cpu = allocate(b->bytes);
    uint64_t state = 12345;
    for (size_t i = 0; i < (b->quick ? 6U : 60U); i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const size_t range = i % 3 ? b->size : 200 < b->size ? 200 : b->size;
        const size_t at = (size_t)(state >> 33) % range, size = i % 5 == 4 ? at : b->size;
        memcpy(bad, b->coded, b->size);
        bad[at] ^= (unsigned char)(1U << (state >> 20 & 7));
        enum zmpi_status should = zmpi_device_cpu()->decompress(cpu, b->bytes, bad, size, NULL, 1);
        doing(b->field->name, "a damaged stream");
        expect(b, CUDA()->decompress(b->device, b->bytes, bad, size, NULL, 1), should,
               "a damaged stream");
        b->cases++;
    }
    free(bad);
    free(cpu);
}

/* ---- the process ---- */

struct worker {
    struct base *base;
    pthread_t thread;
    bool good;
};

static void *work(void *context)
{
    struct worker *w = context;
    const struct base *b = w->base;
    unsigned char *coded = allocate(b->capacity), *is = allocate(b->bytes);
    w->good = true;
    for (int i = 0; i < (b->quick ? 2 : 6) && w->good; i++) {
        size_t size = 0;
        const void *src = i % 2 ? (const void *)b->device : b->field->data;
        w->good = !CUDA()->compress(&b->job, coded, b->capacity, src, &size) && size == b->size &&
                  memcmp(coded, b->coded, size) == 0 &&
                  !CUDA()->decompress(is, b->bytes, coded, size, NULL, 1) &&
                  memcmp(is, b->decoded, b->bytes) == 0;
    }
    free(coded);
    free(is);
    return NULL;
}

static void check_threads(struct base *b)
{
    struct worker w[THREADS];
    doing(b->field->name, "threads");
    MUST(cudaMemcpy(b->device, b->field->data, b->bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < THREADS; i++) {
        w[i].base = b;
        if (pthread_create(&w[i].thread, NULL, work, &w[i]))
            die("no threads");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        if (!w[i].good)
            die("%s: threads: not what the CPU makes", b->field->name);
    }
    b->cases += THREADS;
}

/* A program that uses the driver's interface: the plug-in works in its context, which stays the
 * current one. */
static void check_context(struct base *b)
{
    CUresult (*create)(CUcontext *, unsigned, CUdevice), (*current)(CUcontext *),
        (*pop)(CUcontext *);
    void *library = dlopen(ZMPI_CUDA_DRIVER, RTLD_LAZY | RTLD_NOLOAD), *memory;
    CUcontext own = NULL, now = NULL;
    if (!library)
        die("%s is not loaded", ZMPI_CUDA_DRIVER);
    *(void **)&create = dlsym(library, "cuCtxCreate_v2");
    *(void **)&current = dlsym(library, "cuCtxGetCurrent");
    *(void **)&pop = dlsym(library, "cuCtxPopCurrent_v2");
    if (!create || !current || !pop || create(&own, 0, 0))
        die("no context can be made");
    MUST(cudaMalloc(&memory, b->bytes + 8));
    check_memory(b, memory, "memory of another context");
    compresses(b, b->field->data, "host memory in another context");
    if (current(&now) || now != own)
        die("the program's context is not the current one any more");
    MUST(cudaMemcpy(memory, b->field->data, b->bytes, cudaMemcpyHostToDevice));
    pop(&now);
    compresses(b, memory, "memory of a context that is not current");
    b->cases++;
}

static struct base make(const struct field *f, bool quick)
{
    struct base b = {
        .field = f, .quick = quick, .bytes = f->bytes, .job = field_job(f, "rel=1e-4", 0)};
    b.capacity = zmpi_compress_capacity(&f->array);
    b.coded = allocate(b.capacity);
    b.decoded = allocate(f->bytes);
    b.host = allocate(f->bytes + 4096 + MARGIN);
    expect(&b, zmpi_device_cpu()->compress(&b.job, b.coded, b.capacity, f->data, &b.size), ZMPI_OK,
           "the CPU");
    expect(&b, zmpi_device_cpu()->decompress(b.decoded, f->bytes, b.coded, b.size, NULL, 1),
           ZMPI_OK, "the CPU");
    return b;
}

static void forget(struct base *b)
{
    free(b->coded);
    free(b->decoded);
    free(b->host);
}

static size_t check_field(enum zmpi_type type, const size_t extent[3], bool quick)
{
    struct field f = field_make(SMOOTH, type, extent);
    struct base b = make(&f, quick);
    MUST(cudaMalloc((void **)&b.device, f.bytes + MARGIN));
    check_addresses(&b);
    check_kinds(&b);
    check_boxes(&b);
    check_capacity(&b);
    check_parts(&b);
    check_damage(&b);
    check_threads(&b);
    check_context(&b);
    MUST(cudaFree(b.device));
    forget(&b);
    free(f.data);
    return b.cases;
}

size_t check_cases(const struct settings *s)
{
    static const size_t extent[2][3] = {{61, 129, 130}, {3, 40, 90}};
    return check_field(ZMPI_F64, extent[s->quick], s->quick) +
           check_field(ZMPI_F32, extent[s->quick], s->quick);
}

/* ---- a reset of the device ---- */

/* Either the device works again, or it reports its failure, and the CPU would go on. */
static void after_reset(struct base *b, const char *who)
{
    size_t size = 0;
    unsigned char *coded = allocate(b->capacity);
    enum zmpi_status status = CUDA()->compress(&b->job, coded, b->capacity, b->field->data, &size);
    if (!status)
        same(b, coded, b->coded, b->size, who);
    printf("reset by %s: %s\n", who, status ? gpu_problem() : "the device is used again");
    free(coded);
}

void check_resets(void)
{
    static const size_t extent[3] = {3, 40, 90};
    struct field f = field_make(SMOOTH, ZMPI_F32, extent);
    struct base b = make(&f, true);
    CUresult (*reset)(CUdevice);
    compresses(&b, f.data, "before the reset");
    MUST(cudaDeviceReset());
    after_reset(&b, "the same runtime");
    void *library = dlopen(ZMPI_CUDA_DRIVER, RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&reset = library ? dlsym(library, "cuDevicePrimaryCtxReset_v2") : NULL;
    if (!reset || reset(0))
        die("the driver resets nothing");
    after_reset(&b, "another runtime");
    forget(&b);
    free(f.data);
}
