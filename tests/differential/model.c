/* model.c - files and views as the standard has them: bytes, sizes, positions. */
#include "differential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void model_init(struct model *m, int ranks)
{
    memset(m, 0, sizeof *m);
    m->ranks = ranks;
    for (int i = 0; i < FILES; i++)
        m->file[i].byte = need(calloc(FILE_BYTES, sizeof(struct byte)));
}

void model_reset(struct model *m)
{
    types_free(&m->types);
    m->types.built = m->types.refused = 0;
    memset(m->handle, 0, sizeof m->handle);
    for (int i = 0; i < FILES; i++) {
        struct byte *byte = m->file[i].byte;
        memset(byte, 0, (size_t)m->file[i].touched * sizeof *byte);
        m->file[i] = (struct file){.byte = byte};
    }
}

void model_free(struct model *m)
{
    types_free(&m->types);
    for (int i = 0; i < FILES; i++)
        free(m->file[i].byte);
}

/* ---- views ---- */

int64_t view_etype(const struct model *m, const struct view *v)
{
    const struct type *t = type_get(&m->types, v->etype);
    return t ? t->size : 1; /* the default view */
}

/* Offset of data byte `position`. */
static int64_t offset_in(const struct type *t, int64_t position)
{
    int64_t rest = position % t->size;
    int i = t->even ? (int)(rest / t->part[0].size) : 0;
    rest -= (int64_t)i * t->part[0].size;
    while (rest >= t->part[i].size)
        rest -= t->part[i++].size;
    return position / t->size * t->extent + t->part[i].offset + rest;
}

int64_t view_offset(const struct model *m, const struct view *v, int64_t position)
{
    const struct type *t = type_get(&m->types, v->filetype);
    if (!t)
        return v->displacement + position;
    return v->displacement + (t->size ? offset_in(t, position) : 0);
}

int64_t view_end(const struct model *m, const struct view *v, int64_t size)
{
    const struct type *t = type_get(&m->types, v->filetype);
    const int64_t etype = view_etype(m, v), left = size - v->displacement;
    if (left <= 0 || (t && (t->size == 0 || t->extent == 0)))
        return 0;
    if (!t)
        return (left + etype - 1) / etype;
    const struct part *last = &t->part[t->parts - 1];
    const int64_t tiles = (left - last->offset - last->size) / t->extent; /* that lie below */
    int64_t below = tiles > 0 ? tiles * t->size : 0;
    while (view_offset(m, v, below) < size)
        below++;
    return (below + etype - 1) / etype;
}

int64_t model_size(const struct model *m, int handle, int rank)
{
    const struct file *f = &m->file[m->handle[handle].file];
    const int actor = handle * RANKS + rank;
    int64_t mine = f->end[actor] > f->size ? f->end[actor] : f->size;
    for (int i = 0; i < ACTORS; i++)
        if (f->end[i] > mine)
            return -1;
    return f->busy_size ? -1 : mine;
}

/* ---- data ---- */

/* Bytes that compress well, badly, and as floats; none of them often zero, which holes are. */
void fill(unsigned char *data, int64_t n, int64_t seed, int style)
{
    struct chance c = {(uint64_t)seed * 977 + 5};
    uint64_t word = 0;
    for (int64_t i = 0; i < n; i++) {
        float f = 100.0F + (float)(seed % 50) + 0.25F * (float)(i / 4);
        double d = 1e3 + (double)(seed % 50) - 1e-3 * (double)(i / 8);
        if (i % 8 == 0)
            word = chance_next(&c);
        switch (style) {
        case 0:
            data[i] = (unsigned char)(word >> i % 8 * 8);
            break;
        case 1:
            data[i] = (unsigned char)(i % 4 == 0 ? (seed + i / 4) % 200 + 1 : 0);
            break;
        case 2:
            data[i] = ((unsigned char *)&f)[i % 4];
            break;
        case 3:
            data[i] = ((unsigned char *)&d)[i % 8];
            break;
        case 4:
            data[i] = (unsigned char)(seed % 255 + 1);
            break;
        default: /* NaN and the like */
            data[i] = (unsigned char)(i % 4 > 1 ? 0xff : word >> i % 8 * 8);
        }
    }
}

