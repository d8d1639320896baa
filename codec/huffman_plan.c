/* huffman_plan.c - which books the sections of a stream have (format.md 4.9; CEAZ 3.2.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "huffman.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, SECTION = ZMPI_HUFFMAN_SECTION, SECTION_MAX = 65536 };

/* CEAZ's thresholds on the change of the spread. */
#define TAU_0 3.05
#define TAU_1 4.88

/* Where few residuals are zero, short runs of them are better written one by one: a code for a run
 * does not tell that what follows is no zero. */
static const unsigned shortest_run[] = {2, 4, 16};

size_t zmpi_huffman_samples(size_t chunks)
{
    return chunks < 32 ? chunks : 32;
}

size_t zmpi_huffman_sample(size_t chunks, size_t i)
{
    return (2 * i + 1) * chunks / (2 * zmpi_huffman_samples(chunks));
}

/* Bits that these symbols take. */
static uint64_t cost_of(const struct zmpi_book *book, size_t width, const uint32_t *count)
{
    const uint64_t zero = book->length[16], escape = book->length[ZMPI_HUFFMAN_ESCAPE] + 8 * width;
    uint64_t bits = 0;
    for (unsigned s = 0; s < SYMBOLS; s++) {
        uint64_t each = book->length[s] + zmpi_symbol_extra(s, width);
        if (!book->length[s] && count[s])
            each = s >= ZMPI_HUFFMAN_RUNS ? zero * zmpi_symbol_run(s) : escape;
        bits += count[s] * each;
    }
    return bits;
}

/* Standard deviation of the residuals, those beyond 512 counting as 512: CEAZ's 1024 symbols. */
static double spread_of(const uint32_t *count)
{
    double n = 0, sum = 0, squares = 0;
    for (unsigned s = 0; s < ZMPI_HUFFMAN_ESCAPE; s++) {
        double each = s < ZMPI_HUFFMAN_CLASSES ? (double)s - 16 : 0, times = count[s];
        if (s >= ZMPI_HUFFMAN_RUNS) {
            times *= zmpi_symbol_run(s);
        } else if (s >= ZMPI_HUFFMAN_CLASSES) {
            unsigned extra = zmpi_symbol_extra(s, 8), step = s & 7;
            double middle = ldexp((s & 8 ? 15.5 - step : 8.5 + step), (int)extra);
            each = fmin(middle, 512) * (s & 8 ? -1 : 1);
        }
        n += times;
        sum += times * each;
        squares += times * each * each;
    }
    return n > 0 ? sqrt(fmax(squares / n - sum / n * (sum / n), 0)) : 0;
}

/* A book for these symbols, without short runs: below `run` they are single zeros. Others than a
 * sample has may come: of its classes and the next, and runs of any length. */
static void train(const uint32_t *count, unsigned run, bool sampled, struct zmpi_book *book)
{
    uint32_t expected[SYMBOLS];
    unsigned top = ZMPI_HUFFMAN_CLASSES, first = ZMPI_HUFFMAN_RUNS + run - 2;
    for (unsigned s = top; s < ZMPI_HUFFMAN_RUNS; s++)
        top = count[s] ? (s & ~15U) + 16 : top;
    top = top + 16 < ZMPI_HUFFMAN_RUNS ? top + 16 : ZMPI_HUFFMAN_RUNS;
    for (unsigned s = 0; s < SYMBOLS; s++)
        expected[s] = 16 * count[s] + (sampled && (s < top || s >= ZMPI_HUFFMAN_RUNS));
    for (unsigned s = ZMPI_HUFFMAN_RUNS; s < first; s++) {
        expected[16] += 16 * count[s] * zmpi_symbol_run(s);
        expected[s] = 0;
    }
    zmpi_book_make(expected, ZMPI_SORT_EXACT, book);
}

const struct zmpi_book *zmpi_huffman_plan_book(const struct zmpi_huffman_plan *plan,
                                               unsigned number)
{
    return number < ZMPI_HUFFMAN_OFFLINE ? zmpi_book_offline(number)
                                         : &plan->book[number - ZMPI_HUFFMAN_OFFLINE];
}

