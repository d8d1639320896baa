/*
 * full.c - a disk that is full: the write fails with the right class, no rank is left waiting, and
 * what was complete before is read back.
 *
 *     full [collective|independent] [disk FILE]
 *
 * Without "disk" the end of the disk is a limit on the size of files. tests/cli/full_disk.sh runs
 * it on a small disk.
 *
 * zmpi-test: collective RANKS 1,3 ARGS collective ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_STAGING=1M
 * zmpi-test: independent RANKS 1,3 ARGS independent ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_STAGING=1M
 */
#include "check.h"

#include <signal.h>
#include <sys/resource.h>

enum { N = 1 << 15, MOST = 200 /* steps: far more than fit */ };

static int rank, ranks;

/* Noise: nothing makes it smaller. */
static void fill(uint64_t *data, int owner, int step)
{
    for (int i = 0; i < N; i++)
        data[i] = check_mix((uint64_t)(owner * MOST + step), (uint64_t)i);
}

static MPI_Offset place(int owner, int step)
{
    return ((MPI_Offset)step * ranks + owner) * N * (MPI_Offset)sizeof(uint64_t);
}

/* The class of the first error of any rank, agreed by all: that all come here is half of
 * the test. */
static int agree(int rc)
{
    int class = MPI_SUCCESS, worst;
    if (rc)
        MPI_Error_class(rc, &class);
    MPI_Allreduce(&class, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* Returns how many steps all ranks completed. */
static int fill_disk(const char *path, bool collective, bool disk)
{
    uint64_t *data = check_alloc(N * sizeof *data);
    MPI_File file;
    int step = 0, error = MPI_SUCCESS;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (; step < MOST && !error; step++) {
        fill(data, rank, step);
        if (collective) {
            error = agree(MPI_File_write_at_all(file, place(rank, step), data, N, MPI_INT64_T,
                                                MPI_STATUS_IGNORE));
        } else {
            int wrote =
                MPI_File_write_at(file, place(rank, step), data, N, MPI_INT64_T, MPI_STATUS_IGNORE);
            int synced = MPI_File_sync(file);
            error = agree(wrote ? wrote : synced);
        }
    }
    CHECK_SAY(error != MPI_SUCCESS, "%d steps did fit", MOST);
    if (disk)
        CHECK_EQUAL(error, MPI_ERR_NO_SPACE);
    MPI_File_close(&file); /* cannot write the index; it must come back */
    free(data);
    return step - 1;
}

static void check_complete(const char *path, int steps)
{
    uint64_t *is = check_alloc(N * sizeof *is), *should = check_alloc(N * sizeof *should);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int step = 0; step < steps; step++)
        for (int r = 0; r < ranks; r++) {
            check_say("step %d of %d, written by rank %d", step, steps, r);
            fill(should, r, step);
            OK(MPI_File_read_at_all(file, place(r, step), is, N, MPI_INT64_T, MPI_STATUS_IGNORE));
            CHECK_BYTES(is, should, N * sizeof *is);
        }
    OK(MPI_File_close(&file));
    free(is);
    free(should);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const bool collective = argc < 2 || strcmp(argv[1], "collective") == 0, disk = argc > 3;
    const char *path = disk ? argv[3] : "full.z";
    struct rlimit limit;
    check_remove(path, MPI_COMM_WORLD);
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    if (!disk) {
        signal(SIGXFSZ, SIG_IGN);
        limit.rlim_cur = 5 << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    int steps = fill_disk(path, collective, disk);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(check_is_container(path));
    CHECK_SAY(steps > 0, "not even one step did fit");
    check_complete(path, steps);
    if (rank == 0)
        printf("%d steps of %d ranks\n", steps, ranks);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
