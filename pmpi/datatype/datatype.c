/* datatype.c - any MPI datatype as a list of byte runs, from its envelope (MPI 3.1, 4.1.13). */
#include "datatype/datatype.h"

#include <stdlib.h>
#include <string.h>

/* ---- basic types ---- */

static bool is_one_of(MPI_Datatype t, const MPI_Datatype *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == t && t != MPI_DATATYPE_NULL)
            return true;
    return false;
}

#define IS_ONE_OF(t, ...)                                                                          \
    is_one_of(t, (const MPI_Datatype[]){__VA_ARGS__},                                              \
              sizeof((const MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype))

/* Element kind of a predefined type, or of one that a Fortran program asked for by its digits.
 * Fortran's REAL may be 8 bytes long, by a compiler's option: sizes decide. Complex counts as two.
 */
static enum zmpi_type element_of_named(MPI_Datatype t, int combiner, uint64_t size)
{
    bool real =
        combiner == MPI_COMBINER_F90_REAL ||
        IS_ONE_OF(t, MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8);
    if (real && (size == 4 || size == 8))
        return size == 4 ? ZMPI_F32 : ZMPI_F64;
    bool complex_type = combiner == MPI_COMBINER_F90_COMPLEX ||
                        IS_ONE_OF(t, MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                                  MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16,
                                  MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX);
    if (complex_type && (size == 8 || size == 16))
        return size == 8 ? ZMPI_F32 : ZMPI_F64;
    bool integer = combiner == MPI_COMBINER_F90_INTEGER ||
                   IS_ONE_OF(t, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG,
                             MPI_UNSIGNED_LONG_LONG, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T,
                             MPI_UINT64_T, MPI_INTEGER, MPI_INTEGER4, MPI_INTEGER8, MPI_AINT,
                             MPI_OFFSET, MPI_COUNT, MPI_LOGICAL);
    if (integer && (size == 4 || size == 8))
        return size == 4 ? ZMPI_I32 : ZMPI_I64;
    return ZMPI_BYTES;
}

static void named_segments(MPI_Datatype t, uint64_t size, struct zsegments *s)
{
    if (t == MPI_SHORT_INT) { /* the one pair with a hole inside */
        struct {
            short value;
            int index;
        } pair;
        zsegments_add(s, 0, sizeof pair.value);
        zsegments_add(s, (char *)&pair.index - (char *)&pair, sizeof pair.index);
        return;
    }
    zsegments_add(s, 0, size);
}

/* ---- derived types ---- */

/* `count` blocks of `length` children; block i begins at displacement(i). */
static void vector_segments(const struct zcontents *c, int64_t stride, struct zsegments *s)
{
    for (int64_t i = 0; i < c->integer[0]; i++)
        zsegments_repeat(s, &c->child[0], i * stride, c->integer[1]);
}

static void derived_segments(const struct zcontents *c, struct zsegments *s)
{
    const int64_t *n = c->integer, *a = c->address;
    const struct ztype *t = c->child;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        zsegments_repeat(s, t, 0, 1);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        zsegments_repeat(s, t, 0, n[0]);
        break;
    case MPI_COMBINER_VECTOR:
        vector_segments(c, n[2] * t->extent, s);
        break;
    case MPI_COMBINER_HVECTOR:
        vector_segments(c, a[0], s);
        break;
    case MPI_COMBINER_INDEXED:
        for (int64_t i = 0; i < n[0]; i++)
            zsegments_repeat(s, t, n[1 + n[0] + i] * t->extent, n[1 + i]);
        break;
    case MPI_COMBINER_HINDEXED:
        for (int64_t i = 0; i < n[0]; i++)
            zsegments_repeat(s, t, a[i], n[1 + i]);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        for (int64_t i = 0; i < n[0]; i++)
            zsegments_repeat(s, t, n[2 + i] * t->extent, n[1]);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (int64_t i = 0; i < n[0]; i++)
            zsegments_repeat(s, t, a[i], n[1]);
        break;
    case MPI_COMBINER_STRUCT:
        for (int64_t i = 0; i < n[0]; i++)
            zsegments_repeat(s, &t[i], a[i], n[1 + i]);
        break;
    }
}

/* ---- shapes ---- */

