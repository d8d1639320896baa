/*
 * places.c - opens, writes and deletes files where that may not be possible, and prints what MPI
 * says; tests/cli/bad_places.sh compares that with and without libzmpi.so.
 *
 *     places PATH...
 */
#include "../mpi/check.h"

static int rank;

/* The smallest and largest class of any rank: that all come here is part of the test. */
static void say(const char *path, const char *what, int rc)
{
    int class = MPI_SUCCESS, mine[2], all[2];
    char text[MPI_MAX_ERROR_STRING] = "";
    if (rc)
        MPI_Error_class(rc, &class);
    mine[0] = class;
    mine[1] = -class;
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int n = 0;
    MPI_Error_string(class, text, &n);
    if (rank == 0)
        printf("%.60s: %s: %d to %d: %s\n", path, what, all[0], -all[1], text);
}

static void try_mode(const char *path, const char *name, int amode)
{
    MPI_File file;
    double data[100] = {1, 2, 3};
    int rc = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);
    say(path, name, rc);
    if (rc)
        return;
    if (!(amode & MPI_MODE_RDONLY)) {
        rc = MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof data, data, 100, MPI_DOUBLE,
                                   MPI_STATUS_IGNORE);
        say(path, "write", rc);
    }
    say(path, "close", MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    for (int i = 1; i < argc; i++) {
        try_mode(argv[i], "read", MPI_MODE_RDONLY);
        try_mode(argv[i], "overwrite", MPI_MODE_WRONLY);
        try_mode(argv[i], "update", MPI_MODE_RDWR);
        try_mode(argv[i], "create", MPI_MODE_WRONLY | MPI_MODE_CREATE);
        try_mode(argv[i], "create new", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
        MPI_Barrier(MPI_COMM_WORLD);
        int rc = rank == 0 ? MPI_File_delete(argv[i], MPI_INFO_NULL) : MPI_SUCCESS;
        say(argv[i], "delete", rc);
    }
    MPI_Finalize();
    return 0;
}
