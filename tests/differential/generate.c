/*
 * generate.c - a random program. Each line is tried until the rules allow it; the model then moves
 * on, so that the next lines fit.
 */
#include "differential.h"

#include <string.h>

enum {
    REGION = 6000,   /* most accesses lie below this, or this times the rank */
    LINES_LEAST = 6, /* without types */
    LINES_MORE = 26
};

struct maker {
    struct program *p;
    struct model *m;
    const struct wishes *w;
    struct chance c;
    int64_t times; /* larger than most programs, which are quick */
};

/* Appended if it is allowed. */
static bool try(struct maker *k, const struct line *l)
{
    struct move move[RANKS] = {{0}};
    bool good = model_allows(k->m, l, move);
    if (good) {
        model_apply(k->m, l, move);
        program_add(k->p, l);
    }
    moves_free(move);
    return good;
}

static int64_t below(struct maker *k, int64_t n)
{
    return chance_below(&k->c, n);
}

static bool of(struct maker *k, int percent)
{
    return chance_of(&k->c, percent);
}

static int some_ranks(struct maker *k)
{
    const int all = (1 << k->m->ranks) - 1;
    int mask = (int)below(k, all + 1);
    return of(k, 60) || mask == 0 ? all : mask;
}

/* A handle that is open, or -1. */
static int open_handle(struct maker *k)
{
    int first = (int)below(k, HANDLES);
    for (int i = 0; i < HANDLES; i++)
        if (k->m->handle[(first + i) % HANDLES].open)
            return (first + i) % HANDLES;
    return -1;
}

/* ---- files ---- */

static int some_amode(struct maker *k, bool exists)
{
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    if (exists && of(k, 30))
        amode = MPI_MODE_RDONLY;
    else if (of(k, 15))
        amode = MPI_MODE_WRONLY | MPI_MODE_CREATE;
    if (of(k, 7))
        amode = exists && of(k, 50) ? MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL
                                    : MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL;
    if (amode & MPI_MODE_CREATE && of(k, exists ? 3 : 15))
        amode |= MPI_MODE_EXCL;
    if (of(k, 15))
        amode |= MPI_MODE_APPEND;
    if (of(k, 6))
        amode |= MPI_MODE_DELETE_ON_CLOSE;
    if (of(k, 5))
        amode |= MPI_MODE_UNIQUE_OPEN;
    if (of(k, 2)) /* often one that is no mode at all */
        amode ^= MPI_MODE_RDONLY;
    if (of(k, 1))
        amode |= MPI_MODE_SEQUENTIAL;
    if (of(k, 2))
        amode &= ~(MPI_MODE_CREATE | MPI_MODE_EXCL);
    return amode;
}

static bool make_open(struct maker *k)
{
    const int64_t file = of(k, 80) ? 0 : 1;
    struct line all = {LINE_SYNC, 1, {file}};
    if (k->w->shared_opens && of(k, 50))
        try(k, &all); /* else a second open is rarely allowed */
    const int amode = some_amode(k, k->m->file[file].exists);
    struct line l = {
        LINE_OPEN, 5, {file, below(k, HANDLES), some_ranks(k), amode, of(k, 50) ? 1 << 20 : 0}};
    return try(k, &l);
}

static bool make_file_line(struct maker *k)
{
    struct line l = {LINE_DELETE, 1, {below(k, FILES)}};
    if (of(k, 50))
        l = (struct line){
            LINE_RAW, 3, {below(k, FILES), 1 + below(k, REGION * k->times), below(k, 1000)}};
    return try(k, &l);
}

/* ---- views ---- */

