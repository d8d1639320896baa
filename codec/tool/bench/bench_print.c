/* bench_print.c - results as a table and as JSON. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tool/bench/bench.h"

/* Decimal gigabytes of uncompressed data per second. */
static double rate(size_t bytes, const struct bench_times *t)
{
    return 1e-9 * (double)bytes / bench_median(t);
}

static double ratio_of(const struct bench_result *r, const struct bench_codec *c)
{
    return (double)r->field->bytes / (double)c->size;
}

static double over_bound(const struct bench_result *r, const struct bench_codec *c)
{
    if (isinf(r->abs_bound))
        return c->quality.max_relative / r->job.bound.value;
    if (r->abs_bound > 0)
        return c->quality.max_error / r->abs_bound;
    return c->quality.max_error > 0 ? (double)INFINITY : 0;
}

/* Most bounds also need the range. */
static double seconds_with_range(const struct bench_result *r)
{
    double seconds = bench_median(&r->zmpi.compress);
    return zmpi_bound_needs_range(&r->job.bound) ? seconds + bench_median(&r->scan) : seconds;
}

static double bits_per_value(const struct bench_result *r, const struct bench_codec *c)
{
    return 8 * (double)zmpi_type_size(r->field->array.type) / ratio_of(r, c);
}

/* ---- table ---- */

static void print_row(const struct bench_result *r, const struct bench_codec *c, size_t bytes,
                      const struct bench_times *copy, const char *where)
{
    double compress = rate(bytes, &c->compress), decompress = rate(bytes, &c->decompress);
    double reference = rate(bytes, copy);
    printf("  %-8s %-6s %7d %10.3f %5.0f%% %8.3f %11.3f %5.0f%% %8.3f", c->name, where,
           r->job.threads, compress, 100 * bench_spread(&c->compress), compress / reference,
           decompress, 100 * bench_spread(&c->decompress), decompress / reference);
    if (c == &r->cached)
        printf("\n");
    else
        printf(" %9.3f %8.2f %10.4f\n", ratio_of(r, c), c->quality.psnr, over_bound(r, c));
}

static void axes_name(unsigned axes, char text[5])
{
    char *p = text;
    for (unsigned i = 0; i < 3; i++)
        if (axes & 1U << i)
            *p++ = "xyz"[i];
    strcpy(p, p == text ? "none" : "");
}

/* In per cent of compression. */
static double share(const struct bench_times *part, const struct bench_codec *c)
{
    return 100 * bench_median(part) / bench_median(&c->compress);
}

static void print_verbose(const struct bench_result *r)
{
    char axes[5];
    axes_name(r->axes, axes);
    printf("  kernels %s; differences along %s, chosen from samples in %.0f us: %.2f%% of "
           "compression",
           zmpi_kernels()->name, axes, 1e6 * bench_median(&r->choice), share(&r->choice, &r->zmpi));
    if (r->piece_bytes)
        printf("\n  of %zu KiB in the cache, where axes are known from the step before, %.2f us: "
               "%.2f%%",
               r->piece_bytes / 1024, 1e6 * bench_median(&r->piece_recall),
               share(&r->piece_recall, &r->cached));
    printf("\n");
    printf("  absolute bound %.9g, range %.9g to %.9g, values kept exactly from %.9g\n",
           r->abs_bound, r->range.min, r->range.max, r->job.keep);
    printf("  %d repetitions after one to warm up; %zu copies of the file; %zu bytes compressed\n",
           r->zmpi.compress.n, r->field->copies, r->zmpi.size);
    printf("  range found at %.3f GB/s (spread %.0f%%); range and compress together %.3f GB/s\n",
           rate(r->field->bytes, &r->scan), 100 * bench_spread(&r->scan),
           1e-9 * (double)r->field->bytes / seconds_with_range(r));
}

void bench_print(const struct bench_result *r, bool head)
{
    const size_t *e = r->field->array.extent;
    char bound[40];
    zmpi_bound_format(&r->settings->bound, bound);
    if (head)
        printf(
            "GB/s are 1e9 uncompressed bytes a second: medians, and (slowest - fastest) / "
            "median. memcpy by one\n"
            "thread, of the same array, in turns with the others. The range is found before, and "
            "not\ncounted. Buffers are on huge pages where the system gives them.\n");
    printf("\n%s: %s %zux%zux%zu, %.1f MiB, %s, device %s\n", r->field->name,
           tool_type_name(r->field->array.type), e[0], e[1], e[2],
           (double)r->field->bytes / 1048576, bound, r->settings->device->name);
    printf("  memcpy %.3f GB/s (%.0f%%), read %.3f GB/s (%.0f%%)", rate(r->field->bytes, &r->copy),
           100 * bench_spread(&r->copy), rate(r->field->bytes, &r->read),
           100 * bench_spread(&r->read));
    if (r->piece_bytes)
        printf(", memcpy of %zu KiB in the cache %.3f GB/s", r->piece_bytes / 1024,
               rate(r->piece_bytes, &r->piece_copy));
    printf("\n");
    if (r->settings->verbose)
        print_verbose(r);
    printf("  %-8s %-6s %7s %10s %6s %8s %11s %6s %8s %9s %8s %10s\n", "", "data in", "threads",
           "compress", "spread", "/memcpy", "decompress", "spread", "/memcpy", "ratio", "PSNR",
           "err/bound");
    print_row(r, &r->zmpi, r->field->bytes, &r->copy, "memory");
    if (r->piece_bytes)
        print_row(r, &r->cached, r->piece_bytes, &r->piece_copy, "cache");
    for (int i = 0; i < r->peers; i++)
        print_row(r, &r->peer[i], r->field->bytes, &r->copy, "memory");
}

