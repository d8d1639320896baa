/* reader_open.c - opens a file, examines it again, closes it. */
#define _GNU_SOURCE // O_CLOEXEC
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/floats.h"
#include "base/real_files.h"
#include "reader/reader.h"

/* The limit of ZMPI_THREADS. */
#define THREADS_MOST 1024

static enum zmpi_status take_options(struct zmpi_reader_file *f,
                                     const struct zmpi_reader_options *given,
                                     struct zmpi_reader_error *error)
{
    struct zmpi_reader_options o = {0};
    if (given && given->size < sizeof o)
        return zmpi_reader_say(error, ZMPI_ERR_ARG,
                               "struct zmpi_reader_options: size is %zu, not %zu", given->size,
                               sizeof o);
    if (given)
        o = *given;
    if (o.threads < 0 || o.threads > THREADS_MOST ||
        o.flags & ~(unsigned)(ZMPI_READER_PLAIN | ZMPI_READER_ENHANCE))
        return zmpi_reader_say(error, ZMPI_ERR_ARG,
                               "struct zmpi_reader_options: threads from 0 to %d, flags "
                               "ZMPI_READER_PLAIN, ZMPI_READER_ENHANCE or none",
                               THREADS_MOST);
    f->threads = o.threads ? o.threads : zmpi_cpus_count();
    f->flags = o.flags;
    return ZMPI_OK;
}

/* On ZMPI_OK the file owns the descriptor. own: no other code uses its position and locks. */
static enum zmpi_status open_file(int fd, bool own, const char *name,
                                  const struct zmpi_reader_options *options,
                                  struct zmpi_reader_file **file, struct zmpi_reader_error *error)
{
    struct zmpi_reader_file *f = calloc(1, sizeof *f);
    struct zmpi_trouble trouble;
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return zmpi_reader_say(error, ZMPI_ERR_MEMORY, "%.300s: out of memory", name);
    }
    f->fd = fd;
    f->own = own;
    enum zmpi_status status = take_options(f, options, error);
    if (!status) {
        if (own)
            zmpi_source_lock(fd);
        const struct zmpi_floats program = zmpi_floats_begin();
        status = zmpi_contents_open(f, &f->now, &trouble);
        zmpi_floats_end(program);
        if (status)
            zmpi_reader_fail(error, name, &trouble);
    }
    if (status) {
        free(f->name);
        free(f);
        return status;
    }
    pthread_mutex_init(&f->lock, NULL);
    zmpi_reader_remark(error, f);
    *file = f;
    return ZMPI_OK;
}

static enum zmpi_status cannot_open(struct zmpi_reader_error *error, const char *name)
{
    const struct zmpi_trouble trouble = {ZMPI_ERR_IO, errno, ZMPI_READER_NO_RECORD, NULL};
    return zmpi_reader_fail(error, name, &trouble);
}

enum zmpi_status zmpi_reader_open(const char *path, const struct zmpi_reader_options *options,
                                  struct zmpi_reader_file **file, struct zmpi_reader_error *error)
{
    zmpi_real_files++;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe waits */
    const enum zmpi_status status =
        fd < 0 ? cannot_open(error, path) : open_file(fd, true, path, options, file, error);
    zmpi_real_files--;
    if (status && fd >= 0)
        close(fd);
    return status;
}

enum zmpi_status zmpi_reader_open_fd(int fd, const char *name,
                                     const struct zmpi_reader_options *options,
                                     struct zmpi_reader_file **file,
                                     struct zmpi_reader_error *error)
{
    char self[40];
    bool own = true;
    zmpi_real_files++;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    /* A descriptor with its own position and locks. */
    int copy = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (copy < 0) {
        own = false;
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
    const enum zmpi_status status =
        copy < 0 ? cannot_open(error, name) : open_file(copy, own, name, options, file, error);
    zmpi_real_files--;
    if (status && copy >= 0)
        close(copy);
    return status;
}

void zmpi_reader_close(struct zmpi_reader_file *f)
{
    if (!f)
        return;
    zmpi_contents_free(&f->now);
    pthread_mutex_destroy(&f->lock);
    close(f->fd);
    free(f->name);
    free(f);
}

static enum zmpi_status refresh(struct zmpi_reader_file *f, bool *changed,
                                struct zmpi_trouble *trouble)
{
    struct zmpi_contents fresh;
    const uint64_t before = f->now.logical;
    *changed = false;
    if (zmpi_contents_same(f))
        return ZMPI_OK;
    const uint64_t records = zmpi_contents_records(&f->now);
    if (zmpi_contents_follow(f)) {
        *changed = zmpi_contents_records(&f->now) != records || f->now.logical != before;
        return ZMPI_OK;
    }
    const enum zmpi_status status = zmpi_contents_open(f, &fresh, trouble);
    if (status)
        return status;
    *changed = true;
    zmpi_contents_free(&f->now);
    f->now = fresh;
    return ZMPI_OK;
}

enum zmpi_status zmpi_reader_refresh(struct zmpi_reader_file *f, int *changed,
                                     struct zmpi_reader_error *error)
{
    struct zmpi_trouble trouble;
    bool is_other;
    const struct zmpi_floats program = zmpi_floats_begin();
    pthread_mutex_lock(&f->lock);
    zmpi_real_files++;
    const enum zmpi_status status = refresh(f, &is_other, &trouble);
    zmpi_real_files--;
    if (!status)
        zmpi_reader_remark(error, f);
    pthread_mutex_unlock(&f->lock);
    zmpi_floats_end(program);
    if (status)
        return zmpi_reader_fail(error, f->name, &trouble);
    if (changed)
        *changed = is_other;
    return ZMPI_OK;
}
