/* bench_check.c - the device against the CPU: the same bytes from host and device memory, the same
 * values back. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* One field on both sides, and room for what they make of it. */
struct both {
    const struct field *field;
    const char *bound;
    unsigned char *cpu, *coded, *decoded, *again;
    void *device; /* the field in the device's memory */
    size_t capacity, size;
};

static void differ(const struct both *b, const char *what, const unsigned char *x,
                   const unsigned char *y, size_t n)
{
    size_t at = 0;
    if (memcmp(x, y, n) == 0)
        return;
    while (x[at] == y[at])
        at++;
    die("%s, %s: %s differs from the CPU's from byte %zu of %zu on", b->field->name, b->bound, what,
        at, n);
}

static void need(const struct both *b, enum zmpi_status status, const char *what)
{
    const char *problem = zmpi_device_plugin()->problem();
    if (status)
        die("%s, %s: %s: %s", b->field->name, b->bound, what,
            problem ? problem : zmpi_strerror(status));
}

static void compress(struct both *b, const struct zmpi_job *job, const void *src, const char *what)
{
    size_t size = 0;
    memset(b->coded, 0xEE, b->capacity);
    need(b, zmpi_device_plugin()->compress(job, b->coded, b->capacity, src, &size), what);
    if (size != b->size)
        die("%s, %s: %s: %zu bytes, %zu on the CPU", b->field->name, b->bound, what, size, b->size);
    differ(b, what, b->cpu, b->coded, size);
}

static void decompress(struct both *b)
{
    const struct zmpi_device *cuda = zmpi_device_plugin();
    const size_t bytes = b->field->bytes;
    need(b, zmpi_device_cpu()->decompress(b->decoded, bytes, b->cpu, b->size, NULL, 1), "the CPU");
    memset(b->again, 0xEE, bytes);
    need(b, cuda->decompress(b->again, bytes, b->cpu, b->size, NULL, 1), "decompressing");
    differ(b, "what is decompressed", b->decoded, b->again, bytes);
    need(b, cuda->decompress(b->device, bytes, b->cpu, b->size, NULL, 1),
         "decompressing to the device");
    memset(b->again, 0xEE, bytes);
    need(b, zmpi_device_move(cuda, b->again, b->device, bytes), "copying");
    differ(b, "what is decompressed there", b->decoded, b->again, bytes);
}

static void check_range(const struct both *b, double threshold)
{
    const struct field *f = b->field;
    struct zmpi_range cpu, cuda;
    size_t count = f->bytes / zmpi_type_size(f->array.type);
    zmpi_range_scan(f->array.type, f->data, count, threshold, 1, &cpu);
    need(b, zmpi_device_plugin()->range(f->array.type, b->device, count, threshold, &cuda),
         "the range");
    if (cpu.min != cuda.min || cpu.max != cuda.max || cpu.fill != cuda.fill)
        die("%s: the range is %g %g %g, on the CPU %g %g %g", f->name, cuda.min, cuda.max,
            cuda.fill, cpu.min, cpu.max, cpu.fill);
}

static void check(const struct field *f, const char *bound, double threshold)
{
    const struct zmpi_device *cuda = zmpi_device_plugin();
    struct zmpi_job job = field_job(f, bound, threshold);
    doing(f->name, bound);
    struct both b = {.field = f, .bound = bound, .capacity = zmpi_compress_capacity(&f->array)};
    b.cpu = allocate(b.capacity);
    b.coded = allocate(b.capacity);
    b.decoded = allocate(f->bytes);
    b.again = allocate(f->bytes);
    if (!GPU_OK(cudaMalloc(&b.device, f->bytes + 1)))
        die("%s", gpu_problem());
    need(&b, zmpi_device_cpu()->compress(&job, b.cpu, b.capacity, f->data, &b.size), "the CPU");
    compress(&b, &job, f->data, "compressed from the host");
    need(&b, zmpi_device_move(cuda, b.device, f->data, f->bytes), "copying");
    check_range(&b, threshold);
    compress(&b, &job, b.device, "compressed from the device");
    decompress(&b);
    cudaFree(b.device);
    free(b.cpu);
    free(b.coded);
    free(b.decoded);
    free(b.again);
}

size_t check_all(const struct settings *s)
{
    static const char *const bound[] = {"abs=0.01",    "rel=1e-2", "rel=1e-4",
                                        "pw_rel=1e-3", "psnr=60",  "lossless"};
    static const size_t extent[][3] = {{1, 1, 1},       {1, 1, 31},      {3, 5, 7},
                                       {1, 37, 200},    {9, 17, 66},     {1, 1, 20011},
                                       {1, 1, 3000017}, {1, 1999, 1501}, {131, 129, 255}};
    const size_t extents = s->quick ? 5 : 9, bounds = sizeof bound / sizeof *bound;
    size_t cases = 0;
    for (size_t e = 0; e < extents; e++)
        for (int p = 0; p < 2 * PATTERNS; p++) {
            enum zmpi_type type = p % 2 ? ZMPI_F64 : ZMPI_F32;
            struct field f = field_make((enum pattern)(p / 2), type, extent[e]);
            for (size_t k = 0; k < bounds; k++)
                if (!s->quick || (cases + k + (size_t)p) % 6 == 0) {
                    check(&f, bound[k], k % 2 ? 0 : 120);
                    cases++;
                }
            free(f.data);
        }
    for (size_t i = 0; i < s->files; i++)
        for (size_t k = 0; k < bounds; k++, cases++)
            check(&s->file[i], bound[k], 0);
    return cases;
}
