/* elf_closure.c - a program, the libraries that it needs, and those that these need. */
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"

const char *elf_name(const struct elf_file *e)
{
    const char *slash = strrchr(e->path, '/');
    return e->soname ? e->soname : slash ? slash + 1 : e->path;
}

bool elf_is_zmpi(const struct elf_file *e)
{
    return elf_defines(e, "zmpi_file_is_container");
}

bool elf_is_mpi(const struct elf_file *e)
{
    return elf_defines(e, "PMPI_Init") && !elf_is_zmpi(e);
}

bool elf_is_binding(const struct elf_file *e)
{
    return elf_defines(e, "mpi_init_") || elf_defines(e, "mpi_init_f08_") ||
           strncmp(elf_name(e), "libmpi_cxx.", 11) == 0 ||
           strncmp(elf_name(e), "libmpichcxx.", 12) == 0;
}

static bool known(const struct elf_closure *c, const char *name)
{
    for (size_t i = 0; i < c->files; i++)
        if (strcmp(elf_name(&c->file[i]), name) == 0)
            return true;
    for (size_t i = 0; i < c->missing_count; i++)
        if (strcmp(c->missing[i], name) == 0)
            return true;
    return false;
}

static bool add_missing(struct elf_closure *c, const char *name)
{
    const char **grown = realloc(c->missing, (c->missing_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    c->missing = grown;
    c->missing[c->missing_count++] = name;
    return true;
}

static bool add_file(struct elf_closure *c, struct elf_file *e)
{
    struct elf_file *grown = realloc(c->file, (c->files + 1) * sizeof *grown);
    if (!grown) {
        elf_free(e);
        return false;
    }
    c->file = grown;
    c->file[c->files++] = *e;
    return true;
}

/* Adds the libraries that file `of` needs to the end of the list. */
static bool add_needed(struct elf_closure *c, size_t of)
{
    bool good = true;
    for (size_t i = 0; good && i < c->file[of].needed_count; i++) {
        const char *name = c->file[of].needed[i];
        struct elf_file found;
        if (known(c, name))
            continue;
        good = elf_find_library(&found, name, &c->file[of]) ? add_file(c, &found)
                                                            : add_missing(c, name);
    }
    return good;
}

const char *elf_closure_make(struct elf_closure *c, const char *path)
{
    struct elf_file program;
    *c = (struct elf_closure){0};
    const char *why = elf_read(&program, path);
    if (why) {
        elf_free(&program);
        return why;
    }
    bool good = add_file(c, &program);
    for (size_t i = 0; good && i < c->files; i++)
        if (!elf_is_mpi(&c->file[i]))
            good = add_needed(c, i);
    return good ? NULL : "out of memory";
}

void elf_closure_free(struct elf_closure *c)
{
    for (size_t i = 0; i < c->files; i++)
        elf_free(&c->file[i]);
    free(c->file);
    free(c->missing);
    *c = (struct elf_closure){0};
}
