/* books.c - the engine's books are those of the codec for the same counts, with the exact and with
 * the approximate sort; and so is all that books are chosen by. */
#include "compare.h"
#include "engine_books.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS };

static void check(struct zmpi_rtl *rtl, const uint32_t count[SYMBOLS], const char *what)
{
    for (int exact = 0; exact < 2; exact++) {
        struct zmpi_book made, wanted;
        uint32_t copy[SYMBOLS];
        cr_assert(zmpi_rtl_build(rtl, count, exact, &made));
        memcpy(copy, count, sizeof copy);
        zmpi_book_make(copy, exact ? ZMPI_SORT_EXACT : ZMPI_SORT_APPROXIMATE, &wanted);
        for (unsigned s = 0; s < SYMBOLS; s++)
            cr_assert_eq(made.length[s], wanted.length[s], "%s, %s sort: symbol %u: %u, not %u",
                         what, exact ? "exact" : "approximate", s, made.length[s],
                         wanted.length[s]);
    }
}

Test(rtl, books)
{
    struct zmpi_rtl *rtl = open_engine(8);
    struct kit_random r = {8};
    uint32_t count[SYMBOLS] = {0};
    check(rtl, count, "nothing");
    for (unsigned s = 0; s < 32; s++) /* as deep as a tree can be */
        count[s] = 1u << s;
    check(rtl, count, "deep");
    for (unsigned s = 0; s < SYMBOLS; s++)
        count[s] = 1;
    check(rtl, count, "all the same");
    for (int i = 0; i < 20; i++) {
        size_t sparse = 1 + kit_below(&r, 40);
        for (unsigned s = 0; s < SYMBOLS; s++)
            count[s] =
                kit_below(&r, sparse) ? 0 : (uint32_t)(kit_next(&r) >> (40 + kit_below(&r, 24)));
        check(rtl, count, "random");
    }
    for (double scale = 0.5; scale < 1000; scale *= 3) {
        for (unsigned s = 0; s < SYMBOLS; s++)
            count[s] = (uint32_t)(1e6 * exp(-fabs((double)s - 16) / scale)) + (s > 975 && s < 990);
        check(rtl, count, "a bell");
    }
    zmpi_rtl_close(rtl);
}

/* ---- the choice ---- */

/* Counts of at most 2^18 residuals: a bell, runs, and some of any. */
static void make_counts(struct kit_random *r, uint32_t count[SYMBOLS])
{
    uint32_t left = 1 + (uint32_t)kit_below(r, 1 << (kit_below(r, 2) ? 18 : kit_below(r, 19)));
    const double width = 4 + 40 * fabs(kit_unit(r));
    const size_t rare = kit_below(r, 4) ? 0 : 1 + kit_below(r, 1000);
    memset(count, 0, SYMBOLS * sizeof *count);
    while (left > 0) {
        const double distance = width * kit_unit(r) * kit_unit(r);
        unsigned s = rare && !kit_below(r, rare) ? (unsigned)kit_below(r, ZMPI_HUFFMAN_ESCAPE)
                                                 : (unsigned)(16 + fabs(distance));
        uint32_t run = s >= ZMPI_HUFFMAN_RUNS ? zmpi_symbol_run(s) : 1;
        if (run > left) {
            s = 16;
            run = 1;
        }
        const uint32_t times = 1 + (uint32_t)kit_below(r, left / run / 8 + 1);
        count[s] += times;
        left -= times * run;
    }
}

static enum zmpi_huffman_change change_from(uint32_t before, uint32_t spread, bool begun)
{
    const uint32_t change = spread > before ? spread - before : before - spread;
    if (!begun || change >= ZMPI_HUFFMAN_TAU_1)
        return ZMPI_HUFFMAN_REPLACE;
    return change > ZMPI_HUFFMAN_TAU_0 ? ZMPI_HUFFMAN_UPDATE : ZMPI_HUFFMAN_KEEP;
}

static void check_books(struct zmpi_rtl *rtl, const uint32_t count[SYMBOLS], unsigned run,
                        bool sampled, bool exact)
{
    const struct zmpi_book *offline = zmpi_book_offline(run % ZMPI_HUFFMAN_OFFLINE);
    struct zmpi_book made, wanted;
    uint64_t bits;
    cr_assert(zmpi_rtl_train(rtl, run, sampled, exact, &made));
    zmpi_book_train(count, run, sampled, exact ? ZMPI_SORT_EXACT : ZMPI_SORT_APPROXIMATE, &wanted);
    cr_assert_arr_eq(made.length, wanted.length, SYMBOLS, "runs from %u", run);
    cr_assert(zmpi_rtl_cost(rtl, &made, &bits));
    cr_assert_eq(bits, zmpi_book_cost(&made, 4, count));
    cr_assert(zmpi_rtl_cost(rtl, offline, &bits));
    cr_assert_eq(bits, zmpi_book_cost(offline, 4, count));
}

Test(rtl, choice_of_books)
{
    static const unsigned run[] = {2, 4, 16};
    struct zmpi_rtl *rtl = open_engine(8);
    struct kit_random r = {11};
    uint32_t count[SYMBOLS] = {0}, taken = 0;
    enum zmpi_huffman_change change;
    size_t changes[3] = {0};
    bool begun = false, any;
    cr_assert(zmpi_rtl_forget(rtl));
    for (unsigned i = 0; i < 60; i++) {
        if (i == 1) /* as far apart as they can be, and as many */
            count[32 + 16 * 20] = count[40 + 16 * 20] = 1 << 17;
        else if (i > 1)
            make_counts(&r, count);
        const uint32_t spread = zmpi_huffman_spread(count);
        cr_assert(zmpi_rtl_load_counts(rtl, count));
        cr_assert(zmpi_rtl_change(rtl, &change, &any));
        cr_assert_eq(rtl->type->read(rtl->model, MODEL_SPREAD), spread, "counts %u", i);
        cr_assert_eq(any, i > 0);
        cr_assert_eq(change, change_from(taken, spread, begun), "counts %u", i);
        changes[change]++;
        if (i % 4 == 1)
            check_books(rtl, count, run[i % 3], i & 8, i & 16);
        if (change == ZMPI_HUFFMAN_REPLACE) {
            cr_assert(zmpi_rtl_take(rtl));
            taken = spread;
            begun = true;
        }
    }
    cr_assert(changes[0] && changes[1] && changes[2], "%zu, %zu, %zu", changes[0], changes[1],
              changes[2]);
    cr_assert(zmpi_rtl_forget(rtl));
    cr_assert(zmpi_rtl_change(rtl, &change, &any));
    cr_assert_eq(change, ZMPI_HUFFMAN_REPLACE);
    zmpi_rtl_close(rtl);
}
