/*
 * cases.c - runs the cases of a file against the simulator.
 *
 *     csl_sim_cases FILE...
 *
 * "=== NAME" begins a case, whose lines are a PE program behind the prelude; "--- layout" a layout
 * in place of the usual one; "--- only wse2" or "--- only wse3" one architecture; "--- MESSAGE"
 * says what the error must contain (without it the case must run, on both architectures and for
 * several orders of tasks). What is refused when compiling must say where. "# " at a line's start
 * before the first case is a comment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csl_sim.h"

#define SEEDS 3

static const char usual_layout[] =
    "const memcpy = @import_module(\"<memcpy/get_params>\", .{ .width = 1, .height = 1 });\n"
    "layout {\n"
    "  @set_rectangle(1, 1);\n"
    "  @set_tile_code(0, 0, \"pe.csl\", .{ .memcpy_params = memcpy.get_params(0) });\n"
    "  @export_name(\"run\", fn()void);\n"
    "}\n";
static const char prelude[] =
    "param memcpy_params; const sys_mod = @import_module(\"<memcpy/memcpy>\", memcpy_params); "
    "comptime { @export_symbol(run); }\n";
static const char module[] = "param factor: i16;\nvar count: i16 = 1;\n"
                             "fn times(x: i16) i16 { return x * factor; }\n";

struct text {
    char p[20000];
    size_t n;
};

struct test_case {
    char name[200], message[300];
    int only; /* architecture, or 0 */
    struct text program, layout;
};

static void append(struct text *t, const char *line)
{
    size_t n = strlen(line);
    if (t->n + n >= sizeof t->p) {
        fprintf(stderr, "a case is too long\n");
        exit(2);
    }
    memcpy(t->p + t->n, line, n + 1);
    t->n += n;
}

static const char *read_text(void *context, const char *path, size_t *size)
{
    struct test_case *c = context;
    const char *text = strcmp(path, "layout.csl") == 0   ? c->layout.p
                       : strcmp(path, "pe.csl") == 0     ? c->program.p
                       : strcmp(path, "module.csl") == 0 ? module
                                                         : NULL;
    *size = text != NULL ? strlen(text) : 0;
    return text;
}

/* Whether a message begins with FILE:LINE:COLUMN, or the PE that is meant. */
static bool has_place(const char *message)
{
    const char *line = strchr(message, ':'), *column = line != NULL ? strchr(line + 1, ':') : NULL;
    return strncmp(message, "PE(", 3) == 0 || (column != NULL && line[1] >= '1' && line[1] <= '9' &&
                                               column[1] >= '1' && column[1] <= '9');
}

/* Whether it did what it must. */
static bool run_once(struct test_case *c, enum csl_arch arch, uint64_t seed)
{
    struct csl_sim *sim;
    struct csl_options options = {.arch = arch,
                                  .seed = seed,
                                  .max_cycles = 1000000,
                                  .max_steps = 1000000,
                                  .read = read_text,
                                  .read_context = c};
    enum csl_status status = csl_load(&sim, "layout.csl", &options);
    if (status == CSL_OK)
        status = csl_launch(sim, "run", NULL, 0);
    bool good = c->message[0] == '\0'
                    ? status == CSL_OK
                    : status != CSL_OK && strstr(csl_error(sim), c->message) != NULL &&
                          (status != CSL_ERR_SOURCE || has_place(csl_error(sim)));
    if (!good)
        fprintf(stderr, "%s (wse%d, seed %d):\n  %s%s\n  %s\n", c->name, (int)arch, (int)seed,
                c->message[0] ? "expected: " : "expected to run", c->message,
                status == CSL_OK ? "it ran" : csl_error(sim));
    csl_stop(sim);
    return good;
}

static unsigned failed, ran;

static void run_case(struct test_case *c)
{
    bool good = true;
    if (c->name[0] == '\0')
        return;
    if (c->layout.n == 0)
        append(&c->layout, usual_layout);
    for (uint64_t seed = 0; seed < SEEDS && good; seed++)
        for (int arch = CSL_WSE2; arch <= CSL_WSE3 && good; arch++)
            if (c->only == 0 || c->only == arch)
                good = run_once(c, (enum csl_arch)arch, seed);
    ran++;
    failed += !good;
}

static void run_file(const char *path)
{
    static struct test_case c;
    char line[1000];
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        perror(path);
        exit(2);
    }
    struct text *to = &c.program;
    memset(&c, 0, sizeof c);
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "=== ", 4) == 0) {
            run_case(&c);
            memset(&c, 0, sizeof c);
            snprintf(c.name, sizeof c.name, "%.*s", (int)strcspn(line + 4, "\n"), line + 4);
            to = &c.program;
            append(to, prelude);
        } else if (strcmp(line, "--- layout\n") == 0) {
            to = &c.layout;
        } else if (strncmp(line, "--- only wse", 12) == 0) {
            c.only = line[12] == '2' ? CSL_WSE2 : CSL_WSE3;
        } else if (strncmp(line, "--- ", 4) == 0) {
            snprintf(c.message, sizeof c.message, "%.*s", (int)strcspn(line + 4, "\n"), line + 4);
        } else if (c.name[0] != '\0') {
            append(to, line);
        }
    }
    run_case(&c);
    fclose(f);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_file(argv[i]);
    printf("%u cases, %u failed\n", ran, failed);
    return failed != 0 || ran == 0;
}
