/*
 * offload_write.c - write-through: a device takes the data of records, compresses them, and writes
 * them to the file itself (struct zmpi_device_writer; docs/internals/smartnic.md, "Write-through").
 *
 * A record gets into the file in three steps: its size becomes known; it gets a place (alone,
 * behind what this rank has written, or together with all ranks' records); the device says that it
 * is written. Then the process looks whether it is in the file, and the record becomes known. If a
 * step fails, the process does it itself, from the data that the device keeps until then. A record
 * that already has a place gets the same bytes at the same place, so that it does not matter if the
 * device still writes them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/physical.h"
#include "file/zfile.h"

/* The most data of a file that may be under way. More data wait for the oldest. */
#define MOST ((uint64_t)64 << 20)

struct zoffloaded {
    struct zmpi_record record;
    struct zmpi_job job;
    const struct zmpi_device *device;
    struct zmpi_write_request *at;
    struct zmpi_coded coded; /* size 0: not known yet */
    bool failed;             /* the device failed: the process encodes it */
    uint64_t round;          /* its round of collective calls, or the last round before it */
};

static void take_out(struct zoffload_write *t, size_t i)
{
    struct zoffloaded *h = &t->entry[i];
    t->bytes -= h->record.extent.bytes;
    h->device->writer->drop(h->at);
    memmove(h, h + 1, (t->count - i - 1) * sizeof *h);
    t->count--;
    t->assigned -= i < t->assigned;
}

/* Logged once for each file: a device that is full now and then is no failure. */
static void note(struct zfile *f, const struct zoffloaded *h, enum zmpi_status status,
                 const char *problem)
{
    if (status == ZMPI_ERR_UNSUPPORTED || f->offload_write.off)
        return;
    f->offload_write.off = true;
    zmpi_log(ZMPI_LOG_WARN, "%s: device %s: %s; this process writes the file itself from here on",
             f->path, h->device->name, problem ? problem : zmpi_strerror(status));
}

static const char *problem_of(const struct zoffloaded *h)
{
    return h->device->problem ? h->device->problem() : NULL;
}

/* ---- handing over ---- */

/* Takes the oldest piece one step further. False: this is not possible here and now. */
static bool advance(struct zfile *f, int *rc)
{
    struct zoffload_write *t = &f->offload_write;
    const size_t before = t->count, assigned = t->assigned;
    *rc = t->assigned ? zoffload_land(f, 1) : zoffload_slab(f, 1);
    return t->count != before || t->assigned != assigned;
}

static bool wanted(const struct zfile *f, const struct zmpi_job *job, const struct zpiece *piece)
{
    return f->options.nic_write && !f->offload_write.off && !f->session.atomic && !piece->holder &&
           !piece->order && job->bound.mode != ZMPI_RATIO && piece->extent.bytes > 0 &&
           piece->extent.levels <= ZMPI_EXTENT_LEVELS;
}

static bool reserve(struct zoffload_write *t)
{
    if (t->count < t->capacity)
        return true;
    const size_t capacity = t->capacity ? 2 * t->capacity : 16;
    struct zoffloaded *grown = realloc(t->entry, capacity * sizeof *grown);
    if (!grown)
        return false;
    t->entry = grown;
    t->capacity = capacity;
    return true;
}

/* Resolves links: the device follows none. */
static char *path_of(int fd)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return realpath(link, NULL);
}

bool zoffload_take(struct zfile *f, const struct zmpi_job *job, const struct zpiece *piece, int *rc)
{
    struct zoffload_write *t = &f->offload_write;
    struct zoffloaded h = {.job = *job, .round = t->round};
    *rc = MPI_SUCCESS;
    if (!wanted(f, job, piece) || zsession_descriptor(f) < 0)
        return false;
    if (!t->path)
        t->path = path_of(zsession_descriptor(f));
    while (!*rc && t->assigned && t->entry[0].device->writer->ready(t->entry[0].at))
        *rc = zoffload_land(f, 1);
    while (!*rc && t->count && t->bytes + piece->extent.bytes > MOST)
        if (!advance(f, rc))
            return false;
    if (*rc || t->off || !t->path || !reserve(t))
        return *rc != MPI_SUCCESS;
    h.at = zmpi_offload_submit(&f->offload, job, piece->data, t->path, f->container.header.id,
                               &h.device);
    if (!h.at)
        return false;
    h.record = (struct zmpi_record){.kind = ZMPI_RECORD_DATA,
                                    .order = zencode_order(f),
                                    .rank = (uint32_t)f->rank,
                                    .extents_length =
                                        (uint32_t)zmpi_extent_nest_size(piece->extent.levels),
                                    .extent = piece->extent};
    t->bytes += piece->extent.bytes;
    t->entry[t->count++] = h;
    return true;
}

uint64_t zoffload_end(const struct zfile *f)
{
    uint64_t end = 0;
    for (size_t i = 0; i < f->offload_write.count; i++)
        end = end < f->offload_write.entry[i].record.extent.hi
                  ? f->offload_write.entry[i].record.extent.hi
                  : end;
    return end;
}

