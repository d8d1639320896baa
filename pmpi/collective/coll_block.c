/* coll_block.c - what one rank gives to another, in pieces. */
#include <string.h>

#include "collective/coll.h"

/* Returns the size of a piece: whole planes, else whole rows, else as much as a message may
 * hold. */
static uint64_t piece_of(const size_t shape[3], uint64_t width, uint64_t most)
{
    uint64_t row = shape[2] * width, plane = row * shape[1];
    if (plane && plane <= most)
        return most / plane * plane;
    if (row && row <= most)
        return most / row * row;
    return most & ~(uint64_t)63;
}

static void block_make(struct zblock *b, const void *buf, MPI_Count count, const struct ztype *type,
                       const struct zmpi_options *o)
{
    struct zmpi_array said = {type->element, {o->shape[0], o->shape[1], o->shape[2]}};
    size_t elements, width = zmpi_type_size(type->element);
    *b = (struct zblock){.buf = (unsigned char *)(uintptr_t)buf, .type = type};
    b->bytes = type->size * (uint64_t)count;
    b->holder = zmemory_holder(type, buf, count);
    b->direct = zmemory_stretch(type, buf, count);
    memcpy(b->shape, type->shape, sizeof b->shape);
    zshape_prepend(b->shape, (size_t)count);
    if (said.extent[2] && !zmpi_array_count(&said, &elements) && elements == b->bytes / width)
        memcpy(b->shape, said.extent, sizeof b->shape);
    b->piece = zblock_whole(b, o->collective_piece);
}

uint64_t zblock_whole(const struct zblock *b, uint64_t most)
{
    return piece_of(b->shape, zmpi_type_size(b->type->element), most);
}

uint64_t zblock_pieces(const struct zblock *b)
{
    return (b->bytes + b->piece - 1) / b->piece;
}

uint64_t zblock_piece(const struct zblock *b, uint64_t at)
{
    uint64_t left = b->bytes - at;
    return left < b->piece ? left : b->piece;
}

struct zmpi_array zblock_array(const struct zblock *b, uint64_t bytes)
{
    struct zmpi_array a = {b->type->element, {1, 1, 1}};
    size_t count = bytes / zmpi_type_size(a.type), rows = count / b->shape[2];
    a.extent[2] = count;
    if (rows && count % b->shape[2] == 0) {
        bool planes = rows % b->shape[1] == 0;
        a.extent[2] = b->shape[2];
        a.extent[1] = planes ? b->shape[1] : rows;
        a.extent[0] = planes ? rows / b->shape[1] : 1;
    }
    return a;
}

struct zmpi_array zblock_component(const struct zmpi_array *whole, size_t n)
{
    const size_t *e = whole->extent;
    struct zmpi_array a = {whole->type, {1, 1, e[0] * e[1] * e[2] / n}};
    if (e[2] == n && e[1] > 1)
        a = (struct zmpi_array){whole->type, {1, e[0], e[1]}};
    else if (e[2] % n == 0 && e[2] > n)
        a = (struct zmpi_array){whole->type, {e[0], e[1], e[2] / n}};
    return a;
}

/* Copies bytes of the block to the host's memory. */
static bool block_get(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *dst)
{
    if (b->direct)
        return !zmpi_device_move(b->holder, dst, b->direct + at, bytes);
    return !zmemory_copy(b->type, b->holder, b->buf, at, dst, bytes, true);
}

bool zblock_put(const struct zblock *b, uint64_t at, uint64_t bytes, const unsigned char *src)
{
    if (b->direct)
        return !zmpi_device_move(b->holder, b->direct + at, src, bytes);
    return !zmemory_copy(b->type, b->holder, b->buf, at, (unsigned char *)(uintptr_t)src, bytes,
                         false);
}

/* A device gathers and spreads small runs in its memory faster than the host, if it has memory for
 * that. */
void zblock_destination(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *scratch,
                        struct zpart *part)
{
    *part = (struct zpart){.data = scratch};
    if (b->direct)
        *part = (struct zpart){.data = b->direct + at, .holder = b->holder};
    else if (b->holder)
        part->taken = b->holder->take(zmemory_first(b->type, b->buf), bytes);
    if (part->taken)
        *part = (struct zpart){part->taken, b->holder, part->taken, b->holder};
}

bool zblock_read(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *scratch,
                 struct zpart *part)
{
    zblock_destination(b, at, bytes, scratch, part);
    if (b->direct || !zmemory_copy(b->type, b->holder, b->buf, at, part->data, bytes, true))
        return true;
    zpart_free(part);
    return false;
}

bool zblock_place(const struct zblock *b, uint64_t at, uint64_t bytes, const struct zpart *part)
{
    return b->direct || !zmemory_copy(b->type, b->holder, b->buf, at, part->data, bytes, false);
}

bool zpart_to_host(struct zpart *part, uint64_t bytes, unsigned char *scratch)
{
    if (!part->holder)
        return true;
    const bool moved = !zmpi_device_move(part->holder, scratch, part->data, bytes);
    zpart_free(part);
    *part = (struct zpart){.data = scratch};
    return moved;
}

void zpart_free(struct zpart *part)
{
    if (part->taken)
        part->taker->give(part->taken);
    part->taken = NULL;
}

bool zblock_copy(const struct zblock *to, const struct zblock *from, unsigned char *scratch)
{
    uint64_t n;
    bool copied = true;
    for (uint64_t at = 0; at < from->bytes && at < to->bytes && copied; at += n) {
        n = zblock_piece(from, at);
        n = n < to->bytes - at ? n : to->bytes - at;
        copied = block_get(from, at, n, scratch) && zblock_put(to, at, n, scratch);
    }
    return copied;
}

/* ---- sides ---- */

bool zside_make(struct zside *s)
{
    s->made = s->datatype != MPI_DATATYPE_NULL && !ztype_make(s->datatype, &s->type);
    return s->made;
}

void zside_free(struct zside *s)
{
    if (s->made)
        ztype_free(&s->type);
}

/* Returns where block i begins, in elements. */
static int64_t place_of(const struct zside *s, int i)
{
    return s->places ? s->places[i] : s->large_places ? s->large_places[i] : i * s->count;
}

void zside_block(const struct zside *s, int i, const struct zmpi_options *o, struct zblock *b)
{
    uintptr_t buf = (uintptr_t)s->buf + (uintptr_t)(place_of(s, i) * s->type.extent);
    block_make(b, (const void *)buf, zside_count(s, i), &s->type, o);
}

uint64_t zside_bytes(MPI_Count count, MPI_Datatype datatype)
{
    MPI_Count size;
    uint64_t bytes;
    if (count <= 0 || datatype == MPI_DATATYPE_NULL || PMPI_Type_size_x(datatype, &size) ||
        size <= 0 || __builtin_mul_overflow((uint64_t)count, (uint64_t)size, &bytes))
        return 0;
    return bytes <= ZMPI_SIZE_MAX ? bytes : 0;
}