static bool make_view(struct maker *k, int handle)
{
    const struct handle *h = &k->m->handle[handle];
    const int64_t etype = generate_etype(k->p, k->m, &k->c);
    struct line l = {LINE_VIEW, 1 + 3 * k->m->ranks, {handle}};
    const uint64_t pattern = chance_next(&k->c);
    const bool same = of(k, 35), alike = of(k, 80), shifted = of(k, 40), apart = of(k, 40);
    const int64_t base = of(k, 40) ? 0 : below(k, 200);
    const int members = __builtin_popcount((unsigned)h->ranks);
    if (etype < 0)
        return false;
    for (int r = 0, place = 0; r < k->m->ranks; r++) {
        int64_t *a = &l.a[1 + 3 * r], e = type_get(&k->m->types, etype)->extent;
        int64_t id = generate_filetype(k->p, k->m, &k->c, etype, same ? 0 : place,
                                       same ? 1 : members, alike ? pattern : chance_next(&k->c));
        a[0] = base + (apart && !same ? r * REGION * k->times : shifted && !same ? place * e : 0);
        a[1] = etype;
        a[2] = same && r ? l.a[3] : id;
        if (h->amode & MPI_MODE_SEQUENTIAL)
            a[0] = MPI_DISPLACEMENT_CURRENT;
        place += h->ranks >> r & 1;
    }
    return try(k, &l);
}

/* ---- access ---- */

static int64_t some_etypes(struct maker *k, int64_t size)
{
    if (of(k, 8))
        return 0;
    if (of(k, 3))
        return below(k, k->times * 100000 / size + 1);
    return 1 + below(k, of(k, 70) ? 20 * k->times : k->times * 1500 / size + 1);
}

/* Count and memory type of one rank that make whole etypes. */
static void some_memory(struct maker *k, int64_t etype, bool writes, int64_t *a)
{
    const int64_t size = type_get(&k->m->types, etype)->size, wanted = some_etypes(k, size);
    int64_t id = generate_memory(k->p, k->m, &k->c, etype, writes, wanted < 3000 ? wanted : 0);
    const struct type *t = type_get(&k->m->types, id);
    if (!t || (t->size && t->size % size && size % t->size)) {
        id = etype;
        t = type_get(&k->m->types, etype);
    }
    int64_t count = t->size ? wanted * size / t->size : below(k, 3);
    if (t->size && count * t->size % size)
        count = wanted * size / t->size / size * size;
    a[1] = id;
    a[2] = count == 0 && wanted && t->size ? (t->size < size ? size / t->size : 1) : count;
}

/* Where in the view: in front of everything others have, or anywhere. */
static int64_t some_offset(struct maker *k, const struct handle *h, int rank)
{
    const struct view *v = &h->view[rank];
    const struct type *t = type_get(&k->m->types, v->filetype);
    int64_t etype = view_etype(k->m, v), blocks = REGION * k->times / etype;
    if (t && t->size && t->extent > t->size)
        blocks = REGION * k->times * t->size / t->extent / etype;
    return below(k, 5) * blocks / 4 * (of(k, 30) ? 0 : 1) + below(k, blocks / 4 + 1);
}

static int64_t etype_of(const struct handle *h)
{
    const int first = __builtin_ctz((unsigned)h->ranks);
    return h->view[first].etype;
}

static bool make_access(struct maker *k, int handle)
{
    const struct handle *h = &k->m->handle[handle];
    const int64_t which = below(k, CALLS);
    const struct call *c = &calls[which];
    struct line l = {LINE_ACCESS,
                     5 + 4 * k->m->ranks,
                     {handle, which, some_ranks(k), below(k, 100000), below(k, STYLES)}};
    int64_t etype = etype_of(h);
    if (etype < 0) /* the default view: any type fits */
        etype = generate_etype(k->p, k->m, &k->c);
    if (etype < 0)
        return false;
    const bool alike = of(k, 50), next = of(k, 40);
    int64_t at = 0;
    for (int r = 0; r < k->m->ranks; r++) {
        int64_t *a = &l.a[5 + 4 * r];
        if (r == 0 || !alike)
            some_memory(k, etype, c->writes, a);
        else
            memcpy(a + 1, l.a + 6, 2 * sizeof *a);
        if (r == 0 || !next)
            at = some_offset(k, h, r);
        a[0] = at;
        const struct type *t = type_get(&k->m->types, a[1]);
        at += t ? t->size * a[2] / view_etype(k->m, &h->view[r]) : 0; /* one behind the other */
        a[3] = (of(k, 15) ? IGNORE_STATUS : 0) | (of(k, 10) ? BOTTOM : 0) |
               (of(k, 15) ? LARGE_COUNT : 0);
    }
    return try(k, &l);
}

/* ---- the others ---- */

