/*
 * interp_books.c - Huffman codes in place of rANS (format.md 1.7). The codes of all contexts that
 * share a book follow each other: runs of zeros are long then, and a decoder has the codes before
 * it knows the contexts.
 */
#include <stdlib.h>
#include <string.h>

#include "huffman/huffman_sections.h"
#include "interp/interp_work.h"

enum { CONTEXTS = ZMPI_INTERP_CONTEXTS, SYMBOLS = ZMPI_INTERP_SYMBOLS };

struct zmpi_interp_books {
    struct zmpi_sections sections;
    struct zmpi_interp_groups groups; /* each of contexts that share a book */
    size_t end[CONTEXTS];             /* where the codes of each group end */
    int32_t code[];                   /* group by group */
};

struct zmpi_interp_books *zmpi_interp_books_new(size_t most)
{
    return malloc(sizeof(struct zmpi_interp_books) + most * sizeof(int32_t));
}

/* ---- encoder ---- */

/* Sorts the codes of the tile by group; each group keeps the order of coding. */
static void sort_codes(struct zmpi_interp_work *w)
{
    struct zmpi_interp_books *b = w->books;
    const struct codes *c = &w->codes;
    size_t next[CONTEXTS];
    for (size_t k = 0, at = 0; k < b->groups.count; k++) {
        next[k] = at;
        for (unsigned s = 0; s < SYMBOLS; s++)
            at += b->groups.counts[k][s];
        b->end[k] = at;
    }
    w->in.extra = (struct bits){.at = c->raw, .end = c->extra.at};
    for (size_t i = 0; i < c->count; i++) {
        const unsigned s = c->pair[i] & 127;
        int32_t *code = &b->code[next[b->groups.of[c->pair[i] >> 7]]++];
        const int32_t taken = zmpi_interp_direct(s);
        *code = taken < ZMPI_INTERP_RAW ? taken : zmpi_interp_take_escape(&w->in, taken);
    }
}

/* Loads the next section of codes, from `from` on; returns their number. */
static size_t load_section(struct zmpi_interp_books *b, size_t from, size_t end)
{
    const size_t n = end - from < ZMPI_SECTION ? end - from : ZMPI_SECTION;
    memcpy(b->sections.code, b->code + from, n * sizeof *b->code);
    return n;
}

size_t zmpi_interp_books_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most)
{
    struct zmpi_interp_books *b = w->books;
    struct zmpi_sections *s = &b->sections;
    unsigned char *at = dst, *end = dst + most;
    if (most < 1 + CONTEXTS + 4 * CONTEXTS)
        return 0;
    zmpi_interp_put_rest(w);
    zmpi_interp_group(w, &b->groups);
    sort_codes(w);
    *at++ = (unsigned char)b->groups.count;
    if (b->groups.count > 1) {
        memcpy(at, b->groups.of, CONTEXTS);
        at += CONTEXTS;
    }
    for (size_t k = 0, from = 0; k < b->groups.count && at; k++) {
        if (end - at < 4)
            return 0;
        zmpi_store32(at, (uint32_t)(b->end[k] - from));
        memset(s->count, 0, sizeof s->count);
        for (size_t i = from; i < b->end[k]; i += ZMPI_SECTION)
            zmpi_section_count(s, load_section(b, i, b->end[k]));
        zmpi_book_train(s->count, 2, false, ZMPI_SORT_EXACT, &s->book);
        at = zmpi_section_put_book(s, at + 4, end);
        for (size_t n; from < b->end[k] && at; from += n) {
            n = load_section(b, from, b->end[k]);
            at = zmpi_section_put(s, n, at, end);
        }
    }
    return at ? (size_t)(at - dst) : 0;
}

/* ---- decoder ---- */

/* Decodes n codes of one book to `code`. Returns the place behind them; NULL: they are damaged. */
static const unsigned char *take_group(struct zmpi_sections *s, size_t n, const unsigned char *at,
                                       const unsigned char *end, int32_t *code)
{
    at = zmpi_section_take_book(s, at, end);
    for (size_t i = 0, m; i < n && at; i += m) {
        m = n - i < ZMPI_SECTION ? n - i : ZMPI_SECTION;
        at = zmpi_section_take(s, m, at, end);
        memcpy(code + i, s->code, m * sizeof *code);
    }
    return at;
}

bool zmpi_interp_books_unpack(struct zmpi_interp_work *w, size_t codes, const unsigned char *src,
                              size_t size)
{
    struct zmpi_interp_books *b = w->books;
    const unsigned char *at = src, *end = src + size;
    size_t have = 0;
    const unsigned count = size > 0 ? *at++ : 0;
    if (count < 1 || count > CONTEXTS || (count > 1 && end - at < CONTEXTS))
        return false;
    for (unsigned k = 0; k < CONTEXTS; k++) {
        w->given.of[k] = count > 1 ? *at++ : 0;
        if (w->given.of[k] >= count)
            return false;
    }
    w->given.over = false;
    for (unsigned k = 0; k < count; k++) {
        if (end - at < 4)
            return false;
        const size_t n = zmpi_load32(at);
        if (n > codes - have || !(at = take_group(&b->sections, n, at + 4, end, b->code + have)))
            return false;
        w->given.next[k] = b->code + have;
        w->given.end[k] = b->code + (have += n);
    }
    if (have != codes || end - at > 3)
        return false;
    for (; at < end; at++)
        if (*at)
            return false;
    return true;
}
