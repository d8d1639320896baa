/* perf_results.c - from what all ranks did in all repetitions to a line of the table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app_common.h"
#include "perf.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *values, int count)
{
    double *sorted = app_allocate((size_t)count, sizeof *sorted);
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    return median;
}

/* Standard deviation over mean. */
static double variation(const double *values, int count)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    double mean = sum / count;
    for (int i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return count > 1 && mean > 0 ? sqrt(squares / (count - 1)) / mean : 0;
}

/* One rank's numbers, averaged over the repetitions. */
static struct perf_breakdown breakdown_of(const struct perf_part *parts, int rank, int ranks, int n)
{
    struct perf_breakdown b = {0};
    for (int i = 0; i < n; i++) {
        const struct perf_part *p = &parts[(size_t)i * (size_t)ranks + (size_t)rank];
        b.scan += p->scan / n;
        b.compress += p->compress / n;
        b.decode += p->decode / n;
        b.rest += (p->seconds - p->scan - p->compress - p->decode) / n;
    }
    return b;
}

/* The rest of the busiest rank's time counts until the last rank is done. */
static void break_down(struct perf_result *r, const struct perf_part *parts, int ranks)
{
    double most = -1, whole = 0;
    for (int i = 0; i < r->count; i++) {
        whole += r->seconds[i] / r->count;
    }
    for (int rank = 0; rank < ranks; rank++) {
        struct perf_breakdown b = breakdown_of(parts, rank, ranks, r->count);
        double coding = b.scan + b.compress + b.decode;
        if (coding > most) {
            most = coding;
            r->busiest = b;
            r->busiest.rest = whole - coding;
        }
        r->mean.scan += b.scan / ranks;
        r->mean.compress += b.compress / ranks;
        r->mean.decode += b.decode / ranks;
        r->mean.rest += b.rest / ranks;
    }
}

static double better(double best, double bytes, double seconds)
{
    return seconds > 0 && bytes > 0 ? fmax(best, bytes / seconds) : best;
}

void perf_result_make(struct perf_result *r, const struct perf_part *parts, int ranks)
{
    r->seconds = app_allocate((size_t)r->count, sizeof *r->seconds);
    for (int i = 0; i < r->count; i++) {
        bool compressed = false;
        for (int rank = 0; rank < ranks; rank++) {
            const struct perf_part *p = &parts[(size_t)i * (size_t)ranks + (size_t)rank];
            r->seconds[i] = fmax(r->seconds[i], p->seconds);
            for (int c = 0; c < PERF_COMPONENTS; c++) {
                r->largest[c] = fmax(r->largest[c], p->largest[c]);
            }
            r->compress_rate = better(r->compress_rate, p->coded, p->compress);
            r->scan_rate = better(r->scan_rate, p->coded, p->scan);
            r->decode_rate = better(r->decode_rate, p->decoded, p->decode);
            compressed = compressed || p->compressed > 0;
        }
        r->compressed += compressed ? 1 : 0;
    }
    r->median = median_of(r->seconds, r->count);
    r->cov = variation(r->seconds, r->count);
    break_down(r, parts, ranks);
}

void perf_table_head(void)
{
    printf("%-13s %-24s %7s %10s %6s %9s %8s %11s %10s\n", "operation", "variant", "ratio",
           "seconds", "CoV %", "MB/s", "speed-up", "compressed", "error");
}

double perf_largest(const double largest[PERF_COMPONENTS])
{
    double all = 0;
    for (int c = 0; c < PERF_COMPONENTS; c++) {
        all = fmax(all, largest[c]);
    }
    return all;
}

static void print_components(const struct perf_result *r, const struct perf_data *d)
{
    struct perf_range range[PERF_COMPONENTS];
    perf_ranges_clear(range);
    perf_data_range(d, 0, d->elements, range);
    for (int c = 0; c < d->components; c++) {
        const double width = range[c].max - range[c].min;
        printf("  component %-2d: %.6g to %.6g, error %.3g", c, range[c].min, range[c].max,
               r->largest[c]);
        if (width > 0) {
            printf(", %.2g of the range", r->largest[c] / width);
        }
        printf("\n");
    }
}

void perf_table_row(const struct perf_result *r, const struct perf_data *d)
{
    printf("%-13s %-24s %7.2f %10.5f %6.1f %9.1f %8.2f %6.0f of %-2d %9.3g\n", r->operation->name,
           perf_label(r->operation, r->variant), r->ratio, r->median, 100 * r->cov,
           r->bytes / r->median / 1e6, r->speedup, r->compressed, r->count,
           perf_largest(r->largest));
    if (d->components > 1 && r->variant->bound != NULL) {
        print_components(r, d);
    }
    fflush(stdout);
}
