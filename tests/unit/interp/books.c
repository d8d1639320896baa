/*
 * books.c - the profile of encoder 3 with Huffman codes: the promise on data of all kinds and
 * shapes, the values of rANS, in no more bytes than encoder 2; threads; damage is seen.
 */
#include "interp/interp_work.h"
#include "interp_streams.h"

static struct kit_stream compress(const struct zmpi_array *a, struct zmpi_bound bound, int threads,
                                  const void *src)
{
    return compress_by(a, bound, ZMPI_INTERP, ZMPI_VARIANT_BOOKS, threads, src);
}

/* Checks the promise, and that values are those of rANS, where neither went to encoder 2. */
static bool check_data(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                       const char *what)
{
    struct kit_stream two = compress_by(a, bound, ZMPI_HUFFMAN, ZMPI_VARIANT_NONE, 1, src);
    struct kit_stream rans = compress_by(a, bound, ZMPI_INTERP, ZMPI_VARIANT_NONE, 1, src);
    struct kit_stream s = compress(a, bound, 1, src);
    struct kit_guarded in = kit_guard(s.size, true), out = kit_guard(kit_bytes(a), true);
    cr_assert_leq(s.size, two.size, "%s: %zu bytes, not %zu", what, s.size, two.size);
    memcpy(in.data, s.data, s.size);
    enum zmpi_status status = zmpi_decompress(out.data, kit_bytes(a), in.data, s.size);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", what, zmpi_strerror(status));
    kit_check(a, src, out.data, kit_abs_bound(&s), what);
    const bool taken = family_of(&s) && family_of(&rans);
    if (taken) {
        void *values = kit_decompress(&rans);
        cr_assert_eq(memcmp(values, out.data, kit_bytes(a)), 0, "%s: other values", what);
        free(values);
    }
    kit_unguard(&in);
    kit_unguard(&out);
    free(two.data);
    free(rans.data);
    free(s.data);
    return taken;
}

Test(books, keeps_the_promise)
{
    static const size_t shapes[][3] = {{1, 1, 5000}, {1, 70, 131}, {23, 19, 31}, {60, 60, 2}};
    const struct zmpi_bound bounds[] = {kit_abs(1e-2), kit_abs(1e-30), kit_abs(3e8), kit_rel(1e-3),
                                        kit_rel(1e-7)};
    int taken = 0;
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++)
            for (size_t j = i % 2; j < KIT_COUNT(bounds); j += test_long() ? 1 : 2)
                for (enum kit_data kind = 0; kind < KIT_DATA_KINDS; kind++) {
                    struct zmpi_array a = kit_array(type, shapes[i][0], shapes[i][1], shapes[i][2]);
                    char what[100];
                    void *src = make_kind(&a, bounds[j], kind, what);
                    taken += check_data(&a, bounds[j], src, what);
                    free(src);
                }
    cr_assert_geq(taken, 40, "only %d streams are of the profile", taken);
}

Test(books, shapes)
{
    struct kit_random r = {5};
    int taken = 0;
    for (int i = 0; i < (test_long() ? 200 : 30); i++) {
        size_t e[3] = {1 + kit_below(&r, 40), 1 + kit_below(&r, 80), 1 + kit_below(&r, 150)};
        e[i % 3] = i % 4 ? e[i % 3] : 1;
        struct zmpi_array a = kit_array(i % 2 ? ZMPI_F32 : ZMPI_F64, e[0], e[1], e[2]);
        void *src = make_waves(&a, i % 5 == 4 ? 1e6 : 0, i % 3 ? 0 : 1e20);
        taken += check_data(&a, kit_rel(pow(10, -1 - i % 4)), src, "waves");
        free(src);
    }
    cr_assert_geq(taken, 10, "%d", taken);
}

Test(books, threads)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 90, 120, 100);
    float *src = make_waves(&a, 3, 1e20);
    struct kit_stream s = compress(&a, kit_rel(1e-3), 1, src);
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
    cr_assert(info.books);
    cr_assert_gt(info.chunks, 3);
    for (int threads = 2; threads <= 5; threads++) {
        struct kit_stream t = compress(&a, kit_rel(1e-3), threads, src);
        cr_assert_eq(t.size, s.size);
        cr_assert_arr_eq(t.data, s.data, s.size);
        free(t.data);
    }
    free(s.data);
    free(src);
}

