/*
 * entries.c - records as entries of an index (docs/format.md 2.3).
 *
 * Records that were written alike differ in few fields from the one before, and in those by little.
 * An entry says which fields are not as expected, and by how much, in numbers of as many bytes as
 * they need.
 */
#include "format/entries.h"

#include <stdlib.h>
#include <string.h>

#include "format/format_private.h"

/* Bits that say which fields follow, in this order. */
enum { FORM = 1, LO = 2, EPOCH = 4, NUMBER = 8, RANK = 16, OFFSET = 32, PAYLOAD = 64, FLAGS = 127 };

/* Forms: 0..4 are the levels of a data record. */
enum { FORM_LIST = ZMPI_EXTENT_LEVELS + 1, FORM_SIZE };

/* ---- what is expected ---- */

static uint64_t next_offset(const struct zmpi_chain *c)
{
    return c->last.offset == 0 ? ZMPI_HEADER_BYTES : c->last.offset + zmpi_record_size(&c->last);
}

static uint64_t next_number(const struct zmpi_chain *c, uint64_t epoch)
{
    bool goes_on = c->last.offset != 0 && epoch == c->last.order >> 32;
    return goes_on ? (uint32_t)c->last.order + UINT64_C(1) : 0;
}

static void advance(struct zmpi_chain *c, const struct zmpi_record *r)
{
    c->step = r->extent.lo - c->last.extent.lo;
    c->last = *r;
}

static bool same_form(const struct zmpi_record *a, const struct zmpi_record *b)
{
    const struct zmpi_extent *x = &a->extent, *y = &b->extent;
    bool same = a->kind == b->kind && x->levels == y->levels;
    if (!same || x->levels == ZMPI_EXTENT_LIST || a->kind == ZMPI_RECORD_SIZE)
        return same;
    for (unsigned k = 0; k < x->levels; k++)
        same = same && x->count[k] == y->count[k] && x->stride[k] == y->stride[k];
    return same && x->run == y->run;
}

/* ---- numbers ---- */

static unsigned char *put(unsigned char *p, uint64_t v)
{
    for (; v > 127; v >>= 7)
        *p++ = (unsigned char)(v | 128);
    *p++ = (unsigned char)v;
    return p;
}

/* A difference modulo 2^64: small ones of either sign get short. */
static unsigned char *put_signed(unsigned char *p, uint64_t d)
{
    return put(p, d << 1 ^ (UINT64_C(0) - (d >> 63)));
}

struct source {
    const unsigned char *at, *end;
    enum zmpi_status status; /* of the first thing that was wrong */
};

static uint64_t fail(struct source *s, enum zmpi_status status)
{
    if (s->status == ZMPI_OK)
        s->status = status;
    return 0;
}

/* A number that is not in the fewest bytes is refused. */
static uint64_t get(struct source *s)
{
    uint64_t v = 0;
    for (unsigned shift = 0; s->at < s->end; shift += 7) {
        uint64_t byte = *s->at++;
        if (shift == 63 && byte > 1)
            return fail(s, ZMPI_ERR_CORRUPT);
        v |= (byte & 127) << shift;
        if (byte < 128)
            return byte == 0 && shift > 0 ? fail(s, ZMPI_ERR_CORRUPT) : v;
    }
    return fail(s, ZMPI_ERR_TRUNCATED);
}

/* Not 0: a field equal to its prediction is not written. */
static uint64_t get_signed(struct source *s)
{
    uint64_t v = get(s);
    return v == 0 ? fail(s, ZMPI_ERR_CORRUPT) : v >> 1 ^ (UINT64_C(0) - (v & 1));
}

static uint32_t get_32(struct source *s, bool given, uint64_t expected)
{
    uint64_t v = given ? expected + get_signed(s) : expected;
    return v > UINT32_MAX ? (uint32_t)fail(s, ZMPI_ERR_CORRUPT) : (uint32_t)v;
}

/* ---- encoding ---- */

static unsigned form_of(const struct zmpi_record *r)
{
    if (r->kind == ZMPI_RECORD_SIZE)
        return FORM_SIZE;
    return r->extent.levels == ZMPI_EXTENT_LIST ? FORM_LIST : r->extent.levels;
}

static unsigned char *put_form(unsigned char *p, const struct zmpi_record *r)
{
    const struct zmpi_extent *e = &r->extent;
    unsigned form = form_of(r);
    *p++ = (unsigned char)form;
    if (form > ZMPI_EXTENT_LEVELS)
        return p;
    p = put(p, e->run);
    for (unsigned k = 0; k < e->levels; k++)
        p = put(put(p, e->count[k]), e->stride[k]);
    return p;
}

static size_t encode(const struct zmpi_chain *c, const struct zmpi_record *r,
                     unsigned char dst[ZMPI_ENTRY_MAX])
{
    const struct zmpi_record *last = &c->last;
    uint64_t epoch = r->order >> 32;
    uint64_t lo = r->extent.lo - (last->extent.lo + c->step);
    uint64_t number = (uint32_t)r->order - next_number(c, epoch);
    uint64_t offset = (uint64_t)((int64_t)(r->offset - next_offset(c)) / 8);
    uint64_t payload = r->payload_length - last->payload_length;
    bool epoch_differs = epoch != last->order >> 32, rank_differs = r->rank != last->rank;
    bool form_differs = !same_form(r, last);
    unsigned char *p = dst;
    *p++ = (unsigned char)(FORM * form_differs | LO * (lo != 0) | EPOCH * epoch_differs |
                           NUMBER * (number != 0) | RANK * rank_differs | OFFSET * (offset != 0) |
                           PAYLOAD * (payload != 0));
    if (form_differs)
        p = put_form(p, r);
    if (lo != 0)
        p = put_signed(p, lo);
    if (epoch_differs)
        p = put_signed(p, epoch - (last->order >> 32));
    if (number != 0)
        p = put_signed(p, number);
    if (rank_differs)
        p = put_signed(p, (uint64_t)r->rank - last->rank);
    if (offset != 0)
        p = put_signed(p, offset);
    if (payload != 0)
        p = put_signed(p, payload);
    if (form_of(r) == FORM_LIST)
        p = put(put(put(p, r->extent.hi - r->extent.lo), r->extent.bytes), r->extents_length);
    return (size_t)(p - dst);
}

