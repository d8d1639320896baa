/* coll_report.c - counts what happened to collective operations, for the report at MPI_Finalize. */
#include <math.h>
#include <stdio.h>

#include "collective/coll.h"
#include "mpi/runtime.h"
#include "wrappers.h"

/* One operation. Calls and seconds are those of the ranks that count them (roots, else ranks 0),
 * bytes those that all ranks sent. Plain doubles: they are summed over all processes. */
struct row {
    double calls[ZCALL_KINDS];
    double passed;               /* bytes of calls that were not compressed */
    double raw, sent;            /* of calls that were compressed */
    double decoded;              /* bytes of these that other devices than the CPU decoded */
    double seconds[ZCALL_KINDS]; /* of measured calls */
    double saved[ZCALL_KINDS];   /* seconds compared with the other way, as far as known */
    /* Of compressed calls whose encoder auto chose, for each encoder: */
    double calls_by[ZCODECS], raw_by[ZCODECS], sent_by[ZCODECS];
    double coding_by[ZCODECS], seconds_by[ZCODECS];
    double all_by[ZCODECS];          /* seconds that all of them would have taken, estimated */
    double link_bytes, link_seconds; /* over the network, in measured calls */
    double by_time;                  /* lossy calls in which measured time decided */
};

/* Functions that are counted, but never compressed. */
struct passed {
    double calls, bytes;
};

static struct {
    struct row row[ZOPS];
    struct passed passed[ZPASSED];
} mine, all;

enum { DOUBLES = sizeof mine / sizeof(double) };

