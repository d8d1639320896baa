/*
 * check.h - what the MPI test programs share. A failing check prints its rank, place and case on
 * standard error and ends the job.
 */
#ifndef ZMPI_TESTS_CHECK_H
#define ZMPI_TESTS_CHECK_H

#include <mpi.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is being tested: part of every message. */
static char check_case[200];

__attribute__((format(printf, 1, 2))) static inline void check_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check_case, sizeof check_case, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static inline _Noreturn void
check_fail(const char *file, int line, const char *format, ...)
{
    char text[500];
    int rank;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "FAIL: rank %d: %s:%d: %s%s%s\n", rank, file, line, check_case,
            check_case[0] ? ": " : "", text);
    fflush(stderr);
    usleep(50 * 1000); /* MPICH's launcher drops what it has not read by then */
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail(__FILE__, __LINE__, "%s", #condition);                                      \
    } while (0)

/* CHECK with the values that made it fail. */
#define CHECK_SAY(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail(__FILE__, __LINE__, __VA_ARGS__);                                           \
    } while (0)

#define CHECK_EQUAL(is, should)                                                                    \
    check_equal(__FILE__, __LINE__, #is, (long long)(is), (long long)(should))
#define CHECK_BYTES(is, should, n) check_bytes(__FILE__, __LINE__, is, should, n)
/* An MPI call that must succeed, or fail with this class. */
#define OK(call)                check_class(__FILE__, __LINE__, #call, call, MPI_SUCCESS)
#define CHECK_CLASS(call, want) check_class(__FILE__, __LINE__, #call, call, want)

static inline void check_equal(const char *file, int line, const char *what, long long is,
                               long long should)
{
    if (is != should)
        check_fail(file, line, "%s is %lld, not %lld", what, is, should);
}

static inline void check_bytes(const char *file, int line, const void *is, const void *should,
                               size_t n)
{
    const unsigned char *a = is, *b = should;
    size_t i = 0, wrong = 0;
    for (size_t k = n; k-- > 0;)
        if (a[k] != b[k]) {
            i = k;
            wrong++;
        }
    if (wrong)
        check_fail(file, line, "%zu of %zu bytes differ, first byte %zu: %02x, not %02x", wrong, n,
                   i, a[i], b[i]);
}

static inline void check_class(const char *file, int line, const char *what, int rc, int want)
{
    int is = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING] = "";
    if (rc != MPI_SUCCESS) {
        MPI_Error_class(rc, &is);
        MPI_Error_string(rc, text, &length);
    }
    if (is != want)
        check_fail(file, line, "%.200s returned class %d (%.150s), not %d", what, is, text, want);
}

static inline int check_rank(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static inline int check_ranks(MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

static inline void *check_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    CHECK_SAY(p, "no memory for %zu bytes", size);
    return p;
}

/* Numbers that look random: the same for the same seed and index, on every rank. */
static inline uint64_t check_mix(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15U + i * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
}

/* From 0 to 1. */
static inline double check_unit(uint64_t seed, uint64_t i)
{
    return (double)(check_mix(seed, i) >> 11) * 0x1p-53;
}

/* Bytes of the file as they are on the disk, -1 if there is none. */
static inline long long check_disk_size(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (long long)s.st_size : -1;
}

/* Is it a container on the disk? A test that ran without the library would prove nothing. */
static inline bool check_is_container(const char *path)
{
    static const unsigned char magic[8] = {0x89, 'Z', 'M', 'P', 'I', '\r', '\n', 0x1A};
    unsigned char head[8] = {0};
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return got == 8 && memcmp(head, magic, 8) == 0;
}

/* Where the first record is: in the header's page, or behind it (format.md 2.5). */
static inline off_t check_first_record(const char *path)
{
    char magic[4] = "";
    const int fd = open(path, O_RDONLY);
    const bool here = fd >= 0 && pread(fd, magic, 4, 512) == 4 && memcmp(magic, "ZREC", 4) == 0;
    CHECK(here || (fd >= 0 && pread(fd, magic, 4, 4096) == 4 && memcmp(magic, "ZREC", 4) == 0));
    close(fd);
    return here ? 512 : 4096;
}

/* Does the header say that all records are in an index (format.md 2.1)? */
static inline bool check_has_index(const char *path)
{
    uint64_t slot[2][16] = {{0}};
    int fd = open(path, O_RDONLY);
    bool read_both = fd >= 0 && pread(fd, slot[0], sizeof slot[0], 0) == sizeof slot[0] &&
                     pread(fd, slot[1], sizeof slot[1], 256) == sizeof slot[1];
    if (fd >= 0)
        close(fd);
    const uint64_t *newer = slot[slot[1][4] > slot[0][4]];
    return read_both && newer[6] != 0 && (long long)newer[8] == check_disk_size(path);
}

/* How many files this process has open. */
static inline int check_open_files(void)
{
    int n = 0;
    DIR *fds = opendir("/proc/self/fd");
    while (fds && readdir(fds))
        n++;
    CHECK(fds && closedir(fds) == 0);
    return n;
}

/* MPI 3.1, 13.6.1: afterwards all ranks see what one rank wrote before. */
static inline void check_sync(MPI_File file, MPI_Comm comm)
{
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(comm));
    OK(MPI_File_sync(file));
}

static inline void check_remove(const char *path, MPI_Comm comm)
{
    MPI_Barrier(comm);
    if (check_rank(comm) == 0)
        unlink(path);
    MPI_Barrier(comm);
}

/* Removes files with this in their names, which an earlier failed run has left here. Collective. */
static inline void check_clear(const char *part)
{
    DIR *here = check_rank(MPI_COMM_WORLD) == 0 ? opendir(".") : NULL;
    for (struct dirent *d; here && (d = readdir(here));)
        if (strstr(d->d_name, part))
            unlink(d->d_name);
    if (here)
        closedir(here);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int check_copied;

/* For MPI_Comm_create_keyval: counts how often a communicator's attribute is copied. */
static inline int check_copy(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)to = from;
    *flag = 1;
    check_copied++;
    return MPI_SUCCESS;
}

#endif
