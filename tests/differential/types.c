/*
 * types.c - datatypes as the standard defines them (MPI 3.1, 4.1), from lines of numbers, without
 * asking the MPI library; and the library's handles for them, once it agrees.
 */
#include "differential.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 1 << 16 }; /* of one type */

static const struct basic {
    const char *name;
    int size;       /* of the first part */
    int second, at; /* pairs: size and offset of the second part */
    int extent;
    bool is_number; /* the first part */
} basics[BASICS] = {
    {"MPI_BYTE", 1, 0, 0, 1, false},      {"MPI_CHAR", 1, 0, 0, 1, false},
    {"MPI_SHORT", 2, 0, 0, 2, false},     {"MPI_INT", 4, 0, 0, 4, false},
    {"MPI_INT64_T", 8, 0, 0, 8, false},   {"MPI_FLOAT", 4, 0, 0, 4, true},
    {"MPI_DOUBLE", 8, 0, 0, 8, true},     {"MPI_LONG_DOUBLE", 16, 0, 0, 16, false},
    {"MPI_UNSIGNED", 4, 0, 0, 4, false},  {"MPI_DOUBLE_INT", 8, 4, 8, 16, true},
    {"MPI_SHORT_INT", 2, 4, 4, 8, false}, {"MPI_2INT", 4, 4, 4, 8, false},
};

const char *basic_name(int which)
{
    return basics[which].name;
}

int basic_size(int which)
{
    return basics[which].size + basics[which].second;
}

static MPI_Datatype basic_mpi(int which)
{
    const MPI_Datatype handle[BASICS] = {
        MPI_BYTE,   MPI_CHAR,        MPI_SHORT,    MPI_INT,        MPI_INT64_T,   MPI_FLOAT,
        MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_UNSIGNED, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_2INT};
    return handle[which];
}

/* ---- the type map ---- */

static void add_part(struct type *t, struct part part)
{
    if (t->parts == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 16;
        t->part = need(realloc(t->part, (size_t)t->capacity * sizeof *t->part));
    }
    t->part[t->parts++] = part;
    t->size += part.size;
}

/* `length` children one behind the other; *any: does the type have bounds yet? */
static bool add_block(struct type *t, const struct type *child, int64_t displacement,
                      int64_t length, bool *any)
{
    if (length < 0 || length > PARTS || displacement < -(FILE_BYTES) || displacement > FILE_BYTES ||
        t->parts + length * child->parts > PARTS || length * labs(child->extent) > FILE_BYTES)
        return false;
    t->odd = t->odd || length == 0 || child->odd || child->size != child->extent || child->lb;
    for (int64_t k = 0; k < length; k++) {
        int64_t at = displacement + k * child->extent;
        int64_t lb = at + child->lb, ub = lb + child->extent;
        t->extent = *any && t->lb + t->extent > ub ? t->lb + t->extent : ub;
        t->lb = *any && t->lb < lb ? t->lb : lb;
        t->extent -= t->lb;
        *any = true;
        t->counts_twice = t->counts_twice || child->counts_twice;
        for (int i = 0; i < child->parts; i++)
            add_part(t, (struct part){at + child->part[i].offset, child->part[i].size,
                                      child->part[i].is_number});
    }
    return true;
}

/* Indices of a darray's dimension that the process at `place` of `grid` has. */
static int owned(int64_t size, int64_t how, int64_t argument, int64_t grid, int64_t place,
                 int64_t *index)
{
    int n = 0;
    for (int64_t i = 0; i < size; i++) {
        bool mine =
            how == NONE || (how == BLOCK ? i / argument == place : i / argument % grid == place);
        if (mine)
            index[n++] = i;
    }
    return n;
}

enum { DIMENSIONS = DIMENSIONS_MAX, EXTENT = 64 };

struct grid {
    int dimensions;
    bool fortran;
    int64_t size[DIMENSIONS], index[DIMENSIONS][EXTENT];
    int count[DIMENSIONS];
};

