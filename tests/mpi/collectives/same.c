/*
 * same.c - prints a digest of every number that collectives gave and files hold, which must be the
 * same whatever the machine is busy with: tests/cli/same_numbers.sh compares runs. Ranks come to
 * each call at other times in each run (ZMPI_TEST_LATE, which damage/late.c obeys too). By itself
 * it is right data.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_REPORT_TEXT=off
 */
#include "check.h"

#include <math.h>
#include <pthread.h>

enum { CALLS = 24, MOST = 30000, MOST_RANKS = 4, PAIRS = 12, STEPS = 4, ROW = 40, ROWS = 100 };

static float mine[MOST_RANKS * MOST], got[MOST_RANKS * MOST];
static int rank, ranks;
static unsigned state, seed;

static void come_late(void)
{
    state = 1664525 * state + 1013904223;
    if (seed)
        usleep((state >> 8) % 2000);
}

static uint64_t add(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ p[i]) * 1099511628211U;
    return digest;
}

static void say(const char *what, uint64_t digest)
{
    uint64_t all = 0;
    digest = add(digest, &rank, sizeof rank);
    MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %016llx\n", what, (unsigned long long)all);
}

/* A wave with noise: as many bits as fit into a chunk's rules, and special values, of which small
 * pieces are larger as a stream. */
static void fill(int call, int n)
{
    for (int i = 0; i < n; i++) {
        const double noise = check_unit((uint64_t)(100 * rank + call), (uint64_t)i);
        mine[i] = (float)(100 * sin(0.01 * i + rank) + (call % 3 ? 0.01 : 900) * noise);
        if (call % 5 == 4 && i % 3 == 0)
            mine[i] = -0.0F;
    }
}

/* Blocks of 32 that fle codes by their largest number, beside numbers kept exactly: no smaller than
 * they are, but by huffman, with an absolute bound of 1e-3. */
static void fill_spikes(int call, int n)
{
    for (int i = 0; i < n; i++) {
        const double noise = check_unit((uint64_t)(900 + 100 * rank + call), (uint64_t)i);
        mine[i] = (float)(i % 32 == 5 ? 1000 * (1 + noise) : 0.01 * noise);
        if (i % 32 >= 25)
            mine[i] = (float)(1e15 * (1 + noise));
    }
}

static int size_of(int call)
{
    static const int sizes[] = {256, 256, 411, 1024, 5000, MOST};
    return sizes[call % 6];
}

enum op { GATHER, GATHERV, SCATTER, ALLGATHER, ALLGATHERV, ALLTOALL, BCAST, OPS };
static const char *const names[OPS] = {"gather",     "gatherv",  "scatter", "allgather",
                                       "allgatherv", "alltoall", "bcast"};

static void collective(MPI_Comm comm, enum op op, int n, int root)
{
    int counts[MOST_RANKS], places[MOST_RANKS];
    for (int i = 0; i < ranks; i++) {
        counts[i] = n;
        places[i] = i * n;
    }
    switch (op) {
    case GATHER:
        OK(MPI_Gather(mine, n, MPI_FLOAT, got, n, MPI_FLOAT, root, comm));
        break;
    case GATHERV:
        OK(MPI_Gatherv(mine, n, MPI_FLOAT, got, counts, places, MPI_FLOAT, root, comm));
        break;
    case SCATTER:
        OK(MPI_Scatter(mine, n, MPI_FLOAT, got, n, MPI_FLOAT, root, comm));
        break;
    case ALLGATHER:
        OK(MPI_Allgather(mine, n, MPI_FLOAT, got, n, MPI_FLOAT, comm));
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv(mine, n, MPI_FLOAT, got, counts, places, MPI_FLOAT, comm));
        break;
    case ALLTOALL:
        OK(MPI_Alltoall(mine, n, MPI_FLOAT, got, n, MPI_FLOAT, comm));
        break;
    default:
        if (rank == root)
            memcpy(got, mine, (size_t)n * sizeof *got);
        OK(MPI_Bcast(got, n, MPI_FLOAT, root, comm));
        break;
    }
}

