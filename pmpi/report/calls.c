/*
 * calls.c - the first write calls of a file: which number, which kind, as a rule for calls needs
 * it. For the report as JSON, and for the file. Of collective calls what all ranks wrote, of
 * independent ones the first rank's that has any.
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
enum { SUMS = 6 + 2 * ZNOTE_PARTS, MAXIMA = 4 + 4 * ZNOTE_PARTS, TAG = 1 };

static bool is_known(const struct zmpi_range *r)
{
    return r->min <= r->max;
}

static void to_numbers(const struct znote *n, double *sum, double *most)
{
    const double sums[] = {n->values, n->raw, n->stored, n->by[1], n->by[2], n->by[3]},
                 maxima[] = {n->type, n->bound.mode, n->bound.value, n->exact};
    memcpy(sum, sums, sizeof sums);
    memcpy(most, maxima, sizeof maxima);
    sum += 6;
    most += 4;
    for (int c = 0; c < ZNOTE_PARTS; c++, sum += 2, most += 4) {
        const bool known = is_known(&n->range[c]);
        most[0] = n->abs_bound[c];
        most[1] = known ? n->range[c].max : -HUGE_VAL;
        most[2] = known ? -n->range[c].min : -HUGE_VAL;
        most[3] = n->measured[c].largest;
        sum[0] = n->measured[c].squares;
        sum[1] = n->measured[c].count;
    }
}

/* A rank that has no data of a call knows no bound; one whose data are exact does not tell of the
 * others'. */
static void from_numbers(struct znote *n, const double *sum, const double *most)
{
    n->values = sum[0];
    n->raw = sum[1];
    n->stored = sum[2];
    memcpy(&n->by[1], sum + 3, 3 * sizeof *sum);
    n->type = (enum zmpi_type)most[0];
    n->bound = (struct zmpi_bound){(enum zmpi_mode)most[1], most[2]};
    n->exact = n->bound.mode == ZMPI_LOSSLESS ? (enum zmpi_exact_why)most[3] : ZMPI_EXACT_NOT;
    sum += 6;
    most += 4;
    for (int c = 0; c < ZNOTE_PARTS; c++, sum += 2, most += 4) {
        n->abs_bound[c] = most[0];
        n->range[c].max = most[1];
        n->range[c].min = -most[2];
        n->measured[c] = (struct zmpi_measured){most[3], sum[0], sum[1]};
    }
}

static int number_of(uint64_t calls)
{
    return calls < ZNOTES ? (int)calls : ZNOTES;
}

/* The notes of all ranks to those of rank 0, as far as they tell of the whole call. sum, most: for
 * n of them, then for all ranks' n. */
static int sum_up(struct zfile *f, int n, double *sum, double *most)
{
    struct znote *note = f->notes.note[ZNOTES_COLLECTIVE];
    double *sums = sum + n * SUMS, *maxima = most + n * MAXIMA;
    for (int i = 0; i < n; i++)
        to_numbers(&note[i], sum + i * SUMS, most + i * MAXIMA);
    int rc = PMPI_Reduce(sum, sums, n * SUMS, MPI_DOUBLE, MPI_SUM, 0, f->comm);
    rc = rc ? rc : PMPI_Reduce(most, maxima, n * MAXIMA, MPI_DOUBLE, MPI_MAX, 0, f->comm);
    for (int i = 0; i < n && !rc && !f->rank; i++)
        from_numbers(&note[i], sums + i * SUMS, maxima + i * MAXIMA);
    return rc;
}

/* The n own calls of a rank to rank 0, whose own make room for them. */
static int take_own(struct zfile *f, int n, struct znote **room)
{
    struct znotes *all = &f->notes;
    const int size = n * (int)sizeof **room;
    if (all->rank > 0 && f->rank == all->rank)
        return PMPI_Send(all->note[ZNOTES_OWN], size, MPI_BYTE, 0, TAG, f->comm);
    if (all->rank <= 0 || f->rank)
        return MPI_SUCCESS;
    struct znote *own = all->note[ZNOTES_OWN];
    all->note[ZNOTES_OWN] = *room;
    all->count[ZNOTES_OWN] = (size_t)n;
    *room = own;
    return PMPI_Recv(all->note[ZNOTES_OWN], size, MPI_BYTE, all->rank, TAG, f->comm,
                     MPI_STATUS_IGNORE);
}

