/* advise.c - zmpi advise: makes rules from the report of a dry run. */
#define _GNU_SOURCE
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tool/report/report_json.h"
#include "tool/tool.h"

enum { BOUNDS = 6, ENCODERS = 3 };
#define LEAST_RATIO  1.1
#define LEAST_DB     80
#define HUFFMAN_GAIN 1.2 /* Huffman is worth its time from this gain on */

struct tried {
    char bound[40];
    double raw[ENCODERS], coded[ENCODERS];
    double most, share; /* the largest absolute bound, and its part of the range */
};

/* Files whose names differ only in digits. */
struct pattern {
    struct pattern *next;
    double files, bytes, floats, whole;
    struct tried tried[BOUNDS];
    char glob[256];
};

struct wish {
    double db, error; /* error 0: decibels count */
};

/* "out/slab_0012.bin" becomes slab_*.bin. Characters with a meaning in rules become "?". */
static void make_glob(const char *path, char glob[256])
{
    const char *base = strrchr(path, '/');
    size_t n = 0;
    for (const char *p = base ? base + 1 : path; *p && n < 255; p++) {
        const bool digit = *p >= '0' && *p <= '9';
        if (digit && n > 0 && glob[n - 1] == '*')
            continue;
        glob[n++] = digit ? '*' : strchr("[]*?\\#;!,\"", *p) || (unsigned char)*p <= ' ' ? '?' : *p;
    }
    glob[n] = 0;
}

static struct pattern *find(struct pattern **list, const char *path)
{
    char glob[256];
    make_glob(path, glob);
    for (; *list; list = &(*list)->next)
        if (strcmp((*list)->glob, glob) == 0)
            return *list;
    if ((*list = calloc(1, sizeof **list)))
        memcpy((*list)->glob, glob, sizeof glob);
    return *list;
}

static struct tried *find_tried(struct pattern *p, const char *bound)
{
    struct zmpi_bound parsed;
    if (zmpi_bound_parse(bound, &parsed))
        return NULL;
    for (int i = 0; i < BOUNDS; i++) {
        if (p->tried[i].bound[0] == 0)
            zmpi_bound_format(&parsed, p->tried[i].bound);
        if (strcmp(p->tried[i].bound, bound) == 0)
            return &p->tried[i];
    }
    return NULL;
}

static void add_file(struct pattern *p, const cJSON *file)
{
    const double bytes = report_number(file, "bytes");
    const cJSON *e;
    p->files++;
    p->bytes += bytes;
    p->floats += report_number(file, "bytes_float");
    p->whole += report_number(file, "bytes_whole_numbers");
    cJSON_ArrayForEach(e, cJSON_GetObjectItem(file, "estimates"))
    {
        struct tried *t = find_tried(p, report_text(e, "bound"));
        const char *codec = report_text(e, "codec");
        const int k = strcmp(codec, "huffman") == 0 ? 1 : strcmp(codec, "interp") == 0 ? 2 : 0;
        const double ratio = report_number(e, "ratio");
        if (!t || !(ratio > 0))
            continue;
        t->raw[k] += bytes;
        t->coded[k] += bytes / ratio;
        t->most = fmax(t->most, report_number(e, "absolute_bound"));
        t->share = fmax(t->share, report_number(e, "share_of_range"));
    }
}

static double ratio_of(const struct tried *t, int encoder)
{
    return t->coded[encoder] > 0 ? t->raw[encoder] / t->coded[encoder] : 0;
}

/* Errors spread evenly up to the bound; real errors are no larger. */
static double decibels(const struct tried *t)
{
    return t->share > 0 ? -20 * log10(t->share / sqrt(3)) : INFINITY;
}

static bool is_lossless(const struct tried *t)
{
    return strcmp(t->bound, "lossless") == 0;
}

static bool keeps(const struct tried *t, const struct wish *w)
{
    if (is_lossless(t))
        return true;
    if (w->error > 0)
        return t->most > 0 && t->most <= w->error;
    return t->share > 0 && decibels(t) >= w->db;
}

static bool looks_like_restart(const char *name)
{
    static const char *const word[] = {"restart", "checkpoint", "chkpt", "ckpt", "pickup",
                                       ".rst",    "_rst",       ".chk",  "_chk"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcasestr(name, word[i]))
            return true;
    return false;
}