static bool make_seek(struct maker *k, int handle)
{
    const struct handle *h = &k->m->handle[handle];
    const int whence[] = {MPI_SEEK_SET, MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    struct line l = {LINE_SEEK, 3 + k->m->ranks, {handle, some_ranks(k), whence[below(k, 4)]}};
    for (int r = 0; r < k->m->ranks; r++)
        l.a[3 + r] = l.a[2] == MPI_SEEK_SET ? some_offset(k, h, r) : below(k, 61) - 40;
    if (of(k, 60))
        return try(k, &l);
    l = (struct line){LINE_SEEK_SHARED, 3, {handle, l.a[2], l.a[3]}};
    return try(k, &l);
}

static bool make_query(struct maker *k, int handle)
{
    static const enum what kinds[] = {LINE_POSITION, LINE_POSITION_SHARED, LINE_SIZE, LINE_INFO};
    struct line l = {kinds[below(k, 4)], 2, {handle, some_ranks(k)}};
    if (of(k, 15))
        l = (struct line){LINE_BYTE_OFFSET, 3, {handle, some_ranks(k), below(k, 2000)}};
    return try(k, &l);
}

static bool make_resize(struct maker *k, int handle)
{
    const int64_t size = k->m->file[k->m->handle[handle].file].size;
    struct line l = {
        of(k, 75) ? LINE_SET_SIZE : LINE_PREALLOCATE, 2, {handle, below(k, 2 * REGION * k->times)}};
    if (of(k, 50))
        l.a[1] = of(k, 20) ? 0 : below(k, size + 1);
    return try(k, &l);
}

static bool make_sync(struct maker *k, int handle)
{
    struct line l = {LINE_SYNC, 1, {k->m->handle[handle].file}};
    if (of(k, 10))
        l = (struct line){LINE_SYNC_ONE, 1, {handle}};
    return try(k, &l);
}

static bool make_end(struct maker *k, int handle, enum what what)
{
    struct line l = {what, 2, {handle, below(k, 9)}};
    return try(k, &l);
}

static bool make_line(struct maker *k)
{
    const int handle = open_handle(k);
    const int64_t dice = below(k, 100);
    if (handle < 0)
        return of(k, 85) ? make_open(k) : make_file_line(k);
    if (k->m->handle[handle].split && dice < 50)
        return make_end(k, handle, LINE_END);
    if (dice < 8)
        return make_end(k, handle, LINE_COMPLETE) || make_end(k, handle, LINE_END);
    if (dice < 20)
        return make_view(k, handle);
    if (dice < 26)
        return make_seek(k, handle);
    if (dice < 32)
        return make_query(k, handle);
    if (dice < 36)
        return make_resize(k, handle);
    if (dice < 43)
        return make_sync(k, handle);
    if (dice < 47)
        return make_open(k);
    if (dice < 50) {
        struct line l = {LINE_CLOSE, 1, {handle}};
        return try(k, &l);
    }
    if (dice < 52) {
        struct line l = {LINE_ERROR, 3, {handle, some_ranks(k), below(k, WRONGS)}};
        return try(k, &l);
    }
    if (dice < 56 && k->w->atomic) {
        struct line l = {LINE_ATOMICITY, 2, {handle, of(k, 70)}};
        return try(k, &l);
    }
    return make_access(k, handle);
}

void generate(struct program *p, struct model *m, const struct wishes *w, uint64_t seed)
{
    struct maker k = {.p = p, .m = m, .w = w, .c = {seed}, .times = 1};
    chance_next(&k.c);
    if (w->large && of(&k, 70))
        k.times = (int64_t)1 << chance_below(&k.c, 7);
    program_free(p);
    p->ranks = m->ranks;
    m->shared_opens = w->shared_opens;
    model_reset(m);
    int64_t lines = LINES_LEAST + below(&k, LINES_MORE), failed = 0;
    while (lines > 0 && failed < 400) {
        if (make_line(&k)) {
            lines--;
            continue;
        }
        /* What stands in the way is often only that nobody has synchronised yet. */
        int handle = open_handle(&k);
        if (++failed % 8 == 0 && handle >= 0) {
            make_end(&k, handle, LINE_COMPLETE);
            make_end(&k, handle, LINE_END);
            make_sync(&k, handle);
        }
    }
}
