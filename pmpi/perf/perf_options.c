/* perf_options.c - the command line of zmpi-perf. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app_common.h"
#include "perf.h"

static const char usage[] =
    "usage: mpirun ... zmpi-perf [OPTION...]\n"
    "Measures MPI operations plain and through zmpi, in turns, and checks every value.\n"
    "  -o, --operations LIST    what to measure (write_at_all,read_at_all,gather,scatter,bcast)\n"
    "                           files: %s\n"
    "                           collectives: %s\n"
    "  -f, --field FILE         raw values to move (a generated smooth field)\n"
    "  -d, --dims NZxNYxNX      its extents, slowest first; 1 to 3\n"
    "      --components N       N variables take turns in the field, each with its own range\n"
    "  -t, --type f32|f64       of its values (by the end of its name, else f32)\n"
    "  -s, --size BYTES         of each rank, with K, M or G; the field is repeated (64M)\n"
    "  -e, --bounds LIST        rel=V, abs=V, pw_rel=V, psnr=dB, ratio=R, lossless (rel=1e-3)\n"
    "  -m, --modes LIST         of collectives: auto, measured, always (always)\n"
    "      --codec LIST         fle, huffman, interp, auto (fle)\n"
    "      --devices LIST       as ZMPI_DEVICE (auto)\n"
    "  -n, --repetitions N      runs that count (5)\n"
    "  -w, --warmups N          runs before these, which do not count (2)\n"
    "      --directory DIR      where files are written (.)\n"
    "      --sync               the time of writing includes MPI_File_sync\n"
    "  -j, --json FILE          write everything there, too\n"
    "      --note NAME=VALUE    put that into the JSON; may be repeated\n"
    "      --plain              without zmpi\n"
    "      --self-test          falsify a value of everything that arrives, and check that it is "
    "found\n";

static _Noreturn void wrong(const char *format, const char *what)
{
    fputs("zmpi-perf: ", stderr);
    fprintf(stderr, format, what); /* of this file alone */
    fputs(" (zmpi-perf --help)\n", stderr);
    exit(2);
}

static void set_list(struct perf_list *list, const char *text, const char *option)
{
    /* Lives as long as the program. */
    char *copy = strdup(text);
    list->count = 0;
    for (char *word = copy ? strtok(copy, ",") : NULL; word != NULL; word = strtok(NULL, ",")) {
        if (list->count == PERF_LIST) {
            wrong("%s: too many", option);
        }
        list->word[list->count++] = word;
    }
    if (list->count == 0) {
        wrong("%s: an empty list", option);
    }
}

static size_t bytes_of(const char *text, const char *option)
{
    char *end = NULL;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr("KMG", *end) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - "KMG" + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || n == 0 || n > (1ULL << 40) >> shift) {
        wrong("%s: not a size, such as 64M", option);
    }
    if (*end != '\0' && (unit == NULL || end[1] != '\0')) {
        wrong("%s: not a size, such as 64M", option);
    }
    return (size_t)n << shift;
}

static int count_of(const char *text, int smallest, const char *option)
{
    int value;
    if (app_parse_int(text, smallest, &value) != 0 || value > 1000000) {
        wrong("%s: not a number that is possible", option);
    }
    return value;
}

static void add_note(struct perf_options *o, char *note)
{
    if (strchr(note, '=') == NULL || o->notes.count == PERF_LIST) {
        wrong("--note %s: must be NAME=VALUE, at most 16", note);
    }
    o->notes.word[o->notes.count++] = note;
}

