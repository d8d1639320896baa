/*
 * container_read.c - reads the logical bytes of a container (docs/format.md 2.4).
 *
 * It goes from the newest record to the oldest. Each record serves the bytes that no newer one has
 * served, so that only visible bytes are read and decoded. Bytes that no record serves are holes.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

/* The most records of one request, at about 200 bytes each. A request with more is halved, unless
 * it has fewer bytes than PART_LEAST. */
#define RECORDS_MOST 65536
#define PART_LEAST   65536

struct copies {
    struct zmpi_copy *copy;
    size_t count, capacity;
};

/* Adds a copy, or lengthens the last one if it continues on both sides. */
static enum zmpi_status add_copy(struct copies *list, uint64_t from, uint64_t to, uint64_t length)
{
    if (list->count > 0) {
        struct zmpi_copy *last = &list->copy[list->count - 1];
        if (last->from + last->length == from && last->to + last->length == to) {
            last->length += length;
            return ZMPI_OK;
        }
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        struct zmpi_copy *grown = realloc(list->copy, capacity * sizeof *grown);
        if (grown == NULL)
            return ZMPI_ERR_MEMORY;
        list->copy = grown;
        list->capacity = capacity;
    }
    list->copy[list->count++] = (struct zmpi_copy){from, to, length};
    return ZMPI_OK;
}

static uint64_t least(uint64_t a, uint64_t b, uint64_t c)
{
    b = c < b ? c : b;
    return b < a ? b : a;
}

/*
 * Adds a copy for every uncovered byte that the extent has below logical byte `cut`, and takes
 * these bytes out of `uncovered`. A search in one of the two skips gaps in the other.
 */
static enum zmpi_status intersect(const struct zmpi_extent *e, uint64_t cut,
                                  struct zmpi_uncovered *uncovered, struct copies *copies)
{
    struct zmpi_piece piece;
    uint64_t at = e->lo;                        /* all bytes before it are done */
    uint64_t i = 0, runs = zmpi_extent_runs(e); /* the first run that ends behind `at` */
    while (zmpi_uncovered_find(uncovered, at, &piece) && piece.offset < cut) {
        uint64_t begin = piece.offset > at ? piece.offset : at, position;
        if (begin > at)
            i = zmpi_extent_seek(e, begin);
        if (i >= runs)
            break;
        struct zmpi_run run = zmpi_extent_run(e, i, &position);
        begin = run.offset > begin ? run.offset : begin;
        if (begin >= cut)
            break;
        at = begin;
        if (begin >= piece.offset + piece.length)
            continue;
        uint64_t end = least(cut, run.offset + run.length, piece.offset + piece.length);
        enum zmpi_status status = add_copy(copies, position + (begin - run.offset),
                                           piece.position + (begin - piece.offset), end - begin);
        if (status == ZMPI_OK)
            status = zmpi_uncovered_cut(uncovered, begin, end);
        if (status != ZMPI_OK)
            return status;
        at = end;
        i += end == run.offset + run.length;
    }
    return ZMPI_OK;
}

static int newest_first(const void *a, const void *b)
{
    const struct zmpi_found *x = a, *y = b;
    return zmpi_record_compare(&y->record, &x->record);
}

/* A request, and its state. */
struct request {
    struct zmpi_container *c;
    const struct zmpi_reader *in;
    const struct zmpi_record *below; /* take only records older than this one; NULL: all */
    struct zmpi_uncovered uncovered;
    struct copies copies;
    uint64_t base; /* the logical byte at dst, for in->losses */
    unsigned char *dst;
};

static enum zmpi_status read_older(struct request *q, const struct zmpi_record *below,
                                   const struct zmpi_loss *loss);

/* An unreadable list may have covered the bytes between lo and hi that are still uncovered. */
static enum zmpi_status add_unreadable(struct request *q, const struct zmpi_found *f,
                                       enum zmpi_status why)
{
    enum zmpi_status status = ZMPI_OK;
    struct zmpi_piece piece;
    const uint64_t hi = least(f->cut, f->record.extent.hi, UINT64_MAX);
    for (uint64_t at = f->record.extent.lo;
         status == ZMPI_OK && zmpi_uncovered_find(&q->uncovered, at, &piece) && piece.offset < hi;
         at = piece.offset + piece.length) {
        const uint64_t begin = piece.offset > at ? piece.offset : at;
        const uint64_t end = least(piece.offset + piece.length, hi, UINT64_MAX);
        status =
            zmpi_losses_add(q->in->losses, &(struct zmpi_loss){begin, end - begin, f->record.offset,
                                                               why, ZMPI_LOSS_DOUBTFUL});
    }
    return status;
}

/* Reads the good chunks of a damaged record. If no index lists the record, it may never have been
 * complete: its lost bytes are read from older records. */
