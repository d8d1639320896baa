/*
 * slowfs: a folder as slow storage. What is written to MOUNTPOINT goes to DIR, and what is read
 * comes from there, at RATE bytes a second each way, shared by all who use it: a token bucket over
 * a FUSE pass-through.
 *
 *     slowfs 200000000 DIR MOUNTPOINT        returns when it is mounted; MOUNTPOINT may be DIR
 * itself umount MOUNTPOINT
 *
 * scripts/cluster.sh mounts it for the nodes of its cluster. Nothing is cached (every read and
 * write comes here) and only what MPI-IO and a shell need is there: plain files and folders.
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE      /* fallocate, renameat2 */
#include <fuse3/fuse.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Bytes that may go at once after a pause are those of this time. */
#define CREDIT_SECONDS 0.004

/* One way: the time at which all that was let through will have passed. */
struct bucket {
    pthread_mutex_t mutex;
    double busy_until;
};

static struct bucket reading = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct bucket writing = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static double rate; /* bytes a second */
static int root;    /* DIR, opened before anything is mounted over it */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Wait until n more bytes have passed. */
static void pass(struct bucket *bucket, ssize_t n)
{
    double start = now();
    pthread_mutex_lock(&bucket->mutex);
    if (bucket->busy_until < start - CREDIT_SECONDS)
        bucket->busy_until = start - CREDIT_SECONDS;
    bucket->busy_until += (double)n / rate;
    double end = bucket->busy_until;
    pthread_mutex_unlock(&bucket->mutex);

    struct timespec t = {.tv_sec = (time_t)end};
    t.tv_nsec = (long)((end - (double)t.tv_sec) * 1e9);
    while (end > start && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* FUSE's paths begin with a slash and are below the mount point: relative to `root`. */
static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

/* FUSE wants errors as negative numbers. */
static int result(int rc)
{
    return rc < 0 ? -errno : 0;
}

static int slow_getattr(const char *path, struct stat *s, struct fuse_file_info *file)
{
    if (file)
        return result(fstat((int)file->fh, s));
    return result(fstatat(root, below(path), s, AT_SYMLINK_NOFOLLOW));
}

static int open_file(const char *path, int flags, mode_t mode, struct fuse_file_info *file)
{
    /* The kernel says where to append; with O_APPEND, pwrite would go to the end whatever it says.
     */
    int fd = openat(root, below(path), flags & ~O_APPEND, mode);
    if (fd < 0)
        return -errno;
    file->fh = (uint64_t)fd;
    file->direct_io = 1;
    return 0;
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
    return open_file(path, file->flags, 0, file);
}

static int slow_create(const char *path, mode_t mode, struct fuse_file_info *file)
{
    return open_file(path, file->flags | O_CREAT, mode, file);
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
    (void)path;
    return result(close((int)file->fh));
}

static int slow_read(const char *path, char *data, size_t n, off_t offset,
                     struct fuse_file_info *file)
{
    (void)path;
    ssize_t got = pread((int)file->fh, data, n, offset);
    if (got < 0)
        return -errno;
    pass(&reading, got);
    return (int)got;
}

static int slow_write(const char *path, const char *data, size_t n, off_t offset,
                      struct fuse_file_info *file)
{
    (void)path;
    ssize_t put = pwrite((int)file->fh, data, n, offset);
    if (put < 0)
        return -errno;
    pass(&writing, put);
    return (int)put;
}

static int slow_fsync(const char *path, int data_only, struct fuse_file_info *file)
{
    (void)path;
    return result(data_only ? fdatasync((int)file->fh) : fsync((int)file->fh));
}

static int slow_truncate(const char *path, off_t size, struct fuse_file_info *file)
{
    if (file)
        return result(ftruncate((int)file->fh, size));
    int fd = openat(root, below(path), O_WRONLY | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int rc = result(ftruncate(fd, size));
    close(fd);
    return rc;
}

static int slow_fallocate(const char *path, int mode, off_t offset, off_t length,
                          struct fuse_file_info *file)
{
    (void)path;
    return result(fallocate((int)file->fh, mode, offset, length));
}

static int slow_unlink(const char *path)
{
    return result(unlinkat(root, below(path), 0));
}

static int slow_rmdir(const char *path)
{
    return result(unlinkat(root, below(path), AT_REMOVEDIR));
}

static int slow_mkdir(const char *path, mode_t mode)
{
    return result(mkdirat(root, below(path), mode));
}

static int slow_rename(const char *from, const char *to, unsigned int flags)
{
    return result(renameat2(root, below(from), root, below(to), flags));
}

static int slow_chmod(const char *path, mode_t mode, struct fuse_file_info *file)
{
    (void)file;
    return result(fchmodat(root, below(path), mode, 0));
}

static int slow_utimens(const char *path, const struct timespec times[2],
                        struct fuse_file_info *file)
{
    (void)file;
    return result(utimensat(root, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int slow_statfs(const char *path, struct statvfs *s)
{
    (void)path;
    return result(fstatvfs(root, s));
}

static int slow_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    (void)offset, (void)file, (void)flags;
    int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        int rc = -errno;
        if (fd >= 0)
            close(fd);
        return rc;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        fill(buffer, entry->d_name, NULL, 0, 0);
    closedir(folder);
    return 0;
}

static void *slow_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    connection->max_write = 1 << 20;
    /* Others change DIR, too. */
    config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
    config->hard_remove = 1;
    return NULL;
}

static const struct fuse_operations operations = {
    .init = slow_init,
    .getattr = slow_getattr,
    .open = slow_open,
    .create = slow_create,
    .release = slow_release,
    .read = slow_read,
    .write = slow_write,
    .fsync = slow_fsync,
    .truncate = slow_truncate,
    .fallocate = slow_fallocate,
    .unlink = slow_unlink,
    .rmdir = slow_rmdir,
    .mkdir = slow_mkdir,
    .rename = slow_rename,
    .chmod = slow_chmod,
    .utimens = slow_utimens,
    .statfs = slow_statfs,
    .readdir = slow_readdir,
};

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: slowfs RATE DIR MOUNTPOINT (RATE in bytes a second)\n");
        return 2;
    }
    char *end;
    rate = strtod(argv[1], &end);
    if (*end || !(rate >= 1 && rate <= 1e15)) {
        fprintf(stderr, "slowfs: the rate must be a number of bytes a second, not '%s'\n", argv[1]);
        return 2;
    }
    root = open(argv[2], O_RDONLY | O_DIRECTORY);
    if (root < 0) {
        fprintf(stderr, "slowfs: cannot open %s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    /* Modes come from the caller, whose umask the kernel has applied already. */
    umask(0);
    /* The kernel checks permissions by what getattr says: this process may be allowed more. */
    char *fuse_argv[] = {argv[0], "-o", "fsname=slowfs,default_permissions", argv[3], NULL};
    return fuse_main(4, fuse_argv, &operations, NULL);
}
