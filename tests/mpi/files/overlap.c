/*
 * overlap.c - a large nonblocking write returns while the file system still has it, and its data
 * are there after the next synchronisation; what goes wrong meanwhile is reported then.
 *
 * The file system is held up by our own pwrite, which stands before the C library's.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 */
#define _GNU_SOURCE // syscall
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

enum { N = 3 << 20 }; /* bytes: several records of noise */

static const char path[] = "overlap.z";
static int rank, ranks;

/* ---- the slow disk ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER, arrived = PTHREAD_COND_INITIALIZER;
static pthread_t main_thread;
static bool gate_closed, broken;
static int waited;

ssize_t pwrite(int fd, const void *src, size_t size, off_t offset)
{
    pthread_mutex_lock(&lock);
    const bool background = !pthread_equal(pthread_self(), main_thread);
    if (background && gate_closed) {
        waited++;
        pthread_cond_signal(&arrived);
    }
    while (background && gate_closed)
        pthread_cond_wait(&opened, &lock);
    const bool fails = background && broken;
    pthread_mutex_unlock(&lock);
    if (fails) {
        errno = EDQUOT;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, src, size, offset);
}

ssize_t pwrite64(int fd, const void *src, size_t size, off_t offset)
{
    return pwrite(fd, src, size, offset);
}

static void set_gate(bool closed)
{
    pthread_mutex_lock(&lock);
    gate_closed = closed;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
}

/* Until the write is under way, and held up. */
static void await_write(int before)
{
    pthread_mutex_lock(&lock);
    while (waited == before)
        pthread_cond_wait(&arrived, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- */

static void fill(unsigned char *data, int owner, int step)
{
    for (int i = 0; i < N; i++)
        data[i] = (unsigned char)(check_mix((uint64_t)(owner * 10 + step), (uint64_t)i) >> 56);
}

static MPI_Offset place(int owner, int step)
{
    return ((MPI_Offset)step * ranks + owner) * N;
}

static MPI_File open_file(void)
{
    MPI_File file;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    return file;
}

static void overlapped(unsigned char *data, unsigned char *back)
{
    MPI_Request request;
    MPI_Offset size;
    check_say("overlapped");
    MPI_File file = open_file();
    for (int step = 0; step < 4; step++) {
        fill(data, rank, step);
        const int before = waited;
        set_gate(true);
        OK(MPI_File_iwrite_at(file, place(rank, step), data, N / 4, MPI_BYTE, &request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        memset(data, 0, N); /* the buffer is the program's again */
        await_write(before);
        set_gate(false);
        OK(MPI_File_get_size(file, &size)); /* which counts it, and so waits for it */
        CHECK(size >= place(rank, step) + N / 4);
    }
    check_sync(file, MPI_COMM_WORLD);
    for (int step = 0; step < 4; step++)
        for (int r = 0; r < ranks; r++) {
            fill(data, r, step);
            OK(MPI_File_read_at(file, place(r, step), back, N / 4, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK_BYTES(back, data, N / 4);
        }
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
}

/* More than fits in flight, own data read at once, and then by all. */
static void many(unsigned char *data, unsigned char *back)
{
    MPI_Request request[5];
    check_say("many");
    MPI_File file = open_file();
    for (int step = 0; step < 5; step++) {
        fill(data, rank, step);
        OK(MPI_File_iwrite_at(file, place(rank, step), data, N, MPI_BYTE, &request[step]));
        MPI_Wait(&request[step], MPI_STATUS_IGNORE);
    }
    OK(MPI_File_read_at(file, place(rank, 4), back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(back, data, N);
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int r = 0; r < ranks; r++) {
        fill(data, r, 2);
        OK(MPI_File_read_at(file, place(r, 2), back, N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_BYTES(back, data, N);
    }
    OK(MPI_File_close(&file));
}

/* Rank 0's writes fail: all go on, the sync says it there, and the others' data are safe. */
static void failing(unsigned char *data, unsigned char *back)
{
    MPI_Request request;
    check_say("failing");
    MPI_File file = open_file();
    fill(data, rank, 0);
    broken = rank == 0;
    OK(MPI_File_iwrite_at(file, place(rank, 0), data, N / 4, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        CHECK_CLASS(MPI_File_sync(file), MPI_ERR_QUOTA);
    else
        MPI_File_sync(file);
    broken = false;
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int r = 1; r < ranks; r++) {
        fill(data, r, 0);
        OK(MPI_File_read_at(file, place(r, 0), back, N / 4, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_BYTES(back, data, N / 4);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    main_thread = pthread_self();
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    unsigned char *data = check_alloc(N), *back = check_alloc(N);
    overlapped(data, back);
    many(data, back);
    failing(data, back);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(back);
    MPI_Finalize();
    return 0;
}
