/*
 * mpi_files.c - an MPI program whose files are written in all ways, two at a time, and read.
 *
 *     nic_mpi_files write FILE      FILE.w is opened write-only, FILE.rw to be read too, which is
 * done meanwhile nic_mpi_files read FILE       all of both, compared with what must be there
 *
 * Element i of a file is value(i), whoever writes it: the number of ranks does not matter.
 */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "nic_mpi_files: rank %d: ", rank);                                         \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        MPI_Abort(MPI_COMM_WORLD, 1);                                                              \
    } while (0)

static int rank, ranks;
static float wave[4096];

static float value(long i)
{
    return wave[i & 4095] + 1e-6f * (float)(i >> 12) + 2e-3f * (float)((i * 2654435761L >> 9) & 15);
}

static void check(int error, const char *what)
{
    if (error != MPI_SUCCESS)
        FAIL("%s: error %d", what, error);
}

/* ---- parts of the file: of each, every rank of n has the same share ---- */

enum { ROW = 1024, ROWS = 1536, SMALL = 100 };

struct part {
    long begin, count;
};

static const struct part collective = {0, 5308416}, rows = {5308416, ROW *ROWS},
                         large = {6881280, 1966080}, small = {8847360, 60000},
                         behind = {8907360, 1179648}, tiny = {10087008, 6000};

enum { ALL = 10093008 };

static long share(const struct part *p)
{
    return p->count / ranks;
}

static long mine(const struct part *p)
{
    return p->begin + rank * share(p);
}

static float *block(long begin, long count)
{
    float *data = malloc((size_t)count * sizeof *data);
    if (!data)
        FAIL("memory");
    for (long i = 0; i < count; i++)
        data[i] = value(begin + i);
    return data;
}

static void expect(MPI_File file, long begin, long count, const char *when)
{
    float *data = malloc((size_t)count * sizeof *data);
    MPI_Status status;
    int got;
    if (!data)
        FAIL("memory");
    check(MPI_File_read_at(file, begin, data, (int)count, MPI_FLOAT, &status), when);
    MPI_Get_count(&status, MPI_FLOAT, &got);
    if (got != count)
        FAIL("%s: %d of %ld", when, got, count);
    for (long i = 0; i < count; i++)
        if (!(fabsf(data[i] - value(begin + i)) <= 1.001e-3f))
            FAIL("%s: element %ld is %g and not %g", when, begin + i, (double)data[i],
                 (double)value(begin + i));
    free(data);
}

/* ---- writing ---- */

static void write_collective(MPI_File file, const struct part *p)
{
    float *data = block(mine(p), share(p));
    check(MPI_File_write_at_all(file, mine(p), data, (int)share(p), MPI_FLOAT, MPI_STATUS_IGNORE),
          "write_at_all");
    memset(data, 0x7F, (size_t)share(p) * sizeof *data); /* it is the program's again */
    free(data);
}

/* Rows in turn: a nest of strides. */
static void write_rows(MPI_File file)
{
    MPI_Datatype mine_of;
    float *data = malloc((size_t)share(&rows) * sizeof *data);
    if (!data)
        FAIL("memory");
    for (long i = 0; i < share(&rows); i++)
        data[i] = value(rows.begin + (i / ROW * ranks + rank) * ROW + i % ROW);
    MPI_Type_vector(ROWS / ranks, ROW, ROW * ranks, MPI_FLOAT, &mine_of);
    MPI_Type_commit(&mine_of);
    check(MPI_File_set_view(file, (rows.begin + rank * ROW) * (MPI_Offset)sizeof *data, MPI_FLOAT,
                            mine_of, "native", MPI_INFO_NULL),
          "set_view");
    check(MPI_File_write_all(file, data, (int)share(&rows), MPI_FLOAT, MPI_STATUS_IGNORE),
          "write_all");
    check(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL), "set_view");
    MPI_Type_free(&mine_of);
    free(data);
}

static void write_independent(MPI_File file)
{
    float *data = block(mine(&large), share(&large));
    for (long at = 0; at < share(&large); at += share(&large) / 2)
        check(MPI_File_write_at(file, mine(&large) + at, data + at, (int)(share(&large) / 2),
                                MPI_FLOAT, MPI_STATUS_IGNORE),
              "write_at");
    free(data);
    data = block(mine(&small), share(&small));
    for (long at = 0; at < share(&small); at += SMALL)
        check(MPI_File_write_at(file, mine(&small) + at, data + at, SMALL, MPI_FLOAT,
                                MPI_STATUS_IGNORE),
              "write_at");
    free(data);
    MPI_Request request;
    data = block(mine(&behind), share(&behind));
    check(MPI_File_iwrite_at(file, mine(&behind), data, (int)share(&behind), MPI_FLOAT, &request),
          "iwrite_at");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(data);
}

static void expect_share(MPI_File file, const struct part *p, int of, const char *when)
{
    expect(file, p->begin + of * share(p), share(p), when);
}

static void write_files(MPI_File file[2])
{
    const int other = (rank + 1) % ranks;
    for (int i = 0; i < 2; i++)
        write_collective(file[i], &collective);
    expect_share(file[1], &collective, other, "another rank's collective data");
    for (int i = 0; i < 2; i++)
        write_rows(file[i]);
    expect(file[1], rows.begin, rows.count, "rows");
    for (int i = 0; i < 2; i++)
        write_independent(file[i]);
    expect_share(file[1], &large, rank, "own data");
    expect_share(file[1], &behind, rank, "own nonblocking data");
    for (int i = 0; i < 2; i++)
        check(MPI_File_sync(file[i]), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_share(file[1], &large, other, "data after sync");
    for (int i = 0; i < 2; i++) { /* over what is there */
        write_collective(file[i], &tiny);
        write_collective(file[i], &large);
    }
}

int main(int argc, char **argv)
{
    MPI_File file[2];
    char name[2][1000];
    signal(SIGXFSZ, SIG_IGN);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 4096; i++)
        wave[i] = (float)sin(0.0015339807878856412 * i);
    if (argc != 3)
        FAIL("write or read, and a file");
    const int write = strcmp(argv[1], "write") == 0;
    for (int i = 0; i < 2; i++) {
        const int mode =
            !write ? MPI_MODE_RDONLY : MPI_MODE_CREATE | (i ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
        snprintf(name[i], sizeof name[i], "%s.%s", argv[2], i ? "rw" : "w");
        check(MPI_File_open(MPI_COMM_WORLD, name[i], mode, MPI_INFO_NULL, &file[i]), "open");
        check(MPI_File_set_view(file[i], 0, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL), "view");
    }
    if (write)
        write_files(file);
    for (int i = 0; i < 2 && !write; i++)
        expect(file[i], ALL / ranks * rank, ALL / ranks, "what is in the file");
    for (int i = 0; i < 2; i++)
        check(MPI_File_close(&file[i]), "close");
    MPI_Finalize();
    return 0;
}
