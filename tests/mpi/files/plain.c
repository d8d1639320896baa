/*
 * plain.c - files that gained too little by compression, those of nothing but bytes, and those that
 * begin like another library's, are plain again when they are closed, and new ones of such names
 * stay plain; those that gained, or that somebody else uses, stay containers.
 *
 *     plain [full]      full: in a folder with room for one file of 5 MB, not for two
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_LEAST_RATIO=1.1 ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off
 */
#include "check.h"

enum { N = 5 << 20, FLOATS = 40000, HEADER = 100 };

static int rank, ranks;
static unsigned char noise[N], back[N];
static float wave[FLOATS];

static MPI_File open_with(MPI_Comm comm, const char *path, int mode, const char *hint)
{
    MPI_File file;
    MPI_Info info = MPI_INFO_NULL;
    if (hint) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "zmpi_least_ratio", hint);
    }
    OK(MPI_File_open(comm, path, mode, info, &file));
    if (hint)
        MPI_Info_free(&info);
    return file;
}

static MPI_File create(const char *path)
{
    check_say("%s", path);
    return open_with(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
}

static void write_noise(MPI_File file, MPI_Offset offset, int n)
{
    OK(MPI_File_write_at_all(file, offset, noise, n, MPI_BYTE, MPI_STATUS_IGNORE));
}

static MPI_Offset size_of(const char *path)
{
    struct stat s;
    CHECK(stat(path, &s) == 0);
    return s.st_size;
}

static void remove_all(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(path) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Nothing but `path` and the test's own files is left in the folder. */
static void check_alone(void)
{
    DIR *here = opendir(".");
    for (struct dirent *d; (d = readdir(here));)
        CHECK_SAY(!strstr(d->d_name, ".plain-"), "%s is left", d->d_name);
    closedir(here);
}

/* What stands at `offset`, by the system's own calls. */
static void check_bytes_at(const char *path, MPI_Offset offset, const void *should, size_t n)
{
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, back, n, (off_t)offset) == (ssize_t)n);
    CHECK_BYTES(back, should, n);
    close(fd);
}

static int length_of(int r)
{
    return ranks > 1 && r == 1 ? 0 : N - 1000 * r - 3; /* a rank may have nothing */
}

/* Each rank's bytes, 1000 bytes of nothing behind each, by a collective call. */
static void written_by_all(void)
{
    static const char path[] = "by_all.out", zeros[1000];
    MPI_File file = create(path);
    if (rank == 0)
        CHECK(chmod(path, 0640) == 0);
    MPI_Offset offset = 0, end = 0;
    for (int r = 0; r < ranks; r++) {
        offset += r < rank ? length_of(r) + 1000 : 0;
        end += length_of(r) + (r + 1 < ranks ? 1000 : 0);
    }
    write_noise(file, offset, length_of(rank));
    OK(MPI_File_sync(file)); /* the copy must be as durable */
    OK(MPI_File_close(&file));
    struct stat s;
    CHECK(stat(path, &s) == 0 && (s.st_mode & 07777) == 0640);
    CHECK(!check_is_container(path));
    if (ranks == 1 || length_of(ranks - 1) > 0) /* what nobody writes at the end does not count */
        CHECK_EQUAL(size_of(path), end);
    check_bytes_at(path, offset, noise, (size_t)length_of(rank));
    if (rank + 1 < ranks && length_of(rank + 1) > 0)
        check_bytes_at(path, offset + length_of(rank), zeros, sizeof zeros);
    check_alone();
    file = open_with(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, NULL);
    OK(MPI_File_read_at_all(file, offset, back, length_of(rank), MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(back, noise, (size_t)length_of(rank));
    OK(MPI_File_close(&file));
    remove_all(path);
}

/* Bytes become plain whatever compression made of them; integers and lossy floats do not. */
static void of_type(MPI_Datatype type, const char *path, bool plain)
{
    static const int few[FLOATS] = {[FLOATS / 2] = 7};
    MPI_File file = create(path);
    int width;
    MPI_Type_size(type, &width);
    OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof few, few, (int)sizeof few / width,
                             type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path) == !plain);
    if (plain) {
        CHECK_EQUAL(size_of(path), ranks * (MPI_Offset)sizeof few);
        check_bytes_at(path, rank * (MPI_Offset)sizeof few, few, sizeof few);
    }
    remove_all(path);
}

/* Bytes at the end of a file of floats, and far behind all others. */
static void bytes_at_end(void)
{
    static const char path[] = "end.out";
    MPI_File file = create(path);
    OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof wave, wave, FLOATS, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    file = open_with(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, NULL);
    write_noise(file, (ranks + rank) * (MPI_Offset)sizeof wave, 10000);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    remove_all(path);
    file = create(path);
    write_noise(file, (MPI_Offset)(rank + 1) << 40, 30000);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    remove_all(path);
}

