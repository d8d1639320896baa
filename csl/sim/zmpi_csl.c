/*
 * zmpi_csl.c - CSL programs from the command line.
 *
 *     zmpi-csl check LAYOUT [OPTION...]    compiles the layout and every PE's program
 *     zmpi-csl run LAYOUT [OPTION...]      and does what the options say, in their order
 *
 *     --arch=wse2|wse3  --params=NAME:VALUE[,NAME:VALUE...]  --seed=N  --order=random|turns
 *     --max-cycles=N  --costs=estimated|fitted
 *     --trace=FILE             events from here on, JSON lines
 *     --set=NAME:VALUE,...     the same values to all PEs (with a point or exponent: f32)
 *     --h2d=NAME:X,Y,W,H:COUNT:FILE[:16]  32-bit words of FILE, COUNT for each of W x H PEs in
 * rows; the
 *     --d2h=NAME:X,Y,W,H:COUNT:FILE[:16]  name of a symbol (:16 if it has 16 bits), or a color's
 * number
 *     --launch=FUNCTION[:VALUE,...]       calls it in all PEs and waits
 *     --drain                  until nothing moves any more
 *     --print=NAME:COUNT[:f|:u|:i|:x]  from all PEs
 *     --counters=FILE          what it cost by PE, JSON lines, for scripts/bench/csl_heat.py
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csl_sim.h"

#define PARAM_MAX 64
#define VALUE_MAX 12288

static _Noreturn void usage(const char *what)
{
    fprintf(stderr,
            "zmpi-csl: %s\n"
            "use: zmpi-csl check|run LAYOUT [--arch=wse2|wse3] [--params=NAME:VALUE,...] "
            "[--seed=N] [--order=random|turns]\n"
            "         [--max-cycles=N] [--costs=estimated|fitted] [--trace=FILE] "
            "[--set=NAME:VALUE,...]\n"
            "         [--h2d=NAME:X,Y,W,H:COUNT:FILE[:16]] [--d2h=...]\n"
            "         [--launch=FUNCTION[:VALUE,...]] [--drain] [--print=NAME:COUNT[:f|u|i|x]] "
            "[--counters=FILE]\n",
            what);
    exit(2);
}

static const char *value_of(const char *option, const char *name)
{
    size_t n = strlen(name);
    return strncmp(option, name, n) == 0 ? option + n : NULL;
}

static bool is_float(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '.' || (text[i] == 'e' && strncmp(text, "0x", 2) != 0))
            return true;
    return false;
}

static size_t parse_params(char *text, struct csl_param *params, size_t count)
{
    for (char *item = strtok(text, ","); item != NULL; item = strtok(NULL, ",")) {
        char *colon = strchr(item, ':'), *end;
        if (colon == NULL || count == PARAM_MAX)
            usage("--params=NAME:VALUE,...");
        *colon++ = '\0';
        struct csl_param *p = &params[count++];
        *p = (struct csl_param){.name = item};
        p->type = is_float(colon, strlen(colon)) ? CSL_PARAM_FLOAT : CSL_PARAM_INT;
        if (p->type == CSL_PARAM_FLOAT)
            p->f = strtod(colon, &end);
        else
            p->i = strtoll(colon, &end, 0);
        if (*end != '\0' || end == colon)
            usage("a parameter is an integer or a number with a point");
    }
    return count;
}

static _Noreturn void stop(struct csl_sim *sim)
{
    fprintf(stderr, "zmpi-csl: %s\n", sim != NULL ? csl_error(sim) : "out of memory");
    csl_stop(sim);
    exit(1);
}

/* NUMBER,NUMBER...: the bits of each, and how many. */
static uint32_t parse_values(const char *text, uint32_t *values, uint32_t most)
{
    uint32_t count = 0;
    char *end = NULL;
    for (const char *item = text; *item != '\0'; item = *end == ',' ? end + 1 : end, count++) {
        float f = strtof(item, &end);
        if (count == most)
            usage("too many values");
        if (is_float(item, (size_t)(end - item)))
            memcpy(&values[count], &f, sizeof f);
        else
            values[count] = (uint32_t)strtoll(item, &end, 0);
        if (end == item || (*end != ',' && *end != '\0'))
            usage("values are numbers");
    }
    return count;
}

