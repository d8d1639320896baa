/*
 * failing_replace.c - a plain file that is there is written again, and a read, write, fsync,
 * ftruncate or rename of it, or of the container beside it, fails: nobody hangs, and no byte is
 * lost. What was there stays there until it is written over. Of what was written without an error
 * nothing is missing; what was written before an error of sync or close is in the file, or in the
 * container that is kept beside it, unless the container is what could not be written.
 *
 * zmpi-test: RANKS 2 TIMEOUT 300 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off ZMPI_ADOPT_BELOW=128K
 */
#include "outcome.h"

#include <errno.h>

#include "shim.h"

#define FILE_NAME "failing_there.bin"
#define KB        ((size_t)1 << 10)
enum { WO = MPI_MODE_WRONLY, RW = MPI_MODE_RDWR };

static const char path[] = FILE_NAME, beside[] = FILE_NAME ".zmpi-new",
                  synced[] = FILE_NAME ".zmpi-synced";

/* What is written to a file of so many bytes. */
static const struct act {
    const char *name;
    int amode;
    size_t was, cut, from, to, from2, to2; /* bytes; cut, sync2: before the second part */
    bool sync;
} acts[] = {
    {"all", WO, 400 * KB, 0, 0, 400 * KB, 0, 0, false},
    {"all but a little", WO, 400 * KB, 0, 40 * KB, 440 * KB, 0, 0, false},
    {"a part", WO, 400 * KB, 0, 80 * KB, 180 * KB, 0, 0, false},
    {"a part of what is cut", WO, 600 * KB, 500 * KB, 80 * KB, 180 * KB, 520 * KB, 600 * KB, false},
    {"a head", RW, 30 * KB, 0, 32 * KB, 200 * KB, 0, 0, false},
    {"synchronised, a part", WO, 400 * KB, 0, 80 * KB, 180 * KB, 200 * KB, 230 * KB, true},
    {"synchronised, then all", WO, 400 * KB, 0, 80 * KB, 180 * KB, 0, 400 * KB, true},
};

static int rank, ranks;
/* What was there at first, and when all was cut; what was written; 0: nothing. */
static double was[80 << 10], old[80 << 10], new[80 << 10];
static bool is_synced[80 << 10];

/* What a run has come to. */
struct outcome {
    bool opened, failed; /* a call, on any rank */
    bool synced;
};

static int write_part(MPI_File file, size_t from, size_t to)
{
    const size_t n = (to - from) / 8, own = n * (size_t)rank / (size_t)ranks,
                 end = n * (size_t)(rank + 1) / (size_t)ranks;
    for (size_t i = 0; i < n; i++)
        new[from / 8 + i] = 3 + 0.001 * (double)(from / 8 + i);
    return n ? MPI_File_write_at_all(file, (MPI_Offset)(from + own * 8), new + from / 8 + own,
                                     (int)(end - own), MPI_DOUBLE, MPI_STATUS_IGNORE)
             : MPI_SUCCESS;
}