/* Multiples of 0.25, which a bound of an eighth keeps as they are, and what every bound does. */
static double number(struct chance *c, int64_t seed, int64_t i, int style)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e20};
    const double base = 100.0 + (double)(seed % 50);
    switch (style) {
    case 0:
        return 0.25 * (double)(1 + chance_below(c, 20000));
    case 1:
        return base + 0.25 * (double)(i % 7 + chance_below(c, 3));
    case 2:
        return base;
    case 3:
        return base - 2.5 * (double)i;
    case 4:
        return chance_of(c, 90) ? base + 0.25 * (double)i : 0;
    default:
        return chance_of(c, 90) ? base + 0.25 * (double)i : special[chance_below(c, 5)];
    }
}

/* The numbers among the elements; the rest stays as it is. */
static void fill_numbers(const struct type *t, unsigned char *data, int64_t n, int64_t seed,
                         int style)
{
    struct chance c = {(uint64_t)seed * 977 + 6};
    for (int64_t i = 0, k = 0; k < n; k += t->part[i++ % t->parts].size) {
        const struct part *part = &t->part[i % t->parts];
        if (!part->is_number)
            continue;
        const double d = number(&c, seed, i, style);
        const float f = (float)d;
        memcpy(data + k, part->size == 4 ? (const void *)&f : (const void *)&d, (size_t)part->size);
    }
}

/* The same bytes of memory may be written from twice. */
void move_data(const struct model *m, const struct line *l, const struct move *v, int rank,
               unsigned char *data)
{
    const struct type *t = type_get(&m->types, v->type);
    int64_t low, high;
    type_span(t, v->count, &low, &high);
    unsigned char *memory = need(malloc((size_t)(high - low) + 1));
    const int64_t seed = line_arg(l, 3) * RANKS + rank;
    fill(data, v->bytes, seed, (int)line_arg(l, 4));
    if (m->numbers)
        fill_numbers(t, data, v->bytes, seed, (int)line_arg(l, 4));
    type_scatter(t, v->count, memory - low, data, v->bytes);
    type_gather(t, v->count, memory - low, data);
    free(memory);
}

void moves_free(struct move move[RANKS])
{
    for (int r = 0; r < RANKS; r++) {
        free(move[r].offset);
        move[r] = (struct move){0};
    }
}

/* ---- synchronisation ---- */

/* All that was written before is now what everybody sees. */
static void synchronise(struct file *f)
{
    for (int i = 0; i < ACTORS; i++) {
        f->size = f->end[i] > f->size ? f->end[i] : f->size;
        f->end[i] = 0;
    }
    for (int64_t k = 0; k < f->touched; k++) {
        f->byte[k].writer = 0;
        f->byte[k].readers = 0;
    }
    f->seen = 0;
}

static void forget_busy(struct file *f)
{
    for (int64_t k = 0; k < f->touched; k++)
        f->byte[k].busy = 0;
    f->busy_size = false;
}

static bool is_open(const struct model *m, int file)
{
    for (int h = 0; h < HANDLES; h++)
        if (m->handle[h].open && m->handle[h].file == file)
            return true;
    return false;
}

/* Then what one actor wrote is there for all at once. Those who opened the file read-only are
 * excepted: MPI asks them for MPI_File_sync, in atomic mode too (13.6.1), and they need it. */
static bool all_atomic(const struct model *m, int file)
{
    int readers = 0, handles = 0;
    for (int h = 0; h < HANDLES; h++) {
        if (!m->handle[h].open || m->handle[h].file != file)
            continue;
        if (!m->handle[h].atomic)
            return false;
        handles++;
        readers += (m->handle[h].amode & MPI_MODE_RDONLY) != 0;
    }
    return handles == 1 || readers == 0;
}

static void resize(struct file *f, int64_t size)
{
    for (int64_t k = size; k < f->size; k++)
        f->byte[k].value = 0;
    f->size = size;
    f->touched = size > f->touched ? size : f->touched;
}

/* ---- what lines do ---- */