static void set_symbol(struct csl_sim *sim, char *text)
{
    char *colon = strchr(text, ':');
    uint32_t values[VALUE_MAX];
    if (colon == NULL)
        usage("--set=NAME:VALUE,...");
    *colon++ = '\0';
    uint32_t count = parse_values(colon, values, VALUE_MAX);
    for (uint32_t y = 0; y < csl_height(sim); y++)
        for (uint32_t x = 0; x < csl_width(sim); x++)
            if (csl_memcpy_h2d(sim, csl_get_id(sim, text), values, x, y, 1, 1, count, CSL_32BIT) !=
                CSL_OK)
                stop(sim);
}

static void print_value(uint32_t bits, char format)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    if (format == 'f')
        printf(" %.9g", (double)f);
    else if (format == 'x')
        printf(" %08x", bits);
    else if (format == 'i')
        printf(" %d", (int32_t)bits);
    else
        printf(" %u", bits);
}

static void print_symbol(struct csl_sim *sim, char *text)
{
    char *colon = strchr(text, ':'), *end;
    uint32_t values[VALUE_MAX];
    if (colon == NULL)
        usage("--print=NAME:COUNT");
    *colon++ = '\0';
    unsigned long count = strtoul(colon, &end, 0);
    char format = *end == ':' ? end[1] : 'f';
    if (count == 0 || count > VALUE_MAX)
        usage("--print=NAME:COUNT");
    int id = csl_get_id(sim, text);
    for (uint32_t y = 0; y < csl_height(sim); y++)
        for (uint32_t x = 0; x < csl_width(sim); x++) {
            if (csl_memcpy_d2h(sim, values, id, x, y, 1, 1, (uint32_t)count, CSL_32BIT) != CSL_OK &&
                csl_memcpy_d2h(sim, values, id, x, y, 1, 1, (uint32_t)count, CSL_16BIT) != CSL_OK)
                stop(sim);
            printf("PE(%u,%u) %s:", x, y, text);
            for (unsigned long i = 0; i < count; i++)
                print_value(values[i], format);
            printf("\n");
        }
}