static void make(const struct act *a)
{
    memset(new, 0, sizeof new);
    memset(is_synced, 0, sizeof is_synced);
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        was[i] = old[i] = i < a->was / 8 ? -1 - check_unit(7, i) : 0;
    if (rank == 0) {
        unlink(beside);
        unlink(synced);
        const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0640);
        CHECK(fd >= 0 && write(fd, was, a->was) == (ssize_t)a->was && close(fd) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What was there can be read before anything is written. */
static int read_old(MPI_File file, const struct act *a)
{
    double *data = check_alloc(a->was);
    int rc = MPI_File_read_at_all(file, 0, data, (int)a->was, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!rc)
        CHECK_BYTES(data, was, a->was);
    free(data);
    return rc;
}

static void run(const struct act *a, struct outcome *o)
{
    MPI_File file;
    *o = (struct outcome){0};
    o->opened = !any_failed(MPI_File_open(MPI_COMM_WORLD, path, a->amode, MPI_INFO_NULL, &file));
    if (!o->opened)
        return;
    if (a->amode == RW && access(beside, F_OK) == 0) /* else the MPI library's errors */
        o->failed = any_failed(read_old(file, a));
    if (a->cut) { /* with an error, too, it may have been done */
        o->failed = any_failed(MPI_File_set_size(file, (MPI_Offset)a->cut));
        memset(old + a->cut / 8, 0, sizeof old - a->cut);
    }
    o->failed |= any_failed(write_part(file, a->from, a->to));
    if (a->sync) {
        o->synced = !o->failed && !any_failed(MPI_File_sync(file));
        o->failed |= !o->synced;
        for (size_t i = 0; i < sizeof new / sizeof *new && o->synced; i++)
            is_synced[i] = new[i] != 0;
    }
    o->failed |= any_failed(write_part(file, a->from2, a->to2));
    o->failed |= any_failed(MPI_File_close(&file));
}

/* All that is in a file, through MPI-IO; zeros behind it. */
static double *content(const char *name)
{
    MPI_File file;
    MPI_Offset size = 0;
    double *data = check_alloc(sizeof new);
    memset(data, 0, sizeof new);
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &size));
    CHECK(size <= (MPI_Offset)sizeof new);
    OK(MPI_File_read_at(file, 0, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    return data;
}

/* container: what failed was a call on the container, whose data need not be there then. A name
 * under which the next open removes it is no place for them. */
static void check_outcome(const struct outcome *o, bool container)
{
    double *data = content(path);
    double *kept = check_is_container(synced) ? content(synced) : NULL;
    CHECK_SAY(o->failed || (access(synced, F_OK) != 0 && access(beside, F_OK) != 0),
              "a container is left, and no call has failed");
    for (size_t i = 0; i < sizeof new / sizeof *new; i++) {
        const bool is_new = new[i] != 0 && data[i] == new[i];
        const bool is_kept = kept && new[i] != 0 && kept[i] == new[i];
        CHECK_SAY(is_new || data[i] == was[i] || data[i] == 0, "element %zu is %g", i, data[i]);
        CHECK_SAY(new[i] != 0 || o->failed || data[i] == old[i], "element %zu: %g, was %g", i,
                  data[i], old[i]);
        CHECK_SAY(is_new || data[i] != 0 || old[i] == 0, "element %zu is lost", i);
        const bool must = !o->failed || !container || is_synced[i];
        CHECK_SAY(new[i] == 0 || !must || is_new || is_kept, "element %zu is %g, kept %g, wrote %g",
                  i, data[i], kept ? kept[i] : 0, new[i]);
    }
    free(data);
    free(kept);
}

/* False: there are not so many such calls. */
static bool fail_at(const struct act *a, const char *name, int calls, long at, long times,
                    int victim)
{
    const struct fault fault = {.file = name,
                                .calls = calls,
                                .act = FAULT_ERROR,
                                .error = at % 2 ? EIO : ENOSPC,
                                .at = at,
                                .times = times};
    struct outcome o;
    make(a);
    check_say("%s: call %ld of kind %d on %s%s fails on rank %d", a->name, at, calls, name,
              times ? "" : ", and all that follow,", victim);
    if (rank == victim)
        fault_set(&fault);
    run(a, &o);
    int reached = fault_count() >= at;
    fault_set(NULL);
    MPI_Bcast(&reached, 1, MPI_INT, victim, MPI_COMM_WORLD);
    CHECK(reached || !o.failed);
    CHECK_SAY(o.opened || (name == path && calls == FAULT_READ), "it cannot be opened");
    if (rank == 0)
        check_outcome(&o, name != path);
    MPI_Barrier(MPI_COMM_WORLD);
    return reached;
}

/* Neither can the data be written into the plain file nor the container be renamed: a sync fails,
 * and the next open leaves the container, the only copy, alone. */
static void check_stuck(void)
{
    static const struct fault fault = {.file = path,
                                       .calls = FAULT_WRITE,
                                       .act = FAULT_ERROR,
                                       .error = EIO,
                                       .at = 1,
                                       .stuck = beside};
    static const struct act part = {"", WO, 400 * KB, 0, 80 * KB, 180 * KB, 0, 0, false},
                            synchronised = {"", WO, 400 * KB, 0, 80 * KB, 180 * KB, 0, 0, true};
    struct outcome o;
    check_say("a container that cannot be renamed");
    make(&part);
    fault_set(&fault);
    run(&synchronised, &o);
    CHECK(o.opened && !o.synced);
    fault_set(NULL);
    make(&part);
    fault_set(&fault);
    run(&part, &o);
    CHECK(o.opened && o.failed);
    fault_set(NULL);
    memset(new, 0, sizeof new);
    run(&acts[0], &o);
    CHECK(o.opened && !o.failed);
    if (rank == 0) {
        double *kept = content(beside), *plain = content(path);
        CHECK(!check_is_container(path));
        for (size_t i = 0; i < 400 * KB / 8; i++) {
            CHECK_SAY(plain[i] == new[i], "element %zu is %g", i, plain[i]);
            CHECK_SAY(i < part.from / 8 || i >= part.to / 8 || kept[i] == new[i],
                      "element %zu of the kept container is %g", i, kept[i]);
        }
        free(plain);
        free(kept);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const int calls[] = {FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_RESIZE, FAULT_RENAME};
    static const char *const names[] = {path, beside, synced};
    int total = 0;
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (size_t a = 0; a < sizeof acts / sizeof *acts; a++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
                for (int victim = 0; victim < ranks; victim++)
                    for (long times = 0; times < 2; times++)
                        for (long at = 1; fail_at(&acts[a], names[n], calls[c], at, times, victim);
                             at++)
                            total++;
    check_stuck();
    check_say("no case");
    CHECK_SAY(total > 50, "only %d faults", total);
    if (rank == 0) {
        printf("%d faults\n", total);
        unlink(path);
        unlink(beside);
        unlink(synced);
    }
    MPI_Finalize();
    return 0;
}
