/* huffman_plan.c - which books the sections of a stream have (format.md 4.9; CEAZ 3.2.3). */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "huffman/huffman.h"

enum {
    SYMBOLS = ZMPI_HUFFMAN_SYMBOLS,
    SECTION = ZMPI_HUFFMAN_SECTION,
    SECTION_MAX = 65536,
    RARE = 65536
};

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

uint64_t zmpi_book_cost(const struct zmpi_book *book, size_t width, const uint32_t count[SYMBOLS])
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

/* The square root of x, 44 zeros behind it, rounded down. */
static uint64_t root_of(uint64_t x)
{
    uint64_t root = 0, rest = 0;
    for (int i = 62; i >= -44; i -= 2) {
        rest = rest << 2 | (i < 0 ? 0 : x >> i & 3);
        uint64_t next = root << 2 | 1;
        root = root << 1 | (rest >= next);
        rest -= rest >= next ? next : 0;
    }
    return root;
}

uint32_t zmpi_huffman_spread(const uint32_t count[SYMBOLS])
{
    uint64_t n = 0, squares = 0;
    int64_t sum = 0;
    for (unsigned s = 0; s < ZMPI_HUFFMAN_ESCAPE; s++) {
        int64_t each = s < ZMPI_HUFFMAN_CLASSES ? (int)s - 16 : 0, times = count[s];
        if (s >= ZMPI_HUFFMAN_RUNS) {
            times *= zmpi_symbol_run(s);
        } else if (s >= ZMPI_HUFFMAN_CLASSES) {
            const int64_t step = s & 7, twice = s & 8 ? 31 - 2 * step : 17 + 2 * step;
            const int64_t middle = twice << (zmpi_symbol_extra(s, 8) - 1);
            each = (middle < 512 ? middle : 512) * (s & 8 ? -1 : 1);
        }
        n += (uint64_t)times;
        sum += times * each;
        squares += (uint64_t)(times * each * each);
    }
    return n > 0 ? (uint32_t)(root_of(n * squares - (uint64_t)(sum * sum)) / n) : 0;
}

void zmpi_book_train(const uint32_t count[SYMBOLS], unsigned run, bool sampled,
                     enum zmpi_huffman_sort sort, struct zmpi_book *book)
{
    uint32_t expected[SYMBOLS], symbols = 0;
    unsigned top = ZMPI_HUFFMAN_CLASSES, first = ZMPI_HUFFMAN_RUNS + run - 2;
    for (unsigned s = 0; s < ZMPI_HUFFMAN_ESCAPE; s++)
        symbols += count[s];
    for (unsigned s = top; s < ZMPI_HUFFMAN_RUNS; s++)
        top = count[s] ? (s & ~15U) + 16 : top;
    top = top + 16 < ZMPI_HUFFMAN_RUNS ? top + 16 : ZMPI_HUFFMAN_RUNS;
    const uint32_t rare = symbols / RARE;
    sampled &= !rare;
    for (unsigned s = 0; s < SYMBOLS; s++)
        expected[s] = (count[s] > rare ? 16 * count[s] : 0) +
                      (sampled && (s < top || s >= ZMPI_HUFFMAN_RUNS));
    for (unsigned s = ZMPI_HUFFMAN_RUNS; s < first; s++) {
        expected[16] += 16 * count[s] * zmpi_symbol_run(s);
        expected[s] = 0;
    }
    zmpi_book_make(expected, sort, book);
}

const struct zmpi_book *zmpi_huffman_plan_book(const struct zmpi_huffman_plan *plan,
                                               unsigned number)
{
    return number < ZMPI_HUFFMAN_OFFLINE ? zmpi_book_offline(number)
                                         : &plan->book[number - ZMPI_HUFFMAN_OFFLINE];
}

/* ---- the sums, by the CPU ---- */

struct by_cpu {
    const uint32_t (*sections)[SYMBOLS];
    const uint32_t *count; /* of the section in hand */
    size_t width;
    enum zmpi_huffman_sort sort;
    bool begun;
    uint32_t spread,
        taken; /* spread of that section; and of the one that the present book was taken for */
};

static bool counts_any(const uint32_t *count)
{
    for (unsigned s = 0; s < SYMBOLS; s++)
        if (count[s])
            return true;
    return false;
}

static bool count_by_cpu(void *context, size_t section)
{
    struct by_cpu *c = context;
    c->count = c->sections[section];
    return counts_any(c->count);
}

