/* api_fortran.c - the calls of zmpi.h with Fortran's handles, for fortran/zmpi.f90. Texts end with
 * a zero there already. */
#include <mpi.h>

#include "next_mpi.h"
#include "zmpi.h"

#if MPI_VERSION >= 5
#define FILE_OF(fh)   PMPI_File_fromint(fh)
#define COMM_OF(comm) PMPI_Comm_fromint(comm)
#else
#define FILE_OF(fh)   PMPI_File_f2c(fh)
#define COMM_OF(comm) PMPI_Comm_f2c(comm)
#endif

ZMPI_API int zmpi_fortran_file_set_bound(int fh, const char *bound);
ZMPI_API int zmpi_fortran_file_set_shape(int fh, const size_t extent[3]);
ZMPI_API int zmpi_fortran_file_set(int fh, const char *option, const char *value);
ZMPI_API int zmpi_fortran_file_is_container(int fh);
ZMPI_API int zmpi_fortran_file_get_stats(int fh, struct zmpi_file_stats *stats);
ZMPI_API int zmpi_fortran_comm_set(int comm, const char *option, const char *value);
ZMPI_API int zmpi_fortran_comm_get_stats(int comm, struct zmpi_comm_stats *stats);

int zmpi_fortran_file_set_bound(int fh, const char *bound)
{
    return zmpi_file_set_bound(FILE_OF(fh), bound);
}

int zmpi_fortran_file_set_shape(int fh, const size_t extent[3])
{
    return zmpi_file_set_shape(FILE_OF(fh), extent);
}

int zmpi_fortran_file_set(int fh, const char *option, const char *value)
{
    return zmpi_file_set(FILE_OF(fh), option, value);
}

int zmpi_fortran_file_is_container(int fh)
{
    return zmpi_file_is_container(FILE_OF(fh));
}

int zmpi_fortran_file_get_stats(int fh, struct zmpi_file_stats *stats)
{
    return zmpi_file_get_stats(FILE_OF(fh), stats);
}

int zmpi_fortran_comm_set(int comm, const char *option, const char *value)
{
    return zmpi_comm_set(COMM_OF(comm), option, value);
}

int zmpi_fortran_comm_get_stats(int comm, struct zmpi_comm_stats *stats)
{
    return zmpi_comm_get_stats(COMM_OF(comm), stats);
}
