/*
 * zmpi-perf: what zmpi makes of the speed of MPI, measured beside MPI without it.
 *
 * All variants of an operation (plain, and every bound, mode, codec and device asked for) take
 * turns, so that what else the machine does meets all of them alike. Every value that arrives is
 * checked against what was sent and the bound, in every repetition and outside the time.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_common.h"
#include "perf.h"

const char *perf_label(const struct perf_operation *op, const struct perf_variant *v)
{
    return op->is_file ? v->file_label : v->label;
}

/* ---- variants ---- */

static void set_up(struct perf_variant *v, const struct perf_options *o)
{
    char components[16];
    MPI_Comm_dup(MPI_COMM_WORLD, &v->comm);
    MPI_Comm_set_name(v->comm, v->label);
    if (v->bound == NULL) {
        return;
    }
    perf_library_comm(v, "error_bound", v->bound);
    perf_library_comm(v, "collective_mode", v->mode);
    perf_library_comm(v, "codec", v->codec);
    perf_library_comm(v, "device", v->device);
    if (o->components > 0) {
        snprintf(components, sizeof components, "%d", o->components);
        perf_library_comm(v, "components", components);
    }
}

static struct perf_variant variant(const struct perf_options *o, int i)
{
    struct perf_variant v = {.bound = o->bounds.word[i % o->bounds.count]};
    i /= o->bounds.count;
    v.codec = o->codecs.word[i % o->codecs.count];
    i /= o->codecs.count;
    v.device = o->devices.word[i % o->devices.count];
    i /= o->devices.count;
    v.mode = o->modes.word[i];
    v.first_mode = i == 0;
    int n = snprintf(v.file_label, sizeof v.file_label, "%.40s", v.bound);
    if (o->codecs.count > 1) {
        n += snprintf(v.file_label + n, sizeof v.file_label - (size_t)n, " %.30s", v.codec);
    }
    if (o->devices.count > 1) {
        snprintf(v.file_label + n, sizeof v.file_label - (size_t)n, " %.30s", v.device);
    }
    snprintf(v.label, sizeof v.label, "%s%s%.30s", v.file_label, o->modes.count > 1 ? " " : "",
             o->modes.count > 1 ? v.mode : "");
    return v;
}

static int make_variants(const struct perf_options *o, struct perf_variant *v)
{
    int n = 1, more = o->bounds.count * o->codecs.count * o->devices.count * o->modes.count;
    v[0] = (struct perf_variant){.label = "plain", .file_label = "plain", .first_mode = true};
    set_up(&v[0], o);
    for (int i = 0; !o->plain && i < more; i++) {
        v[n] = variant(o, i);
        v[n].number = n;
        set_up(&v[n++], o);
    }
    return n;
}

/* ---- one operation ---- */

struct measurement {
    const struct perf_operation *operation;
    struct perf_run run[PERF_VARIANTS];
    struct perf_part *parts[PERF_VARIANTS]; /* rank 0: of all repetitions and ranks */
    double stored[PERF_VARIANTS], raw[PERF_VARIANTS];
    int variants;
};

static void name_file(struct perf_run *r)
{
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(r->path, sizeof r->path, "%.4000s/%d-%d%s", r->options->directory, id,
             r->variant->number, r->variant->bound != NULL ? perf_suffix : perf_suffix_plain);
}

