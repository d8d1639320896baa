/*
 * types.h - the file views and memory datatypes of views.c, and where their bytes are.
 */
#ifndef ZMPI_TESTS_TYPES_H
#define ZMPI_TESTS_TYPES_H

#include "check.h"

enum {
    ITEM = 24,       /* basic elements of one item of every memory type */
    REGION = 1 << 13 /* where ranks do not interleave, each has this many bytes for itself */
};

/* ---- the types ---- */

/* A filetype of elements of type b for one rank, and where its view begins. */
typedef MPI_Datatype make_view(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp);

static MPI_Datatype plain(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    MPI_Datatype t;
    (void)e, (void)ranks;
    *disp = (MPI_Offset)rank * REGION;
    MPI_Type_dup(b, &t);
    return t;
}

static MPI_Datatype contiguous(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    MPI_Datatype t;
    (void)e, (void)ranks;
    *disp = (MPI_Offset)rank * REGION + 3;
    MPI_Type_contiguous(10, b, &t);
    return t;
}

/* Ranks interleave, two elements each. */
static MPI_Datatype vector(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    MPI_Datatype t, r;
    *disp = 16 + 2 * rank * e;
    MPI_Type_vector(3, 2, 2 * ranks, b, &t);
    MPI_Type_create_resized(t, 0, 6 * ranks * e, &r);
    MPI_Type_free(&t);
    return r;
}

static MPI_Datatype subarray(MPI_Datatype b, int rank, int ranks, int order)
{
    int size[3] = {3, 2 * ranks, 5}, part[3] = {3, 2, 5}, start[3] = {0, 2 * rank, 0};
    MPI_Datatype t;
    MPI_Type_create_subarray(3, size, part, start, order, b, &t);
    return t;
}

static MPI_Datatype subarray_c(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    *disp = e;
    return subarray(b, rank, ranks, MPI_ORDER_C);
}

static MPI_Datatype subarray_fortran(MPI_Datatype b, MPI_Aint e, int rank, int ranks,
                                     MPI_Offset *disp)
{
    (void)e;
    *disp = 0;
    return subarray(b, rank, ranks, MPI_ORDER_FORTRAN);
}

static MPI_Datatype darray(MPI_Datatype b, int rank, int ranks, int distribution, int argument,
                           int order)
{
    int size[2] = {7, 6}, how[2] = {distribution, distribution},
        arguments[2] = {argument, argument};
    int grid[2] = {0, 0};
    MPI_Datatype t;
    MPI_Dims_create(ranks, 2, grid);
    MPI_Type_create_darray(ranks, rank, 2, size, how, arguments, grid, order, b, &t);
    return t;
}

static MPI_Datatype darray_block(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    *disp = 2 * e;
    return darray(b, rank, ranks, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, MPI_ORDER_C);
}

static MPI_Datatype darray_cyclic(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    *disp = e;
    return darray(b, rank, ranks, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, MPI_ORDER_C);
}

static MPI_Datatype darray_cyclic2(MPI_Datatype b, MPI_Aint e, int rank, int ranks,
                                   MPI_Offset *disp)
{
    (void)e;
    *disp = 0;
    return darray(b, rank, ranks, MPI_DISTRIBUTE_CYCLIC, 2, MPI_ORDER_FORTRAN);
}

/* Five rows in blocks of two: the fourth rank has nothing. */
static MPI_Datatype darray_uneven(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    int size[2] = {5, 3}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
        grid[2] = {ranks, 1};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype t;
    *disp = e;
    MPI_Type_create_darray(ranks, rank, 2, size, how, arguments, grid, MPI_ORDER_C, b, &t);
    return t;
}

static MPI_Datatype indexed(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    int length[4] = {1, 3, 0, 2}, place[4] = {0, 2, 6, 7};
    MPI_Datatype t;
    (void)ranks;
    *disp = (MPI_Offset)rank * REGION + 2 * e;
    MPI_Type_indexed(4, length, place, b, &t);
    return t;
}

/* Elements at odd bytes. */
static MPI_Datatype hindexed(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    int length[3] = {2, 1, 3};
    MPI_Aint place[3] = {0, 3 * e + 1, 8 * e + 5};
    MPI_Datatype t;
    (void)ranks;
    *disp = (MPI_Offset)rank * REGION + 1;
    MPI_Type_create_hindexed(3, length, place, b, &t);
    return t;
}

static MPI_Datatype structure(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    int length[2] = {2, 1};
    MPI_Aint place[2] = {e, 4 * e};
    MPI_Datatype type[2] = {b, b}, t, r;
    (void)ranks;
    *disp = (MPI_Offset)rank * REGION;
    MPI_Type_create_struct(2, length, place, type, &t);
    MPI_Type_create_resized(t, 0, 6 * e, &r);
    MPI_Type_free(&t);
    return r;
}

/* The lower bound is not 0: tiles are an extent apart all the same. */
static MPI_Datatype resized(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    MPI_Datatype t, r;
    (void)ranks;
    *disp = (MPI_Offset)rank * REGION + 8;
    MPI_Type_contiguous(3, b, &t);
    MPI_Type_create_resized(t, -2 * e, 6 * e, &r);
    MPI_Type_free(&t);
    return r;
}