/* The chosen elements of an array; in the order of the array. */
static bool add_grid(struct type *t, const struct type *child, const struct grid *g)
{
    int64_t all = 1, chosen = 1;
    bool any = false;
    for (int d = 0; d < g->dimensions; d++) {
        all *= g->size[d];
        chosen *= g->count[d];
    }
    if (chosen * child->parts > PARTS || all * labs(child->extent) > FILE_BYTES)
        return false;
    for (int64_t k = 0; k < chosen; k++) {
        int64_t rest = k, place = 0, stride = 1;
        for (int i = 0; i < g->dimensions; i++) {
            int d = g->fortran ? i : g->dimensions - 1 - i; /* fastest first */
            place += stride * g->index[d][rest % g->count[d]];
            rest /= g->count[d];
            stride *= g->size[d];
        }
        if (!add_block(t, child, place * child->extent, 1, &any))
            return false;
    }
    t->lb = 0;
    t->extent = all * child->extent;
    return true;
}

static bool define_subarray(struct type *t, const struct type *child, const struct line *l)
{
    struct grid g = {.dimensions = (int)line_arg(l, 4), .fortran = line_arg(l, 3) != 0};
    if (g.dimensions < 1 || g.dimensions > DIMENSIONS)
        return false;
    for (int d = 0; d < g.dimensions; d++) {
        int64_t size = line_rank_arg(l, 5, 3, d, 0), part = line_rank_arg(l, 5, 3, d, 1),
                start = line_rank_arg(l, 5, 3, d, 2);
        if (size < 1 || size > EXTENT || part < 1 || start < 0 || start + part > size)
            return false;
        g.size[d] = size;
        g.count[d] = (int)part;
        for (int64_t i = 0; i < part; i++)
            g.index[d][i] = start + i;
    }
    return add_grid(t, child, &g);
}

static bool define_darray(struct type *t, const struct type *child, const struct line *l)
{
    struct grid g = {.dimensions = (int)line_arg(l, 6), .fortran = line_arg(l, 3) != 0};
    int64_t ranks = line_arg(l, 4), rest = line_arg(l, 5), processes = 1;
    if (g.dimensions < 1 || g.dimensions > DIMENSIONS || rest < 0 || rest >= ranks)
        return false;
    for (int d = g.dimensions - 1; d >= 0; d--) { /* processes are in row-major order */
        int64_t size = line_rank_arg(l, 7, 4, d, 0), how = line_rank_arg(l, 7, 4, d, 1),
                argument = line_rank_arg(l, 7, 4, d, 2), grid = line_rank_arg(l, 7, 4, d, 3);
        if (size < 1 || size > EXTENT || grid < 1 || argument < 1 || how < BLOCK || how > NONE)
            return false;
        if ((how == BLOCK && argument * grid < size) || (how == NONE && grid != 1))
            return false;
        g.size[d] = size;
        t->odd = t->odd || line_arg(child->line, 1) != T_BASIC;
        g.count[d] = owned(size, how, argument, grid, rest % grid, g.index[d]);
        rest /= grid;
        processes *= grid;
    }
    return processes == ranks && add_grid(t, child, &g);
}

