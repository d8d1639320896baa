/*
 * view_plain.c - a container that a program opens for writing, by open or fopen, becomes a plain
 * file first: its bytes would be damaged else. The plain one is written beside it and takes its
 * name when it is complete; a kill in between leaves the old one.
 */
#define _GNU_SOURCE // O_PATH, mkostemp
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/log.h"
#include "reader/reader.h"
#include "view/view.h"

static bool refuse(const char *path, int error, const char *why)
{
    zmpi_log(ZMPI_LOG_ERROR,
             "%s: cannot be opened for writing: it is a zmpi container, and cannot be made plain: "
             "%s",
             path, why ? why : strerror(error));
    errno = error;
    return false;
}

static bool is_at(const struct stat *s, const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && there.st_dev == s->st_dev && there.st_ino == s->st_ino;
}

/* The logical bytes, on the disk, by the same owner and with the same rights. */
static bool write_plain(const char *path, int fd, int to, const struct stat *s)
{
    const struct zmpi_view_settings settings = zmpi_view_settings();
    const struct zmpi_reader_options options = {.size = sizeof options,
                                                .threads = settings.threads};
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_error error;
    struct zmpi_reader_file *file;
    struct stat now;
    if (zmpi_reader_open_fd(fd, path, &options, &file, &error))
        return refuse(path, EIO, error.text);
    enum zmpi_status status = zmpi_reader_info(file, &info, &error);
    const bool whole = !status && info.whole;
    if (whole)
        status = zmpi_reader_copy(file, to, &error);
    zmpi_reader_close(file);
    if (status)
        return refuse(path, error.system ? error.system : EIO, error.text);
    if (!whole)
        return refuse(path, EIO, "it is damaged (zmpi recover)");
    if (fstat(to, &now))
        return refuse(path, errno, NULL);
    if ((now.st_uid != s->st_uid || now.st_gid != s->st_gid) && fchown(to, s->st_uid, s->st_gid))
        return refuse(path, errno, "the new file would have another owner");
    if (!zmpi_attributes_copy(fd, to))
        return refuse(path, errno, "the new file would have other attributes");
    if (fchmod(to, s->st_mode & 07777) || fsync(to))
        return refuse(path, errno, NULL);
    return true;
}

/* With the lock: no other process makes the file plain meanwhile. */
static bool replace(const char *path, int fd, const struct stat *s)
{
    char name[PATH_MAX + 8];
    if (zmpi_source_is_written(fd))
        return refuse(path, EBUSY, "a program has it open by MPI-IO");
    if (s->st_nlink > 1)
        return refuse(path, EPERM, "it has several names (hard links): zmpi decompress");
    snprintf(name, sizeof name, "%s.XXXXXX", path);
    const int to = mkostemp(name, O_CLOEXEC);
    if (to < 0)
        return refuse(path, errno, NULL);
    bool done = write_plain(path, fd, to, s);
    int error = errno;
    if (close(to) && done)
        done = refuse(path, error = errno, NULL);
    if (done && rename(name, path))
        done = refuse(path, error = errno, NULL);
    if (!done)
        unlink(name);
    errno = error;
    return done;
}

/* The name of the file, or the one that it had until another process made it plain a moment ago: of
 * a file without a name the kernel says so behind it. */
static bool find_name(int fd, const struct stat *s, char path[PATH_MAX])
{
    static const char deleted[] = " (deleted)";
    const size_t end = sizeof deleted - 1;
    for (int i = 0; i < 2; i++) { /* it may lose its name between the two questions */
        if (!zmpi_view_path(fd, path, PATH_MAX))
            return false;
        if (is_at(s, path))
            return true;
        const size_t n = strlen(path);
        if (n > end && strcmp(path + n - end, deleted) == 0) {
            path[n - end] = 0;
            return access(path, F_OK) == 0;
        }
    }
    return false;
}

static bool is_container_at(const char *path)
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is = fd >= 0 && fstat(fd, &s) == 0 && zmpi_view_is_container(fd, &s);
    if (fd >= 0)
        close(fd);
    return is;
}

bool zmpi_view_make_plain(int *fd, int flags)
{
    char path[PATH_MAX];
    struct stat s;
    if (fstat(*fd, &s) || !find_name(*fd, &s, path))
        return refuse("a file without a name", EBUSY, "it has no name");
    while (flock(*fd, LOCK_EX) && errno == EINTR)
        ;
    /* The process that had the lock before has perhaps done it. */
    const bool is_there = is_at(&s, path);
    const bool done = is_there                ? replace(path, *fd, &s)
                      : is_container_at(path) ? refuse(path, EBUSY, "it was replaced by another")
                                              : true;
    const int error = errno;
    if (done && is_there)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: made plain, since it is opened for writing (a program that opens it only for "
                 "reading leaves it compressed)",
                 path);
    const int again = done ? open(path, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) : -1;
    const int kept = done ? errno : error;
    flock(*fd, LOCK_UN);
    *fd = again;
    errno = kept;
    return again >= 0;
}
