/*
 * no_memory_coll.c - an allocation of one rank, or of all, fails in a collective: it returns right
 * data or an error, no rank is left waiting, and the next one is right.
 *
 *     no_memory_coll once|always
 *
 * zmpi-test: once RANKS 2,3 ANYIO PRELOAD zmpi_test_memory ARGS once ENV ZMPI_ERROR_BOUND=abs=0.25 ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off ZMPI_COLLECTIVES=gather,scatter,alltoall,allgather,bcast_lossy ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_PIECE=8K
 * zmpi-test: always RANKS 2,3 ANYIO PRELOAD zmpi_test_memory ARGS always ENV ZMPI_ERROR_BOUND=abs=0.25 ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off ZMPI_COLLECTIVES=gather,scatter,alltoall,allgather,bcast ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_PIECE=8K
 * zmpi-test: ratio RANKS 2 ANYIO PRELOAD zmpi_test_memory ARGS once ENV ZMPI_ERROR_BOUND=ratio=2 ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off ZMPI_CODEC=huffman ZMPI_COLLECTIVES=gather,scatter,alltoall,allgather,bcast_lossy ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_PIECE=8K
 */
#include "outcome.h"

#include <math.h>

#include "memory.h"

enum { COUNT = 3000, MOST = 3, SECONDS = 60 };

static int rank, ranks;
static double in[MOST * 2 * COUNT], out[MOST * 2 * COUNT];
static MPI_Datatype holes; /* COUNT doubles, every second one */
static bool ratio;         /* whose bound nobody knows */

/* Integers: rounded, what comes within the bound is exact. */
static double value(int from, int to, int i)
{
    return 1000 * from + 100 * to + i % 50;
}

/* How a call is made: 0 plain, 1 in place, 2 into a datatype with holes. */
enum { PLAIN, IN_PLACE, HOLES, FORMS };

static int counts[MOST], places[MOST];

/* One call; `blocks` of `out` are checked against what rank from(k) has for to(k). */
struct op {
    const char *name;
    int (*call)(MPI_Comm comm, int form, int root);
    bool (*gets)(int root); /* does this rank? */
    int blocks;             /* received: 0 all ranks', 1 one */
};

static int gather(MPI_Comm comm, int form, int root)
{
    const bool there = form == IN_PLACE && rank == root;
    if (form == HOLES)
        return MPI_Gatherv(in, COUNT, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, root, comm);
    if (there)
        memcpy(out + rank * COUNT, in, COUNT * sizeof *in);
    return MPI_Gather(there ? MPI_IN_PLACE : in, COUNT, MPI_DOUBLE, out, COUNT, MPI_DOUBLE, root,
                      comm);
}

static int scatter(MPI_Comm comm, int form, int root)
{
    if (form == HOLES)
        return MPI_Scatterv(in, counts, places, MPI_DOUBLE, out, COUNT, MPI_DOUBLE, root, comm);
    if (form == IN_PLACE && rank == root) {
        memcpy(out, in + rank * COUNT, COUNT * sizeof *in);
        return MPI_Scatter(in, COUNT, MPI_DOUBLE, MPI_IN_PLACE, COUNT, MPI_DOUBLE, root, comm);
    }
    return MPI_Scatter(in, COUNT, MPI_DOUBLE, out, COUNT, MPI_DOUBLE, root, comm);
}

static int alltoall(MPI_Comm comm, int form, int root)
{
    (void)root;
    if (form == HOLES)
        return MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm);
    if (form == IN_PLACE)
        memcpy(out, in, (size_t)ranks * COUNT * sizeof *in);
    return MPI_Alltoall(form == IN_PLACE ? MPI_IN_PLACE : in, COUNT, MPI_DOUBLE, out, COUNT,
                        MPI_DOUBLE, comm);
}

static int allgather(MPI_Comm comm, int form, int root)
{
    (void)root;
    if (form == HOLES)
        return MPI_Allgatherv(in, COUNT, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm);
    if (form == IN_PLACE)
        memcpy(out + rank * COUNT, in, COUNT * sizeof *in);
    return MPI_Allgather(form == IN_PLACE ? MPI_IN_PLACE : in, COUNT, MPI_DOUBLE, out, COUNT,
                         MPI_DOUBLE, comm);
}