/* The largest absolute bound that gave a ratio, for each operation. */
static double bounds[ZOPS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_choice(struct row *r, const struct zcall_outcome *o)
{
    const int by = o->chosen - 1;
    r->raw_by[by] += o->raw;
    r->sent_by[by] += o->sent;
    r->coding_by[by] += o->coding;
    if (!o->counts)
        return;
    r->calls_by[by]++;
    r->seconds_by[by] += o->seconds;
    const bool known = o->all[ZMPI_FLE - 1] > 0 && o->all[ZMPI_HUFFMAN - 1] > 0;
    for (int k = 0; k < ZCODECS; k++) /* a first call counts as if the encoder made no difference */
        r->all_by[k] += known ? o->all[k] : o->seconds;
}

void zreport_saved(enum zop op, enum zcall_kind kind, double seconds)
{
    pthread_mutex_lock(&lock);
    mine.row[op].saved[kind] += seconds;
    pthread_mutex_unlock(&lock);
}

void zreport_link(enum zop op, double bytes, double seconds)
{
    pthread_mutex_lock(&lock);
    mine.row[op].link_bytes += bytes;
    mine.row[op].link_seconds += seconds;
    pthread_mutex_unlock(&lock);
}

void zreport_collective(const struct zcall_outcome *o)
{
    struct row *r = &mine.row[o->op];
    pthread_mutex_lock(&lock);
    if (o->kind == ZCALL_COMPRESSED) {
        r->raw += o->raw;
        r->sent += o->sent;
        r->decoded += o->decoded;
        bounds[o->op] = fmax(bounds[o->op], o->ratio_bound);
        if (o->chosen)
            add_choice(r, o);
    } else {
        r->passed += o->raw;
    }
    if (o->counts) {
        r->by_time += o->by_time;
        r->calls[o->kind]++;
        r->seconds[o->kind] += o->seconds;
    }
    pthread_mutex_unlock(&lock);
}

static void add(int function, double bytes)
{
    pthread_mutex_lock(&lock);
    mine.passed[function].calls++;
    mine.passed[function].bytes += bytes;
    pthread_mutex_unlock(&lock);
}

static bool counting(void)
{
    return zruntime_agreed() && zruntime_options()->bound_set;
}

static int blocks_of(MPI_Comm comm)
{
    int inter = 0, n = 0;
    if (PMPI_Comm_test_inter(comm, &inter))
        return 0;
    return (inter ? PMPI_Comm_remote_size(comm, &n) : PMPI_Comm_size(comm, &n)) ? 0 : n;
}

void zpassed(int function, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
             bool per_rank)
{
    if (!counting() || comm == MPI_COMM_NULL)
        return;
    double bytes = buf == MPI_IN_PLACE ? 0 : (double)zside_bytes(count, datatype);
    add(function, per_rank && bytes > 0 ? bytes * blocks_of(comm) : bytes);
}

void zpassed_each(int function, const void *buf, const void *counts, size_t width,
                  MPI_Datatype datatype, MPI_Comm comm)
{
    const int *small = counts;
    const MPI_Count *large = counts;
    double bytes = 0;
    if (!counting() || comm == MPI_COMM_NULL)
        return;
    int n = buf == MPI_IN_PLACE ? 0 : blocks_of(comm);
    for (int i = 0; i < n; i++)
        bytes += (double)zside_bytes(width == sizeof *small ? small[i] : large[i], datatype);
    add(function, bytes);
}

/* ---- at the end ---- */

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double calls_of(const struct row *r)
{
    double n = 0;
    for (int k = 0; k < ZCALL_KINDS; k++)
        n += r->calls[k];
    return n;
}

bool zreport_collectives_sum(void)
{
    pthread_mutex_lock(&lock);
    all = mine;
    pthread_mutex_unlock(&lock);
    if (PMPI_Allreduce(MPI_IN_PLACE, (double *)&all, DOUBLES, MPI_DOUBLE, MPI_SUM,
                       MPI_COMM_WORLD) ||
        PMPI_Allreduce(MPI_IN_PLACE, bounds, ZOPS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD))
        return false;
    double calls = 0;
    for (int i = 0; i < ZOPS; i++)
        calls += calls_of(&all.row[i]);
    for (int i = 0; i < ZPASSED; i++)
        calls += all.passed[i].calls;
    return calls > 0;
}

/* Prints the choices of ZMPI_CODEC=auto, and its estimate of each encoder's time. */
static void print_choice(FILE *out, const struct row *r)
{
    if (r->calls_by[0] + r->calls_by[1] == 0)
        return;
    fprintf(out, ", auto: %.0f calls by huffman (all fle %.3f s, all huffman %.3f s",
            r->calls_by[ZMPI_HUFFMAN - 1], r->all_by[ZMPI_FLE - 1], r->all_by[ZMPI_HUFFMAN - 1]);
    if (r->link_seconds > 0) /* else no call has measured it */
        fprintf(out, "; link %.4g MB/s a rank", r->link_bytes / r->link_seconds / 1e6);
    fprintf(out, ")");
}

static void print_row(FILE *out, enum zop op, const struct row *r)
{
    double saved = r->saved[ZCALL_COMPRESSED] + r->saved[ZCALL_RAW_FASTER];
    fprintf(out, "zmpi %s: %.0f calls", zop_name(op), calls_of(r));
    if (r->calls[ZCALL_COMPRESSED] > 0)
        fprintf(out, "; %.0f compressed: %.2f MB sent as %.2f MB, ratio %.2f, %.3f s",
                r->calls[ZCALL_COMPRESSED], r->raw / 1e6, r->sent / 1e6, quotient(r->raw, r->sent),
                r->seconds[ZCALL_COMPRESSED]);
    if (bounds[op] > 0)
        fprintf(out, ", errors up to %.4g", bounds[op]);
    if (r->decoded > 0)
        fprintf(out, ", %.2f MB decoded by devices", r->decoded / 1e6);
    print_choice(out, r);
    if (r->calls[ZCALL_RAW_FASTER] > 0)
        fprintf(out, "; %.0f uncompressed, as a trial or because that is faster",
                r->calls[ZCALL_RAW_FASTER]);
    if (r->calls[ZCALL_RAW_NODE] > 0)
        fprintf(out, "; %.0f uncompressed, inside one node", r->calls[ZCALL_RAW_NODE]);
    if (r->calls[ZCALL_PASSED] > 0)
        fprintf(out, "; %.0f passed unchanged", r->calls[ZCALL_PASSED]);
    if (saved < 0 || saved > 0)
        fprintf(out, "; about %.3f s %s", saved < 0 ? -saved : saved, saved < 0 ? "lost" : "saved");
    if (r->by_time > 0)
        fprintf(out, "; numbers vary from run to run, within the bound (measured)");
    fputc('\n', out);
}

/* Says nothing if the program wrote nothing compressed and sent nothing that could have been
 * compressed. */
void zreport_collectives_text(FILE *out, bool speak)
{
    double bytes = 0;
    for (int i = 0; i < ZOPS; i++) {
        const struct row *r = &all.row[i];
        bytes += r->passed;
        if (calls_of(r) > r->calls[ZCALL_PASSED]) {
            print_row(out, (enum zop)i, r);
            speak = true;
        }
    }
    for (int i = 0; i < ZPASSED; i++)
        bytes += all.passed[i].bytes;
    if (bytes > 0 && speak)
        fprintf(out, "zmpi collectives: %.2f MB passed as they are\n", bytes / 1e6);
}

static void print_json_choice(FILE *out, const struct row *r)
{
    if (!(r->calls_by[0] + r->calls_by[1] > 0))
        return;
    fprintf(out, ", \"codec\": \"auto\", \"link_bytes_per_second\": %.6g",
            quotient(r->link_bytes, r->link_seconds));
    for (int k = 0; k < ZCODECS; k++) {
        const char *name = zmpi_encoder_name(k + 1);
        fprintf(out,
                ", \"calls_%s\": %.0f, \"bytes_%s\": %.0f, \"bytes_sent_%s\": %.0f, "
                "\"seconds_%s\": %.9g, \"seconds_coding_%s\": %.9g, \"estimate_%s\": %.9g",
                name, r->calls_by[k], name, r->raw_by[k], name, r->sent_by[k], name,
                r->seconds_by[k], name, r->coding_by[k], name, r->all_by[k]);
    }
}

static void print_json_row(FILE *out, enum zop op, const struct row *r)
{
    fprintf(out,
            "    {\"name\": \"%s\", \"calls\": %.0f, \"calls_compressed\": %.0f, "
            "\"calls_raw_faster\": %.0f, \"calls_raw_node\": %.0f, \"calls_passed\": %.0f, "
            "\"calls_by_time\": %.0f, "
            "\"bytes\": %.0f, \"bytes_sent\": %.0f, \"bytes_decoded_offloaded\": %.0f, "
            "\"ratio\": %.6g, \"bytes_passed\": %.0f, "
            "\"seconds\": %.9g, \"seconds_raw\": %.9g, \"seconds_saved\": %.9g, "
            "\"seconds_saved_raw\": %.9g",
            zop_name(op), calls_of(r), r->calls[ZCALL_COMPRESSED], r->calls[ZCALL_RAW_FASTER],
            r->calls[ZCALL_RAW_NODE], r->calls[ZCALL_PASSED], r->by_time, r->raw, r->sent,
            r->decoded, quotient(r->raw, r->sent), r->passed, r->seconds[ZCALL_COMPRESSED],
            r->seconds[ZCALL_RAW_FASTER], r->saved[ZCALL_COMPRESSED], r->saved[ZCALL_RAW_FASTER]);
    if (bounds[op] > 0)
        fprintf(out, ", \"largest_bound\": %.15g", bounds[op]);
    print_json_choice(out, r);
    fputc('}', out);
}

void zreport_collectives_json(FILE *out)
{
    const char *between = "\n";
    fputs("  \"collectives\": [", out);
    for (int i = 0; i < ZOPS; i++)
        if (calls_of(&all.row[i]) > 0) {
            fputs(between, out);
            print_json_row(out, (enum zop)i, &all.row[i]);
            between = ",\n";
        }
    fputs("\n  ],\n  \"passed\": [", out);
    between = "\n";
    for (int i = 0; i < ZPASSED; i++)
        if (all.passed[i].calls > 0) {
            fprintf(out, "%s    {\"name\": \"%s\", \"calls\": %.0f, \"bytes\": %.0f}", between,
                    zpassed_names[i], all.passed[i].calls, all.passed[i].bytes);
            between = ",\n";
        }
    fputs("\n  ]\n", out);
}
