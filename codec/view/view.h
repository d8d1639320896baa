/*
 * view.h - the plain view: a program that opens a container by open or fopen gets the logical
 * bytes, and stat tells their size.
 *
 * These files belong to libzmpi_view.so (zmpi view) and libzmpi.so, never to libzmpi_codec.so,
 * since they wrap calls of the C library for the whole program.
 */
#ifndef ZMPI_VIEW_H
#define ZMPI_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct zmpi_view_settings {
    uint64_t most; /* bytes of memory that the views of this process may have */
    int threads;   /* that decode; 0: as many as there are CPUs for this process */
};

/* Is the view on? Otherwise all calls are passed on. */
extern atomic_bool zmpi_view_on;
/* The library's answer, asked for when the first container is opened. */
struct zmpi_view_settings zmpi_view_settings(void);

/* A quarter of the machine's memory, divided by this number of processes. */
uint64_t zmpi_view_memory(int processes);

/* ---- view_calls.c, view_stat.c: the calls themselves ---- */

/* The next function of that name after ours, kept in *kept; NULL while it is being searched. */
void *zmpi_view_next(const char *name, _Atomic(void *) *kept);
/* Does the view apply to this thread's calls? */
bool zmpi_view_is_on(void);

/* ---- view_open.c ---- */

/*
 * The program has opened this descriptor with these flags, without truncating the file. If the file
 * is a container the descriptor becomes one of its logical bytes, or, if it is for writing, of the
 * file after it was made plain. On failure the descriptor is as it was, and errno says why, as a
 * line on stderr does. errno is unchanged otherwise.
 */
bool zmpi_view_open(int fd, int flags);
/* Around what we do in a call of the program's: its files are real ones, and no thread is cancelled
 * inside. */
void zmpi_view_enter(int *cancel);
void zmpi_view_leave(int cancel);

/* ---- view_memory.c ---- */

/* A new descriptor of the logical bytes of a container; -1 with errno, and a line, if there is
 * none. */
int zmpi_view_make(int fd, const struct stat *s);

/* ---- view_plain.c ---- */

/* The container behind a descriptor for writing becomes a plain file, and *fd one of that, opened
 * anew by these flags. false with errno, and a line: it stays what it was. */
bool zmpi_view_make_plain(int *fd, int flags);

/* ---- view_known.c: what is known of files, for all threads ---- */

/* The path of a descriptor; false if it has none. */
bool zmpi_view_path(int fd, char *path, size_t size);
/* Is the file behind this descriptor, which may be read, a container? */
bool zmpi_view_is_container(int fd, const struct stat *s);

#define ZMPI_VIEW_PLAIN UINT64_MAX

/* The logical size of this file, or ZMPI_VIEW_PLAIN, if it has not changed since that was noted. */
bool zmpi_view_recall(const struct stat *s, uint64_t *size);
void zmpi_view_note(const struct stat *s, uint64_t size);
/* A view, by what fstat says of it, and what it is the view of. */
void zmpi_view_add(const struct stat *view, const struct stat *container);
/* Of a descriptor of a view fstat tells what it tells of the container, with the logical size. */
bool zmpi_view_find(const struct stat *view, struct stat *container);
/* Is it the same file, unchanged? */
bool zmpi_view_same(const struct stat *a, const struct stat *b);

#endif