/* The others: blocks of children. */
static bool define_blocks(struct types *all, struct type *t, const struct line *l)
{
    const enum combiner combiner = (enum combiner)line_arg(l, 1);
    const struct type *child = type_get(all, line_arg(l, 2));
    const int64_t n = line_arg(l, combiner == T_STRUCT ? 4 : 3), length = line_arg(l, 4);
    bool any = false, good = n >= 0 && n <= PARTS;
    for (int64_t i = 0; i < n && good; i++) {
        int k = (int)i;
        if (combiner == T_CONTIGUOUS)
            good = add_block(t, child, i * child->extent, 1, &any);
        else if (combiner == T_VECTOR)
            good = add_block(t, child, i * line_arg(l, 5) * child->extent, length, &any);
        else if (combiner == T_HVECTOR)
            good = add_block(t, child, i * line_arg(l, 5), length, &any);
        else if (combiner == T_INDEXED || combiner == T_HINDEXED)
            good = add_block(t, child,
                             line_rank_arg(l, 4, 2, k, 1) *
                                 (combiner == T_INDEXED ? child->extent : 1),
                             line_rank_arg(l, 4, 2, k, 0), &any);
        else if (combiner == T_INDEXED_BLOCK || combiner == T_HINDEXED_BLOCK)
            good = add_block(t, child,
                             line_arg(l, 5 + k) * (combiner == T_INDEXED_BLOCK ? child->extent : 1),
                             length, &any);
        else { /* T_STRUCT */
            child = type_get(all, line_rank_arg(l, 5, 3, k, 0));
            good = child && add_block(t, child, line_rank_arg(l, 5, 3, k, 2),
                                      line_rank_arg(l, 5, 3, k, 1), &any);
        }
    }
    if (combiner == T_STRUCT) {
        t->lb = line_arg(l, 2);
        t->extent = line_arg(l, 3);
    }
    return good;
}

static bool define(struct types *all, struct type *t, const struct line *l)
{
    const int64_t combiner = line_arg(l, 1), which = line_arg(l, 2);
    const struct type *child = type_get(all, which);
    bool any = false;
    if (combiner == T_BASIC) {
        if (which < 0 || which >= BASICS)
            return false;
        add_part(t, (struct part){0, basics[which].size, basics[which].is_number});
        if (basics[which].second)
            add_part(t, (struct part){basics[which].at, basics[which].second, false});
        t->extent = basics[which].extent;
        t->odd = t->extent != t->size;
        t->counts_twice = basics[which].second != 0;
        return true;
    }
    if (combiner == T_STRUCT)
        return define_blocks(all, t, l);
    if (!child)
        return false;
    if (combiner == T_RESIZED || combiner == T_DUP) {
        if (!add_block(t, child, 0, 1, &any))
            return false;
        if (combiner == T_RESIZED) {
            t->lb = line_arg(l, 3);
            t->extent = line_arg(l, 4);
        }
        return true;
    }
    if (combiner == T_SUBARRAY)
        return define_subarray(t, child, l);
    if (combiner == T_DARRAY)
        return define_darray(t, child, l);
    return combiner > T_BASIC && combiner < COMBINERS && define_blocks(all, t, l);
}

/* Also with tile behind tile. */
static bool is_rising(const struct type *t)
{
    for (int i = 0; i < t->parts; i++) {
        int64_t before = i ? t->part[i - 1].offset + t->part[i - 1].size : 0;
        if (t->part[i].offset < before)
            return false;
    }
    if (t->parts == 0)
        return t->extent >= 0;
    const struct part *last = &t->part[t->parts - 1];
    return last->offset + last->size - t->part[0].offset <= t->extent;
}

bool type_define(struct types *all, const struct line *l)
{
    const int64_t id = line_arg(l, 0);
    if (id < 0 || id >= TYPES || all->type[id].line)
        return false;
    struct type *t = &all->type[id];
    *t = (struct type){.mpi = MPI_DATATYPE_NULL};
    if (!define(all, t, l) || t->size > ACCESS_BYTES || t->extent < 0 || t->extent > FILE_BYTES ||
        t->lb < -(FILE_BYTES) || t->lb > FILE_BYTES) {
        free(t->part);
        *t = (struct type){0};
        return false;
    }
    t->line = need(malloc(sizeof *t->line));
    *t->line = *l;
    t->rising = is_rising(t);
    t->odd = t->odd || t->lb || t->size == 0;
    t->even = true;
    for (int i = 1; i < t->parts; i++)
        t->even = t->even && t->part[i].size == t->part[0].size;
    return true;
}

const struct type *type_get(const struct types *all, int64_t id)
{
    return id >= 0 && id < TYPES && all->type[id].line ? &all->type[id] : NULL;
}

