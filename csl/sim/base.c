/* base.c - memory, errors and names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define BLOCK_SIZE ((size_t)64 << 10)

struct block {
    struct block *next;
    size_t size, used;
    _Alignas(16) unsigned char bytes[];
};

void *csl_alloc(struct arena *a, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    struct block *b = a->blocks;
    if (b == NULL || b->size - b->used < size) {
        size_t capacity = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
        if (capacity > a->limit - a->used)
            csl_fail(a, CSL_ERR_MEMORY, "the program needs more than %zu MB on the host",
                     a->limit >> 20);
        struct block *fresh = calloc(1, sizeof *fresh + capacity);
        if (fresh == NULL)
            csl_fail(a, CSL_ERR_MEMORY, "out of memory");
        a->used += capacity;
        fresh->size = capacity;
        if (b != NULL && capacity == size) { /* a block of its own: the open one stays in front */
            fresh->used = size;
            fresh->next = b->next;
            b->next = fresh;
            return fresh->bytes;
        }
        fresh->next = b;
        a->blocks = b = fresh;
    }
    void *p = b->bytes + b->used;
    b->used += size;
    return p;
}

void *csl_alloc_array(struct arena *a, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX >> 1) / size)
        csl_fail(a, CSL_ERR_MEMORY, "out of memory");
    return csl_alloc(a, count * size);
}

void csl_free_all(struct arena *a)
{
    while (a->blocks != NULL) {
        struct block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    a->used = 0;
}

void *csl_grow(struct arena *a, void *old, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return old;
    size_t more = *capacity == 0 ? 8 : *capacity * 2;
    void *fresh = csl_alloc_array(a, more, size);
    if (count > 0)
        memcpy(fresh, old, count * size);
    *capacity = more;
    return fresh;
}

_Noreturn void csl_fail(struct arena *a, enum csl_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->message, sizeof a->message, format, args);
    va_end(args);
    a->status = status;
    longjmp(a->failed, 1);
}

_Noreturn void csl_fail_at(struct arena *a, struct pos pos, const char *format, ...)
{
    int n = 0;
    if (pos.source != NULL)
        n = snprintf(a->message, sizeof a->message, "%s:%u:%u: ", pos.source->path, pos.line,
                     pos.column);
    if (n < 0 || (size_t)n >= sizeof a->message)
        n = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(a->message + n, sizeof a->message - (size_t)n, format, args);
    va_end(args);
    a->status = CSL_ERR_SOURCE;
    longjmp(a->failed, 1);
}

char *csl_format(struct arena *a, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    char *copy = csl_alloc(a, strlen(line) + 1);
    strcpy(copy, line);
    return copy;
}

bool csl_str_is(struct str s, const char *text)
{
    return strlen(text) == s.n && memcmp(s.p, text, s.n) == 0;
}

bool csl_str_same(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

struct str csl_str(const char *text)
{
    return (struct str){text, strlen(text)};
}
