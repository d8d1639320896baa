/*
 * bench_measure.c - how fast the device is: kernels by the device's events, beside a copy of the
 * same array from device to device; whole calls and files by the clock.
 *
 * A rate counts bytes of the array, not bytes moved. A kernel that reads the array and writes
 * nothing could reach twice the rate of the copy.
 */
#include "bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernels/kernels.h"
#include "layout/stream.h"

/* Device memory for one array. */
struct bench {
    const struct settings *settings;
    FILE *json;
    const char *separator;
    struct field base; /* repeated to fill the array */
    struct zmpi_array array;
    size_t bytes;
    size_t capacity;
    void *src, *dst, *coded, *workspace;
    size_t workspace_bytes;
    double best[2]; /* compress, decompress / copy */
    size_t best_bytes;
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

static void must(bool good)
{
    if (!good)
        die("%s", gpu_problem());
}

#define MUST(call)       must(GPU_OK(call))
#define MUST_START(call) must(gpu_ok((cudaError_t)(call), #call))

/* ---- one thing, several times ---- */

typedef void action(struct bench *b, void *context);

static double once(struct bench *b, action *act, void *context)
{
    float ms = 0;
    MUST(cudaEventRecord(b->begin, b->stream));
    act(b, context);
    MUST(cudaEventRecord(b->end, b->stream));
    MUST(cudaEventSynchronize(b->end));
    MUST(cudaEventElapsedTime(&ms, b->begin, b->end));
    return 1e-3 * (double)ms;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of 5 to 200 repetitions, as many as the time allows. */
static double median_of(struct bench *b, action *act, void *context)
{
    double time[200], start = now();
    size_t n = 0;
    once(b, act, context); /* to warm up */
    while (n < 5 || (n < 200 && now() - start < b->settings->seconds))
        time[n++] = once(b, act, context);
    qsort(time, n, sizeof *time, ascending);
    return time[n / 2];
}

/* ---- what is measured ---- */

static void act_copy(struct bench *b, void *context)
{
    (void)context;
    MUST(cudaMemcpyAsync(b->dst, b->src, b->bytes, cudaMemcpyDeviceToDevice, b->stream));
}

static void act_range(struct bench *b, void *context)
{
    (void)context;
    size_t count = b->bytes / zmpi_type_size(b->array.type);
    MUST_START(zmpi_cuda_range(b->array.type, b->src, count, 0, b->workspace, b->stream));
}

static void act_compress(struct bench *b, void *context)
{
    const struct zmpi_cuda_plan *plan = context;
    MUST_START(zmpi_cuda_compress(plan, b->src, b->coded, b->capacity, b->workspace, b->stream));
}

static void act_decompress(struct bench *b, void *context)
{
    const struct zmpi_cuda_decode_plan *plan = context;
    MUST_START(zmpi_cuda_decompress(plan, b->coded, NULL, b->dst, b->workspace, b->stream));
}

/* ---- an array in device memory ---- */

static void release(struct bench *b)
{
    cudaFree(b->src);
    cudaFree(b->dst);
    cudaFree(b->coded);
    cudaFree(b->workspace);
    b->src = b->dst = b->coded = b->workspace = NULL;
    b->workspace_bytes = 0;
}

static void need_workspace(struct bench *b, size_t bytes)
{
    if (bytes <= b->workspace_bytes)
        return;
    cudaFree(b->workspace);
    MUST(cudaMalloc(&b->workspace, bytes));
    b->workspace_bytes = bytes;
}

/* Fills it with the base field, again and again. */
static void fill(struct bench *b)
{
    size_t have = b->base.bytes < b->bytes ? b->base.bytes : b->bytes;
    MUST(cudaMemcpy(b->src, b->base.data, have, cudaMemcpyHostToDevice));
    while (have < b->bytes) {
        size_t n = have < b->bytes - have ? have : b->bytes - have;
        MUST(cudaMemcpy((char *)b->src + have, b->src, n, cudaMemcpyDeviceToDevice));
        have += n;
    }
}

static bool make(struct bench *b, const struct zmpi_array *array)
{
    b->array = *array;
    b->capacity = zmpi_compress_capacity(array);
    if (zmpi_array_bytes(array, &b->bytes) || cudaMalloc(&b->src, b->bytes) != cudaSuccess ||
        cudaMalloc(&b->dst, b->bytes) != cudaSuccess ||
        cudaMalloc(&b->coded, b->capacity) != cudaSuccess) {
        cudaGetLastError();
        release(b);
        return false;
    }
    need_workspace(b, ZMPI_CUDA_RANGE_WORKSPACE);
    fill(b);
    return true;
}

/* ---- the kernels ---- */

static struct zmpi_cuda_decode_plan plan_decoding(struct bench *b,
                                                  const struct zmpi_cuda_plan *plan, size_t *size)
{
    struct zmpi_cuda_result result;
    struct zmpi_cuda_decode_plan decode;
    struct zmpi_stream stream;
    MUST(cudaMemcpy(&result, b->workspace, sizeof result, cudaMemcpyDeviceToHost));
    size_t head = ZMPI_STREAM_HEADER_BYTES + 8 * plan->layout.chunks;
    unsigned char *host = allocate(result.length);
    MUST(cudaMemcpy(host, b->coded, result.length, cudaMemcpyDeviceToHost));
    zmpi_cuda_header(plan, result.length, host);
    MUST(cudaMemcpy(b->coded, host, head, cudaMemcpyHostToDevice));
    if (zmpi_stream_parse(&stream, host, result.length) ||
        zmpi_cuda_decode_plan_make(&stream, &decode))
        die("what was compressed cannot be decompressed");
    free(host);
    *size = result.length;
    return decode;
}

static void print_case(struct bench *b, const char *bound, size_t size, const double second[4])
{
    static const char *const name[] = {"copy", "range", "compress", "decompress"};
    const size_t *e = b->array.extent;
    const double gb = 1e-9 * (double)b->bytes;
    printf("%9.3f MB %5zux%5zux%10zu  %-9s %7.2f", 1e3 * gb, e[0], e[1], e[2], bound,
           (double)b->bytes / (double)size);
    for (int i = 0; i < 4; i++)
        printf(" %9.1f", gb / second[i]);
    printf("   %5.2f %5.2f\n", second[0] / second[2], second[0] / second[3]);
    fflush(stdout);
    if (!b->json)
        return;
    fprintf(b->json,
            "%s\n    {\"extent\": [%zu, %zu, %zu], \"bytes\": %zu, \"bound\": \"%s\", "
            "\"coded\": %zu",
            b->separator, e[0], e[1], e[2], b->bytes, bound, size);
    for (int i = 0; i < 4; i++)
        fprintf(b->json, ", \"%s_seconds\": %.6g", name[i], second[i]);
    fprintf(b->json, ", \"compress_per_copy\": %.4g, \"decompress_per_copy\": %.4g}",
            second[0] / second[2], second[0] / second[3]);
    b->separator = ",";
}

static void measure_kernels(struct bench *b, const char *bound)
{
    struct zmpi_cuda_plan plan;
    struct zmpi_job job = field_job(&b->base, bound, 0);
    doing("measuring", bound);
    double second[4];
    size_t size;
    job.array = b->array;
    if (zmpi_cuda_plan_make(&job, &plan))
        die("no plan for %s", bound);
    need_workspace(b, zmpi_cuda_compress_workspace(&plan));
    second[0] = median_of(b, act_copy, NULL);
    second[1] = median_of(b, act_range, NULL);
    second[2] = median_of(b, act_compress, &plan);
    struct zmpi_cuda_decode_plan decode = plan_decoding(b, &plan, &size);
    need_workspace(b, zmpi_cuda_decompress_workspace(&decode));
    second[3] = median_of(b, act_decompress, &decode);
    uint64_t answer;
    MUST(cudaMemcpy(&answer, b->workspace, sizeof answer, cudaMemcpyDeviceToHost));
    if (zmpi_cuda_verdict(answer, NULL))
        die("%s: what was compressed is found damaged", bound);
    print_case(b, bound, size, second);
    for (int i = 0; i < 2 && b->bytes >= b->best_bytes; i++)
        b->best[i] = second[0] / second[2 + i];
    b->best_bytes = b->bytes > b->best_bytes ? b->bytes : b->best_bytes;
}

/* An array of about that many bytes, made of whole planes, rows or elements of the base field. */
static struct zmpi_array array_of(const struct field *base, size_t bytes, int dimensions)
{
    struct zmpi_array a = base->array;
    size_t width = zmpi_type_size(a.type), *e = a.extent, count = bytes / width;
    if (dimensions < 3)
        e[1] *= e[0], e[0] = 1;
    if (dimensions < 2)
        e[2] *= e[1], e[1] = 1;
    if (dimensions == 3)
        e[0] = count / (e[1] * e[2]);
    else if (dimensions == 2)
        e[1] = count / e[2];
    else
        e[2] = count;
    for (int i = 0; i < 3; i++)
        e[i] = e[i] ? e[i] : 1;
    return a;
}

static void measure_array(struct bench *b, size_t bytes, int dimensions, const char *const *bound)
{
    struct zmpi_array a = array_of(&b->base, bytes, dimensions);
    if (!make(b, &a)) {
        printf("%9.3f MB: the GPU has no memory for it\n", 1e-6 * (double)bytes);
        return;
    }
    for (; *bound; bound++)
        measure_kernels(b, *bound);
    release(b);
}

static void measure_sizes(struct bench *b)
{
    static const char *const all[] = {"rel=1e-2", "rel=1e-3", "rel=1e-4", NULL}, *const one[] = {
                                                                                     "rel=1e-3",
                                                                                     NULL};
    const struct settings *s = b->settings;
    const size_t main_size = s->most < (size_t)1 << 30 ? s->most : (size_t)1 << 30;
    puts("\nkernels, GB/s of the array (1e9 bytes); the last two: compress, decompress / copy\n"
         "       size                   extents  bound       ratio      copy     range  compress "
         "decompress");
    for (size_t bytes = s->least; bytes < s->most; bytes *= 8)
        measure_array(b, bytes, 3, one);
    if (s->most != main_size)
        measure_array(b, s->most, 3, one);
    for (int d = 1; d <= 3; d++)
        measure_array(b, main_size, d, all);
}

/* ---- whole calls ---- */

struct call {
    const struct zmpi_device *device;
    struct zmpi_job job;
    const void *src;
    unsigned char *coded, *decoded;
    size_t capacity, size;
    int file; /* -1: none */
};

static double call_once(struct call *c)
{
    double start = now();
    enum zmpi_status status = c->device->compress(&c->job, c->coded, c->capacity, c->src, &c->size);
    if (status)
        die("%s: %s", c->device->name, c->device->problem ? c->device->problem() : "");
    if (c->file >= 0 && (lseek(c->file, 0, SEEK_SET) ||
                         write(c->file, c->coded, c->size) != (ssize_t)c->size || fsync(c->file)))
        die("the file cannot be written");
    return now() - start;
}

static double median_call(const struct bench *b, struct call *c)
{
    double time[400], start = now();
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        call_once(c); /* memory is allocated, pages are touched */
    while (n < 5 || (n < 400 && now() - start < b->settings->seconds))
        time[n++] = call_once(c);
    qsort(time, n, sizeof *time, ascending);
    return time[n / 2];
}

static void print_call(struct bench *b, const char *what, const struct call *c, size_t bytes,
                       double seconds)
{
    printf("%-52s %9.3f MB -> %9.3f MB  %10.1f us  %8.2f GB/s\n", what, 1e-6 * (double)bytes,
           1e-6 * (double)c->size, 1e6 * seconds, 1e-9 * (double)bytes / seconds);
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n    {\"call\": \"%s\", \"threads\": %d, \"bytes\": %zu, \"coded\": %zu, "
                "\"seconds\": %.6g}",
                b->separator, what, c->job.threads, bytes, c->size, seconds);
    b->separator = ",";
}

static int open_file(const struct settings *s)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_gpu.XXXXXX", s->folder);
    int file = mkstemp(path);
    if (file < 0)
        die("%s: no file can be made there", s->folder);
    unlink(path);
    return file;
}

static void measure_calls_of(struct bench *b, size_t bytes)
{
    struct zmpi_array a = array_of(&b->base, bytes, 3);
    struct call c = {.device = zmpi_device_plugin(), .file = -1};
    if (!make(b, &a))
        return;
    bytes = b->bytes;
    c.job = field_job(&b->base, "rel=1e-3", 0);
    c.job.array = a;
    c.capacity = b->capacity;
    c.coded = allocate(b->capacity);
    unsigned char *host = allocate(bytes);
    MUST(cudaMemcpy(host, b->src, bytes, cudaMemcpyDeviceToHost));
    c.src = b->src;
    print_call(b, "GPU memory to host", &c, bytes, median_call(b, &c));
    c.file = open_file(b->settings);
    print_call(b, "GPU memory to file", &c, bytes, median_call(b, &c));
    c.src = host;
    print_call(b, "host to file, compressed on the GPU", &c, bytes, median_call(b, &c));
    c.device = zmpi_device_cpu();
    c.job.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    print_call(b, "host to file, compressed on the CPU, all cores", &c, bytes, median_call(b, &c));
    c.job.threads = 1;
    print_call(b, "host to file, compressed on the CPU, one core", &c, bytes, median_call(b, &c));
    close(c.file);
    free(host);
    free(c.coded);
    release(b);
}

/* Of the largest array. */
static void print_summary(const struct bench *b)
{
    struct cudaDeviceProp p;
    int device;
    MUST(cudaGetDevice(&device));
    MUST(cudaGetDeviceProperties(&p, device));
    printf("\n%s, %.0f MB: compression at %.2f, decompression at %.2f of the rate of a copy from "
           "device to device\n",
           p.name, 1e-6 * (double)b->best_bytes, b->best[0], b->best[1]);
}

static void measure_field(struct bench *b)
{
    printf("\n%s\n", b->base.name);
    if (b->json)
        fprintf(b->json, ",\n  \"%s\": [", b->base.name);
    b->separator = "";
    b->best_bytes = 0;
    measure_sizes(b);
    print_summary(b);
    puts("\nwhole calls, rel=1e-3, the range known; files with fsync");
    for (size_t bytes = b->settings->least; bytes <= b->settings->most && bytes <= (size_t)64 << 20;
         bytes *= 8)
        measure_calls_of(b, bytes);
    if (b->json)
        fputs("\n  ]", b->json);
}

void measure_all(const struct settings *s, FILE *json)
{
    const size_t extent[2][3] = {{64, 512, 512}, {8, 16, 64}};
    struct bench b = {.settings = s, .json = json};
    MUST(cudaStreamCreate(&b.stream));
    MUST(cudaEventCreate(&b.begin));
    MUST(cudaEventCreate(&b.end));
    if (s->files == 0) {
        b.base = field_make(SMOOTH, ZMPI_F32, extent[s->quick]);
        measure_field(&b);
        free(b.base.data);
    }
    for (size_t i = 0; i < s->files; i++) {
        b.base = s->file[i];
        measure_field(&b);
    }
    cudaEventDestroy(b.begin);
    cudaEventDestroy(b.end);
    cudaStreamDestroy(b.stream);
}
