/*
 * beside.h - a new file beside another one, whose name it will take. The same people must be
 * able to use it.
 */
#ifndef ZMPI_BESIDE_H
#define ZMPI_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the file `name` of this size, with owner, group and mode of the file at `of`. It removes a
 * file of that name first. False: that is impossible (the file at `of` has other names, access
 * lists or attributes), and no file is left. */
bool zbeside_make(const char *name, const char *of, uint64_t size);
/* May the process make a file of this size? If it tried without the right, a signal would end the
 * program. */
bool zbeside_may_be_long(uint64_t size);
/* Syncs the folder, so that a rename survives a crash. */
void zbeside_sync_folder(const char *path);

#endif