/* Repetition number `n` of all variants; below 0 it is a warm-up. */
static void repeat_all(struct measurement *m, int n)
{
    for (int i = 0; i < m->variants; i++) {
        struct perf_part mine = {0}, *all = NULL;
        const struct perf_data *d = m->run[i].data;
        struct perf_part scratch[1];
        m->run[i].warmup = n < 0;
        m->operation->repeat(&m->run[i], m->operation, &mine);
        double bytes[2] = {mine.raw, mine.stored}, sum[2];
        MPI_Reduce(bytes, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (n < 0 || m->raw[i] == 0) {
            m->raw[i] = sum[0];
            m->stored[i] = sum[1];
        }
        all = n >= 0 && d->rank == 0 ? m->parts[i] + (size_t)n * (size_t)d->ranks : scratch;
        if (n >= 0) {
            MPI_Gather(&mine, PERF_PART_DOUBLES, MPI_DOUBLE, all, PERF_PART_DOUBLES, MPI_DOUBLE, 0,
                       MPI_COMM_WORLD);
        }
    }
}

static void begin(struct measurement *m, const struct perf_options *o, const struct perf_data *d,
                  const struct perf_variant *v, int variants)
{
    size_t send = m->operation->send_elements(d), recv = m->operation->recv_elements(d);
    unsigned char *to = app_allocate(recv, d->width), *from = app_allocate(send, d->width);
    perf_data_fill(d, from, send == d->block ? (size_t)d->rank * d->block : 0, send);
    for (int i = 0; i < variants; i++) {
        if (m->operation->is_file && !v[i].first_mode) {
            continue;
        }
        struct perf_run *r = &m->run[m->variants];
        *r = (struct perf_run){.options = o, .data = d, .variant = &v[i], .send = from, .recv = to};
        name_file(r);
        m->parts[m->variants++] =
            app_allocate((size_t)o->repetitions * (size_t)d->ranks, sizeof(struct perf_part));
    }
}

static void end(struct measurement *m)
{
    free(m->run[0].send);
    free(m->run[0].recv);
    for (int i = 0; i < m->variants; i++) {
        free(m->parts[i]);
    }
}

/* Appends to results, on rank 0. */
static int measure(const struct perf_operation *op, const struct perf_options *o,
                   const struct perf_data *d, const struct perf_variant *v, int variants,
                   struct perf_result *results)
{
    struct measurement *m = app_allocate(1, sizeof *m);
    m->operation = op;
    begin(m, o, d, v, variants);
    for (int n = -o->warmups; n < o->repetitions; n++) {
        for (int i = 0; n == -o->warmups && i < m->variants && op->prepare != NULL; i++) {
            op->prepare(&m->run[i], op);
        }
        repeat_all(m, n);
    }
    for (int i = 0; i < m->variants; i++) {
        if (op->finish != NULL) {
            op->finish(&m->run[i], op);
        }
        if (d->rank == 0) {
            struct perf_result *r = &results[i];
            *r = (struct perf_result){.operation = op,
                                      .variant = m->run[i].variant,
                                      .count = o->repetitions,
                                      .bytes = op->bytes(d),
                                      .ratio = m->stored[i] > 0 ? m->raw[i] / m->stored[i] : 1};
            perf_result_make(r, m->parts[i], d->ranks);
            r->speedup = results[0].median / r->median;
            perf_table_row(r, d);
        }
    }
    int count = m->variants;
    end(m);
    free(m);
    return count;
}

int main(int argc, char **argv)
{
    struct perf_options o;
    struct perf_data d = {0};
    struct perf_machine machine;
    static struct perf_variant variants[PERF_VARIANTS];
    app_set_name("zmpi-perf");
    perf_options_parse(argc, argv, &o);
    perf_library_prepare(&o);
    MPI_Init(&argc, &argv);
    perf_data_make(&d, &o);
    if (!o.plain && !perf_library_there()) {
        app_fail_together("libzmpi.so is not in front of MPI: preload it (LD_PRELOAD), or measure "
                          "MPI alone (--plain)");
    }
    perf_machine_find(&machine);
    int kinds = make_variants(&o, variants), count = 0;
    struct perf_result *results =
        app_allocate((size_t)kinds * (size_t)o.operations.count, sizeof *results);
    if (d.rank == 0) {
        perf_table_head();
    }
    for (int i = 0; i < o.operations.count; i++) {
        const char *name = o.operations.word[i];
        const struct perf_operation *op = perf_file_operation(name);
        count += measure(op != NULL ? op : perf_collective_operation(name), &o, &d, variants, kinds,
                         results + count);
    }
    if (d.rank == 0 && o.self_test) {
        printf("self-test: all falsified values were found\n");
    }
    if (d.rank == 0 && o.json != NULL) {
        perf_json_write(&o, &d, &machine, results, count);
    }
    for (int i = 0; i < count; i++) {
        free(results[i].seconds);
    }
    free(results);
    perf_data_free(&d);
    for (int i = 0; i < kinds; i++) {
        MPI_Comm_free(&variants[i].comm);
    }
    MPI_Finalize();
    return 0;
}
