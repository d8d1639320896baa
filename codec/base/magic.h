/* magic.h - file formats by their first bytes. */
#ifndef ZMPI_MAGIC_H
#define ZMPI_MAGIC_H

#include <stddef.h>

/* Number of bytes at the beginning of a file that tell all formats known here. */
enum { ZMPI_MAGIC_BYTES = 352 };

/*
 * The name of the format ("HDF5") that a file with these first bytes has, or NULL. With fewer than
 * ZMPI_MAGIC_BYTES only formats are found that these tell. Formats are those that other programs
 * read by libraries of their own, a container of zmpi among them.
 */
const char *zmpi_magic_find(const void *head, size_t size);

#endif
