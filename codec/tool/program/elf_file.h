/* elf_file.h - what `zmpi check` and `zmpi run` read of programs and shared libraries, and how they
 * find libraries. */
#ifndef ZMPI_ELF_FILE_H
#define ZMPI_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct elf_symbol {
    const char *name;
    bool defined;
};

/* Owns all strings. */
struct elf_file {
    char *path;
    unsigned machine;
    struct elf_symbol *symbol; /* the dynamic symbols */
    size_t symbols;
    struct elf_symbol *local; /* all symbols, if the file was not stripped */
    size_t locals;
    const char **needed; /* names of libraries */
    size_t needed_count;
    const char *soname, *rpath; /* NULL if there is none; RUNPATH counts as well */
    char *strings[3];
};

/* Returns NULL, or why the file cannot be read, as half a sentence. The caller frees *e in either
 * case. */
const char *elf_read(struct elf_file *e, const char *path);
void elf_free(struct elf_file *e);
bool elf_defines(const struct elf_file *e, const char *name);

/* Reads the library `name` that `user` needs, from where the dynamic linker would take it. */
bool elf_find_library(struct elf_file *e, const char *name, const struct elf_file *user);

/* ---- elf_closure.c: a program and the libraries that it needs ---- */

struct elf_closure {
    struct elf_file *file; /* the program, then the libraries that were found; not MPI's own */
    size_t files;
    const char **missing; /* libraries that were not found */
    size_t missing_count;
};

/* Returns NULL, or why the program cannot be read. The caller frees *c in either case. */
const char *elf_closure_make(struct elf_closure *c, const char *path);
void elf_closure_free(struct elf_closure *c);

/* The name that a library gives itself, else its file's name. */
const char *elf_name(const struct elf_file *e);
bool elf_is_zmpi(const struct elf_file *e);
/* Is this an MPI library? And its Fortran or C++ half, which calls all of MPI whatever the program
 * does? */
bool elf_is_mpi(const struct elf_file *e);
bool elf_is_binding(const struct elf_file *e);

#endif