void zshape_prepend(size_t shape[3], size_t n)
{
    if (shape[2] == 1)
        shape[2] = n;
    else if (shape[1] == 1)
        shape[1] = n;
    else
        shape[0] *= n;
}

/* The dimension that the outermost constructor adds to its child's shape; if it tells nothing, all
 * elements are one row. */
static void derived_shape(const struct zcontents *c, struct ztype *t)
{
    const int64_t *n = c->integer;
    memcpy(t->shape, c->child[0].shape, sizeof t->shape);
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        break;
    case MPI_COMBINER_CONTIGUOUS:
        zshape_prepend(t->shape, (size_t)n[0]);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        zshape_prepend(t->shape, (size_t)n[1]);
        zshape_prepend(t->shape, (size_t)n[0]);
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        if (n[0] == 1)
            zshape_prepend(t->shape, (size_t)n[1]);
        break;
    case MPI_COMBINER_SUBARRAY:
        for (int64_t i = 0; i < n[0]; i++) /* fastest first */
            zshape_prepend(
                t->shape,
                (size_t)n[1 + n[0] + (n[1 + 3 * n[0]] == MPI_ORDER_FORTRAN ? i : n[0] - 1 - i)]);
        break;
    }
}

static void vector_extents(const struct zcontents *c, struct zextents *e)
{
    const int64_t *n = c->integer;
    const int64_t extent = c->child[0].extent;
    const int64_t stride = c->combiner == MPI_COMBINER_VECTOR ? n[2] * extent : c->address[0];
    zextents_prepend(e, (size_t)n[1], n[0] < 2 || stride == n[1] * extent);
    zextents_prepend(e, (size_t)n[0], true);
}

static void subarray_extents(const struct zcontents *c, struct zextents *e)
{
    const int64_t n = c->integer[0], *size = c->integer + 1, *subsize = size + n;
    const bool fortran = subsize[2 * n] == MPI_ORDER_FORTRAN;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = fortran ? i : n - 1 - i;
        zextents_prepend(e, (size_t)subsize[k], subsize[k] == size[k]);
    }
}

static void struct_extents(const struct zcontents *c, struct ztype *t)
{
    const size_t blocks = (size_t)c->integer[0], all = t->size / zmpi_type_size(t->element);
    const struct zextents **member = malloc((blocks + 1) * sizeof *member);
    size_t members = 0;
    for (size_t i = 0; member && i < blocks; i++)
        if (c->integer[1 + i] > 0 && c->child[i].size > 0)
            member[members++] = &c->child[i].extents;
    t->extents = member ? zextents_struct(member, members, all) : zextents_row(all);
    free(member);
}

/* As derived_shape, for all extents. */
static void derived_extents(const struct zcontents *c, struct ztype *t)
{
    const int64_t *n = c->integer;
    t->extents = c->child[0].extents;
    if (c->combiner == MPI_COMBINER_CONTIGUOUS)
        zextents_prepend(&t->extents, (size_t)n[0], true);
    else if (c->combiner == MPI_COMBINER_VECTOR || c->combiner == MPI_COMBINER_HVECTOR)
        vector_extents(c, &t->extents);
    else if (c->combiner == MPI_COMBINER_SUBARRAY)
        subarray_extents(c, &t->extents);
    else if (c->combiner == MPI_COMBINER_STRUCT)
        struct_extents(c, t);
    else if (c->combiner != MPI_COMBINER_DUP && c->combiner != MPI_COMBINER_RESIZED)
        t->extents = zextents_row(t->size / zmpi_type_size(t->element));
}

/* A shape that does not hold all elements is none. */
static void complete_shape(struct ztype *t)
{
    size_t all = t->size / zmpi_type_size(t->element);
    struct zmpi_array a = {t->element, {t->shape[0], t->shape[1], t->shape[2]}};
    size_t count;
    if (zmpi_array_count(&a, &count) || count != all) {
        t->shape[0] = t->shape[1] = 1;
        t->shape[2] = all;
    }
}

static enum zmpi_type common_element(const struct zcontents *c)
{
    enum zmpi_type element = ZMPI_BYTES;
    bool first = true;
    for (size_t i = 0; i < c->datatypes; i++) {
        const struct ztype *t = &c->child[i];
        if (t->size == 0)
            continue;
        if (!first && t->element != element)
            return ZMPI_BYTES;
        element = t->element;
        first = false;
    }
    return element;
}

