/*
 * vector_halved_short_t.h - template: the same as vector_halved_t.h where rows are shorter than a
 * vector and planes are not: each plane begins with a vector. After that and
 * avx512_halved_t.h.
 */

/* Of rows: where words are in theirs, over and over, from any place on; and what sums along y
 * take. */
struct half_places {
    uint16_t in_row[2 * HALVES];
    struct half_stride y;
};

KERNEL void half_places_of(size_t row, struct half_places *p)
{
    for (size_t i = 0, at = 0; i < 2 * HALVES; i++, at = at + 1 < row ? at + 1 : 0)
        p->in_row[i] = (uint16_t)at;
    half_stride_begin(&p->y, row, h_load(p->in_row));
}

/* A plane. */
VECTOR void sum_plane(const struct half_places *p, size_t row, size_t plane, unsigned axes,
                      H y_begin, bool first, H begin, const uint16_t *from, uint16_t *kept,
                      uint16_t *q)
{
    H x = h_all(from - 1), y = y_begin;
    for (size_t i = 0, place = 0; i < plane; i += HALVES) {
        H v = h_load(from + i);
        if (axes & ZMPI_AXIS_X) {
            const H sum = v;
            v = h_sub(v, h_pick(x, v, h_sub(h_lanes(HALVES - 1), h_load(p->in_row + place))));
            x = sum;
            place += HALVES % row;
            place -= place < row ? 0 : row;
        }
        if (axes & ZMPI_AXIS_Y)
            v = y = half_stride_sum(&p->y, y, v);
        if (axes & ZMPI_AXIS_Z) {
            v = h_add(v, first ? begin : h_load(kept + i));
            h_store(kept + i, v);
        }
        h_store(q + i, v);
    }
}

VECTOR bool halved_planes(const struct job *j, unsigned axes, unsigned width)
{
    const struct shape s = *j->s;
    const U bias = UINT32_C(1) << width;
    const H begin = h_set1(bias), y_begin = axes & ZMPI_AXIS_Z ? h_set1(0) : begin;
    const size_t band = band_words(j), most = s.plane < band ? band / s.plane : 1;
    uint16_t *kept = (uint16_t *)(void *)j->work->sums;
    struct half_room r = room_of(j, most * s.plane);
    unsigned char tail[TAIL];
    struct half_supply p = half_supply_of(j, s.plane, tail);
    struct outlet o = outlet_of(j, r.to, bias);
    struct half_places places;
    half_places_of(s.row, &places);
    for (size_t z = 0, at = 0, n; z < s.z; z += n) {
        n = s.z - z < most ? s.z - z : most;
        half_supply_until(&p, at + n * s.plane + band, &s, axes & ZMPI_AXIS_X);
        room_turn(&r);
        const uint16_t *x = half_supplied(&p, at);
        for (size_t i = 0; i < n; i++)
            sum_plane(&places, s.row, s.plane, axes, y_begin, z + i == 0, begin, x + i * s.plane,
                      kept, r.to + i * s.plane);
        room_put(&r, n * s.plane, &o, at);
        at += n * s.plane;
    }
    outlet_until(&o, s.count);
    return !outlet_beyond(&o, 2 * bias);
}

#define CASE(a)                                                                                    \
    KERNEL bool halved_short_##a(const struct job *j, unsigned width)                              \
    {                                                                                              \
        return halved_planes(j, a, width);                                                         \
    }
CASE(2)
CASE(3)
CASE(5)
CASE(6)
CASE(7)
#undef CASE

#define SHORT_HALVED                                                                               \
    {                                                                                              \
        halved_0, halved_1, halved_short_2, halved_short_3, halved_4, halved_short_5,              \
            halved_short_6, halved_short_7                                                         \
    }
