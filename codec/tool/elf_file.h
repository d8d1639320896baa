/* elf_file.h - what `zmpi check` reads of programs and shared libraries, and where it finds those.
 */
#ifndef ZMPI_ELF_FILE_H
#define ZMPI_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct elf_symbol {
    const char *name;
    bool defined;
};

/* All strings belong to it. */
struct elf_file {
    char *path;
    unsigned machine;
    struct elf_symbol *symbol; /* the dynamic symbols */
    size_t symbols;
    struct elf_symbol *local; /* all symbols, if the file was not stripped */
    size_t locals;
    const char **needed; /* names of libraries */
    size_t needed_count;
    const char *soname, *rpath; /* NULL if it has none; RUNPATH counts as well */
    char *strings[3];
};

/* NULL, or why the file cannot be read, as half a sentence. Free what was read in either case. */
const char *elf_read(struct elf_file *e, const char *path);
void elf_free(struct elf_file *e);
bool elf_defines(const struct elf_file *e, const char *name);

/* Reads the library `name` that `user` needs, looked for as the dynamic linker would. */
bool elf_find_library(struct elf_file *e, const char *name, const struct elf_file *user);

#endif