/* ---- JSON ---- */

static void number(const char *name, double value)
{
    printf("\"%s\": ", name);
    tool_json_number(value);
    printf(", ");
}

/* The slowest and the fastest repetition. */
static void limits(const char *name, size_t bytes, const struct bench_times *t)
{
    printf("\"%s\": [", name);
    tool_json_number(1e-9 * (double)bytes / bench_slowest(t));
    printf(", ");
    tool_json_number(1e-9 * (double)bytes / bench_fastest(t));
    printf("], ");
}

static void json_codec(const struct bench_result *r, const struct bench_codec *c)
{
    double compress = rate(r->field->bytes, &c->compress),
           decompress = rate(r->field->bytes, &c->decompress);
    double copy = rate(r->field->bytes, &r->copy);
    number("compress_gbps", compress);
    limits("compress_limits_gbps", r->field->bytes, &c->compress);
    number("compress_spread", bench_spread(&c->compress));
    number("decompress_gbps", decompress);
    limits("decompress_limits_gbps", r->field->bytes, &c->decompress);
    number("decompress_spread", bench_spread(&c->decompress));
    number("compress_over_memcpy", compress / copy);
    number("decompress_over_memcpy", decompress / copy);
    number("ratio", ratio_of(r, c));
    number("bits_per_value", bits_per_value(r, c));
    number("psnr", c->quality.psnr);
    number("max_error", c->quality.max_error);
    number("max_relative_error", c->quality.max_relative);
    number("max_error_over_bound", over_bound(r, c));
    printf("\"compressed_bytes\": %zu", c->size);
}

static void json_cached(const struct bench_result *r)
{
    printf(", \"cached\": {");
    number("memcpy_gbps", rate(r->piece_bytes, &r->piece_copy));
    number("compress_gbps", rate(r->piece_bytes, &r->cached.compress));
    number("decompress_gbps", rate(r->piece_bytes, &r->cached.decompress));
    number("tuning_share", bench_median(&r->piece_recall) / bench_median(&r->cached.compress));
    printf("\"bytes\": %zu}", r->piece_bytes);
}

void bench_print_json(const struct bench_result *r)
{
    const size_t *e = r->field->array.extent;
    char bound[40];
    zmpi_bound_format(&r->settings->bound, bound);
    printf("{\"field\": ");
    tool_json_string(r->field->name);
    printf(", \"type\": \"%s\", \"dims\": [%zu, %zu, %zu], \"bytes\": %zu, \"copies\": %zu, "
           "\"bound\": \"%s\", "
           "\"device\": \"%s\", \"encoder\": \"%s\", \"threads\": %d, \"repetitions\": %d, ",
           tool_type_name(r->field->array.type), e[0], e[1], e[2], r->field->bytes,
           r->field->copies, bound, r->settings->device->name, zmpi_encoder_name(r->job.encoder),
           r->job.threads, r->zmpi.compress.n);
    number("abs_bound", r->abs_bound);
    number("memcpy_gbps", rate(r->field->bytes, &r->copy));
    number("memcpy_spread", bench_spread(&r->copy));
    number("read_gbps", rate(r->field->bytes, &r->read));
    number("range_gbps", rate(r->field->bytes, &r->scan));
    number("compress_with_range_gbps", 1e-9 * (double)r->field->bytes / seconds_with_range(r));
    number("compress_with_range_over_memcpy", bench_median(&r->copy) / seconds_with_range(r));
    number("tuning_seconds", bench_median(&r->choice));
    number("tuning_share", bench_median(&r->choice) / bench_median(&r->zmpi.compress));
    char axes[5];
    axes_name(r->axes, axes);
    printf("\"axes\": \"%s\", \"kernels\": \"%s\", ", axes, zmpi_kernels()->name);
    json_codec(r, &r->zmpi);
    if (r->piece_bytes)
        json_cached(r);
    for (int i = 0; i < r->peers; i++) {
        printf("%s{\"name\": \"%s\", ", i ? ", " : ", \"peers\": [", r->peer[i].name);
        json_codec(r, &r->peer[i]);
        printf("}");
    }
    printf(r->peers ? "]}" : "}");
}
