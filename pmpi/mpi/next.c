/*
 * next.c - the MPI functions behind us.
 *
 * libzmpi.so refers to no symbol of the MPI library: a shell or mpirun, which have none, run as if
 * we were not there, and an interpreter may load its MPI long after us. The first call that reaches
 * us fills a table; next_mpi.h makes PMPI_x in our sources mean "the MPI_x behind us", so that a
 * tool preloaded behind us sees what we do, and MPI_FLOAT what it is in the library that was found.
 *
 * We define MPI_x, for programs, and PMPI_x, for those that put themselves between the program and
 * us: Open MPI's Fortran bindings and tools in front of us. The MPI library and tools behind us
 * call PMPI_x too; what they do is done already as we want it and must not be done twice. The
 * caller's return address tells which of both it is.
 */
#define _GNU_SOURCE // dl_iterate_phdr, RTLD_NEXT
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mpi/next.h"

/* MPI libraries whose handles, constants and structures are alike, whatever their versions. */
enum family { MPICH_LIKE, OPEN_MPI_LIKE, STANDARD };
static const char *const family_name[] = {"MPICH and libraries with its ABI", "Open MPI",
                                          "the standard ABI of MPI 5"};
#if defined OPEN_MPI
#define BUILT_FOR OPEN_MPI_LIKE
#elif defined MPI_ABI_VERSION && !defined MPICH_VERSION
#define BUILT_FOR STANDARD
#else
#define BUILT_FOR MPICH_LIKE
#endif

void *znext[ZNEXT_COUNT];
void *zreal[ZWRAPPED_COUNT];
atomic_bool znext_found;

static void *mpi; /* the library */

/* An object that is mapped from one file. */
struct object {
    uintptr_t start, end;
    const char *name;
    bool behind;
};

/* The objects that were loaded when we searched, by address. */
static struct object *objects;
static size_t objects_count;

static _Noreturn void stop(const char *why)
{
    zmpi_log(ZMPI_LOG_ERROR, "%s", why);
    exit(EXIT_FAILURE);
}

/* ---- objects ---- */

static struct object object_of(const struct dl_phdr_info *info)
{
    struct object o = {.start = UINTPTR_MAX, .name = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD)
            continue;
        o.start = start < o.start ? start : o.start;
        o.end = start + h->p_memsz > o.end ? start + h->p_memsz : o.end;
    }
    return o;
}

