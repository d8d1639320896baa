/*
 * damage.c - a container with any bit flipped: every read gives the right data, or MPI_ERR_IO and a
 * line that names the file, and the record's offset where a record is what is damaged.
 *
 * Every bit of a small file with all kinds of records, and random ones of a larger file. Each rank
 * has its own file and takes its share of the bits, as one alone would all of them.
 *
 * zmpi-test: RANKS 2 TIMEOUT 600 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=error ZMPI_REPORT_TEXT=off
 */
#include "check.h"

/* Sanitized reads take 20 times as long: every seventh bit, at least one of each byte. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 7 };
#else
enum { STEP = 1 };
#endif

static int rank, ranks;
static char path[40];
static int said, kept; /* what the library says, and standard error */
static long refused, right;

static void fill(double *data, int n, uint64_t seed)
{
    for (int i = 0; i < n; i++)
        data[i] = check_unit(seed, (uint64_t)i / 3);
}

static MPI_File open_mine(int amode)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_SELF, path, amode, MPI_INFO_NULL, &file));
    return file;
}

static void write_at(MPI_File file, int at, int n, uint64_t seed)
{
    double *data = check_alloc((size_t)n * sizeof *data);
    fill(data, n, seed);
    OK(MPI_File_write_at_all(file, at * (MPI_Offset)sizeof *data, data, n, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    free(data);
}

/* Through a view whose runs are a nest (regular) or a list. */
static void write_view(MPI_File file, bool regular)
{
    static const int lengths[5] = {2, 1, 3, 1, 2}, places[5] = {0, 4, 6, 11, 13};
    double data[18];
    MPI_Datatype type;
    if (regular)
        OK(MPI_Type_vector(9, 1, 3, MPI_DOUBLE, &type));
    else
        OK(MPI_Type_indexed(5, lengths, places, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    fill(data, 9, 77 + regular);
    OK(MPI_File_set_view(file, 320, MPI_DOUBLE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, data, 9, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&type));
}

/* Two sessions, so that both header slots and an old index are there. */
static void make_small(void)
{
    MPI_File file = open_mine(MPI_MODE_RDWR | MPI_MODE_CREATE);
    write_at(file, 0, 60, 1);
    write_view(file, true);
    OK(MPI_File_close(&file));
    file = open_mine(MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 400));
    write_view(file, false);
    write_at(file, 70, 20, 2);
    OK(MPI_File_close(&file));
}

static void make_large(void)
{
    MPI_File file = open_mine(MPI_MODE_RDWR | MPI_MODE_CREATE);
    for (int i = 0; i < 8; i++)
        write_at(file, i * 20000, 30000, (uint64_t)i);
    OK(MPI_File_close(&file));
}

/* Around calls that may fail. */
static void hush(void)
{
    CHECK(dup2(said, STDERR_FILENO) == STDERR_FILENO);
}

static int loud(int rc)
{
    CHECK(dup2(kept, STDERR_FILENO) == STDERR_FILENO);
    return rc;
}

static void check_line(const char *what)
{
    char text[3000];
    off_t size = lseek(said, 0, SEEK_END);
    ssize_t n = pread(said, text, sizeof text - 1, size > 2999 ? size - 2999 : 0);
    text[n > 0 ? n : 0] = 0;
    CHECK_SAY(strstr(text, path) && strstr(text, what), "nobody says '%s': %s", what, text);
    CHECK(ftruncate(said, 0) == 0);
}

/* The whole file, a slice at a time: a slice is right or refused. */
static void read_slices(MPI_File file, const unsigned char *should, long size, int slice)
{
    unsigned char *is = check_alloc((size_t)slice);
    MPI_Offset logical;
    OK(MPI_File_get_size(file, &logical));
    CHECK_EQUAL(logical, size);
    for (long at = 0; at < size; at += slice) {
        int n = size - at < slice ? (int)(size - at) : slice, got, class = MPI_SUCCESS;
        MPI_Status status;
        hush();
        int rc = loud(MPI_File_read_at(file, at, is, n, MPI_BYTE, &status));
        if (rc) {
            MPI_Error_class(rc, &class);
            CHECK_EQUAL(class, MPI_ERR_IO);
            check_line("in the record at offset ");
            refused++;
            continue;
        }
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK_EQUAL(got, n);
        CHECK_BYTES(is, should + at, (size_t)n);
        right++;
    }
    free(is);
}

static void read_damaged(const unsigned char *should, long size, int slice)
{
    MPI_File file;
    int class = MPI_SUCCESS;
    hush();
    int rc = loud(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    if (rc) {
        MPI_Error_class(rc, &class);
        CHECK_EQUAL(class, MPI_ERR_IO);
        check_line(":");
        refused++;
        return;
    }
    read_slices(file, should, size, slice);
    OK(MPI_File_close(&file));
}

static void flip(int fd, long at, int bit)
{
    unsigned char byte;
    CHECK(pread(fd, &byte, 1, at) == 1);
    byte ^= (unsigned char)(1U << bit);
    CHECK(pwrite(fd, &byte, 1, at) == 1);
}

/* What the undamaged file holds. */
static unsigned char *contents(long *size)
{
    MPI_Offset logical;
    MPI_File file = open_mine(MPI_MODE_RDONLY);
    OK(MPI_File_get_size(file, &logical));
    *size = (long)logical;
    unsigned char *data = check_alloc((size_t)*size);
    OK(MPI_File_read_at(file, 0, data, (int)*size, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    return data;
}

/* count 0: every bit, of all ranks together. */
static void damage(long count, int slice)
{
    long size, physical = (long)check_disk_size(path);
    unsigned char *should = contents(&size);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && check_is_container(path));
    for (long i = rank * STEP; i < (count ? count : 8 * physical); i += ranks * STEP) {
        long bit = count ? (long)(check_mix(9, (uint64_t)i) % (uint64_t)(8 * physical)) : i;
        check_say("bit %ld of byte %ld of %ld", bit % 8, bit / 8, physical);
        flip(fd, bit / 8, (int)(bit % 8));
        read_damaged(should, size, slice);
        flip(fd, bit / 8, (int)(bit % 8));
    }
    check_say("undamaged again");
    read_damaged(should, size, slice);
    close(fd);
    free(should);
    unlink(path);
}

/* The last record and the index never reached the disk. An older record reaches as far, but the
 * header tells that there was another. */
static void lost_with_the_index(void)
{
    unsigned char head[64];
    uint64_t payload;
    uint32_t extents;
    check_say("lost with the index");
    MPI_File file = open_mine(MPI_MODE_RDWR | MPI_MODE_CREATE);
    write_at(file, 0, 60, 1);
    write_at(file, 0, 60, 2);
    OK(MPI_File_close(&file));
    const off_t size = (off_t)check_disk_size(path);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && check_is_container(path) &&
          pread(fd, head, sizeof head, check_first_record(path)) == 64);
    memcpy(&payload, head + 40, 8);
    memcpy(&extents, head + 48, 4);
    const off_t second =
        check_first_record(path) + 64 + (off_t)((extents + 7) / 8 * 8 + (payload + 7) / 8 * 8);
    CHECK(second + 64 < size && !ftruncate(fd, second) && !ftruncate(fd, size));
    close(fd);
    int class = MPI_SUCCESS;
    hush();
    int rc = loud(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_Error_class(rc, &class);
    CHECK_EQUAL(class, MPI_ERR_IO);
    check_line("data may be missing");
    unlink(path);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    snprintf(path, sizeof path, "damage.%d.z", rank);
    kept = dup(STDERR_FILENO);
    char name[40];
    snprintf(name, sizeof name, "damage.%d.said", rank);
    said = open(name, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    CHECK(kept >= 0 && said >= 0);
    unlink(path);
    lost_with_the_index();
    make_small();
    damage(0, 1000);
    make_large();
    damage(200, 50000);
    unlink(name);
    CHECK_SAY(refused > 50 && right > 50, "%ld refused, %ld right", refused, right);
    printf("rank %d: %ld reads refused, %ld right\n", rank, refused, right);
    MPI_Finalize();
    return 0;
}
