/*
 * mixed.c - a job in which some ranks may have no libzmpi.so (tests/mpi/runtime/mixed.sh): the
 * first call that the program makes gets what the program sent, whatever zmpi does in MPI_Init;
 * what it computes and writes is right, and nothing hangs.
 *
 *     mixed FIRST KIND [CHILD...]    FIRST: allreduce, bcast, dup, open, recv, none
 *         KIND: exact (nobody may change a value), lossy (abs=1e-3); CHILD: command line of
 * children
 *
 * With CHILD one process is spawned and merged with; collectives and a file on all of them follow.
 *
 * zmpi-test: RANKS 1,3 ANYIO ARGS open lossy ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_REPORT_TEXT=off
 */
#include "check.h"

#include <math.h>

enum { N = 100000, MOST = 8 };

static int rank, ranks;
static bool exact;

static float value(int from, int i)
{
    return (float)(1000 * check_unit(1 + (uint64_t)from, (uint64_t)i));
}

static void check_value(float is, int from, int i)
{
    const float want = value(from, i);
    CHECK_SAY(exact ? !(is < want || is > want) : fabsf(is - want) <= 1.001e-3F,
              "value %d of rank %d is %.9g, not %.9g", i, from, is, want);
}

static float *values(int from)
{
    float *data = check_alloc(N * sizeof *data);
    for (int i = 0; i < N; i++)
        data[i] = value(from, i);
    return data;
}

static void allreduce(MPI_Comm comm)
{
    int mine = 1 << check_rank(comm), all = 0;
    OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(all, (1 << check_ranks(comm)) - 1);
}

static void bcast(MPI_Comm comm)
{
    int data[1000];
    const int root = check_ranks(comm) - 1;
    for (int i = 0; i < 1000; i++)
        data[i] = check_rank(comm) == root ? 7 * i : -1;
    OK(MPI_Bcast(data, 1000, MPI_INT, root, comm));
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(data[i], 7 * i);
}

/* Whatever comes. */
static void receive(MPI_Comm comm)
{
    int data = 1000 + check_rank(comm), got = -1;
    MPI_Status status;
    if (check_rank(comm) > 0) {
        OK(MPI_Send(&data, 1, MPI_INT, 0, 5, comm));
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        CHECK_EQUAL(got, 1000);
        CHECK_EQUAL(status.MPI_TAG, 6);
        return;
    }
    for (int i = 1; i < check_ranks(comm); i++) {
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        CHECK_EQUAL(got, 1000 + status.MPI_SOURCE);
        CHECK_EQUAL(status.MPI_TAG, 5);
    }
    for (int i = 1; i < check_ranks(comm); i++)
        OK(MPI_Send(&data, 1, MPI_INT, i, 6, comm));
}

static void gather(MPI_Comm comm)
{
    const int n = check_ranks(comm), me = check_rank(comm);
    float *mine = values(me), *all = check_alloc((size_t)n * N * sizeof *all);
    OK(MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, comm));
    for (int i = 0; me == 0 && i < n * N; i++)
        check_value(all[i], i / N, i % N);
    free(mine);
    free(all);
}

static void file(MPI_Comm comm, const char *path)
{
    const int n = check_ranks(comm), me = check_rank(comm);
    float *mine = values(me), *back = check_alloc(N * sizeof *back);
    MPI_File f;
    if (me == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
    OK(MPI_Barrier(comm));
    OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, (MPI_Offset)me * N * 4, mine, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(comm));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, (MPI_Offset)((me + 1) % n) * N * 4, back, N, MPI_FLOAT,
                            MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        check_value(back[i], (me + 1) % n, i);
    OK(MPI_File_close(&f));
    if (exact && me == 0) { /* a plain file, as all programs read it */
        FILE *plain = fopen(path, "rb");
        CHECK(plain && fread(back, sizeof *back, N, plain) == N);
        CHECK_BYTES(back, mine, N * sizeof *back);
        fclose(plain);
    }
    OK(MPI_Barrier(comm));
    free(mine);
    free(back);
}

static void duplicate(MPI_Comm comm)
{
    MPI_Comm other;
    OK(MPI_Comm_dup(comm, &other));
    gather(other);
    allreduce(other);
    OK(MPI_Comm_free(&other));
}

/* A container that one MPI_COMM_WORLD has made is not read as bytes, nor waited for. */
static void compressed_file(MPI_Comm merged)
{
    MPI_File f;
    const int rc = MPI_File_open(merged, "container", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    int class = MPI_SUCCESS;
    if (rc)
        MPI_Error_class(rc, &class);
    if (getenv("ZMPI_TEST_HAS_IT"))
        CHECK_EQUAL(class, MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_Barrier(merged));
}

static void together(MPI_Comm family, int high)
{
    const bool before = exact;
    MPI_Comm merged;
    OK(MPI_Intercomm_merge(family, high, &merged));
    exact = true;
    allreduce(merged);
    gather(merged);
    file(merged, "merged");
    duplicate(merged);
    compressed_file(merged);
    OK(MPI_Comm_free(&merged));
    exact = before;
}

static void spawn(char **command)
{
    MPI_Comm family;
    int *codes = check_alloc(2 * sizeof *codes);
    OK(MPI_Comm_spawn(command[0], command + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &family,
                      codes));
    together(family, 0);
    OK(MPI_Comm_disconnect(&family));
    free(codes);
}

static void first_call(const char *name)
{
    static const struct {
        const char *name;
        void (*call)(MPI_Comm);
    } calls[] = {{"allreduce", allreduce}, {"bcast", bcast}, {"dup", duplicate}, {"recv", receive}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            calls[i].call(MPI_COMM_WORLD);
    if (strcmp(name, "open") == 0)
        file(MPI_COMM_WORLD, "mixed");
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    CHECK(argc >= 3);
    exact = strcmp(argv[2], "exact") == 0;
    first_call(argv[1]);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(ranks <= MOST);
    MPI_Comm_get_parent(&parent);
    duplicate(MPI_COMM_WORLD);
    receive(MPI_COMM_WORLD);
    file(MPI_COMM_WORLD, parent == MPI_COMM_NULL ? "container" : "child");
    if (parent != MPI_COMM_NULL) {
        together(parent, 1);
        OK(MPI_Comm_disconnect(&parent));
    } else if (argc > 3) {
        spawn(argv + 3);
    }
    first_call("allreduce");
    MPI_Finalize();
    return 0;
}
