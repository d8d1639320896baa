/*
 * rules.c - which lines are correct programs where they stand (MPI 3.1, 13.2 to 13.6).
 *
 * Between two synchronisations a byte belongs to whoever wrote it, and nobody writes what others
 * read. The size of the file is data, too.
 */
#include "differential.h"

#include <stdlib.h>
#include <string.h>

static int handles_of(const struct model *m, int file)
{
    int n = 0;
    for (int h = 0; h < HANDLES; h++)
        n += m->handle[h].open && m->handle[h].file == file;
    return n;
}

static bool writable(const struct handle *h)
{
    return (h->amode & MPI_MODE_RDONLY) == 0;
}

/* No request and no split collective under way. */
static bool idle(const struct handle *h)
{
    int n = h->split;
    for (int r = 0; r < RANKS; r++)
        n += h->flights[r];
    return n == 0;
}

/* Nobody has written, or looked at the size, since the last synchronisation. */
static bool synchronised(const struct model *m, int file)
{
    const struct file *f = &m->file[file];
    for (int64_t k = 0; k < f->touched; k++)
        if (f->byte[k].writer || f->byte[k].readers)
            return false;
    for (int i = 0; i < ACTORS; i++)
        if (f->end[i])
            return false;
    return f->seen == 0;
}

static bool one_rank(int mask)
{
    return (mask & (mask - 1)) == 0;
}

/* ---- opening ---- */

