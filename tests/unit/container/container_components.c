/* container_components.c - records that are interleaved components of one piece are read right:
 * together, cut off, written over in part, out of their order, and damaged. */
#include "container_file.h"

enum { MOST = 16 };

/* Regular runs of points, and the component of each that `op` has. */
static void component(struct op *op, const struct zmpi_extent *points, size_t width, size_t n,
                      size_t c)
{
    struct zmpi_extent *e = &op->record.extent;
    const uint64_t run = points->run / (n * width);
    *e = (struct zmpi_extent){.lo = points->lo + c * width, .run = width};
    if (run > 1) {
        e->count[0] = run;
        e->stride[0] = n * width;
        e->levels = 1;
    }
    for (unsigned i = 0; i < points->levels; i++) {
        e->count[e->levels] = points->count[i];
        e->stride[e->levels++] = points->stride[i];
    }
    cr_assert_eq(zmpi_extent_close(e), ZMPI_OK);
    op->record.kind = ZMPI_RECORD_DATA;
    for (size_t i = 0; i < e->bytes; i++)
        op->data[i] = (unsigned char)random_next();
}

/* The components of a piece: how many. */
static size_t piece(struct op *ops, uint64_t order, uint32_t rank)
{
    const size_t width = random_below(2) ? 8 : 4, n = 2 + random_below(MOST - 1);
    struct zmpi_extent e = {.lo = random_below(200), .run = n * width * (1 + random_below(5))};
    uint64_t span = e.run;
    const unsigned levels = (unsigned)random_below(3);
    for (unsigned i = 0; i < levels; i++) {
        const uint64_t stride = span + random_below(2) * random_below(60),
                       count = 2 + random_below(3);
        if (e.lo + stride * count > SPACE)
            break;
        e.stride[e.levels] = stride;
        e.count[e.levels++] = count;
        span = stride * (count - 1) + span;
    }
    for (size_t c = 0; c < n; c++) {
        memset(&ops[c].record, 0, sizeof ops[c].record);
        ops[c].lost = false;
        ops[c].record.order = order;
        ops[c].record.rank = rank;
        component(&ops[c], &e, width, n, c);
    }
    return n;
}

static size_t random_pieces(struct op *ops)
{
    size_t n = 0;
    while (n + MOST + 4 < OPS_MAX) {
        const uint64_t order = random_below(3) << 32 | random_below(4);
        const size_t many = piece(&ops[n], order, (uint32_t)random_below(2));
        if (random_below(4) == 0) /* such as no writer makes */
            ops[n + random_below(many)].record.order = random_below(4);
        n += many;
        if (random_below(4) == 0)
            n--; /* the last one was never written */
        if (random_below(2))
            random_op(&ops[n++]);
    }
    return n;
}

/* Pieces of the file, which may begin and end within a point. */
static void check_reads(struct zmpi_container *c, const struct zmpi_reader *in,
                        const struct model *m)
{
    struct zmpi_run runs[100];
    unsigned char got[SPACE + 1];
    bool same;
    cr_assert_eq(read_all(c, in, m, &same), ZMPI_OK);
    cr_assert(same);
    for (int k = 0; k < 20; k++) {
        const size_t n = random_runs(runs, 100);
        size_t position = 0;
        memset(got, 0xEE, sizeof got);
        cr_assert_eq(zmpi_container_read(c, in, runs, n, got, NULL), ZMPI_OK);
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq(memcmp(got + position, m->byte + runs[i].offset, runs[i].length), 0);
            position += runs[i].length;
        }
        cr_assert_eq(got[position], 0xEE);
    }
}

Test(container_components, random_pieces)
{
    static struct op ops[OPS_MAX];
    random_numbers.state = 5;
    for (int round = 0; round < test_rounds(400); round++) {
        struct zmpi_record record[OPS_MAX];
        struct zmpi_container c;
        struct zmpi_header h;
        struct model m;
        struct file f;
        const size_t n = random_pieces(ops);
        file_create(&f, &h, test_id);
        file_ops(&f, ops, n, test_id);
        model_make(&m, ops, n);
        if (round % 2) {
            ops_records(ops, n, record);
            file_index(&f, &h, record, n, 1 + random_below(3));
        }
        struct zmpi_reader in = file_reader(&f);
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_eq(c.count, n);
        check_reads(&c, &in, &m);
        zmpi_container_free(&c);
        file_free(&f);
        ops_free(ops, n);
    }
}