void type_span(const struct type *t, int64_t n, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int i = 0; i < t->parts && n > 0; i++) {
        int64_t first = t->part[i].offset, last = first + (n - 1) * t->extent;
        int64_t least = first < last ? first : last, most = first < last ? last : first;
        *low = least < *low ? least : *low;
        *high = most + t->part[i].size > *high ? most + t->part[i].size : *high;
    }
}

void type_scatter(const struct type *t, int64_t n, unsigned char *origin,
                  const unsigned char *packed, int64_t bytes)
{
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < t->parts; i++)
            for (int b = 0; b < t->part[i].size && bytes > 0; b++, bytes--)
                origin[k * t->extent + t->part[i].offset + b] = *packed++;
}

void type_gather(const struct type *t, int64_t n, const unsigned char *origin,
                 unsigned char *packed)
{
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < t->parts; i++) {
            memcpy(packed, origin + k * t->extent + t->part[i].offset, (size_t)t->part[i].size);
            packed += t->part[i].size;
        }
}

/* ---- the MPI library's handles ---- */

/* Arguments as the constructors want them. */
struct built {
    int n, length[ARGUMENTS], place[ARGUMENTS];
    MPI_Aint address[ARGUMENTS];
    MPI_Datatype child[ARGUMENTS];
};

static void build_array(const struct line *l, MPI_Datatype child, MPI_Datatype *t)
{
    const int how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int order = line_arg(l, 3) ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    const bool sub = line_arg(l, 1) == T_SUBARRAY;
    int a[4][DIMENSIONS], n = (int)line_arg(l, sub ? 4 : 6);
    for (int d = 0; d < n; d++)
        for (int i = 0; i < 4; i++)
            a[i][d] = (int)line_rank_arg(l, sub ? 5 : 7, sub ? 3 : 4, d, i);
    if (sub) {
        MPI_Type_create_subarray(n, a[0], a[1], a[2], order, child, t);
        return;
    }
    for (int d = 0; d < n; d++) {
        a[2][d] = a[1][d] == NONE ? MPI_DISTRIBUTE_DFLT_DARG : a[2][d];
        a[1][d] = how[a[1][d]];
    }
    MPI_Type_create_darray((int)line_arg(l, 4), (int)line_arg(l, 5), n, a[0], a[1], a[2], a[3],
                           order, child, t);
}

/* Lengths and displacements of the block types. */
static struct built arguments_of(struct types *all, const struct line *l)
{
    const int64_t combiner = line_arg(l, 1);
    const bool structure = combiner == T_STRUCT;
    const bool even = combiner == T_INDEXED_BLOCK || combiner == T_HINDEXED_BLOCK;
    struct built b = {.n = (int)line_arg(l, structure ? 4 : 3)};
    if (combiner < T_INDEXED || combiner > T_STRUCT)
        return b;
    for (int i = 0; i < b.n; i++) {
        int64_t length = structure ? line_rank_arg(l, 5, 3, i, 1) : line_rank_arg(l, 4, 2, i, 0);
        int64_t place = structure ? line_rank_arg(l, 5, 3, i, 2)
                        : even    ? line_arg(l, 5 + i)
                                  : line_rank_arg(l, 4, 2, i, 1);
        b.length[i] = (int)(even ? line_arg(l, 4) : length);
        b.place[i] = (int)place;
        b.address[i] = place;
        if (structure)
            b.child[i] = type_mpi(all, line_rank_arg(l, 5, 3, i, 0));
    }
    return b;
}