/* ---- one section after the other ---- */

struct choice {
    unsigned number;
    uint64_t bits;
};

static void consider(struct choice *best, unsigned number, uint64_t bits)
{
    if (bits < best->bits)
        *best = (struct choice){number, bits};
}

struct chooser {
    struct zmpi_huffman_plan *plan;
    size_t width;
    bool own, begun;
    unsigned number; /* the book in force */
    double spread;   /* of the section that it was taken for */
};

static void choose(struct chooser *c, const uint32_t *count, size_t chunks)
{
    struct zmpi_huffman_plan *plan = c->plan;
    const size_t samples = zmpi_huffman_samples(chunks);
    const double spread = spread_of(count), change = fabs(spread - c->spread);
    struct choice best = {0, UINT64_MAX};
    if (c->begun && change < TAU_1)
        consider(&best, c->number,
                 cost_of(zmpi_huffman_plan_book(plan, c->number), c->width, count));
    for (unsigned i = 0; i < ZMPI_HUFFMAN_OFFLINE && (!c->begun || change > TAU_0); i++)
        consider(&best, i, cost_of(zmpi_book_offline(i), c->width, count));
    const unsigned number = ZMPI_HUFFMAN_OFFLINE + (unsigned)plan->own;
    const bool own = c->own && plan->own < ZMPI_STREAM_BOOKS &&
                     plan->size + ZMPI_HUFFMAN_BOOK_MAX < SECTION_MAX - 4;
    for (unsigned i = 0; i < 3 && own; i++) {
        unsigned char bytes[ZMPI_HUFFMAN_BOOK_MAX];
        struct zmpi_book trained;
        train(count, shortest_run[i], samples < chunks, &trained);
        uint64_t price = 8 * zmpi_book_store(&trained, bytes) * samples / chunks;
        uint64_t bits = cost_of(&trained, c->width, count) + price;
        if (bits < best.bits) {
            best = (struct choice){number, bits};
            plan->book[plan->own] = trained;
        }
    }
    if (best.number == number) {
        plan->size += zmpi_book_store(&plan->book[plan->own], plan->bytes + plan->size);
        plan->own++;
    }
    if (!c->begun || best.number != c->number)
        c->spread = spread;
    c->number = best.number;
    c->begun = true;
}

static bool counts_any(const uint32_t *count)
{
    for (unsigned s = 0; s < SYMBOLS; s++)
        if (count[s])
            return true;
    return false;
}

enum zmpi_status zmpi_huffman_plan_make(struct zmpi_huffman_plan *plan, size_t chunks, size_t width,
                                        const uint32_t (*count)[SYMBOLS], bool own)
{
    const size_t sections = (chunks + SECTION - 1) / SECTION;
    const size_t most = sections < ZMPI_STREAM_BOOKS ? sections : ZMPI_STREAM_BOOKS;
    *plan = (struct zmpi_huffman_plan){.sections = sections};
    plan->book = malloc((most + 1) * sizeof *plan->book);
    plan->number = calloc(sections + 1, 1);
    plan->bytes = calloc(1, 4 + most * ZMPI_HUFFMAN_BOOK_MAX);
    if (!plan->book || !plan->number || !plan->bytes) {
        zmpi_huffman_plan_free(plan);
        return ZMPI_ERR_MEMORY;
    }
    struct chooser c = {.plan = plan, .width = width, .own = own};
    plan->size = 1;
    for (size_t i = 0; i < sections; i++) {
        size_t left = chunks - i * SECTION;
        if (counts_any(count[i]))
            choose(&c, count[i], left < SECTION ? left : SECTION);
        plan->number[i] = (unsigned char)c.number;
    }
    plan->bytes[0] = (unsigned char)plan->own;
    plan->size = plan->own ? (plan->size + 3) & ~(size_t)3 : 0;
    return ZMPI_OK;
}

void zmpi_huffman_plan_free(struct zmpi_huffman_plan *plan)
{
    free(plan->book);
    free(plan->number);
    free(plan->bytes);
    *plan = (struct zmpi_huffman_plan){0};
}
