/*
 * kernels_damage.c - damaged streams, and streams made to harm with right checksums: the kernels
 * report what the CPU reports, of the same chunk, and touch nothing outside stream and array.
 */
#include <stdio.h>

#include "base/hash.h"
#include "kernel_kit.h"

/* Make the checksums right again. */
static void seal(struct kit_stream *s, size_t chunks)
{
    size_t at = 80 + 8 * chunks;
    for (size_t k = 0; k < chunks; k++) {
        uint32_t size, hash;
        memcpy(&size, s->data + 80 + 8 * k, 4);
        hash = (uint32_t)zmpi_hash(s->data + at, size, 0);
        memcpy(s->data + 84 + 8 * k, &hash, 4);
        at += size;
    }
    uint64_t hash = zmpi_hash2(s->data, 72, s->data + 80, 8 * chunks, 0);
    memcpy(s->data + 72, &hash, 8);
}

static void compare(const struct kit_stream *s, size_t bytes, const char *what)
{
    struct kit_guarded out = kit_guard(bytes, s->size % 2 != 0);
    unsigned char *expected = malloc(bytes);
    size_t bad = 0, found = 0;
    enum zmpi_status e = zmpi_stream_verify(s->data, s->size, &bad);
    enum zmpi_status g = kk_decode(s, NULL, out.data, &found);
    cr_assert_eq(g, e, "%s: %s, not %s", what, zmpi_strerror(g), zmpi_strerror(e));
    cr_assert_eq(found, bad, "%s: chunk %zu, not %zu", what, found, bad);
    if (!e) {
        cr_assert_eq(zmpi_decompress(expected, bytes, s->data, s->size), ZMPI_OK);
        cr_assert(memcmp(expected, out.data, bytes) == 0, "%s", what);
    }
    free(expected);
    kit_unguard(&out);
}

/* Bits flipped in the heads of chunks, length bytes, masks, anywhere. */
static void damage(enum zmpi_type type, struct zmpi_bound bound, int kind, bool sealed, int cases)
{
    struct zmpi_array a = kit_array(type, 1, 90, 200);
    struct kit_random r = {(uint64_t)type * 100 + (uint64_t)kind};
    void *data = kit_make(&r, &a, (enum kit_data)kind);
    struct zmpi_job job = kk_job(&a, bound, 0, data);
    struct kit_stream s = kk_cpu(&job, data);
    struct zmpi_stream parsed;
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    const size_t chunks = parsed.info.chunks, head = 80 + 8 * chunks;
    cr_assert_geq(chunks, 2);
    unsigned char *good = malloc(s.size);
    memcpy(good, s.data, s.size);
    for (int i = 0; i < KK_CASES(cases); i++) {
        char what[120];
        size_t reach = s.size - head;
        reach = i % 3 == 0 ? 4 + parsed.width : i % 3 == 1 && reach > 400 ? 400 : reach;
        const size_t bit = 8 * head + kit_below(&r, 8 * reach);
        s.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        if (i % 5 == 4) {
            const size_t byte = head + kit_below(&r, reach);
            s.data[byte] = (unsigned char)kit_next(&r);
        }
        if (sealed)
            seal(&s, chunks);
        snprintf(what, sizeof what, "type %d, data %d, case %d, bit %zu", type, kind, i, bit);
        kk_turn((uint64_t)i);
        compare(&s, kit_bytes(&a), what);
        memcpy(s.data, good, s.size);
    }
    free(good);
    free(s.data);
    free(data);
}

Test(kernels_damage, checksums)
{
    damage(ZMPI_F32, kit_abs(1e-3), KIT_SMOOTH, false, 12);
}

Test(kernels_damage, quantized)
{
    damage(ZMPI_F32, kit_abs(1e-3), KIT_SMOOTH, true, 45);
    damage(ZMPI_F64, kit_abs(1e-3), KIT_SMOOTH, true, 24);
}

