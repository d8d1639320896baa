/*
 * program.c - the same program with a tool in front of libzmpi.so, behind it, on both sides: its
 * files are what they are without, and each tool counts what it is told to. The tool in front sees
 * the program's calls; the one behind sees calls on other files as the program made them, and what
 * libzmpi.so makes of those on containers.
 */
#define _GNU_SOURCE // RTLD_DEFAULT
#include "../mpi/check.h"

#include <dlfcn.h>

enum { N = 20000 };

static int ranks, rank;

static int tool_count(const char *tool, const char *function)
{
    int (*count)(const char *);
    *(void **)&count = dlsym(RTLD_DEFAULT, tool);
    return count ? count(function) : -1;
}

static void use_file(const char *path, bool container)
{
    static float mine[N], back[N];
    MPI_File file;
    for (int i = 0; i < N; i++)
        mine[i] = (float)(i % 100 + rank);
    check_say("%s", path);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)sizeof mine * rank, mine, N, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, (MPI_Offset)sizeof mine * rank, back, N, MPI_FLOAT,
                            MPI_STATUS_IGNORE));
    CHECK_BYTES(back, mine, sizeof mine);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(check_is_container(path), container);
    if (container)
        CHECK(check_disk_size(path) < (long long)sizeof mine * ranks);
}

static void use_gather(void)
{
    float *mine = check_alloc(N * sizeof *mine),
          *all = check_alloc((size_t)ranks * N * sizeof *all);
    for (int i = 0; i < N; i++)
        mine[i] = (float)(i % 100 + rank);
    OK(MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < ranks * N && rank == 0; i++)
        CHECK(all[i] == (float)(i % N % 100 + i / N));
    free(mine);
    free(all);
}

static void check_front(void)
{
    static const struct {
        const char *function;
        int calls;
    } made[] = {{"MPI_File_open", 2},        {"MPI_File_close", 2},    {"MPI_File_write_at_all", 2},
                {"MPI_File_read_at_all", 2}, {"MPI_File_write_at", 0}, {"MPI_Gather", 1},
                {"MPI_Allreduce", 0}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        check_say("tool in front: %s", made[i].function);
        CHECK_EQUAL(tool_count("front_count", made[i].function), made[i].calls);
    }
}

static void check_behind(void)
{
    check_say("tool behind");
    CHECK_EQUAL(tool_count("behind_count", "MPI_File_open"), 2);
    CHECK_EQUAL(tool_count("behind_count", "MPI_File_close"), 2);
    CHECK_EQUAL(tool_count("behind_count", "MPI_File_write_at_all"), 1);
    CHECK_EQUAL(tool_count("behind_count", "MPI_File_read_at_all"), 1);
    CHECK(tool_count("behind_count", "MPI_File_write_at") > 0);
    CHECK(tool_count("behind_count", "MPI_Gather") > 0);
    CHECK(tool_count("behind_count", "MPI_Allreduce") > 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    use_file("plain.bin", false);
    /* ROMIO gathers names when it opens a file: by PMPI_Gather, which is none of our business. */
    CHECK(tool_count("behind_count", "MPI_Gather") <= 0);
    use_file("container.z", true);
    use_gather();
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "front") == 0)
            check_front();
        else
            check_behind();
    MPI_Finalize();
}
