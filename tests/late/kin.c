/* kin.c - behind libzmpi.so: the MPI library says that it is another of its family, as Intel MPI,
 * MVAPICH and Cray's are of MPICH's, or a version that nobody knows yet. */
#include <string.h>

int PMPI_Get_library_version(char *version, int *length);
int MPI_Get_library_version(char *version, int *length)
    __attribute__((alias("PMPI_Get_library_version")));

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, VERSION);
    *length = (int)strlen(version);
    return 0;
}
