/* mount.h - zmpi mount: a folder again, with each container as the plain file of its logical bytes.
 */
#ifndef ZMPI_MOUNT_H
#define ZMPI_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Shows `root`, a folder that is open, at `point` until it is unmounted. front: this process does;
 * else one that it starts, and it returns once that has mounted. An exit status. */
int tool_mount_run(int root, const char *folder, const char *point, bool front);

/* ---- mount_file.c: an open file ---- */

struct mount_file;

/* The descriptor, which is open for reading, becomes the file's. 0, or an errno. */
int mount_file_open(struct mount_file **file, int fd, const char *name);
void mount_file_close(struct mount_file *file);
/* The bytes that can be read, not more than are there; or minus an errno. */
ssize_t mount_file_read(struct mount_file *file, void *dst, size_t size, uint64_t offset);
/* As fstat, with the logical size. 0, or an errno. */
int mount_file_stat(struct mount_file *file, struct stat *s);
/* The logical size of a container; else s->st_size. */
uint64_t mount_file_size(int fd, const struct stat *s);

#endif