/* ---- what the process does itself ---- */

/* Encodes the record into the outbox as any other, after flushing that. */
static int encode_here(struct zfile *f, const struct zoffloaded *h)
{
    const uint64_t slot = zplace_slot_size(f);
    int rc = MPI_SUCCESS;
    const struct zpiece piece = {.data = h->device->writer->data(h->at),
                                 .extent = h->record.extent,
                                 .element = h->job.array.type,
                                 .order = &h->record.order};
    if (f->outbox.used <= slot && f->outbox.used + zencode_capacity(piece.extent.bytes, 0) > slot)
        rc = zplace_slab(f);
    return rc ? rc : zencode_job(f, &h->job, &piece);
}

/* ---- sizes ---- */

/* Waits for the size, if it is unknown. */
static void ask_size(struct zfile *f, struct zoffloaded *h)
{
    if (h->coded.size || h->failed)
        return;
    enum zmpi_status status = h->device->writer->coded(h->at, &h->coded);
    h->failed = status != ZMPI_OK;
    if (h->failed) {
        note(f, h, status, problem_of(h));
        return;
    }
    h->record.payload_length = h->coded.size;
    f->stats.n.records++;
    f->stats.n.bytes_stored += zmpi_record_size(&h->record);
    zmpi_codec_coded(&f->choice, h->job.encoder, zencode_place(h->device),
                     (double)h->record.extent.bytes, (double)zmpi_record_size(&h->record),
                     h->coded.seconds);
}

/* The same for entry i; if it has failed, it goes to the outbox and leaves the list. */
static int find_size(struct zfile *f, size_t i)
{
    struct zoffloaded *h = &f->offload_write.entry[i];
    ask_size(f, h);
    if (!h->failed)
        return MPI_SUCCESS;
    int rc = encode_here(f, h);
    take_out(&f->offload_write, i);
    return rc;
}

int zoffload_sizes(struct zfile *f, uint64_t *bytes)
{
    struct zoffload_write *t = &f->offload_write;
    int rc = MPI_SUCCESS;
    *bytes = 0;
    for (size_t i = t->assigned; i + t->keep < t->count;) {
        const size_t before = t->count;
        int one = find_size(f, i);
        rc = rc ? rc : one;
        if (t->count == before)
            *bytes += zmpi_record_size(&t->entry[i++].record);
    }
    return rc;
}

/* ---- places ---- */

/* Gives a place to the oldest entry without one. Other sessions see by the file's size that it is
 * taken (sessions.c). */
static int place_next(struct zfile *f, uint64_t offset)
{
    static const unsigned char zeros[8];
    struct zoffload_write *t = &f->offload_write;
    struct zoffloaded *h = &t->entry[t->assigned];
    unsigned char head[ZMPI_RECORD_HEADER_BYTES + 8 + 16 * ZMPI_EXTENT_LEVELS];
    h->record.offset = offset;
    zmpi_record_encode(&h->record, f->container.header.id, NULL, head);
    const off_t last = (off_t)(offset + zmpi_record_size(&h->record) - sizeof zeros);
    if (zfd_write(zsession_descriptor(f), zeros, sizeof zeros, last) != 0) {
        const int error = errno;
        take_out(t, t->assigned);
        return zphysical_failed(f, MPI_SUCCESS, error, "writing");
    }
    h->device->writer->write(h->at, offset, head, zmpi_record_head_size(&h->record));
    t->assigned++;
    return MPI_SUCCESS;
}

int zoffload_place(struct zfile *f, uint64_t offset)
{
    struct zoffload_write *t = &f->offload_write;
    int rc = MPI_SUCCESS;
    for (size_t n = t->count - t->keep - t->assigned; n > 0; n--) {
        const uint64_t size = zmpi_record_size(&t->entry[t->assigned].record);
        int one = place_next(f, offset);
        rc = rc ? rc : one;
        offset += size;
    }
    return rc;
}

/* May this rank alone give it a place? A record that is encoded here must fit a slot. */
static bool slot_takes(const struct zfile *f, const struct zoffloaded *h)
{
    const uint64_t slot = zplace_slot_size(f);
    if (h->failed)
        return zencode_capacity(h->record.extent.bytes, 0) <= slot;
    return zmpi_record_size(&h->record) <= slot || f->session.shared || f->session.counted;
}

int zoffload_slab(struct zfile *f, size_t most)
{
    struct zoffload_write *t = &f->offload_write;
    int rc = MPI_SUCCESS;
    for (; most > 0 && t->assigned < t->count && !rc; most--) {
        const size_t before = t->count;
        uint64_t base;
        bool alone = false;
        ask_size(f, &t->entry[t->assigned]);
        if (!slot_takes(f, &t->entry[t->assigned]))
            break; /* from a collective call: the next such call places it */
        rc = find_size(f, t->assigned);
        if (rc || t->count < before)
            continue;
        const uint64_t size = zmpi_record_size(&t->entry[t->assigned].record);
        rc = zplace_reserve(f, size, &base, &alone);
        if (!rc)
            rc = place_next(f, base);
        if (alone)
            zsession_alone_end(f);
    }
    return rc;
}

