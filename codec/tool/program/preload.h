/* preload.h - what `zmpi run` and `zmpi view` share: they start a program with a library
 * preloaded. */
#ifndef ZMPI_PRELOAD_H
#define ZMPI_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

/* Exit statuses with which shells say that a program does not exist, or cannot be run. */
enum { TOOL_NOT_FOUND = 127, TOOL_NOT_RUN = 126 };

/* Finds a program where execvp would. */
bool tool_program_find(const char *name, char path[PATH_MAX]);
/* The dynamic linker preloads nothing into programs that run with other rights. */
bool tool_program_is_setuid(const char *path);

/* Finds `name` in lib/zmpi, beside the codec's library that this tool uses. */
bool tool_library_find(const char *name, char path[PATH_MAX]);
/* Puts the library in front of LD_PRELOAD; or says in a line why the program runs without it. */
bool tool_library_preload(const char *library);

/* Starts the program in place of this process. If that fails, prints a message and returns an exit
 * status. */
int tool_program_start(const char *path, char **argv);

#endif