/* A header by one rank alone, then the rest by all: bytes, or floats that gain. */
static void header_first(bool floats)
{
    const char *path = floats ? "header_floats.out" : "header_bytes.out";
    check_say("%s", path);
    if (rank == 0) {
        MPI_File file = open_with(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
        OK(MPI_File_write_at(file, 0, noise, HEADER, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        CHECK(check_is_container(path));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_with(MPI_COMM_WORLD, path, MPI_MODE_RDWR, NULL);
    const MPI_Offset offset = HEADER + rank * (MPI_Offset)sizeof wave;
    if (floats)
        OK(MPI_File_write_at(file, offset, wave, FLOATS, MPI_FLOAT, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(file, offset, noise, sizeof wave, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path) == floats);
    if (!floats) {
        check_bytes_at(path, 0, noise, HEADER); /* all ranks' noise begins alike */
        check_bytes_at(path, offset, noise, sizeof wave);
    }
    remove_all(path);
}

/* The next file of a name that differs in its digits alone. */
static void same_kind(void)
{
    MPI_File file = create("kind_09.out");
    write_noise(file, (MPI_Offset)rank * N, N);
    OK(MPI_File_close(&file));
    CHECK(!check_is_container("kind_09.out"));
    file = create("kind_10.out");
    OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof wave, wave, FLOATS, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(!check_is_container("kind_10.out"));
    check_bytes_at("kind_10.out", rank * (MPI_Offset)sizeof wave, wave, sizeof wave);
    remove_all("kind_09.out");
    remove_all("kind_10.out");
}

/* The signature of HDF5, by one rank or by all, then floats that would be lossy: the file is plain,
 * and exact where the ranks could know; the next one of the name is plain from the beginning. */
static void of_format(bool together)
{
    static const unsigned char head[HEADER] = "\x89HDF\r\n\x1a\n";
    const char *path = together ? "format_1.out" : "single_1.out";
    const char *next = together ? "format_2.out" : "single_2.out";
    const int n = rank == 0 ? HEADER : 0;
    const MPI_Offset offset = HEADER + rank * (MPI_Offset)sizeof wave;
    MPI_File file = create(path);
    if (together)
        OK(MPI_File_write_at_all(file, 0, head, n, MPI_BYTE, MPI_STATUS_IGNORE));
    else if (rank == 0)
        OK(MPI_File_write_at(file, 0, head, n, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, offset, wave, FLOATS, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(!check_is_container(path));
    check_bytes_at(path, 0, head, HEADER);
    if (together)
        check_bytes_at(path, offset, wave, sizeof wave);
    file = create(next);
    OK(MPI_File_write_at(file, offset, wave, FLOATS, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    CHECK(!check_is_container(next));
    OK(MPI_File_close(&file));
    remove_all(path);
    remove_all(next);
}

static void asked_to_stay(void)
{
    static const char path[] = "stays.out";
    check_say("%s", path);
    MPI_File file = open_with(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, "0");
    write_noise(file, (MPI_Offset)rank * N, N);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    remove_all(path);
}

/* Other names of the file: one would still lead to the container, so that it stays; a symbolic one
 * leads to where the file is. */
static void linked(bool hard)
{
    const char *path = hard ? "hard.out" : "soft.out", *other = hard ? "hard.x" : "soft.x";
    check_say("%s", path);
    if (rank == 0) {
        fclose(fopen(other, "w"));
        CHECK((hard ? link(other, path) : symlink(other, path)) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = create(path);
    write_noise(file, (MPI_Offset)rank * N, N);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path) == hard && check_is_container(other) == hard);
    struct stat s;
    CHECK(lstat(path, &s) == 0 && S_ISLNK(s.st_mode) == !hard);
    check_alone();
    remove_all(path);
    remove_all(other);
}

/* One who reads has it open until later, and must see what is written to it; then one who may write
 * has. */
static void in_use(bool writer)
{
    const char *path = writer ? "written.out" : "read.out";
    MPI_File file = create(path), other;
    write_noise(file, (MPI_Offset)rank * N, N);
    OK(MPI_File_sync(file));
    if (rank == ranks - 1)
        other = open_with(MPI_COMM_SELF, path, writer ? MPI_MODE_RDWR : MPI_MODE_RDONLY, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    if (rank == ranks - 1) {
        OK(MPI_File_read_at(other, (MPI_Offset)rank * N, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_BYTES(back, noise, N);
        OK(MPI_File_close(&other));
    }
    remove_all(path);
    check_alone();
}

static void deleted_on_close(void)
{
    static const char path[] = "deleted.out";
    check_say("%s", path);
    MPI_File file = open_with(MPI_COMM_WORLD, path,
                              MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, NULL);
    write_noise(file, (MPI_Offset)rank * N, N);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path, F_OK) != 0);
    check_alone();
}

/* There is no room for the copy: the container stays. */
static void full_disk(void)
{
    static const char path[] = "full.out";
    MPI_File file = create(path);
    const int n = N / ranks;
    write_noise(file, (MPI_Offset)rank * n, n);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    check_alone();
    file = open_with(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, NULL);
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * n, back, n, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(back, noise, (size_t)n);
    OK(MPI_File_close(&file));
    remove_all(path);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_clear(".out");
    check_clear(".x");
    uint32_t x = 1;
    for (int i = 0; i < N; i++) {
        if (i == HEADER)
            x += (uint32_t)rank;
        x = x * 1664525u + 1013904223u;
        noise[i] = (unsigned char)(x >> 24);
    }
    for (int i = 0; i < FLOATS; i++)
        wave[i] = (float)i * 0.001f + (float)rank;
    if (argc > 1) {
        full_disk();
        OK(MPI_Finalize());
        return 0;
    }
    written_by_all();
    header_first(false);
    header_first(true);
    of_type(MPI_BYTE, "bytes.out", true);
    of_type(MPI_INT, "integers.out", false);
    of_type(MPI_FLOAT, "floats.out", false);
    bytes_at_end();
    same_kind();
    of_format(true);
    of_format(false);
    asked_to_stay();
    linked(true);
    linked(false);
    in_use(false);
    in_use(true);
    deleted_on_close();
    OK(MPI_Finalize());
}
