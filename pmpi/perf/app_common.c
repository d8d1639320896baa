#include "app_common.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *program = "app";

void app_set_name(const char *name)
{
    program = name;
}

static void say(int rank, const char *format, va_list arguments)
{
    /* One fprintf per message: mpirun may interleave the pieces of several ranks. */
    char message[1024];
    vsnprintf(message, sizeof message, format, arguments);
    fprintf(stderr, "%s: rank %d: %s\n", program, rank, message);
    fflush(stderr);
}

_Noreturn void app_fail(const char *format, ...)
{
    const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    va_list arguments;
    va_start(arguments, format);
    say(rank, format, arguments);
    va_end(arguments);
    /* MPICH's launcher drops what it has not read by then. */
    nanosleep(&moment, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

_Noreturn void app_fail_together(const char *format, ...)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        say(rank, format, arguments);
        va_end(arguments);
    }
    MPI_Finalize();
    exit(1);
}

void app_check_io(int rc, const char *call, const char *path)
{
    if (rc == MPI_SUCCESS) {
        return;
    }
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(rc, text, &length);
    app_fail("%s: %s failed: %s", path, call, text);
}

void app_check_count(MPI_Status *status, MPI_Datatype type, size_t expected, const char *call,
                     const char *path)
{
    if (expected == 0) {
        return; /* ROMIO in Open MPI 4 leaves the status as it was when the count is 0 */
    }
    MPI_Count moved = 0;
    MPI_Get_elements_x(status, type, &moved);
    if (moved < 0 || (size_t)moved != expected) {
        app_fail("%s: %s moved %lld of %zu elements", path, call, (long long)moved, expected);
    }
}

void app_delete_file(MPI_Comm comm, const char *path)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        int rc = MPI_File_delete(path, MPI_INFO_NULL);
        int class = MPI_SUCCESS;
        if (rc != MPI_SUCCESS) {
            MPI_Error_class(rc, &class);
        }
        if (class != MPI_ERR_NO_SUCH_FILE) {
            app_check_io(rc, "MPI_File_delete", path);
        }
    }
    MPI_Barrier(comm);
}

size_t app_multiply(size_t a, size_t b)
{
    if (b != 0 && a > SIZE_MAX / b) {
        app_fail("%zu x %zu does not fit in a size", a, b);
    }
    return a * b;
}

void *app_allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        app_fail("no memory for %zu objects of %zu bytes", count, size);
    }
    return memory;
}

int app_parse_extents(const char *text, int capacity, long long largest, long long extents[])
{
    int found = 0;
    const char *at = text;
    for (;;) {
        /* strtoll also takes blanks and signs, which no extent has. */
        if (found == capacity || *at < '0' || *at > '9') {
            return 0;
        }
        char *end = NULL;
        errno = 0;
        long long value = strtoll(at, &end, 10);
        if (errno != 0 || value < 1 || value > largest) {
            return 0;
        }
        extents[found++] = value;
        if (*end == '\0') {
            return found;
        }
        if (*end != 'x') {
            return 0;
        }
        at = end + 1;
    }
}

int app_parse_int(const char *text, int smallest, int *value)
{
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || parsed < smallest || parsed > INT_MAX) {
        return -1;
    }
    *value = (int)parsed;
    return 0;
}

struct app_range app_split(int n, int parts, int index)
{
    long long first = (long long)n * index / parts;
    long long end = (long long)n * (index + 1) / parts;
    return (struct app_range){.start = (int)first, .count = (int)(end - first)};
}

MPI_Datatype app_subarray(int dimensions, const int sizes[], const int subsizes[],
                          const int starts[], MPI_Datatype element)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, MPI_ORDER_C, element, &type);
    MPI_Type_commit(&type);
    return type;
}
