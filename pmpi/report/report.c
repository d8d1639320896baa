/* report.c - what was done, at MPI_Finalize: a table on standard error, or JSON. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/text.h"
#include "collective/coll.h"
#include "dry/dry_rows.h"
#include "mpi/runtime.h"
#include "mpi/timeline.h"
#include "report/entry.h"
#include "report/left.h"
#include "report/report.h"

/* A program may close files a million times. Of more than these only sums are known: rows that a
 * process keeps, that rank 0 gets from all. And the text of their write calls: of a process, of
 * all. */
enum { KEPT_MOST = 4096, ROWS_MOST = 16384, CALLS_MOST = 1 << 20, ALL_CALLS_MOST = 64 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries; /* of the files whose first rank this process was */
static size_t entries_count, entries_capacity;
static struct more others;
static char *calls; /* text of the entries' write calls, in their order */
static size_t calls_size;

/* Appends it to the others', if it fits. */
static size_t keep_calls(const char *text, size_t size)
{
    char *grown =
        text && calls_size + size <= CALLS_MOST ? realloc(calls, calls_size + size) : NULL;
    if (!grown)
        return 0;
    memcpy(grown + calls_size, text, size);
    calls = grown;
    calls_size += size;
    return size;
}

/* text: of its write calls, or NULL. */
static void keep(struct entry *e, const char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    if (entries_count == entries_capacity && entries_capacity < KEPT_MOST) {
        size_t capacity = entries_capacity ? 2 * entries_capacity : 16;
        struct entry *grown = realloc(entries, capacity * sizeof *grown);
        if (grown) {
            entries = grown;
            entries_capacity = capacity;
        }
    }
    if (entries_count < entries_capacity) {
        e->calls = size ? keep_calls(text, size) : 0;
        entries[entries_count++] = *e;
    } else
        zentry_add(&others, e);
    pthread_mutex_unlock(&lock);
}

/* The encoder that makes more of the same errors, if there is one. */
static const char *smaller_encoder(const struct zfile *f)
{
    enum zmpi_variant variant;
    const int encoder = zmpi_options_encoder(&f->options, &variant);
    return encoder == ZMPI_INTERP ? NULL : zmpi_encoder_name(encoder + 1);
}

/* What a ratio or a psnr takes may be most of the data. A psnr is what was asked for, or more. */
static void warn_of_noise(const struct zfile *f, const struct entry *e, enum zmpi_mode mode)
{
    enum { LITTLE = 40 };
    const double share = e->largest[1], computed = share > 0 ? zentry_decibels(share) : HUGE_VAL,
                 db = mode == ZMPI_PSNR && share > 0 ? f->options.bound.value : computed;
    const char *encoder = mode == ZMPI_RATIO ? smaller_encoder(f) : NULL;
    if (db < LITTLE)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: %s takes errors of up to %.2g %% of the range, about %.0f dB: little of the "
                 "data may be left%s%s%s",
                 f->path, e->bound, 100 * share, db, encoder ? "; ZMPI_CODEC=" : "",
                 encoder ? encoder : "", encoder ? " makes smaller errors" : "");
}

/* Says so if it is less than was asked, or more at the cost of errors. */
static void note_ratio(const struct zfile *f, struct entry *e)
{
    const double got = e->coded[0] / e->coded[1];
    e->ratio = f->options.bound.value;
    if (!(e->coded[0] > 0) || fabs(got / e->ratio - 1) <= 0.05 ||
        (got > e->ratio && !(e->largest[0] > 0)))
        return;
    const char *smaller = got < e->ratio ? smaller_encoder(f) : NULL;
    zmpi_log(ZMPI_LOG_WARN, "%s: asked for %s, got ratio %.4g, with errors up to %.4g%s%s", f->path,
             e->bound, got, e->largest[0], smaller ? "; smaller with ZMPI_CODEC=" : "",
             smaller ? smaller : "");
}

static void note_use(struct use *u, const struct zmpi_use *use)
{
    snprintf(u->device, sizeof u->device, "%s", zmpi_use_device(use)->name);
    snprintf(u->why, sizeof u->why, "%s", use->why);
}

/* What a rank's data took. */
static double stored(const struct zfile *f)
{
    if (f->plain)
        return f->rank == 0 ? (double)f->container.logical_size : 0;
    return (double)f->stats.n.bytes_stored;
}

static void note_bound(const struct zfile *f, struct entry *e)
{
    const struct zmpi_options *job = zruntime_options();
    const size_t i = zmpi_option_index("error_bound");
    if (f->options.bound_set)
        zmpi_bound_format(&f->options.bound, e->bound);
    else
        snprintf(e->bound, sizeof e->bound, "lossless");
    snprintf(e->bound_from, sizeof e->bound_from, "%s", zmpi_option_from(&f->options, i));
    if (zmpi_option_overrides(&f->options, job, i))
        zmpi_bound_format(&job->bound, e->bound_overrides);
}

