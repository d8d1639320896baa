/* text.h - names of files, which may have any bytes but 0, in lines and in JSON; how alike
 * names are, and which of them globs select. */
#ifndef ZMPI_TEXT_H
#define ZMPI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Copies as much of `text` as fits. Bytes that would end a line or control a terminal become what C
 * writes for them: "\n", "\033". All others stay, UTF-8 too. Returns the length. */
size_t zmpi_text_line(char *out, size_t capacity, const char *text);

/* Writes text as a JSON string with quotes. Bytes that are not UTF-8 are written as Python's
 * surrogateescape has them: os.fsencode of what json.load returns is the name. */
void zmpi_text_json(FILE *out, const char *text);

/* Levenshtein distance of two short names; SIZE_MAX if one has more than 32 bytes. */
size_t zmpi_text_distance(const char *a, const char *b);

/* Does a glob select this path? On the base name, or on the path if the glob contains '/'. */
bool zmpi_glob_matches(const char *glob, const char *path);

/* Takes the first of globs separated by commas, without blanks around it. Returns what follows its
 * comma, or NULL. */
const char *zmpi_globs_next(const char *globs, const char **glob, size_t *length);

/* Do globs separated by commas select this path? The last match wins; "!GLOB" takes out. */
bool zmpi_globs_match(const char *globs, const char *path);

#endif
