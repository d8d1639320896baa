/* mount.h - zmpi mount: a second view of a folder, in which each container is a plain file of its
 * logical bytes. */
#ifndef ZMPI_MOUNT_H
#define ZMPI_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Shows `root`, an open folder, at `point` until it is unmounted. front: in this process; else in a
 * new one, and the call returns once that has mounted. Returns an exit status. */
int tool_mount_run(int root, const char *folder, const char *point, bool front);

/* ---- mount_file.c: an open file ---- */

struct mount_file;

/* On success the file owns the descriptor, which must be open for reading. Returns 0 or an
 * errno. */
int mount_file_open(struct mount_file **file, int fd, const char *name);
void mount_file_close(struct mount_file *file);
/* Returns the bytes that were read, at most those that exist; or minus an errno. */
ssize_t mount_file_read(struct mount_file *file, void *dst, size_t size, uint64_t offset);
/* Like fstat, with the logical size. Returns 0 or an errno. */
int mount_file_stat(struct mount_file *file, struct stat *s);
/* A container's logical size; else s->st_size. */
uint64_t mount_file_size(int fd, const struct stat *s);

#endif