static void apply_open(struct model *m, const struct line *l)
{
    struct file *f = &m->file[line_arg(l, 0)];
    struct handle *h = &m->handle[line_arg(l, 1)];
    if (!model_open_works(m, l))
        return;
    f->exists = true;
    *h = (struct handle){.open = true,
                         .file = (int)line_arg(l, 0),
                         .ranks = (int)line_arg(l, 2) & ((1 << m->ranks) - 1),
                         .amode = (int)line_arg(l, 3),
                         .same_view = true};
    h->raw = f->raw;
    for (int r = 0; r < RANKS; r++) {
        h->view[r] = (struct view){0, -1, -1};
        h->position[r] = h->amode & MPI_MODE_APPEND ? f->size : 0;
    }
    h->shared = h->position[0];
}

static void apply_close(struct model *m, struct handle *h)
{
    struct file *f = &m->file[h->file];
    h->open = false;
    if (is_open(m, h->file))
        return;
    synchronise(f);
    if (h->amode & MPI_MODE_DELETE_ON_CLOSE) {
        resize(f, 0);
        f->exists = f->raw = false;
    }
}

static void apply_raw(struct file *f, const struct line *l)
{
    static unsigned char data[FILE_BYTES];
    resize(f, 0);
    resize(f, line_arg(l, 1));
    fill(data, f->size, line_arg(l, 2), 0);
    for (int64_t k = 0; k < f->size; k++)
        f->byte[k].value = data[k];
    f->exists = f->raw = true;
}

static void apply_view(struct model *m, struct handle *h, const struct line *l)
{
    h->same_view = true;
    for (int r = 0; r < m->ranks; r++) {
        int64_t displacement = line_rank_arg(l, 1, 3, r, 0);
        if (displacement == MPI_DISPLACEMENT_CURRENT && h->amode & MPI_MODE_SEQUENTIAL)
            displacement = view_offset(m, &h->view[r], h->shared);
        h->view[r] =
            (struct view){displacement, line_rank_arg(l, 1, 3, r, 1), line_rank_arg(l, 1, 3, r, 2)};
        h->position[r] = 0;
    }
    h->shared = 0;
    for (int r = 0; r < m->ranks; r++)
        for (int q = 0; q < r; q++)
            if (h->ranks >> r & h->ranks >> q & 1 &&
                (h->view[q].displacement != h->view[r].displacement ||
                 h->view[q].etype != h->view[r].etype ||
                 h->view[q].filetype != h->view[r].filetype))
                h->same_view = false;
}

static void apply_move(struct model *m, int handle, int rank, const struct call *c,
                       const struct line *l, struct move *v)
{
    static unsigned char data[ACCESS_BYTES];
    struct handle *h = &m->handle[handle];
    struct file *f = &m->file[h->file];
    const int actor = handle * RANKS + rank;
    const bool later = c->how == NONBLOCKING || c->how == NONBLOCKING_ALL || c->how == SPLIT;
    if (c->writes)
        move_data(m, l, v, rank, data);
    for (int64_t i = 0; i < v->available; i++) {
        struct byte *b = &f->byte[v->offset[i]];
        if (v->offset[i] >= f->touched)
            f->touched = v->offset[i] + 1;
        if (c->writes) {
            b->value = data[i];
            b->writer = (unsigned char)(actor + 1);
        } else {
            b->readers |= (unsigned short)(1 << actor);
        }
        if (later)
            b->busy |= c->writes ? 2 : 1;
    }
    int64_t end = v->available && c->writes ? v->offset[v->available - 1] + 1 : 0;
    if (v->available < v->bytes) {
        f->seen |= 1 << actor;
        f->busy_size = f->busy_size || later;
    }
    if (end > f->size && end > f->end[actor]) {
        f->end[actor] = end;
        f->busy_size = f->busy_size || later;
    }
    if (c->where == POINTER)
        h->position[rank] = v->available < v->bytes ? -1 : v->position + v->bytes;
    if (c->where == SHARED && h->shared >= 0)
        h->shared = v->available < v->bytes ? -1 : v->position + v->bytes;
    if (c->how == NONBLOCKING || c->how == NONBLOCKING_ALL)
        h->flights[rank]++;
}

