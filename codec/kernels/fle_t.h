/*
 * fle_t.h - template: prediction and fixed-length encoding of the integers of one chunk
 * (format.md 1.2, 4.6).
 *
 * Parameters: U the unsigned word (uint32_t or uint64_t), S its signed form, WIDTH its bytes. All
 * arithmetic is modulo 2^(8 WIDTH), so that differences and sums undo each other whatever
 * overflows.
 */

/* Geometry of a clipped tile. */
struct shape {
    size_t z, y, x; /* extents */
    size_t row, plane, count, blocks;
};

static inline struct shape shape_of(const size_t extent[3])
{
    struct shape s = {.z = extent[0], .y = extent[1], .x = extent[2]};
    s.row = s.x;
    s.plane = s.y * s.x;
    s.count = s.z * s.plane;
    s.blocks = (s.count + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
    return s;
}

static inline size_t block_words(const struct shape *s, size_t block)
{
    size_t left = s->count - block * ZMPI_BLOCK;
    return left < ZMPI_BLOCK ? left : ZMPI_BLOCK;
}

static inline U magnitude(U r)
{
    return (S)r < 0 ? (U)0 - r : r;
}

static inline unsigned bit_length(U m)
{
    return m ? 64U - (unsigned)__builtin_clzll((unsigned long long)m) : 0;
}

/* ---- sampled blocks ---- */

static inline size_t sample_count(const struct shape *s)
{
    return s->blocks < 16 ? s->blocks : 16;
}

/* Block k of this many blocks: of sample_count(), or of all. */
static inline size_t sample_block(const struct shape *s, size_t k, size_t samples)
{
    return samples == s->blocks ? k : k * s->blocks / 16;
}

/* Of `axes`, those along which this tile has neighbours. */
static inline unsigned axes_within(const struct shape *s, unsigned axes)
{
    unsigned possible = (s->x > 1 ? ZMPI_AXIS_X : 0U) | (s->y > 1 ? ZMPI_AXIS_Y : 0U) |
                        (s->z > 1 ? ZMPI_AXIS_Z : 0U);
    return axes & possible;
}

/* ---- differences and sums ---- */

/* Backwards, in place: r[i] -= r[i - distance]. */
static inline void difference(U *r, size_t n, size_t distance)
{
    for (size_t i = n; i-- > distance;)
        r[i] -= r[i - distance];
}

static inline void residuals_of(const struct shape *s, const U *q, U base, unsigned axes, U *r)
{
    for (size_t i = 0; i < s->count; i++)
        r[i] = q[i] - base;
    if (axes & ZMPI_AXIS_Z)
        difference(r, s->count, s->plane);
    if (axes & ZMPI_AXIS_Y)
        for (size_t z = 0; z < s->z; z++)
            difference(r + z * s->plane, s->plane, s->row);
    if (axes == ZMPI_AXIS_X)
        difference(r, s->count, 1);
    else if (axes & ZMPI_AXIS_X)
        for (size_t y = 0; y < s->z * s->y; y++)
            difference(r + y * s->row, s->row, 1);
}

static inline void sum(U *r, size_t n, size_t distance)
{
    for (size_t i = distance; i < n; i++)
        r[i] += r[i - distance];
}

static inline void integers_of(const struct shape *s, U *r, U base, unsigned axes)
{
    if (axes == ZMPI_AXIS_X)
        sum(r, s->count, 1);
    else if (axes & ZMPI_AXIS_X)
        for (size_t y = 0; y < s->z * s->y; y++)
            sum(r + y * s->row, s->row, 1);
    if (axes & ZMPI_AXIS_Y)
        for (size_t z = 0; z < s->z; z++)
            sum(r + z * s->plane, s->plane, s->row);
    if (axes & ZMPI_AXIS_Z)
        sum(r, s->count, s->plane);
    for (size_t i = 0; i < s->count; i++)
        r[i] += base;
}

/* ---- planes ---- */

/* Transpose an 8x8 bit matrix: bit j of byte i becomes bit i of byte j. */
static inline uint64_t transpose8(uint64_t m)
{
    uint64_t t = (m ^ (m >> 7)) & 0x00AA00AA00AA00AAU;
    m ^= t ^ (t << 7);
    t = (m ^ (m >> 14)) & 0x0000CCCC0000CCCCU;
    m ^= t ^ (t << 14);
    t = (m ^ (m >> 28)) & 0x00000000F0F0F0F0U;
    return m ^ t ^ (t << 28);
}

/* Writes the magnitudes of one block (32 words) as `length` planes to dst, eight planes at a
 * time. */
static inline void planes_encode(const U m[ZMPI_BLOCK], unsigned length, unsigned char *dst)
{
    for (unsigned p = 0; p < length; p += 8) {
        uint32_t plane[8] = {0};
        for (unsigned e = 0; e < ZMPI_BLOCK; e += 8) {
            uint64_t bits = 0;
            for (unsigned j = 0; j < 8; j++)
                bits |= (uint64_t)((m[e + j] >> p) & 0xFF) << (8 * j);
            bits = transpose8(bits);
            for (unsigned k = 0; k < 8; k++)
                plane[k] |= (uint32_t)((bits >> (8 * k)) & 0xFF) << e;
        }
        for (unsigned k = 0; k < 8 && p + k < length; k++)
            zmpi_store32(dst + 4 * (size_t)(p + k), plane[k]);
    }
}

static inline void planes_decode(U m[ZMPI_BLOCK], unsigned length, const unsigned char *src)
{
    memset(m, 0, ZMPI_BLOCK * sizeof *m);
    for (unsigned p = 0; p < length; p += 8) {
        uint32_t plane[8] = {0};
        for (unsigned k = 0; k < 8 && p + k < length; k++)
            plane[k] = zmpi_load32(src + 4 * (size_t)(p + k));
        for (unsigned e = 0; e < ZMPI_BLOCK; e += 8) {
            uint64_t bits = 0;
            for (unsigned k = 0; k < 8; k++)
                bits |= (uint64_t)((plane[k] >> e) & 0xFF) << (8 * k);
            bits = transpose8(bits);
            for (unsigned j = 0; j < 8; j++)
                m[e + j] |= (U)((bits >> (8 * j)) & 0xFF) << p;
        }
    }
}

/* Writes one block of n <= 32 residuals to dst; returns its length L. It writes 4 (L + 1) bytes, or
 * none if L is 0. */
static inline unsigned block_encode(const U *r, size_t n, unsigned char *dst)
{
    U m[ZMPI_BLOCK] = {0}, all = 0;
    uint32_t signs = 0;
    for (size_t j = 0; j < n; j++) {
        m[j] = magnitude(r[j]);
        all |= m[j];
        signs |= (uint32_t)((S)r[j] < 0) << j;
    }
    unsigned length = bit_length(all);
    if (length == 0)
        return 0;
    zmpi_store32(dst, signs);
    planes_encode(m, length, dst + 4);
    return length;
}

static inline void block_decode(U *r, size_t n, unsigned length, const unsigned char *src)
{
    if (length == 0) {
        memset(r, 0, n * sizeof *r);
        return;
    }
    U m[ZMPI_BLOCK];
    uint32_t signs = zmpi_load32(src);
    planes_decode(m, length, src + 4);
    for (size_t j = 0; j < n; j++)
        r[j] = (signs >> j) & 1 ? (U)0 - m[j] : m[j];
}