Test(kernels_damage, exceptions)
{
    damage(ZMPI_F32, kit_abs(1e-3), KIT_SPECIAL, true, 45);
    damage(ZMPI_F64, kit_abs(1e-3), KIT_SPIKES, true, 24);
}

Test(kernels_damage, exact)
{
    damage(ZMPI_F32, (struct zmpi_bound){ZMPI_PW_REL, 1e-3}, KIT_SPECIAL, true, 24);
    damage(ZMPI_F32, kit_abs(1e-3), KIT_BITS, true, 12);
    damage(ZMPI_I64, kit_abs(1), KIT_SMOOTH, true, 24);
}

/* ---- forged chunks ---- */

struct forged {
    unsigned char bytes[2048];
    size_t size;
};

static void put(struct forged *f, const void *src, size_t n)
{
    memcpy(f->bytes + f->size, src, n);
    f->size += n;
}

static void put32(struct forged *f, uint32_t v)
{
    put(f, &v, 4);
}

/* A stream of one chunk of 45 elements, two blocks, the second of 13. */
static void check_forged(enum zmpi_type type, const struct forged *f, const char *what)
{
    struct zmpi_array a = kit_array(type, 1, 1, 45);
    unsigned char data[45 * 8] = {0};
    static uint64_t turn;
    struct zmpi_job job = kk_job(&a, kit_abs(1e-3), 0, data);
    struct kit_stream s = kk_cpu(&job, data);
    const uint32_t size = (uint32_t)f->size;
    const uint64_t length = 88 + f->size;
    s.data = realloc(s.data, length);
    s.size = length;
    memcpy(s.data + 64, &length, 8);
    memcpy(s.data + 80, &size, 4);
    memcpy(s.data + 88, f->bytes, f->size);
    seal(&s, 1);
    kk_turn(++turn);
    compare(&s, kit_bytes(&a), what);
    free(s.data);
}

/* map | axes << 8 | flags << 16 | shift << 24, step and base, length bytes, n words of planes,
 * masks, values. */
static void forge(uint32_t head, float step, uint32_t lengths, size_t planes, uint32_t mask0,
                  uint32_t mask1, size_t values)
{
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_I32; type += 2) {
        struct forged f = {.size = 0};
        struct kit_random r = {lengths};
        char what[120];
        put32(&f, head);
        if ((head & 255) == 0)
            put(&f, &step, 4);
        put32(&f, 7);
        if (!(head >> 16 & 1))
            put32(&f, lengths);
        for (size_t i = 0; i < planes; i++)
            put32(&f, (uint32_t)kit_next(&r));
        if (lengths & 0x80)
            put32(&f, mask0);
        if (lengths & 0x8000)
            put32(&f, mask1);
        for (size_t i = 0; i < values; i++)
            put32(&f, (uint32_t)kit_next(&r));
        snprintf(what, sizeof what, "type %d: %08x %g %08x %zu %08x %08x %zu", type, head,
                 (double)step, lengths, planes, mask0, mask1, values);
        check_forged(type, &f, what);
    }
}

Test(kernels_damage, lengths)
{
    static const uint32_t length[] = {0, 1, 2, 31, 32, 33, 34, 63, 64, 127};
    for (size_t i = 0; i < KIT_COUNT(length); i++)
        for (uint32_t axes = 0; axes < 2; axes++) {
            const size_t words = length[i] ? length[i] + 1 : 0;
            forge(0x000001 | axes << 8, 1, length[i], words, 0, 0, 0);
            forge(0x000000 | axes << 8, 0.5F, length[i] << 8, words, 0, 0, 0);
            forge(0x000001, 1, length[i], words + 1, 0, 0, 0);
            forge(0x000001, 1, length[i] | length[i] << 8, 2 * words, 0, 0, 0);
        }
    forge(0x000001, 1, 0x00010000, 2, 0, 0, 0); /* padding */
    forge(0x000001, 1, 0x01000000, 2, 0, 0, 0);
    forge(0x000001, 1, 0x80000000, 0, 0, 0, 0);
}

