/*
 * golden.h - a golden file while it is made: its records, and data that are the same on every
 * machine.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container/container.h"
#include "device.h"
#include "layout/stream.h"

#define GOLDEN_RECORDS 16
#define GOLDEN_MOST    65536 /* bytes of a file while it is made */

/* A container that grows in memory. */
struct golden {
    unsigned char data[GOLDEN_MOST];
    size_t size;
    struct zmpi_header header;
    struct zmpi_record record[GOLDEN_RECORDS];
    size_t records;
    struct zmpi_bound bound; /* of the records to come */
    uint64_t order;          /* theirs; 0: one after the other */
    int encoder;             /* theirs; 0: fle */
    enum zmpi_variant variant;
    bool big_endian; /* their data are to be; `encoder` is set then */
};

static inline void golden_must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "golden files: %s failed\n", what);
    abort();
}

/* ---- the container ---- */

static inline void golden_begin(struct golden *g, unsigned char id)
{
    memset(g, 0, sizeof *g);
    for (unsigned i = 0; i < 16; i++)
        g->header.id[i] = (unsigned char)(id + 17 * i);
    g->header.generation = 1;
    g->header.log_end = ZMPI_HEADER_BYTES;
    g->header.next_epoch = 1;
    g->size = ZMPI_HEADER_BYTES;
    zmpi_header_encode(&g->header, g->data);
}

/* The next record at the end of the file. Its extent becomes owned by g. */
static inline struct zmpi_record *golden_record(struct golden *g, enum zmpi_record_kind kind,
                                                struct zmpi_extent extent)
{
    golden_must(g->records < GOLDEN_RECORDS, "room for a record");
    struct zmpi_record *r = &g->record[g->records++];
    *r = (struct zmpi_record){.kind = kind, .offset = g->size, .extent = extent};
    r->order = g->order ? g->order : (uint64_t)1 << 32 | (g->records - 1);
    return r;
}

static inline void golden_put(struct golden *g, struct zmpi_record *r, const unsigned char *list,
                              const unsigned char *payload)
{
    golden_must(zmpi_record_size(r) <= GOLDEN_MOST - g->size, "room for a record's bytes");
    zmpi_record_encode(r, g->header.id, list, g->data + r->offset);
    if (payload != NULL)
        memcpy(g->data + zmpi_record_payload(r), payload, r->payload_length);
    g->size += zmpi_record_size(r);
}

/* zmpi_compress by another encoder. */
static inline enum zmpi_status golden_encode(const struct golden *g, const struct zmpi_array *a,
                                             void *dst, size_t capacity, const void *src,
                                             size_t *size)
{
    struct zmpi_range range;
    struct zmpi_job job;
    zmpi_range_of(a->type, src, a->extent[0] * a->extent[1] * a->extent[2], &range);
    enum zmpi_status status = zmpi_job_make(a, &g->bound, &range, &job);
    job.encoder = g->encoder;
    job.variant = g->variant;
    job.big_endian = g->big_endian;
    return status ? status : zmpi_device_cpu()->compress(&job, dst, capacity, src, size);
}

/* A data record of src at the places `extent` tells. */
static inline void golden_data(struct golden *g, const struct zmpi_array *a, const void *src,
                               struct zmpi_extent extent)
{
    struct zmpi_record *r = golden_record(g, ZMPI_RECORD_DATA, extent);
    size_t capacity = zmpi_compress_capacity(a), size = 0, list_size = 0;
    unsigned char *payload = malloc(capacity), *list = NULL;
    golden_must(payload != NULL, "malloc");
    golden_must((g->encoder
                     ? golden_encode(g, a, payload, capacity, src, &size)
                     : zmpi_compress(a, &g->bound, NULL, payload, capacity, src, &size)) == ZMPI_OK,
                "compress");
    if (extent.levels == ZMPI_EXTENT_LIST)
        golden_must(zmpi_extent_list_encode(&extent, &list, &list_size) == ZMPI_OK, "list");
    else
        list_size = zmpi_extent_nest_size(extent.levels);
    r->payload_length = size;
    r->extents_length = (uint32_t)list_size;
    golden_put(g, r, list, payload);
    free(payload);
    free(list);
}

