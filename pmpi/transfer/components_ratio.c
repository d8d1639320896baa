/*
 * components_ratio.c - the bounds that give a ratio to a call of several variables: the same part
 * of the range of each, or those by which they were coded before.
 */
#include "transfer/components.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

/* Of a component: an open one, unless all its values are alike. */
static void component_job(const struct zfile *f, const struct zplan *p, int component,
                          struct zmpi_job *job)
{
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    *job = (struct zmpi_job){.top = 0};
    zmpi_job_make(&any, &f->options.bound, &p->range[component], job);
    zmpi_job_threshold(job, f->options.threshold);
    zmpi_job_fills(job, &f->options.fill);
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

/* All parts of a component that tell their place must tell the same. */
static void note_place(int *place, int is)
{
    if (is == ZMPI_RATIO_UNSEEN)
        return;
    *place = *place == ZMPI_RATIO_UNSEEN || *place == is ? is : ZMPI_RATIO_NONE;
}

/* Of all ranks; if all components have one, these are their bounds. */
static int share_places(const struct zfile *f, struct zplan *p, MPI_Comm comm)
{
    double low[2 * ZMPI_COMPONENTS_MOST];
    const size_t n = (size_t)abs(p->components);
    int rc = MPI_SUCCESS;
    for (size_t c = 0; c < n; c++) {
        const bool unseen = p->place[c] == ZMPI_RATIO_UNSEEN, none = p->place[c] == ZMPI_RATIO_NONE;
        low[2 * c] = unseen ? HUGE_VAL : none ? -HUGE_VAL : p->place[c];
        low[2 * c + 1] = unseen ? HUGE_VAL : none ? -HUGE_VAL : -p->place[c];
    }
    if (comm != MPI_COMM_NULL)
        rc = PMPI_Allreduce(MPI_IN_PLACE, low, 2 * (int)n, MPI_DOUBLE, MPI_MIN, comm);
    for (int take = 0; take < 2 && !rc; take++)
        for (size_t c = 0; c < n; c++) {
            struct zmpi_job job;
            component_job(f, p, (int)c, &job);
            if (!zmpi_job_open(&job))
                continue;
            if (!isfinite(low[2 * c]) || low[2 * c] < -low[2 * c + 1])
                return MPI_SUCCESS;
            p->place[c] = (int)low[2 * c];
            if (take)
                zmpi_ratio_search_take(&p->search, &job, p->place[c]);
        }
    return rc;
}

/* `bytes` of a component, whole rows of its shape. */
static void search_add(const struct zfile *f, struct zplan *p, int component,
                       const unsigned char *data, uint64_t bytes)
{
    struct zpiece piece = {
        .data = data, .element = p->memory.element, .row = p->shape[2], .rows = p->shape[1]};
    struct zmpi_job job;
    component_job(f, p, component, &job);
    if (!zmpi_job_open(&job))
        return;
    piece.extent.bytes = bytes;
    const struct zmpi_array array = zencode_array(&piece);
    zmpi_ratio_search_use(&p->search, &job, p->place[component]);
    zmpi_ratio_search_add(&p->search, &array, data);
    if (zmpi_ratio_search_asks(&p->search))
        note_place(&p->place[component], zmpi_ratio_search_place(&p->search, &array, data));
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
    struct zmpi_job job;
    int rc = MPI_SUCCESS;
    const double start = zmpi_seconds();
    component_job(f, p, 0, &job);
    for (size_t c = 0; c < (size_t)abs(p->components); c++)
        p->place[c] = ZMPI_RATIO_UNSEEN;
    zmpi_ratio_search_begin(&p->search, &job, true);
    do {
        search_pieces(f, p);
        if (comm != MPI_COMM_NULL)
            rc = PMPI_Allreduce(MPI_IN_PLACE, &p->search.sum, ZMPI_RATIO_SUMS, MPI_UINT64_T,
                                MPI_SUM, comm);
        if (!rc && zmpi_ratio_search_asks(&p->search))
            rc = share_places(f, p, comm);
    } while (!rc && zmpi_ratio_search_next(&p->search));
    p->searched = true;
    f->stats.n.seconds_scan += zmpi_seconds() - start;
    return rc;
}
