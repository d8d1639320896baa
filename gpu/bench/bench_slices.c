/*
 * bench_slices.c - what slices gain: the same calls with the array in slices, so that copies and
 * kernels overlap, and in one piece.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "layout/stream.h"
#include "../slices.h"

size_t check_slices(const struct settings *s)
{
    const size_t slice = gpu_slice_bytes, small = ZMPI_CHUNK_INPUT_BYTES;
    size_t cases = 0;
    if (slice > small) { /* the emulator's are small */
        gpu_slice_bytes = small;
        cases = check_cases(s);
        gpu_slice_bytes = slice;
    }
    return cases;
}

enum way { IN, OUT }; /* compress, decompress */

/* One array, where it comes from and goes to. */
struct trip {
    struct zmpi_job job;
    size_t bytes, capacity, size;
    unsigned char *coded;
    void *array;
    enum way way;
};

static double once(struct trip *t)
{
    const struct zmpi_device *cuda = zmpi_device_plugin();
    const double start = now();
    enum zmpi_status status =
        t->way == IN ? cuda->compress(&t->job, t->coded, t->capacity, t->array, &t->size)
                     : cuda->decompress(t->array, t->bytes, t->coded, t->size, NULL, 1);
    if (status)
        die("%s: %s", zmpi_strerror(status), gpu_problem());
    return now() - start;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct trip *t, double seconds)
{
    double time[100], start = now();
    size_t n = 0;
    once(t);
    once(t); /* memory is allocated, pages are touched */
    while (n < 5 || (n < 100 && now() - start < seconds))
        time[n++] = once(t);
    qsort(time, n, sizeof *time, ascending);
    return time[n / 2];
}

/* The second time with slices; both ways. */
static void compare(const struct settings *s, struct trip *t, const char *memory,
                    const char **separator, FILE *json)
{
    static const char *const name[] = {"compress", "decompress"};
    const size_t slice = gpu_slice_bytes;
    for (t->way = IN; t->way <= OUT; t->way++) {
        double second[2];
        for (int i = 0; i < 2; i++) {
            gpu_slice_bytes = i ? slice : SIZE_MAX;
            second[i] = median(t, s->seconds);
        }
        printf("%9.3f MB %-10s %-16s %10.1f us %10.1f us   %5.2f\n", 1e-6 * (double)t->bytes,
               name[t->way], memory, 1e6 * second[0], 1e6 * second[1], second[0] / second[1]);
        fflush(stdout);
        if (json)
            fprintf(json,
                    "%s\n    {\"call\": \"%s\", \"memory\": \"%s\", \"bytes\": %zu, "
                    "\"coded\": %zu, \"whole_seconds\": %.6g, \"slices_seconds\": %.6g}",
                    *separator, name[t->way], memory, t->bytes, t->size, second[0], second[1]);
        *separator = ",";
    }
}

static void *pinned(size_t bytes)
{
    void *p;
    if (!GPU_OK(cudaMallocHost(&p, bytes)))
        die("%s", gpu_problem());
    return p;
}

/* The coded bytes are in the same kind of memory, or in ordinary host memory if the array is on the
 * device. */
static void compare_kinds(const struct settings *s, const struct field *f, const char *bound,
                          const char **separator, FILE *json)
{
    char what[40];
    void *device = NULL;
    struct trip t = {.job = field_job(f, bound, 0), .bytes = f->bytes};
    t.capacity = zmpi_compress_capacity(&f->array);
    doing("slices", bound);
    t.coded = allocate(t.capacity);
    t.array = f->data;
    snprintf(what, sizeof what, "host, %s", bound);
    compare(s, &t, what, separator, json);
    if (!GPU_OK(cudaMalloc(&device, f->bytes)) ||
        !GPU_OK(cudaMemcpy(device, f->data, f->bytes, cudaMemcpyHostToDevice)))
        die("%s", gpu_problem());
    t.array = device;
    snprintf(what, sizeof what, "GPU, %s", bound);
    compare(s, &t, what, separator, json);
    cudaFree(device);
    free(t.coded);
    t.coded = pinned(t.capacity);
    t.array = pinned(f->bytes);
    memcpy(t.array, f->data, f->bytes);
    snprintf(what, sizeof what, "pinned, %s", bound);
    compare(s, &t, what, separator, json);
    cudaFreeHost(t.coded);
    cudaFreeHost(t.array);
}

void measure_slices(const struct settings *s, FILE *json)
{
    const char *separator = "";
    puts("\nslices: whole calls, all at a time and in slices\n"
         "       size call       memory, bound       at a time     in slices   faster");
    if (json)
        fputs(",\n  \"slices\": [", json);
    for (size_t planes = s->quick ? 16 : 32; planes <= (s->quick ? 16U : 128U); planes *= 2) {
        const size_t extent[2][3] = {{planes, 512, 512}, {planes, 16, 64}};
        struct field f = field_make(SMOOTH, ZMPI_F32, extent[s->quick]);
        compare_kinds(s, &f, "rel=1e-3", &separator, json);
        if (planes == 64)
            compare_kinds(s, &f, "lossless", &separator, json);
        free(f.data);
    }
    if (json)
        fputs("\n  ]", json);
}
