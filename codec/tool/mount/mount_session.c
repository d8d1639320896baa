/* mount_session.c - the kernel's requests to the mount (libfuse3), and its begin and end. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tool/mount/mount.h"
#include "tool/tool.h"
#include "view/view.h"

static int root = -1; /* the folder that is shown */

/* The kernel has followed links already. None is followed here, so that nobody can put a link in
 * place of a looked-up file and lead out of the folder (if Linux has openat2, from 5.6 on). */
static int open_at(const char *path, int flags)
{
    const char *name = path[1] ? path + 1 : ".";
    const struct open_how how = {.flags = (unsigned)(flags | O_NOFOLLOW | O_CLOEXEC),
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    const int fd = (int)syscall(SYS_openat2, root, name, &how, sizeof how);
    return fd < 0 && errno == ENOSYS ? openat(root, name, (int)how.flags) : fd;
}

static uint64_t size_of(const char *path, const struct stat *s)
{
    uint64_t size;
    struct stat opened;
    if (zmpi_view_recall(s, &size))
        return size;
    const int fd = open_at(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return (uint64_t)s->st_size;
    size = (uint64_t)s->st_size;
    if (fstat(fd, &opened) == 0 && zmpi_view_same(&opened, s)) {
        size = mount_file_size(fd, s);
        zmpi_view_note(s, size);
    }
    close(fd);
    return size;
}

static struct mount_file *file_of(const struct fuse_file_info *info)
{
    return (struct mount_file *)(uintptr_t)info->fh;
}

static int do_getattr(const char *path, struct stat *s, struct fuse_file_info *info)
{
    if (info && info->fh)
        return -mount_file_stat(file_of(info), s);
    if (fstatat(root, path[1] ? path + 1 : ".", s, AT_SYMLINK_NOFOLLOW))
        return -errno;
    if (S_ISREG(s->st_mode) && s->st_size >= ZMPI_HEADER_BYTES)
        s->st_size = (off_t)size_of(path, s);
    return 0;
}

static int do_readlink(const char *path, char *text, size_t size)
{
    const ssize_t n = readlinkat(root, path + 1, text, size - 1);
    if (n < 0)
        return -errno;
    text[n] = 0;
    return 0;
}

static int do_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    (void)offset, (void)info, (void)flags;
    const int fd = open_at(path, O_RDONLY | O_DIRECTORY);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return -error;
    }
    for (struct dirent *d; (d = readdir(folder));) {
        const struct stat s = {.st_ino = d->d_ino, .st_mode = (mode_t)d->d_type << 12};
        if (fill(buffer, d->d_name, &s, 0, 0))
            break;
    }
    closedir(folder);
    return 0;
}

static int do_open(const char *path, struct fuse_file_info *info)
{
    struct mount_file *file;
    if ((info->flags & O_ACCMODE) != O_RDONLY)
        return -EROFS;
    const int fd = open_at(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const int error = fd < 0 ? errno : mount_file_open(&file, fd, path + 1);
    if (!error)
        info->fh = (uint64_t)(uintptr_t)file;
    return -error;
}

static int do_read(const char *path, char *dst, size_t size, off_t offset,
                   struct fuse_file_info *info)
{
    (void)path;
    return (int)mount_file_read(file_of(info), dst, size, (uint64_t)offset);
}

static int do_release(const char *path, struct fuse_file_info *info)
{
    (void)path;
    mount_file_close(file_of(info));
    return 0;
}

static int do_statfs(const char *path, struct statvfs *s)
{
    (void)path;
    return fstatvfs(root, s) ? -errno : 0;
}

/* The kernel drops what it keeps of a file when its time or size changes. */
static void *do_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    (void)connection;
    config->use_ino = 1;
    config->auto_cache = 1;
    return NULL;
}

static const struct fuse_operations operations = {.init = do_init,
                                                  .getattr = do_getattr,
                                                  .readlink = do_readlink,
                                                  .readdir = do_readdir,
                                                  .open = do_open,
                                                  .read = do_read,
                                                  .release = do_release,
                                                  .statfs = do_statfs};

static int serve(struct fuse *fuse, const char *point, bool front)
{
    if (fuse_mount(fuse, point))
        return tool_fail("%s: cannot be mounted on (zmpi view PROGRAM needs no FUSE)", point);
    /* From here on the kernel waits for this process, and the command that started it returns. */
    int status =
        fuse_daemonize(front) ? tool_fail("%s: no process can be started", point) : TOOL_OK;
    struct fuse_session *session = fuse_get_session(fuse);
    if (!status && fuse_set_signal_handlers(session))
        status = tool_fail("%s: signals cannot be handled", point);
    if (!status) {
        if (fuse_loop_mt(fuse, 0) < 0)
            status = TOOL_ERROR;
        fuse_remove_signal_handlers(session);
    }
    fuse_unmount(fuse);
    return status;
}

int tool_mount_run(int folder_fd, const char *folder, const char *point, bool front)
{
    struct fuse_args arguments = FUSE_ARGS_INIT(0, NULL);
    char *options = NULL;
    root = folder_fd;
    /* After a comma in the name the rest would count as options. */
    const bool named = !strpbrk(folder, ",\\");
    if (asprintf(&options, "ro,subtype=zmpi%s%s", named ? ",fsname=" : "", named ? folder : "") < 0)
        return tool_fail("out of memory");
    const bool failed = fuse_opt_add_arg(&arguments, "zmpi") ||
                        fuse_opt_add_arg(&arguments, "-o") || fuse_opt_add_arg(&arguments, options);
    struct fuse *fuse = failed ? NULL : fuse_new(&arguments, &operations, sizeof operations, NULL);
    int status = fuse ? serve(fuse, point, front) : tool_fail("libfuse3 cannot be started");
    if (fuse)
        fuse_destroy(fuse);
    fuse_opt_free_args(&arguments);
    free(options);
    return status;
}
