/*
 * interp_exceptions.c - the exceptions of a chunk of encoder 3: masks of all kinds come back; those
 * that are alike in all planes cost no more than one plane's; older runs are read, and damaged ones
 * refused.
 */
#include "kit.h"

#include "interp/interp_work.h"

enum { FILL = 1, OTHERS = 2, IN_BITS = 4, DIFFER = 8 };

struct tile {
    size_t extent[3], elements, width;
    unsigned char *src; /* elements */
    struct zmpi_rows rows;
    struct zmpi_interp_work *work; /* with the marks of exceptions */
};

static struct tile tile_new(size_t z, size_t y, size_t x, size_t width)
{
    static const struct zmpi_interp_set set = {.family = ZMPI_INTERP_LORENZO, .axes = 7};
    struct tile t = {.extent = {z, y, x}, .elements = z * y * x, .width = width};
    t.src = calloc(t.elements, width);
    t.rows = (struct zmpi_rows){.at = t.src, .row = x * width, .plane = y * x * width};
    t.work = zmpi_interp_work_new(t.extent, &set, 1, true);
    t.work->sure = false;
    memset(t.work->exception, 0, t.elements);
    return t;
}

static void tile_free(struct tile *t)
{
    zmpi_interp_work_free(t->work);
    free(t->src);
}

static void mark(struct tile *t, size_t i, int word)
{
    t->work->exception[i] = 1;
    memset(t->src + i * t->width, word, t->width);
}

/* Elements x < coast(y, z) have the fill value. change: one plane in so many has another coast. */
static void make_coast(struct tile *t, struct kit_random *r, size_t change)
{
    size_t *coast = malloc(t->extent[1] * sizeof *coast);
    size_t at = kit_below(r, t->extent[2] + 1);
    for (size_t y = 0; y < t->extent[1]; y++) {
        const size_t to = at + kit_below(r, 7);
        at = to < 3 ? 0 : to - 3 > t->extent[2] ? t->extent[2] : to - 3;
        coast[y] = at;
    }
    for (size_t z = 0; z < t->extent[0]; z++)
        for (size_t y = 0; y < t->extent[1]; y++) {
            coast[y] -= coast[y] && change && z % change == change - 1;
            for (size_t x = 0; x < coast[y]; x++)
                mark(t, (z * t->extent[1] + y) * t->extent[2] + x, 0x7E);
        }
    free(coast);
}

/* Writes the exceptions and reads them again; returns their bytes. All cuts are refused. */
static size_t there_and_back(struct tile *t, unsigned char *flags)
{
    const size_t room = t->elements * (t->width + 1) + 256;
    unsigned char *coded = malloc(room), *kinds = malloc(t->elements);
    unsigned char *back = malloc(t->elements * t->width);
    *flags = 0;
    const unsigned char *end = zmpi_interp_put_exceptions(t->work, t->extent, &t->rows, t->width,
                                                          flags, coded, coded + room);
    cr_assert_not_null(end);
    const size_t size = (size_t)(end - coded);
    memcpy(kinds, t->work->exception, t->elements);
    struct kit_guarded in = kit_guard(size, true);
    struct zmpi_interp_exceptions e;
    memcpy(in.data, coded, size);
    memset(t->work->exception, 1, t->elements);
    const unsigned char *at = in.data;
    cr_assert_eq(
        zmpi_interp_take_exceptions(t->work, *flags, t->extent, t->width, at, at + size, &e),
        at + size);
    if (*flags)
        cr_assert_eq(memcmp(t->work->exception, kinds, t->elements), 0);
    const struct zmpi_rows rows = {.at = back, .row = t->rows.row, .plane = t->rows.plane};
    memset(back, 0, t->elements * t->width);
    zmpi_interp_set_exceptions(t->work, &e, t->extent, &rows, t->width);
    cr_assert_eq(memcmp(back, t->src, t->elements * t->width), 0);
    for (size_t cut = 1; cut <= size && *flags; cut += 1 + size / 61) {
        unsigned char *from = in.data + cut;
        memcpy(from, coded, size - cut);
        cr_assert_null(zmpi_interp_take_exceptions(t->work, *flags, t->extent, t->width, from,
                                                   from + size - cut, &e),
                       "%zu of %zu bytes are missing", cut, size);
    }
    kit_unguard(&in);
    free(coded);
    free(kinds);
    free(back);
    return size;
}

Test(interp_exceptions, masks)
{
    struct kit_random r = {17};
    int differ = 0;
    for (int i = 0; i < (test_long() ? 3000 : 300); i++) {
        struct tile t = tile_new(1 + kit_below(&r, 9), 1 + kit_below(&r, 20), 1 + kit_below(&r, 90),
                                 i % 2 ? 4 : 8);
        if (i % 4 != 3)
            make_coast(&t, &r, kit_below(&r, 4));
        const size_t each = 1 + kit_below(&r, i % 3 ? 40 : 3);
        for (size_t k = 0; k < t.elements && i % 5; k++)
            if (!kit_below(&r, each))
                mark(&t, k, i % 7 ? 1 + (int)kit_below(&r, 255) : 0x7E);
        unsigned char flags;
        there_and_back(&t, &flags);
        differ += flags == (FILL | IN_BITS | DIFFER);
        tile_free(&t);
    }
    cr_assert_gt(differ, 20, "%d", differ);
}

