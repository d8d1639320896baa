/* disk.c - see disk.h. */
#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, PAGE = 4096 };

/* ---- random numbers: what a seed says of anything ---- */

static uint64_t mix(uint64_t seed, uint64_t what, uint64_t of)
{
    uint64_t x =
        (seed + 1) * 0x9E3779B97F4A7C15U + what * 0xBF58476D1CE4E5B9U + of * 0x94D049BB133111EBU;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
}

static uint64_t below(uint64_t n, uint64_t seed, uint64_t what, uint64_t of)
{
    return mix(seed, what, of) % n;
}

/* ---- images ---- */

void image_resize(struct image *i, size_t size)
{
    if (size > i->capacity) {
        i->capacity = 2 * size;
        i->data = realloc(i->data, i->capacity);
        if (i->data == NULL)
            abort();
    }
    if (size > i->size)
        memset(i->data + i->size, 0, size - i->size);
    i->size = size;
}

static void put(struct image *i, size_t offset, const unsigned char *bytes, size_t size)
{
    if (offset + size > i->size)
        image_resize(i, offset + size);
    memcpy(i->data + offset, bytes, size);
}

static void copy(struct image *to, const struct image *from)
{
    to->size = 0;
    image_resize(to, from->size);
    if (from->size > 0)
        memcpy(to->data, from->data, from->size);
}

/* ---- the log ---- */

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        return NULL;
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*size + 1);
    if (data != NULL && fread(data, 1, *size, f) != *size) {
        free(data);
        data = NULL;
    }
    fclose(f);
    return data;
}

static void apply(struct image *i, const struct step *s)
{
    const struct trace_entry *e = &s->entry;
    if (e->kind == TRACE_WRITE)
        put(i, e->offset, s->bytes, e->bytes);
    else if (e->kind == TRACE_RESIZE || (e->kind == TRACE_GROW && e->offset > i->size))
        image_resize(i, e->offset);
    else if (e->kind == TRACE_PUNCH && e->offset < i->size)
        memset(i->data + e->offset, 0,
               e->length < i->size - e->offset ? e->length : i->size - e->offset);
}

/* Files beside are made empty: the inode may be that of one that is gone. */
static bool is_new(const struct trace_entry *e)
{
    return e->kind == TRACE_RESIZE && e->offset == 0 && !e->named;
}

/* After each fsync the image of its inode. */
static void make_images(struct disk *d)
{
    for (size_t k = 0; k < d->steps; k++) {
        if (d->step[k].entry.kind != TRACE_SYNC && !is_new(&d->step[k].entry))
            continue;
        const uint64_t inode = d->step[k].entry.inode;
        struct image *i = calloc(1, sizeof *i);
        if (i == NULL)
            abort();
        d->step[k].image = i;
        if (is_new(&d->step[k].entry))
            continue;
        size_t from = k;
        while (from > 0 &&
               (d->step[from - 1].image == NULL || d->step[from - 1].entry.inode != inode))
            from--;
        if (from > 0)
            copy(i, d->step[from - 1].image);
        for (; from < k; from++)
            if (d->step[from].entry.inode == inode)
                apply(i, &d->step[from]);
    }
}

bool disk_load(struct disk *d, const char *path)
{
    size_t size, capacity = 0;
    *d = (struct disk){0};
    d->log = read_file(path, &size);
    for (size_t at = 0; d->log != NULL && size - at >= sizeof(struct trace_entry);) {
        if (d->steps == capacity) {
            capacity = 2 * capacity + 256;
            d->step = realloc(d->step, capacity * sizeof *d->step);
            if (d->step == NULL)
                abort();
        }
        struct step *s = &d->step[d->steps];
        *s = (struct step){0};
        memcpy(&s->entry, d->log + at, sizeof s->entry);
        at += sizeof s->entry;
        s->bytes = d->log + at;
        if (s->entry.bytes > size - at) /* its program was killed */
            break;
        at += s->entry.bytes;
        if (d->inode == 0 && s->entry.named)
            d->inode = s->entry.inode;
        d->steps++;
    }
    if (d->inode == 0) {
        fprintf(stderr, "FAIL: %s: no trace of a file\n", path);
        return false;
    }
    make_images(d);
    return true;
}

void disk_free(struct disk *d)
{
    for (size_t k = 0; k < d->steps; k++) {
        if (d->step[k].image != NULL)
            free(d->step[k].image->data);
        free(d->step[k].image);
    }
    free(d->step);
    free(d->log);
}

/* ---- a state ---- */

enum way { SOME, ALL_BUT_ONE, ONLY_ONE, TORN, TORN_ONE, MOMENTS, WAYS };

/* What the seed has chosen. */
struct choice {
    uint64_t seed;
    enum way way;
    size_t unit;   /* where writes are torn */
    uint64_t part; /* of 16: how much is there */
    size_t first;  /* step that is not safe */
    size_t steps;
    size_t one; /* step */
    uint64_t inode;
    size_t *moment, units;
};

enum {
    OF_CUT,
    OF_WAY,
    OF_UNIT,
    OF_PART,
    OF_ONE,
    OF_STEP,
    OF_PIECE,
    OF_MOMENT,
    OF_META,
    OF_SIZE,
    OF_NAME
};

