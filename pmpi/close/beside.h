/*
 * beside.h - a new file beside another one, whose name it will take: it must be usable by the same
 * people.
 */
#ifndef ZMPI_BESIDE_H
#define ZMPI_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes `name`, of so many bytes, with owner, group and mode of the file at `of`. False: that
 * cannot be had (the file has other names, lists of access or attributes of users), and nothing is
 * there. A file of that name is removed. */
bool zbeside_make(const char *name, const char *of, uint64_t size);
/* May the process make a file of this size? Else a signal ends the program. */
bool zbeside_may_be_long(uint64_t size);
/* What was renamed is in the folder for good. */
void zbeside_sync_folder(const char *path);

#endif