/* Collective: after it rank 0 has the notes of all, and all have the same count. False: no memory,
 * or no notes. */
static bool gather(struct zfile *f)
{
    struct znotes *all = &f->notes;
    const int own = number_of(f->stats.independent_calls), n = number_of(f->stats.collective_calls);
    if (all->summed)
        return true;
    double *sum = malloc(2 * (size_t)n * SUMS * sizeof *sum + 1),
           *most = malloc(2 * (size_t)n * MAXIMA * sizeof *most + 1);
    struct znote *room = f->rank ? NULL : malloc(ZNOTES * sizeof *room);
    const bool have = sum && most && (room || f->rank) &&
                      znotes_have(f, ZNOTES_COLLECTIVE, (size_t)n) &&
                      znotes_have(f, ZNOTES_OWN, (size_t)own);
    /* The first rank with own calls, and how many; whether all have memory. */
    int64_t mine[2] = {own ? (int64_t)f->rank * (ZNOTES + 1) + own : INT64_MAX, have}, least[2];
    int rc = PMPI_Allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, f->comm);
    bool done = !rc && least[1] && (n || least[0] != INT64_MAX);
    if (done) {
        all->rank = least[0] == INT64_MAX ? -1 : (int)(least[0] / (ZNOTES + 1));
        rc = n ? sum_up(f, n, sum, most) : MPI_SUCCESS;
        rc = rc ? rc : take_own(f, (int)(least[0] % (ZNOTES + 1)), &room);
        done = all->summed = !rc;
    }
    free(room);
    free(most);
    free(sum);
    return done;
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

/* ---- groups of calls in a row that are alike ---- */

struct group {
    struct zmpi_call call;
    const struct znote *note; /* of the first of them */
    struct zmpi_measured measured[ZNOTE_PARTS];
};

static int encoder_of(const double by[4])
{
    int most = 0;
    for (int e = 1; e < 4; e++)
        if (by[e] > (most ? by[most] : 0))
            most = e;
    return most;
}

static void add_measured(struct zmpi_measured *m, const struct zmpi_measured *more)
{
    m->largest = fmax(m->largest, more->largest);
    m->squares += more->squares;
    m->count += more->count;
}

static struct zmpi_call_part part_of(const struct group *g, int c, double abs_bound)
{
    const struct zmpi_range *range = &g->note->range[c];
    const struct zmpi_measured *m = &g->measured[c];
    const bool known = is_known(range), coded = g->call.exact || g->call.raw;
    const double error = m->count > 0              ? m->largest
                         : coded && abs_bound == 0 ? 0 // NOLINT
                                                   : (double)NAN;
    return (struct zmpi_call_part){.min = known ? range->min : (double)NAN,
                                   .max = known ? range->max : (double)NAN,
                                   .abs_bound = coded ? abs_bound : (double)NAN,
                                   .error = error};
}

/* The next group, of calls from *at on; n: all of them. False: there is none. */
static bool next_group(const struct znote *note, int n, int *at, int rank, struct group *g)
{
    double raw = 0, stored = 0, by[4] = {0}, bound[ZNOTE_PARTS] = {0};
    while (*at < n && note[*at].type == 0)
        ++*at;
    if (*at == n)
        return false;
    const struct znote *first = &note[*at];
    *g = (struct group){.note = first};
    struct zmpi_call *c = &g->call;
    c->first = (uint32_t)*at + 1;
    for (const struct znote *k = first; *at < n && alike(first, k); k++, ++*at) {
        raw += k->raw;
        stored += k->stored;
        for (int i = 1; i < 4; i++)
            by[i] += k->by[i];
        for (int i = 0; i < ZNOTE_PARTS; i++) {
            bound[i] = fmax(bound[i], k->abs_bound[i]);
            add_measured(&g->measured[i], &k->measured[i]);
        }
    }
    c->last = (uint32_t)*at;
    c->rank = rank;
    c->type = first->type;
    c->components = first->components ? first->components : 1;
    c->encoder = encoder_of(by);
    c->exact = first->exact;
    c->shape_from = first->shape_from;
    for (int i = 0; i < 3; i++)
        c->shape[i] = first->shape[i];
    c->bound = first->bound;
    c->values = (uint64_t)first->values;
    c->raw = (uint64_t)raw;
    c->stored = (uint64_t)stored;
    c->sampled = znote_has_samples(first);
    c->parts = (unsigned)parts_of(first);
    for (int i = 0; i < (int)c->parts; i++)
        c->part[i] = part_of(g, i, bound[i]);
    return true;
}

