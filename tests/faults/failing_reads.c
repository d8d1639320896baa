/*
 * failing_reads.c - a read of one rank fails, or finds the file's end too early: the program gets
 * right data, or MPI_ERR_IO and a line that names the file and where in it, and no rank is left
 * waiting.
 *
 * Opening, reading and closing a file is repeated with the first, second, ... system call on the
 * file failing, until there are no more. The file has its index, or has to be scanned.
 *
 * zmpi-test: RANKS 1,2 TIMEOUT 300 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=error ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off
 */
#include "outcome.h"

#include <errno.h>

#include "shim.h"

enum { N = 20000, BLOCKS = 5 };

static int rank, ranks;

static void fill(uint64_t *data, int owner, int block)
{
    for (int i = 0; i < N; i++)
        data[i] = check_mix((uint64_t)(owner * BLOCKS + block), (uint64_t)i) | 1;
}

static MPI_Offset place(int owner, int block)
{
    return ((MPI_Offset)block * ranks + owner) * N * (MPI_Offset)sizeof(uint64_t);
}

static void make(const char *path, bool indexed)
{
    uint64_t *data = check_alloc(N * sizeof *data);
    MPI_File file;
    check_remove(path, MPI_COMM_WORLD);
    check_remove("copy.z", MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (int block = 0; block < BLOCKS; block++) {
        fill(data, rank, block);
        OK(MPI_File_write_at_all(file, place(rank, block), data, N, MPI_INT64_T,
                                 MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* As a crash leaves it: what is there before the close. */
    if (rank == 0 && !indexed)
        CHECK(rename(path, "copy.z") == 0 && system("cp copy.z failing.z") == 0);
    OK(MPI_File_close(&file));
    check_remove("copy.z", MPI_COMM_WORLD);
    CHECK(check_has_index(path) == indexed);
    free(data);
}

/* Returns the class of the first error. */
static int read_all(const char *path)
{
    uint64_t *is = check_alloc(N * sizeof *is), *should = check_alloc(N * sizeof *should);
    MPI_File file;
    int error = MPI_SUCCESS;
    int rc = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    bool failed = any_failed(rc);
    CHECK_SAY(!failed || rc, "the file was opened on some ranks only");
    for (int block = 0; block < BLOCKS && !rc; block++)
        for (int owner = 0; owner < ranks; owner++) {
            MPI_Status status;
            int got, read;
            fill(should, owner, block);
            memset(is, 0, N * sizeof *is);
            read = MPI_File_read_at_all(file, place(owner, block), is, N, MPI_INT64_T, &status);
            any_failed(read);
            if (read && !error)
                MPI_Error_class(read, &error);
            if (read)
                continue;
            MPI_Get_count(&status, MPI_INT64_T, &got);
            CHECK_EQUAL(got, N);
            CHECK_BYTES(is, should, N * sizeof *is);
        }
    if (rc)
        MPI_Error_class(rc, &error);
    else
        OK(MPI_File_close(&file));
    free(is);
    free(should);
    return error;
}

/* Standard error goes to a file, and comes back. */
static int hush(void)
{
    int kept = dup(STDERR_FILENO), said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(kept >= 0 && said >= 0 && dup2(said, STDERR_FILENO) == STDERR_FILENO);
    close(said);
    return kept;
}

static void check_said(int kept, bool should)
{
    char text[4000];
    int said = open("said", O_RDONLY);
    CHECK(dup2(kept, STDERR_FILENO) == STDERR_FILENO);
    ssize_t n = read(said, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    close(kept);
    close(said);
    unlink("said");
    CHECK_SAY(!should || strstr(text, "failing.z"), "the file is not named: %s", text);
    CHECK_SAY(!should || strstr(text, "at offset ") || strstr(text, "open") ||
                  strstr(text, "first bytes") || strstr(text, "header"),
              "nobody can tell where: %s", text);
}

/* False when there are not so many calls. */
static bool fail_at(const struct fault *like, const char *name, long at, int victim)
{
    struct fault fault = *like;
    fault.at = at;
    check_say("%s in call %ld on rank %d", name, at, victim);
    int kept = rank == victim ? hush() : 0;
    if (rank == victim)
        fault_set(&fault);
    int error = read_all(fault.file), facts[2] = {fault_count() >= at, error};
    fault_set(NULL);
    if (rank == victim)
        check_said(kept, error != MPI_SUCCESS);
    MPI_Bcast(facts, 2, MPI_INT, victim, MPI_COMM_WORLD);
    CHECK(error == MPI_SUCCESS || error == MPI_ERR_IO);
    if (!facts[0] || fault.act == FAULT_SHORT)
        CHECK_EQUAL(error, MPI_SUCCESS);
    return facts[0];
}

/* The end of a file that is no container is looked at, but need not be readable, nor be there any
 * more when others cut it. */
static void plain(enum fault_act act, long at)
{
    const struct fault fault = {"failing.z", FAULT_READ, act, EIO, at, 1, 0, NULL};
    MPI_File file;
    check_say("plain");
    check_remove(fault.file, MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *made = fopen(fault.file, "w");
        CHECK(made && ftruncate(fileno(made), 10000) == 0 && fclose(made) == 0);
        fault_set(&fault);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, fault.file, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    if (rank == 0)
        CHECK_EQUAL(fault_count(), 3); /* its head; its end, for records and for a header */
    fault_set(NULL);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        struct fault fault;
    } kinds[] = {
        {"EIO once", {"failing.z", FAULT_READ, FAULT_ERROR, EIO, 0, 1, 0, NULL}},
        {"EIO from", {"failing.z", FAULT_READ, FAULT_ERROR, EIO, 0, 0, 0, NULL}},
        {"end", {"failing.z", FAULT_READ, FAULT_END, 0, 0, 1, 0, NULL}},
        {"short", {"failing.z", FAULT_READ, FAULT_SHORT, 0, 0, 0, 0, NULL}},
    };
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    long total = 0;
    for (int indexed = 0; indexed < 2; indexed++) {
        make("failing.z", indexed);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int victim = 0; victim<ranks; victim += ranks> 1 ? ranks - 1 : 1)
                for (long at = 1; fail_at(&kinds[k].fault, kinds[k].name, at, victim); at++)
                    total++;
    }
    for (long at = 2; at <= 3; at++) {
        plain(FAULT_ERROR, at);
        plain(FAULT_END, at);
    }
    check_say("no case");
    CHECK_SAY(total > 50, "only %ld faults", total);
    if (rank == 0)
        printf("%ld faults\n", total);
    check_remove("failing.z", MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
