/*
 * no_memory.c - an allocation of one rank, or of all, fails in a sequence of MPI-IO calls: the
 * calls return an error or do without, no rank is left waiting, the next calls work, and the file
 * holds what was written and synchronised successfully.
 *
 * As failing_writes.c: a sequence is repeated with the first, second, ... allocation failing, until
 * there are no more. A call that some rank returned an error from has promised nothing.
 *
 *     no_memory once|always [SEQUENCE AT VICTIM [KIND]]       all, or one case
 *
 * zmpi-test: once RANKS 1,2,3 PRELOAD zmpi_test_memory TIMEOUT 1200 ARGS once ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off
 * zmpi-test: always RANKS 1,2,3 PRELOAD zmpi_test_memory TIMEOUT 1200 ARGS always ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off
 */
#include "outcome.h"

#include "memory.h"

enum { SMALL = 300, LARGE = 12000, STEPS_MAX = 20, SECONDS = 60 };

/*
 * C, B  collective write, blocking and split       V  the same through a view with holes
 * I, L  independent write, small and large         M  the same from a datatype with holes
 * N     nonblocking write                          W, O  shared pointer, ordered
 * R, A  read of what was written last, by itself, collectively
 * S     sync      Z, E  set_size to more, to nothing      P  preallocate
 * T, U  atomic mode on and off                     H  hints
 */
static const char *const sequences[] = {"CIRSBLVARSZISIC", "MOSARWSAMNSVLC",  "CIRSECISICEPLC",
                                        "TICARUCSVTLRSU",  "NNNSNNHIRNCNSNN", "CCCC"};
static const char *steps;
static int rank, ranks;
static size_t case_length; /* of check_case: which fault it is */

/* What is known of a rank's data of a step. MAYBE: a write failed, or was not synchronised. LOST:
 * nobody knows where it is. */
enum state { ABSENT, MAYBE, PROMISED, LOST };

struct outcome {
    int error; /* class of the first error, MPI_SUCCESS if there was none */
    bool opened;
    int state[STEPS_MAX];
};

static bool writes(int step)
{
    return strchr("CBVILNMWO", steps[step]) != NULL;
}

static int elements(int step)
{
    return steps[step] == 'L' || steps[step] == 'N' ? LARGE : SMALL;
}

/* Every second element of the file is the rank's in a view with holes. */
static int stride(int step)
{
    return steps[step] == 'V' ? 2 : 1;
}

static MPI_Offset place(int owner, int step)
{
    const MPI_Offset size = (MPI_Offset)sizeof(uint64_t);
    if (steps[step] == 'O')
        return ((MPI_Offset)step * ranks * LARGE + owner * SMALL) * size;
    return ((MPI_Offset)step * ranks + owner) * LARGE * size;
}

static void fill(uint64_t *data, int owner, int step)
{
    for (int i = 0; i < elements(step); i++)
        data[i] = check_mix((uint64_t)(owner * STEPS_MAX + step), (uint64_t)i) | 1;
}

static int first_of(int a, int b)
{
    return a ? a : b;
}

