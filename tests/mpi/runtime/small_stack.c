/*
 * small_stack.c - a thread writes large arrays, small pieces of several variables and a collective
 * call, reads them, and gathers. Its stack has 48 KiB more than the same calls used without
 * compression. docs/limits.md promises that 64 KiB are enough.
 *
 * zmpi-test: fle RANKS 1,2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: huffman RANKS 2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=huffman ZMPI_COLLECTIVES=gather ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: interp RANKS 2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=interp ZMPI_COLLECTIVES=gather ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: psnr RANKS 1 ENV ZMPI_ERROR_BOUND=psnr=70
 */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 1 << 18, SMALL = 20000, PIECES = 3000, PIECE = 60, APART = 5 };
enum { LARGE_STACK = 4 << 20, PAGE = 4096, UNTOUCHED = 0xa5 };
#ifdef __SANITIZE_ADDRESS__
enum { ZMPI_STACK = 1 << 20 }; /* with the sanitizer's gaps */
#else
enum { ZMPI_STACK = 48 << 10 };
#endif

static int rank, ranks;
static float *narrow, *narrow_back;
static double *wide, *wide_back;

static void near(double a, double b, double most)
{
    CHECK_SAY(fabs(a - b) <= most, "%g, not %g", b, a);
}

static void write_file(const char *name, MPI_Offset at)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at(f, at, narrow, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(f, at + 4 * N, narrow, SMALL, MPI_FLOAT, MPI_STATUS_IGNORE));
    for (int i = 0; i < PIECES; i++)
        OK(MPI_File_write_at(f, at + 8 * N + (MPI_Offset)i * APART * PIECE * 8, wide + i * PIECE,
                             PIECE, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
}

static void read_file(const char *name, MPI_Offset at)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_read_at_all(f, at, narrow_back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        near((double)narrow[i], (double)narrow_back[i], 0.01);
    for (int i = 0; i < PIECES; i += 100) {
        OK(MPI_File_read_at(f, at + 8 * N + (MPI_Offset)i * APART * PIECE * 8, wide_back, PIECE,
                            MPI_DOUBLE, MPI_STATUS_IGNORE));
        for (int k = 0; k < PIECE; k++)
            near(wide[i * PIECE + k], wide_back[k], 5);
    }
    OK(MPI_File_close(&f));
}

/* The same calls of MPI, compressed or not. zmpi leaves integers and HDF5's files as they are. */
static void *run(void *compressed)
{
    const char *name = compressed ? "small_stack.bin" : "small_stack.h5";
    const MPI_Datatype type = compressed ? MPI_FLOAT : MPI_INT;
    const MPI_Offset at = (MPI_Offset)rank << 24;
    float *all = rank == 0 ? malloc((size_t)ranks * N * sizeof *all) : NULL;
    write_file(name, at);
    read_file(name, at);
    OK(MPI_Gather(narrow, N, type, all, N, type, 0, MPI_COMM_WORLD));
    for (int i = 0; all && i < N; i++)
        near((double)narrow[i], (double)all[i], 0.01);
    free(all);
    return NULL;
}

/* Makes the calls in a thread with a stack of so many bytes. Returns how many it touched. */
static size_t stack_used(bool compressed, size_t size)
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t left = 0;
    unsigned char *guard =
        mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *stack = guard + PAGE;
    CHECK(guard != MAP_FAILED && mprotect(guard, PAGE, PROT_NONE) == 0);
    memset(stack, UNTOUCHED, size);
    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstack(&attr, stack, size) == 0);
    CHECK(pthread_create(&thread, &attr, run, compressed ? &rank : NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    while (left < size && stack[left] == UNTOUCHED)
        left++;
    CHECK(munmap(guard, PAGE + size) == 0);
    return size - left;
}

int main(int argc, char **argv)
{
    int provided;
    size_t own, used, size;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    narrow = malloc(N * sizeof *narrow);
    narrow_back = malloc(N * sizeof *narrow);
    wide = malloc(N * sizeof *wide);
    wide_back = malloc(N * sizeof *wide);
    for (int i = 0; i < N; i++) {
        narrow[i] = (float)(sin(1e-3 * i) + 1e-3 * (i % 7));
        wide[i] = i % 5 * 1000 + sin(0.01 * i);
    }
    own = stack_used(false, LARGE_STACK);
    size = (own + ZMPI_STACK + PAGE - 1) / PAGE * PAGE;
    used = stack_used(true, size);
    CHECK_SAY(used < size, "%zu bytes of stack are too few: without compression %zu", size, own);
    free(narrow);
    free(narrow_back);
    free(wide);
    free(wide_back);
    OK(MPI_Finalize());
    return 0;
}
