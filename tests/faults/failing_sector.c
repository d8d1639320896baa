/*
 * failing_sector.c - the first sector of a container, or its first page, cannot be read: by the
 * copy of the header behind the index all that lies elsewhere is read, and nobody writes to the
 * file. Without an index there is no copy: MPI_ERR_IO, on all ranks, and neither a plain file nor
 * data of an earlier index.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off
 */
#include "outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "shim.h"

enum { N = 20000, BLOCKS = 3 };

static int rank, ranks;
static uint64_t is[N], should[N];

static void fill(int session, int block)
{
    for (int i = 0; i < N; i++)
        should[i] = check_mix((uint64_t)(session * BLOCKS + block), (uint64_t)i) | 1;
}

/* Block after block, each a record, by the ranks in turn. */
static void write_blocks(MPI_File file, int session)
{
    for (int block = 0; block < BLOCKS; block++) {
        fill(session, block);
        OK(MPI_File_write_at_all(file, block * (MPI_Offset)sizeof should, should,
                                 block % ranks == rank ? N : 0, MPI_INT64_T, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(file));
    }
}

static void open_file(const char *path, int amode, MPI_File *file)
{
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, file));
}

static void make(const char *path)
{
    MPI_File file;
    check_remove(path, MPI_COMM_WORLD);
    open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &file);
    write_blocks(file, 0);
    OK(MPI_File_close(&file));
}

/* Blocks from `first` on are right, those before it fail. */
static void check_blocks(const char *path, int first)
{
    MPI_File file;
    open_file(path, MPI_MODE_RDONLY, &file);
    for (int block = 0; block < BLOCKS; block++) {
        const int rc = MPI_File_read_at(file, block * (MPI_Offset)sizeof is, is, N, MPI_INT64_T,
                                        MPI_STATUS_IGNORE);
        CHECK_EQUAL(class_of(rc), block < first ? MPI_ERR_IO : MPI_SUCCESS);
        fill(0, block);
        if (!rc)
            CHECK_BYTES(is, should, sizeof is);
    }
    OK(MPI_File_close(&file));
}

static void check_refused(const char *path, int amode)
{
    MPI_File file;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), MPI_ERR_IO);
}

/* With zeros for its first bytes. */
static void copy_file(const char *from, const char *to, size_t zeros)
{
    static const char zero[4096];
    char command[400];
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "cp %s %s", from, to);
    if (rank == 0) {
        CHECK(zeros <= sizeof zero && system(command) == 0);
        const int fd = open(to, O_WRONLY);
        CHECK(fd >= 0 && pwrite(fd, zero, zeros, 0) == (ssize_t)zeros && close(fd) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void first_sector(struct fault *fault)
{
    make("sector.z");
    const long long size = check_disk_size("sector.z");
    fault_set(fault);
    check_say("the first sector");
    check_blocks("sector.z", 0);
    check_refused("sector.z", MPI_MODE_RDWR);
    check_say("the first page");
    fault->below = 4096; /* no long record begins there */
    check_blocks("sector.z", 0);
    fault_set(NULL);
    check_say("it can be read again");
    CHECK_EQUAL(check_disk_size("sector.z"), size);
    check_blocks("sector.z", 0);
}

/* Size 0, new data, and no close: what an earlier index had is gone, and so is its copy. */
static void begun_anew(struct fault *fault)
{
    MPI_File file;
    make("sector.z");
    open_file("sector.z", MPI_MODE_RDWR, &file);
    OK(MPI_File_set_size(file, 0));
    write_blocks(file, 1);
    copy_file("sector.z", "anew.z", 0);
    copy_file("sector.z", "zeros.z", 512);
    OK(MPI_File_close(&file));
    check_say("begun anew, and not closed");
    fault->below = 512;
    fault->file = "anew.z";
    fault_set(fault);
    check_refused("anew.z", MPI_MODE_RDONLY);
    check_refused("anew.z", MPI_MODE_RDWR);
    fault_set(NULL);
    check_refused("zeros.z", MPI_MODE_RDONLY);
    open_file("anew.z", MPI_MODE_RDONLY, &file);
    for (int block = 0; block < BLOCKS; block++) {
        OK(MPI_File_read_at(file, block * (MPI_Offset)sizeof is, is, N, MPI_INT64_T,
                            MPI_STATUS_IGNORE));
        fill(1, block);
        CHECK_BYTES(is, should, sizeof is);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    struct fault fault = {
        .file = "sector.z", .calls = FAULT_READ, .act = FAULT_ERROR, .error = EIO, .below = 512};
    MPI_Init(&argc, &argv);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    first_sector(&fault);
    begun_anew(&fault);
    MPI_Finalize();
    return 0;
}
