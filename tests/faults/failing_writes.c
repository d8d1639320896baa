/*
 * failing_writes.c - a write, fsync or ftruncate of one rank fails: the error has the right class,
 * no rank is left waiting, and the file holds what was written and synchronised successfully.
 *
 * One sequence of MPI calls is repeated with the first, second, ... system call on the file
 * failing, until there are no more. Each rank counts a write of its own as promised when it and all
 * that followed up to the next MPI_File_sync returned without an error, on all ranks.
 *
 *     failing_writes once|always      one system call fails, or all from there on
 *
 * The libraries alone do worse (Open MPI 4.1.4, MPICH 4.0): to ROMIO every reason is MPI_ERR_IO,
 * and OMPIO returns success from writes that failed.
 *
 * zmpi-test: once RANKS 1,2 TIMEOUT 300 ARGS once ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off
 * zmpi-test: always RANKS 1,2 TIMEOUT 300 ARGS always ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off
 */
#include "outcome.h"

#include <errno.h>

#include "shim.h"

enum { SMALL = 300, LARGE = 12000, STEPS = 14 };

/* What a step does: collective, independent, large independent and nonblocking writes, reading,
 * sync, preallocate, set_size to more (Z) and to nothing (E). */
static const char *const sequences[] = {"CIIRSLPCSZISIC", "CIRSECISICEILC", "NNNSNNIRNCNSNN"};
static const char *steps;

static int rank, ranks;
static size_t case_length; /* of check_case: which fault it is */

/* What is known of this rank's data of a step. MAYBE: a write failed, or was not synchronised. */
enum state { ABSENT, MAYBE, PROMISED };

struct outcome {
    int error; /* class of the first error, MPI_SUCCESS if there was none */
    char at;   /* in which step: O is open, X close */
    bool opened;
    int state[STEPS];
};

static int elements(int step)
{
    return steps[step] == 'L' || steps[step] == 'N' ? LARGE : SMALL;
}

static MPI_Offset place(int owner, int step)
{
    return ((MPI_Offset)step * ranks + owner) * LARGE * (MPI_Offset)sizeof(uint64_t);
}

static void fill(uint64_t *data, int owner, int step)
{
    for (int i = 0; i < elements(step); i++)
        data[i] = check_mix((uint64_t)(owner * STEPS + step), (uint64_t)i) | 1;
}

/* A request that completes with an error has it in the return code of MPI_Wait. */
static int write_nonblocking(MPI_File file, int step, const uint64_t *data)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_File_iwrite_at(file, place(rank, step), data, LARGE, MPI_INT64_T, &request);
    int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return rc ? rc : waited;
}

static int do_step(MPI_File file, int step, uint64_t *data)
{
    fill(data, rank, step);
    switch (steps[step]) {
    case 'C':
        return MPI_File_write_at_all(file, place(rank, step), data, elements(step), MPI_INT64_T,
                                     MPI_STATUS_IGNORE);
    case 'I':
    case 'L':
        return MPI_File_write_at(file, place(rank, step), data, elements(step), MPI_INT64_T,
                                 MPI_STATUS_IGNORE);
    case 'N':
        return write_nonblocking(file, step, data);
    case 'P':
        return MPI_File_preallocate(file, place(0, STEPS + 1));
    case 'Z':
        return MPI_File_set_size(file, place(0, STEPS + 2));
    case 'E':
        return MPI_File_set_size(file, 0);
    case 'R': /* what this rank holds back goes to the file */
        return MPI_File_read_at(file, place(rank, step - 1), data, 1, MPI_INT64_T,
                                MPI_STATUS_IGNORE);
    default:
        return MPI_File_sync(file);
    }
}

static void note(struct outcome *o, char at, int rc)
{
    if (rc && o->error == MPI_SUCCESS) {
        o->error = class_of(rc);
        o->at = at;
    }
}

/* What is known once a step is over on all ranks. `pending`: written without an error so far. */
static void judge(struct outcome *o, bool *pending, int step, bool failed)
{
    for (int i = 0; i < step; i++) {
        if (steps[step] == 'S' && !failed && pending[i])
            o->state[i] = PROMISED;
        if (steps[step] == 'E') {
            o->state[i] = failed && o->state[i] ? MAYBE : ABSENT;
            pending[i] = false;
        }
    }
}

/* Calls that say on all ranks what happened on any. */
static bool failed_together(const char *what, int rc)
{
    const bool failed = any_failed(rc);
    CHECK_SAY(!failed || rc, "%s succeeds here and fails on another rank", what);
    return failed;
}

static void run_steps(MPI_File file, struct outcome *o)
{
    uint64_t *data = check_alloc(LARGE * sizeof *data);
    bool pending[STEPS + 1] = {false};
    for (int step = 0; step < STEPS; step++) {
        pending[step] = strchr("CILN", steps[step]) != NULL;
        o->state[step] = pending[step] ? MAYBE : ABSENT;
        int rc = do_step(file, step, data);
        note(o, steps[step], rc);
        if (rc)
            memset(pending, 0, sizeof pending);
        const bool together = strchr("SPZE", steps[step]) != NULL;
        judge(o, pending, step,
              together ? failed_together("sync, preallocate or set_size", rc) : any_failed(rc));
    }
    int rc = MPI_File_close(&file);
    note(o, 'X', rc);
    if (!failed_together("close", rc))
        for (int i = 0; i < STEPS; i++)
            o->state[i] = pending[i] ? PROMISED : o->state[i];
    free(data);
}