/* Two ranks' pieces, whose points take turns in the file, are found together; others are not. */
Test(container_components, are_found_together)
{
    static struct op ops[8];
    struct zmpi_found found[8];
    struct zmpi_extent all;
    for (size_t k = 0; k < 8; k++) {
        struct zmpi_extent e = {
            .lo = k / 4 * 64, .run = 64, .levels = 1, .count = {3}, .stride = {128}};
        component(&ops[k], &e, 8, 4, k % 4);
        ops[k].record.rank = (uint32_t)(k / 4);
        found[7 - k] = (struct zmpi_found){.record = ops[k].record, .cut = UINT64_MAX};
    }
    for (size_t k = 0; k < 8; k += 4) {
        cr_assert_eq(zmpi_components_group(found + k, 8 - k, &all), 4);
        cr_assert(all.lo == (k ? 0 : 64) && all.run == 64 && all.levels == 1 && all.count[0] == 3 &&
                  all.stride[0] == 128);
    }
    cr_assert_eq(zmpi_components_group(found + 1, 7, &all), 1);
    cr_assert_eq(zmpi_components_group(found + 4, 3, &all), 1);
    found[6].cut = found[6].record.extent.hi - 1;
    cr_assert_eq(zmpi_components_group(found + 4, 4, &all), 1);
}

/* One component is damaged: the others are as they were, and what is lost is told. */
Test(container_components, one_is_damaged)
{
    static struct op ops[MOST];
    random_numbers.state = 9;
    for (int round = 0; round < test_rounds(100); round++) {
        struct zmpi_losses losses = {0};
        struct zmpi_record record[MOST];
        struct zmpi_container c;
        struct zmpi_header h;
        struct model m;
        struct file f;
        unsigned char got[SPACE];
        const struct zmpi_run all = {0, SPACE};
        const size_t n = piece(ops, 1, 0), bad = random_below(n);
        file_create(&f, &h, test_id);
        file_ops(&f, ops, n, test_id);
        model_make(&m, ops, n);
        ops_records(ops, n, record);
        file_index(&f, &h, record, n, 1);
        const struct zmpi_record *r = &ops[bad].record;
        f.data[zmpi_record_payload(r) + random_below(r->payload_length)] ^= 1;
        struct zmpi_reader in = file_reader(&f);
        zmpi_container_init(&c);
        cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
        cr_assert_neq(zmpi_container_read(&c, &in, &all, 1, got, NULL), ZMPI_OK);
        in.losses = &losses;
        cr_assert_eq(zmpi_container_read(&c, &in, &all, 1, got, NULL), ZMPI_OK);
        cr_assert_gt(losses.count, 0);
        for (size_t i = 0; i < losses.count; i++)
            for (uint64_t at = 0; at < losses.loss[i].length; at++)
                got[losses.loss[i].offset + at] = m.byte[losses.loss[i].offset + at];
        cr_assert_eq(memcmp(got, m.byte, SPACE), 0);
        uint64_t lost = 0;
        for (size_t i = 0; i < losses.count; i++)
            lost += losses.loss[i].length;
        cr_assert_leq(lost, r->extent.bytes);
        zmpi_losses_free(&losses);
        zmpi_container_free(&c);
        file_free(&f);
        ops_free(ops, n);
    }
}

/* More than a tile of the reader: requests at random, all in one, and as many short ones. */
Test(container_components, large)
{
    enum { N = 5, POINTS = 240000, BYTES = N * POINTS * 8 };
    double *value = malloc(BYTES), *got = malloc(BYTES), *one = malloc(POINTS * 8);
    struct zmpi_header h;
    struct file f;
    struct zmpi_container c;
    for (size_t i = 0; i < (size_t)N * POINTS; i++)
        value[i] = (double)(i % N * 1000) + (double)(i / N) * 0.25;
    file_create(&f, &h, test_id);
    for (size_t k = 0; k < N; k++) {
        struct zmpi_record r = {
            .kind = ZMPI_RECORD_DATA,
            .extent = {.lo = k * 8, .run = 8, .levels = 1, .count = {POINTS}, .stride = {N * 8}}};
        cr_assert_eq(zmpi_extent_close(&r.extent), ZMPI_OK);
        for (size_t i = 0; i < POINTS; i++)
            one[i] = value[i * N + k];
        file_record(&f, &r, zmpi_pad8(f.size), test_id, (const unsigned char *)one);
    }
    struct zmpi_reader in = file_reader(&f);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK);
    random_numbers.state = 3;
    for (int round = 0; round < test_rounds(40); round++) {
        const uint64_t from = random_below(BYTES), most = BYTES - from;
        const struct zmpi_run run = {from, round ? 1 + random_below(most) : most};
        cr_assert_eq(zmpi_container_read(&c, &in, &run, 1, got, NULL), ZMPI_OK);
        cr_assert_eq(memcmp(got, (unsigned char *)value + run.offset, run.length), 0);
    }
    struct zmpi_run *runs = malloc(POINTS / 3 * sizeof *runs);
    for (size_t i = 0; i < POINTS / 3; i++)
        runs[i] = (struct zmpi_run){i * 3 * N * 8 + 12, N * 8 + i % 13};
    cr_assert_eq(zmpi_container_read(&c, &in, runs, POINTS / 3, got, NULL), ZMPI_OK);
    for (size_t i = 0, at = 0; i < POINTS / 3; at += runs[i++].length)
        cr_assert_eq(memcmp((unsigned char *)got + at, (unsigned char *)value + runs[i].offset,
                            runs[i].length),
                     0);
    free(runs);
    zmpi_container_free(&c);
    file_free(&f);
    free(value);
    free(got);
    free(one);
}
