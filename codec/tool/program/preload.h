/* preload.h - what `zmpi run` and `zmpi view` share: a program, started with a library in front. */
#ifndef ZMPI_PRELOAD_H
#define ZMPI_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

/* Exit statuses, as shells say that a program is not there, or cannot be run. */
enum { TOOL_NOT_FOUND = 127, TOOL_NOT_RUN = 126 };

/* Where execvp would find it. */
bool tool_program_find(const char *name, char path[PATH_MAX]);
/* The dynamic linker preloads nothing into programs that run with other rights. */
bool tool_program_is_setuid(const char *path);

/* `name` in lib/zmpi, beside the codec's library, which this tool uses. */
bool tool_library_find(const char *name, char path[PATH_MAX]);
/* In front of what is preloaded already; or a line says why the program runs without. */
bool tool_library_preload(const char *library);

/* Instead of this process. Returns if that fails: with an exit status, and a message. */
int tool_program_start(const char *path, char **argv);

#endif
