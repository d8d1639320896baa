/*
 * container_lists.c - lists of runs. They are read from their records when needed, and stay in
 * memory up to a limit.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

#define PLACES    1024
#define RUNS_MOST ((uint64_t)2 << 20) /* 24 bytes each */

void zmpi_container_forget_lists(struct zmpi_container *c)
{
    for (size_t i = 0; c->list != NULL && i < PLACES; i++)
        zmpi_extent_free(&c->list[i]);
    free(c->list);
    free(c->list_of);
    c->list = NULL;
    c->list_of = NULL;
    c->list_runs = 0;
}

static enum zmpi_status evict_lists(struct zmpi_container *c)
{
    if (c->list_runs > RUNS_MOST)
        zmpi_container_forget_lists(c);
    if (c->list != NULL)
        return ZMPI_OK;
    c->list = calloc(PLACES, sizeof *c->list);
    c->list_of = calloc(PLACES, sizeof *c->list_of);
    if (c->list != NULL && c->list_of != NULL)
        return ZMPI_OK;
    free(c->list_of);
    free(c->list);
    c->list = NULL;
    c->list_of = NULL;
    return ZMPI_ERR_MEMORY;
}

enum zmpi_status zmpi_container_list(struct zmpi_container *c, const struct zmpi_reader *in,
                                     struct zmpi_record *r)
{
    if (r->extent.levels != ZMPI_EXTENT_LIST)
        return ZMPI_OK;
    size_t place = (size_t)(r->offset * UINT64_C(0x9E3779B97F4A7C15) >> 54);
    _Static_assert(PLACES == 1 << (64 - 54), "");
    if (c->list != NULL && c->list_of[place] == r->offset) {
        r->extent = c->list[place];
        return ZMPI_OK;
    }
    enum zmpi_status status = evict_lists(c);
    if (status == ZMPI_OK)
        status = zmpi_record_load_list(r, c->header.id, in);
    if (status != ZMPI_OK)
        return status;
    struct zmpi_extent *kept = &c->list[place];
    c->list_runs -= kept->list_count;
    zmpi_extent_free(kept);
    *kept = r->extent;
    c->list_of[place] = r->offset;
    c->list_runs += kept->list_count;
    return ZMPI_OK;
}
