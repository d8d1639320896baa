#include "granules.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct granules *g, uintptr_t at)
{
    const uint64_t mixed = (uint64_t)(at / 16) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(mixed >> 32) & (g->slot_count - 1);
    while (g->slots[slot] != 0 && g->list[g->slots[slot] - 1].at != at)
        slot = (slot + 1) & (g->slot_count - 1);
    return slot;
}

struct granule *zmpi_granules_find(const struct granules *g, uintptr_t at)
{
    if (g->count == 0)
        return NULL;
    const uint32_t index = g->slots[slot_of(g, at)];
    return index == 0 ? NULL : &g->list[index - 1];
}

/* Room for twice as many. */
static int grow(struct granules *g)
{
    const size_t slot_count = g->slot_count == 0 ? 64 : 2 * g->slot_count;
    struct granule *list = realloc(g->list, slot_count / 2 * sizeof *list);
    if (list == NULL)
        return 0;
    g->list = list;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (slots == NULL)
        return 0;
    free(g->slots);
    g->slots = slots;
    g->slot_count = slot_count;
    for (size_t i = 0; i < g->count; i++)
        slots[slot_of(g, list[i].at)] = (uint32_t)i + 1;
    return 1;
}

struct granule *zmpi_granules_get(struct granules *g, uintptr_t at)
{
    if (2 * g->count == g->slot_count && !grow(g))
        return NULL;
    uint32_t *slot = &g->slots[slot_of(g, at)];
    if (*slot == 0) {
        g->list[g->count] = (struct granule){.at = at};
        *slot = (uint32_t)++g->count;
    }
    return &g->list[*slot - 1];
}

void zmpi_granules_clear(struct granules *g)
{
    if (g->count != 0)
        memset(g->slots, 0, g->slot_count * sizeof *g->slots);
    g->count = 0;
}

void zmpi_granules_free(struct granules *g)
{
    free(g->list);
    free(g->slots);
    *g = (struct granules){0};
}

void zmpi_granule_put(struct granule *to, const struct granule *from)
{
    for (unsigned i = 0; i < 16; i++)
        if ((from->mask >> i & 1) != 0)
            to->bytes[i] = from->bytes[i];
    to->mask |= from->mask;
}
