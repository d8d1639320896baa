/* descriptors.h - which files this process has open, however it opened them. */
#ifndef ZMPI_DESCRIPTORS_H
#define ZMPI_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Does this process have the empty file at `path` open for writing, by other means than MPI-IO?
 * Call it between opening(true) and opening(false). */
bool zdescriptors_writing(const char *path);
void zdescriptors_opening(bool begins);
/* Number of descriptors that this process has of the file, however opened; -1: unknown. */
int zdescriptors_of(const struct stat *s);

#endif
