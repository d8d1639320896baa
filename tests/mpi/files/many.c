/*
 * many.c - more records than are read at once when a file is opened: written by all ranks in random
 * order, read by other numbers of them, extended, and read again.
 *
 * zmpi-test: RANKS 1,3 TIMEOUT 600 ENV ZMPI_ERROR_BOUND=abs=0.25
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE = 64, PIECES = 160000, STEP = 61957 };

static const char path[] = "many.z";
static int rank, ranks;

static float value(long long piece, int i)
{
    return (float)((long long)(check_mix(3, (uint64_t)piece) >> 56) * i + piece);
}

static void check_piece(const float *data, long long piece)
{
    for (int i = 0; i < PIECE; i += 7)
        CHECK_SAY(fabsf(data[i] - value(piece, i)) <= 0.25F, "piece %lld, number %d is %g", piece,
                  i, (double)data[i]);
}

/* Where the directory of the index is (format.md 2.1), and of how many bytes. */
static off_t find_directory(int fd, size_t *size)
{
    uint64_t slot[2][16] = {{0}};
    CHECK(fd >= 0 && pread(fd, slot[0], sizeof slot[0], 0) == sizeof slot[0] &&
          pread(fd, slot[1], sizeof slot[1], 256) == sizeof slot[1]);
    const uint64_t *newer = slot[slot[1][4] > slot[0][4]];
    *size = newer[7];
    return (off_t)newer[6];
}

/* The directory of the index (format.md 2.3): segments of all ranks together tell of each place
 * about once, though every rank wrote everywhere. */
static void check_narrow(MPI_Offset size)
{
    uint64_t covered = 0, index = 0;
    size_t bytes;
    const int fd = open(path, O_RDONLY);
    const off_t at = find_directory(fd, &bytes);
    uint64_t *directory = check_alloc(bytes);
    CHECK(pread(fd, directory, bytes, at) == (ssize_t)bytes);
    close(fd);
    for (const uint64_t *entry = directory + 3; entry < directory + bytes / 8; entry += 6)
        covered += entry[2] - entry[1], index += (uint32_t)entry[4];
    CHECK_SAY(index > 1 << 20, "an index of %llu bytes is read at once", (unsigned long long)index);
    CHECK_SAY(covered < 2 * (uint64_t)size, "%llu of %lld", (unsigned long long)covered,
              (long long)size);
    free(directory);
}

/* A scan finds all records then, as the header's tally of what all ranks wrote tells. */
static void damage_index(void)
{
    size_t bytes;
    const int fd = open(path, O_RDWR);
    const off_t at = find_directory(fd, &bytes);
    CHECK(bytes > 8 && pwrite(fd, "damaged", 8, at + 24) == 8);
    close(fd);
}

/* The last segments, which the last rank reads. */
static void damage_segments(void)
{
    size_t bytes;
    const int fd = open(path, O_RDWR);
    const off_t at = find_directory(fd, &bytes);
    for (off_t entry = (off_t)bytes - 48; entry > (off_t)bytes / 10 * 9; entry -= 48) {
        uint64_t segment = 0;
        CHECK(pread(fd, &segment, sizeof segment, at + entry) == sizeof segment);
        CHECK(segment != 0 && pwrite(fd, "damaged", 8, (off_t)segment + 30) == 8);
    }
    close(fd);
}

/* Pieces [first, last), each by one of the ranks, far from the one before. A read after each write
 * makes it a record of its own. */
static void write_pieces(long long first, long long last)
{
    MPI_File file;
    float data[PIECE], back;
    long long n = last - first;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (long long k = rank; k < n; k += ranks) {
        long long piece = first + k * STEP % n;
        for (int i = 0; i < PIECE; i++)
            data[i] = value(piece, i);
        MPI_Offset at = piece * (MPI_Offset)sizeof data;
        OK(MPI_File_write_at(file, at, data, PIECE, MPI_FLOAT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, at, &back, 1, MPI_FLOAT, MPI_STATUS_IGNORE));
        CHECK(fabsf(back - data[0]) <= 0.25F);
    }
    OK(MPI_File_close(&file));
    CHECK(check_has_index(path));
    check_narrow(last * PIECE * 4);
}

/* Some pieces here and there, by the ranks of a communicator. */
static void read_pieces(MPI_Comm comm, long long pieces)
{
    MPI_File file;
    MPI_Offset size;
    static float data[3 * PIECE];
    OK(MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, pieces * PIECE * 4);
    for (int k = 0; k < 300; k++) {
        long long piece =
            (long long)(check_mix(5, (uint64_t)(k * ranks + rank)) % (uint64_t)(pieces - 2));
        OK(MPI_File_read_at(file, piece * (MPI_Offset)(PIECE * 4), data, 3 * PIECE, MPI_FLOAT,
                            MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; i++)
            check_piece(data + i * PIECE, piece + i);
    }
    OK(MPI_File_close(&file));
}

static void read_by_all_and_one(long long pieces)
{
    MPI_Comm half;
    read_pieces(MPI_COMM_WORLD, pieces);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    read_pieces(half, pieces);
    OK(MPI_Comm_free(&half));
    read_pieces(MPI_COMM_SELF, pieces);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    check_say("written");
    write_pieces(0, PIECES);
    read_by_all_and_one(PIECES);
    check_say("extended");
    write_pieces(PIECES, PIECES + 5000);
    read_by_all_and_one(PIECES + 5000);
    check_say("segments of the index are damaged");
    if (rank == 0)
        damage_segments();
    MPI_Barrier(MPI_COMM_WORLD);
    read_by_all_and_one(PIECES + 5000);
    check_say("without the index");
    if (rank == 0)
        damage_index();
    MPI_Barrier(MPI_COMM_WORLD);
    read_by_all_and_one(PIECES + 5000);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
