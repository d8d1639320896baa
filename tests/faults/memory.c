/* memory.c - see memory.h. glibc's own names for its functions, or AddressSanitizer's, which need
 * no search for them. */
#define _GNU_SOURCE // dl_iterate_phdr
#include "memory.h"

#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ZMPI_TEST_ASAN
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

extern void *REAL(malloc)(size_t size);
extern void *REAL(calloc)(size_t n, size_t size);
extern void *REAL(realloc)(void *p, size_t size);
extern void *REAL(memalign)(size_t alignment, size_t size);

static atomic_int what; /* 0: nothing fails and nothing is counted */
static atomic_bool paused;
static atomic_long first, last, seen;
/* Of the library whose calls fail, and of the codec, which it brings along. */
static struct {
    uintptr_t start, end;
} place[2];

/* ---- whose call is it? ---- */

static int find(struct dl_phdr_info *info, size_t size, void *wanted)
{
    const char *name = wanted;
    const bool program = strcmp(name, "program") == 0, plugin = strchr(name, '_') != NULL;
    const bool codec = strstr(info->dlpi_name, "libzmpi_codec.so") != NULL;
    uintptr_t start = UINTPTR_MAX, end = 0;
    (void)size;
    /* The program has no name here. A plug-in has the codec from others. */
    const bool is_it = program ? info->dlpi_name[0] == 0 : strstr(info->dlpi_name, name) != NULL;
    const int k = codec && !plugin ? 1 : 0;
    if ((!is_it && k == 0) || place[k].end > 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD)
            continue;
        start = at < start ? at : start;
        end = at + h->p_memsz > end ? at + h->p_memsz : end;
    }
    place[k].start = start;
    place[k].end = end;
    return 0;
}

static void look(void)
{
    const char *of = getenv("LACK_OF");
    memset(place, 0, sizeof place);
    dl_iterate_phdr(find, (void *)(uintptr_t)(of ? of : "libzmpi.so"));
}

/* Counts of executed lines are written later, with memory of their own (gcov). */
static void at_end(void)
{
    atomic_store(&paused, true);
}

static bool fails(enum lack_what kind, const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    if (place[0].end == 0 && atomic_load(&what)) /* a plug-in, maybe, which is loaded late */
        look();
    if (atomic_load(&paused) || (atomic_load(&what) & (int)kind) == 0 ||
        !((at >= place[0].start && at < place[0].end) ||
          (at >= place[1].start && at < place[1].end)))
        return false;
    static atomic_flag known = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(
            &known)) /* not at the start: what is registered first ends last */
        atexit(at_end);
    const long n = atomic_fetch_add(&seen, 1) + 1;
    return n >= atomic_load(&first) && n <= atomic_load(&last);
}

#define FAILS(kind) fails(kind, __builtin_return_address(0))

void lack_set(const struct lack *lack)
{
    atomic_store(&what, 0);
    atomic_store(&seen, 0);
    if (!lack)
        return;
    look();
    atomic_store(&first, lack->at ? lack->at : INTPTR_MAX);
    atomic_store(&last, lack->times ? lack->at + lack->times - 1 : INTPTR_MAX);
    atomic_store(&what, lack->what);
}

void lack_pause(int pause)
{
    atomic_store(&paused, pause != 0);
}

long lack_count(void)
{
    return atomic_load(&seen);
}

/* ---- programs that do not call lack_set ---- */

static int launched_as(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    struct lack lack = {.what = LACK_MEMORY | LACK_THREAD | LACK_MPI};
    int rank = -1;
    const char *text = getenv("LACK");
    if (text && sscanf(text, "%ld:%ld:%d", &lack.at, &lack.times, &rank) > 0 &&
        (rank < 0 || rank == launched_as()))
        lack_set(&lack);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("LACK_COUNT");
    char text[32];
    const int n = snprintf(text, sizeof text, "%ld\n", lack_count());
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        (void)!write(fd, text, (size_t)n);
        close(fd);
    }
}

/* ---- what fails ---- */

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return FAILS(LACK_MEMORY) ? no_memory() : REAL(malloc)(size);
}

void *calloc(size_t n, size_t size)
{
    return FAILS(LACK_MEMORY) ? no_memory() : REAL(calloc)(n, size);
}

void *realloc(void *p, size_t size)
{
    return FAILS(LACK_MEMORY) ? no_memory() : REAL(realloc)(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS(LACK_MEMORY) ? no_memory() : REAL(memalign)(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    if (FAILS(LACK_MEMORY))
        return ENOMEM;
    *p = REAL(memalign)(alignment, size);
    return *p ? 0 : ENOMEM;
}

char *strdup(const char *s)
{
    const size_t size = strlen(s) + 1;
    char *copy = FAILS(LACK_MEMORY) ? no_memory() : REAL(malloc)(size);
    return copy ? memcpy(copy, s, size) : NULL;
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    return FAILS(LACK_MEMORY) ? no_memory() : next(path, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return FAILS(LACK_THREAD) ? EAGAIN : next(thread, attributes, run, argument);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    const bool bad = FAILS(LACK_MPI);
    int rc = PMPI_Comm_dup(comm, copy); /* the other ranks wait for us in there */
    if (!bad || rc)
        return rc;
    PMPI_Comm_free(copy);
    return MPI_ERR_INTERN;
}

int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *discard,
                       MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request)
{
    return FAILS(LACK_MPI) ? MPI_ERR_INTERN
                           : PMPI_Grequest_start(query, discard, cancel, state, request);
}