static void run(const char *path, struct outcome *o)
{
    MPI_File file;
    memset(o, 0, sizeof *o);
    int rc =
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    note(o, 'O', rc);
    bool failed = any_failed(rc);
    CHECK_SAY(!failed || rc, "the file was opened on some ranks only");
    o->opened = !failed;
    if (o->opened)
        run_steps(file, o);
}

static void check_step(MPI_File file, int owner, int step, enum state state)
{
    uint64_t is[LARGE], should[LARGE];
    MPI_Status status;
    int n = elements(step), got;
    snprintf(check_case + case_length, sizeof check_case - case_length,
             ": step %d (%c) of rank %d, state %d", step, steps[step], owner, state);
    fill(should, owner, step);
    OK(MPI_File_read_at(file, place(owner, step), is, n, MPI_INT64_T, &status));
    MPI_Get_count(&status, MPI_INT64_T, &got);
    CHECK(got == n || state != PROMISED);
    for (int i = 0; i < got; i++)
        CHECK_SAY((is[i] == should[i] && state != ABSENT) || (is[i] == 0 && state != PROMISED),
                  "element %d is %llx", i, (unsigned long long)is[i]);
}

static void check_file(const char *path, const struct outcome *o)
{
    MPI_File file;
    int state[STEPS];
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int owner = 0; owner < ranks; owner++) {
        memcpy(state, o->state, sizeof state);
        MPI_Bcast(state, STEPS, MPI_INT, owner, MPI_COMM_WORLD);
        for (int step = 0; step < STEPS; step++)
            check_step(file, owner, step, (enum state)state[step]);
    }
    OK(MPI_File_close(&file));
}

struct kind {
    const char *name;
    enum fault_act act;
    int error, want;
    long step; /* from one call that fails to the next one tried */
};

#ifdef __SANITIZE_ADDRESS__
enum { EACH = 4 }; /* a run takes ten times as long */
#else
enum { EACH = 1 };
#endif

static const struct kind kinds[] = {
    {"EIO", FAULT_ERROR, EIO, MPI_ERR_IO, EACH},
    {"ENOSPC", FAULT_ERROR, ENOSPC, MPI_ERR_NO_SPACE, EACH},
    {"EDQUOT", FAULT_ERROR, EDQUOT, MPI_ERR_QUOTA, 5},
    {"EROFS", FAULT_ERROR, EROFS, MPI_ERR_READ_ONLY, 5},
    {"short", FAULT_SHORT, 0, MPI_SUCCESS, EACH},
};

/* Run the sequence with call number `at` of the victim failing. False when there are not so many.
 */
static bool fail_at(const struct kind *k, int calls, long at, long times, int victim)
{
    const char *path = "failing.z";
    const struct fault fault = {path, calls, k->act, k->error, at, times, 0, NULL};
    struct outcome o;
    check_remove(path, MPI_COMM_WORLD);
    if (rank == victim)
        fault_set(&fault);
    check_say("%s in call %ld of kind %d on rank %d", k->name, at, calls, victim);
    case_length = strlen(check_case);
    run(path, &o);
    int facts[2] = {fault_count() >= at, o.error};
    fault_set(NULL);
    MPI_Bcast(facts, 2, MPI_INT, victim, MPI_COMM_WORLD);
    if (!facts[0]) {
        CHECK_SAY(!o.error, "%s: step %c: class %d, and no call has failed", steps, o.at, o.error);
        return false;
    }
    /* A nonblocking write that fails once is done again, blocking. */
    if (facts[1] != MPI_SUCCESS || times != 1 || !strchr(steps, 'N'))
        CHECK_EQUAL(facts[1], k->want);
    /* What others know of it comes from the MPI library, where the call is not collective. */
    CHECK(o.error == MPI_SUCCESS || o.error == k->want ||
          (o.error == MPI_ERR_IO && rank != victim));
    CHECK_SAY(calls != FAULT_SYNC || facts[1] == MPI_SUCCESS || o.error != MPI_SUCCESS,
              "success on rank %d from a sync that failed on rank %d", rank, victim);
    MPI_Barrier(MPI_COMM_WORLD);
    if (o.opened)
        check_file(path, &o);
    return true;
}

static long fail_everywhere(const struct kind *k, int calls, long times)
{
    long total = 0;
    /* A file that rank 0 can truncate is truncated. */
    const int last = calls == FAULT_RESIZE ? 0 : ranks - 1, step = last > 0 ? last : 1;
    for (int victim = 0; victim <= last; victim += step)
        for (long at = 1; fail_at(k, calls, at, times, victim); at += k->step)
            total++;
    return total;
}

int main(int argc, char **argv)
{
    static const int calls[] = {FAULT_WRITE, FAULT_SYNC, FAULT_RESIZE};
    long total = 0;
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const long times = argc > 1 && strcmp(argv[1], "once") == 0 ? 1 : 0;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        steps = sequences[i];
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
                if (kinds[k].act != FAULT_SHORT || calls[c] == FAULT_WRITE)
                    total += fail_everywhere(&kinds[k], calls[c], times);
    }
    check_say("no case");
    CHECK_SAY(total > 50, "only %ld faults", total);
    if (rank == 0)
        printf("%ld faults\n", total);
    check_remove("failing.z", MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
