/* books.c - the engine's books are those of the codec for the same counts, with the exact and with
 * the approximate sort. */
#include "compare.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS };

static void check(struct zmpi_rtl *rtl, const uint32_t count[SYMBOLS], const char *what)
{
    for (int exact = 0; exact < 2; exact++) {
        struct zmpi_book made, wanted;
        cr_assert(zmpi_rtl_build(rtl, count, exact, &made));
        zmpi_book_make(count, exact ? ZMPI_SORT_EXACT : ZMPI_SORT_APPROXIMATE, &wanted);
        for (unsigned s = 0; s < SYMBOLS; s++)
            cr_assert_eq(made.length[s], wanted.length[s], "%s, %s sort: symbol %u: %u, not %u",
                         what, exact ? "exact" : "approximate", s, made.length[s],
                         wanted.length[s]);
    }
}

Test(rtl, books)
{
    struct zmpi_rtl *rtl = open_engine(4);
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
