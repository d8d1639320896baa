/*
 * components_ratio.c - finds the bounds that give a ratio to a call of several variables: the same
 * part of each range, or the bounds by which they were coded before.
 */
#include "transfer/components.h"

#include <stdlib.h>

#include "base/clock.h"
#include "mpi/ratio_places.h"

/* Makes the job of a component. It is open, unless all values are the same. */
static void component_job(const struct zfile *f, const struct zplan *p, int component,
                          struct zmpi_job *job)
{
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    *job = (struct zmpi_job){.top = 0};
    zmpi_job_make(&any, &f->options.bound, &p->range[component], job);
    zmpi_job_threshold(job, f->options.threshold);
    zmpi_job_fills(job, &p->fills[component]);
    job->encoder = zmpi_options_encoder(&f->options, &job->variant);
}

const struct zmpi_ratio_search *zcomponents_bound(const struct zfile *f, struct zplan *p,
                                                  int component)
{
    struct zmpi_job job;
    if (!p->searched)
        return NULL;
    component_job(f, p, component, &job);
    if (zmpi_job_open(&job))
        zmpi_ratio_search_use(&p->search, &job, p->place[component]);
    return &p->search;
}

/* What zplaces_share needs to know about a call. */
struct call {
    const struct zfile *file;
    const struct zplan *plan;
};

/* A zplaces_job_fn. */
static void job_of(const void *context, int k, struct zmpi_job *job)
{
    const struct call *call = context;
    component_job(call->file, call->plan, k, job);
}

/* Adds `bytes` of a component, whole rows of its shape, to the search. */
static void search_add(const struct zfile *f, struct zplan *p, int component,
                       const unsigned char *data, uint64_t bytes)
{
    struct zpiece piece = {
        .data = data, .element = p->memory.element, .row = p->shape[2], .rows = p->shape[1]};
    struct zmpi_job job;
    component_job(f, p, component, &job);
    piece.extent.bytes = bytes;
    const struct zmpi_array array = zencode_array(&piece);
    if (!zmpi_job_open(&job)) {
        zmpi_ratio_search_constant(&p->search, &array);
        return;
    }
    zmpi_ratio_search_use(&p->search, &job, p->place[component]);
    zmpi_ratio_search_add(&p->search, &array, data);
    if (zmpi_ratio_search_asks(&p->search))
        zplaces_note(&p->place[component], zmpi_ratio_search_place(&p->search, &array, data));
}

static void search_pieces(struct zfile *f, struct zplan *p)
{
    const uint64_t n = (uint64_t)abs(p->components), width = zmpi_type_size(p->memory.element);
    for (uint64_t at = 0, bytes; at < p->memory.bytes; at += bytes) {
        bytes = zplan_cut(f, p, at);
        if (p->components < 0) {
            search_add(f, p, (int)(at / (p->memory.bytes / n)), p->memory.data + at, bytes);
            continue;
        }
        const size_t plane = zcomponents_split(f, p, at, bytes);
        for (size_t c = 0; c < n; c++)
            search_add(f, p, (int)c, f->component + c * plane * width, bytes / n);
    }
}

int zcomponents_search(struct zfile *f, struct zplan *p, MPI_Comm comm)
{
    const struct call call = {f, p};
    struct zmpi_job job;
    int rc = MPI_SUCCESS;
    const double start = zmpi_seconds();
    component_job(f, p, 0, &job);
    zplaces_clear(p->place, abs(p->components));
    zmpi_ratio_search_begin(&p->search, &job, true);
    do {
        search_pieces(f, p);
        if (comm != MPI_COMM_NULL)
            rc = PMPI_Allreduce(MPI_IN_PLACE, &p->search.sum, ZMPI_RATIO_SUMS, MPI_UINT64_T,
                                MPI_SUM, comm);
        if (!rc && zmpi_ratio_search_asks(&p->search))
            rc = zplaces_share(&p->search, p->place, abs(p->components), job_of, &call, comm);
    } while (!rc && zmpi_ratio_search_next(&p->search));
    p->searched = true;
    f->stats.n.seconds_scan += zmpi_seconds() - start;
    return rc;
}
