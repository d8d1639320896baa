/*
 * What zmpi-perf and the demonstration programs (tests/apps) share: messages, checked sizes, and
 * the few lines of MPI-IO that every program repeats. Nothing here knows of zmpi.
 */
#ifndef APP_COMMON_H
#define APP_COMMON_H

#include <mpi.h>
#include <stddef.h>

/* The cells [start, start + count) of one dimension. */
struct app_range {
    int start;
    int count;
};

/* Prints "PROGRAM: rank R: MESSAGE" and aborts the job with exit status 1. */
_Noreturn void app_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For a fault that every rank of the job sees: rank 0 prints it and all end, with status 1. Called
 * by all ranks. */
_Noreturn void app_fail_together(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Name printed in front of every message; "app" until set. */
void app_set_name(const char *name);

/* Aborts the job with MPI's own explanation unless rc is MPI_SUCCESS. */
void app_check_io(int rc, const char *call, const char *path);

/* Aborts the job unless the call moved exactly `expected` elements of the basic type `type`. */
void app_check_count(MPI_Status *status, MPI_Datatype type, size_t expected, const char *call,
                     const char *path);

/* Removes `path` on rank 0 if it exists, then waits: the next open by any rank creates it anew. */
void app_delete_file(MPI_Comm comm, const char *path);

/* The product of two sizes; aborts the job when it does not fit. */
size_t app_multiply(size_t a, size_t b);

/* Zeroed memory for count objects, never NULL; aborts the job when there is none. */
void *app_allocate(size_t count, size_t size);

/*
 * Parses extents such as 64x128x128, each from 1 to `largest`, at most `capacity` of them.
 * Returns how many there are, or 0 when the text is anything else.
 */
int app_parse_extents(const char *text, int capacity, long long largest, long long extents[]);

/* Parses a whole decimal number from `smallest` to INT_MAX. Returns 0 on success, -1 otherwise. */
int app_parse_int(const char *text, int smallest, int *value);

/* Part `index` of `parts` nearly equal parts of n cells; parts may outnumber cells. */
struct app_range app_split(int n, int parts, int index);

/* A committed subarray type in C order. No extent may be 0: MPI does not allow it. */
MPI_Datatype app_subarray(int dimensions, const int sizes[], const int subsizes[],
                          const int starts[], MPI_Datatype element);

#endif