/* Does the file have unit `unit` as step k wrote it? */
static bool is_there(const struct choice *c, size_t k, uint64_t unit)
{
    const bool lucky = below(16, c->seed, OF_STEP, k) < c->part;
    const bool piece = below(16, c->seed, OF_PIECE, k * 1000003 + unit) < c->part;
    switch (c->way) {
    case SOME:
        return lucky;
    case ALL_BUT_ONE:
        return k != c->one;
    case ONLY_ONE:
        return k == c->one;
    case TORN: /* of each three writes one is there, one is missing, one is torn */
        switch (below(3, c->seed, OF_STEP, k)) {
        case 0:
            return true;
        case 1:
            return false;
        default:
            return piece;
        }
    case TORN_ONE:
        return k != c->one || piece;
    default:
        return k < c->first + below(c->steps - c->first + 1, c->seed, OF_MOMENT, unit);
    }
}

/* Where the part of a write that begins at `at` in one unit ends. */
static uint64_t unit_end(const struct choice *c, const struct step *s, uint64_t at)
{
    const uint64_t next = (at / c->unit + 1) * c->unit, end = s->entry.offset + s->entry.bytes;
    return next < end ? next : end;
}

/* For each unit the last step that it has; it has all earlier ones, too. */
static void find_moments(const struct disk *d, const struct choice *c)
{
    memset(c->moment, 0, c->units * sizeof *c->moment);
    for (size_t k = c->first; k < c->steps; k++) {
        const struct step *s = &d->step[k];
        if (s->entry.inode != c->inode || s->entry.kind != TRACE_WRITE)
            continue;
        const uint64_t end = s->entry.offset + s->entry.bytes;
        for (uint64_t at = s->entry.offset; at < end; at = unit_end(c, s, at))
            if (is_there(c, k, at / c->unit))
                c->moment[at / c->unit] = k;
    }
}

static void apply_write(const struct choice *c, size_t k, const struct step *s, uint64_t limit,
                        struct image *i)
{
    const uint64_t end = s->entry.offset + s->entry.bytes;
    for (uint64_t at = s->entry.offset, next; at < end && at < limit; at = next) {
        next = unit_end(c, s, at);
        if (k <= c->moment[at / c->unit])
            put(i, at, s->bytes + (at - s->entry.offset), (next < limit ? next : limit) - at);
    }
}

static const char *const names[WAYS] = {"some writes are missing", "one write is missing",
                                        "one write is there",      "writes are torn",
                                        "one write is torn",       "each unit has its moment"};

static void choose(const struct disk *d, uint64_t inode, struct state *s, struct choice *c)
{
    size_t writes = 0, end = 0;
    *c = (struct choice){.seed = s->seed, .steps = s->steps, .inode = inode};
    c->way = (enum way)below(WAYS, s->seed, OF_WAY, 0);
    c->unit = below(2, s->seed, OF_UNIT, 0) ? SECTOR : PAGE;
    c->part = 1 + below(15, s->seed, OF_PART, 0);
    s->image.size = 0;
    for (size_t k = s->steps; k > 0 && c->first == 0; k--)
        if (d->step[k - 1].image != NULL && d->step[k - 1].entry.inode == inode) {
            copy(&s->image, d->step[k - 1].image);
            c->first = k;
        }
    for (size_t k = c->first; k < s->steps; k++) {
        const struct trace_entry *e = &d->step[k].entry;
        if (e->inode != inode || e->kind != TRACE_WRITE)
            continue;
        if (below(++writes, s->seed, OF_ONE, k) == 0)
            c->one = k;
        end = e->offset + e->bytes > end ? e->offset + e->bytes : end;
    }
    c->units = end / c->unit + 1;
    c->moment = malloc(c->units * sizeof *c->moment);
    if (c->moment == NULL)
        abort();
    find_moments(d, c);
    snprintf(s->way, sizeof s->way, "%s (%zu in doubt), units of %zu, step %zu of %zu",
             names[c->way], writes, c->unit, s->steps, d->steps);
}

/* The file's inode: a new name is on the disk with the next fsync, or earlier. */
static uint64_t choose_inode(const struct disk *d, const struct state *s)
{
    uint64_t inode = d->inode, renamed = 0;
    for (size_t k = 0; k < s->steps; k++) {
        const struct trace_entry *e = &d->step[k].entry;
        if (e->kind == TRACE_RENAME)
            renamed = e->inode;
        if (renamed != 0 && (e->kind == TRACE_SYNC || below(2, s->seed, OF_NAME, k))) {
            inode = renamed;
            renamed = 0;
        }
    }
    return inode;
}

void disk_state(const struct disk *d, uint64_t seed, struct state *s)
{
    struct choice c;
    s->seed = seed;
    /* At any moment; of three once when all is written. */
    s->steps = below(3, seed, OF_CUT, 1) ? 1 + below(d->steps, seed, OF_CUT, 0) : d->steps;
    const uint64_t inode = s->inode = choose_inode(d, s);
    choose(d, inode, s, &c);
    uint64_t limit = UINT64_MAX, whole = s->image.size; /* what a lost change of size made */
    bool lost = false;
    for (size_t k = c.first; k < s->steps; k++) {
        const struct step *step = &d->step[k];
        if (step->entry.inode != inode)
            continue;
        if (step->entry.kind == TRACE_WRITE) {
            const uint64_t end = step->entry.offset + step->entry.bytes;
            apply_write(&c, k, step, limit, &s->image);
            whole = end > whole ? end : whole;
            continue;
        }
        if (step->entry.kind == TRACE_SYNC || step->entry.kind == TRACE_RENAME)
            continue;
        lost = lost || below(4, seed, OF_META, k) == 0;
        if (!lost)
            apply(&s->image, step);
        else if (step->entry.kind == TRACE_RESIZE && step->entry.offset < limit)
            limit = step->entry.offset;
        if (!lost && step->entry.kind != TRACE_PUNCH)
            whole = s->image.size;
    }
    if (!lost && whole > s->image.size && below(2, seed, OF_SIZE, 0))
        image_resize(&s->image, whole);
    free(c.moment);
}
