/*
 * kernels_damage.c - streams that were damaged, or made to harm, with right checksums: the kernels
 * come to the CPU's verdict on the same chunk, and touch nothing outside stream and array.
 */
#include <stdio.h>

#include "hash.h"
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
    for (int i = 0; i < cases; i++) {
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

/* A table that is not the one that was checked: no index comes from it unchecked. */
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
