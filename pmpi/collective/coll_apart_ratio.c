/*
 * coll_apart_ratio.c - one ratio for a call with several variables. Each variable has the same part
 * of its range as bound, or the bound by which it was coded before.
 */
#include <math.h>
#include <stdlib.h>

#include "collective/coll.h"
#include "mpi/ratio_places.h"

/* zplaces_job_fn: makes the job for any part of a variable. */
static void job_of(const void *context, int k, struct zmpi_job *job)
{
    const struct zcall *c = context;
    const struct zmpi_array any = {ZMPI_F64, {1, 1, 1}};
    const struct zmpi_options *o = &c->state->options;
    *job = (struct zmpi_job){.abs_bound = 0};
    zmpi_job_make(&any, &o->bound, &c->apart.range[k], job);
    zmpi_job_threshold(job, o->threshold);
    zmpi_job_fills(job, &c->apart.fills[k]);
    zmpi_options_encoder(o, &job->variant);
    job->encoder = c->way;
}

void zapart_ratio_begin(struct zcall *c)
{
    struct zmpi_job job;
    job_of(c, 0, &job);
    zmpi_ratio_search_begin(&c->search, &job, true);
    zplaces_clear(c->apart.place, zapart_number(c));
}

/* Adds data of component k. */
static void add(struct zcall *c, const struct zmpi_array *a, int k, const void *data)
{
    struct zmpi_job job;
    job_of(c, k, &job);
    if (!zmpi_job_open(&job)) {
        zmpi_ratio_search_constant(&c->search, a);
        return;
    }
    zmpi_ratio_search_use(&c->search, &job, c->apart.place[k]);
    zmpi_ratio_search_add(&c->search, a, data);
    if (zmpi_ratio_search_asks(&c->search))
        zplaces_note(&c->apart.place[k], zmpi_ratio_search_place(&c->search, a, data));
}

bool zapart_ratio_add(struct zcall *c, const struct zmpi_array *whole, const void *data, int block)
{
    if (block >= 0) {
        add(c, whole, block, data);
        return true;
    }
    const int n = c->components;
    const size_t *e = whole->extent, count = e[0] * e[1] * e[2];
    const struct zmpi_array a = zblock_component(whole, (size_t)n);
    void *component = malloc(count / (size_t)n * zmpi_type_size(whole->type));
    for (int k = 0; k < n && component; k++) {
        zmpi_component_take(whole->type, data, count, n, k, component);
        add(c, &a, k, component);
    }
    free(component);
    return component != NULL;
}

int zapart_ratio_share(struct zcall *c)
{
    if (!zmpi_ratio_search_asks(&c->search))
        return MPI_SUCCESS;
    return zplaces_share(&c->search, c->apart.place, zapart_number(c), job_of, c, c->state->comm);
}

void zapart_ratio_apply(const struct zcall *c, int component, struct zmpi_job *job)
{
    struct zmpi_ratio_search search = c->search;
    zmpi_ratio_search_use(&search, job, c->apart.place[component]);
    zmpi_ratio_search_apply(&search, job);
}

double zapart_ratio_bound(const struct zcall *c)
{
    double largest = 0;
    for (int k = 0; k < zapart_number(c); k++) {
        struct zmpi_job job;
        job_of(c, k, &job);
        if (zmpi_job_open(&job))
            zapart_ratio_apply(c, k, &job);
        largest = fmax(largest, job.abs_bound);
    }
    return largest;
}
