/* interp_exceptions.c - the elements of a tile that are no integers, in a chunk: runs of those with
 * the usual word, and of the others, with their words (format.md 1.5). */
#include <string.h>

#include "base/bytes.h"
#include "interp/interp_work.h"

enum { FLAG_FILL = 1, FLAG_OTHERS = 2 };

/* ---- numbers of any size ---- */

unsigned char *zmpi_interp_put_varint(unsigned char *at, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        *at++ = (unsigned char)(n | 128);
    *at++ = (unsigned char)n;
    return at;
}

const unsigned char *zmpi_interp_take_varint(const unsigned char *at, const unsigned char *end,
                                             uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; at < end && shift < 63; shift += 7) {
        *n |= (uint64_t)(*at & 127) << shift;
        if (*at++ < 128)
            return at;
    }
    return NULL;
}

/* ---- exceptions ---- */

/* Writes the lengths of runs of elements that are not, and that are, of kind `of`, up to the last
 * one that is. NULL: they take too much. */
static unsigned char *put_runs(unsigned char *at, const unsigned char *end,
                               const unsigned char *kind, size_t n, unsigned char of)
{
    size_t last = n;
    while (last > 0 && kind[last - 1] != of)
        last--;
    for (size_t i = 0; i < last;) {
        size_t begin = i;
        while (kind[i] != of)
            i++;
        if (end - at < 20)
            return NULL;
        at = zmpi_interp_put_varint(at, i - begin);
        begin = i;
        while (i < last && kind[i] == of)
            i++;
        at = zmpi_interp_put_varint(at, i - begin);
    }
    *at++ = 0;
    *at++ = 0;
    return at;
}

/* Reads such runs and marks their elements; NULL: they are damaged. *count: the marked elements. */
static const unsigned char *take_runs(const unsigned char *at, const unsigned char *end,
                                      unsigned char *kind, size_t n, unsigned char of,
                                      size_t *count)
{
    size_t i = 0;
    *count = 0;
    for (;;) {
        uint64_t gap, length;
        if (!(at = zmpi_interp_take_varint(at, end, &gap)) ||
            !(at = zmpi_interp_take_varint(at, end, &length)))
            return NULL;
        if (!length)
            return gap || !*count ? NULL : at;
        if (gap > n - i || length > n - i - gap || (!gap && *count))
            return NULL;
        i += gap;
        for (uint64_t k = 0; k < length; k++) {
            if (kind[i])
                return NULL;
            kind[i++] = of;
        }
        *count += length;
    }
}

/* Returns the word of most exceptions, if most are alike; NULL: there are no exceptions. Exceptions
 * that have only too large an error vote only if there are no others. */
static const unsigned char *usual_exception(const struct zmpi_interp_work *w,
                                            const size_t extent[3], const struct zmpi_rows *src,
                                            size_t width)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const unsigned char *candidate = NULL;
    unsigned char least = 2;
    size_t votes = 0;
    for (size_t i = 0; i < n && least == 2; i++)
        least = w->exception[i] == 1 ? 1 : least;
    for (size_t i = 0; i < n; i++) {
        if (w->exception[i] != least)
            continue;
        const unsigned char *word = zmpi_interp_word(src, extent, i, width);
        if (!votes)
            candidate = word;
        votes += memcmp(word, candidate, width) == 0 ? 1 : (size_t)-1;
    }
    return candidate;
}

unsigned char *zmpi_interp_put_exceptions(struct zmpi_interp_work *w, const size_t extent[3],
                                          const struct zmpi_rows *src, size_t width,
                                          unsigned char *flags, unsigned char *at,
                                          const unsigned char *end)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    unsigned char *kind = w->exception, any = 0;
    for (size_t i = 0; i < n && !(w->sure && !w->flare); i++)
        any |= kind[i];
    if (!any)
        return at;
    const unsigned char *fill = usual_exception(w, extent, src, width);
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        if (!kind[i])
            continue;
        kind[i] = memcmp(zmpi_interp_word(src, extent, i, width), fill, width) == 0 ? 1 : 2;
        others += kind[i] == 2;
    }
    if (fill) {
        *flags |= FLAG_FILL;
        zmpi_copy_elements(at, fill, width, width);
        if (!(at = put_runs(at + width, end, kind, n, 1)))
            return NULL;
    }
    if (!others)
        return at;
    *flags |= FLAG_OTHERS;
    if (!(at = put_runs(at, end, kind, n, 2)) || (size_t)(end - at) < others * width)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (kind[i] == 2) {
            zmpi_copy_elements(at, zmpi_interp_word(src, extent, i, width), width, width);
            at += width;
        }
    return at;
}

/* ---- decoder ---- */

const unsigned char *zmpi_interp_take_exceptions(struct zmpi_interp_work *w, unsigned flags,
                                                 size_t n, size_t width, const unsigned char *at,
                                                 const unsigned char *end,
                                                 struct zmpi_interp_exceptions *e)
{
    *e = (struct zmpi_interp_exceptions){0};
    if (flags > (FLAG_FILL | FLAG_OTHERS))
        return NULL;
    if (!flags)
        return at;
    memset(w->exception, 0, n);
    if (flags & FLAG_FILL) {
        if ((size_t)(end - at) < width)
            return NULL;
        e->fill = at;
        if (!(at = take_runs(at + width, end, w->exception, n, 1, &e->fills)))
            return NULL;
    }
    if (flags & FLAG_OTHERS) {
        if (!(at = take_runs(at, end, w->exception, n, 2, &e->others)) ||
            (size_t)(end - at) / width < e->others)
            return NULL;
        e->values = at;
        at += e->others * width;
    }
    return at;
}

void zmpi_interp_set_exceptions(const struct zmpi_interp_work *w,
                                const struct zmpi_interp_exceptions *e, const size_t extent[3],
                                const struct zmpi_rows *dst, size_t width)
{
    const size_t n = extent[0] * extent[1] * extent[2];
    const unsigned char *next = e->values;
    if (!e->fills && !e->others)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!w->exception[i])
            continue;
        const size_t row = i / extent[2];
        unsigned char *word = dst->at + row / extent[1] * dst->plane + row % extent[1] * dst->row +
                              i % extent[2] * width;
        zmpi_copy_elements(word, w->exception[i] == 1 ? e->fill : next, width, width);
        if (w->exception[i] == 2)
            next += width;
    }
}
