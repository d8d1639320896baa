/* dry_rows.c - see dry_rows.h. */
#include "dry/dry_rows.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

/* The tenth of a second is for programs that are over at once. */
#define SHARE  0.02
#define ALWAYS 0.1

enum { KEPT = 1024, TEXT_MOST = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double began, spent;
static struct zdry_row *kept;
static size_t count;

void zdry_begin(void)
{
    began = zmpi_seconds();
}

double zdry_left(void)
{
    pthread_mutex_lock(&lock);
    const double left = ALWAYS + SHARE * (zmpi_seconds() - began) - spent;
    pthread_mutex_unlock(&lock);
    return left;
}

void zdry_spent(double seconds)
{
    pthread_mutex_lock(&lock);
    spent += seconds;
    pthread_mutex_unlock(&lock);
}

enum {
    SUMS = 3 + (int)(sizeof(struct zmpi_trials) / sizeof(double)),
    MOST = (int)(sizeof(struct zmpi_trial_most) / sizeof(double))
};

int zdry_sum(struct zdry_row *row, MPI_Comm comm)
{
    double sum[SUMS] = {row->calls, row->bytes, row->sampled}, sums[SUMS] = {0};
    struct zmpi_trial_most most = row->most;
    memcpy(sum + 3, &row->trials, sizeof row->trials);
    int rc = PMPI_Reduce(sum, sums, SUMS, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (!rc)
        rc = PMPI_Reduce((double *)&most, (double *)&row->most, MOST, MPI_DOUBLE, MPI_MAX, 0, comm);
    row->calls = sums[0];
    row->bytes = sums[1];
    row->sampled = sums[2];
    memcpy(&row->trials, sums + 3, sizeof row->trials);
    return rc;
}

void zdry_keep(const struct zdry_row *row)
{
    pthread_mutex_lock(&lock);
    struct zdry_row *grown = count < KEPT ? realloc(kept, (count + 1) * sizeof *kept) : NULL;
    if (grown) {
        kept = grown;
        kept[count++] = *row;
    }
    pthread_mutex_unlock(&lock);
}

size_t zdry_rows(const struct zdry_row **rows)
{
    *rows = kept;
    return count;
}

static const char *const codec[ZMPI_TRIAL_ENCODERS] = {"fle", "huffman", "interp"};

static const char *bound_name(const struct zdry_row *r, int i, char text[40])
{
    if (i == ZMPI_TRIAL_USER)
        return r->bound;
    const struct zmpi_bound b = zmpi_trial_bound(i, NULL);
    zmpi_bound_format(&b, text);
    return text;
}

static double ratio_of(const struct zmpi_trial_sum *s)
{
    return s->coded > 0 ? s->raw / s->coded : 0;
}

static void print_ratios(FILE *out, const struct zdry_row *r, int b)
{
    char text[40];
    fprintf(out, "  %s", bound_name(r, b, text));
    for (int e = 0; e < ZMPI_TRIAL_ENCODERS; e++)
        if (r->trials.sum[b][e].coded > 0)
            fprintf(out, "%s%.2f", e ? "/" : " ", ratio_of(&r->trials.sum[b][e]));
}

void zdry_print_text(FILE *out, const struct zdry_row *row, size_t n)
{
    if (n == 0)
        return;
    fputs("zmpi dry run: nothing was compressed. Ratios of samples by fle/huffman/interp, as far "
          "as there was time:\n",
          out);
    for (size_t i = 0; i < n && i < TEXT_MOST; i++) {
        const char *base = strrchr(row[i].name, '/');
        char name[61];
        zmpi_text_line(name, sizeof name, base ? base + 1 : row[i].name);
        fprintf(out, "zmpi %-28s %10.2f MB", name, row[i].bytes / 1e6);
        for (int b = 0; b < ZMPI_TRIAL_BOUNDS; b++)
            if (b != ZMPI_TRIAL_USER || row[i].bound[0])
                print_ratios(out, &row[i], b);
        fputc('\n', out);
    }
    if (n > TEXT_MOST)
        fprintf(out, "zmpi %zu more\n", n - TEXT_MOST);
    fputs("zmpi Rules from this run: zmpi advise FILE, where FILE is the JSON report (zmpi run "
          "--report FILE, or ZMPI_REPORT=FILE)\n",
          out);
}

static void print_estimate(FILE *out, const struct zdry_row *r, int b, int e)
{
    const struct zmpi_trial_sum *s = &r->trials.sum[b][e];
    const double times = r->bytes / s->raw, ratio = ratio_of(s);
    char text[40];
    fprintf(out,
            "{\"bound\": \"%s\", \"codec\": \"%s\", \"ratio\": %.6g, \"seconds\": %.6g, "
            "\"bytes_saved\": %.15g, \"bytes_tried\": %.15g, \"absolute_bound\": %.9g, "
            "\"share_of_range\": %.6g}",
            bound_name(r, b, text), codec[e], ratio, s->seconds * times, r->bytes * (1 - 1 / ratio),
            s->raw, r->most.bound[b], r->most.share[b]);
}

static void print_row(FILE *out, const struct zdry_row *r)
{
    bool begun = false;
    fputs(r->collective > 0 ? "    {\"collective\": " : "    {\"path\": ", out);
    zmpi_text_json(out, r->name);
    fprintf(out,
            ", \"bound\": \"%s\", \"ranks\": %.0f, \"calls\": %.0f, \"bytes\": %.15g, "
            "\"bytes_sampled\": %.15g, \"bytes_float\": %.15g, \"bytes_whole_numbers\": %.15g, "
            "\"estimates\": [",
            r->bound, r->ranks, r->calls, r->bytes, r->sampled, r->trials.floats, r->trials.whole);
    for (int b = 0; b < ZMPI_TRIAL_BOUNDS; b++)
        for (int e = 0; e < ZMPI_TRIAL_ENCODERS; e++)
            if (r->trials.sum[b][e].coded > 0) {
                fputs(begun ? ",\n      " : "\n      ", out);
                print_estimate(out, r, b, e);
                begun = true;
            }
    fputs("]}", out);
}

void zdry_print_json(FILE *out, const struct zdry_row *row, size_t n)
{
    if (n == 0)
        return;
    fputs("  \"dry_run\": [\n", out);
    for (size_t i = 0; i < n; i++) {
        print_row(out, &row[i]);
        fputs(i + 1 < n ? ",\n" : "\n", out);
    }
    fputs("  ],\n", out);
}
