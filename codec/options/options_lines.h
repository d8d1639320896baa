/* options_lines.h - a file of [SECTION] and NAME = VALUE, with comments. Private to options*.c. */
#ifndef ZMPI_OPTIONS_LINES_H
#define ZMPI_OPTIONS_LINES_H

#include "zmpi_codec.h"
#include <stdbool.h>
#include <stdio.h>

struct zmpi_line {
    unsigned number;
    char *section; /* "": before the first one, or after a wrong one */
    const char *name, *value;
    const char *wrong; /* NULL, or the error in the line; then there is no name */
    bool last;         /* nothing behind it can be read */
};

/* False ends the reading. */
typedef bool zmpi_line_fn(void *user, const struct zmpi_line *line);

/*
 * Calls `use` for each NAME = VALUE and each wrong line. A line that begins with ; or # is a
 * comment. So is the rest of a line after a blank and one of these behind a value, or after a
 * blank and ; behind a section. Returns ZMPI_ERR_MEMORY, ZMPI_ERR_IO (errno says why) or
 * ZMPI_OK.
 */
enum zmpi_status zmpi_lines_read(FILE *file, zmpi_line_fn *use, void *user);

#endif
