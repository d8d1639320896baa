/* write_shape.c - finds the shape of a write call's array. */
#include "judge/shape.h"
#include "transfer/write_plan.h"

#include <stdlib.h>
#include <string.h>

static bool is_shape_of(const size_t shape[3], size_t count)
{
    struct zmpi_array a = {ZMPI_BYTES, {shape[0], shape[1], shape[2]}};
    size_t n;
    return zmpi_array_count(&a, &n) == ZMPI_OK && n == count && shape[2] > 0;
}

/* Finds the shape from the filetype, if the call has whole planes or whole rows of its array, one
 * behind the other. */
static bool shape_of_view(const struct zview *v, const struct zplan *p, size_t shape[3])
{
    const struct ztype *t = &v->file;
    uint64_t row = t->shape[2] * zmpi_type_size(t->element), plane = t->shape[1] * row;
    uint64_t bytes = p->memory.bytes;
    if (t->element != p->memory.element || t->size == 0 || t->shape[2] == 1)
        return false;
    if (p->position % row || bytes % row)
        return false;
    bool planes = t->shape[1] > 1 && p->position % plane == 0 && bytes % plane == 0;
    shape[0] = planes ? bytes / plane : 1;
    shape[1] = planes ? t->shape[1] : bytes / row;
    shape[2] = t->shape[2];
    return shape[1] > 1;
}

/* Finds the shape from regular rows. A view without types (of MPI_BYTE, say) may have them, too. */
static bool shape_of_extent(const struct zmpi_extent *e, size_t width, size_t shape[3])
{
    if (e->levels < 1 || e->levels > ZMPI_EXTENT_LEVELS || e->run % width)
        return false;
    shape[2] = e->run / width;
    shape[1] = e->count[0];
    shape[0] = 1;
    for (unsigned i = 1; i < e->levels; i++)
        shape[0] *= e->count[i];
    return true;
}

/* Warns, once for a file, that the shape that was set does not fit a call of many floats. */
static void tell_of_shape(struct zfile *f, const struct zplan *p)
{
    const size_t *s = f->options.shape;
    const uint64_t floats = zplan_floats(p);
    if (s[0] == 0 || f->data.shape_warned || f->rank != 0 ||
        floats <= (uint64_t)f->options.exact_below)
        return;
    f->data.shape_warned = true;
    zmpi_log(
        ZMPI_LOG_WARN,
        "%s: shape %zux%zux%zu (zmpi_shape, ZMPI_SHAPE) does not fit a call of %llu values and is "
        "ignored",
        f->path, s[0], s[1], s[2], (unsigned long long)floats);
}

/* Only floats in this machine's byte order are searched: bytes of others do not resemble those a
 * row before. Data in a device's memory are copied for the search, so that files are the same as
 * from host buffers. */
void zplan_shape_of_data(struct zfile *f, struct zplan *p, int of, size_t count)
{
    const struct zmemory *m = &p->memory;
    const size_t *s = p->shape;
    bool is_new = false;
    if (count < ZMPI_SHAPE_LEAST || f->data.mistyped || f->data.format || !f->options.bound_set ||
        m->bytes % zmpi_type_size(m->element) || (m->element != ZMPI_F32 && m->element != ZMPI_F64))
        return;
    const bool looks = zmpi_shape_will_look(&f->data.shapes, m->element, count);
    void *copy = m->holder && looks ? malloc(m->bytes) : NULL;
    if (m->holder && looks && (!copy || zmpi_device_move(m->holder, copy, m->data, m->bytes))) {
        free(copy); /* the call stays a row; the code that uses the data reports the failure */
        return;
    }
    const struct zmpi_bound bound = zfile_bound(f, m->element);
    const struct zmpi_column data = {copy ? copy : m->data, count, of};
    zmpi_shape_recall(&f->data.shapes, m->element, &bound, f->options.threshold, &data, count,
                      p->shape, &is_new);
    free(copy);
    p->shape_from = p->shape[1] > 1 ? ZMPI_SHAPE_DATA : p->shape_from;
    if (is_new)
        zmpi_log(ZMPI_LOG_INFO,
                 "%s: rank %d: calls of %zu values are arrays of %zux%zux%zu, as their data look "
                 "(zmpi_shape, ZMPI_SHAPE: another shape)",
                 f->path, f->rank, count, s[0], s[1], s[2]);
}

void zplan_find_shape(struct zfile *f, struct zplan *p)
{
    size_t width = zmpi_type_size(p->memory.element), count = p->memory.bytes / width;
    if (is_shape_of(f->options.shape, count)) {
        memcpy(p->shape, f->options.shape, sizeof p->shape);
        p->shape_from = ZMPI_SHAPE_SET;
        return;
    }
    tell_of_shape(f, p);
    p->shape_from = ZMPI_SHAPE_VIEW;
    if (shape_of_view(&f->view, p, p->shape) && is_shape_of(p->shape, count))
        return;
    memcpy(p->shape, p->memory.shape, sizeof p->shape);
    p->shape_from = ZMPI_SHAPE_DATATYPE;
    if (p->shape[1] > 1 && is_shape_of(p->shape, count))
        return;
    p->shape_from = ZMPI_SHAPE_RUNS;
    if (shape_of_extent(&p->extent, width, p->shape) && is_shape_of(p->shape, count))
        return;
    p->shape_from = ZMPI_SHAPE_NONE;
    p->shape[0] = p->shape[1] = 1;
    p->shape[2] = count;
}
