/* encode.c - makes one record in the outbox from one piece of data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/whole.h"
#include "file/zfile.h"
#include "stream/flat.h"
#include "mpi/runtime.h"

/* Only floats are ever lossy, in this machine's byte order; a container that is written without a
 * bound in force stays exact. */
struct zmpi_array zencode_array(const struct zpiece *p)
{
    struct zmpi_array a = {p->element, {1, 1, 1}};
    size_t width = zmpi_type_size(p->element);
    if (p->extent.bytes % width) { /* a call that ends inside an element */
        a.type = ZMPI_BYTES;
        a.extent[2] = p->extent.bytes;
        return a;
    }
    size_t count = p->extent.bytes / width;
    a.extent[2] = count;
    if (p->row && count % p->row == 0) {
        size_t rows = count / p->row;
        bool planes = p->rows && rows % p->rows == 0;
        a.extent[2] = p->row;
        a.extent[1] = planes ? p->rows : rows;
        a.extent[0] = planes ? rows / p->rows : 1;
    }
    return a;
}

size_t zencode_capacity(uint64_t bytes, size_t runs)
{
    /* A chunk adds 12 bytes to its data at most and is hardly ever below 1 KiB; a run is two words
     * of a stream that may not shrink. The copy of a head with a list is shorter than these are. */
    const size_t copy = runs > 1 ? (size_t)bytes / ZMPI_COPY_OF_DATA + ZMPI_COPY_ALWAYS : 0;
    return (size_t)(bytes + bytes / 32) + 17 * runs + copy + 4096;
}

unsigned char *zencode_reserve(struct zfile *f, size_t size)
{
    if (f->outbox.used + size > f->outbox.capacity) {
        size_t capacity = f->outbox.used + size;
        unsigned char *grown = realloc(f->outbox.bytes, capacity);
        if (!grown)
            return NULL;
        f->outbox.bytes = grown;
        f->outbox.capacity = capacity;
    }
    return f->outbox.bytes + f->outbox.used;
}

static enum zmpi_status waiting_add(struct zfile *f, const struct zmpi_record *r)
{
    if (f->outbox.count == f->outbox.most) {
        size_t capacity = f->outbox.most ? 2 * f->outbox.most : 16;
        struct zmpi_record *grown = realloc(f->outbox.record, capacity * sizeof *grown);
        if (!grown)
            return ZMPI_ERR_MEMORY;
        f->outbox.record = grown;
        f->outbox.most = capacity;
    }
    f->outbox.record[f->outbox.count++] = *r;
    return ZMPI_OK;
}

uint64_t zencode_order(struct zfile *f)
{
    return f->log.epoch << 32 | f->log.sequence++;
}

/* Notes the bound that gave a ratio or a psnr. */
static void count_bound(struct zfile *f, const struct zmpi_range *range,
                        const struct zmpi_stream_info *info, size_t size)
{
    if (info->bound.mode == ZMPI_RATIO) {
        f->stats.ratio_raw += (double)info->decoded_bytes;
        f->stats.ratio_coded += (double)size;
        f->stats.n.ratio_bound = fmax(f->stats.n.ratio_bound, info->abs_bound);
    } else if (info->bound.mode != ZMPI_PSNR) {
        return;
    }
    f->stats.found_bound = fmax(f->stats.found_bound, info->abs_bound);
    if (range && range->max > range->min)
        f->stats.found_share =
            fmax(f->stats.found_share, info->abs_bound / (range->max - range->min));
}

/* This many first records of a file are searched for identifiers, and then one in this many. */
enum { LOOKS = 64 };

/* Counts the lossy values of the piece, and those that became constants. */
static void count_lossy(struct zfile *f, const struct zpiece *piece, const struct zmpi_stream *s)
{
    f->stats.values_lossy += (double)(s->info.decoded_bytes / s->width);
    if (!piece->holder)
        f->stats.values_flat += (double)zmpi_flat_count(s, piece->data);
    const uint64_t records = f->stats.n.records;
    if (!f->stats.identifiers.is_one && (records < LOOKS || records % LOOKS == 0) &&
        zmpi_whole_identifiers(&s->info, piece->data))
        f->stats.identifiers = f->call;
}

static void count_stream(struct zfile *f, const struct zpiece *piece, const unsigned char *stream,
                         size_t size, uint64_t stored)
{
    struct zmpi_stream s;
    if (zmpi_stream_parse(&s, stream, size))
        return;
    count_bound(f, piece->range, &s.info, size);
    if (s.info.abs_bound > 0)
        count_lossy(f, piece, &s);
    znote_coded(f, piece, &s, stored);
}

