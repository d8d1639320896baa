/*
 * elf_file.c - symbols and dependencies of an ELF file, from its section headers. It reads 64-bit
 * little-endian files, for which zmpi itself is built. It trusts nothing in the file.
 */
#define _GNU_SOURCE
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file, and its section headers. */
struct source {
    int fd;
    uint64_t size;
    Elf64_Shdr *section;
    size_t sections;
};

static const char damaged[] = "a damaged ELF file";

/* A part of the file with a zero byte behind it, or NULL. */
static void *load(const struct source *s, uint64_t offset, uint64_t size)
{
    if (offset > s->size || size > s->size - offset)
        return NULL;
    char *data = malloc(size + 1);
    for (uint64_t done = 0; data && done < size;) {
        ssize_t got = pread(s->fd, data + done, size - done, (off_t)(offset + done));
        if (got <= 0) {
            free(data);
            return NULL;
        }
        done += (uint64_t)got;
    }
    if (data)
        data[size] = 0;
    return data;
}

static const char *read_header(struct source *s, unsigned *machine)
{
    Elf64_Ehdr *h = load(s, 0, sizeof *h);
    const char *why = NULL;
    char *head = (char *)h;
    if (!h) {
        char *start = load(s, 0, s->size < 2 ? s->size : 2);
        why = start && strncmp(start, "#!", 2) == 0 ? "a script: check what it runs"
                                                    : "not an ELF file";
        free(start);
    } else if (strncmp(head, "#!", 2) == 0) {
        why = "a script: check what it runs, or the module that brings MPI";
    } else if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) {
        why = "not an ELF file";
    } else if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB) {
        why = "not a 64-bit little-endian ELF file";
    } else if (h->e_type != ET_EXEC && h->e_type != ET_DYN) {
        why = "an ELF file, but no program and no shared library";
    } else if (h->e_shnum == 0) {
        why = "an ELF file without section headers";
    } else if (h->e_shentsize != sizeof *s->section ||
               !(s->section = load(s, h->e_shoff, h->e_shnum * sizeof *s->section))) {
        why = damaged;
    } else {
        s->sections = h->e_shnum;
        *machine = h->e_machine;
    }
    free(h);
    return why;
}

static const Elf64_Shdr *section_of(const struct source *s, unsigned type)
{
    for (size_t i = 0; i < s->sections; i++)
        if (s->section[i].sh_type == type)
            return &s->section[i];
    return NULL;
}

/* Loads a table and the strings that it refers to. */
static bool load_table(const struct source *s, const Elf64_Shdr *section, void **table,
                       char **strings, size_t *strings_size)
{
    *table = *strings = NULL;
    if (section->sh_link >= s->sections || s->section[section->sh_link].sh_type != SHT_STRTAB)
        return false;
    const Elf64_Shdr *names = &s->section[section->sh_link];
    *table = load(s, section->sh_offset, section->sh_size);
    *strings = load(s, names->sh_offset, names->sh_size);
    *strings_size = names->sh_size;
    return *table && *strings;
}

static bool read_symbols(const struct source *s, unsigned type, struct elf_symbol **symbol,
                         size_t *count, char **strings)
{
    const Elf64_Shdr *section = section_of(s, type);
    void *table;
    size_t size, n = section ? section->sh_size / sizeof(Elf64_Sym) : 0;
    if (!section)
        return true;
    bool good = load_table(s, section, &table, strings, &size);
    if (good)
        *symbol = calloc(n + 1, sizeof **symbol);
    const Elf64_Sym *from = table;
    for (size_t i = 0; good && *symbol && i < n; i++) {
        good = from[i].st_name <= size;
        if (good)
            (*symbol)[(*count)++] =
                (struct elf_symbol){*strings + from[i].st_name, from[i].st_shndx != SHN_UNDEF};
    }
    free(table);
    return good && *symbol;
}

static bool read_dynamic(const struct source *s, struct elf_file *e, char **strings)
{
    const Elf64_Shdr *section = section_of(s, SHT_DYNAMIC);
    void *table;
    size_t size, n = section ? section->sh_size / sizeof(Elf64_Dyn) : 0;
    if (!section)
        return true;
    bool good = load_table(s, section, &table, strings, &size);
    if (good)
        e->needed = calloc(n + 1, sizeof *e->needed);
    const Elf64_Dyn *from = table;
    for (size_t i = 0; good && e->needed && i < n && from[i].d_tag != DT_NULL; i++) {
        int64_t tag = from[i].d_tag;
        if (tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH && tag != DT_RUNPATH)
            continue;
        const char *text = *strings + from[i].d_un.d_val;
        good = from[i].d_un.d_val <= size;
        if (good && tag == DT_NEEDED)
            e->needed[e->needed_count++] = text;
        else if (good && tag == DT_SONAME)
            e->soname = text;
        else if (good)
            e->rpath = text;
    }
    free(table);
    return good && e->needed;
}

const char *elf_read(struct elf_file *e, const char *path)
{
    struct source s = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    struct stat stat;
    memset(e, 0, sizeof *e);
    e->path = strdup(path);
    if (s.fd < 0 || !e->path)
        return strerror(errno);
    const char *why = fstat(s.fd, &stat) || !S_ISREG(stat.st_mode) ? "not a regular file" : NULL;
    s.size = why ? 0 : (uint64_t)stat.st_size;
    if (!why)
        why = read_header(&s, &e->machine);
    if (!why && (!read_dynamic(&s, e, &e->strings[0]) ||
                 !read_symbols(&s, SHT_DYNSYM, &e->symbol, &e->symbols, &e->strings[1]) ||
                 !read_symbols(&s, SHT_SYMTAB, &e->local, &e->locals, &e->strings[2])))
        why = damaged;
    free(s.section);
    close(s.fd);
    return why;
}

void elf_free(struct elf_file *e)
{
    for (int i = 0; i < 3; i++)
        free(e->strings[i]);
    free(e->symbol);
    free(e->local);
    free(e->needed);
    free(e->path);
    memset(e, 0, sizeof *e);
}

static bool lists(const struct elf_symbol *symbol, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (symbol[i].defined && strcmp(symbol[i].name, name) == 0)
            return true;
    return false;
}

bool elf_defines(const struct elf_file *e, const char *name)
{
    return lists(e->symbol, e->symbols, name) || lists(e->local, e->locals, name);
}
