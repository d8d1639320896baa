/*
 * components_ratio.c - the bound of a call of several variables that gives a ratio: the same part
 * of each one's range.
 */
#include "calls/components.h"

#include <stdlib.h>

/* Of a component: an open one, unless all its values are alike. */
static void make_job(const struct zfile *f, const struct zplan *p, int component,
                     struct zmpi_job *job)
{
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    *job = (struct zmpi_job){.top = 0};
    zmpi_job_make(&any, &f->options.bound, &p->range[component], job);
    zmpi_job_threshold(job, f->options.threshold);
    zmpi_job_fills(job, &f->options.fill);
    job->encoder = zmpi_options_encoder(&f->options, &job->approximate);
}

const struct zmpi_ratio_search *zcomponents_turn(const struct zfile *f, struct zplan *p,
                                                 int component)
{
    struct zmpi_job job;
    if (!p->searched)
        return NULL;
    make_job(f, p, component, &job);
    if (zmpi_job_open(&job))
        zmpi_ratio_search_turn(&p->search, &job);
    return &p->search;
}

/* `bytes` of a component, whole rows of its shape. */
static void add(const struct zfile *f, struct zplan *p, int component, const unsigned char *data,
                uint64_t bytes)
{
    struct zpiece piece = {
        .data = data, .element = p->memory.element, .row = p->shape[2], .rows = p->shape[1]};
    struct zmpi_job job;
    make_job(f, p, component, &job);
    if (!zmpi_job_open(&job))
        return;
    piece.extent.bytes = bytes;
    const struct zmpi_array array = zencode_array(&piece);
    zmpi_ratio_search_turn(&p->search, &job);
    zmpi_ratio_search_add(&p->search, &array, data);
}

static void add_pieces(struct zfile *f, struct zplan *p)
{
    const uint64_t n = (uint64_t)abs(p->components), width = zmpi_type_size(p->memory.element);
    for (uint64_t at = 0, bytes; at < p->memory.bytes; at += bytes) {
        bytes = zcomponents_cut(p, at);
        if (p->components < 0) {
            add(f, p, (int)(at / (p->memory.bytes / n)), p->memory.data + at, bytes);
            continue;
        }
        const size_t plane = zcomponents_split(f, p, at, bytes);
        for (size_t c = 0; c < n; c++)
            add(f, p, (int)c, f->component + c * plane * width, bytes / n);
    }
}

int zcomponents_search_ratio(struct zfile *f, struct zplan *p, MPI_Comm comm)
{
    struct zmpi_job job;
    int rc = MPI_SUCCESS;
    const double start = zmpi_seconds();
    make_job(f, p, 0, &job);
    zmpi_ratio_search_begin(&p->search, &job, true);
    do {
        add_pieces(f, p);
        if (comm != MPI_COMM_NULL)
            rc = PMPI_Allreduce(MPI_IN_PLACE, &p->search.sum, ZMPI_RATIO_SUMS, MPI_UINT64_T,
                                MPI_SUM, comm);
    } while (!rc && zmpi_ratio_search_next(&p->search));
    p->searched = true;
    f->stats.n.seconds_scan += zmpi_seconds() - start;
    return rc;
}