/* What this rank adds to the sums of all. */
static void sums_here(const struct zfile *f, double sum[SUMS])
{
    const struct zstats *s = &f->stats;
    const struct zmpi_codec_choice *c = &f->choice;
    const double coded = (double)(c->bytes[0] + c->bytes[1]);
    const double n[SUMS] = {[WRITTEN] = (double)s->n.bytes_written,
                            [STORED] = stored(f),
                            [READ] = (double)s->n.bytes_read,
                            [RECORDS] = (double)s->n.records,
                            [RANGE] = s->n.seconds_scan,
                            [COMPRESS] = s->n.seconds_compress,
                            [WAIT] = s->seconds_wait,
                            [WRITE_TIME] = s->n.seconds_write,
                            [READ_TIME] = s->n.seconds_read,
                            [COLLECTIVE] = (double)s->collective_calls,
                            [INDEPENDENT] = (double)s->independent_calls,
                            [OFFLOADED] = (double)f->offload.coded.bytes,
                            [READ_OFFLOADED] = (double)f->offload.decoded.bytes,
                            [EXACT] = (double)s->bytes_exact,
                            [MISTYPED] = (double)s->bytes_mistyped,
                            [BY_FLE] = (double)c->bytes[0],
                            [BY_HUFFMAN] = (double)c->bytes[1],
                            [ALL_FLE] = coded * zmpi_codec_estimate(c, ZMPI_FLE),
                            [ALL_HUFFMAN] = coded * zmpi_codec_estimate(c, ZMPI_HUFFMAN),
                            [LOOKED] = s->bytes_looked,
                            [LOOK_F32] = s->bytes_look_f32,
                            [LOOK_F64] = s->bytes_look_f64,
                            [WOULD] = s->bytes_would};
    memcpy(sum, n, sizeof n);
}

void zreport_file(struct zfile *f)
{
    if (!zmpi_option_is_hint(&f->options, "error_bound")) /* not that of the last call */
        f->options.bound = f->file_bound;
    const struct zstats *s = &f->stats;
    double mine[SUMS];
    sums_here(f, mine);
    size_t size = 0;
    char *text = zreport_calls(f, &size);
    struct entry e = {.ranks = f->ranks,
                      .plain = f->plain,
                      .hdf5 = f->hdf5,
                      .datasets = f->hdf5 && zmpi_rules_dataset(&f->options, NULL, NULL),
                      .call_rules = f->call_rules};
    if (PMPI_Reduce(mine, e.sum, SUMS, MPI_DOUBLE, MPI_SUM, 0, f->comm) ||
        PMPI_Reduce((double[]){s->ratio_raw, s->ratio_coded}, e.coded, 2, MPI_DOUBLE, MPI_SUM, 0,
                    f->comm) ||
        PMPI_Reduce((double[]){s->found_bound, s->found_share}, e.largest, 2, MPI_DOUBLE, MPI_MAX,
                    0, f->comm) ||
        zreport_lost(f, &e.flat) || f->rank) {
        free(text);
        return;
    }
    snprintf(e.path, sizeof e.path, "%s", f->path);
    note_use(&e.by, &f->offload.coded);
    note_use(&e.read_by, &f->offload.decoded);
    snprintf(e.codec, sizeof e.codec, "%s", zmpi_options_codec(&f->options));
    note_bound(f, &e);
    const enum zmpi_mode mode = f->options.bound_set ? f->options.bound.mode : ZMPI_LOSSLESS;
    e.found = mode == ZMPI_RATIO || mode == ZMPI_PSNR;
    if (mode == ZMPI_RATIO)
        note_ratio(f, &e);
    if (e.found)
        warn_of_noise(f, &e, mode);
    if (e.sum[MISTYPED] > 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: its floats are in the other byte order, or do not look like floats: they are "
                 "exact (ZMPI_ELEMENT_TYPE=auto compresses big-endian floats)",
                 f->path);
    keep(&e, text, size);
    free(text);
}

/* Plain files of all processes, on rank 0. */
struct all_left {
    struct left *list; /* malloc */
    size_t count;
    struct zleft_more more;
};

/* Of a dry run, the same. */
struct all_dry {
    struct zdry_row *list; /* malloc */
    size_t count;
};

/* A pipe that nobody reads is an error at once, and does not keep the job from its end. */
static FILE *open_report(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        return NULL;
    FILE *out = fdopen(fd, "w");
    if (!out)
        close(fd);
    return out;
}

/* Seconds are sums over ranks; times of one rank are these divided by "ranks". */
static void print_json(const char *path, const struct entry *e, size_t n, const char *text,
                       const struct all_left *left, const struct all_dry *dry)
{
    FILE *out = open_report(path);
    if (!out) {
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_REPORT=%s: cannot be written: %s", path, strerror(errno));
        return;
    }
    fprintf(out, "{\n  \"zmpi\": \"%s\",\n  \"version\": 1,\n  \"files\": [\n", zmpi_version());
    for (size_t i = 0; i < n; i++) {
        zentry_print_json(out, &e[i], text);
        fputs(i + 1 < n ? ",\n" : "\n", out);
        text += text ? e[i].calls : 0;
    }
    fputs("  ],\n", out);
    zentry_print_json_more(out, &others);
    zleft_print_json(out, left->list, left->count, &left->more);
    ztimeline_print_json(out);
    zdry_print_json(out, dry->list, dry->count);
    zreport_collectives_json(out);
    fprintf(out, "}\n");
    const bool failed = ferror(out);
    if (fclose(out) || failed)
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_REPORT=%s: cannot be written: %s", path, strerror(errno));
}

