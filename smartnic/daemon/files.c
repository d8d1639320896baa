/*
 * files.c - what zmpi-nicd writes to files: records, to containers below the folders that it was
 * given.
 *
 * A client says where, and the daemon checks it: the path must lead there without links, to a file
 * that may be written and has the stated id; the head must be that of a record for this place and
 * this stream, by its own checksum.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "container/container.h"
#include "daemon/nicd.h"

bool nicd_root_add(struct nicd_settings *s, const char *folder)
{
    if (s->root_count == NICD_ROOTS)
        return false;
    struct nicd_root *root = &s->root[s->root_count];
    root->path = realpath(folder, NULL);
    root->fd = root->path ? open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    s->root_count += root->fd >= 0;
    return root->fd >= 0;
}

/* The part of the path below the folder; NULL if the path does not begin with it. */
static const char *below(const struct nicd_root *root, const char *path)
{
    const size_t n = strcmp(root->path, "/") == 0 ? 0 : strlen(root->path);
    return strncmp(path, root->path, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* Opens a name in a folder with O_PATH, to look at it or to walk on: this has no effect on devices
 * and pipes. */
static int step(int folder, const char *name, int flags)
{
    if (*name == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        errno = EXDEV; /* an honest client never sends that */
        return -1;
    }
    return openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
}

/* Opens `path` below a folder with O_PATH; -1 with errno set if a part of it is a link or leads
 * back. */
static int walk(int folder, char *path)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    char *name;
    while (at >= 0 && (name = strsep(&path, "/"))) {
        const int next = step(at, name, path ? O_DIRECTORY : 0), error = errno;
        close(at);
        errno = error;
        at = next;
    }
    return at;
}

static int find(const struct nicd_settings *s, const char *path)
{
    int fd = -1;
    errno = EXDEV; /* the same error as for a path that leads out */
    for (unsigned i = 0; i < s->root_count && fd < 0; i++) {
        const char *rest = below(&s->root[i], path);
        char *parts = rest ? strdup(rest) : NULL;
        if (parts)
            fd = walk(s->root[i].fd, parts);
        free(parts);
    }
    return fd;
}

/* May the file's own user, group or others write it? A daemon that root runs could write any file.
 */
static bool is_writable_file(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    errno = S_ISREG(st.st_mode) ? EACCES : S_ISLNK(st.st_mode) ? ELOOP : ESTALE;
    return S_ISREG(st.st_mode) && (st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) != 0;
}

/* Returns a descriptor, or -1 with errno set. It opens only what is known to be a regular file:
 * opening a device or a pipe may have an effect. */
static int open_path(const struct nicd_settings *s, const char *path)
{
    char self[40];
    const int found = find(s, path);
    if (found < 0)
        return -1;
    snprintf(self, sizeof self, "/proc/self/fd/%d", found);
    const int fd = is_writable_file(found) ? open(self, O_RDWR | O_CLOEXEC) : -1, error = errno;
    close(found);
    errno = error;
    return fd;
}

/* Is it still the container that the client means? Somebody may have emptied or replaced it. */
static bool has_id(int fd, const unsigned char id[NIC_FILE_ID])
{
    unsigned char head[ZMPI_HEADER_BYTES];
    struct zmpi_header header;
    return pread(fd, head, sizeof head, 0) == sizeof head &&
           zmpi_header_decode(&header, head) == ZMPI_OK && memcmp(header.id, id, NIC_FILE_ID) == 0;
}

/* The file, opened for one record only: files kept open for all that wait would be too many. */
static int open_container(const struct nicd_request *r)
{
    int fd = open_path(&r->server->set, r->path);
    if (fd < 0 || has_id(fd, r->file_id))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

int nicd_file_find(struct nicd_request *r)
{
    const unsigned char *file = r->in->at + r->m.raw.bytes;
    memcpy(r->file_id, file, NIC_FILE_ID);
    r->path = strndup((const char *)file + NIC_FILE_ID, r->m.file_bytes - NIC_FILE_ID);
    int fd = r->path ? open_container(r) : -1;
    return fd < 0 || close(fd) != 0 ? errno : 0;
}

static bool is_record(const struct nicd_request *r)
{
    const struct nic_place_at *at = &r->at;
    struct zmpi_record record;
    return at->offset % 8 == 0 && at->offset >= ZMPI_HEADER_BYTES &&
           at->offset <= ZMPI_SIZE_MAX / 2 &&
           zmpi_record_decode(&record, r->file_id, at->offset, at->head, at->head_size) ==
               ZMPI_OK &&
           record.kind == ZMPI_RECORD_DATA && record.extent.levels <= ZMPI_EXTENT_LEVELS &&
           record.payload_length == r->stream_size &&
           zmpi_record_head_size(&record) == at->head_size;
}

/* Writes everything; returns 0 or an errno. */
static int write_all(int fd, struct iovec *part, int n, off_t offset)
{
    while (n > 0) {
        ssize_t done = pwritev(fd, part, n, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        offset += done;
        for (; n > 0 && (size_t)done >= part->iov_len; part++, n--)
            done -= (ssize_t)part->iov_len;
        if (n > 0) {
            part->iov_base = (char *)part->iov_base + done;
            part->iov_len -= (size_t)done;
        }
    }
    return 0;
}

/* A client that has heard nothing for too long has written the record itself, and others may have
 * written since. Then the daemon does not write. */
static bool is_late(const struct nicd_request *r)
{
    const double now = zmpi_seconds(), timeout = r->server->set.timeout;
    return r->late || now - r->wait_sent > timeout || now - r->place_time > NICD_PATIENCE * timeout;
}

static int write_record(struct nicd_request *r)
{
    static unsigned char zeros[8];
    const size_t pad = (size_t)(zmpi_pad8(r->stream_size) - r->stream_size);
    struct iovec part[3] = {
        {r->at.head, r->at.head_size}, {r->stream, r->stream_size}, {zeros, pad}};
    if (!is_record(r))
        return EINVAL;
    if (is_late(r))
        return ETIMEDOUT;
    int fd = open_container(r);
    if (fd < 0)
        return errno;
    int error = write_all(fd, part, 3, (off_t)r->at.offset);
    if (!error && r->server->set.sync && fdatasync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && !error) /* some file systems report errors only here */
        error = errno;
    return error;
}

struct nic_reply nicd_file_write(struct nicd_request *r)
{
    int error = write_record(r);
    return error ? (struct nic_reply){.outcome = NIC_NOT_WRITTEN, .size = (uint64_t)error}
                 : (struct nic_reply){.outcome = NIC_WRITTEN};
}