static enum zmpi_status salvage(struct request *q, const struct zmpi_record *r)
{
    struct zmpi_losses lost = {0};
    struct zmpi_reader in = *q->in;
    in.losses = &lost;
    enum zmpi_status status = zmpi_record_salvage(r, q->c->header.id, &in, q->copies.copy,
                                                  q->copies.count, q->base, q->dst);
    const bool promised = r->offset < q->c->header.log_end;
    for (size_t i = 0; i < lost.count && status == ZMPI_OK; i++) {
        lost.loss[i].kind = promised ? ZMPI_LOSS_LOST : ZMPI_LOSS_DOUBTFUL;
        status = zmpi_losses_add(q->in->losses, &lost.loss[i]);
        if (status == ZMPI_OK && !promised)
            status = read_older(q, r, &lost.loss[i]);
    }
    zmpi_losses_free(&lost);
    return status;
}

static bool is_damage(enum zmpi_status status)
{
    return status != ZMPI_OK && status != ZMPI_ERR_MEMORY && status != ZMPI_ERR_SPACE;
}

static enum zmpi_status serve(struct request *q, struct zmpi_found *f)
{
    struct zmpi_record *r = &f->record;
    struct zmpi_piece piece;
    if (!zmpi_uncovered_find(&q->uncovered, r->extent.lo, &piece) || piece.offset >= r->extent.hi)
        return ZMPI_OK;
    enum zmpi_status status = zmpi_container_list(q->c, q->in, r);
    if (is_damage(status) && q->in->losses != NULL)
        return add_unreadable(q, f, status);
    q->copies.count = 0;
    if (status == ZMPI_OK)
        status = intersect(&r->extent, f->cut, &q->uncovered, &q->copies);
    if (status != ZMPI_OK || q->copies.count == 0)
        return status;
    status = zmpi_record_read(r, q->c->header.id, q->in, q->copies.copy, q->copies.count, q->dst);
    return is_damage(status) && q->in->losses != NULL ? salvage(q, r) : status;
}

/* Reads one record after the other: damaged ones, or those whose destination is a device's
 * memory. */
static enum zmpi_status serve_each(struct request *q, const struct zmpi_found *found, size_t n)
{
    const struct copies all = q->copies;
    enum zmpi_status status = ZMPI_OK;
    for (size_t k = 0; k < n && status == ZMPI_OK; k++) {
        const struct zmpi_record *r = &found[k].record;
        status = zmpi_components_copies(all.copy, all.count, n, n - 1 - k, (size_t)r->extent.run,
                                        &q->copies.copy, &q->copies.count);
        if (status == ZMPI_OK && q->copies.count > 0)
            status = zmpi_record_read(r, q->c->header.id, q->in, q->copies.copy, q->copies.count,
                                      q->dst);
        if (is_damage(status) && q->in->losses != NULL)
            status = salvage(q, r);
        free(q->copies.copy);
    }
    q->copies = all;
    return status;
}

/* Reads n records that are the components of one call and cover *all together. */
static enum zmpi_status serve_components(struct request *q, const struct zmpi_found *found,
                                         size_t n, const struct zmpi_extent *all)
{
    q->copies.count = 0;
    enum zmpi_status status = intersect(all, all->hi, &q->uncovered, &q->copies);
    if (status != ZMPI_OK || q->copies.count == 0)
        return status;
    status = q->in->holder != NULL ? ZMPI_ERR_UNSUPPORTED
                                   : zmpi_components_read(found, n, q->c->header.id, q->in,
                                                          q->copies.copy, q->copies.count, q->dst);
    return status != ZMPI_OK ? serve_each(q, found, n) : status;
}

static enum zmpi_status zero(const struct zmpi_device *holder, unsigned char *dst, uint64_t bytes)
{
    static const unsigned char zeros[65536];
    enum zmpi_status status = ZMPI_OK;
    if (holder == NULL) {
        memset(dst, 0, bytes);
        return ZMPI_OK;
    }
    for (uint64_t at = 0; at < bytes && status == ZMPI_OK; at += sizeof zeros)
        status = zmpi_device_move(holder, dst + at, zeros,
                                  least(bytes - at, sizeof zeros, sizeof zeros));
    return status;
}

static enum zmpi_status zero_uncovered(const struct request *q)
{
    const struct zmpi_losses *l = q->in->losses;
    struct zmpi_piece piece;
    enum zmpi_status status = ZMPI_OK;
    for (uint64_t at = 0; status == ZMPI_OK && zmpi_uncovered_find(&q->uncovered, at, &piece);
         at = piece.offset + piece.length) {
        status = zero(q->in->holder, q->dst + piece.position, piece.length);
        if (status == ZMPI_OK && l != NULL && l->holes)
            status = zmpi_losses_add(q->in->losses,
                                     &(struct zmpi_loss){piece.offset, piece.length, 0,
                                                         ZMPI_ERR_CORRUPT, ZMPI_LOSS_UNKNOWN});
    }
    return status;
}

