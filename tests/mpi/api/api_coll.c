/*
 * api_coll.c - collectives as a program sets them: zmpi_comm_set and zmpi_comm_get_stats, rules by
 * communicator name, and what a communicator's settings leave alone.
 *
 * zmpi-test: RANKS 1,2,3 ANYIO ENV ZMPI_COLLECTIVE_PIECE=8K
 */
#include "check.h"

#include <zmpi.h>

enum { N = 20000 };

static int rank, ranks;

/* How many values that rank 0 gathered are not what was sent; -1 on other ranks. */
static int gather(MPI_Comm comm, double bound)
{
    float *mine = check_alloc(N * sizeof *mine);
    float *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    int changed = 0;
    for (int i = 0; i < N; i++)
        mine[i] = (float)(rank + (i % 1000) * 0.0007);
    OK(MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, comm));
    for (int i = 0; i < N * ranks && rank == 0; i++) {
        double off = all[i] - (float)(i / N + (i % N % 1000) * 0.0007);
        CHECK_SAY(off <= bound && off >= -bound, "%d is off by %g", i, off);
        changed += off > 0 || off < 0;
    }
    free(mine);
    free(all);
    return changed;
}

static uint64_t compressed(MPI_Comm comm)
{
    struct zmpi_comm_stats s = {0};
    int rc = zmpi_comm_get_stats(comm, &s);
    CHECK(rc == MPI_SUCCESS || rc == MPI_ERR_COMM);
    CHECK(s.compressed <= s.calls && s.bytes_sent <= s.bytes + 64 * s.compressed);
    return rc ? 0 : s.compressed;
}

static void settings(MPI_Comm comm)
{
    check_say("settings");
    CHECK_EQUAL(gather(comm, 0), 0); /* no bound is set: nothing happens */
    if (ranks == 1) {
        CHECK_EQUAL(zmpi_comm_set(comm, "error_bound", "abs=0.01"), MPI_ERR_COMM);
        return;
    }
    CHECK_EQUAL(zmpi_comm_set(comm, "error_bound", "0.01"), MPI_ERR_ARG);
    CHECK_EQUAL(zmpi_comm_set(comm, "staging", "2M"), MPI_ERR_ARG);
    CHECK_EQUAL(zmpi_comm_set(comm, "nothing", "2M"), MPI_ERR_ARG);
    OK(zmpi_comm_set(comm, "error_bound", "abs=0.01"));
    OK(zmpi_comm_set(comm, "collective_mode", "always"));
    OK(zmpi_comm_set(comm, "collective_min", "1K"));
    int changed = gather(comm, 0.01);
    CHECK(rank || changed > N / 2);
    CHECK_EQUAL(compressed(comm), 1);
    if (rank == ranks - 1) /* which is wrong: nothing is compressed until all have done it */
        OK(zmpi_comm_set(comm, "error_bound", "lossless"));
    CHECK_EQUAL(gather(comm, 0), 0);
    CHECK_EQUAL(compressed(comm), 1);
    OK(zmpi_comm_set(comm, "error_bound", "lossless"));
    CHECK_EQUAL(gather(comm, 0), 0);
    CHECK_EQUAL(compressed(comm), 2);
    OK(zmpi_comm_set(comm, "collective_mode", "never"));
    CHECK_EQUAL(gather(comm, 0), 0);
    OK(zmpi_comm_set(comm, "collective_mode", "always"));
    OK(zmpi_comm_set(comm, "collectives", "bcast"));
    CHECK_EQUAL(gather(comm, 0), 0);
    CHECK_EQUAL(compressed(comm), 2);
    CHECK_EQUAL(gather(MPI_COMM_WORLD, 0), 0); /* another communicator */
    CHECK_EQUAL(compressed(MPI_COMM_WORLD), 0);
}

/* Rules for communicators, whatever other communicators and files have. */
static void names(void)
{
    static const char *const name[] = {"halo 3", "results"};
    for (int k = 0; k < 2; k++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, name[k]);
        check_say("communicator \"%s\"", name[k]);
        int changed = gather(comm, k ? 0.02 : 0);
        CHECK(rank || ranks == 1 || k == 0 || changed > N / 2);
        CHECK_EQUAL(compressed(comm), ranks > 1 && k == 1);
        MPI_Comm_free(&comm);
    }
}

/* The largest error of the first of two variables, 0 to 1, beside one of 0 to 3. */
static double error_of_first(MPI_Comm comm, const char *components)
{
    float *mine = check_alloc(N * sizeof *mine);
    float *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    double worst = 0;
    OK(zmpi_comm_set(comm, "components", components));
    for (int i = 0; i < N; i++)
        mine[i] = (float)((i % 2 ? 3 : 1) * check_unit(1, (uint64_t)i));
    OK(MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, comm));
    for (int i = 0; i < N * ranks && rank == 0; i += 2) {
        const double off = (double)(all[i] - mine[i % N]);
        worst = off > worst ? off : -off > worst ? -off : worst;
    }
    free(mine);
    free(all);
    return worst;
}

/* Interleaved variables, set for a communicator. */
static void variables(void)
{
    MPI_Comm comm;
    check_say("components");
    if (ranks == 1)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    OK(zmpi_comm_set(comm, "error_bound", "rel=1e-2"));
    OK(zmpi_comm_set(comm, "collective_mode", "always"));
    OK(zmpi_comm_set(comm, "collective_min", "1K"));
    const double as_one = error_of_first(comm, "1"), apart = error_of_first(comm, "2");
    CHECK_SAY(rank || (as_one > 0.012 && apart > 0.005 && apart <= 0.01), "%g, %g", as_one, apart);
    MPI_Comm_free(&comm);
}

/* Every process reads its own copy. */
static void write_rules(char *path)
{
    static const char text[] = "[comm:halo*]\nerror_bound = abs=0.5\ncollective_mode = never\n"
                               "[comm:results]\nerror_bound = abs=0.02\ncollective_mode = always\n"
                               "[*.bin]\nerror_bound = lossless\n";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    setenv("ZMPI_CONFIG", path, 1);
}

int main(int argc, char **argv)
{
    char path[] = "rules-XXXXXX";
    MPI_Comm comm;
    write_rules(path);
    MPI_Init(&argc, &argv);
    unlink(path);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    settings(comm);
    MPI_Comm_free(&comm);
    names();
    variables();
    MPI_Finalize();
    return 0;
}
