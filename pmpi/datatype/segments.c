/* segments.c - a growing list of byte runs. */
#include "datatype/datatype.h"

#include <stdlib.h>
#include <string.h>

void zsegments_add(struct zsegments *s, int64_t offset, uint64_t length)
{
    if (length == 0 || s->failed)
        return;
    if (s->count) {
        struct zsegment *last = &s->segment[s->count - 1];
        if (last->offset + (int64_t)last->length == offset) {
            last->length += length;
            return;
        }
    }
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 16;
        struct zsegment *grown = realloc(s->segment, capacity * sizeof *grown);
        if (!grown) {
            s->failed = true;
            return;
        }
        s->segment = grown;
        s->capacity = capacity;
    }
    s->segment[s->count++] = (struct zsegment){.offset = offset, .length = length};
}

void zsegments_repeat(struct zsegments *s, const struct ztype *t, int64_t offset, int64_t count)
{
    if (t->dense) {
        zsegments_add(s, offset, t->size * (uint64_t)count);
        return;
    }
    for (int64_t i = 0; i < count && !s->failed; i++)
        for (size_t k = 0; k < t->count; k++)
            zsegments_add(s, offset + i * t->extent + t->segment[k].offset, t->segment[k].length);
}

void ztype_free(struct ztype *t)
{
    free(t->segment);
    memset(t, 0, sizeof *t);
}