static int flatten_derived(const struct zcontents *c, struct ztype *t, struct zsegments *s)
{
    t->element = common_element(c);
    derived_shape(c, t);
    derived_extents(c, t);
    if (c->combiner == MPI_COMBINER_SUBARRAY)
        return ztype_subarray(c, s);
    if (c->combiner == MPI_COMBINER_DARRAY)
        return ztype_darray(c, s);
    derived_segments(c, s);
    return MPI_SUCCESS;
}

int ztype_size(MPI_Datatype datatype, MPI_Count *size)
{
    return datatype == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : PMPI_Type_size_x(datatype, size);
}

static int describe(MPI_Datatype datatype, struct ztype *t)
{
    MPI_Count size, lb, extent;
    memset(t, 0, sizeof *t);
    int rc = ztype_size(datatype, &size);
    if (!rc)
        rc = PMPI_Type_get_extent_x(datatype, &lb, &extent);
    if (rc)
        return rc;
    t->size = (uint64_t)size;
    t->lb = lb;
    t->extent = extent;
    return MPI_SUCCESS;
}

/* t takes over the runs. */
static int take_segments(struct ztype *t, const struct zsegments *s)
{
    uint64_t before = 0;
    t->segment = s->segment;
    t->count = s->count;
    for (size_t i = 0; i < t->count; i++) {
        t->segment[i].before = before;
        before += t->segment[i].length;
    }
    if (s->failed)
        return MPI_ERR_NO_MEM;
    if (before != t->size) /* a constructor this code does not know */
        return MPI_ERR_TYPE;
    complete_shape(t);
    t->dense = t->count <= 1 && t->lb == 0 && (uint64_t)t->extent == t->size &&
               (t->count == 0 || t->segment[0].offset == 0);
    return MPI_SUCCESS;
}

static int make_named(MPI_Datatype datatype, struct ztype *t)
{
    struct zsegments s = {0};
    int combiner, rc = ztype_combiner(datatype, &combiner);
    if (rc)
        return rc;
    t->element = element_of_named(datatype, combiner, t->size);
    t->shape[0] = t->shape[1] = 1;
    t->shape[2] = t->size / zmpi_type_size(t->element);
    t->extents.is_complex = t->shape[2] == 2;
    if (!t->extents.is_complex)
        t->extents = zextents_row(t->shape[2]);
    named_segments(datatype, t->size, &s);
    return take_segments(t, &s);
}

/* A derived type whose children are being made. Programs nest types tens of thousands deep, which
 * the stack would not hold. */
struct level {
    struct level *outer;
    struct zcontents c;
    struct ztype *t;
    size_t next; /* child */
};

static int enter(struct level **inner, MPI_Datatype datatype, struct ztype *t)
{
    int rc = describe(datatype, t);
    if (rc)
        return rc;
    if (ztype_is_predefined(datatype))
        return make_named(datatype, t);
    struct level *l = calloc(1, sizeof *l);
    if (!l)
        return MPI_ERR_NO_MEM;
    l->outer = *inner;
    l->t = t;
    *inner = l;
    return zcontents_get(datatype, &l->c);
}

static void leave(struct level **inner)
{
    struct level *l = *inner;
    *inner = l->outer;
    zcontents_free(&l->c);
    free(l);
}

static int complete(struct level *l)
{
    struct zsegments s = {0};
    int rc = flatten_derived(&l->c, l->t, &s);
    int taken = take_segments(l->t, &s);
    return rc ? rc : taken;
}

int ztype_make(MPI_Datatype datatype, struct ztype *t)
{
    struct level *inner = NULL;
    int rc = enter(&inner, datatype, t);
    while (inner && !rc) {
        if (inner->next < inner->c.datatypes) {
            const size_t i = inner->next++;
            rc = enter(&inner, inner->c.datatype[i], &inner->c.child[i]);
        } else {
            rc = complete(inner);
            leave(&inner);
        }
    }
    while (inner)
        leave(&inner);
    if (rc)
        ztype_free(t);
    return rc;
}

size_t ztype_segment(const struct ztype *t, uint64_t at)
{
    size_t low = 0, high = t->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->segment[middle].before <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}