/* An option that has a value. */
static void set(struct perf_options *o, const char *name, char *value)
{
    const struct {
        const char *name;
        struct perf_list *list;
    } lists[] = {{"-o", &o->operations},    {"--operations", &o->operations},
                 {"-e", &o->bounds},        {"--bounds", &o->bounds},
                 {"-m", &o->modes},         {"--modes", &o->modes},
                 {"--codec", &o->codecs},   {"--codecs", &o->codecs},
                 {"--devices", &o->devices}};
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"-f", &o->field},    {"--field", &o->field}, {"-d", &o->dims},
                 {"--dims", &o->dims}, {"-t", &o->type},       {"--type", &o->type},
                 {"-j", &o->json},     {"--json", &o->json},   {"--directory", &o->directory}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(name, lists[i].name) == 0) {
            set_list(lists[i].list, value, name);
            return;
        }
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = value;
            return;
        }
    }
    if (strcmp(name, "-s") == 0 || strcmp(name, "--size") == 0) {
        o->bytes = bytes_of(value, name);
    } else if (strcmp(name, "-n") == 0 || strcmp(name, "--repetitions") == 0) {
        o->repetitions = count_of(value, 1, name);
    } else if (strcmp(name, "-w") == 0 || strcmp(name, "--warmups") == 0) {
        o->warmups = count_of(value, 1, name);
    } else if (strcmp(name, "--components") == 0) {
        o->components = count_of(value, 1, name);
        if (o->components > PERF_COMPONENTS) {
            wrong("%s: at most 16", name);
        }
    } else if (strcmp(name, "--note") == 0) {
        add_note(o, value);
    } else {
        wrong("unknown option '%s'", name);
    }
}

static bool set_switch(struct perf_options *o, const char *name)
{
    if (strcmp(name, "--sync") == 0) {
        o->sync = true;
    } else if (strcmp(name, "--plain") == 0) {
        o->plain = true;
    } else if (strcmp(name, "--self-test") == 0) {
        o->self_test = true;
    } else if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        printf(usage, perf_file_names(), perf_collective_names());
        exit(0);
    } else {
        return false;
    }
    return true;
}

static void check(struct perf_options *o)
{
    for (int i = 0; i < o->operations.count; i++) {
        const char *name = o->operations.word[i];
        if (perf_file_operation(name) == NULL && perf_collective_operation(name) == NULL) {
            wrong("unknown operation '%s'", name);
        }
    }
    for (int i = 0; i < o->bounds.count; i++) {
        if (!perf_bound_known(o->bounds.word[i])) {
            wrong("bound '%s': must be rel=V, abs=V, pw_rel=V, psnr=dB, ratio=R or lossless",
                  o->bounds.word[i]);
        }
    }
    for (int i = 0; i < o->modes.count; i++) {
        if (strcmp(o->modes.word[i], "auto") != 0 && strcmp(o->modes.word[i], "measured") != 0 &&
            strcmp(o->modes.word[i], "always") != 0) {
            wrong("mode '%s': must be auto, measured or always", o->modes.word[i]);
        }
    }
    if ((o->field == NULL) != (o->dims == NULL)) {
        wrong("%s", "--field and --dims belong together");
    }
    if (o->type != NULL && strcmp(o->type, "f32") != 0 && strcmp(o->type, "f64") != 0) {
        wrong("type '%s': must be f32 or f64", o->type);
    }
    if (o->bounds.count * o->modes.count * o->codecs.count * o->devices.count >= PERF_VARIANTS) {
        wrong("%s", "too many combinations of bounds, modes, codecs and devices");
    }
}

void perf_options_parse(int argc, char **argv, struct perf_options *o)
{
    *o = (struct perf_options){
        .directory = ".", .bytes = (size_t)64 << 20, .repetitions = 5, .warmups = 2};
    set_list(&o->operations, "write_at_all,read_at_all,gather,scatter,bcast", "");
    set_list(&o->bounds, "rel=1e-3", "");
    set_list(&o->modes, "always", "");
    set_list(&o->codecs, "fle", "");
    set_list(&o->devices, "auto", "");
    for (int i = 1; i < argc; i++) {
        if (set_switch(o, argv[i])) {
            continue;
        }
        if (i + 1 == argc) {
            wrong("'%s' is no option, or needs a value", argv[i]);
        }
        set(o, argv[i], argv[i + 1]);
        i++;
    }
    check(o);
}
