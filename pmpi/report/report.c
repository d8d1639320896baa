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
#include "mpi/runtime.h"
#include "report/report.h"

enum {
    WRITTEN,
    STORED,
    READ,
    RECORDS,
    COMPRESS,
    WRITE_TIME,
    READ_TIME,
    COLLECTIVE,
    INDEPENDENT,
    OFFLOADED,
    READ_OFFLOADED,
    EXACT,    /* bytes that are no floats, though a bound is set */
    MISTYPED, /* bytes of floats in the other byte order, or of none, though a bound is set */
    BY_FLE,   /* bytes */
    BY_HUFFMAN,
    ALL_FLE, /* seconds that all of them would have taken, as estimated */
    ALL_HUFFMAN,
    SUMS
};

struct use {
    char device[32], why[96];
};

/* One closed file, summed over its ranks. Plain data: it travels as bytes. */
struct entry {
    char path[512];
    char bound[40];
    char bound_from[16],
        bound_overrides[40]; /* what set it; "", or what was set for the whole job */
    struct use by, read_by;  /* of the first rank */
    char codec[24];
    double sum[SUMS];
    double ranks;
    double ratio; /* asked; 0: something else was */
    bool plain;   /* given back as a plain file */
    bool hdf5;    /* HDF5 opened it */
    double coded[2];
    bool found;        /* a ratio or a psnr was asked */
    double largest[2]; /* bound that it took: absolute, as a part of the range */
    double flat;       /* share of the lossy values that became constants */
};

/* A program may close files a million times. Of more than these only sums are known: rows that a
 * process keeps, that rank 0 gets from all, that are printed as text. */
enum { KEPT_MOST = 4096, ROWS_MOST = 16384, TEXT_MOST = 200 };