/* Decoded data that are coded again by the same bound stay as they are. */
Test(books, again)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 24, 48, 48);
    float *src = make_waves(&a, 3, 1e20), *now = malloc(kit_bytes(&a));
    memcpy(now, src, kit_bytes(&a));
    for (int turn = 0; turn < 5; turn++) {
        struct kit_stream s = compress(&a, kit_abs(2e-3), 1, now);
        float *out = kit_decompress(&s);
        cr_assert_neq(family_of(&s), 0);
        if (turn > 0)
            cr_assert_arr_eq(out, now, kit_bytes(&a), "turn %d", turn);
        memcpy(now, out, kit_bytes(&a));
        kit_check(&a, src, now, 2e-3, "again");
        free(out);
        free(s.data);
    }
    free(now);
    free(src);
}

/* ---- damage ---- */

static void damage(const struct zmpi_array *a, const void *src, struct zmpi_bound bound)
{
    struct kit_stream s = compress(a, bound, 1, src);
    cr_assert_neq(family_of(&s), 0);
    damage_stream(a, &s, 0);
    free(s.data);
}

Test(books, damage)
{
    struct zmpi_array solid = kit_array(ZMPI_F32, 20, 30, 40),
                      flat = kit_array(ZMPI_F64, 1, 90, 70);
    float *a = make_waves(&solid, 0, 1e20), *b = make_waves(&flat, 0, 0);
    damage(&solid, a, kit_rel(1e-2));
    damage(&solid, a, kit_rel(1e-4));
    damage(&flat, b, kit_abs(1e-3));
    free(a);
    free(b);
}

/* A stream whose books have codes for other contexts is refused; so is one with another number of
 * codes. */
Test(books, numbers)
{
    const size_t tile[3] = {1, 4, 16};
    const struct zmpi_interp_set set = {.family = ZMPI_INTERP_LORENZO, .axes = 1};
    const struct zmpi_interp_rule rule = {
        .type = ZMPI_F32, .unit = 0.5, .sets = 1, .set = {set}, .books = true};
    struct zmpi_interp_work *w = zmpi_interp_work_new(tile, &set, 1, true);
    unsigned char chunk[4096] = {1, 0, 0, 0, 0};
    float out[64];
    const struct zmpi_rows rows = {.at = (unsigned char *)out, .row = 64, .plane = 256};
    w->books = zmpi_interp_books_new(64);
    zmpi_interp_code_begin(w);
    for (unsigned i = 0; i < 64; i++) /* small ones in context 0, large ones in 7 */
        w->codes.pair[i] = (uint16_t)(i % 2 ? 7 << 7 | (20 + i % 16) : i % 3);
    w->codes.count = 64;
    zmpi_interp_code_end(w);
    const size_t size = zmpi_interp_books_pack(w, chunk + 5, sizeof chunk - 5);
    cr_assert_gt(size, 30);
    cr_assert_not(zmpi_interp_books_unpack(w, 63, chunk + 5, size));
    cr_assert_not(zmpi_interp_books_unpack(w, 65, chunk + 5, size));
    cr_assert(zmpi_interp_books_unpack(w, 64, chunk + 5, size));
    for (int i = 0; i < 32; i++) {
        const int code = w->given.next[w->given.of[0]][i];
        cr_assert_eq(code, i % 3 == 1 ? -1 : i % 3 / 2, "code %d is %d", i, code);
    }
    cr_assert_eq(w->given.end[w->given.of[0]] - w->given.next[w->given.of[0]], 32);
    const struct zmpi_interp_coded coded = {chunk, size + 5, {tile[0], tile[1], tile[2]}, rows};
    enum zmpi_status status;
    zmpi_interp_decode(&w, &rule, &coded, 1, &status);
    cr_assert_eq(status, ZMPI_ERR_CORRUPT);
    zmpi_interp_work_free(w);
}
