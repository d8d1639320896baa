/*
 * kernels_integers16.c - every set of kernels that this machine can run, against the scalar
 * reference: chunks of integers so near each other that encoders may predict them in 16 bits, or
 * just not; in rows that take several parts.
 */
#include "kernels_kit.h"

TestSuite(kernels_integers16, .init = make_work, .fini = free_work);

/* A chunk of a level's integers: the middle one, and the least and the greatest in turns in a cube
 * of two each way, or everywhere. */
struct near {
    double step;
    int64_t least, most;
    size_t x, y, z; /* the cube's first word */
    bool everywhere;
};

static void fill_near(const struct near *n, const struct tile *t, struct kit_random *r,
                      unsigned char *data)
{
    const size_t plane = t->plane / t->width, row = t->row / t->width;
    for (size_t i = 0; i < t->bytes / t->width; i++) {
        const size_t z = i / plane, y = i % plane / row, x = i % row;
        int64_t q = n->least + (n->most - n->least) / 2;
        if (n->everywhere || (x - n->x < 2 && y - n->y < 2 && z - n->z < 2))
            q = (x + y + z) % 2 ? n->most : n->least;
        kit_put(t->type, data, i, n->step * ((double)q + 0.3 * kit_unit(r)));
    }
}

/* Of f32's first level, where 2^13 successive ones fit, around 0 or up to the limit; or of its
 * second one, around 2^15; or f64's, also where less the base they would overflow 32 bits. */
static struct near near_of(const struct zmpi_chunk_rule *rule, const struct tile *t,
                           struct kit_random *r)
{
    enum { FIT = 1 << 13, HALF = 1 << 15 };
    static const int64_t spreads[] = {FIT - 2, FIT - 1, FIT, FIT + 1, FIT + 7};
    static const int64_t most[] = {FIT / 2 - 1, FIT / 2, FIT - 2, FIT - 1, FIT};
    static const int64_t far[] = {
        HALF - 2,  HALF - 1,        HALF,      HALF + 1,         2 * HALF,
        1LL << 30, (1LL << 30) + 1, 1LL << 31, (1LL << 31) + 45, 1LL << 40};
    const bool second = kit_below(r, 3) == 0;
    const int64_t spread = kit_below(r, 4) ? spreads[kit_below(r, KIT_COUNT(spreads))] : 90;
    struct near n = {.step = rule->level[second].step};
    if (t->type == ZMPI_F64)
        n.most = far[kit_below(r, KIT_COUNT(far))];
    else if (second)
        n.most = far[kit_below(r, 5)];
    else
        n.most = most[kit_below(r, KIT_COUNT(most))];
    n.least = n.most - spread;
    if (kit_below(r, 2)) {
        n.least = -n.most;
        n.most = n.least + spread;
    }
    n.x = kit_below(r, t->extent[2]);
    n.y = kit_below(r, t->extent[1]);
    n.z = kit_below(r, t->extent[0]);
    n.everywhere = kit_below(r, 3) == 0;
    return n;
}

/* One word that is none, or fill values, which the next chunk expects. */
static void check_near(const struct zmpi_kernels *k, const struct tile *t, struct kit_random *r)
{
    struct zmpi_chunk_rule rule;
    unsigned char *data = malloc(t->bytes);
    const size_t n = t->bytes / t->width;
    char what[160];
    zmpi_chunk_rule_make(&rule, t->type, (double)1e-3F, (double)INFINITY);
    rule.axes = kit_below(r, 2) ? 7 : (unsigned)kit_below(r, 8);
    const struct near near = near_of(&rule, t, r);
    const size_t other = kit_below(r, 6), from = kit_below(r, n), every = 1 + kit_below(r, 90);
    fill_near(&near, t, r, data);
    for (size_t i = from; other == 0 && i < n; i += every)
        kit_put(t->type, data, i, 1e20);
    if (other == 1)
        kit_put(t->type, data, from, kit_special(r, ZMPI_F64));
    snprintf(what, sizeof what, "%s %s: %zux%zux%zu axes %u, %lld to %lld of %g %s, other %zu",
             k->name, t->type == ZMPI_F32 ? "f32" : "f64", t->extent[0], t->extent[1], t->extent[2],
             rule.axes, (long long)near.least, (long long)near.most, near.step,
             near.everywhere ? "everywhere" : "somewhere", other);
    zmpi_chunk_work_init(work, ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);
    for (int chunk = 0; chunk < 3; chunk++)
        compare(k, t, &rule, data, what);
    free(data);
}

Test(kernels_integers16, near)
{
    static const size_t shapes[][3] = {{3, 4, 64},   {3, 4, 33},   {2, 5, 45},   {4, 5, 100},
                                       {6, 7, 7},    {5, 9, 16},   {9, 8, 3},    {4, 6, 24},
                                       {2, 2, 1100}, {1, 1, 4000}, {2, 3, 1031}, {1, 3, 2080},
                                       {3, 9, 38},   {1, 60, 17},  {1, 300, 3},  {4, 5, 128},
                                       {3, 7, 32},   {2, 9, 227},  {5, 2, 31}};
    struct kit_random r = {16};
    const struct zmpi_kernels *k;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;)
        for (size_t j = 0; j < 40 * KIT_COUNT(shapes); j++) {
            const size_t *extent = shapes[j % KIT_COUNT(shapes)], gap = j % 5 ? 0 : 3;
            const size_t bytes = extent[0] * extent[1] * extent[2] * sizeof(double);
            const bool f64 = j / KIT_COUNT(shapes) % 3 == 0 && bytes <= ZMPI_CHUNK_INPUT_BYTES;
            const enum zmpi_type type = f64 ? ZMPI_F64 : ZMPI_F32;
            const struct tile t = tile_make(type, extent, gap, gap != 0);
            check_near(k, &t, &r);
        }
}

/* Chunks too far apart are not tried again and again; those behind them are. */
Test(kernels_integers16, tried_again)
{
    static unsigned char coded[ZMPI_CHUNK_CAPACITY];
    const struct tile t = tile_make(ZMPI_F32, (const size_t[]){4, 8, 33}, 0, 0);
    struct kit_random r = {17};
    struct zmpi_chunk_rule rule;
    unsigned char *data = malloc(t.bytes);
    const struct zmpi_kernels *k;
    zmpi_chunk_rule_make(&rule, ZMPI_F32, (double)1e-3F, (double)INFINITY);
    rule.axes = 7;
    for (size_t i = 0; (k = next_kernels(&i)) != NULL;) {
        zmpi_chunk_work_init(work, ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);
        for (int chunk = 0; chunk < 100; chunk++) {
            const int64_t most = chunk < 2 ? 8000 : 2000;
            const struct near near = {rule.level[0].step, -most, most, 0, 0, 0, true};
            fill_near(&near, &t, &r, data);
            encode(k, &t, &rule, data, coded);
            cr_assert(chunk < 60 || !work->apart, "%s: chunk %d", k->name, chunk);
        }
    }
    free(data);
}