static bool contains(const struct object *o, const void *address)
{
    return (uintptr_t)address >= o->start && (uintptr_t)address < o->end;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *failed)
{
    (void)size;
    struct object *grown = realloc(objects, (objects_count + 1) * sizeof *objects);
    if (!grown)
        return *(bool *)failed = true;
    objects = grown;
    objects[objects_count++] = object_of(info);
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Open MPI's components, loaded in MPI_Init and later. ROMIO is one. */
static bool is_component(const char *path)
{
    return strncmp(name_in(path), "mca_", 4) == 0;
}

/* Does it define an MPI function that we define too? Fortran bindings do not: their names differ.
 */
static bool is_tool_or_mpi(const struct object *o)
{
    void *handle = o->name[0] ? dlopen(o->name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    bool found = false;
    for (size_t i = 0; handle && !found && i < ZWRAPPED_COUNT; i++) {
        void *function = dlsym(handle, zwrapped_name[i]); /* in its dependencies too */
        found = function && contains(o, function);
    }
    if (handle)
        dlclose(handle);
    return found;
}

/* In the dynamic linker's order: what stands in front of us comes first. */
static void find_behind(const void *init)
{
    bool passed = false;
    for (size_t i = 0; i < objects_count; i++) {
        struct object *o = &objects[i];
        bool us = contains(o, &znext_found);
        o->behind =
            us || contains(o, init) || is_component(o->name) || (passed && is_tool_or_mpi(o));
        passed = passed || us;
    }
    qsort(objects, objects_count, sizeof *objects, by_address);
}

/* One that was loaded after we searched. */
static int find_late(struct dl_phdr_info *info, size_t size, void *wanted)
{
    (void)size;
    struct object *w = wanted, o = object_of(info);
    if (!contains(&o, (const void *)w->start))
        return 0;
    w->behind = is_component(o.name);
    return 1;
}

bool znext_is_behind(const void *address)
{
    size_t low = 0, high = objects_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (contains(&objects[middle], address))
            return objects[middle].behind;
        if ((uintptr_t)address < objects[middle].start)
            high = middle;
        else
            low = middle + 1;
    }
    struct object late = {.start = (uintptr_t)address};
    dl_iterate_phdr(find_late, &late);
    return late.behind;
}

/* ---- symbols ---- */

static bool is_ours(const void *function)
{
    Dl_info info, own;
    return dladdr(function, &info) && dladdr(&znext_found, &own) && info.dli_fbase == own.dli_fbase;
}

/* PMPI_Init of the MPI library. An interpreter may have loaded it where RTLD_NEXT does not see it.
 */
static void *find_mpi(void)
{
    void *init = dlsym(RTLD_NEXT, "PMPI_Init");
    for (size_t i = 0; i < objects_count && !init; i++) {
        void *handle = objects[i].name[0] ? dlopen(objects[i].name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!handle)
            continue;
        void *candidate = dlsym(handle, "PMPI_Init");
        dlclose(handle);
        if (candidate && !is_ours(candidate))
            init = candidate;
    }
    return init;
}

static void *library_of(const void *function)
{
    Dl_info info;
    return dladdr(function, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* A library of the standard ABI brings its native one along, which the name tells it from. */
static enum family family_of(const void *init)
{
    Dl_info info;
    if (dladdr(init, &info) && strstr(name_in(info.dli_fname), "libmpi_abi"))
        return STANDARD;
    return dlsym(mpi, "ompi_mpi_comm_world") ? OPEN_MPI_LIKE : MPICH_LIKE;
}

/* The library's own name, "MPICH Version: 4.0.2". */
static void name_of(char *name, size_t size)
{
    int (*version)(char *, int *);
    char text[8192] = "another one"; /* longer than any MPI's MPI_MAX_LIBRARY_VERSION_STRING */
    int length;
    *(void **)&version = dlsym(mpi, "PMPI_Get_library_version");
    if (version)
        version(text, &length);
    text[strcspn(text, ",\n")] = 0;
    for (char *p = text; *p; p++)
        *p = *p == '\t' ? ' ' : *p;
    snprintf(name, size, "%s", text);
}

/* Handles and constants are those of the mpi.h that we were compiled with. */
static void check_family(const void *init)
{
    const enum family family = family_of(init);
    char name[100], message[400];
    if (family == BUILT_FOR)
        return;
    name_of(name, sizeof name);
    snprintf(message, sizeof message,
             "this libzmpi.so was built for %s, the program runs %s%s: preload one that was built "
             "with the program's MPI (zmpi run finds it, or zmpi run --mpi NAME)",
             family_name[BUILT_FOR], name,
             family == STANDARD ? " by the standard ABI of MPI 5" : "");
    stop(message);
}

void *znext_function(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name + 1);
    return function ? function : dlsym(mpi, name);
}

static void search(void)
{
    bool failed = false;
    dl_iterate_phdr(add_object, &failed);
    void *init = failed ? NULL : find_mpi();
    mpi = init ? library_of(init) : NULL;
    if (failed)
        stop("no memory to find out where the MPI library is");
    if (!mpi)
        stop("an MPI function was called, but no MPI library is loaded");
    check_family(init);
    for (size_t i = 0; i < ZNEXT_COUNT; i++) {
        const char *name = znext_name[i];
        /* A variable may have moved into the program (a copy relocation). */
        znext[i] = strncmp(name, "PMPI", 4) == 0 ? znext_function(name) : dlsym(RTLD_DEFAULT, name);
        if (!znext[i])
            znext[i] = dlsym(mpi, name);
    }
    for (size_t i = 0; i < ZWRAPPED_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "P%s", zwrapped_name[i]);
        zreal[i] = dlsym(mpi, name);
    }
    find_behind(init);
    atomic_store_explicit(&znext_found, true, memory_order_release);
}

void znext_search(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search);
}