/* Through a datatype with holes. */
static int bcast(MPI_Comm comm, int form, int root)
{
    double *spread = check_alloc(2 * COUNT * sizeof *spread);
    for (int i = 0; i < COUNT; i++)
        spread[2 * i] = rank == root ? in[i] : -1;
    int rc = form == HOLES ? MPI_Bcast(spread, 1, holes, root, comm) : MPI_SUCCESS;
    for (int i = 0; i < COUNT; i++)
        out[i] = form == HOLES ? spread[2 * i] : rank == root ? in[i] : -1;
    free(spread);
    return form == HOLES ? rc : MPI_Bcast(out, COUNT, MPI_DOUBLE, root, comm);
}

static bool root_gets(int root)
{
    return rank == root;
}

static bool all_get(int root)
{
    (void)root;
    return true;
}

static const struct op ops[] = {{"gather", gather, root_gets, 0},
                                {"scatter", scatter, all_get, 1},
                                {"alltoall", alltoall, all_get, 0},
                                {"allgather", allgather, all_get, 0},
                                {"bcast", bcast, all_get, 1}};

/* What block k of `out` holds. */
static double expected(const struct op *o, int root, int k, int i)
{
    if (strcmp(o->name, "alltoall") == 0)
        return value(k, rank, i);
    if (strcmp(o->name, "scatter") == 0)
        return value(root, rank, i);
    return value(o->blocks ? root : k, 0, i);
}

static void check_data(const struct op *o, int root)
{
    for (int k = 0; k < (o->blocks ? o->blocks : ranks) && o->gets(root); k++)
        for (int i = 0; i < COUNT; i++) {
            const double is = out[k * COUNT + i], should = expected(o, root, k, i);
            CHECK_SAY(fabs(is - should) <= (ratio ? 30 : 0.25),
                      "block %d, element %d is %g, not %g", k, i, is, should);
        }
}

static int run(const struct op *o, MPI_Comm comm, int form, int root)
{
    for (int k = 0; k < ranks; k++)
        for (int i = 0; i < COUNT; i++) {
            in[k * COUNT + i] = value(rank, k, i);
            out[k * COUNT + i] = -1;
        }
    alarm(SECONDS);
    return o->call(comm, form, root);
}

/* On a communicator of its own, of which libzmpi.so knows nothing yet, or on one that it knows. */
static bool fail_at(const struct op *o, int form, int root, MPI_Comm comm, long at, long times,
                    int victim)
{
    const struct lack lack = {LACK_MEMORY | LACK_THREAD, at, times};
    check_say("%s, form %d, root %d: allocation %ld on rank %d", o->name, form, root, at, victim);
    if (rank == victim || victim < 0)
        lack_set(&lack);
    const int rc = run(o, comm, form, root);
    int there = lack_count() >= at, any;
    lack_set(NULL);
    if (rc == MPI_SUCCESS)
        check_data(o, root);
    MPI_Allreduce(&there, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any)
        CHECK_EQUAL(rc, MPI_SUCCESS);
    OK(run(o, comm, form, root));
    check_data(o, root);
    return any;
}

static long fail_everywhere(const struct op *o, int form, int root, int victim, long times)
{
    MPI_Comm known, fresh;
    long total = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &known);
    MPI_Comm_set_errhandler(known, MPI_ERRORS_RETURN);
    OK(run(o, known, form, root));
    for (long at = 1; fail_at(o, form, root, known, at, times, victim); at += ratio ? 41 : 1)
        total++;
    MPI_Comm_free(&known);
    bool more = form == PLAIN;
    for (long at = 1; more; at += ratio ? 41 : 1, total += more) {
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
        MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
        more = fail_at(o, form, root, fresh, at, times, victim);
        MPI_Comm_free(&fresh);
    }
    return total;
}

int main(int argc, char **argv)
{
    long total = 0;
    MPI_Init(&argc, &argv);
    signal(SIGALRM, died);
    signal(SIGSEGV, died);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const long times = argc > 1 && strcmp(argv[1], "once") == 0 ? 1 : 0;
    const char *bound = getenv("ZMPI_ERROR_BOUND");
    ratio = bound && strncmp(bound, "ratio", 5) == 0;
    MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &holes);
    MPI_Type_commit(&holes);
    for (int k = 0; k < ranks; k++) {
        counts[k] = COUNT;
        places[k] = k * COUNT;
    }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int form = 0; form < FORMS; form++)
            for (int victim = -1; victim < ranks; victim++)
                total += fail_everywhere(&ops[i], form, form % ranks, victim, times);
    check_say("no case");
    CHECK_SAY(total > 50, "only %ld faults", total);
    if (rank == 0)
        printf("%ld faults\n", total);
    MPI_Type_free(&holes);
    MPI_Finalize();
    return 0;
}
