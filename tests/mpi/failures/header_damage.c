/*
 * header_damage.c - a file of two sessions. Its header is lost: it is read, and not written to,
 * until it is mended. The newer slot of the header is damaged, and a record of the second session:
 * its values are refused, and not given as the first session left them.
 *
 * With an argument it only writes that file, for tests/cli/damage/header_damage.py.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_EXACT_BELOW=0
 */
#include "check.h"

enum { N = 20000, FIRST = 4000, COUNT = 3000 };

static const char *path = "header_damage.z";
static int rank;

static double value_of(int i, int session)
{
    return 1.5 * i + 1e6 * session;
}

static void session(int number, int first, int count)
{
    MPI_File f;
    double *data = check_alloc((size_t)count * sizeof *data);
    for (int i = 0; i < count; i++)
        data[i] = value_of(first + i, number);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, (MPI_Offset)first * 8, data, rank == 0 ? count : 0, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    free(data);
}

/* Rank 0: n bytes at `at` become others, or zero. */
static void damage(long at, size_t n, bool zero)
{
    unsigned char bytes[512];
    if (rank == 0) {
        FILE *f = fopen(path, "r+b");
        CHECK(f);
        CHECK(fseek(f, at, SEEK_SET) == 0 && fread(bytes, 1, n, f) == n);
        for (size_t i = 0; i < n; i++)
            bytes[i] = zero ? 0 : bytes[i] ^ 1;
        CHECK(fseek(f, at, SEEK_SET) == 0 && fwrite(bytes, 1, n, f) == n);
        CHECK(fclose(f) == 0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Where the record is that begins with logical byte FIRST * 8. */
static long find_record(void)
{
    static unsigned char bytes[1 << 20];
    FILE *f = fopen(path, "rb");
    CHECK(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t at = 512; at + 64 <= size; at += 8) {
        uint64_t lo;
        memcpy(&lo, bytes + at + 16, 8);
        if (memcmp(bytes + at, "ZREC", 4) == 0 && lo == FIRST * 8)
            return (long)at;
    }
    CHECK(!"no record of the second session");
    return 0;
}

/* All values, or all but those of the second session. */
static void check_reads(bool refused)
{
    MPI_File f;
    double *data = check_alloc(N * sizeof *data);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    const int rc =
        MPI_File_read_at(f, (MPI_Offset)FIRST * 8, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK((rc != MPI_SUCCESS) == refused);
    for (int i = 0; i < COUNT && !refused; i++)
        CHECK(data[i] == value_of(FIRST + i, 2)); // NOLINT: exact on purpose
    OK(MPI_File_read_at(f, 0, data, FIRST, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < FIRST; i++)
        CHECK(data[i] == value_of(i, 1)); // NOLINT: exact on purpose
    OK(MPI_File_close(&f));
    free(data);
}

static void make(void)
{
    check_remove(path, MPI_COMM_WORLD);
    session(1, 0, N);
    session(2, FIRST, COUNT);
}

static void check_all(void)
{
    MPI_File f;
    for (int zero = 0; zero < 2; zero++) {
        check_say("no header: %d", zero);
        make();
        if (zero)
            damage(0, 512, true);
        damage(20, 4, false);
        damage(256 + 20, 4, false);
        if (zero)
            damage(0, 512, true);
        check_reads(false);
        CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &f) != MPI_SUCCESS);
        damage(find_record() + 200, 1, false);
        check_reads(true);
    }
    /* The second session's header is generation 3: one is made, and written twice. */
    for (int zero = 0; zero < 2; zero++) {
        check_say("newer slot: %d", zero);
        make();
        damage(8, 120, zero);
        check_reads(false);
        damage(find_record() + 200, 1, false);
        check_reads(true);
        session(3, N, 100); /* mends it, and what is lost stays lost */
        check_reads(true);
    }
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    if (argc > 1) {
        path = argv[1];
        make();
    } else {
        check_all();
    }
    OK(MPI_Finalize());
    return 0;
}