static int write_nonblocking(MPI_File file, int step, const uint64_t *data)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_File_iwrite_at(file, place(rank, step), data, LARGE, MPI_INT64_T, &request);
    return first_of(rc, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int write_split(MPI_File file, int step, const uint64_t *data)
{
    int rc = MPI_File_write_at_all_begin(file, place(rank, step), data, SMALL, MPI_INT64_T);
    return first_of(rc, MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
}

static int write_in_view(MPI_File file, int step, const uint64_t *data)
{
    MPI_Datatype holes;
    MPI_Type_vector(SMALL, 1, 2, MPI_INT64_T, &holes);
    MPI_Type_commit(&holes);
    int rc =
        MPI_File_set_view(file, place(rank, step), MPI_INT64_T, holes, "native", MPI_INFO_NULL);
    int wrote = MPI_ERR_OTHER; /* not at all: another rank failed */
    if (!any_failed(rc))
        wrote = MPI_File_write_all(file, data, SMALL, MPI_INT64_T, MPI_STATUS_IGNORE);
    MPI_Type_free(&holes);
    lack_pause(true); /* if this failed nothing below would be where it should be */
    int back = MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    lack_pause(false);
    return first_of(first_of(rc, wrote), back);
}

static int write_packed(MPI_File file, int step, const uint64_t *data)
{
    uint64_t *spread = check_alloc(2 * SMALL * sizeof *spread);
    MPI_Datatype holes;
    for (int i = 0; i < SMALL; i++)
        spread[2 * i] = data[i];
    MPI_Type_vector(SMALL, 1, 2, MPI_INT64_T, &holes);
    MPI_Type_commit(&holes);
    int rc = MPI_File_write_at_all(file, place(rank, step), spread, 1, holes, MPI_STATUS_IGNORE);
    MPI_Type_free(&holes);
    free(spread);
    return rc;
}

static int write_shared(MPI_File file, int step, const uint64_t *data)
{
    int rc = MPI_File_seek_shared(file, place(0, step), MPI_SEEK_SET);
    if (any_failed(rc))
        return first_of(rc, MPI_ERR_OTHER);
    /* One after the other, to know who is where: each LARGE elements. */
    uint64_t *whole = check_alloc(LARGE * sizeof *whole);
    memset(whole, 0, LARGE * sizeof *whole);
    memcpy(whole, data, SMALL * sizeof *data);
    for (int r = 0; r < ranks; r++) {
        if (r == rank)
            rc = MPI_File_write_shared(file, whole, LARGE, MPI_INT64_T, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(whole);
    return rc;
}

static int write_ordered(MPI_File file, int step, const uint64_t *data)
{
    int rc = MPI_File_seek_shared(file, place(0, step), MPI_SEEK_SET);
    if (any_failed(rc))
        return first_of(rc, MPI_ERR_OTHER);
    return MPI_File_write_ordered(file, data, SMALL, MPI_INT64_T, MPI_STATUS_IGNORE);
}

/* Of what this rank wrote last with success: the same, or an error. */
static int read_back(MPI_File file, int step, const bool *good, bool together)
{
    uint64_t is[2 * SMALL], should[LARGE];
    int last = step - 1;
    while (last >= 0 && (!writes(last) || !good[last]))
        last--;
    const int n = last < 0 ? 0 : SMALL * stride(last);
    const MPI_Offset at = last < 0 ? 0 : place(rank, last);
    int rc = together ? MPI_File_read_at_all(file, at, is, n, MPI_INT64_T, MPI_STATUS_IGNORE)
                      : MPI_File_read_at(file, at, is, n, MPI_INT64_T, MPI_STATUS_IGNORE);
    if (rc || last < 0)
        return rc;
    fill(should, rank, last);
    for (int i = 0; i < SMALL; i++)
        CHECK_SAY(is[i * stride(last)] == should[i], "step %d read by step %d: element %d is %llx",
                  last, step, i, (unsigned long long)is[i * stride(last)]);
    return rc;
}

static int give_hints(MPI_File file)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "zmpi_threshold", "1e30");
    int rc = MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    return rc;
}

static int do_step(MPI_File file, int step, uint64_t *data, const bool *good)
{
    const MPI_Offset at = place(rank, step);
    fill(data, rank, step);
    switch (steps[step]) {
    case 'C':
        return MPI_File_write_at_all(file, at, data, SMALL, MPI_INT64_T, MPI_STATUS_IGNORE);
    case 'I':
    case 'L':
        return MPI_File_write_at(file, at, data, elements(step), MPI_INT64_T, MPI_STATUS_IGNORE);
    case 'N':
        return write_nonblocking(file, step, data);
    case 'B':
        return write_split(file, step, data);
    case 'V':
        return write_in_view(file, step, data);
    case 'M':
        return write_packed(file, step, data);
    case 'W':
        return write_shared(file, step, data);
    case 'O':
        return write_ordered(file, step, data);
    case 'R':
    case 'A':
        return read_back(file, step, good, steps[step] == 'A');
    case 'Z':
        return MPI_File_set_size(file,
                                 (MPI_Offset)sizeof(uint64_t) * (STEPS_MAX + 1) * ranks * LARGE);
    case 'E':
        return MPI_File_set_size(file, 0);
    case 'P':
        return MPI_File_preallocate(file, place(0, step));
    case 'T':
    case 'U':
        return MPI_File_set_atomicity(file, steps[step] == 'T');
    case 'H':
        return give_hints(file);
    default:
        return MPI_File_sync(file);
    }
}

static void note(struct outcome *o, int rc)
{
    if (rc && o->error == MPI_SUCCESS)
        o->error = class_of(rc);
}

/* What is known once a step is over on all ranks. `pending`: written without an error so far. */
static void judge(struct outcome *o, bool *pending, int step, bool failed)
{
    if (failed && strchr("WO", steps[step])) {
        pending[step] = false;
        o->state[step] = LOST;
    }
    for (int i = 0; i < step; i++) {
        if (steps[step] == 'S' && !failed && pending[i])
            o->state[i] = PROMISED;
        if (steps[step] == 'E') {
            o->state[i] = failed && o->state[i] ? MAYBE : ABSENT;
            pending[i] = false;
        }
    }
}

static void run_steps(MPI_File file, struct outcome *o)
{
    const int n = (int)strlen(steps);
    uint64_t *data = check_alloc(LARGE * sizeof *data);
    bool pending[STEPS_MAX + 1] = {false};
    for (int step = 0; step < n; step++) {
        check_case[case_length] = 0;
        const size_t capacity = sizeof check_case - case_length;
        snprintf(check_case + case_length, capacity, ": at step %d (%c)", step, steps[step]);
        pending[step] = false;
        o->state[step] = writes(step) ? MAYBE : ABSENT;
        alarm(SECONDS);
        int rc = do_step(file, step, data, pending);
        note(o, rc);
        if (rc)
            memset(pending, 0, sizeof pending);
        pending[step] = writes(step) && !rc;
        judge(o, pending, step, any_failed(rc));
    }
    alarm(SECONDS);
    snprintf(check_case + case_length, sizeof check_case - case_length, ": closing");
    int rc = MPI_File_close(&file);
    note(o, rc);
    if (!any_failed(rc))
        for (int i = 0; i < n; i++)
            o->state[i] = pending[i] ? PROMISED : o->state[i];
    free(data);
}

static void run(const char *path, struct outcome *o)
{
    MPI_File file;
    memset(o, 0, sizeof *o);
    alarm(SECONDS);
    snprintf(check_case + case_length, sizeof check_case - case_length, ": opening");
    int rc =
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    note(o, rc);
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
    const int n = elements(step), by = stride(step);
    int got;
    snprintf(check_case + case_length, sizeof check_case - case_length,
             ": step %d (%c) of rank %d, state %d", step, steps[step], owner, state);
    fill(should, owner, step);
    OK(MPI_File_read_at(file, place(owner, step), is, n * by, MPI_INT64_T, &status));
    MPI_Get_count(&status, MPI_INT64_T, &got);
    CHECK(got > (n - 1) * by || state != PROMISED);
    for (int i = 0; i * by < got && state != LOST; i++)
        CHECK_SAY((is[i * by] == should[i] && state != ABSENT) ||
                      (is[i * by] == 0 && state != PROMISED),
                  "element %d is %llx", i, (unsigned long long)is[i * by]);
}

static void check_file(const char *path, const struct outcome *o)
{
    MPI_File file;
    int state[STEPS_MAX];
    const int n = (int)strlen(steps);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int owner = 0; owner < ranks; owner++) {
        memcpy(state, o->state, sizeof state);
        MPI_Bcast(state, STEPS_MAX, MPI_INT, owner, MPI_COMM_WORLD);
        for (int step = 0; step < n; step++)
            if (writes(step))
                check_step(file, owner, step, (enum state)state[step]);
    }
    OK(MPI_File_close(&file));
}

static void check_litter(void)
{
    DIR *here = rank == 0 ? opendir(".") : NULL;
    for (struct dirent *d; here && (d = readdir(here));)
        CHECK_SAY(!strstr(d->d_name, "zmpi-shared") && !strstr(d->d_name, ".plain-"), "%s was left",
                  d->d_name);
    if (here)
        closedir(here);
}

/* Run the sequence with allocation number `at` of the victim (-1: of all) failing. False when there
 * are not so many. */
static bool fail_at(int what, long at, long times, int victim)
{
    const char *path = "memory.z";
    const struct lack lack = {what, at, times};
    struct outcome o;
    check_remove(path, MPI_COMM_WORLD);
    check_say("%s: number %ld of kind %d on rank %d", steps, at, what, victim);
    case_length = strlen(check_case);
    if (rank == victim || victim < 0)
        lack_set(&lack);
    run(path, &o);
    int there = lack_count() >= at, any;
    lack_set(NULL);
    MPI_Allreduce(&there, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (getenv("NO_MEMORY_SAY") && o.error)
        fprintf(stderr, "%s: rank %d: class %d\n", check_case, rank, o.error);
    if (!any) {
        CHECK_EQUAL(o.error, MPI_SUCCESS);
        return false;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (o.opened)
        check_file(path, &o);
    check_litter();
    return true;
}

/* With several ranks every fifth allocation, others for each sequence and victim, unless there is
 * time. */
static long fail_everywhere(int what, long times)
{
    static int turn;
    const bool whole = ranks == 1 || getenv("ZMPI_TEST_LONG");
    const long step = whole || what != LACK_MEMORY ? 1 : 5;
    long total = 0;
    for (int victim = ranks > 1 ? -1 : 0; victim < ranks; victim++)
        if (victim < 1 || victim == ranks - 1)
            for (long at = 1 + turn++ % step; fail_at(what, at, times, victim); at += step)
                total++;
    return total;
}

int main(int argc, char **argv)
{
    long total = 0;
    MPI_Init(&argc, &argv);
    signal(SIGALRM, died);
    signal(SIGSEGV, died);
    signal(SIGFPE, died);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    const long times = argc > 1 && strcmp(argv[1], "once") == 0 ? 1 : 0;
    if (argc > 4) {
        steps = argv[2];
        fail_at(argc > 5 ? atoi(argv[5]) : LACK_MEMORY, atol(argv[3]), times, atoi(argv[4]));
        MPI_Finalize();
        return 0;
    }
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        steps = sequences[i];
        total += fail_everywhere(LACK_MEMORY, times);
        total += fail_everywhere(LACK_THREAD, times);
        total += fail_everywhere(LACK_MPI, times);
    }
    check_say("no case");
    CHECK_SAY(total > 50, "only %ld faults", total);
    if (rank == 0)
        printf("%ld faults\n", total);
    check_remove("memory.z", MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
