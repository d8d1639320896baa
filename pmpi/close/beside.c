/* beside.c - see beside.h. */
#define _GNU_SOURCE
#include "close/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS_LIST "system.posix_acl_access"

/* Would a new file differ from this one in who may use it? */
static bool has_attributes(const char *path)
{
    char names[4096];
    const ssize_t n = listxattr(path, names, sizeof names);
    if (n < 0)
        return errno != ENOTSUP;
    for (const char *p = names; p < names + n; p += strlen(p) + 1)
        if (strncmp(p, "user.", 5) == 0 || strcmp(p, ACCESS_LIST) == 0)
            return true;
    return false;
}

/* No other program makes a file of this name: an existing one was left by a process that died. */
static int make(const char *name)
{
    const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode = S_IRUSR | S_IWUSR;
    const int fd = open(name, flags, mode);
    if (fd >= 0 || errno != EEXIST || unlink(name) != 0)
        return fd;
    return open(name, flags, mode);
}

bool zbeside_make(const char *name, const char *of, uint64_t size)
{
    struct stat s, made;
    if (stat(of, &s) || s.st_nlink != 1 || has_attributes(of))
        return false;
    const int fd = make(name);
    if (fd < 0)
        return false;
    (void)fremovexattr(fd, ACCESS_LIST); /* it came from the folder's default */
    bool ok = fstat(fd, &made) == 0 && made.st_uid == s.st_uid &&
              (made.st_gid == s.st_gid || fchown(fd, (uid_t)-1, s.st_gid) == 0) &&
              fchmod(fd, s.st_mode & 07777) == 0 && !has_attributes(name) &&
              ftruncate(fd, (off_t)size) == 0;
    if (close(fd) != 0)
        ok = false;
    if (!ok)
        (void)unlink(name);
    return ok;
}

bool zbeside_may_be_long(uint64_t size)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || size <= most.rlim_cur;
}

void zbeside_sync_folder(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[1] = 0;
    const int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}