static MPI_Datatype nested(MPI_Datatype b, MPI_Aint e, int rank, int ranks, MPI_Offset *disp)
{
    MPI_Datatype inner, middle, outer;
    int size[2] = {2, 3}, part[2] = {2, 2}, start[2] = {0, 1};
    (void)ranks;
    *disp = (MPI_Offset)rank * REGION;
    MPI_Type_create_subarray(2, size, part, start, MPI_ORDER_C, b, &inner);
    MPI_Type_vector(2, 1, 2, inner, &middle);
    MPI_Type_create_hvector(2, 1, 30 * e, middle, &outer);
    MPI_Type_free(&inner);
    MPI_Type_free(&middle);
    return outer;
}

static const struct view {
    const char *name;
    make_view *make;
    int pair; /* basic elements of one etype */
} views[] = {{"plain", plain, 1},
             {"contiguous", contiguous, 1},
             {"vector", vector, 1},
             {"subarray C", subarray_c, 1},
             {"subarray Fortran", subarray_fortran, 1},
             {"darray block", darray_block, 1},
             {"darray cyclic", darray_cyclic, 1},
             {"darray cyclic(2) Fortran", darray_cyclic2, 1},
             {"darray uneven", darray_uneven, 1},
             {"indexed", indexed, 1},
             {"hindexed", hindexed, 1},
             {"struct", structure, 1},
             {"resized", resized, 1},
             {"nested", nested, 1},
             {"pairs, struct", structure, 2},
             {"pairs, vector", vector, 2}};

enum { VIEWS = sizeof views / sizeof *views, BASES = 5, MEMORIES = 5 };

static const char *const base_names[BASES] = {"float", "double", "int", "char", "mixed"};
static const char *const memory_names[MEMORIES] = {"basic", "contiguous", "vector", "backwards",
                                                   "ghosts"};

static MPI_Datatype make_base(int which)
{
    const MPI_Datatype basic[BASES - 1] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Datatype t, r, type[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    int length[3] = {1, 1, 1};
    MPI_Aint place[3] = {0, 8, 12};
    if (which < BASES - 1) {
        MPI_Type_dup(basic[which], &r);
    } else {
        MPI_Type_create_struct(3, length, place, type, &t);
        MPI_Type_create_resized(t, 0, 16, &r);
        MPI_Type_free(&t);
    }
    MPI_Type_commit(&r);
    return r;
}

/* items: how many of the type make ITEM basic elements. */
static MPI_Datatype make_memory(int which, MPI_Datatype b, MPI_Aint e, int *items)
{
    int size[2] = {6, 8}, part[2] = {4, 6}, start[2] = {1, 1};
    MPI_Datatype t = MPI_DATATYPE_NULL;
    *items = which == 0 ? ITEM : 1;
    if (which == 0)
        MPI_Type_dup(b, &t);
    else if (which == 1)
        MPI_Type_contiguous(ITEM, b, &t);
    else if (which == 2)
        MPI_Type_vector(4, 6, 9, b, &t);
    else if (which == 3) /* Open MPI 4.1 takes a stride of -e for one of e */
        MPI_Type_create_hvector(ITEM, 1, -2 * e, b, &t);
    else
        MPI_Type_create_subarray(2, size, part, start, MPI_ORDER_C, b, &t);
    MPI_Type_commit(&t);
    return t;
}

/* ---- where the bytes are ---- */

/* Offsets of the data bytes of n items, from the address MPI is given: what MPI_Pack makes of
 * memory that holds its own offsets. */
struct layout {
    long *offset;
    size_t count;
    long low, high;
};

static void layout_make(struct layout *l, MPI_Datatype type, int n)
{
    MPI_Aint lb, extent, low, span;
    int size, at = 0;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &low, &span);
    *l = (struct layout){.count = (size_t)size * (size_t)n};
    l->offset = check_alloc((l->count + 1) * sizeof *l->offset);
    memset(l->offset, 0, l->count * sizeof *l->offset);
    l->low = low < 0 ? (long)low : 0;
    l->high = (long)(low + span + (n - 1) * extent);
    if (l->count == 0)
        return;
    size_t bytes = (size_t)(l->high - l->low);
    unsigned char *image = check_alloc(bytes), *packed = check_alloc(l->count);
    for (int shift = 0; shift < 24; shift += 8) {
        for (size_t i = 0; i < bytes; i++)
            image[i] = (unsigned char)(i >> shift);
        at = 0;
        OK(MPI_Pack(image - l->low, n, type, packed, (int)l->count, &at, MPI_COMM_SELF));
        CHECK_EQUAL(at, l->count);
        for (size_t i = 0; i < l->count; i++)
            l->offset[i] |= (long)packed[i] << shift;
    }
    for (size_t i = 0; i < l->count; i++)
        l->offset[i] += l->low;
    free(image);
    free(packed);
}

#endif
