/*
 * api_session.c - a program of MPI-4 sessions alone asks zmpi for something: it is told that this
 * is not to be had, and not that libzmpi.so is in the wrong place.
 *
 * zmpi-test: RANKS 1 ANYIO ENV ZMPI_ERROR_BOUND=abs=1
 */
#include "check.h"

#include "zmpi.h"

#if MPI_VERSION < 4

int main(void)
{
    return 77;
}

#else

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int length;
    char error[MPI_MAX_ERROR_STRING];
    const int said = open("session.out", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (said < 0 || dup2(said, STDERR_FILENO) != STDERR_FILENO)
        return 1;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))
        return 77;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "zmpi", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    const int set = zmpi_comm_set(comm, "error_bound", "abs=0.5");
    if (set != MPI_ERR_COMM || zmpi_file_set_bound(MPI_FILE_NULL, "abs=0.5") != MPI_ERR_FILE ||
        check_disk_size("session.out") != 0) {
        MPI_Error_string(set, error, &length);
        printf("FAIL: zmpi_comm_set: %s; session.out has %lld bytes\n", error,
               check_disk_size("session.out"));
        return 1;
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    unlink("session.out");
    return 0;
}

#endif
