/* datatype_array.c - subarray and distributed array types (MPI 3.1, 4.1.3 and 4.1.4) as segments.
 */
#include <stdlib.h>

#include "datatype/datatype.h"

/* The indices one process has along one dimension: runs of (start, length). */
struct axis {
    int64_t (*run)[2];
    size_t runs;
    int64_t stride; /* elements between neighbours along this dimension */
};

/* Nested loops over all axes but the fastest, whose runs become segments. axis[0] is the slowest.
 */
static void axes_segments(const struct axis *axis, int n, const struct ztype *t, int64_t first,
                          struct zsegments *s)
{
    for (size_t r = 0; r < axis->runs && !s->failed; r++) {
        int64_t start = axis->run[r][0], length = axis->run[r][1];
        if (n == 1) {
            zsegments_repeat(s, t, (first + start) * t->extent, length);
            continue;
        }
        for (int64_t i = 0; i < length && !s->failed; i++)
            axes_segments(axis + 1, n - 1, t, first + (start + i) * axis->stride, s);
    }
}

/* Put the axes in order, slowest first, with their strides; size: of the whole array, as given. */
static void axes_order(struct axis *axis, int n, const int64_t *size, bool fortran)
{
    int64_t stride = 1;
    for (int k = n - 1; k >= 0; k--) {
        int i = fortran ? n - 1 - k : k;
        axis[i].stride = stride;
        stride *= size[i];
    }
    for (int i = 0; fortran && i < n / 2; i++) {
        struct axis swap = axis[i];
        axis[i] = axis[n - 1 - i];
        axis[n - 1 - i] = swap;
    }
}

static struct axis *axes_new(int n)
{
    return calloc((size_t)n, sizeof(struct axis));
}

static void axes_free(struct axis *axis, int n)
{
    for (int i = 0; axis && i < n; i++)
        free(axis[i].run);
    free(axis);
}

int ztype_subarray(const struct zcontents *c, struct zsegments *s)
{
    const int n = (int)c->integer[0];
    const int64_t *size = c->integer + 1, *subsize = size + n, *start = subsize + n;
    struct axis *axis = axes_new(n);
    if (!axis)
        return MPI_ERR_NO_MEM;
    bool failed = false;
    for (int i = 0; i < n && !failed; i++) {
        axis[i].run = malloc(sizeof *axis[i].run);
        failed = !axis[i].run;
        if (failed)
            break;
        axis[i].runs = 1;
        axis[i].run[0][0] = start[i];
        axis[i].run[0][1] = subsize[i];
    }
    if (!failed) {
        axes_order(axis, n, size, start[n] == MPI_ORDER_FORTRAN);
        axes_segments(axis, n, &c->child[0], 0, s);
    }
    axes_free(axis, n);
    return failed ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* The block size that MPI_DISTRIBUTE_DFLT_DARG means. */
static int64_t block_size(int64_t distribution, int64_t argument, int64_t size, int64_t processes)
{
    if (argument != MPI_DISTRIBUTE_DFLT_DARG)
        return argument;
    return distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
}

/* Runs of process `at` of `processes` along a dimension of `size`. */
static bool distribute(struct axis *axis, int64_t distribution, int64_t argument, int64_t size,
                       int64_t processes, int64_t at)
{
    int64_t block = size;
    if (distribution == MPI_DISTRIBUTE_NONE) {
        at = 0;
        processes = 1;
    } else {
        block = block_size(distribution, argument, size, processes);
    }
    if (block < 1)
        block = 1;
    size_t most = (size_t)(size / (block * processes) + 1);
    axis->run = malloc(most * sizeof *axis->run);
    if (!axis->run)
        return false;
    for (int64_t start = at * block; start < size; start += block * processes) {
        axis->run[axis->runs][0] = start;
        axis->run[axis->runs++][1] = size - start < block ? size - start : block;
    }
    return true;
}

int ztype_darray(const struct zcontents *c, struct zsegments *s)
{
    const int64_t *p = c->integer;
    const int n = (int)p[2];
    const int64_t *size = p + 3, *distribution = size + n, *argument = distribution + n,
                  *processes = argument + n;
    const bool fortran = processes[n] == MPI_ORDER_FORTRAN;
    struct axis *axis = axes_new(n);
    if (!axis)
        return MPI_ERR_NO_MEM;
    /* Process coordinates are row-major in the process grid whatever the array's order. */
    int64_t left = p[1];
    bool failed = false;
    for (int i = n - 1; i >= 0 && !failed; i--) {
        failed = !distribute(&axis[i], distribution[i], argument[i], size[i], processes[i],
                             left % processes[i]);
        left /= processes[i];
    }
    if (!failed) {
        axes_order(axis, n, size, fortran);
        axes_segments(axis, n, &c->child[0], 0, s);
    }
    axes_free(axis, n);
    return failed ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}