/* The allowed one with the best ratio. */
static const struct tried *choose(const struct pattern *p, const struct wish *w, bool exact)
{
    const struct tried *best = NULL;
    for (int i = 0; i < BOUNDS && p->tried[i].bound[0]; i++) {
        const struct tried *t = &p->tried[i];
        if ((exact ? is_lossless(t) : keeps(t, w)) && ratio_of(t, 0) > 0 &&
            (!best || ratio_of(t, 0) > ratio_of(best, 0)))
            best = t;
    }
    return best;
}

static void print_reason(const struct pattern *p, const struct wish *w, const struct tried *t,
                         bool restart, bool whole)
{
    printf("; %.0f file%s, %.4g MB: ", p->files, p->files > 1 ? "s" : "", p->bytes / 1e6);
    if (restart)
        fputs("its name is that of a restart file: every bit is kept", stdout);
    else if (whole)
        fputs("nothing but whole numbers: every bit is kept", stdout);
    else if (!t)
        fputs("too few samples to decide", stdout);
    else if (is_lossless(t))
        fputs("no bound that was tried keeps enough", stdout);
    else if (w->error > 0)
        printf("largest error %.4g, at most %.4g was asked for", t->most, w->error);
    else
        printf("%.0f dB, at least %.4g dB were asked for", decibels(t), w->db);
    putchar('\n');
}

static void print_rule(const struct pattern *p, const struct wish *w)
{
    const bool restart = looks_like_restart(p->glob),
               whole = p->floats > 0 && p->whole >= p->floats;
    const struct tried *t = choose(p, w, restart || whole);
    const double fle = t ? ratio_of(t, 0) : 0, huffman = t ? ratio_of(t, 1) : 0;
    const bool smaller = huffman > HUFFMAN_GAIN * fle;
    const double ratio = smaller ? huffman : fle;
    const bool worth = t && ratio >= LEAST_RATIO;
    putchar('\n');
    if (!worth)
        printf("; %s\n", p->glob);
    else
        printf("[%s]\n", p->glob);
    print_reason(p, w, t, restart, whole);
    if (!worth) {
        if (t)
            printf("; left plain: the ratio would be %.2f\n", ratio);
        return;
    }
    printf("; expected ratio %.2f\nerror_bound = %s\n", ratio, t->bound);
    if (smaller)
        puts("codec = huffman");
}

static int advise(const char *path, const struct wish *w)
{
    cJSON *report = report_load(path);
    const cJSON *rows = cJSON_GetObjectItem(report, "dry_run"), *row;
    struct pattern *list = NULL;
    if (!report)
        return TOOL_ERROR;
    if (!cJSON_IsArray(rows)) {
        cJSON_Delete(report);
        return tool_fail("%s: has no estimates of a dry run (zmpi run --dry-run --report FILE "
                         "PROGRAM), or its files were compressed already: a dry run estimates new "
                         "files only",
                         path);
    }
    cJSON_ArrayForEach(row, rows)
    {
        if (cJSON_HasObjectItem(row, "collective"))
            continue;
        struct pattern *p = find(&list, report_text(row, "path"));
        if (p)
            add_file(p, row);
    }
    printf("; Rules made by zmpi advise of a dry run; ratios are of samples.\n");
    for (struct pattern *p = list, *next; p; p = next) {
        next = p->next;
        print_rule(p, w);
        free(p);
    }
    cJSON_Delete(report);
    return TOOL_OK;
}

int tool_advise(int argc, char **argv)
{
    static const struct option longs[] = {{"psnr", 1, NULL, 'p'},
                                          {"max-error", 1, NULL, 'm'},
                                          {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct wish w = {.db = LEAST_DB};
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        if (c == 'h')
            return tool_help();
        if (c == '?')
            return tool_usage();
        if (!zmpi_threshold_parse(optarg, c == 'p' ? &w.db : &w.error))
            return tool_fail("--%s %s: a number above 0", c == 'p' ? "psnr" : "max-error", optarg);
    }
    return optind + 1 == argc ? advise(argv[optind], &w) : tool_usage();
}
