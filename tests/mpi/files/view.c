/*
 * view.c - a program that opens its containers by open and fopen, too, sees its numbers, while MPI
 * sees the container: before, between and during calls of MPI-IO, and in another thread.
 *
 * zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_TEST_SHOWN=1 ZMPI_VIEW=on
 * zmpi-test: off RANKS 1,2 ARGS off ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_TEST_SHOWN=1 ZMPI_VIEW=off
 */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { N = 20000, CYCLES = 10 };

static const char path[] = "view.z", busy[] = "busy.z";
static const unsigned char magic[5] = {0x89, 'Z', 'M', 'P', 'I'};
static int rank, ranks;
static float *all, *got;
static size_t bytes;

static void fill(int seed)
{
    for (int i = 0; i < ranks * N; i++)
        all[i] = (float)(i % 1000 + seed) * 0.5F;
}

static void write_file(const char *name, int mode)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 4, all + rank * N, N, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
}

/* What lies on the disk. */
static bool is_container(const char *name)
{
    unsigned char head[sizeof magic] = {0};
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
    CHECK(fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head);
    close(fd);
    return memcmp(head, magic, sizeof head) == 0;
}

static void check_descriptor(int fd)
{
    struct stat s;
    CHECK(fd >= 0 && fstat(fd, &s) == 0);
    CHECK_EQUAL(s.st_size, bytes);
    CHECK_EQUAL(pread(fd, got, bytes + 1, 0), bytes);
    CHECK_BYTES(got, all, bytes);
}

static void check_by_mpi(void)
{
    MPI_File f;
    MPI_Offset size;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_get_size(f, &size));
    CHECK_EQUAL(size, bytes);
    OK(MPI_File_read_at_all(f, 0, got, ranks * N, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK_BYTES(got, all, bytes);
    OK(MPI_File_close(&f));
}

static void read_file(void)
{
    struct stat s;
    check_say("reading");
    fill(1);
    write_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    CHECK(is_container(path));
    CHECK(stat(path, &s) == 0);
    CHECK_EQUAL(s.st_size, bytes);
    const int fd = open(path, O_RDONLY);
    check_descriptor(fd);
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(got, 1, bytes + 1, file) == bytes && memcmp(got, all, bytes) == 0);
    check_by_mpi();
    check_descriptor(fd);
    fclose(file);
    close(fd);
    CHECK(is_container(path));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Nobody writes into a container, and makes it plain, that MPI-IO has open. */
static void write_while_open(void)
{
    MPI_File f;
    check_say("opened for writing while MPI-IO has it");
    const int before = open(path, O_RDONLY);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    errno = 0;
    CHECK(open(path, O_WRONLY) < 0 && errno == EBUSY);
    CHECK(!fopen(path, "r+") && errno == EBUSY);
    check_descriptor(before); /* as it was */
    fill(2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 4, all + rank * N, N, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    close(before);
    CHECK(is_container(path));
    check_by_mpi();
    const int fd = open(path, O_RDONLY);
    check_descriptor(fd);
    close(fd);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* All at once: it becomes plain once, and has what each of them wrote. */
static void write_by_all(void)
{
    check_say("opened for writing by all ranks");
    const int fd = open(path, O_RDWR);
    const float mine = (float)(1000 + rank);
    CHECK(fd >= 0 && pwrite(fd, &mine, 4, (off_t)rank * N * 4) == 4 && close(fd) == 0);
    for (int i = 0; i < ranks; i++)
        all[i * N] = (float)(1000 + i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(!is_container(path));
    const int again = open(path, O_RDONLY);
    check_descriptor(again);
    close(again);
    check_by_mpi();
    check_remove(path, MPI_COMM_WORLD);
}

/* ---- another thread ---- */

static atomic_bool stop;
static atomic_int seen, wrong;

static void *look(void *unused)
{
    unsigned char head[sizeof magic];
    while (!atomic_load(&stop)) {
        const int fd = open(busy, O_RDONLY);
        if (fd < 0 || pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head)
            memset(head, 0, sizeof head);
        else
            atomic_fetch_add(&seen, 1);
        if (fd >= 0)
            close(fd);
        if (memcmp(head, magic, sizeof head) == 0)
            atomic_fetch_add(&wrong, 1);
    }
    return unused;
}

static void read_beside(void)
{
    pthread_t thread;
    check_say("a thread that reads beside MPI-IO");
    fill(3);
    write_file(busy, MPI_MODE_CREATE | MPI_MODE_RDWR); /* who opens an empty file has that */
    CHECK(pthread_create(&thread, NULL, look, NULL) == 0);
    for (int i = 0; i < CYCLES; i++) {
        write_file(busy, MPI_MODE_CREATE | MPI_MODE_RDWR);
        CHECK(is_container(busy));
    }
    usleep(100 * 1000);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&seen) > 0);
    CHECK_EQUAL(atomic_load(&wrong), 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    check_remove(busy, MPI_COMM_WORLD);
}

static void see_container(void)
{
    struct stat s;
    fill(4);
    write_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &s) == 0 && s.st_size < (off_t)bytes);
    CHECK(read(fd, got, sizeof magic) == (ssize_t)sizeof magic);
    CHECK(memcmp(got, magic, sizeof magic) == 0);
    close(fd);
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bytes = (size_t)ranks * N * 4;
    all = malloc(bytes);
    got = malloc(bytes + 1);
    CHECK(all && got);
    check_remove(path, MPI_COMM_WORLD); /* of a test that failed */
    check_remove(busy, MPI_COMM_WORLD);
    if (argc > 1) {
        see_container();
    } else {
        read_file();
        write_while_open();
        write_by_all();
        read_beside();
    }
    free(all);
    free(got);
    OK(MPI_Finalize());
    return 0;
}