/* An entry does not hold what follows from its other fields. */
static bool is_right(const struct zmpi_record *r)
{
    struct zmpi_extent e = r->extent;
    if (r->offset % 8 != 0 || r->offset > ZMPI_SIZE_MAX || zmpi_record_check(r) != ZMPI_OK)
        return false;
    return form_of(r) > ZMPI_EXTENT_LEVELS ||
           (zmpi_extent_close(&e) == ZMPI_OK && e.hi == r->extent.hi && e.bytes == r->extent.bytes);
}

static void summarize(struct zmpi_entries *e, const struct zmpi_record *r)
{
    e->lo = e->count == 0 || r->extent.lo < e->lo ? r->extent.lo : e->lo;
    e->hi = r->extent.hi > e->hi ? r->extent.hi : e->hi;
    e->newest = r->order > e->newest ? r->order : e->newest;
    e->sizes += r->kind == ZMPI_RECORD_SIZE;
    e->count++;
}

enum zmpi_status zmpi_entries_add(struct zmpi_entries *e, const struct zmpi_record *r)
{
    if (e->capacity - e->size < ZMPI_ENTRY_MAX) {
        size_t capacity = 2 * e->capacity + ZMPI_ENTRY_MAX;
        unsigned char *grown = realloc(e->data, capacity);
        if (grown == NULL)
            return ZMPI_ERR_MEMORY;
        e->data = grown;
        e->capacity = capacity;
    }
    if (!is_right(r))
        return ZMPI_ERR_ARG;
    e->size += encode(&e->chain, r, e->data + e->size);
    advance(&e->chain, r);
    summarize(e, r);
    return ZMPI_OK;
}

void zmpi_entries_free(struct zmpi_entries *e)
{
    free(e->data);
    memset(e, 0, sizeof *e);
}

/* ---- decoding ---- */

static void get_form(struct source *s, struct zmpi_record *r)
{
    struct zmpi_extent *e = &r->extent;
    uint64_t form = get(s);
    if (form > FORM_SIZE)
        fail(s, ZMPI_ERR_CORRUPT);
    r->kind = form == FORM_SIZE ? ZMPI_RECORD_SIZE : ZMPI_RECORD_DATA;
    e->levels = form < FORM_LIST ? (unsigned)form : form == FORM_LIST ? ZMPI_EXTENT_LIST : 0;
    e->run = form < FORM_LIST ? get(s) : 0;
    for (unsigned k = 0; form < FORM_LIST && k < e->levels; k++) {
        e->count[k] = get(s);
        e->stride[k] = get(s);
    }
}

/* Fields that follow from the form, or come last. */
static void get_extent(struct source *s, struct zmpi_record *r)
{
    struct zmpi_extent *e = &r->extent;
    r->extents_length = 0;
    if (e->levels == ZMPI_EXTENT_LIST) {
        uint64_t span = get(s);
        e->hi = e->lo <= ZMPI_SIZE_MAX && span <= ZMPI_SIZE_MAX ? e->lo + span : UINT64_MAX;
        e->bytes = get(s);
        uint64_t length = get(s);
        r->extents_length = length <= UINT32_MAX ? (uint32_t)length : 0;
    } else if (r->kind == ZMPI_RECORD_SIZE) {
        e->hi = e->lo;
        e->bytes = 0;
    } else if (zmpi_extent_close(e) != ZMPI_OK) {
        fail(s, ZMPI_ERR_CORRUPT);
    } else {
        r->extents_length = (uint32_t)zmpi_extent_nest_size(e->levels);
    }
}

enum zmpi_status zmpi_entry_decode(struct zmpi_chain *chain, const unsigned char **src,
                                   const unsigned char *end)
{
    struct source s = {*src, end, ZMPI_OK};
    struct zmpi_record *r = &chain->last;
    if (s.at == s.end)
        return ZMPI_ERR_TRUNCATED;
    unsigned flags = *s.at++;
    if (flags > FLAGS)
        return ZMPI_ERR_CORRUPT;
    uint64_t offset = next_offset(chain);
    if (flags & FORM)
        get_form(&s, r);
    if (flags & LO)
        chain->step += get_signed(&s);
    r->extent.lo += chain->step;
    uint64_t epoch = get_32(&s, flags & EPOCH, r->order >> 32);
    r->order = epoch << 32 | get_32(&s, flags & NUMBER, next_number(chain, epoch));
    r->rank = get_32(&s, flags & RANK, r->rank);
    r->offset = offset + 8 * (flags & OFFSET ? get_signed(&s) : 0);
    r->payload_length += flags & PAYLOAD ? get_signed(&s) : 0;
    get_extent(&s, r);
    *src = s.at;
    return s.status == ZMPI_OK ? zmpi_record_check(r) : s.status;
}