/* Reads a request. With more than `limit` records it returns ZMPI_ERR_SPACE and does nothing. */
static enum zmpi_status read_request(struct request *q, size_t limit, uint64_t *bad)
{
    struct zmpi_finds finds = {.limit = limit};
    enum zmpi_status status = ZMPI_OK;
    if (q->uncovered.count > 0)
        status = zmpi_container_find(q->c, q->in, &q->uncovered, &finds, bad);
    if (status == ZMPI_OK && finds.count > 0)
        qsort(finds.found, finds.count, sizeof *finds.found, newest_first);
    for (size_t k = 0; status == ZMPI_OK && k < finds.count && q->uncovered.count > 0; k++) {
        struct zmpi_extent all;
        size_t n = 1;
        if (q->below != NULL && zmpi_record_compare(&finds.found[k].record, q->below) >= 0)
            continue;
        if (q->below == NULL)
            n = zmpi_components_group(&finds.found[k], finds.count - k, &all);
        status = n > 1 ? serve_components(q, &finds.found[k], n, &all) : serve(q, &finds.found[k]);
        if (status != ZMPI_OK && bad != NULL)
            *bad = finds.found[k].record.offset;
        k += n - 1;
    }
    if (status == ZMPI_OK)
        status = zero_uncovered(q);
    free(finds.found);
    free(q->copies.copy);
    return status;
}

static enum zmpi_status read_part(struct zmpi_container *c, const struct zmpi_reader *in,
                                  const struct zmpi_run *runs, size_t n, size_t limit,
                                  unsigned char *dst, uint64_t *bad)
{
    struct request q = {.c = c, .in = in, .base = n > 0 ? runs[0].offset : 0, .dst = dst};
    enum zmpi_status status = zmpi_uncovered_init(&q.uncovered, runs, n);
    if (status != ZMPI_OK)
        return status;
    status = read_request(&q, limit, bad);
    zmpi_uncovered_free(&q.uncovered);
    return status;
}

static enum zmpi_status read_older(struct request *q, const struct zmpi_record *below,
                                   const struct zmpi_loss *loss)
{
    const struct zmpi_run run = {loss->offset, loss->length};
    struct request older = {.c = q->c,
                            .in = q->in,
                            .below = below,
                            .base = loss->offset,
                            .dst = q->dst + (loss->offset - q->base)};
    enum zmpi_status status = zmpi_uncovered_init(&older.uncovered, &run, 1);
    if (status != ZMPI_OK)
        return status;
    status = read_request(&older, SIZE_MAX, NULL);
    zmpi_uncovered_free(&older.uncovered);
    return status;
}

/* Reads a request in two halves if its records would take too much memory at once. */
static enum zmpi_status read_halves(struct zmpi_container *c, const struct zmpi_reader *in,
                                    struct zmpi_run *runs, size_t n, unsigned char *dst,
                                    uint64_t *bad)
{
    uint64_t bytes = 0, first = 0;
    for (size_t i = 0; i < n; i++)
        bytes += runs[i].length;
    enum zmpi_status status =
        read_part(c, in, runs, n, bytes > PART_LEAST ? RECORDS_MOST : SIZE_MAX, dst, bad);
    if (status != ZMPI_ERR_SPACE)
        return status;
    size_t k = 0; /* the run in which the second half begins */
    while (first + runs[k].length <= bytes / 2)
        first += runs[k++].length;
    struct zmpi_run whole = runs[k];
    runs[k].length = bytes / 2 - first;
    status = read_halves(c, in, runs, k + 1, dst, bad);
    runs[k].offset = whole.offset + runs[k].length;
    runs[k].length = whole.length - runs[k].length;
    if (status == ZMPI_OK)
        status = read_halves(c, in, runs + k, n - k, dst + bytes / 2, bad);
    runs[k] = whole;
    return status;
}

enum zmpi_status zmpi_container_read(struct zmpi_container *c, const struct zmpi_reader *in,
                                     const struct zmpi_run *runs, size_t n, void *dst,
                                     uint64_t *bad)
{
    enum zmpi_status status = zmpi_container_seal(c, in);
    if (status == ZMPI_OK)
        status = read_part(c, in, runs, n, RECORDS_MOST, dst, bad);
    if (status != ZMPI_ERR_SPACE)
        return status;
    struct zmpi_run *copy = malloc(n * sizeof *copy);
    if (copy == NULL)
        return ZMPI_ERR_MEMORY;
    memcpy(copy, runs, n * sizeof *copy);
    status = read_halves(c, in, copy, n, dst, bad);
    free(copy);
    return status;
}
