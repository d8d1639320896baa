/*
 * bench.c - zmpi bench: the codec's speed and quality on this machine, beside memcpy and, on
 * request, other compressors.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "judge/components.h"
#include "tool/bench/bench.h"

/* "N", or "A..B": a result for each number from A to B. */
static bool parse_threads(const char *text, struct bench_settings *s)
{
    char *end;
    long first = strtol(text, &end, 10), last = first;
    if (strncmp(end, "..", 2) == 0)
        last = strtol(end + 2, &end, 10);
    if (*end || first < 1 || last < first || last > 1024)
        return false;
    s->first_threads = (int)first;
    s->last_threads = (int)last;
    return true;
}

static bool parse_repetitions(const char *text, int *n)
{
    char *end;
    long v = strtol(text, &end, 10);
    *n = (int)v;
    return *end == 0 && v >= 1 && v <= BENCH_MOST_REPETITIONS;
}

static bool parse_components(const char *text, int *components)
{
    struct zmpi_options o;
    char message[256];
    zmpi_options_default(&o);
    const bool good = !zmpi_option_set(&o, "components", text, "", message) && o.components;
    *components = good ? o.components : *components;
    return good;
}

static int parse_one(int c, struct bench_settings *s)
{
    if (c == 't' && !tool_parse_type(optarg, &s->type))
        return tool_fail("-t %s: f32 or f64", optarg);
    if (c == 'd' && !zmpi_shape_parse(optarg, s->shape))
        return tool_fail("-d %s: extents as NZxNYxNX, each at least 1", optarg);
    if (c == 'e' && zmpi_bound_parse(optarg, &s->bound))
        return tool_fail("-e %s: %s" ZMPI_BOUNDS, optarg,
                         strchr(optarg, '%') ? "10% is rel=0.1; " : "");
    if (c == 'c' && !(s->encoder = zmpi_encoder_parse(optarg, &s->variant)))
        return tool_fail("--codec %s: " ZMPI_ENCODER_NAMES, optarg);
    if (c == 'F' && !zmpi_fills_parse(optarg, &s->fill))
        return tool_fail("--fill %s: one or two finite numbers separated by ','", optarg);
    if (c == 'N' && !parse_components(optarg, &s->components))
        return tool_fail("--components %s: 1 to 64, or 2:slow to 64:slow", optarg);
    if (c == 'T' && !zmpi_threshold_parse(optarg, &s->threshold))
        return tool_fail("-T %s: a finite number > 0", optarg);
    if (c == 'n' && !parse_threads(optarg, s))
        return tool_fail("--threads %s: N, or A..B, from 1 to 1024", optarg);
    if (c == 'r' && !parse_repetitions(optarg, &s->repetitions))
        return tool_fail("--repetitions %s: 1 to %d", optarg, BENCH_MOST_REPETITIONS);
    if (c == 's' && (!zmpi_bytes_parse(optarg, &s->size) || s->size < 4096))
        return tool_fail("--size %s: bytes, at least 4K, with K, M or G if you like", optarg);
    s->json |= c == 'j';
    s->verbose |= c == 'v';
    s->peers |= c == 'p';
    return c == '?' ? tool_usage() : TOOL_OK;
}

static int parse(int argc, char **argv, struct bench_settings *s)
{
    static const struct option longs[] = {
        {"type", 1, NULL, 't'},       {"dims", 1, NULL, 'd'},  {"error-bound", 1, NULL, 'e'},
        {"threads", 1, NULL, 'n'},    {"json", 0, NULL, 'j'},  {"verbose", 0, NULL, 'v'},
        {"size", 1, NULL, 's'},       {"peers", 0, NULL, 'p'}, {"repetitions", 1, NULL, 'r'},
        {"threshold", 1, NULL, 'T'},  {"fill", 1, NULL, 'F'},  {"codec", 1, NULL, 'c'},
        {"components", 1, NULL, 'N'}, {NULL, 0, NULL, 0}};
    int c, status = TOOL_OK;
    while (!status && (c = getopt_long(argc, argv, "t:d:e:T:v", longs, NULL)) != -1)
        status = parse_one(c, s);
    return status;
}

