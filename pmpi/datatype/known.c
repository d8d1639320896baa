/* known.c - memory of the program whose element types a library knows. */
#include "datatype/known.h"

static _Thread_local const struct zknown_list *current;

void zknown_begin(struct zknown_list *list)
{
    list->outer = current;
    current = list;
}

void zknown_end(const struct zknown_list *list)
{
    current = list->outer;
}

const struct zknown_rule *zknown_rule(void)
{
    return current && !current->small ? &current->rule : NULL;
}

bool zknown_is_exact(void)
{
    return !current || current->small || current->count == 0;
}

static const struct zknown *find(uintptr_t address)
{
    for (size_t i = 0; i < current->count; i++)
        if (address >= current->known[i].begin && address < current->known[i].end)
            return &current->known[i];
    return NULL;
}

/* Are the bytes whole elements that are known, and of the same type as those of *first, which is
 * NULL before? Arrays may lie one behind the other. *alike: they are all in the first one. */
static bool look(uintptr_t address, uint64_t length, const struct zknown **first, bool *alike)
{
    while (length > 0) {
        const struct zknown *k = find(address);
        if (!k || (*first && k->element != (*first)->element))
            return false;
        const uint64_t part = length < k->end - address ? length : k->end - address;
        const size_t width = zmpi_type_size(k->element);
        if ((address - k->begin) % width != 0 || part % width != 0)
            return false;
        *first = *first ? *first : k;
        *alike = *alike && k == *first;
        address += part;
        length -= part;
    }
    return true;
}

/* The known array that has all segments of the call, or the first of several; NULL: at least one
 * byte belongs to none. */
static const struct zknown *look_all(const struct ztype *t, uintptr_t buf, MPI_Count count,
                                     bool *alike)
{
    const struct zknown *first = NULL;
    for (MPI_Count i = 0; i < count; i++)
        for (size_t k = 0; k < t->count; k++) {
            const uintptr_t at =
                buf + (uintptr_t)((int64_t)i * t->extent) + (uintptr_t)t->segment[k].offset;
            if (!look(at, t->segment[k].length, &first, alike))
                return NULL;
        }
    return first;
}

/* Whole planes or rows; else one row, whose shape the data may tell. */
static void set_shape(struct zmemory *m, const struct zknown *k)
{
    const size_t count = m->bytes / zmpi_type_size(m->element), plane = k->row * k->rows;
    const bool rows = k->row > 1 && count % k->row == 0 && count > k->row;
    const bool planes = rows && k->rows > 1 && count % plane == 0;
    m->shape[0] = planes ? count / plane : 1;
    m->shape[1] = planes ? k->rows : rows ? count / k->row : 1;
    m->shape[2] = rows ? k->row : count;
}

void zknown_look(struct zmemory *m, const struct ztype *t, const void *buf, MPI_Count count)
{
    const struct zknown *k = NULL;
    bool alike = true;
    if (!current || m->element != ZMPI_BYTES || m->bytes == 0)
        return;
    if (current->small) {
        m->known = true;
        m->array = 1;
        return;
    }
    if (!m->data)
        k = look_all(t, (uintptr_t)buf, count, &alike);
    else if (!look((uintptr_t)m->data, m->bytes, &k, &alike))
        return;
    if (!k)
        return;
    m->element = k->element;
    m->known = true;
    m->array = alike ? k->all : 0;
    m->written = alike ? k->written : 0;
    set_shape(m, alike ? k : &(struct zknown){.element = k->element});
}
