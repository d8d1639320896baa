/*
 * sort.c - sorts the records of all ranks by place before the index is written. A segment then has
 * records that are neighbours in the file: a reader needs few segments, and they are small.
 *
 * A sample of all ranks' records gives the borders between parts; each record goes to the rank of
 * its part. There are only as many parts as give full segments.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "index/header.h"

enum { SAMPLES = 4 }; /* from each rank */

/* Reads one record after the other from segments. */
struct cursor {
    const struct zmpi_segments *s;
    size_t next;
    struct zmpi_chain chain;
    const unsigned char *at, *end;
};

static const struct zmpi_record *next_record(struct cursor *c)
{
    if (c->at == c->end) {
        if (c->next == c->s->count)
            return NULL;
        const struct zmpi_segment *s = &c->s->segment[c->next++];
        memset(&c->chain, 0, sizeof c->chain);
        c->at = s->entries;
        c->end = s->entries + s->size;
    }
    return zmpi_entry_decode(&c->chain, &c->at, c->end) ? NULL : &c->chain.last;
}

static uint64_t count_records(const struct zmpi_segments *s)
{
    uint64_t n = 0;
    for (size_t k = 0; k < s->count; k++)
        n += s->segment[k].count;
    return n;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Gathers all ranks' samples and sorts them; a rank without records has none. */
static int take_samples(struct zfile *f, const struct zmpi_segments *mine, uint64_t *all, size_t *n)
{
    uint64_t sample[SAMPLES], records = count_records(mine), k = 0;
    const struct zmpi_record *r;
    struct cursor cursor = {.s = mine};
    for (int i = 0; i < SAMPLES; i++)
        sample[i] = UINT64_MAX;
    for (uint64_t i = 0; k < SAMPLES && (r = next_record(&cursor)) != NULL; i++)
        while (k < SAMPLES && i == (2 * k + 1) * records / (2 * SAMPLES))
            sample[k++] = r->extent.lo;
    int rc = PMPI_Allgather(sample, SAMPLES, MPI_UINT64_T, all, SAMPLES, MPI_UINT64_T, f->comm);
    qsort(all, (size_t)f->ranks * SAMPLES, sizeof *all, compare);
    for (*n = (size_t)f->ranks * SAMPLES; *n > 0 && all[*n - 1] == UINT64_MAX;)
        --*n;
    return rc;
}

struct parcels {
    unsigned char *data;
    int *sizes, *places; /* of the bytes for each rank, or from it */
};

static bool parcels_make(struct parcels *p, int ranks)
{
    p->data = NULL;
    p->sizes = calloc((size_t)ranks, sizeof *p->sizes);
    p->places = calloc((size_t)ranks, sizeof *p->places);
    return p->sizes && p->places;
}

static void parcels_free(struct parcels *p)
{
    free(p->data);
    free(p->sizes);
    free(p->places);
}

/* If there are more bytes than MPI can count (10^8 records of a rank), they are said not to fit the
 * memory. */
static bool fits_int(size_t bytes)
{
    return bytes <= INT_MAX;
}

static bool append(struct parcels *p, size_t *used, int part, struct zmpi_entries *e)
{
    unsigned char *grown = fits_int(*used + e->size) ? realloc(p->data, *used + e->size + 1) : NULL;
    if (!grown)
        return false;
    p->data = grown;
    if (e->size)
        memcpy(grown + *used, e->data, e->size);
    p->places[part] = (int)*used;
    p->sizes[part] = (int)e->size;
    *used += e->size;
    zmpi_entries_free(e);
    return true;
}

/* Writes entries for each part, in order, since the records are sorted. Size records go to the
 * first part. */
static enum zmpi_status split(const struct zmpi_segments *mine, const uint64_t *sample, size_t n,
                              int parts, struct parcels *out)
{
    struct cursor cursor = {.s = mine};
    struct zmpi_entries e = {0};
    const struct zmpi_record *r;
    enum zmpi_status status = ZMPI_OK;
    size_t used = 0;
    int part = 0;
    while (!status && (r = next_record(&cursor)) != NULL) {
        while (!status && part + 1 < parts && r->kind == ZMPI_RECORD_DATA &&
               r->extent.lo >= sample[((size_t)part + 1) * n / (size_t)parts])
            status = append(out, &used, part++, &e) ? ZMPI_OK : ZMPI_ERR_MEMORY;
        if (!status)
            status = zmpi_entries_add(&e, r);
    }
    if (!status && !append(out, &used, part, &e))
        status = ZMPI_ERR_MEMORY;
    zmpi_entries_free(&e);
    return status;
}

/* Replaces the records by those received, sorted. */
static enum zmpi_status merge(const struct parcels *in, int ranks, struct zmpi_segments *mine)
{
    struct zmpi_container c;
    struct zmpi_segments sorted;
    enum zmpi_status status = ZMPI_OK;
    zmpi_container_init(&c);
    for (int r = 0; r < ranks && !status; r++)
        status = zmpi_container_add_entries(&c, in->data + in->places[r], (size_t)in->sizes[r]);
    if (!status)
        status = zmpi_index_collect(&c, NULL, false, NULL, NULL, &sorted);
    if (!status) {
        zmpi_segments_free(mine);
        *mine = sorted;
    }
    zmpi_container_free(&c);
    return status;
}

static int exchange(struct zfile *f, const struct parcels *out, struct parcels *in)
{
    size_t total = 0;
    int rc = PMPI_Alltoall(out->sizes, 1, MPI_INT, in->sizes, 1, MPI_INT, f->comm);
    for (int r = 0; r < f->ranks && !rc; r++) {
        in->places[r] = (int)total;
        total += (size_t)in->sizes[r];
    }
    in->data = fits_int(total) ? malloc(total + 1) : NULL;
    rc = zfile_worst(f, rc ? rc : in->data ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    return rc ? rc
              : PMPI_Alltoallv(out->data, out->sizes, out->places, MPI_BYTE, in->data, in->sizes,
                               in->places, MPI_BYTE, f->comm);
}

int zindex_sort(struct zfile *f, struct zmpi_segments *mine)
{
    struct parcels out, in;
    uint64_t records = count_records(mine), all = 0;
    size_t n = 0;
    int rc = PMPI_Allreduce(&records, &all, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (rc || all == 0 || f->ranks == 1)
        return rc;
    uint64_t most = (all + ZMPI_SEGMENT_RECORDS - 1) / ZMPI_SEGMENT_RECORDS;
    int parts = most < (uint64_t)f->ranks ? (int)most : f->ranks;
    uint64_t *sample = malloc((size_t)f->ranks * SAMPLES * sizeof *sample);
    bool made = parcels_make(&out, f->ranks);
    made = parcels_make(&in, f->ranks) && made;
    rc = zfile_worst(f, made && sample ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    if (!rc)
        rc = take_samples(f, mine, sample, &n);
    if (!rc)
        rc = zfile_worst(f, zstatus_class(split(mine, sample, n, parts, &out)));
    if (!rc)
        rc = exchange(f, &out, &in);
    if (!rc)
        rc = zstatus_class(merge(&in, f->ranks, mine));
    free(sample);
    parcels_free(&out);
    parcels_free(&in);
    return rc ? zfile_raise(f, rc, "writing the index") : MPI_SUCCESS;
}