Test(kernels_damage, heads)
{
    static const float step[] = {0.0F, -1.0F, 0x1p-149F, 1e38F, 1.0F};
    for (size_t i = 0; i < KIT_COUNT(step); i++)
        forge(0, step[i], 4, 5, 0, 0, 0);
    forge(0, INFINITY, 4, 5, 0, 0, 0);
    forge(0, NAN, 4, 5, 0, 0, 0);
    for (uint32_t flags = 0; flags < 8; flags++) {
        forge(flags << 16, 1, 0, 0, 0, 0, 0);
        forge(flags << 16 | 1, 1, 0, 0, 0, 0, 0);
        forge(flags << 16 | 2, 1, 0, 0, 0, 0, 43); /* 45 words and a head: stored */
    }
    for (uint32_t axes = 0; axes < 9; axes++)
        forge(axes << 8 | 1, 1, 3, 4, 0, 0, 0);
    for (uint32_t shift = 0; shift < 40; shift += 3) {
        forge(shift << 24 | 1, 1, 3, 4, 0, 0, 0);
        forge(shift << 24, 1, 3, 4, 0, 0, 0);
    }
    forge(3, 1, 3, 4, 0, 0, 0);
    forge(2, 1, 3, 43, 0, 0, 0);
}

Test(kernels_damage, masks)
{
    static const uint32_t mask[] = {0, 1, 0x80000000, 0x1000, 0x2000, 0x1FFF, 0xFFFFFFFF};
    for (size_t i = 0; i < KIT_COUNT(mask); i++) {
        const size_t n = (size_t)__builtin_popcount(mask[i]);
        for (size_t more = 0; more < 2; more++) {
            forge(0x020000, 1, 0x0080, 0, mask[i], 0, n + more);
            forge(0x020000, 1, 0x8300, 4, 0, mask[i], n + more);
            forge(0x020000, 1, 0x83C2, 7, 5, mask[i], 1 + n + more);
            forge(0x020000, 1, 0xC080, 0, 0x11, mask[i], 2 + 1 + more);
            forge(0x05020001, 1, 0x8380, 4, mask[i], 3, n + 2 - more);
        }
        forge(0, 1, 0x0080, 0, mask[i], 0, n);
        forge(0x020001, 1, 0x0080, 0, mask[i], 0, n);
    }
    forge(0x020000, 1, 0x0003, 4, 0, 0, 0);
}

/* A table that differs from the one that was checked: no unchecked entry may become an index. */
Test(kernels_damage, table)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 30000);
    struct kit_random r = {9};
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    struct zmpi_job job = kk_job(&a, kit_abs(1e-3), 0, data);
    struct kit_stream s = kk_cpu(&job, data);
    static const uint32_t size[] = {0, 2, 6, 32776, 0x7FFFFFFC, 0xFFFFFFFC, 32768};
    for (size_t i = 0; i < KIT_COUNT(size); i++) {
        struct zmpi_stream parsed;
        struct zmpi_cuda_decode_plan plan;
        struct kit_guarded src = kit_guard((s.size + 15) / 16 * 16, true);
        struct kit_guarded out = kit_guard(kit_bytes(&a), true);
        _Alignas(16) unsigned char work[1024];
        uint64_t answer;
        cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
        cr_assert_eq(zmpi_cuda_decode_plan_make(&parsed, &plan), ZMPI_OK);
        cr_assert_leq(zmpi_cuda_decompress_workspace(&plan), sizeof work);
        memcpy(src.data, s.data, s.size);
        memcpy(src.data + 80 + 8 * (i % 4), &size[i], 4);
        kk_turn(i);
        cr_assert_eq(zmpi_cuda_decompress(&plan, src.data, NULL, out.data, work, NULL), 0, "%s",
                     zmpi_emu_message());
        memcpy(&answer, work, sizeof answer);
        cr_assert_neq(zmpi_cuda_verdict(answer, NULL), ZMPI_OK, "%zu", i);
        kit_unguard(&src);
        kit_unguard(&out);
    }
    free(s.data);
    free(data);
}
