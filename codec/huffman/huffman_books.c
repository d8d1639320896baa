/* huffman_books.c - books as bytes (format.md 1.4), and the books that every reader has. */
#include <pthread.h>
#include <string.h>

#include "huffman/huffman.h"
#include "huffman/huffman_offline.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, LONGEST = ZMPI_HUFFMAN_LONGEST, FIRST = 6 };

struct writer {
    unsigned char *dst;
    size_t bits;
};

/* Lowest bit first. */
static void put(struct writer *w, unsigned value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, w->bits++) {
        if (w->bits % 8 == 0)
            w->dst[w->bits / 8] = 0;
        w->dst[w->bits / 8] |= (unsigned char)((value >> i & 1) << w->bits % 8);
    }
}

size_t zmpi_book_store(const struct zmpi_book *book, unsigned char *dst)
{
    struct writer w = {dst, 0};
    unsigned last = FIRST;
    for (unsigned s = 0; s < SYMBOLS; s++) {
        unsigned length = book->length[s], zeros = 0;
        if (length == 0) {
            while (s + zeros + 1 < SYMBOLS && book->length[s + zeros + 1] == 0)
                zeros++;
            put(&w, 3, 6); /* 11 0000 */
            put(&w, zeros, 10);
            s += zeros;
            continue;
        }
        if (length == last)
            put(&w, 0, 1);
        else if (length == last + 1 || length + 1 == last)
            put(&w, length > last ? 1 : 5, 3); /* 1 0 0, 1 0 1 */
        else
            put(&w, 3 | length << 2, 6);
        last = length;
    }
    return (w.bits + 7) / 8;
}

struct reader {
    const unsigned char *src;
    size_t bits, end;
};

static unsigned get(struct reader *r, unsigned n)
{
    unsigned value = 0;
    for (unsigned i = 0; i < n; i++, r->bits++)
        if (r->bits < r->end)
            value |= (unsigned)(r->src[r->bits / 8] >> r->bits % 8 & 1) << i;
    return value;
}

/* The next length; sets *zeros to how many symbols without a code there are instead of one. */
static unsigned get_length(struct reader *r, unsigned last, unsigned *zeros)
{
    *zeros = 0;
    if (!get(r, 1))
        return last;
    if (!get(r, 1))
        return get(r, 1) ? last - 1 : last + 1;
    unsigned length = get(r, 4);
    if (length == 0)
        *zeros = get(r, 10) + 1;
    return length;
}

/* Do the codes fill all there is, no more and no less? */
static bool is_complete(const struct zmpi_book *book)
{
    unsigned used = 0;
    for (unsigned s = 0; s < SYMBOLS; s++)
        used += book->length[s] ? 1U << (LONGEST - book->length[s]) : 0;
    return used == 1U << LONGEST;
}

size_t zmpi_book_load(struct zmpi_book *book, const unsigned char *src, size_t size)
{
    struct reader r = {src, 0, size < ZMPI_HUFFMAN_BOOK_MAX ? 8 * size : 8 * ZMPI_HUFFMAN_BOOK_MAX};
    unsigned last = FIRST, zeros;
    memset(book, 0, sizeof *book);
    for (unsigned s = 0; s < SYMBOLS; s += zeros ? zeros : 1) {
        unsigned length = get_length(&r, last, &zeros);
        if (length > LONGEST || (!length && !zeros) || zeros > SYMBOLS - s)
            return 0;
        if (zeros)
            continue;
        book->length[s] = (unsigned char)length;
        last = length;
    }
    while (r.bits % 8)
        if (get(&r, 1))
            return 0;
    return r.bits <= r.end && book->length[ZMPI_HUFFMAN_ESCAPE] && is_complete(book) ? r.bits / 8
                                                                                     : 0;
}

/* ---- offline books ---- */

static struct zmpi_book offline[ZMPI_HUFFMAN_OFFLINE];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_offline(void)
{
    for (unsigned i = 0; i < ZMPI_HUFFMAN_OFFLINE; i++)
        zmpi_book_load(&offline[i], zmpi_offline[i].bytes, sizeof zmpi_offline[i].bytes);
}

const struct zmpi_book *zmpi_book_offline(unsigned i)
{
    pthread_once(&once, load_offline);
    return &offline[i];
}

const char *zmpi_book_offline_name(unsigned i)
{
    return zmpi_offline[i].name;
}
