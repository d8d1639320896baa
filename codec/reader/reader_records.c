/* reader_records.c - what a file holds: sizes and records. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reader/reader.h"

enum zmpi_status zmpi_reader_info(struct zmpi_reader_file *f, struct zmpi_reader_info *given,
                                  struct zmpi_reader_error *error)
{
    pthread_mutex_lock(&f->lock);
    const struct zmpi_contents *c = &f->now;
    struct zmpi_reader_info info = {.logical_size = c->logical,
                                    .physical_size = c->physical,
                                    .records = zmpi_contents_records(c),
                                    .containers = c->plain ? 0 : c->count,
                                    .whole = 1,
                                    .written = zmpi_source_is_written(f->fd)};
    for (size_t i = 0; i < info.containers; i++) {
        info.scanned += c->part[i]->container.scanned;
        info.whole = info.whole && zmpi_container_whole(&c->part[i]->container);
    }
    pthread_mutex_unlock(&f->lock);
    if (!zmpi_reader_give(given, sizeof info, &info, sizeof info))
        return zmpi_reader_say(error, ZMPI_ERR_ARG, "struct zmpi_reader_info: size is %zu, not %zu",
                               given->size, sizeof info);
    return zmpi_reader_fine(error);
}

static void describe(struct zmpi_part *p, const struct zmpi_record *r,
                     struct zmpi_reader_record *out)
{
    struct zmpi_stream_info info = {0};
    *out = (struct zmpi_reader_record){.kind = (int)r->kind,
                                       .offset = p->source.base + r->offset,
                                       .stored = zmpi_record_size(r),
                                       .lo = p->begin + r->extent.lo,
                                       .hi = p->begin + r->extent.hi,
                                       .bytes = r->extent.bytes,
                                       .run = r->extent.run,
                                       .levels = r->extent.levels,
                                       .epoch = r->order >> 32,
                                       .rank = r->rank};
    for (unsigned i = 0; i < r->extent.levels && i < ZMPI_EXTENT_LEVELS; i++) {
        out->count[i] = r->extent.count[i];
        out->stride[i] = r->extent.stride[i];
    }
    if (r->kind != ZMPI_RECORD_DATA)
        return;
    out->status = zmpi_source_stream(&p->in, r, &info);
    if (out->status)
        return;
    out->array = info.array;
    out->bound = info.bound;
    out->abs_bound = info.abs_bound;
    out->encoder = info.encoder;
    out->chunks = info.chunks;
    out->big_endian = info.big_endian;
}

static enum zmpi_status find(struct zmpi_reader_file *f, uint64_t number,
                             struct zmpi_reader_record *out, struct zmpi_reader_error *error)
{
    const struct zmpi_contents *c = &f->now;
    if (number >= zmpi_contents_records(c))
        return zmpi_reader_say(error, ZMPI_ERR_ARG, "%.300s: has %llu records, and no number %llu",
                               f->name, (unsigned long long)zmpi_contents_records(c),
                               (unsigned long long)number);
    size_t k = c->count - 1;
    while (number < c->part[k]->first)
        k--;
    struct zmpi_part *p = c->part[k];
    const enum zmpi_status status =
        p->record ? ZMPI_OK : zmpi_container_records(&p->container, &p->in, &p->record);
    if (status)
        return zmpi_reader_fail(
            error, f->name,
            &(struct zmpi_trouble){.status = status,
                                   .system = status == ZMPI_ERR_IO ? p->source.failed : 0,
                                   .record = ZMPI_READER_NO_RECORD});
    describe(p, &p->record[number - p->first], out);
    return zmpi_reader_fine(error);
}

enum zmpi_status zmpi_reader_record(struct zmpi_reader_file *f, uint64_t number,
                                    struct zmpi_reader_record *given,
                                    struct zmpi_reader_error *error)
{
    struct zmpi_reader_record record;
    if (given->size < sizeof record)
        return zmpi_reader_say(error, ZMPI_ERR_ARG,
                               "struct zmpi_reader_record: size is %zu, not %zu", given->size,
                               sizeof record);
    pthread_mutex_lock(&f->lock);
    const enum zmpi_status status = find(f, number, &record, error);
    pthread_mutex_unlock(&f->lock);
    if (!status)
        zmpi_reader_give(given, sizeof record, &record, sizeof record);
    return status;
}