static FILE *open_file(const char *path)
{
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (f == NULL) {
        fprintf(stderr, "zmpi-csl: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return f;
}

/* ---- copies of files ---- */

struct transfer {
    char *name, *file;
    unsigned x, y, w, h, count;
    enum csl_data_type type;
};

static struct transfer parse_transfer(char *text)
{
    struct transfer t = {.name = text, .type = CSL_32BIT};
    char *colon = strchr(text, ':');
    int used = 0;
    if (colon == NULL ||
        sscanf(colon + 1, "%u,%u,%u,%u:%u:%n", &t.x, &t.y, &t.w, &t.h, &t.count, &used) != 5 ||
        used == 0)
        usage("--h2d=NAME:X,Y,W,H:COUNT:FILE[:16]");
    *colon = '\0';
    t.file = colon + 1 + used;
    size_t n = strlen(t.file);
    if (n > 3 && strcmp(t.file + n - 3, ":16") == 0) {
        t.file[n - 3] = '\0';
        t.type = CSL_16BIT;
    }
    if ((uint64_t)t.w * t.h * t.count > VALUE_MAX * 1024u)
        usage("too many values in one copy");
    return t;
}

static _Noreturn void file_error(const char *path)
{
    fprintf(stderr, "zmpi-csl: %s: %s\n", path, errno != 0 ? strerror(errno) : "too short");
    exit(1);
}

static void copy_file(struct csl_sim *sim, char *text, bool to_device)
{
    struct transfer t = parse_transfer(text);
    size_t words = (size_t)t.w * t.h * t.count;
    uint32_t *values = calloc(words + 1, sizeof *values);
    FILE *f = fopen(t.file, to_device ? "rb" : "wb");
    bool color = t.name[0] >= '0' && t.name[0] <= '9';
    if (values == NULL)
        stop(NULL);
    if (f == NULL || (to_device && fread(values, sizeof *values, words, f) != words))
        file_error(t.file);
    uint32_t number = (uint32_t)strtoul(t.name, NULL, 0);
    int id = color ? -1 : csl_get_id(sim, t.name);
    enum csl_status status =
        color && to_device ? csl_stream_h2d(sim, number, values, t.x, t.y, t.w, t.h, t.count)
        : color            ? csl_stream_d2h(sim, values, number, t.x, t.y, t.w, t.h, t.count)
        : to_device        ? csl_memcpy_h2d(sim, id, values, t.x, t.y, t.w, t.h, t.count, t.type)
                           : csl_memcpy_d2h(sim, values, id, t.x, t.y, t.w, t.h, t.count, t.type);
    if (status != CSL_OK)
        stop(sim);
    if ((!to_device && fwrite(values, sizeof *values, words, f) != words) || fclose(f) != 0)
        file_error(t.file);
    free(values);
}

static void launch(struct csl_sim *sim, char *text)
{
    uint32_t values[15], count = 0;
    struct csl_arg args[15];
    char *colon = strchr(text, ':');
    if (colon != NULL) {
        *colon = '\0';
        count = parse_values(colon + 1, values, 15);
    }
    for (uint32_t i = 0; i < count; i++)
        args[i].bits = values[i];
    if (csl_launch(sim, text, args, count) != CSL_OK)
        stop(sim);
    printf("%s: %llu cycles\n", text, (unsigned long long)csl_call_cycles(sim));
}

static void run_option(struct csl_sim *sim, char *option)
{
    const char *v;
    if ((v = value_of(option, "--trace=")) != NULL) {
        csl_set_trace(sim, csl_trace_json, open_file(v));
    } else if ((v = value_of(option, "--set=")) != NULL) {
        set_symbol(sim, option + 6);
    } else if (value_of(option, "--h2d=") != NULL || value_of(option, "--d2h=") != NULL) {
        copy_file(sim, option + 6, option[2] == 'h');
    } else if (value_of(option, "--launch=") != NULL) {
        launch(sim, option + 9);
    } else if (strcmp(option, "--drain") == 0) {
        if (csl_drain(sim) != CSL_OK)
            stop(sim);
        printf("drained: %llu cycles\n", (unsigned long long)csl_call_cycles(sim));
    } else if ((v = value_of(option, "--print=")) != NULL) {
        print_symbol(sim, option + 8);
    } else if ((v = value_of(option, "--counters=")) != NULL) {
        FILE *f = open_file(v);
        csl_write_counters(sim, f);
        if (f != stdout && fclose(f) != 0)
            usage("the counters cannot be written");
    } else {
        usage(option);
    }
}

int main(int argc, char **argv)
{
    struct csl_param params[PARAM_MAX];
    struct csl_options options = {.params = params};
    struct csl_sim *sim;
    char *later[256];
    int later_count = 0;
    if (argc < 3 || (strcmp(argv[1], "check") != 0 && strcmp(argv[1], "run") != 0))
        usage("what to do?");
    for (int i = 3; i < argc; i++) {
        const char *v;
        if ((v = value_of(argv[i], "--arch=")) != NULL) {
            options.arch = strcmp(v, "wse2") == 0 ? CSL_WSE2 : CSL_WSE3;
            if (options.arch == CSL_WSE3 && strcmp(v, "wse3") != 0)
                usage("--arch=wse2 or --arch=wse3");
        } else if (value_of(argv[i], "--params=") != NULL) {
            options.param_count = parse_params(argv[i] + 9, params, options.param_count);
        } else if ((v = value_of(argv[i], "--seed=")) != NULL) {
            options.seed = strtoull(v, NULL, 0);
        } else if ((v = value_of(argv[i], "--order=")) != NULL) {
            options.order = strcmp(v, "turns") == 0 ? CSL_ORDER_TURNS : CSL_ORDER_RANDOM;
            if (options.order == CSL_ORDER_RANDOM && strcmp(v, "random") != 0)
                usage("--order=random or --order=turns");
        } else if ((v = value_of(argv[i], "--costs=")) != NULL) {
            options.costs = strcmp(v, "fitted") == 0 ? &csl_costs_fitted : &csl_costs_estimated;
            if (options.costs == &csl_costs_estimated && strcmp(v, "estimated") != 0)
                usage("--costs=estimated or --costs=fitted");
        } else if ((v = value_of(argv[i], "--max-cycles=")) != NULL) {
            options.max_cycles = strtoull(v, NULL, 0);
        } else if (strcmp(argv[1], "run") == 0 && later_count < 256) {
            later[later_count++] = argv[i];
        } else {
            usage(argv[i]);
        }
    }
    if (csl_load(&sim, argv[2], &options) != CSL_OK)
        stop(sim);
    struct csl_counters total;
    csl_total_counters(sim, &total);
    printf("%s: %u x %u PEs, %u bytes of data, about %u of code\n", argv[2], csl_width(sim),
           csl_height(sim), total.data_bytes, total.code_bytes);
    for (int i = 0; i < later_count; i++)
        run_option(sim, later[i]);
    csl_stop(sim);
    return 0;
}