static void apply_access(struct model *m, const struct line *l, struct move move[RANKS])
{
    const int handle = (int)line_arg(l, 0);
    const struct call *c = &calls[line_arg(l, 1)];
    for (int r = 0; r < m->ranks; r++)
        if (move[r].takes_part)
            apply_move(m, handle, r, c, l, &move[r]);
    if (c->how == SPLIT)
        m->handle[handle].split = (int)line_arg(l, 1) + 1;
}

static void apply_seek(struct model *m, struct handle *h, const struct line *l)
{
    const int64_t whence = line_arg(l, 2);
    for (int r = 0; r < m->ranks; r++) {
        if (!(h->ranks & line_arg(l, 1) & 1 << r))
            continue;
        const int handle = (int)(h - m->handle);
        int64_t etype = view_etype(m, &h->view[r]), at = line_rank_arg(l, 3, 1, r, 0) * etype;
        if (whence == MPI_SEEK_CUR)
            at += h->position[r] / etype * etype;
        if (whence == MPI_SEEK_END) {
            at += view_end(m, &h->view[r], model_size(m, handle, r)) * etype;
            m->file[h->file].seen |= 1 << (handle * RANKS + r);
        }
        h->position[r] = at;
    }
}

static void apply_seek_shared(struct model *m, struct handle *h, const struct line *l)
{
    const int64_t whence = line_arg(l, 1);
    const int first = __builtin_ctz((unsigned)h->ranks);
    int64_t etype = view_etype(m, &h->view[first]), at = line_arg(l, 2) * etype;
    if (whence == MPI_SEEK_CUR)
        at += h->shared / etype * etype;
    if (whence == MPI_SEEK_END) {
        at += view_end(m, &h->view[first], model_size(m, (int)(h - m->handle), first)) * etype;
        m->file[h->file].seen |= h->ranks << ((h - m->handle) * RANKS);
    }
    h->shared = at;
}

static void apply_delete(struct file *f)
{
    resize(f, 0);
    f->exists = f->raw = false;
}

/* A line that names a file, not a handle. */
static void apply_file(struct file *f, const struct line *l)
{
    switch (l->what) {
    case LINE_RAW:
        apply_raw(f, l);
        break;
    case LINE_DELETE:
        apply_delete(f);
        break;
    default: /* LINE_SYNC */
        synchronise(f);
        break;
    }
}

void model_apply(struct model *m, const struct line *l, struct move move[RANKS])
{
    struct handle *h = &m->handle[line_arg(l, 0) % HANDLES];
    struct file *f = &m->file[h->file];
    switch (l->what) {
    case LINE_TYPE:
        type_define(&m->types, l);
        break;
    case LINE_RAW:
    case LINE_DELETE:
    case LINE_SYNC:
        apply_file(&m->file[line_arg(l, 0)], l);
        break;
    case LINE_OPEN:
        apply_open(m, l);
        break;
    case LINE_CLOSE:
        apply_close(m, h);
        break;
    case LINE_VIEW:
        apply_view(m, h, l);
        break;
    case LINE_ACCESS:
        apply_access(m, l, move);
        if (all_atomic(m, h->file))
            synchronise(f);
        break;
    case LINE_END:
        h->split = 0;
        forget_busy(f);
        break;
    case LINE_COMPLETE:
        memset(h->flights, 0, sizeof h->flights);
        forget_busy(f);
        break;
    case LINE_SEEK:
        apply_seek(m, h, l);
        break;
    case LINE_SEEK_SHARED:
        apply_seek_shared(m, h, l);
        break;
    case LINE_SIZE:
        f->seen |= (int)(h->ranks & line_arg(l, 1)) << ((h - m->handle) * RANKS);
        break;
    case LINE_SET_SIZE:
        resize(f, line_arg(l, 1));
        break;
    case LINE_PREALLOCATE:
        if (line_arg(l, 1) > f->size)
            resize(f, line_arg(l, 1));
        break;
    case LINE_ATOMICITY:
        h->atomic = line_arg(l, 1) != 0;
        break;
    default:
        break;
    }
}
