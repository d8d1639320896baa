/* check.c - zmpi check: which MPI calls of a program libzmpi.so covers, passes on, or cannot
 * see. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "elf_file.h"
#include "mpi_calls.h"
#include "tool/tool.h"

enum fate { COVERS, PASSES, REFUSES, FATES };
static const char *const fate_name[FATES] = {"covers", "passes", "refuses"};

/* Fortran's names of MPI functions: mpi_file_open_, mpi_file_open_f08_. */
enum language { NONE, C, FORTRAN, FORTRAN_2008 };

/* A program or library that calls MPI. */
struct caller {
    const char *path;
    char **name[FATES];
    size_t names[FATES];
    bool language[4];
};

struct report {
    struct elf_closure all;
    const char *mpi;           /* name of the MPI library */
    bool is_static, is_linked; /* the program contains MPI; libzmpi.so is linked to it */
    bool loads_late;
};

/* ---- symbols ---- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && strncmp(text + length - n, end, n) == 0;
}

/* The part of a symbol that names the function: "file_open" of PMPI_File_open, mpi_file_open_. */
static enum language language_of(const char *symbol, const char **start, size_t *length)
{
    const char *name = symbol + (symbol[0] == 'P' || symbol[0] == 'p');
    size_t n = strlen(name);
    if (strncmp(name, "MPI_", 4) == 0 && isupper((unsigned char)name[4])) {
        *start = name + 4;
        *length = n - 4;
        return islower((unsigned char)name[5]) || name[5] == '_' ? C : NONE;
    }
    if (strncmp(name, "mpi_", 4) != 0 || strncmp(name, "mpi_fortran_", 12) == 0 ||
        name[n - 1] != '_')
        return NONE;
    while (name[n - 1] == '_')
        n--;
    enum language language = FORTRAN;
    static const char *const f08[] = {"_f08", "_f08ts", "_f08ts_large", "_f08_large"};
    for (int i = 0; i < 4; i++)
        if (ends_with(name, n, f08[i])) {
            n -= strlen(f08[i]);
            language = FORTRAN_2008;
        }
    *start = name + 4;
    *length = n > 4 ? n - 4 : 0;
    return *length ? language : NONE;
}

/* The C name, "MPI_File_open", for a Fortran name. Other functions of Fortran's only get their
 * prefix back. */
