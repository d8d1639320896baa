/* perf_json.c - everything that zmpi-perf measured, for scripts/perf_plots.py and perf_model.py. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app_common.h"
#include "perf.h"

/* ---- the machine ---- */

static void find_cpu(char *text, size_t capacity)
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "r");
    snprintf(text, capacity, "unknown");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, capacity, "%.200s", colon + 2);
            break;
        }
    }
    if (in != NULL) {
        fclose(in);
    }
}

static double load_average(void)
{
    double load = -1;
    FILE *in = fopen("/proc/loadavg", "r");
    if (in != NULL) {
        if (fscanf(in, "%lf", &load) != 1) {
            load = -1;
        }
        fclose(in);
    }
    return load;
}

/* Different names of processors. */
static int count_nodes(void)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length, ranks, nodes = 0;
    MPI_Get_processor_name(mine, &length);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *all = app_allocate((size_t)ranks, sizeof mine);
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        int first = 0;
        while (strcmp(all + (size_t)first * sizeof mine, all + (size_t)i * sizeof mine) != 0) {
            first++;
        }
        nodes += first == i;
    }
    free(all);
    return nodes;
}

static void find_date(char *text, size_t room)
{
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm) == NULL || strftime(text, room, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        text[0] = '\0';
    }
}

void perf_machine_find(struct perf_machine *m)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    snprintf(m->mpi, sizeof m->mpi, "%.200s", version);
    find_cpu(m->cpu, sizeof m->cpu);
    m->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    m->load = load_average();
    find_date(m->date, sizeof m->date);
    m->nodes = count_nodes();
}

/* ---- JSON ---- */

static void put_text(FILE *out, const char *text)
{
    if (text == NULL) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fputc('\\', out);
        }
        if (c < 0x20) {
            fprintf(out, "\\u%04x", (unsigned)c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

static void put_field(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": ", name);
    put_text(out, text);
    fputs(", ", out);
}

static void put_notes(FILE *out, const struct perf_list *notes)
{
    fputs("\"notes\": {", out);
    for (int i = 0; i < notes->count; i++) {
        char *note = notes->word[i], *value = strchr(note, '=') + 1;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(value - note - 1), note);
        fputs(i > 0 ? ", " : "", out);
        put_text(out, name);
        fputs(": ", out);
        put_text(out, value);
    }
    fputs("},\n", out);
}

static void put_breakdown(FILE *out, const char *name, const struct perf_breakdown *b)
{
    fprintf(out, "\"%s\": {\"scan\": %.6g, \"compress\": %.6g, \"decode\": %.6g, \"rest\": %.6g}, ",
            name, b->scan, b->compress, b->decode, b->rest);
}

static void put_result(FILE *out, const struct perf_result *r, const struct perf_data *d)
{
    const struct perf_variant *v = r->variant;
    fputs("    {", out);
    put_field(out, "operation", r->operation->name);
    put_field(out, "variant", perf_label(r->operation, v));
    put_field(out, "bound", v->bound);
    put_field(out, "mode", r->operation->is_file ? NULL : v->mode);
    put_field(out, "codec", v->codec);
    put_field(out, "device", v->device);
    fprintf(out, "\"bytes\": %.0f, \"ratio\": %.6g, \"seconds\": [", r->bytes, r->ratio);
    for (int i = 0; i < r->count; i++) {
        fprintf(out, "%s%.6g", i > 0 ? ", " : "", r->seconds[i]);
    }
    fprintf(out,
            "], \"median\": %.6g, \"cov\": %.4g, \"rate\": %.6g, \"speedup\": %.5g, "
            "\"compressed\": %.0f, \"largest_error\": %.9g, ",
            r->median, r->cov, r->bytes / r->median, r->speedup, r->compressed,
            perf_largest(r->largest));
    for (int c = 0; c < d->components; c++) {
        fprintf(out, "%s%.9g%s", c > 0 ? ", " : "\"errors\": [", r->largest[c],
                c + 1 < d->components ? "" : "], ");
    }
    put_breakdown(out, "busiest", &r->busiest);
    put_breakdown(out, "mean", &r->mean);
    fprintf(out, "\"scan_rate\": %.6g, \"compress_rate\": %.6g, \"decode_rate\": %.6g}",
            r->scan_rate, r->compress_rate, r->decode_rate);
}

void perf_json_write(const struct perf_options *o, const struct perf_data *d,
                     const struct perf_machine *m, const struct perf_result *results, int count)
{
    FILE *out = fopen(o->json, "w");
    if (out == NULL) {
        app_fail("cannot write %s: %s", o->json, strerror(errno));
    }
    fputs("{\n  \"program\": \"zmpi-perf\", ", out);
    put_field(out, "zmpi", perf_library_version());
    put_field(out, "date", m->date);
    fputs("\n  \"machine\": {", out);
    put_field(out, "cpu", m->cpu);
    put_field(out, "mpi", m->mpi);
    fprintf(out, "\"cores\": %d, \"nodes\": %d, \"load\": %.2f},\n", m->cores, m->nodes, m->load);
    fputs("  \"parameters\": {", out);
    put_field(out, "field", d->name);
    put_field(out, "type", d->is_double ? "f64" : "f32");
    fprintf(
        out,
        "\"ranks\": %d, \"shape\": [%zu, %zu, %zu], \"components\": %d, \"bytes_per_rank\": %zu, ",
        d->ranks, d->slices, d->extent[1], d->extent[2], d->components, d->block * d->width);
    fprintf(out, "\"repetitions\": %d, \"warmups\": %d, \"sync\": %s},\n  ", o->repetitions,
            o->warmups, o->sync ? "true" : "false");
    put_notes(out, &o->notes);
    fputs("  \"results\": [\n", out);
    for (int i = 0; i < count; i++) {
        put_result(out, &results[i], d);
        fputs(i + 1 < count ? ",\n" : "\n", out);
    }
    fputs("  ]\n}\n", out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        app_fail("cannot write %s", o->json);
    }
}
