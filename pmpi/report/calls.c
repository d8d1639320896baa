/*
 * calls.c - the first write calls of a file as JSON: which number, which kind, as a rule for calls
 * needs it. Of collective calls what all ranks wrote, of independent ones the first rank's that has
 * any.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "mpi/runtime.h"
#include "report/report.h"

/* Numbers of all ranks: sums, then maxima. */
enum { SUMS = 3 + 2 * ZNOTE_PARTS, MAXIMA = 1 + 4 * ZNOTE_PARTS };

static bool is_known(const struct zmpi_range *r)
{
    return r->min <= r->max;
}

static void to_numbers(const struct znote *n, double *sum, double *most)
{
    sum[0] = n->values;
    sum[1] = n->raw;
    sum[2] = n->stored;
    most[0] = n->type;
    for (int c = 0; c < ZNOTE_PARTS; c++) {
        const bool known = is_known(&n->range[c]);
        most[1 + 4 * c] = n->abs_bound[c];
        most[2 + 4 * c] = known ? n->range[c].max : -HUGE_VAL;
        most[3 + 4 * c] = known ? -n->range[c].min : -HUGE_VAL;
        most[4 + 4 * c] = n->measured[c].largest;
        sum[3 + 2 * c] = n->measured[c].squares;
        sum[4 + 2 * c] = n->measured[c].count;
    }
}

static void from_numbers(struct znote *n, const double *sum, const double *most)
{
    n->values = sum[0];
    n->raw = sum[1];
    n->stored = sum[2];
    n->type = (enum zmpi_type)most[0];
    for (int c = 0; c < ZNOTE_PARTS; c++) {
        n->abs_bound[c] = most[1 + 4 * c];
        n->range[c].max = most[2 + 4 * c];
        n->range[c].min = -most[3 + 4 * c];
        n->measured[c] = (struct zmpi_measured){most[4 + 4 * c], sum[3 + 2 * c], sum[4 + 2 * c]};
    }
}

/* The notes of all ranks to those of rank 0, as far as they tell of the whole call. */
static int sum_up(const struct zfile *f, struct znote *note, int n)
{
    double *sum = calloc(2 * ZNOTES, SUMS * sizeof *sum),
           *most = calloc(2 * ZNOTES, MAXIMA * sizeof *most);
    int rc = zruntime_all(f->comm, sum && most) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!rc) {
        double *sums = sum + ZNOTES * SUMS, *maxima = most + ZNOTES * MAXIMA;
        for (int i = 0; i < n; i++)
            to_numbers(&note[i], sum + i * SUMS, most + i * MAXIMA);
        rc = PMPI_Reduce(sum, sums, n * SUMS, MPI_DOUBLE, MPI_SUM, 0, f->comm);
        rc = rc ? rc : PMPI_Reduce(most, maxima, n * MAXIMA, MPI_DOUBLE, MPI_MAX, 0, f->comm);
        for (int i = 0; i < n && !rc && !f->rank; i++)
            from_numbers(&note[i], sums + i * SUMS, maxima + i * MAXIMA);
    }
    free(sum);
    free(most);
    return rc;
}

static int number_of(uint64_t calls)
{
    return calls < ZNOTES ? (int)calls : ZNOTES;
}

/* The independent calls of the first rank that has any, to all. *n: how many, 0: nobody has. */
static int take_independent(const struct zfile *f, struct znote *note, int *n, int *rank)
{
    int mine = f->stats.independent_calls ? f->rank : INT_MAX;
    *n = number_of(f->stats.independent_calls);
    int rc = PMPI_Allreduce(&mine, rank, 1, MPI_INT, MPI_MIN, f->comm);
    if (rc || *rank == INT_MAX)
        return rc;
    rc = PMPI_Bcast(n, 1, MPI_INT, *rank, f->comm);
    return rc ? rc : PMPI_Bcast(note, *n * (int)sizeof *note, MPI_BYTE, *rank, f->comm);
}

static int parts_of(const struct znote *n)
{
    const int parts = abs(n->components);
    return parts < 1 ? 1 : parts < ZNOTE_PARTS ? parts : ZNOTE_PARTS;
}

/* One line for calls that are alike, but for what they took. */
static bool alike(const struct znote *a, const struct znote *b)
{
    bool same = a->type == b->type && a->components == b->components && a->exact == b->exact &&
                memcmp(a->shape, b->shape, sizeof a->shape) == 0 && a->values >= b->values &&
                a->values <= b->values && memcmp(&a->bound, &b->bound, sizeof a->bound) == 0;
    for (int c = 0; c < parts_of(a) && same && !a->exact; c++)
        same = memcmp(&a->range[c], &b->range[c], 2 * sizeof(double)) == 0;
    return same;
}