static bool mode_is_legal(int amode)
{
    const int rw = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    if (rw != MPI_MODE_RDONLY && rw != MPI_MODE_WRONLY && rw != MPI_MODE_RDWR)
        return false;
    if (rw == MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return false;
    return !(rw == MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL);
}

bool model_open_works(const struct model *m, const struct line *l)
{
    const struct file *f = &m->file[line_arg(l, 0)];
    const int amode = (int)line_arg(l, 3);
    if (!mode_is_legal(amode))
        return false;
    return f->exists ? !(amode & MPI_MODE_EXCL) : (amode & MPI_MODE_CREATE) != 0;
}

static bool open_allowed(const struct model *m, const struct line *l)
{
    const int64_t file = line_arg(l, 0), handle = line_arg(l, 1), ranks = line_arg(l, 2);
    if (file < 0 || file >= FILES || handle < 0 || handle >= HANDLES || m->handle[handle].open)
        return false;
    const int others = handles_of(m, (int)file), amode = (int)line_arg(l, 3);
    /* EXCL says nothing without CREATE. */
    if ((amode & MPI_MODE_EXCL && !(amode & MPI_MODE_CREATE)) ||
        (ranks & ((1 << m->ranks) - 1)) == 0)
        return false;
    if (others == 0)
        return true;
    /* docs/limits.md: who comes now takes it for a new file */
    if (m->file[file].raw && m->file[file].size == 0)
        return false;
    if (!m->shared_opens || amode & (MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN))
        return false;
    for (int h = 0; h < HANDLES; h++)
        if (m->handle[h].open && m->handle[h].file == file &&
            (m->handle[h].amode & (MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN) ||
             !idle(&m->handle[h])))
            return false;
    return synchronised(m, (int)file);
}

/* ---- views ---- */

static bool view_allowed(const struct model *m, const struct handle *h, const struct line *l)
{
    const bool sequential = h->amode & MPI_MODE_SEQUENTIAL;
    if (!idle(h))
        return false;
    for (int r = 0; r < m->ranks; r++) {
        const struct type *etype = type_get(&m->types, line_rank_arg(l, 1, 3, r, 1)),
                          *file = type_get(&m->types, line_rank_arg(l, 1, 3, r, 2));
        const int64_t at = line_rank_arg(l, 1, 3, r, 0);
        if (!(h->ranks >> r & 1))
            continue;
        if (sequential ? at != MPI_DISPLACEMENT_CURRENT || h->shared < 0
                       : at < 0 || at > FILE_BYTES)
            return false;
        if (!etype || !file || etype->size == 0 || !etype->rising || !file->rising ||
            file->size % etype->size)
            return false;
    }
    /* All ranks have etypes of the same extent. */
    const int first = __builtin_ctz((unsigned)h->ranks);
    const struct type *e = type_get(&m->types, line_rank_arg(l, 1, 3, first, 1));
    for (int r = 0; r < m->ranks; r++)
        if (h->ranks >> r & 1 &&
            type_get(&m->types, line_rank_arg(l, 1, 3, r, 1))->extent != e->extent)
            return false;
    return true;
}

/* ---- access ---- */

/* May this actor touch these bytes, beside what others of this line do? Leaves marks. */
static bool bytes_free(struct file *f, const struct move *v, int actor, bool writes)
{
    for (int64_t i = 0; i < v->available; i++) {
        struct byte *b = &f->byte[v->offset[i]];
        if (b->writer && b->writer != actor + 1)
            return false;
        if (writes && (b->readers & ~(1 << actor) || b->busy))
            return false;
        if (b->busy & 2 || (b->mark && b->mark != actor + 1))
            return false;
        if (writes)
            b->mark = (unsigned char)(actor + 1);
    }
    return true;
}

static void wipe_marks(struct file *f, struct move move[RANKS])
{
    for (int r = 0; r < RANKS; r++)
        for (int64_t i = 0; i < move[r].available && move[r].offset; i++)
            f->byte[move[r].offset[i]].mark = 0;
}

/* Where the bytes lie; false if behind what the model holds. */
static bool locate(const struct model *m, const struct view *view, struct move *v)
{
    v->offset = need(malloc((size_t)(v->bytes + 1) * sizeof *v->offset));
    for (int64_t i = 0; i < v->bytes; i++) {
        v->offset[i] = view_offset(m, view, v->position + i);
        if (v->offset[i] < 0 || v->offset[i] >= FILE_BYTES)
            return false;
    }
    v->available = v->bytes;
    return true;
}

/* What a read gets: up to the end of the file, which must be certain. */
static bool cut_at_end(const struct model *m, int handle, int rank, struct move *v)
{
    const struct file *f = &m->file[m->handle[handle].file];
    const int actor = handle * RANKS + rank;
    int64_t known = f->size, n = 0;
    if (f->end[actor] > known && !f->busy_size)
        known = f->end[actor];
    while (n < v->bytes && v->offset[n] < known)
        n++;
    v->available = n;
    return n == v->bytes || model_size(m, handle, rank) >= 0;
}

/* A write that moves the end of the file, where another looked at it. */
static bool end_free(const struct model *m, int handle, int rank, const struct move *v)
{
    const struct file *f = &m->file[m->handle[handle].file];
    const int actor = handle * RANKS + rank;
    int64_t end = v->bytes ? v->offset[v->bytes - 1] + 1 : 0;
    int64_t known = f->end[actor] > f->size ? f->end[actor] : f->size;
    return end <= known || ((f->seen & ~(1 << actor)) == 0 && !f->busy_size);
}

static bool rank_request(const struct model *m, const struct handle *h, const struct call *c,
                         const struct line *l, int rank, struct move *v)
{
    const struct type *t;
    v->takes_part = true;
    v->type = line_rank_arg(l, 5, 4, rank, 1);
    v->count = line_rank_arg(l, 5, 4, rank, 2);
    v->flags = (int)line_rank_arg(l, 5, 4, rank, 3);
    t = type_get(&m->types, v->type);
    if (!t || v->count < 0 || v->count > ACCESS_BYTES)
        return false;
    v->bytes = t->size * v->count;
    int64_t low, high, etype = view_etype(m, &h->view[rank]);
    type_span(t, v->count, &low, &high);
    const struct type *file = type_get(&m->types, h->view[rank].filetype);
    if (v->bytes > ACCESS_BYTES || high - low > 2 * FILE_BYTES || v->bytes % etype ||
        (file && file->size == 0 && v->bytes))
        return false;
    if (c->where == AT)
        v->position = line_rank_arg(l, 5, 4, rank, 0) * etype;
    else if (c->where == POINTER)
        v->position = h->position[rank];
    return v->position >= 0 && v->position <= FILE_BYTES;
}

/* Nothing may be received twice into the same memory. */
static bool memory_is_disjoint(const struct types *types, const struct move *v)
{
    const struct type *t = type_get(types, v->type);
    int64_t low, high;
    type_span(t, v->count, &low, &high);
    bool *used = need(calloc((size_t)(high - low) + 1, sizeof *used)), good = true;
    for (int64_t k = 0; k < v->count; k++)
        for (int i = 0; i < t->parts; i++)
            for (int b = 0; b < t->part[i].size; b++) {
                bool *u = &used[k * t->extent + t->part[i].offset + b - low];
                good = good && !*u;
                *u = true;
            }
    free(used);
    return good;
}

static bool call_allowed(const struct model *m, const struct handle *h, const struct call *c)
{
    if (c->writes ? !writable(h) : (h->amode & MPI_MODE_WRONLY) != 0)
        return false;
    if (c->where != SHARED && h->amode & MPI_MODE_SEQUENTIAL)
        return false;
    if (c->where == SHARED && (!h->same_view || h->shared < 0))
        return false;
    /* While a split collective is under way only single ranks go on, and not by its pointer. */
    if (h->split)
        return c->how == BLOCKING && c->where == AT;
    for (int i = 0; i < HANDLES; i++) /* what is busy is known for the file as a whole */
        if (c->how != BLOCKING && c->how != COLLECTIVE && m->handle[i].open &&
            m->handle[i].file == h->file && &m->handle[i] != h && !idle(&m->handle[i]))
            return false;
    return c->how != SPLIT || idle(h);
}

static bool access_allowed(struct model *m, const struct line *l, struct move move[RANKS])
{
    const int handle = (int)line_arg(l, 0);
    const struct handle *h = &m->handle[handle];
    if (line_arg(l, 1) < 0 || line_arg(l, 1) >= CALLS)
        return false;
    const struct call *c = &calls[line_arg(l, 1)];
    struct file *f = &m->file[h->file];
    int64_t shared = h->shared;
    bool good = call_allowed(m, h, c);
    for (int r = 0; r < m->ranks && good; r++) {
        struct move *v = &move[r];
        if (!(h->ranks >> r & 1) || (!call_is_collective(c) && !(line_arg(l, 2) >> r & 1)))
            continue;
        v->position = shared;
        good = rank_request(m, h, c, l, r, v) && locate(m, &h->view[r], v);
        if (good && !c->writes)
            good = cut_at_end(m, handle, r, v) && memory_is_disjoint(&m->types, v);
        else if (good)
            good = end_free(m, handle, r, v);
        good = good && bytes_free(f, v, handle * RANKS + r, c->writes);
        good = good && h->flights[r] < FLIGHTS;
        shared += v->bytes;
        /* Ranks behind one that met the end of the file, at the shared pointer. */
        if (c->where == SHARED && v->available < v->bytes && good)
            good = c->how != BLOCKING && c->how != NONBLOCKING;
    }
    wipe_marks(f, move);
    return good;
}

/* ---- the others ---- */

static bool seek_allowed(const struct model *m, int handle, const struct line *l)
{
    const struct handle *h = &m->handle[handle];
    const int64_t whence = line_arg(l, 2);
    if (!idle(h) || h->amode & MPI_MODE_SEQUENTIAL)
        return false;
    for (int r = 0; r < m->ranks; r++) {
        int64_t etype = view_etype(m, &h->view[r]), at = line_rank_arg(l, 3, 1, r, 0);
        if (!(h->ranks >> r & 1) || !(line_arg(l, 1) >> r & 1))
            continue;
        if (whence == MPI_SEEK_CUR && h->position[r] < 0)
            return false;
        if (whence == MPI_SEEK_CUR)
            at += h->position[r] / etype;
        if (whence == MPI_SEEK_END && model_size(m, handle, r) < 0)
            return false;
        if (whence == MPI_SEEK_END)
            at += view_end(m, &h->view[r], model_size(m, handle, r));
        if (at < 0 || at * etype > FILE_BYTES)
            return false;
    }
    return whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
}

static bool seek_shared_allowed(const struct model *m, int handle, const struct line *l)
{
    const struct handle *h = &m->handle[handle];
    const int first = __builtin_ctz((unsigned)h->ranks);
    const int64_t whence = line_arg(l, 1), etype = view_etype(m, &h->view[first]);
    int64_t at = line_arg(l, 2);
    if (!idle(h) || h->amode & MPI_MODE_SEQUENTIAL || !h->same_view)
        return false;
    if (whence == MPI_SEEK_CUR && h->shared < 0)
        return false;
    if (whence == MPI_SEEK_CUR)
        at += h->shared / etype;
    for (int r = 0; r < m->ranks && whence == MPI_SEEK_END; r++)
        if (h->ranks >> r & 1 && (model_size(m, handle, r) < 0 ||
                                  model_size(m, handle, r) != model_size(m, handle, first)))
            return false;
    if (whence == MPI_SEEK_END)
        at += view_end(m, &h->view[first], model_size(m, handle, first));
    return at >= 0 && at * etype <= FILE_BYTES;
}

/* set_size and preallocate: one handle, and nobody looks at what they change. */
static bool resize_allowed(const struct model *m, const struct handle *h, const struct line *l)
{
    const struct file *f = &m->file[h->file];
    const int64_t size = line_arg(l, 1);
    if (!writable(h) || size < 0 || size > FILE_BYTES || handles_of(m, h->file) > 1 || !idle(h) ||
        (f->seen && !one_rank(h->ranks)))
        return false;
    for (int i = 0; i < ACTORS; i++)
        if (f->end[i])
            return false;
    if (l->what == LINE_PREALLOCATE && size <= f->size)
        return true;
    for (int64_t k = size < f->size ? size : f->size; k < size || k < f->size; k++)
        if (f->byte[k].writer || f->byte[k].readers)
            return false;
    return true;
}

static bool sync_allowed(const struct model *m, int64_t file)
{
    if (file < 0 || file >= FILES)
        return false;
    for (int h = 0; h < HANDLES; h++)
        if (m->handle[h].open && m->handle[h].file == file && !idle(&m->handle[h]))
            return false;
    return handles_of(m, (int)file) > 0;
}

static bool size_allowed(const struct model *m, int handle, const struct line *l)
{
    for (int r = 0; r < m->ranks; r++)
        if (m->handle[handle].ranks & line_arg(l, 1) & 1 << r && model_size(m, handle, r) < 0)
            return false;
    return true;
}

static bool error_allowed(const struct handle *h, const struct line *l)
{
    const int64_t which = line_arg(l, 2);
    const bool sequential = h->amode & MPI_MODE_SEQUENTIAL;
    if (!idle(h) || which < 0 || which >= WRONGS)
        return false;
    if (which == WRONG_WRITE || which == WRONG_SET_SIZE_RDONLY)
        return !writable(h) && !sequential;
    if (which == WRONG_READ)
        return h->amode & MPI_MODE_WRONLY && !sequential;
    if (which == WRONG_SEQUENTIAL)
        return sequential;
    if (which == WRONG_OFFSET_READ || which == WRONG_COUNT)
        return !(h->amode & MPI_MODE_WRONLY) && !sequential;
    if (which == WRONG_OFFSET_WRITE || which == WRONG_TYPE || which == WRONG_SET_SIZE ||
        which == WRONG_PREALLOCATE)
        return writable(h) && !sequential;
    return !sequential;
}

bool model_allows(struct model *m, const struct line *l, struct move move[RANKS])
{
    const int64_t a = line_arg(l, 0);
    if (l->what == LINE_TYPE)
        return true;
    if (l->what == LINE_OPEN)
        return open_allowed(m, l);
    if (l->what == LINE_SYNC)
        return sync_allowed(m, a);
    if (l->what == LINE_RAW || l->what == LINE_DELETE)
        return a >= 0 && a < FILES && handles_of(m, (int)a) == 0 &&
               (l->what == LINE_DELETE || (line_arg(l, 1) > 0 && line_arg(l, 1) < FILE_BYTES));
    if (a < 0 || a >= HANDLES || !m->handle[a].open)
        return false;
    const struct handle *h = &m->handle[a];
    switch (l->what) {
    case LINE_CLOSE:
    case LINE_SYNC_ONE:
    case LINE_ATOMICITY:
        return idle(h);
    case LINE_VIEW:
        return view_allowed(m, h, l);
    case LINE_ACCESS:
        return access_allowed(m, l, move);
    case LINE_END:
        return h->split != 0;
    case LINE_COMPLETE:
        return h->split == 0 && !idle(h);
    case LINE_SEEK:
        return seek_allowed(m, (int)a, l);
    case LINE_SEEK_SHARED:
        return seek_shared_allowed(m, (int)a, l);
    case LINE_POSITION:
        return h->split == 0 && !(h->amode & MPI_MODE_SEQUENTIAL);
    case LINE_POSITION_SHARED:
        return idle(h) && h->same_view && h->shared >= 0 && !(h->amode & MPI_MODE_SEQUENTIAL);
    case LINE_BYTE_OFFSET:
        return line_arg(l, 2) >= 0 && line_arg(l, 2) <= FILE_BYTES &&
               !(h->amode & MPI_MODE_SEQUENTIAL);
    case LINE_SIZE:
        return size_allowed(m, (int)a, l);
    case LINE_SET_SIZE:
    case LINE_PREALLOCATE:
        return resize_allowed(m, h, l) && !(h->amode & MPI_MODE_SEQUENTIAL);
    case LINE_INFO:
        return true;
    case LINE_ERROR:
        return error_allowed(h, l);
    default:
        return false;
    }
}
