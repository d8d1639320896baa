/*
 * helpers.c - helper threads of the codec in a job: a rank has as many as its share of the cores,
 * none where the ranks fill them, and application threads that write at once do not disturb each
 * other.
 *
 * zmpi-test: RANKS 1,2,4 ENV ZMPI_ERROR_BOUND=abs=1e-3
 * zmpi-test: three RANKS 1,2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_THREADS=3
 */
#define _GNU_SOURCE // sched_getaffinity
#include "check.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>

enum { N = 2 << 20, WRITERS = 3 };

static float value(size_t i, int seed)
{
    return sinf(0.001F * (float)i) + (float)seed;
}

static float *make(int seed)
{
    float *a = malloc(N * sizeof *a);
    for (size_t i = 0; i < N; i++)
        a[i] = value(i, seed);
    return a;
}

static void check_values(const float *a, int seed)
{
    for (size_t i = 0; i < N; i++)
        CHECK_SAY(fabsf(a[i] - value(i, seed)) <= 1e-3F, "element %zu is %g", i, (double)a[i]);
}

/* Threads of this process that are called zmpi. */
static int helpers(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    CHECK(tasks != NULL);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
        char path[300], name[16] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (f != NULL && fscanf(f, "%15s", name) == 1)
            n += strcmp(name, "zmpi") == 0;
        if (f != NULL)
            fclose(f);
    }
    closedir(tasks);
    return n;
}

/* The job is not bound: all ranks share all CPUs. */
static int expected_helpers(int ranks)
{
    cpu_set_t set;
    const char *threads = getenv("ZMPI_THREADS");
    if (threads != NULL)
        return atoi(threads) - 1;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    int share = CPU_COUNT(&set) / ranks;
    return share > 1 ? share - 1 : 0;
}

static void write_together(int rank, int ranks)
{
    MPI_File f;
    float *a = make(rank);
    check_say("collective write");
    CHECK(!MPI_File_open(MPI_COMM_WORLD, "threads.z", MPI_MODE_CREATE | MPI_MODE_RDWR,
                         MPI_INFO_NULL, &f));
    MPI_Offset at = (MPI_Offset)rank * N * (MPI_Offset)sizeof *a;
    CHECK(!MPI_File_write_at_all(f, at, a, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK_SAY(helpers() == expected_helpers(ranks), "%d helpers, not %d", helpers(),
              expected_helpers(ranks));
    memset(a, 0, N * sizeof *a);
    CHECK(!MPI_File_read_at_all(f, at, a, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    check_values(a, rank);
    CHECK(!MPI_File_close(&f));
    free(a);
}

struct writer {
    pthread_t thread;
    MPI_File file;
    int seed;
};

static void *write_alone(void *context)
{
    const struct writer *w = context;
    float *a = make(w->seed);
    CHECK(!MPI_File_write_at(w->file, 0, a, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    memset(a, 0, N * sizeof *a);
    CHECK(!MPI_File_read_at(w->file, 0, a, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    check_values(a, w->seed);
    free(a);
    return NULL;
}

/* Each thread has a file of its own: what they share is the codec. */
static void write_at_once(int rank)
{
    struct writer w[WRITERS];
    char path[40];
    check_say("several threads");
    for (int i = 0; i < WRITERS; i++) {
        w[i].seed = 10 * rank + i;
        snprintf(path, sizeof path, "threads.%d.%d.z", rank, i);
        CHECK(!MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                             &w[i].file));
    }
    for (int i = 0; i < WRITERS; i++)
        CHECK(!pthread_create(&w[i].thread, NULL, write_alone, &w[i]));
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(w[i].thread, NULL);
        CHECK(!MPI_File_close(&w[i].file));
    }
}

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    write_together(rank, ranks);
    if (provided == MPI_THREAD_MULTIPLE)
        write_at_once(rank);
    MPI_Finalize();
    CHECK_SAY(helpers() == 0, "helpers live after MPI_Finalize");
    return 0;
}