/* Loads ZMPI_* first, so that the command line overrides it. */
static int prepare(int argc, char **argv, struct bench_settings *s)
{
    struct zmpi_options o;
    const char *why = "";
    if (!tool_options_load(&o))
        return TOOL_ERROR;
    *s = (struct bench_settings){.bound = {ZMPI_REL, 1e-3},
                                 .threshold = o.threshold,
                                 .fill = o.fill,
                                 .components = 1,
                                 .repetitions = 7,
                                 .size = (size_t)256 << 20};
    s->encoder = zmpi_options_encoder(&o, &s->variant);
    if (o.bound_set)
        s->bound = o.bound;
    s->first_threads = s->last_threads = o.threads > 0 ? o.threads : 1;
    s->device = zmpi_device_find(o.device, NULL, &why);
    zmpi_options_free(&o);
    return s->device ? parse(argc, argv, s) : tool_fail("ZMPI_DEVICE=%s: %s", o.device, why);
}

/* Measures one field with every number of threads; *printed counts the results. */
static int bench_field(const struct bench_field *f, const struct bench_settings *s, int *printed)
{
    int status = TOOL_OK;
    for (int threads = s->first_threads; threads <= s->last_threads && !status; threads++) {
        struct bench_result r;
        status = bench_measure(&r, f, s, threads);
        if (status)
            break;
        if (s->json) {
            printf("%s", *printed ? ",\n" : "");
            bench_print_json(&r);
        } else {
            bench_print(&r, *printed == 0);
        }
        fflush(stdout);
        ++*printed;
    }
    free(f->data);
    return status;
}

/* The extents of one of n components, which are the fastest extent of the file or, `slow`, its
 * slowest one. Copies of the file stay stacked along the slowest axis that is left. */
static void component_extents(struct bench_field *f, size_t n, bool slow)
{
    size_t *e = f->array.extent;
    const size_t copies = f->copies, rows = e[0] == 1, slowest = e[rows] / copies;
    if (!slow && e[2] % n == 0 && e[2] > n)
        e[2] /= n;
    else if (!slow && e[2] == n)
        memcpy(e, (size_t[]){1, e[0], e[1]}, sizeof f->array.extent);
    else if (slow && slowest % n == 0 && slowest > n)
        e[rows] /= n;
    else if (slow && slowest == n && rows == 0 && e[1] > 1)
        memcpy(e, (size_t[]){1, e[1] * copies, e[2]}, sizeof f->array.extent);
    else
        memcpy(e, (size_t[]){1, 1, e[0] * e[1] * e[2] / n}, sizeof f->array.extent);
}

/* Takes component c of s->components alone, under the name `name`. */
static int take_component(struct bench_field *f, const struct bench_settings *s, int c,
                          char name[512])
{
    const size_t width = zmpi_type_size(f->array.type), n = (size_t)abs(s->components),
                 one = f->bytes / f->copies, block = one / n;
    const bool slow = s->components < 0;
    if (n == 1)
        return TOOL_OK;
    unsigned char *part = one % (width * n) ? NULL : bench_alloc(f->bytes / n);
    const unsigned char *all = f->data;
    for (size_t i = 0; part && slow && i < f->copies; i++)
        memcpy(part + i * block, all + i * one + (size_t)c * block, block);
    if (part && !slow)
        zmpi_component_take(f->array.type, all, f->bytes / width, (int)n, c, part);
    free(f->data);
    f->data = part;
    if (!part)
        return tool_fail("%s: %zu elements are no multiple of %zu components, or out of memory",
                         f->name, one / width, n);
    component_extents(f, n, slow);
    f->bytes /= n;
    snprintf(name, 512, "%s, component %d", f->name, c);
    f->name = name;
    return TOOL_OK;
}

static int bench_file(const char *path, const struct bench_settings *s, int *printed)
{
    int status = TOOL_OK;
    for (int c = 0; c < abs(s->components) && !status; c++) {
        struct bench_field f;
        char name[512];
        status = bench_field_load(&f, path, s);
        if (!status)
            status = take_component(&f, s, c, name);
        if (!status)
            status = bench_field(&f, s, printed);
    }
    return status;
}

int tool_bench(int argc, char **argv)
{
    struct bench_settings s;
    struct bench_field f;
    int printed = 0, status = prepare(argc, argv, &s);
    if (status)
        return status;
    int files = argc - optind;
    bool list = s.json && (files > 1 || abs(s.components) > 1 || s.first_threads != s.last_threads);
    if (list)
        printf("{\"results\": [\n");
    if (files == 0) {
        status = bench_field_generate(&f, &s);
        if (!status)
            status = bench_field(&f, &s, &printed);
    }
    for (int i = optind; i < argc && !status; i++)
        status = bench_file(argv[i], &s, &printed);
    if (s.json)
        printf(list ? "\n]}\n" : "\n");
    return status;
}