static enum fate fate_of(const char *part, size_t length, char full[80])
{
    size_t base = length; /* without the _c of large counts */
    if (length > 2 && strncasecmp(part + length - 2, "_c", 2) == 0)
        base -= 2;
    snprintf(full, 80, "MPI_%.*s", (int)(length < 75 ? length : 75), part);
    full[4] = (char)toupper((unsigned char)full[4]);
    for (size_t i = 0; i < sizeof mpi_calls / sizeof *mpi_calls; i++) {
        const char *known = mpi_calls[i].name + 4;
        size_t n = strlen(known);
        if ((n != length && n != base) || strncasecmp(known, part, n) != 0)
            continue;
        memcpy(full + 4, known, n);
        return mpi_calls[i].wrapped ? COVERS : PASSES;
    }
    return strncasecmp(part, "file_", 5) == 0 ? REFUSES : PASSES;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(struct caller *c, enum fate fate, const char *name)
{
    size_t n = c->names[fate];
    char **grown = realloc(c->name[fate], (n + 1) * sizeof *grown);
    if (!grown)
        return;
    c->name[fate] = grown;
    grown[n] = strdup(name);
    c->names[fate] += grown[n] != NULL;
}

/* The MPI functions that one file calls. */
static struct caller caller_of(const struct elf_file *e)
{
    struct caller c = {.path = e->path};
    for (size_t i = 0; i < e->symbols; i++) {
        const char *part;
        char full[80];
        size_t length;
        enum language language =
            e->symbol[i].defined ? NONE : language_of(e->symbol[i].name, &part, &length);
        if (language == NONE)
            continue;
        c.language[language] = true;
        enum fate fate = fate_of(part, length, full);
        add_name(&c, fate, full);
    }
    for (int f = 0; f < FATES; f++) {
        size_t kept = 0;
        if (c.names[f])
            qsort(c.name[f], c.names[f], sizeof *c.name[f], by_name);
        for (size_t i = 0; i < c.names[f]; i++)
            if (kept == 0 || strcmp(c.name[f][kept - 1], c.name[f][i]) != 0)
                c.name[f][kept++] = c.name[f][i];
            else
                free(c.name[f][i]);
        c.names[f] = kept;
    }
    return c;
}

static void caller_free(struct caller *c)
{
    for (int f = 0; f < FATES; f++) {
        for (size_t i = 0; i < c->names[f]; i++)
            free(c->name[f][i]);
        free(c->name[f]);
    }
}

/* ---- the files ---- */

static bool imports(const struct elf_file *e, const char *name)
{
    for (size_t i = 0; i < e->symbols; i++)
        if (!e->symbol[i].defined && strcmp(e->symbol[i].name, name) == 0)
            return true;
    return false;
}

static int report_make(struct report *r, const char *path)
{
    const char *why = elf_closure_make(&r->all, path);
    if (why)
        return tool_fail("%s: %s", path, why);
    r->loads_late = imports(&r->all.file[0], "dlopen");
    r->is_static = elf_is_mpi(&r->all.file[0]);
    for (size_t i = 0; i < r->all.files; i++) {
        r->is_linked = r->is_linked || elf_is_zmpi(&r->all.file[i]);
        if (elf_is_mpi(&r->all.file[i]))
            r->mpi = elf_name(&r->all.file[i]);
    }
    return TOOL_OK;
}

/* ---- output ---- */

static void print_names(const struct caller *c, enum fate fate)
{
    int column = printf("  %-8s", fate_name[fate]);
    for (size_t i = 0; i < c->names[fate]; i++) {
        if (column + (int)strlen(c->name[fate][i]) > 94)
            column = printf("\n  %-8s", "") - 1;
        column += printf(" %s", c->name[fate][i]);
    }
    printf("\n");
}

static void print_caller(const struct caller *c, bool all)
{
    const char *from = c->language[FORTRAN_2008] ? "Fortran, mpi_f08"
                       : c->language[FORTRAN]    ? "Fortran, mpif.h or mpi"
                                                 : "C";
    printf("%s (%s)\n", c->path, from);
    for (int f = 0; f < FATES; f++)
        if (f == PASSES && !all && c->names[f])
            printf("  %-8s %zu others (-a lists them)\n", fate_name[f], c->names[f]);
        else if (c->names[f])
            print_names(c, (enum fate)f);
}

static void print_json_caller(const struct caller *c, const char *comma)
{
    printf("%s{\"path\": ", comma);
    tool_json_string(c->path);
    printf(", \"fortran\": \"%s\"", c->language[FORTRAN_2008] ? "mpi_f08"
                                    : c->language[FORTRAN]    ? "mpif.h or mpi"
                                                              : "none");
    for (int f = 0; f < FATES; f++) {
        printf(", \"%s\": [", fate_name[f]);
        for (size_t i = 0; i < c->names[f]; i++) {
            printf("%s", i ? ", " : "");
            tool_json_string(c->name[f][i]);
        }
        printf("]");
    }
    printf("}");
}

/* Prints all files that call MPI. Returns how many calls are covered. */
static size_t print_callers(const struct report *r, bool json, bool all)
{
    size_t covered = 0;
    const char *comma = "";
    for (size_t i = 0; i < r->all.files; i++) {
        if (elf_is_mpi(&r->all.file[i]) || elf_is_binding(&r->all.file[i]))
            continue;
        struct caller c = caller_of(&r->all.file[i]);
        covered += c.names[COVERS];
        if (c.names[COVERS] + c.names[PASSES] + c.names[REFUSES]) {
            if (json)
                print_json_caller(&c, comma);
            else
                print_caller(&c, all);
            comma = ", ";
        }
        caller_free(&c);
    }
    return covered;
}

static void print_notes(const struct report *r, size_t covered)
{
    if (r->is_static)
        printf("cannot see: MPI is part of this file; there is nothing to preload into: link it "
               "to MPI dynamically\n");
    else if (r->mpi)
        printf("MPI: %s; it needs the libzmpi.so for that MPI, which zmpi run finds%s\n", r->mpi,
               r->is_linked ? " (it is linked already)" : "");
    else if (covered)
        printf("MPI: none found; the process that loads this file brings it\n");
    if (!r->is_static && r->all.file[0].needed_count == 0)
        printf("cannot see: it uses no shared library; if MPI is part of it, there is nothing to "
               "preload into\n");
    if (r->loads_late)
        printf("cannot see: what it loads later (dlopen); check those files too\n");
    for (size_t i = 0; i < r->all.missing_count; i++)
        printf("cannot see: %s: not found\n", r->all.missing[i]);
    if (!covered && !r->is_static)
        printf("no call that zmpi covers was found\n");
}

static size_t print_json(const struct report *r)
{
    printf("{\"program\": ");
    tool_json_string(r->all.file[0].path);
    printf(", \"mpi\": ");
    if (r->mpi)
        tool_json_string(r->mpi);
    else
        printf("null");
    printf(", \"static\": %s, \"dlopen\": %s, \"missing\": [", r->is_static ? "true" : "false",
           r->loads_late ? "true" : "false");
    for (size_t i = 0; i < r->all.missing_count; i++) {
        printf("%s", i ? ", " : "");
        tool_json_string(r->all.missing[i]);
    }
    printf("], \"callers\": [");
    size_t covered = print_callers(r, true, true);
    printf("]}\n");
    return covered;
}

static size_t print_text(const struct report *r, bool all)
{
    size_t covered = print_callers(r, false, all);
    print_notes(r, covered);
    return covered;
}

int tool_check(int argc, char **argv)
{
    struct report r = {0};
    bool json, all;
    if (!tool_listing(argc, argv, &json, &all))
        return tool_usage();
    int status = report_make(&r, argv[optind]);
    if (!status && (json ? print_json(&r) : print_text(&r, all)) == 0)
        status = TOOL_DIFFERENT;
    elf_closure_free(&r.all);
    return status;
}
