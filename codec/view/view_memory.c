/*
 * view_memory.c - the logical bytes of a container in a file without a name: in memory, or where
 * that would be too much, in TMPDIR. Descriptors and mappings of it are real ones.
 *
 * Who has the file open in this process already shares it. Nothing is kept once the last descriptor
 * is closed.
 */
#define _GNU_SOURCE // memfd_create, O_TMPFILE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "reader/reader.h"
#include "view/view.h"

/* One is made at a time: all cores are at it. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct zmpi_view_settings settings;

static void after_fork(void)
{
    making = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* another thread's, which is not here */
}

static void prepare(void)
{
    pthread_atfork(NULL, NULL, after_fork);
    settings = zmpi_view_settings();
}

/* The number may mean another file by now: a pipe must not make us wait. */
static int open_again(int fd)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const int again = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (again >= 0)
        (void)fcntl(again, F_SETFL, 0);
    return again;
}

/* Of the descriptors that this process has open: a view of the same, and the bytes of all views in
 * memory, each once. */
struct open_views {
    int same; /* -1: none */
    uint64_t bytes;
};

static struct open_views look_for(const struct stat *wanted)
{
    struct open_views found = {.same = -1};
    enum { MOST = 64 };
    ino_t counted[MOST];
    size_t n = 0;
    DIR *fds = opendir("/proc/self/fd");
    for (struct dirent *d; fds && (d = readdir(fds));) {
        struct stat s, container;
        const int fd = atoi(d->d_name);
        if (d->d_name[0] == '.' || fstat(fd, &s) || !zmpi_view_find(&s, &container))
            continue;
        if (found.same < 0 && zmpi_view_same(&container, wanted))
            found.same = fd;
        bool seen = false;
        for (size_t i = 0; i < n; i++)
            seen = seen || counted[i] == s.st_ino;
        if (!seen && n < MOST)
            counted[n++] = s.st_ino;
        found.bytes += seen ? 0 : (uint64_t)s.st_size;
    }
    if (fds)
        closedir(fds);
    return found;
}

/* -1: another thread has closed that one meanwhile. */
static int share(int fd, const struct stat *wanted)
{
    struct stat s, container;
    const int shared = open_again(fd);
    if (shared >= 0 && (fstat(shared, &s) || !zmpi_view_find(&s, &container) ||
                        !zmpi_view_same(&container, wanted))) {
        close(shared);
        return -1;
    }
    return shared;
}

/* Makes the view in memory, as far as the limit allows; else in a file. */
static int new_file(uint64_t size, uint64_t used)
{
    const char *folder = secure_getenv("TMPDIR");
    int fd = -1;
    if (size <= settings.most && used <= settings.most - size)
        fd = memfd_create("zmpi", MFD_CLOEXEC);
    if (fd < 0 && folder && *folder)
        fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || !folder || !*folder)
        return fd;
    char name[4096]; /* a file system that has no files without names */
    if (snprintf(name, sizeof name, "%s/zmpi.XXXXXX", folder) >= (int)sizeof name)
        return -1;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

static int no_space(const char *name, uint64_t size)
{
    zmpi_log(ZMPI_LOG_ERROR,
             "%s: its %llu bytes are more than the plain view may have in memory (%llu, "
             "ZMPI_VIEW_MAX), and TMPDIR names no folder for them: zmpi decompress writes them",
             name, (unsigned long long)size, (unsigned long long)settings.most);
    errno = ENOMEM;
    return -1;
}

/* Logs an error of ours, and sets the errno that programs expect. */
static int fail(const struct zmpi_reader_error *error)
{
    zmpi_log(ZMPI_LOG_ERROR, "%s", error->text);
    errno = error->system ? error->system : error->status == ZMPI_ERR_MEMORY ? ENOMEM : EIO;
    return -1;
}

/* Opens it again for reading alone, as the program asked. */
static int finish(int fd, const struct stat *container)
{
    struct stat view;
    const int view_fd = open_again(fd);
    if (fstat(fd, &view) == 0)
        zmpi_view_add(&view, container);
    if (view_fd < 0)
        return fd;
    close(fd);
    return view_fd;
}

static int decode(struct zmpi_reader_file *file, const char *name, const struct stat *s)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_error error;
    struct stat as_shown = *s;
    if (zmpi_reader_info(file, &info, &error))
        return fail(&error);
    as_shown.st_size = (off_t)info.logical_size;
    const struct open_views views = look_for(&as_shown);
    const int shared = views.same >= 0 && !info.written ? share(views.same, &as_shown) : -1;
    if (shared >= 0)
        return shared;
    if (!info.whole)
        zmpi_log(ZMPI_LOG_WARN, "%s: damaged or cut off: data may be missing (zmpi fsck)", name);
    const int fd = new_file(info.logical_size, views.bytes);
    if (fd < 0)
        return no_space(name, info.logical_size);
    if (zmpi_reader_copy(file, fd, &error) == ZMPI_OK)
        return finish(fd, &as_shown);
    close(fd);
    return fail(&error);
}

int zmpi_view_make(int fd, const struct stat *s)
{
    char name[4096];
    struct zmpi_reader_error error;
    struct zmpi_reader_file *file;
    pthread_once(&once, prepare);
    const struct zmpi_reader_options options = {.size = sizeof options,
                                                .threads = settings.threads};
    if (!zmpi_view_path(fd, name, sizeof name))
        snprintf(name, sizeof name, "descriptor %d", fd);
    pthread_mutex_lock(&making);
    int view = -1;
    if (zmpi_reader_open_fd(fd, name, &options, &file, &error)) {
        fail(&error);
    } else {
        view = decode(file, name, s);
        const int kept = errno;
        zmpi_reader_close(file);
        errno = kept;
    }
    pthread_mutex_unlock(&making);
    return view;
}
