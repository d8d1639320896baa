/* extents.c - extents by constructors, and the components that they tell. */
#include "datatype/extents.h"

#include "judge/components.h"

/* Fewer are an array in space. */
enum { EXTENTS_OF_COMPONENTS = 4 };

void zextents_prepend(struct zextents *e, size_t n, bool whole)
{
    if (n == 1)
        return;
    if (e->count < ZEXTENTS_MOST) {
        e->n[e->count] = n;
        e->whole[e->count++] = whole;
        return;
    }
    e->n[ZEXTENTS_MOST - 1] *= n;
    e->whole[ZEXTENTS_MOST - 1] = false;
}

struct zextents zextents_row(size_t count)
{
    struct zextents e = {0};
    zextents_prepend(&e, count, false);
    return e;
}

/* Do all members consist of points of as many components? */
static bool have_like_points(const struct zextents *const member[], size_t members)
{
    for (size_t i = 0; i < members; i++)
        if (zextents_components(member[i]) < 2 || member[i]->n[0] != member[0]->n[0])
            return false;
    return members > 0;
}

/* Neither parts of larger arrays nor complex numbers. */
static bool are_whole(const struct zextents *const member[], size_t members)
{
    for (size_t i = 0; i < members; i++) {
        if (member[i]->is_complex)
            return false;
        for (unsigned k = 0; k < member[i]->count; k++)
            if (!member[i]->whole[k])
                return false;
    }
    return true;
}

struct zextents zextents_struct(const struct zextents *const member[], size_t members, size_t total)
{
    struct zextents e = {0};
    const bool like = have_like_points(member, members);
    if (like) {
        zextents_prepend(&e, member[0]->n[0], true);
        zextents_prepend(&e, total / e.n[0], false);
    } else if (total > 1 && total <= ZMPI_COMPONENTS_MOST && are_whole(member, members)) {
        zextents_prepend(&e, total, true);
    } else {
        return zextents_row(total);
    }
    e.is_point = true;
    return e;
}

int zextents_components(const struct zextents *e)
{
    if (e->is_point)
        return (int)e->n[0];
    if (e->count < EXTENTS_OF_COMPONENTS)
        return 1;
    const size_t inner = e->n[0], outer = e->n[e->count - 1];
    const bool is_fast = e->whole[0] && inner <= ZMPI_COMPONENTS_FAST;
    const bool is_slow = e->whole[e->count - 1] && outer <= ZMPI_COMPONENTS_MOST;
    if (is_fast && (!is_slow || inner <= outer))
        return e->is_complex ? 1 : (int)inner;
    return is_slow ? -(int)outer : 1;
}
