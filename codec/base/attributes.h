/*
 * attributes.h - access lists and attributes of a file or its folder, for the file that replaces
 * it.
 */
#ifndef ZMPI_ATTRIBUTES_H
#define ZMPI_ATTRIBUTES_H

#include <stdbool.h>

/* Copies access control lists and the user's attributes of a file to the one that takes its place.
 * On failure errno says why. */
bool zmpi_attributes_copy(int from, int to);

#endif
