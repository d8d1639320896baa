/*
 * small_stack.c - a thread with a stack of 64 KiB, which docs/limits.md says is enough, writes
 * large arrays, small pieces of several variables and a collective call, reads them, and gathers.
 *
 * zmpi-test: fle RANKS 1,2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=gather ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: huffman RANKS 2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=huffman ZMPI_COLLECTIVES=gather ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: interp RANKS 2 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC=interp ZMPI_COLLECTIVES=gather ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: psnr RANKS 1 ENV ZMPI_ERROR_BOUND=psnr=70
 */
#include "check.h"

#include <math.h>
#include <pthread.h>

enum { N = 1 << 18, SMALL = 20000, PIECES = 3000, PIECE = 60, APART = 5 };
#ifdef __SANITIZE_ADDRESS__
enum { STACK = 1 << 20 }; /* with the sanitizer's gaps */
#else
enum { STACK = 64 << 10 };
#endif

static int rank, ranks;
static float *narrow, *narrow_back;
static double *wide, *wide_back;

static void near(double a, double b, double most)
{
    CHECK_SAY(fabs(a - b) <= most, "%g, not %g", b, a);
}

static void write_file(MPI_Offset at)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, "small_stack.bin", MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_write_at(f, at, narrow, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(f, at + 4 * N, narrow, SMALL, MPI_FLOAT, MPI_STATUS_IGNORE));
    for (int i = 0; i < PIECES; i++)
        OK(MPI_File_write_at(f, at + 8 * N + (MPI_Offset)i * APART * PIECE * 8, wide + i * PIECE,
                             PIECE, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
}

static void read_file(MPI_Offset at)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, "small_stack.bin", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
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

static void *run(void *unused)
{
    (void)unused;
    const MPI_Offset at = (MPI_Offset)rank << 24;
    float *all = rank == 0 ? malloc((size_t)ranks * N * sizeof *all) : NULL;
    write_file(at);
    read_file(at);
    OK(MPI_Gather(narrow, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    for (int i = 0; all && i < N; i++)
        near((double)narrow[i], (double)all[i], 0.01);
    free(all);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_attr_t small;
    pthread_t thread;
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
    pthread_attr_init(&small);
    CHECK(pthread_attr_setstacksize(&small, STACK) == 0);
    CHECK(pthread_create(&thread, &small, run, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    free(narrow);
    free(narrow_back);
    free(wide);
    free(wide_back);
    OK(MPI_Finalize());
    return 0;
}