static inline void golden_size(struct golden *g, uint64_t size)
{
    struct zmpi_extent extent = {.lo = size, .hi = size};
    golden_put(g, golden_record(g, ZMPI_RECORD_SIZE, extent), NULL, NULL);
}

/* `n` runs of `length` bytes, `stride` apart, from `lo` on. */
static inline struct zmpi_extent golden_runs(uint64_t lo, uint64_t length, uint64_t stride,
                                             size_t n)
{
    struct zmpi_run runs[64];
    struct zmpi_extent extent;
    golden_must(n <= 64, "room for runs");
    for (size_t i = 0; i < n; i++)
        runs[i] = (struct zmpi_run){lo + i * stride, length};
    golden_must(zmpi_extent_from_runs(&extent, runs, n) == ZMPI_OK, "extent");
    return extent;
}

/* Index of all records, then the header's other slot. */
static inline void golden_end(struct golden *g)
{
    struct zmpi_container c;
    unsigned char *index;
    size_t size;
    zmpi_container_init(&c);
    c.header = g->header;
    for (size_t i = 0; i < g->records; i++)
        golden_must(zmpi_container_add(&c, &g->record[i]) == ZMPI_OK, "index");
    golden_must(zmpi_index_make(&c, NULL, g->size, 0, &index, &size) == ZMPI_OK, "index");
    golden_must(size <= GOLDEN_MOST - g->size, "room for the index");
    memcpy(g->data + g->size, index, size);
    free(index);
    g->size += size;
    g->header = c.header;
    zmpi_container_free(&c);
    g->header.generation++;
    g->header.next_epoch = 2;
    zmpi_header_encode(&g->header, g->data + zmpi_header_slot(g->header.generation));
}

/* ---- data ---- */

static inline uint32_t golden_random(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

/* A hilly surface: parabolas of integers and a little noise, in 1/1024. */
static inline int32_t golden_hills(uint32_t *state, size_t z, size_t y, size_t x)
{
    int32_t a = (int32_t)(x % 64) - 32, b = (int32_t)(y % 48) - 24, c = (int32_t)(z % 32) - 16;
    return 3 * a * a - 5 * b * b + 2 * a * c + (int32_t)(golden_random(state) >> 30);
}

/* 3-D f32 or f64, from integers scaled by 2^exponent. */
static inline void golden_hilly(const struct zmpi_array *a, int exponent, void *dst)
{
    uint32_t state = 1;
    size_t i = 0;
    for (size_t z = 0; z < a->extent[0]; z++)
        for (size_t y = 0; y < a->extent[1]; y++)
            for (size_t x = 0; x < a->extent[2]; x++, i++) {
                double value = ldexp(golden_hills(&state, z, y, x), exponent);
                if (a->type == ZMPI_F32)
                    ((float *)dst)[i] = (float)value;
                else
                    ((double *)dst)[i] = value;
            }
}

static inline struct zmpi_extent golden_whole(size_t bytes)
{
    return (struct zmpi_extent){.lo = 0, .hi = bytes, .bytes = bytes, .run = bytes};
}

/* A container of one record that is all of src. */
static inline void golden_way(struct golden *g, int encoder, enum zmpi_variant variant,
                              unsigned char id, const struct zmpi_array *a, const char *bound,
                              const void *src)
{
    size_t bytes;
    golden_begin(g, id);
    g->encoder = encoder;
    g->variant = variant;
    golden_must(zmpi_bound_parse(bound, &g->bound) == ZMPI_OK, "bound");
    golden_must(zmpi_array_bytes(a, &bytes) == ZMPI_OK, "size");
    golden_data(g, a, src, golden_whole(bytes));
    golden_end(g);
}

static inline void golden_by(struct golden *g, int encoder, unsigned char id,
                             const struct zmpi_array *a, const char *bound, const void *src)
{
    golden_way(g, encoder, ZMPI_VARIANT_NONE, id, a, bound, src);
}

static inline void golden_one(struct golden *g, unsigned char id, const struct zmpi_array *a,
                              const char *bound, const void *src)
{
    golden_by(g, 0, id, a, bound, src);
}

#endif