/* Integers take turns with floats: what is measured of those must not decide for these. */
static void all_calls(enum op op)
{
    uint64_t digest = 14695981039346656037U;
    for (int k = 0; k < CALLS; k++) {
        const int n = size_of(k), all = n * (op == SCATTER || op == ALLTOALL ? ranks : 1);
        if (n == 256)
            fill_spikes(k, all);
        else
            fill(k, all);
        memset(got, 0, sizeof got);
        come_late();
        collective(MPI_COMM_WORLD, op, n, k % ranks);
        digest = add(digest, got, sizeof got);
        if (op == GATHER && k % 2 == 0)
            OK(MPI_Gather(mine, n, MPI_INT, got, n, MPI_INT, 0, MPI_COMM_WORLD));
    }
    say(names[op], digest);
}

/* ---- first calls of two threads at once ---- */

static MPI_Comm pair[2];
static float from[2][MOST_RANKS * 1024];

static void *first_call(void *which)
{
    const int k = *(int *)which;
    OK(MPI_Gather(mine, 1024, MPI_FLOAT, from[k], 1024, MPI_FLOAT, 0, pair[k]));
    return NULL;
}

static void meet(void)
{
    uint64_t digest = 14695981039346656037U;
    int which[2] = {0, 1};
    fill(1, 1024);
    for (int i = 0; i < PAIRS; i++) {
        pthread_t thread;
        MPI_Comm_dup(MPI_COMM_WORLD, &pair[0]);
        MPI_Comm_dup(MPI_COMM_WORLD, &pair[1]);
        memset(from, 0, sizeof from);
        CHECK(pthread_create(&thread, NULL, first_call, &which[1]) == 0);
        first_call(&which[0]);
        pthread_join(thread, NULL);
        digest = add(digest, from, sizeof from);
        MPI_Comm_free(&pair[0]);
        MPI_Comm_free(&pair[1]);
    }
    say("threads", digest);
}

/* ---- files ---- */

/* Large collective writes, and rows written one by one, which are staged. */
static void write_file(const char *path)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int k = 0; k < STEPS; k++) {
        const MPI_Offset step = (MPI_Offset)k * ranks * 2 * MOST * 4, part = (MPI_Offset)MOST * 4;
        fill(k, MOST);
        come_late();
        OK(MPI_File_write_at_all(file, step + rank * part, mine, MOST, MPI_FLOAT,
                                 MPI_STATUS_IGNORE));
        for (int i = 0; i < ROWS; i++) {
            if (i % 16 == 0)
                come_late();
            OK(MPI_File_write_at(file,
                                 step + ranks * part + ((MPI_Offset)i * ranks + rank) * ROW * 4,
                                 mine + (size_t)i * ROW, ROW, MPI_FLOAT, MPI_STATUS_IGNORE));
        }
    }
    OK(MPI_File_close(&file));
}

static void files(void)
{
    uint64_t digest = 14695981039346656037U;
    MPI_File file;
    write_file("same.bin");
    OK(MPI_File_open(MPI_COMM_WORLD, "same.bin", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int k = 0; k < STEPS * 2; k++) {
        memset(got, 0, sizeof got);
        OK(MPI_File_read_at_all(file, (MPI_Offset)k * ranks * MOST * 4, got, ranks * MOST,
                                MPI_FLOAT, MPI_STATUS_IGNORE));
        digest = add(digest, got, sizeof got);
    }
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete("same.bin", MPI_INFO_NULL);
    say("file", digest);
}

int main(int argc, char **argv)
{
    const char *late = getenv("ZMPI_TEST_LATE");
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(ranks <= MOST_RANKS);
    seed = late ? (unsigned)strtoul(late, NULL, 10) : 0;
    state = 69069 * seed + (unsigned)rank;
    for (int op = 0; op < OPS; op++)
        all_calls((enum op)op);
    if (provided == MPI_THREAD_MULTIPLE)
        meet();
    files();
    MPI_Finalize();
    return 0;
}
