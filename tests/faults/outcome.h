/* outcome.h - what programs whose calls fail share: errors, and whether all ranks go on. */
#ifndef ZMPI_TEST_OUTCOME_H
#define ZMPI_TEST_OUTCOME_H

#include "../mpi/check.h"

#include <signal.h>

static inline int class_of(int rc)
{
    int class = MPI_SUCCESS;
    if (rc)
        MPI_Error_class(rc, &class);
    return class;
}

/* All ranks must come here, which is half of the test. Does any of them have an error? */
static inline bool any_failed(int rc)
{
    int mine = rc != MPI_SUCCESS, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

static inline void died(int number)
{
    fprintf(stderr, "FAIL: rank %d: %s: %s\n", check_rank(MPI_COMM_WORLD), check_case,
            number == SIGALRM ? "hangs" : "crashed");
    signal(number, SIG_DFL);
    raise(number);
}

#endif