/* Entries that are kept get a new order. It must not make them newer than records that were encoded
 * here after them. */
void zoffload_postpone(struct zfile *f, uint64_t rounds)
{
    struct zoffload_write *t = &f->offload_write;
    for (t->keep = 0; t->assigned + t->keep < t->count; t->keep++) {
        const struct zoffloaded *h = &t->entry[t->count - 1 - t->keep];
        if (h->round + rounds <= t->round || h->record.order < f->log.last_here)
            break;
    }
}

void zoffload_renumber(struct zfile *f)
{
    struct zoffload_write *t = &f->offload_write;
    for (size_t i = t->assigned; i < t->count; i++)
        t->entry[i].record.order = zencode_order(f);
    t->keep = 0;
}

void zoffload_forget(struct zfile *f)
{
    struct zoffload_write *t = &f->offload_write;
    while (t->assigned + t->keep < t->count)
        take_out(t, t->assigned);
}

/* ---- in the file ---- */

/* Is the record in the file? A daemon on another machine may see another file of that name. */
static bool is_there(struct zfile *f, const struct zoffloaded *h)
{
    unsigned char must[ZMPI_RECORD_HEADER_BYTES + 8 + 16 * ZMPI_EXTENT_LEVELS + ZMPI_CODED_HEAD];
    unsigned char is[sizeof must];
    const int fd = zsession_descriptor(f);
    const size_t head = zmpi_record_head_size(&h->record);
    const off_t offset = (off_t)h->record.offset;
    const off_t tail = (off_t)(zmpi_record_payload(&h->record) + h->coded.size - ZMPI_CODED_TAIL);
    zmpi_record_encode(&h->record, f->container.header.id, NULL, must);
    memcpy(must + head, h->coded.head, ZMPI_CODED_HEAD);
    const size_t size = head + ZMPI_CODED_HEAD;
    return zfd_read(fd, is, size, offset) == (ssize_t)size && memcmp(is, must, size) == 0 &&
           zfd_read(fd, is, ZMPI_CODED_TAIL, tail) == ZMPI_CODED_TAIL &&
           memcmp(is, h->coded.tail, ZMPI_CODED_TAIL) == 0;
}

/* Writes the record that was encoded last from the outbox to its place. */
static int write_here(struct zfile *f, const struct zoffloaded *h)
{
    struct zmpi_record *r = &f->outbox.record[--f->outbox.count];
    unsigned char *bytes = f->outbox.bytes + r->offset;
    f->outbox.used = r->offset;
    r->offset = h->record.offset;
    zmpi_record_rebind(bytes, f->container.header.id, r->offset);
    int rc = zwrite_at(f, r->offset, bytes, zmpi_record_size(r));
    return znews_keep(f, r, 1, rc);
}

static int rescue(struct zfile *f, const struct zoffloaded *h)
{
    f->stats.n.records--; /* counted again */
    f->stats.n.bytes_stored -= zmpi_record_size(&h->record);
    f->choice.bytes[h->job.encoder - 1] -= h->record.extent.bytes;
    int rc = encode_here(f, h);
    if (!rc && f->outbox.record[f->outbox.count - 1].payload_length == h->coded.size)
        rc = write_here(f, h);
    return rc;
}

static int land_first(struct zfile *f)
{
    struct zoffloaded *h = &f->offload_write.entry[0];
    int rc;
    double seconds;
    enum zmpi_status status = h->device->writer->written(h->at, &seconds);
    const bool good = !status && is_there(f, h);
    if (good) {
        zmpi_codec_written(&f->choice, zencode_place(h->device),
                           (double)zmpi_record_size(&h->record), seconds, false);
        f->offload_write.written += zmpi_record_size(&h->record);
        rc = znews_keep(f, &h->record, 1, MPI_SUCCESS);
    } else {
        note(f, h, status ? status : ZMPI_ERR_DEVICE,
             status ? problem_of(h) : "it says that data are in the file, but they are not");
        rc = rescue(f, h);
    }
    take_out(&f->offload_write, 0);
    return rc;
}

int zoffload_land(struct zfile *f, size_t most)
{
    int rc = MPI_SUCCESS;
    double start = zmpi_seconds();
    for (; most > 0 && f->offload_write.assigned > 0; most--) {
        int one = land_first(f);
        rc = rc ? rc : one;
    }
    f->stats.n.seconds_write += zmpi_seconds() - start;
    return rc;
}

void zoffload_free(struct zfile *f)
{
    struct zoffload_write *t = &f->offload_write;
    t->keep = 0;
    zoffload_land(f, SIZE_MAX);
    zoffload_forget(f);
    if (t->written)
        zmpi_log(ZMPI_LOG_INFO, "%s: %llu bytes were written by the device", f->path,
                 (unsigned long long)t->written);
    free(t->entry);
    free(t->path);
}