Test(interp_exceptions, whole_and_single)
{
    unsigned char flags;
    struct tile t = tile_new(64, 64, 64, 4);
    for (size_t i = 0; i < t.elements; i++)
        mark(&t, i, 0x7E);
    cr_assert_leq(there_and_back(&t, &flags), 4 + 2 + 8);
    memset(t.work->exception, 0, t.elements);
    memset(t.src, 0, t.elements * 4);
    mark(&t, t.elements - 1, 0x7E);
    cr_assert_leq(there_and_back(&t, &flags), 4 + 2 + 8);
    tile_free(&t);
}

Test(interp_exceptions, same_coast_in_all_planes)
{
    struct kit_random r = {3}, same = {3};
    unsigned char flags;
    struct tile one = tile_new(1, 60, 70, 4), all = tile_new(40, 60, 70, 4);
    make_coast(&one, &r, 0);
    make_coast(&all, &same, 0);
    const size_t plane = there_and_back(&one, &flags), planes = there_and_back(&all, &flags);
    cr_assert_eq(flags, FILL | IN_BITS | DIFFER);
    cr_assert_leq(planes, plane + 4, "%zu bytes, one plane %zu", planes, plane);
    cr_assert_lt(plane, 2 * 60, "%zu bytes", plane);
    tile_free(&one);
    tile_free(&all);
}

static const unsigned char *take(struct tile *t, unsigned flags, const unsigned char *src,
                                 size_t size)
{
    struct zmpi_interp_exceptions e;
    struct kit_guarded in = kit_guard(size, true);
    memcpy(in.data, src, size);
    const unsigned char *at = in.data, *end = zmpi_interp_take_exceptions(t->work, flags, t->extent,
                                                                          4, at, at + size, &e);
    const unsigned char *same = end ? src + (end - at) : NULL;
    kit_unguard(&in);
    return same;
}

Test(interp_exceptions, older_runs)
{
    static const unsigned char runs[] = {1, 2, 3, 4, 0, 2, 5, 1, 0, 0, 3, 1, 0, 0, 5, 6, 7, 8};
    struct tile t = tile_new(1, 2, 5, 4);
    cr_assert_eq(take(&t, FILL | OTHERS, runs, sizeof runs), runs + sizeof runs);
    const unsigned char want[10] = {1, 1, 0, 2, 0, 0, 0, 1};
    cr_assert_eq(memcmp(t.work->exception, want, 10), 0);
    tile_free(&t);
}

/* One run in bits: 3 elements from element 2 on of 10, by orders 0. Then what is wrong with it. */
Test(interp_exceptions, damage)
{
    /* gap 2: 1 0, 1; length 2: 1 0, 1 */
    static const unsigned char good[] = {1, 2, 3, 4, 0, 1, 0x2D};
    static const struct {
        unsigned flags;
        unsigned char at, value;
    } wrong[] = {
        {IN_BITS, 0, 1},           {DIFFER | FILL, 0, 1},
        {IN_BITS | DIFFER, 0, 1},  {IN_BITS | DIFFER | OTHERS, 0, 1},
        {16 | FILL, 0, 1},         {16 | FILL | IN_BITS, 0, 1},
        {FILL | IN_BITS, 5, 0},                               /* no run */
        {FILL | IN_BITS, 5, 11},                              /* more runs than elements */
        {FILL | IN_BITS, 5, 3},                               /* bits of a third run are missing */
        {FILL | IN_BITS, 5, 128},                             /* the number of runs does not end */
        {FILL | IN_BITS, 4, 3},                               /* a gap behind the tile */
        {FILL | IN_BITS, 4, 0xF0}, {FILL | IN_BITS, 4, 0x30}, /* a length that ends behind it */
        {FILL | IN_BITS, 6, 0xAD},                            /* a bit behind the last number */
        {FILL | IN_BITS, 6, 0xFF},                            /* a number that does not end */
    };
    struct tile t = tile_new(1, 2, 5, 4);
    const unsigned char want[10] = {0, 0, 1, 1, 1},
                        differences[10] = {0, 0, 1, 1, 1, 0, 0, 1, 1, 1};
    cr_assert_eq(take(&t, FILL | IN_BITS, good, sizeof good), good + sizeof good);
    cr_assert_eq(memcmp(t.work->exception, want, 10), 0);
    cr_assert_eq(take(&t, FILL | IN_BITS | DIFFER, good, sizeof good), good + sizeof good);
    cr_assert_eq(memcmp(t.work->exception, differences, 10), 0);
    for (size_t i = 0; i < KIT_COUNT(wrong); i++) {
        unsigned char bad[sizeof good];
        memcpy(bad, good, sizeof good);
        bad[wrong[i].at] = wrong[i].value;
        cr_assert_null(take(&t, wrong[i].flags, bad, sizeof bad), "case %zu", i);
    }
    /* Others where the fill value is. */
    static const unsigned char both[] = {1, 2, 3, 4, 0, 1, 0x2D, 0, 1, 0x05, 5, 6, 7, 8};
    cr_assert_null(take(&t, FILL | OTHERS | IN_BITS, both, sizeof both));
    tile_free(&t);
}