/* Plain doubles: they are summed over all processes. */
struct more {
    double files, sum[SUMS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries; /* of the files whose first rank this process was */
static size_t entries_count, entries_room;
static struct more others;

static void add(struct more *m, const struct entry *e)
{
    m->files++;
    for (int i = 0; i < SUMS; i++)
        m->sum[i] += e->sum[i];
}

static void keep(const struct entry *e)
{
    pthread_mutex_lock(&lock);
    if (entries_count == entries_room && entries_room < KEPT_MOST) {
        size_t room = entries_room ? 2 * entries_room : 16;
        struct entry *grown = realloc(entries, room * sizeof *grown);
        if (grown) {
            entries = grown;
            entries_room = room;
        }
    }
    if (entries_count < entries_room)
        entries[entries_count++] = *e;
    else
        add(&others, e);
    pthread_mutex_unlock(&lock);
}

/* New files that stayed as they are: not selected by ZMPI_FILES, or without a bound. */
static struct {
    double count[2];
    char first[2][128];
} left_alone;

void zreport_left_alone(const char *path, bool selected)
{
    zmpi_log(ZMPI_LOG_INFO, "%s: left alone: %s", path,
             selected ? "no bound is set for it" : "ZMPI_FILES does not select it");
    if (selected)
        zruntime_no_bound();
    pthread_mutex_lock(&lock);
    if (left_alone.count[selected]++ <= 0)
        snprintf(left_alone.first[selected], sizeof *left_alone.first, "%s", path);
    pthread_mutex_unlock(&lock);
}

/* Errors up to `share` of the range, spread evenly, are a noise of so many decibels. */
static double decibels(double share)
{
    return -20 * log10(share / sqrt(3));
}

/* What a ratio costs may be most of the data. */
static void warn_of_noise(const struct zfile *f, const struct entry *e)
{
    const double share = e->largest[1], db = share > 0 ? decibels(share) : HUGE_VAL;
    if (db < 40)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: %s takes errors of up to %.2g %% of the range of the values, about %.0f dB: "
                 "little of them may be left; ZMPI_CODEC=huffman takes less",
                 f->path, e->bound, 100 * share, db);
}

/* Says so if it is less than was asked, or more at the cost of errors. */
static void note_ratio(const struct zfile *f, struct entry *e)
{
    const double got = e->coded[0] / e->coded[1];
    e->ratio = f->options.bound.value;
    if (!(e->coded[0] > 0) || fabs(got / e->ratio - 1) <= 0.05 ||
        (got > e->ratio && !(e->largest[0] > 0)))
        return;
    zmpi_log(ZMPI_LOG_WARN, "%s: %s cannot be had: it is %.4g, with errors up to %.4g", f->path,
             e->bound, got, e->largest[0]);
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

void zreport_file(struct zfile *f)
{
    if (f->call_rules) /* not that of the last call */
        f->options.bound = f->file_bound;
    const struct zstats *s = &f->stats;
    const struct zcodec_choice *c = &f->choice;
    const double coded = (double)(c->bytes[0] + c->bytes[1]);
    double mine[SUMS] = {[WRITTEN] = (double)s->n.bytes_written,
                         [STORED] = stored(f),
                         [READ] = (double)s->n.bytes_read,
                         [RECORDS] = (double)s->n.records,
                         [COMPRESS] = s->n.seconds_compress,
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
                         [ALL_FLE] = coded * zcodec_estimate(c, ZMPI_FLE),
                         [ALL_HUFFMAN] = coded * zcodec_estimate(c, ZMPI_HUFFMAN)};
    struct entry e = {.ranks = f->ranks, .plain = f->plain, .hdf5 = f->hdf5};
    if (PMPI_Reduce(mine, e.sum, SUMS, MPI_DOUBLE, MPI_SUM, 0, f->comm) ||
        PMPI_Reduce((double[]){s->ratio_raw, s->ratio_coded}, e.coded, 2, MPI_DOUBLE, MPI_SUM, 0,
                    f->comm) ||
        PMPI_Reduce((double[]){s->found_bound, s->found_share}, e.largest, 2, MPI_DOUBLE, MPI_MAX,
                    0, f->comm) ||
        zreport_lost(f, &e.flat) || f->rank)
        return;
    snprintf(e.path, sizeof e.path, "%s", f->path);
    note_use(&e.by, &f->offload.coded);
    note_use(&e.read_by, &f->offload.decoded);
    snprintf(e.codec, sizeof e.codec, "%s", f->options.codec);
    note_bound(f, &e);
    const enum zmpi_mode mode = f->options.bound_set ? f->options.bound.mode : ZMPI_LOSSLESS;
    e.found = mode == ZMPI_RATIO || mode == ZMPI_PSNR;
    if (mode == ZMPI_RATIO) {
        note_ratio(f, &e);
        warn_of_noise(f, &e);
    }
    if (e.sum[MISTYPED] > 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: its floats are in the other byte order, or no such floats: stored exactly, "
                 "whatever the bound",
                 f->path);
    keep(&e);
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* A plain file is as large as it would be without us, however little of it was written. */
static double ratio_of(const struct entry *e)
{
    return e->plain ? 1 : quotient(e->sum[WRITTEN], e->sum[STORED]);
}

/* What auto did, and what it takes each encoder to be worth. */
static void print_codec(FILE *out, const struct entry *e)
{
    const double *s = e->sum, all = s[BY_FLE] + s[BY_HUFFMAN];
    if (strcmp(e->codec, "fle") != 0)
        fprintf(out, ", %s", e->codec);
    if (strcmp(e->codec, "auto") == 0 && all > 0)
        fprintf(out, ": %.0f %% huffman (all fle %.3f s, all huffman %.3f s)",
                100 * s[BY_HUFFMAN] / all, s[ALL_FLE] / e->ranks, s[ALL_HUFFMAN] / e->ranks);
}

static void print_more(FILE *out, const struct more *m)
{
    char name[40];
    snprintf(name, sizeof name, "%.0f more", m->files);
    fprintf(out, "zmpi %-28s %10.2f %10.2f %7.2f %10s %10s %10.2f\n", name, m->sum[WRITTEN] / 1e6,
            m->sum[STORED] / 1e6, quotient(m->sum[WRITTEN], m->sum[STORED]), "-", "-",
            m->sum[READ] / 1e6);
}

/* The bound that a ratio or a psnr took, and what it does to the values. */
static void describe_found(const struct entry *e, char text[80])
{
    if (!(e->largest[0] > 0))
        snprintf(text, 80, " (without loss)");
    else if (e->largest[1] > 0)
        snprintf(text, 80, " (abs=%.4g, %.2g %% of the range, %.0f dB)", e->largest[0],
                 100 * e->largest[1], decibels(e->largest[1]));
    else
        snprintf(text, 80, " (abs=%.4g)", e->largest[0]);
}

static void print_text(FILE *out, const struct entry *e, size_t n)
{
    struct more rest = others;
    for (; n > TEXT_MOST; n--)
        add(&rest, &e[n - 1]);
    if (n == 0 && rest.files <= 0)
        return;
    fprintf(out, "zmpi %-28s %10s %10s %7s %10s %10s %10s  %s\n", "file", "MB written", "MB stored",
            "ratio", "compress s", "write s", "MB read", "bound, device");
    for (size_t i = 0; i < n; i++) {
        const char *base = strrchr(e[i].path, '/');
        const double *s = e[i].sum;
        char name[61];
        zmpi_text_line(name, sizeof name, base ? base + 1 : e[i].path);
        char found[80] = "";
        if (e[i].found)
            describe_found(&e[i], found);
        char ratio[32] = "-"; /* of a file that was only read; its bound is in the file */
        if (s[WRITTEN] > 0)
            snprintf(ratio, sizeof ratio, "%.2f", ratio_of(&e[i]));
        fprintf(out, "zmpi %-28s %10.2f %10.2f %7s %10.3f %10.3f %10.2f  ", name, s[WRITTEN] / 1e6,
                s[STORED] / 1e6, ratio, s[COMPRESS] / e[i].ranks, s[WRITE_TIME] / e[i].ranks,
                s[READ] / 1e6);
        if (s[WRITTEN] > 0) {
            fprintf(out, "%s%s", e[i].bound, found);
            if (e[i].bound_overrides[0])
                fprintf(out, " (%s, not %s)", e[i].bound_from, e[i].bound_overrides);
            fprintf(out, ", %s", e[i].by.device);
            print_codec(out, &e[i]);
        } else {
            fputs("nothing written", out);
        }
        if (s[READ_OFFLOADED] > 0)
            fprintf(out, ", %.2f MB decoded by devices", s[READ_OFFLOADED] / 1e6);
        if (s[EXACT] > 0)
            fprintf(out, "; %.2f MB exact: not of a float type", s[EXACT] / 1e6);
        if (s[MISTYPED] > 0)
            fprintf(out, "; %.2f MB exact: in the other byte order, or no such floats",
                    s[MISTYPED] / 1e6);
        if (e[i].plain)
            fputs("; plain again", out);
        else if (e[i].hdf5)
            fputs("; an HDF5 file inside (zmpi decompress)", out);
        fputc('\n', out);
    }
    if (rest.files > 0)
        print_more(out, &rest);
}

static const char *const sum_name[] = {"bytes_written",
                                       "bytes_stored",
                                       "bytes_read",
                                       "records",
                                       "seconds_compress",
                                       "seconds_write",
                                       "seconds_read",
                                       "collective_calls",
                                       "independent_calls",
                                       "bytes_offloaded",
                                       "bytes_decoded_offloaded",
                                       "bytes_exact",
                                       "bytes_other_byte_order",
                                       "bytes_fle",
                                       "bytes_huffman",
                                       "estimate_fle",
                                       "estimate_huffman"};

static void print_json_file(FILE *out, const struct entry *e)
{
    const int most = strcmp(e->codec, "auto") == 0 ? SUMS : BY_FLE;
    fputs("    {\"path\": ", out);
    zmpi_text_json(out, e->path);
    fprintf(out, ", \"bound\": \"%s\", \"bound_from\": \"%s\"", e->bound, e->bound_from);
    if (e->bound_overrides[0])
        fprintf(out, ", \"bound_overrides\": \"%s\"", e->bound_overrides);
    fputs(", \"device\": ", out);
    zmpi_text_json(out, e->by.device);
    fputs(", \"device_why\": ", out);
    zmpi_text_json(out, e->by.why);
    fputs(", \"read_device\": ", out);
    zmpi_text_json(out, e->read_by.device);
    fputs(", \"read_device_why\": ", out);
    zmpi_text_json(out, e->read_by.why);
    fprintf(out, ", \"ranks\": %.0f, \"ratio\": %.6g", e->ranks, ratio_of(e));
    fprintf(out, ", \"codec\": \"%s\"", e->codec);
    for (int i = 0; i < most; i++)
        fprintf(out, ", \"%s\": %.15g", sum_name[i], e->sum[i]);
    if (e->plain)
        fputs(", \"plain_again\": true", out);
    if (e->hdf5)
        fputs(", \"hdf5\": true", out);
    if (e->found)
        fprintf(out, ", \"largest_bound\": %.15g, \"largest_bound_of_range\": %.6g", e->largest[0],
                e->largest[1]);
    if (e->found && e->largest[1] > 0)
        fprintf(out, ", \"psnr\": %.4g", decibels(e->largest[1]));
    fprintf(out, ", \"share_constant\": %.6g", e->flat);
    fputc('}', out);
}

static void print_json_more(FILE *out, const struct more *m)
{
    if (m->files <= 0)
        return;
    fprintf(out, "  \"more_files\": {\"files\": %.0f", m->files);
    for (int i = 0; i < BY_FLE; i++)
        fprintf(out, ", \"%s\": %.15g", sum_name[i], m->sum[i]);
    fputs("},\n", out);
}

/* What ZMPI_FILES does not select is mostly meant so, and mostly one line; a wrong glob looks the
 * same. Without any bound MPI_Init has said so. */
static void print_left_alone(FILE *out, const double count[2])
{
    static const char *const why[] = {"not selected by ZMPI_FILES", "without a bound"};
    for (int i = 0; i < 2; i++) {
        if (count[i] <= 0)
            continue;
        fprintf(out, "zmpi %.0f new %s left alone: %s", count[i], count[i] > 1 ? "files" : "file",
                why[i]);
        char first[61];
        if (zmpi_text_line(first, sizeof first, left_alone.first[i]) > 0)
            fprintf(out, " (%s%s)", count[i] > 1 ? "the first is " : "", first);
        fputc('\n', out);
    }
}

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
static void print_json(const char *path, const struct entry *e, size_t n, const double left[2])
{
    FILE *out = open_report(path);
    if (!out) {
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_REPORT=%s: cannot be written: %s", path, strerror(errno));
        return;
    }
    fprintf(out, "{\n  \"zmpi\": \"%s\",\n  \"files\": [\n", zmpi_version());
    for (size_t i = 0; i < n; i++) {
        print_json_file(out, &e[i]);
        fputs(i + 1 < n ? ",\n" : "\n", out);
    }
    fputs("  ],\n", out);
    print_json_more(out, &others);
    fprintf(out, "  \"new_files_not_selected\": %.0f,\n  \"new_files_without_bound\": %.0f,\n",
            left[0], left[1]);
    zreport_collectives_json(out);
    fprintf(out, "}\n");
    const bool failed = ferror(out);
    if (fclose(out) || failed)
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_REPORT=%s: cannot be written: %s", path, strerror(errno));
}

/* At once, so that nothing of other ranks comes in between. */
static bool say(const struct entry *e, size_t n, const double left[2])
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return false;
    print_text(out, e, n);
    if (left)
        print_left_alone(out, left);
    zreport_collectives_text(out, n > 0 || others.files > 0);
    const bool failed = ferror(out), made = fclose(out) == 0 && !failed;
    if (made)
        zmpi_log_text(text, size);
    free(text);
    return made;
}

/* So many that rank 0 has room for those of all processes. Collective. */
static int cut_entries(void)
{
    double mine[2] = {(double)entries_count, entries_count > 0}, all[2];
    int rc = PMPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!rc && all[0] > ROWS_MOST)
        while ((double)entries_count > floor(ROWS_MOST / all[1]))
            add(&others, &entries[--entries_count]);
    return rc ? rc
              : PMPI_Allreduce(MPI_IN_PLACE, (double *)&others,
                               (int)(sizeof others / sizeof(double)), MPI_DOUBLE, MPI_SUM,
                               MPI_COMM_WORLD);
}

/* All ranks' entries on rank 0, `total` of them; the caller frees them. NULL: elsewhere, or no
 * memory for a report. */
static struct entry *collect(int rank, int ranks, size_t total)
{
    int mine = (int)(entries_count * sizeof *entries), at = 0, ready = 1;
    int *sizes = NULL, *places = NULL;
    struct entry *all = NULL;
    if (rank == 0) {
        sizes = calloc((size_t)ranks, sizeof *sizes);
        places = calloc((size_t)ranks, sizeof *places);
        all = malloc(total * sizeof *all + 1);
        ready = sizes && places && all;
    }
    if (!PMPI_Bcast(&ready, 1, MPI_INT, 0, MPI_COMM_WORLD) && ready &&
        !PMPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
        for (int i = 0; rank == 0 && i < ranks; at += sizes[i++])
            places[i] = at;
        PMPI_Gatherv(entries, mine, MPI_BYTE, all, sizes, places, MPI_BYTE, 0, MPI_COMM_WORLD);
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
    double any[3], mine[3] = {(double)entries_count, left_alone.count[0], left_alone.count[1]};
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool collectives = zreport_collectives_sum();
    if (PMPI_Allreduce(mine, any, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
        return;
    const bool left = bounds && any[1] + any[2] > 0;
    if (any[0] <= 0 && others.files <= 0 && !collectives && !left && !o->report[0])
        return;
    const size_t n = (size_t)any[0];
    struct entry *all = collect(rank, ranks, n);
    bool said = all;
    const locale_t program = zmpi_decimal_begin();
    if (rank == 0 && all) {
        if (o->report_text)
            said = say(all, n, left ? any + 1 : NULL);
        if (o->report[0])
            print_json(o->report, all, n, any + 1);
    }
    zmpi_decimal_end(program);
    if (rank == 0 && !said)
        zmpi_log(ZMPI_LOG_WARN, "no memory for the report");
    free(all);
}