static enum zmpi_huffman_change change_by_cpu(void *context)
{
    struct by_cpu *c = context;
    c->spread = zmpi_huffman_spread(c->count);
    const uint32_t change = c->spread > c->taken ? c->spread - c->taken : c->taken - c->spread;
    if (!c->begun || change >= ZMPI_HUFFMAN_TAU_1)
        return ZMPI_HUFFMAN_REPLACE;
    return change > ZMPI_HUFFMAN_TAU_0 ? ZMPI_HUFFMAN_UPDATE : ZMPI_HUFFMAN_KEEP;
}

static void take_by_cpu(void *context)
{
    struct by_cpu *c = context;
    c->taken = c->spread;
    c->begun = true;
}

static uint64_t cost_by_cpu(void *context, const struct zmpi_book *book)
{
    const struct by_cpu *c = context;
    return zmpi_book_cost(book, c->width, c->count);
}

static void train_by_cpu(void *context, unsigned run, bool sampled, struct zmpi_book *book)
{
    const struct by_cpu *c = context;
    zmpi_book_train(c->count, run, sampled, c->sort, book);
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
    const struct zmpi_huffman_sums *sums;
    bool own, begun;
    unsigned number; /* the book in force */
};

static uint64_t cost(const struct chooser *c, const struct zmpi_book *book)
{
    return c->sums->cost(c->sums->context, book);
}

static void choose(struct chooser *c, size_t chunks)
{
    struct zmpi_huffman_plan *plan = c->plan;
    const size_t samples = zmpi_huffman_samples(chunks);
    const enum zmpi_huffman_change change = c->sums->change(c->sums->context);
    struct choice best = {0, UINT64_MAX};
    if (change != ZMPI_HUFFMAN_REPLACE)
        consider(&best, c->number, cost(c, zmpi_huffman_plan_book(plan, c->number)));
    for (unsigned i = 0; i < ZMPI_HUFFMAN_OFFLINE && change != ZMPI_HUFFMAN_KEEP; i++)
        consider(&best, i, cost(c, zmpi_book_offline(i)));
    const unsigned number = ZMPI_HUFFMAN_OFFLINE + (unsigned)plan->own;
    const bool own = c->own && plan->own < ZMPI_STREAM_BOOKS &&
                     plan->size + ZMPI_HUFFMAN_BOOK_MAX < SECTION_MAX - 4;
    for (unsigned i = 0; i < 3 && own; i++) {
        unsigned char bytes[ZMPI_HUFFMAN_BOOK_MAX];
        struct zmpi_book trained;
        c->sums->train(c->sums->context, shortest_run[i], samples < chunks, &trained);
        uint64_t price = 8 * zmpi_book_store(&trained, bytes) * samples / chunks;
        uint64_t bits = cost(c, &trained) + price;
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
        c->sums->take(c->sums->context);
    c->number = best.number;
    c->begun = true;
}

enum zmpi_status zmpi_huffman_plan_by(const struct zmpi_huffman_sums *sums,
                                      struct zmpi_huffman_plan *plan, size_t chunks, bool own)
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
    struct chooser c = {.plan = plan, .sums = sums, .own = own};
    plan->size = 1;
    for (size_t i = 0; i < sections; i++) {
        size_t left = chunks - i * SECTION;
        if (sums->count(sums->context, i))
            choose(&c, left < SECTION ? left : SECTION);
        plan->number[i] = (unsigned char)c.number;
    }
    plan->bytes[0] = (unsigned char)plan->own;
    plan->size = plan->own ? (plan->size + 3) & ~(size_t)3 : 0;
    return ZMPI_OK;
}

enum zmpi_status zmpi_huffman_plan_make(struct zmpi_huffman_plan *plan, size_t chunks, size_t width,
                                        const uint32_t (*count)[SYMBOLS], bool own,
                                        enum zmpi_huffman_sort sort)
{
    struct by_cpu cpu = {.sections = count, .width = width, .sort = sort};
    const struct zmpi_huffman_sums sums = {.context = &cpu,
                                           .count = count_by_cpu,
                                           .change = change_by_cpu,
                                           .take = take_by_cpu,
                                           .cost = cost_by_cpu,
                                           .train = train_by_cpu};
    return zmpi_huffman_plan_by(&sums, plan, chunks, own);
}

void zmpi_huffman_plan_free(struct zmpi_huffman_plan *plan)
{
    free(plan->book);
    free(plan->number);
    free(plan->bytes);
    *plan = (struct zmpi_huffman_plan){0};
}