/* At once, so that nothing of other ranks comes in between. */
static bool say(const struct entry *e, size_t n, const struct all_left *left,
                const struct all_dry *dry)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return false;
    zentry_print_text(out, e, n, &others);
    if (left)
        zleft_print_text(out, left->list, left->count, &left->more);
    zdry_print_text(out, dry->list, dry->count);
    zreport_collectives_text(out, n > 0 || others.files > 0);
    const bool failed = ferror(out), made = fclose(out) == 0 && !failed;
    if (made)
        zmpi_log_text(text, size);
    free(text);
    return made;
}

static void drop_last(void)
{
    zentry_add(&others, &entries[--entries_count]);
    calls_size -= entries[entries_count].calls;
}

/* The number of rows each process may send, so that rank 0 has memory for all. Collective. */
static int cut_entries(void)
{
    double mine[2] = {(double)entries_count, entries_count > 0}, all[2];
    int rc = PMPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!rc && all[0] > ROWS_MOST)
        while ((double)entries_count > floor(ROWS_MOST / all[1]))
            drop_last();
    return rc ? rc
              : PMPI_Allreduce(MPI_IN_PLACE, (double *)&others,
                               (int)(sizeof others / sizeof(double)), MPI_DOUBLE, MPI_SUM,
                               MPI_COMM_WORLD);
}

/* The `size` bytes of all ranks behind each other on rank 0, `total` of them; the caller frees
 * them. NULL: elsewhere, or no memory. Collective. */
static void *collect(int rank, int ranks, const void *part, size_t size, size_t total)
{
    int mine = (int)size, at = 0, ready = 1;
    int *sizes = NULL, *places = NULL;
    void *all = NULL;
    if (rank == 0) {
        sizes = calloc((size_t)ranks, sizeof *sizes);
        places = calloc((size_t)ranks, sizeof *places);
        all = malloc(total + 1);
        ready = sizes && places && all;
    }
    if (!PMPI_Bcast(&ready, 1, MPI_INT, 0, MPI_COMM_WORLD) && ready &&
        !PMPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
        for (int i = 0; rank == 0 && i < ranks; at += sizes[i++])
            places[i] = at;
        PMPI_Gatherv(part, mine, MPI_BYTE, all, sizes, places, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    free(sizes);
    free(places);
    if (ready)
        return all;
    free(all);
    return NULL;
}

void zreport_finalize(void)
{
    const struct zmpi_options *o = zruntime_options();
    const bool bounds = o->bound_set || zmpi_rules_set(o, "error_bound");
    if (cut_entries())
        return;
    const struct left *left_here;
    const size_t left_count = zleft_list(&left_here);
    const struct zleft_more more = zleft_more();
    const struct zdry_row *dry_here;
    const size_t dry_count = zdry_rows(&dry_here);
    double any[7], mine[7] = {(double)entries_count, (double)left_count,     more.new_not_selected,
                              (double)calls_size,    more.new_without_bound, more.all,
                              (double)dry_count};
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ztimeline_sum();
    bool collectives = zreport_collectives_sum();
    if (PMPI_Allreduce(mine, any, 7, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
        return;
    const bool left = bounds && any[1] > 0;
    if (any[0] <= 0 && others.files <= 0 && !collectives && !left && any[6] <= 0 && !o->report[0])
        return;
    const size_t n = (size_t)any[0];
    struct entry *all =
        collect(rank, ranks, entries, entries_count * sizeof *entries, n * sizeof *entries);
    char *text = any[3] > 0 && any[3] <= ALL_CALLS_MOST
                     ? collect(rank, ranks, calls, calls_size, (size_t)any[3])
                     : NULL;
    struct all_left all_left = {.count = (size_t)any[1], .more = {any[2], any[4], any[5]}};
    all_left.list = collect(rank, ranks, left_here, left_count * sizeof *left_here,
                            all_left.count * sizeof *left_here);
    if (!all_left.list)
        all_left.count = 0;
    struct all_dry dry = {.count = (size_t)any[6]};
    dry.list =
        collect(rank, ranks, dry_here, dry_count * sizeof *dry_here, dry.count * sizeof *dry_here);
    if (!dry.list)
        dry.count = 0;
    bool said = all;
    const locale_t program = zmpi_decimal_begin();
    if (rank == 0 && all) {
        if (o->report_text)
            said = say(all, n, left ? &all_left : NULL, &dry);
        if (o->report[0])
            print_json(o->report, all, n, text, &all_left, &dry);
    }
    zmpi_decimal_end(program);
    if (rank == 0 && !said)
        zmpi_log(ZMPI_LOG_WARN, "no memory for the report");
    free(dry.list);
    free(all_left.list);
    free(text);
    free(all);
}
