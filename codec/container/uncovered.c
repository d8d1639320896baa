/*
 * uncovered.c - the part of a read request that no record has served yet: an ordered set of
 * disjoint pieces.
 *
 * Pieces live in buckets of bounded size, so that a million records that each cut a piece in two
 * cost a bounded move of memory each.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_private.h"

#define BUCKET_PIECES 256

struct zmpi_bucket {
    size_t count;
    struct zmpi_piece piece[BUCKET_PIECES];
};

/* An empty bucket at place `at`. */
static struct zmpi_bucket *insert_bucket(struct zmpi_uncovered *s, size_t at)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity * 2 + 8;
        struct zmpi_bucket **grown = realloc(s->bucket, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        s->bucket = grown;
        s->capacity = capacity;
    }
    struct zmpi_bucket *b = malloc(sizeof *b);
    if (b == NULL)
        return NULL;
    b->count = 0;
    memmove(s->bucket + at + 1, s->bucket + at, (s->count - at) * sizeof(struct zmpi_bucket *));
    s->bucket[at] = b;
    s->count++;
    return b;
}

static void remove_bucket(struct zmpi_uncovered *s, size_t at)
{
    free(s->bucket[at]);
    s->count--;
    memmove(s->bucket + at, s->bucket + at + 1, (s->count - at) * sizeof(struct zmpi_bucket *));
}

void zmpi_uncovered_free(struct zmpi_uncovered *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->bucket[i]);
    free(s->bucket);
    memset(s, 0, sizeof *s);
}

static bool add_last(struct zmpi_uncovered *s, struct zmpi_piece piece)
{
    struct zmpi_bucket *last = s->count == 0 ? NULL : s->bucket[s->count - 1];
    if (last == NULL || last->count == BUCKET_PIECES / 2) {
        last = insert_bucket(s, s->count);
        if (last == NULL)
            return false;
    }
    last->piece[last->count++] = piece;
    return true;
}

enum zmpi_status zmpi_uncovered_init(struct zmpi_uncovered *s, const struct zmpi_run *runs,
                                     size_t n)
{
    uint64_t end = 0, position = 0;
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < n; i++) {
        if (runs[i].length == 0)
            continue;
        enum zmpi_status status = ZMPI_OK;
        if (runs[i].offset < end)
            status = ZMPI_ERR_ARG;
        else if (runs[i].offset > ZMPI_SIZE_MAX || runs[i].length > ZMPI_SIZE_MAX - runs[i].offset)
            status = ZMPI_ERR_SIZE;
        else if (!add_last(s, (struct zmpi_piece){runs[i].offset, runs[i].length, position}))
            status = ZMPI_ERR_MEMORY;
        if (status != ZMPI_OK) {
            zmpi_uncovered_free(s);
            return status;
        }
        position += runs[i].length;
        end = runs[i].offset + runs[i].length;
    }
    return ZMPI_OK;
}

static uint64_t end_of(const struct zmpi_piece *piece)
{
    return piece->offset + piece->length;
}

/* The place of the first piece that ends behind `offset`; false if there is none. */
static bool locate(const struct zmpi_uncovered *s, uint64_t offset, size_t *bucket, size_t *index)
{
    size_t begin = 0, end = s->count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        const struct zmpi_bucket *b = s->bucket[middle];
        if (end_of(&b->piece[b->count - 1]) > offset)
            end = middle;
        else
            begin = middle + 1;
    }
    if (begin == s->count)
        return false;
    *bucket = begin;
    const struct zmpi_bucket *b = s->bucket[begin];
    begin = 0;
    end = b->count - 1;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (end_of(&b->piece[middle]) > offset)
            end = middle;
        else
            begin = middle + 1;
    }
    *index = begin;
    return true;
}

bool zmpi_uncovered_find(const struct zmpi_uncovered *s, uint64_t offset, struct zmpi_piece *piece)
{
    size_t bucket, index;
    if (!locate(s, offset, &bucket, &index))
        return false;
    *piece = s->bucket[bucket]->piece[index];
    return true;
}

void zmpi_uncovered_range(const struct zmpi_uncovered *s, uint64_t *begin, uint64_t *end)
{
    const struct zmpi_bucket *last = s->bucket[s->count - 1];
    *begin = s->bucket[0]->piece[0].offset;
    *end = end_of(&last->piece[last->count - 1]);
}

/* Half of a full bucket goes to a new one behind it. */
static bool split_bucket(struct zmpi_uncovered *s, size_t at)
{
    struct zmpi_bucket *next = insert_bucket(s, at + 1);
    if (next == NULL)
        return false;
    struct zmpi_bucket *b = s->bucket[at];
    next->count = b->count - BUCKET_PIECES / 2;
    b->count = BUCKET_PIECES / 2;
    memcpy(next->piece, b->piece + b->count, next->count * sizeof *b->piece);
    return true;
}

static void remove_piece(struct zmpi_uncovered *s, size_t bucket, size_t index)
{
    struct zmpi_bucket *b = s->bucket[bucket];
    if (--b->count == 0)
        remove_bucket(s, bucket);
    else
        memmove(b->piece + index, b->piece + index + 1, (b->count - index) * sizeof *b->piece);
}

enum zmpi_status zmpi_uncovered_cut(struct zmpi_uncovered *s, uint64_t begin, uint64_t end)
{
    size_t bucket, index;
    if (!locate(s, begin, &bucket, &index))
        return ZMPI_ERR_ARG;
    struct zmpi_piece whole = s->bucket[bucket]->piece[index];
    struct zmpi_piece front = {whole.offset, begin - whole.offset, whole.position};
    struct zmpi_piece back = {end, end_of(&whole) - end, whole.position + (end - whole.offset)};
    if (front.length == 0 && back.length == 0) {
        remove_piece(s, bucket, index);
        return ZMPI_OK;
    }
    if (front.length == 0 || back.length == 0) {
        s->bucket[bucket]->piece[index] = front.length == 0 ? back : front;
        return ZMPI_OK;
    }
    if (s->bucket[bucket]->count == BUCKET_PIECES) {
        if (!split_bucket(s, bucket))
            return ZMPI_ERR_MEMORY;
        if (index >= BUCKET_PIECES / 2) {
            bucket++;
            index -= BUCKET_PIECES / 2;
        }
    }
    struct zmpi_bucket *b = s->bucket[bucket];
    memmove(b->piece + index + 2, b->piece + index + 1, (b->count - index - 1) * sizeof *b->piece);
    b->piece[index] = front;
    b->piece[index + 1] = back;
    b->count++;
    return ZMPI_OK;
}