/* Appends head (with the list of runs, if there is one) and stream to the outbox. */
static enum zmpi_status put_record(struct zfile *f, const struct zmpi_job *job,
                                   const struct zpiece *piece, const unsigned char *list,
                                   size_t list_size)
{
    struct zmpi_record r = {.kind = ZMPI_RECORD_DATA,
                            .rank = (uint32_t)f->rank,
                            .offset = f->outbox.used,
                            .extent = piece->extent};
    r.extents_length = (uint32_t)(list ? list_size : zmpi_extent_nest_size(piece->extent.levels));
    size_t head = zmpi_record_head_size(&r), capacity = zmpi_compress_capacity(&job->array), size;
    const size_t copy = list ? head : 0; /* the copy's size, if the payload's size calls for one */
    unsigned char *dst = zencode_reserve(f, head + zmpi_pad8(capacity) + copy);
    if (!dst)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = zmpi_offload_compress(&f->offload, job, piece->holder, dst + head,
                                                    capacity, piece->data, &size);
    if (status)
        return status;
    memset(dst + head + size, 0, zmpi_pad8(size) - size);
    r.payload_length = size;
    r.order = piece->order ? *piece->order : (f->log.last_here = zencode_order(f));
    status = waiting_add(f, &r);
    if (status)
        return status;
    zmpi_record_encode(&r, f->container.header.id, list, dst);
    f->outbox.used += zmpi_record_stored(&r); /* the copy is made when its place is known */
    f->stats.n.records++;
    f->stats.n.bytes_stored += zmpi_record_stored(&r);
    count_stream(f, piece, dst + head, size, zmpi_record_stored(&r));
    return ZMPI_OK;
}

enum zmpi_codec_place zencode_place(const struct zmpi_device *device)
{
    const unsigned both = 1u << ZMPI_FLE | 1u << ZMPI_HUFFMAN;
    return device != zmpi_device_cpu() && (device->encoders & both) == both ? ZMPI_CODEC_DEVICE
                                                                            : ZMPI_CODEC_HERE;
}

int zencode_job(struct zfile *f, const struct zmpi_job *job, const struct zpiece *piece)
{
    unsigned char *list = NULL;
    size_t list_size = 0;
    double start = zmpi_seconds();
    uint64_t stored = f->stats.n.bytes_stored;
    enum zmpi_status status = ZMPI_OK;
    if (piece->extent.levels == ZMPI_EXTENT_LIST)
        status = zmpi_extent_list_encode(&piece->extent, &list, &list_size);
    if (!status)
        status = put_record(f, job, piece, list, list_size);
    free(list);
    double elapsed = zmpi_seconds() - start;
    f->stats.n.seconds_compress += elapsed;
    if (!status)
        zmpi_codec_coded(
            &f->choice, job->encoder, zencode_place(zmpi_use_device(&f->offload.coded)),
            (double)piece->extent.bytes, (double)(f->stats.n.bytes_stored - stored), elapsed);
    return status ? zfile_raise_status(f, status, "compressing") : MPI_SUCCESS;
}

uint64_t zencode_coded(const struct zfile *f)
{
    return f->outbox.record[f->outbox.count - 1].payload_length - ZMPI_STREAM_HEADER_BYTES;
}

void zencode_undo(struct zfile *f, struct zmpi_extent *extent)
{
    const struct zmpi_record *r = &f->outbox.record[--f->outbox.count];
    *extent = r->extent;
    f->outbox.used = r->offset;
    f->log.sequence--;
    f->before.stats.n.seconds_compress = f->stats.n.seconds_compress;
    f->stats = f->before.stats;
    struct znote *note = znote_now(f);
    if (note)
        *note = f->before.note;
    f->choice = f->before.choice;
    f->offload.coded.bytes = f->before.offloaded;
}

int zencode_size(struct zfile *f, uint64_t size)
{
    struct zmpi_record r = {
        .kind = ZMPI_RECORD_SIZE, .rank = (uint32_t)f->rank, .offset = f->outbox.used};
    r.extent.lo = r.extent.hi = size;
    r.order = zencode_order(f);
    unsigned char *dst = zencode_reserve(f, zmpi_record_head_size(&r));
    enum zmpi_status status = dst ? waiting_add(f, &r) : ZMPI_ERR_MEMORY;
    if (status)
        return zfile_raise_status(f, status, "setting the size");
    zmpi_record_encode(&r, f->container.header.id, NULL, dst);
    f->outbox.used += zmpi_record_size(&r);
    return MPI_SUCCESS;
}
