/*
 * threads.c - MPI_THREAD_MULTIPLE: threads that use different files, and the same file, at the
 * same time.
 *
 * zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: decoder RANKS 2 ENV ZMPI_PLUGIN_PATH=$<TARGET_FILE_DIR:test_decoder> ZMPI_DEVICE=decoder ZMPI_TEST_DECODER=garbage:9 ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, WRITES = 150, SHARE = 1 << 20 };

static int rank, ranks;
static MPI_File shared;
static MPI_Comm comms[THREADS];

/* ROMIO as Open MPI 4.1.4 has it parses hints in static variables: two threads that open files at
 * the same time crash in ADIOI_cb_config_list_parse, without libzmpi too. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static void open_alone(const char *name, int mode, MPI_File *file)
{
    pthread_mutex_lock(&opening);
    OK(MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, file));
    pthread_mutex_unlock(&opening);
}

static int length_of(int thread, int k)
{
    return 1 + (int)(check_mix((uint64_t)thread, (uint64_t)k) % (k % 30 == 0 ? 100000 : 1500));
}

static void fill(int *data, int n, int owner, int thread, int k)
{
    for (int i = 0; i < n; i++)
        data[i] = owner * 1000003 + thread * 10007 + k * 101 + i;
}

/* Writes and reads of one thread in its part of a file; most of the reads follow at once. */
static void use(MPI_File file, MPI_Offset base, int thread)
{
    int *data = check_alloc(SHARE), *back = check_alloc(SHARE);
    MPI_Offset at = 0;
    for (int k = 0; k < WRITES; k++) {
        int n = length_of(thread, k);
        if (at + n * (MPI_Offset)sizeof *data > SHARE)
            break;
        fill(data, n, rank, thread, k);
        OK(MPI_File_write_at(file, base + at, data, n, MPI_INT, MPI_STATUS_IGNORE));
        if (k % 3 == 0) {
            OK(MPI_File_read_at(file, base + at, back, n, MPI_INT, MPI_STATUS_IGNORE));
            CHECK_BYTES(back, data, (size_t)n * sizeof *data);
        }
        at += n * (MPI_Offset)sizeof *data;
    }
    free(data);
    free(back);
}

/* All that threads of `owner` wrote. */
static void check_part(MPI_File file, MPI_Offset base, int owner, int thread)
{
    int *should = check_alloc(SHARE), *is = check_alloc(SHARE);
    MPI_Offset at = 0;
    for (int k = 0; k < WRITES; k++) {
        int n = length_of(thread, k);
        if (at + n * (MPI_Offset)sizeof *is > SHARE)
            break;
        fill(should, n, owner, thread, k);
        OK(MPI_File_read_at(file, base + at, is, n, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, should, (size_t)n * sizeof *is);
        at += n * (MPI_Offset)sizeof *is;
    }
    free(should);
    free(is);
}

/* A communicator of its own for each thread: a gather beside the files' calls. */
static void gather(int thread)
{
    enum { N = 2000 };
    int *data = check_alloc(N * sizeof *data), *all = check_alloc((size_t)ranks * N * sizeof *all);
    int root = thread % ranks;
    for (int k = 0; k < 5; k++) {
        fill(data, N, rank, thread, k);
        OK(MPI_Gather(data, N, MPI_INT, all, N, MPI_INT, root, comms[thread]));
        for (int r = 0; r < ranks && rank == root; r++) {
            fill(data, N, r, thread, k);
            CHECK_BYTES(all + r * N, data, N * sizeof *data);
        }
    }
    free(data);
    free(all);
}

static void *work(void *argument)
{
    int thread = *(const int *)argument;
    char name[40];
    MPI_File own;
    snprintf(name, sizeof name, "threads.%d.%d.z", rank, thread);
    unlink(name);
    use(shared, (rank * THREADS + thread) * (MPI_Offset)SHARE, thread);
    gather(thread);
    for (int k = 0; k < 3; k++) {
        open_alone(name, MPI_MODE_RDWR | MPI_MODE_CREATE, &own);
        use(own, 0, thread);
        OK(MPI_File_close(&own));
    }
    open_alone(name, MPI_MODE_RDONLY, &own);
    check_part(own, 0, rank, thread);
    OK(MPI_File_close(&own));
    CHECK(check_is_container(name));
    unlink(name);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, number[THREADS];
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    check_remove("threads.z", MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, "threads.z", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &shared));
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, work, &number[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    check_sync(shared, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < THREADS; i++) {
            check_say("thread %d of rank %d", i, r);
            check_part(shared, (r * THREADS + i) * (MPI_Offset)SHARE, r, i);
        }
    OK(MPI_File_close(&shared));
    CHECK(check_is_container("threads.z"));
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    check_remove("threads.z", MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