/* Calls each of them with the entry, collective calls first. */
static void for_each(const struct zfile *f, void (*take)(void *, const struct group *),
                     void *context)
{
    const struct znotes *all = &f->notes;
    struct group g;
    const int n = number_of(f->stats.collective_calls);
    for (int at = 0; next_group(all->note[ZNOTES_COLLECTIVE], n, &at, -1, &g);)
        take(context, &g);
    const int own = all->rank > 0    ? (int)all->count[ZNOTES_OWN]
                    : all->rank == 0 ? number_of(f->stats.independent_calls)
                                     : 0;
    for (int at = 0; next_group(all->note[ZNOTES_OWN], own, &at, all->rank, &g);)
        take(context, &g);
}

/* ---- as JSON ---- */

/* Decibels; +inf: no error was seen, or the range is not known. */
static double psnr_of(const struct zmpi_range *range, const struct zmpi_measured *m)
{
    const double width = range->max - range->min;
    return is_known(range) && width > 0 && m->squares > 0
               ? 10 * log10(width * width / (m->squares / m->count))
               : HUGE_VAL;
}

static void print_decibels(FILE *out, const struct group *g)
{
    fputs(", \"psnr_on_samples\": [", out);
    for (int c = 0; c < (int)g->call.parts; c++) {
        const double db = psnr_of(&g->note->range[c], &g->measured[c]);
        fputs(c ? ", " : "", out);
        if (isfinite(db))
            fprintf(out, "%.9g", db);
        else
            fputs("null", out);
    }
    fputc(']', out);
}

struct text {
    FILE *out;
    bool begun;
};

static void print_group(void *context, const struct group *g)
{
    struct text *t = context;
    char fills[80];
    const double from = znote_fill(g->note);
    zmpi_fills_format(&g->note->fills, fills);
    fputs(t->begun ? ", {" : "{", t->out);
    t->begun = true;
    zmpi_call_json(t->out, &g->call);
    print_decibels(t->out, g);
    fputs(", \"fill_from\": ", t->out);
    if (isfinite(from))
        fprintf(t->out, "%.9g", from);
    else
        fputs("null", t->out);
    fprintf(t->out, ", \"fill\": [%s]}", fills);
}

char *zreport_calls(struct zfile *f, size_t *size)
{
    char *text = NULL;
    *size = 0;
    if (!zruntime_options()->report[0] || !gather(f) || f->rank)
        return NULL;
    struct text t = {open_memstream(&text, size), false};
    if (!t.out)
        return NULL;
    const locale_t program = zmpi_decimal_begin();
    for_each(f, print_group, &t);
    zmpi_decimal_end(program);
    if (fclose(t.out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- in the file ---- */

static void list_group(void *context, const struct group *g)
{
    struct zmpi_calls *list = context;
    if (list->count < ZMPI_CALLS_MOST)
        list->call[list->count++] = g->call;
    else
        list->more = true;
}

void zreport_calls_section(struct zfile *f, uint64_t file_size)
{
    enum { SHARE = 100 }; /* of the file is the most that it may take */
    struct zsection *s = &f->section;
    if (file_size / SHARE < ZMPI_CALLS_LEAST || !gather(f) || f->rank)
        return;
    struct zmpi_calls *list = calloc(1, sizeof *list);
    if (!list)
        return;
    list->appended = f->size_before > 0;
    list->more = f->stats.collective_calls > ZNOTES || f->stats.independent_calls > ZNOTES;
    for_each(f, list_group, list);
    const size_t size = zmpi_calls_size(list);
    s->bytes = list->count && size <= file_size / SHARE ? malloc(size) : NULL;
    if (s->bytes) {
        s->size = size;
        zmpi_calls_encode(list, s->bytes);
    }
    free(list);
}
