/*
 * holes.c - stands between libzmpi and libc: no file system makes holes (as NFS and some parallel
 * ones do not): a library that rewrite.c is run with.
 */
#define _GNU_SOURCE // fallocate
#include <errno.h>
#include <fcntl.h>

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    (void)fd, (void)offset, (void)size;
    errno = mode ? EOPNOTSUPP : ENOSYS;
    return -1;
}
