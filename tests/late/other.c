/* other.c - as much of an MPI library as it takes to be seen to be another one. */
#include <string.h>

int PMPI_Init(int *argc, char ***argv);
int PMPI_Get_library_version(char *version, int *length);
int MPI_Init(int *argc, char ***argv) __attribute__((weak, alias("PMPI_Init")));
int run(int argc, char **argv);
#ifdef OPEN_MPI_LIKE
extern char ompi_mpi_comm_world[512];
char ompi_mpi_comm_world[512];
#endif

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, VERSION);
    *length = (int)strlen(version);
    return 0;
}

int run(int argc, char **argv)
{
    return MPI_Init(&argc, &argv);
}