static void print_number(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fputs("null", out);
}

static void print_ranges(FILE *out, const struct znote *n)
{
    fputs(", \"ranges\": [", out);
    for (int c = 0; c < parts_of(n); c++) {
        fputs(c ? ", [" : "[", out);
        const bool known = is_known(&n->range[c]);
        print_number(out, known ? n->range[c].min : HUGE_VAL);
        fputs(", ", out);
        print_number(out, known ? n->range[c].max : HUGE_VAL);
        fputc(']', out);
    }
    fprintf(out, "], \"ranges_on_samples\": %s, \"absolute_bounds\": [",
            znote_has_samples(n) ? "true" : "false");
    for (int c = 0; c < parts_of(n); c++) {
        fputs(c ? ", " : "", out);
        print_number(out, n->abs_bound[c]);
    }
    fputc(']', out);
}

/* Decibels; +inf: no error was seen, or the range is not known. */
static double psnr_of(const struct zmpi_range *range, const struct zmpi_measured *m)
{
    const double width = range->max - range->min;
    return is_known(range) && width > 0 && m->squares > 0
               ? 10 * log10(width * width / (m->squares / m->count))
               : HUGE_VAL;
}

/* Null where no record was measured. */
static void print_measured(FILE *out, const struct znote *n)
{
    fputs(", \"errors_on_samples\": [", out);
    for (int c = 0; c < parts_of(n); c++) {
        fputs(c ? ", " : "", out);
        print_number(out, n->measured[c].count > 0 ? n->measured[c].largest : HUGE_VAL);
    }
    fputs("], \"psnr_on_samples\": [", out);
    for (int c = 0; c < parts_of(n); c++) {
        fputs(c ? ", " : "", out);
        print_number(out, psnr_of(&n->range[c], &n->measured[c]));
    }
    fputc(']', out);
}

static void print_call(FILE *out, const struct znote *n, int first, int last, int rank)
{
    static const char *const type[] = {"", "f32", "f64", "i32", "i64", "bytes"};
    char bound[40], fills[80];
    zmpi_bound_format(&n->bound, bound);
    zmpi_fills_format(&n->fills, fills);
    fprintf(out, "{\"call\": %d, \"to\": %d", first, last);
    if (rank >= 0)
        fprintf(out, ", \"rank\": %d", rank);
    fprintf(out, ", \"values\": %.0f, \"type\": \"%s\", \"components\": %d", n->values,
            type[n->type], n->components);
    if (n->shape[2])
        fprintf(out, ", \"shape\": [%zu, %zu, %zu], \"shape_from\": \"%s\", \"bound\": \"%s\"",
                n->shape[0], n->shape[1], n->shape[2], zshape_from_name(n->shape_from), bound);
    if (n->exact)
        fprintf(out, ", \"exact\": \"%s\"", zexact_name(n->exact));
    print_ranges(out, n);
    print_measured(out, n);
    fputs(", \"fill_from\": ", out);
    print_number(out, znote_fill(n));
    fprintf(out, ", \"fill\": [%s]", fills);
    fputs(", \"ratio\": ", out);
    print_number(out, n->stored > 0 ? n->raw / n->stored : HUGE_VAL);
    fputc('}', out);
}

static void print_calls(FILE *out, const struct znote *note, int n, int rank, bool *begun)
{
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && alike(&note[i], &note[end]);)
            end++;
        if (note[i].type == 0)
            continue;
        fputs(*begun ? ", " : "", out);
        print_call(out, &note[i], i + 1, end, rank);
        *begun = true;
    }
}

static char *text_of(const struct znotes *notes, const int n[2], int rank, size_t *size)
{
    char *text = NULL;
    bool begun = false;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    const locale_t program = zmpi_decimal_begin();
    print_calls(out, notes->collective, n[0], -1, &begun);
    print_calls(out, notes->independent, n[1], rank, &begun);
    zmpi_decimal_end(program);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *zreport_calls(struct zfile *f, size_t *size)
{
    *size = 0;
    if (!zruntime_options()->report[0])
        return NULL;
    int n[2] = {number_of(f->stats.collective_calls), 0}, rank = 0;
    if (!zruntime_all(f->comm, znotes_make(f)) || sum_up(f, f->notes->collective, n[0]) ||
        take_independent(f, f->notes->independent, &n[1], &rank) || f->rank || n[0] + n[1] == 0)
        return NULL;
    return text_of(f->notes, n, rank, size);
}
