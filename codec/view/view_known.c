/* view_known.c - which files are containers, and whose view a file without a name is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reader/source.h"
#include "view/view.h"

atomic_bool zmpi_view_on;

enum { FILES = 1024, VIEWS = 256 };

/* The files seen last. Older ones are examined again, or appear as they are. */
static struct {
    struct stat file;
    uint64_t size;
} noted[FILES];
static struct {
    struct stat view, container;
} views[VIEWS];
static unsigned next_view;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void take(void)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
}

static bool is_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool zmpi_view_same(const struct stat *a, const struct stat *b)
{
    return is_file(a, b) && a->st_size == b->st_size && same_time(&a->st_mtim, &b->st_mtim) &&
           same_time(&a->st_ctim, &b->st_ctim);
}

static size_t place_of(const struct stat *s)
{
    return (size_t)((s->st_ino ^ s->st_dev) * 0x9E3779B97F4A7C15u >> 32) % FILES;
}

bool zmpi_view_recall(const struct stat *s, uint64_t *size)
{
    const size_t i = place_of(s);
    take();
    const bool found = noted[i].file.st_ino && zmpi_view_same(&noted[i].file, s);
    *size = noted[i].size;
    pthread_mutex_unlock(&lock);
    return found;
}

/* A change within the clock's last tick does not show in the time: young files are not noted. */
void zmpi_view_note(const struct stat *s, uint64_t size)
{
    struct timespec now;
    const size_t i = place_of(s);
    if (clock_gettime(CLOCK_REALTIME, &now) || now.tv_sec - s->st_mtim.tv_sec < 2)
        return;
    take();
    noted[i].file = *s;
    noted[i].size = size;
    pthread_mutex_unlock(&lock);
}

void zmpi_view_add(const struct stat *view, const struct stat *container)
{
    take();
    const unsigned i = next_view++ % VIEWS;
    views[i].view = *view;
    views[i].container = *container;
    pthread_mutex_unlock(&lock);
}

bool zmpi_view_find(const struct stat *view, struct stat *container)
{
    bool found = false;
    if (!S_ISREG(view->st_mode) || view->st_nlink != 0) /* views have no name */
        return false;
    take();
    for (size_t i = 0; i < VIEWS && !found; i++)
        if (views[i].view.st_ino && is_file(&views[i].view, view)) {
            *container = views[i].container;
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

bool zmpi_view_path(int fd, char *path, size_t size)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(self, path, size - 1);
    if (n <= 0 || path[0] != '/')
        return false;
    path[n] = 0;
    return true;
}

uint64_t zmpi_view_memory(int processes)
{
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    const uint64_t all = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 0;
    return all / 4 / (uint64_t)(processes > 0 ? processes : 1);
}

static bool is_zero(const unsigned char *p, size_t n)
{
    return n && *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Eight bytes tell most files. Zeros may be a container whose header is lost. */
bool zmpi_view_is_container(int fd, const struct stat *s)
{
    unsigned char head[8];
    uint64_t size;
    enum zmpi_kind kind;
    struct zmpi_source source = {.fd = fd};
    struct zmpi_reader in = zmpi_source_reader(&source, (uint64_t)s->st_size, 1);
    in.data_at = NULL; /* it would move the program's position */
    if (!S_ISREG(s->st_mode) || s->st_size < ZMPI_HEADER_BYTES ||
        pread(fd, head, sizeof head, 0) != sizeof head)
        return false;
    if (zmpi_is_container(head, sizeof head))
        return true;
    if (!is_zero(head, sizeof head) || zmpi_view_recall(s, &size))
        return false;
    if (zmpi_source_look(&in, &kind) || !zmpi_kind_is_plain(kind))
        return true; /* an error shows when the bytes are read */
    zmpi_view_note(s, ZMPI_VIEW_PLAIN);
    return false;
}
