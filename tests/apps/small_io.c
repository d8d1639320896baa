/*
 * small_io.c - many small independent writes to one file by all ranks, and how long they take, with
 * reading back.
 *
 *     small_io write|read|each FILE contiguous|strided|random smooth|noise PIECES BYTES [atomic]
 *     small_io calls FILE N
 *
 * PIECES of BYTES each, in all. contiguous: each rank has a part of the file; strided: piece k
 * belongs to rank k modulo the number of ranks; random: as strided, in random order. read: by large
 * parts, whatever the pattern was; each: piece by piece in the pattern. Both check all values. Rank
 * 0 prints seconds for open, for all accesses with close (each: for its reads alone), and the
 * largest resident memory of a rank in KiB.
 * calls: N small calls of each of two kinds by one rank; prints microseconds per call.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "app_common.h"

enum pattern { CONTIGUOUS, STRIDED, RANDOM };

struct work {
    const char *path;
    enum pattern pattern;
    int smooth, writing, each, atomic;
    int pieces, bytes;
    int rank, ranks;
};

/* A step that visits all of n once: coprime to it, and far. */
static long long far_step(long long n)
{
    long long step = (long long)((double)n * 0.6180339887) | 1;
    for (;; step += 2) {
        long long a = n, b = step;
        while (b) {
            long long rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

static float noise(uint64_t i)
{
    uint64_t x = i * 0x9E3779B97F4A7C15U;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x ^= x >> 27;
    uint32_t bits = (uint32_t)(x * 0x94D049BB133111EBU >> 32) & 0xBFFFFFFFU; /* finite */
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill(const struct work *w, long long piece, float *data)
{
    int n = w->bytes / (int)sizeof *data;
    for (int i = 0; i < n; i++) {
        uint64_t at = (uint64_t)piece * (uint64_t)n + (uint64_t)i;
        data[i] = w->smooth ? sinf((float)at * 1e-4F) * 100.0F : noise(at);
    }
}

static void check(const struct work *w, long long piece, const float *data, float *expected)
{
    fill(w, piece, expected);
    for (int i = 0; i < w->bytes / (int)sizeof *data; i++)
        if (w->smooth ? !(fabsf(data[i] - expected[i]) < 0.1F)
                      : memcmp(&data[i], &expected[i], sizeof *data) != 0)
            app_fail("%s: piece %lld is wrong", w->path, piece);
}

static long long piece_of(const struct work *w, long long k, long long mine, long long step)
{
    if (w->pattern == CONTIGUOUS)
        return app_split(w->pieces, w->ranks, w->rank).start + k;
    return (w->pattern == RANDOM ? k * step % mine : k) * w->ranks + w->rank;
}

static long long count_of(const struct work *w)
{
    return w->pattern == CONTIGUOUS ? app_split(w->pieces, w->ranks, w->rank).count
                                    : (w->pieces - w->rank + w->ranks - 1) / w->ranks;
}

static void write_all(const struct work *w, MPI_File file)
{
    long long mine = count_of(w);
    long long step = far_step(mine);
    float *data = app_allocate((size_t)w->bytes, 1);
    for (long long k = 0; k < mine; k++) {
        long long piece = piece_of(w, k, mine, step);
        fill(w, piece, data);
        app_check_io(MPI_File_write_at(file, piece * (MPI_Offset)w->bytes, data,
                                       w->bytes / (int)sizeof *data, MPI_FLOAT, MPI_STATUS_IGNORE),
                     "MPI_File_write_at", w->path);
    }
    free(data);
}

/* In the order in which they were written. Returns the seconds that the calls took. */
static double read_each(const struct work *w, MPI_File file)
{
    long long mine = count_of(w), step = far_step(mine);
    float *data = app_allocate((size_t)w->bytes, 1), *expected = app_allocate((size_t)w->bytes, 1);
    double seconds = 0;
    for (long long k = 0; k < mine; k++) {
        long long piece = piece_of(w, k, mine, step);
        double start = MPI_Wtime();
        app_check_io(MPI_File_read_at(file, piece * (MPI_Offset)w->bytes, data,
                                      w->bytes / (int)sizeof *data, MPI_FLOAT, MPI_STATUS_IGNORE),
                     "MPI_File_read_at", w->path);
        seconds += MPI_Wtime() - start;
        check(w, piece, data, expected);
    }
    free(data);
    free(expected);
    return seconds;
}

static void read_all(const struct work *w, MPI_File file)
{
    struct app_range mine = app_split(w->pieces, w->ranks, w->rank);
    int n = w->bytes / (int)sizeof(float), most = (1 << 20) / w->bytes + 1;
    float *data = app_allocate((size_t)most, (size_t)w->bytes);
    float *expected = app_allocate((size_t)w->bytes, 1);
    for (int k = 0; k < mine.count; k += most) {
        int pieces = mine.count - k < most ? mine.count - k : most;
        app_check_io(MPI_File_read_at(file, (mine.start + k) * (MPI_Offset)w->bytes, data,
                                      pieces * n, MPI_FLOAT, MPI_STATUS_IGNORE),
                     "MPI_File_read_at", w->path);
        for (int i = 0; i < pieces; i++)
            check(w, mine.start + k + i, data + i * n, expected);
    }
    free(data);
    free(expected);
}

static void run(const struct work *w)
{
    MPI_File file;
    struct rusage usage;
    if (w->writing)
        app_delete_file(MPI_COMM_WORLD, w->path);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    int mode = w->writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    app_check_io(MPI_File_open(MPI_COMM_WORLD, w->path, mode, MPI_INFO_NULL, &file),
                 "MPI_File_open", w->path);
    if (w->atomic)
        app_check_io(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity", w->path);
    MPI_Barrier(MPI_COMM_WORLD);
    double opened = MPI_Wtime();
    double reading = w->each ? read_each(w, file) : 0;
    if (!w->each)
        (w->writing ? write_all : read_all)(w, file);
    app_check_io(MPI_File_close(&file), "MPI_File_close", w->path);
    MPI_Barrier(MPI_COMM_WORLD);
    double done = MPI_Wtime();
    getrusage(RUSAGE_SELF, &usage);
    long most = usage.ru_maxrss;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (w->rank == 0)
        printf("%.4f %.3f %ld\n", opened - start, w->each ? reading : done - opened, most);
}

static void small_calls(const char *path, int n)
{
    MPI_File file;
    MPI_Offset position;
    char data[8] = "8 bytes";
    app_delete_file(MPI_COMM_SELF, path);
    app_check_io(
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        "MPI_File_open", path);
    double start = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_File_get_position(file, &position);
    double asked = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_File_write_at(file, (MPI_Offset)i % 1000 * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    double wrote = MPI_Wtime();
    MPI_File_close(&file);
    printf("%.4f %.4f\n", (asked - start) * 1e6 / n, (wrote - asked) * 1e6 / n);
}

static int parse(int argc, char **argv, struct work *w)
{
    static const char *const patterns[] = {"contiguous", "strided", "random"};
    if (argc < 7 || argc > 8)
        return -1;
    w->writing = strcmp(argv[1], "write") == 0;
    w->each = strcmp(argv[1], "each") == 0;
    w->path = argv[2];
    for (w->pattern = CONTIGUOUS; w->pattern <= RANDOM; w->pattern++)
        if (strcmp(argv[3], patterns[w->pattern]) == 0)
            break;
    w->smooth = strcmp(argv[4], "smooth") == 0;
    w->atomic = argc == 8 && strcmp(argv[7], "atomic") == 0;
    return w->pattern > RANDOM || app_parse_int(argv[5], 1, &w->pieces) ||
                   app_parse_int(argv[6], 4, &w->bytes)
               ? -1
               : 0;
}

int main(int argc, char **argv)
{
    struct work w = {0};
    int calls = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    app_set_name("small_io");
    if (argc == 4 && strcmp(argv[1], "calls") == 0 && app_parse_int(argv[3], 1, &calls) == 0)
        small_calls(argv[2], calls);
    else if (parse(argc, argv, &w) == 0)
        run(&w);
    else
        app_fail_together(
            "usage: write|read|each FILE contiguous|strided|random smooth|noise PIECES "
            "BYTES [atomic], or calls FILE N");
    MPI_Finalize();
    return 0;
}
