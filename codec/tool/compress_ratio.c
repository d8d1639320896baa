/* compress_ratio.c - zmpi compress: the job of a component; the bounds that give a ratio to several
 * components together, the same part of the range of each. */
#include <stdlib.h>

#include "compress.h"

/* The bound of a ratio is still open, unless all values are the same. */
static enum zmpi_status open_job(const struct tool_work *w, const struct zmpi_array *array, int c,
                                 struct zmpi_job *job)
{
    const enum zmpi_status status = zmpi_job_make(array, &w->bound, &w->range[c], job);
    if (status)
        return status;
    zmpi_job_threshold(job, w->options.threshold);
    zmpi_job_fills(job, &w->fills[c]);
    job->threads = tool_threads();
    job->encoder = w->encoder;
    job->variant = w->variant;
    return ZMPI_OK;
}

enum zmpi_status tool_job(struct tool_work *w, const struct zmpi_array *array, int c,
                          struct zmpi_job *job)
{
    const enum zmpi_status status = open_job(w, array, c, job);
    if (!status && tool_has_one_ratio(w) && zmpi_job_open(job)) {
        zmpi_ratio_search_use(&w->search, job, w->place[c]);
        zmpi_ratio_search_apply(&w->search, job);
    }
    return status;
}

bool tool_has_one_ratio(const struct tool_work *w)
{
    return w->bound.mode == ZMPI_RATIO && tool_components(w) > 1;
}

/* Adds component c to the search, and notes by which bound it was coded before. */
static enum zmpi_status add(struct tool_work *w, const struct zmpi_array *array, int c,
                            const unsigned char *data)
{
    struct zmpi_job job;
    const enum zmpi_status status = open_job(w, array, c, &job);
    if (status)
        return status;
    if (!zmpi_job_open(&job)) {
        zmpi_ratio_search_constant(&w->search, array);
        return ZMPI_OK;
    }
    zmpi_ratio_search_use(&w->search, &job, w->place[c]);
    zmpi_ratio_search_add(&w->search, array, data);
    if (zmpi_ratio_search_asks(&w->search))
        w->place[c] = zmpi_ratio_search_place(&w->search, array, data);
    return ZMPI_OK;
}

/* If each component that varies was coded before, each gets its old bound again. */
static void take_places(struct tool_work *w, const struct zmpi_array *array)
{
    struct zmpi_job job;
    for (int take = 0; take < 2; take++)
        for (int c = 0; c < tool_components(w); c++) {
            if (open_job(w, array, c, &job) || !zmpi_job_open(&job))
                continue;
            if (w->place[c] == ZMPI_RATIO_NONE || w->place[c] == ZMPI_RATIO_UNSEEN)
                return;
            if (take)
                zmpi_ratio_search_take(&w->search, &job, w->place[c]);
        }
}

/* all: the components, as they lie in the file; one: memory for one of them. */
static enum zmpi_status search(struct tool_work *w, const struct zmpi_array *array,
                               const unsigned char *all, unsigned char *one)
{
    struct zmpi_job job;
    size_t bytes;
    const int n = tool_components(w);
    enum zmpi_status status = open_job(w, array, 0, &job);
    zmpi_array_bytes(array, &bytes);
    zmpi_ratio_search_begin(&w->search, &job, true);
    for (bool again = true; again && !status; again = zmpi_ratio_search_next(&w->search)) {
        for (int c = 0; c < n && !status; c++) {
            const unsigned char *data = all + (size_t)c * bytes;
            if (w->options.components > 0) {
                zmpi_component_take(w->type, all, bytes / zmpi_type_size(w->type) * (size_t)n, n, c,
                                    one);
                data = one;
            }
            status = add(w, array, c, data);
        }
        if (zmpi_ratio_search_asks(&w->search))
            take_places(w, array);
    }
    return status;
}

int tool_search_ratio(struct tool_work *w, uint64_t at, const struct zmpi_array *array)
{
    const int n = tool_components(w);
    size_t bytes;
    zmpi_array_bytes(array, &bytes);
    unsigned char *all = malloc(bytes * (size_t)n), *one = malloc(bytes);
    int failed = all && one ? TOOL_OK : tool_fail("out of memory");
    if (!failed && w->options.components > 0)
        failed = tool_input_read(&w->in, at * (uint64_t)n, all, bytes * (size_t)n);
    for (int c = 0; c < n && !failed && w->options.components < 0; c++)
        failed = tool_input_read(&w->in, tool_component_begin(w, c) + at, all + (size_t)c * bytes,
                                 bytes);
    for (int c = 0; c < n; c++)
        w->place[c] = ZMPI_RATIO_UNSEEN;
    const enum zmpi_status status = failed ? ZMPI_OK : search(w, array, all, one);
    free(all);
    free(one);
    return status ? tool_fail_status(w->in.path, status) : failed;
}
