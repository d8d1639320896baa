/* elf_library.c - finds a library where the dynamic linker would: RPATH and RUNPATH,
 * LD_LIBRARY_PATH, ldconfig's cache, the system's folders (ld.so(8)). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"

/* Reads the file if it exists and is for the same machine. */
static bool try_path(struct elf_file *e, const char *path, const struct elf_file *user)
{
    if (!elf_read(e, path) && e->machine == user->machine)
        return true;
    elf_free(e);
    return false;
}

/* Tries a folder of a search path. It may begin with $ORIGIN, the folder of the file that names
 * it. */
static bool try_folder(struct elf_file *e, const char *folder, size_t length, const char *name,
                       const struct elf_file *user)
{
    static const char *const origin[] = {"$ORIGIN", "${ORIGIN}"};
    const char *home = "", *slash = strrchr(user->path, '/');
    int home_length = 0;
    char *path;
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(origin[i]);
        if (length < n || strncmp(folder, origin[i], n) != 0)
            continue;
        home = slash ? user->path : ".";
        home_length = slash ? (int)(slash - user->path) : 1;
        folder += n;
        length -= n;
        break;
    }
    if (length > 4096 ||
        asprintf(&path, "%.*s%.*s/%s", home_length, home, (int)length, folder, name) < 0)
        return false;
    bool found = try_path(e, path, user);
    free(path);
    return found;
}

static bool try_folders(struct elf_file *e, const char *folders, const char *name,
                        const struct elf_file *user)
{
    while (folders && *folders) {
        size_t n = strcspn(folders, ":;");
        if (n && try_folder(e, folders, n, name, user))
            return true;
        folders += n + (folders[n] != 0);
    }
    return false;
}

/* ---- /etc/ld.so.cache, in glibc's format since 2.32 ---- */

struct cache_header {
    char magic[20];
    uint32_t count;
    uint32_t unused[6];
};

struct cache_entry {
    int32_t flags;
    uint32_t name, path; /* bytes from the start of the file */
    uint32_t version;
    uint64_t capabilities;
};

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    *size = 0;
    for (size_t capacity = 1 << 16; file; capacity *= 2) {
        char *grown = realloc(data, capacity + 1);
        if (!grown)
            break;
        data = grown;
        *size += fread(data + *size, 1, capacity - *size, file);
        if (*size < capacity)
            break;
    }
    if (file)
        fclose(file);
    if (data)
        data[*size] = 0;
    return data;
}

static bool try_cache(struct elf_file *e, const char *name, const struct elf_file *user)
{
    static const char magic[] = "glibc-ld.so.cache1.1";
    size_t size;
    char *cache = read_whole("/etc/ld.so.cache", &size);
    const struct cache_header *h = (const void *)cache;
    bool found = false;
    if (!cache || size < sizeof *h || memcmp(h->magic, magic, sizeof h->magic) != 0 ||
        h->count > (size - sizeof *h) / sizeof(struct cache_entry)) {
        free(cache);
        return false;
    }
    const struct cache_entry *entry = (const void *)(cache + sizeof *h);
    for (uint32_t i = 0; i < h->count && !found; i++)
        found = entry[i].name < size && entry[i].path < size &&
                strcmp(cache + entry[i].name, name) == 0 &&
                try_path(e, cache + entry[i].path, user);
    free(cache);
    return found;
}

bool elf_find_library(struct elf_file *e, const char *name, const struct elf_file *user)
{
    if (strchr(name, '/'))
        return try_path(e, name, user);
    return try_folders(e, user->rpath, name, user) ||
           try_folders(e, getenv("LD_LIBRARY_PATH"), name, user) || try_cache(e, name, user) ||
           try_folders(e, "/lib64:/usr/lib64:/lib:/usr/lib", name, user);
}