static void build(struct types *all, const struct line *l, MPI_Datatype child, MPI_Datatype *t)
{
    struct built b = arguments_of(all, l);
    const int length = (int)line_arg(l, 4);
    MPI_Datatype bare;
    switch ((enum combiner)line_arg(l, 1)) {
    case T_CONTIGUOUS:
        MPI_Type_contiguous(b.n, child, t);
        break;
    case T_VECTOR:
        MPI_Type_vector(b.n, length, (int)line_arg(l, 5), child, t);
        break;
    case T_HVECTOR:
        MPI_Type_create_hvector(b.n, length, line_arg(l, 5), child, t);
        break;
    case T_INDEXED:
        MPI_Type_indexed(b.n, b.length, b.place, child, t);
        break;
    case T_HINDEXED:
        MPI_Type_create_hindexed(b.n, b.length, b.address, child, t);
        break;
    case T_INDEXED_BLOCK:
        MPI_Type_create_indexed_block(b.n, length, b.place, child, t);
        break;
    case T_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block(b.n, length, b.address, child, t);
        break;
    case T_STRUCT:
        MPI_Type_create_struct(b.n, b.length, b.address, b.child, &bare);
        MPI_Type_create_resized(bare, line_arg(l, 2), line_arg(l, 3), t);
        MPI_Type_free(&bare);
        break;
    case T_RESIZED:
        MPI_Type_create_resized(child, line_arg(l, 3), line_arg(l, 4), t);
        break;
    case T_DUP:
        MPI_Type_dup(child, t);
        break;
    default:
        build_array(l, child, t);
    }
}

/* Does the library put the bytes of two items where the standard does? */
static bool library_agrees(const struct type *t)
{
    MPI_Count lb, extent, size;
    int at = 0, bytes = 2 * (int)t->size;
    MPI_Type_get_extent_x(t->mpi, &lb, &extent);
    MPI_Type_size_x(t->mpi, &size);
    if (extent != t->extent || size != t->size || lb != t->lb)
        return false;
    int64_t low, high, k = 0;
    type_span(t, 2, &low, &high);
    unsigned char *memory = need(malloc((size_t)(high - low) + 1));
    unsigned char *packed = need(malloc((size_t)bytes + 1));
    bool good = true;
    for (int64_t i = 0; i < high - low; i++)
        memory[i] = (unsigned char)((i ^ i >> 8) * 37);
    MPI_Pack(memory - low, 2, t->mpi, packed, bytes, &at, MPI_COMM_SELF);
    for (int item = 0; item < 2; item++)
        for (int i = 0; i < t->parts; i++)
            for (int b = 0; b < t->part[i].size; b++, k++)
                good = good && packed[k] == memory[item * t->extent + t->part[i].offset + b - low];
    free(memory);
    free(packed);
    return good && at == bytes;
}

MPI_Datatype type_mpi(struct types *all, int64_t id)
{
    struct type *t = (struct type *)(uintptr_t)type_get(all, id);
    if (!t || t->built)
        return t && t->usable ? t->mpi : MPI_DATATYPE_NULL;
    const int64_t combiner = line_arg(t->line, 1);
    t->built = true;
    all->built++;
    if (combiner == T_BASIC) {
        t->mpi = basic_mpi((int)line_arg(t->line, 2));
        t->usable = true;
        return t->mpi;
    }
    MPI_Datatype child = MPI_DATATYPE_NULL;
    if (combiner != T_STRUCT) {
        child = type_mpi(all, line_arg(t->line, 2));
        if (child == MPI_DATATYPE_NULL)
            return child;
    }
    for (int i = 0; combiner == T_STRUCT && i < line_arg(t->line, 4); i++)
        if (type_mpi(all, line_rank_arg(t->line, 5, 3, i, 0)) == MPI_DATATYPE_NULL)
            return MPI_DATATYPE_NULL;
    build(all, t->line, child, &t->mpi);
    MPI_Type_commit(&t->mpi);
    t->usable = library_agrees(t);
    all->refused += !t->usable;
    return t->usable ? t->mpi : MPI_DATATYPE_NULL;
}

void types_free(struct types *all)
{
    for (int i = 0; i < TYPES; i++) {
        struct type *t = &all->type[i];
        if (t->built && t->mpi != MPI_DATATYPE_NULL && line_arg(t->line, 1) != T_BASIC)
            MPI_Type_free(&t->mpi);
        free(t->part);
        free(t->line);
        *t = (struct type){0};
    }
}
