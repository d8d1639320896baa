/* ratio_places.c - see ratio_places.h. */
#include "mpi/ratio_places.h"

#include <math.h>

#include "judge/components.h"

void zplaces_clear(int place[], int n)
{
    for (int k = 0; k < n; k++)
        place[k] = ZMPI_RATIO_UNSEEN;
}

void zplaces_note(int *place, int is)
{
    if (is == ZMPI_RATIO_UNSEEN)
        return;
    *place = *place == ZMPI_RATIO_UNSEEN || *place == is ? is : ZMPI_RATIO_NONE;
}

int zplaces_share(struct zmpi_ratio_search *s, int place[], int n, zplaces_job_fn *job_of,
                  const void *context, MPI_Comm comm)
{
    double low[2 * ZMPI_COMPONENTS_MOST];
    int rc = MPI_SUCCESS;
    for (int k = 0; k < n; k++) {
        const bool unseen = place[k] == ZMPI_RATIO_UNSEEN, none = place[k] == ZMPI_RATIO_NONE;
        low[2 * k] = unseen ? HUGE_VAL : none ? -HUGE_VAL : place[k];
        low[2 * k + 1] = unseen ? HUGE_VAL : none ? -HUGE_VAL : -place[k];
    }
    if (comm != MPI_COMM_NULL)
        rc = PMPI_Allreduce(MPI_IN_PLACE, low, 2 * n, MPI_DOUBLE, MPI_MIN, comm);
    for (int take = 0; take < 2 && !rc; take++)
        for (int k = 0; k < n; k++) {
            struct zmpi_job job;
            job_of(context, k, &job);
            if (!zmpi_job_open(&job))
                continue;
            if (!isfinite(low[2 * k]) || low[2 * k] < -low[2 * k + 1])
                return MPI_SUCCESS;
            place[k] = (int)low[2 * k];
            if (take)
                zmpi_ratio_search_take(s, &job, place[k]);
        }
    return rc;
}
