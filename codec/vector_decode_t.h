/*
 * vector_decode_t.h - template: one chunk from bytes to words, row by row: unpack the blocks that a
 * row needs, sum along the axes, convert, and store where the row belongs. After layout_t.h;
 * SCALAR_DECODE is the reference, for chunks shorter than a block.
 *
 * parse_chunk has checked everything before this begins. What is left to watch is that loads of
 * eight planes at once stay inside src.
 */

struct unpacker {
    const unsigned char *lengths, *src, *end;
    const unsigned char *safe; /* a block may be read from here, but not beyond */
    size_t block;
    unsigned char tail[2 * BLOCK_READ]; /* the last blocks, and zeros behind them */
};

static inline void unpacker_begin(struct unpacker *u, const struct parts *p)
{
    u->lengths = p->lengths;
    u->src = p->planes;
    u->end = p->end;
    u->safe = p->end - p->planes >= BLOCK_READ ? p->end - BLOCK_READ : p->planes - 1;
    u->block = 0;
}

/* So close to the end of src, go on in a copy. All that is left fits in half of it. */
static inline void unpacker_tail(struct unpacker *u)
{
    size_t left = (size_t)(u->end - u->src);
    memcpy(u->tail, u->src, left);
    memset(u->tail + left, 0, sizeof u->tail - left);
    u->src = u->tail;
    u->safe = u->tail + BLOCK_READ;
}

/* Residuals of the blocks that begin before element `end`. */
VECTOR void unpack_until(struct unpacker *u, size_t end, U *r)
{
    const unsigned char *lengths = u->lengths, *src = u->src;
    size_t b = u->block;
    for (; b * ZMPI_BLOCK < end; b++) {
        if (__builtin_expect(src > u->safe, 0)) {
            u->src = src;
            unpacker_tail(u);
            src = u->src;
        }
        unsigned length = block_length(lengths[b]);
        V v[VECTORS];
        block_unpack(src, length, v);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(r + b * ZMPI_BLOCK + k * LANES, v[k]);
        src += 4 * (size_t)(length + (length != 0));
    }
    u->src = src;
    u->block = b;
}

/*
 * Integers of a row of n words from its residuals: sums along x, then with the row above it in its
 * plane (sums holds that without what other planes add), then with the row one plane before. Writes
 * whole vectors: what is too much is overwritten by the next row.
 */
VECTOR void sum_row(const U *r, size_t n, size_t plane, unsigned axes, U *sums, U *q)
{
    V carry = v_set1(0);
    for (size_t i = 0; i < n; i += LANES) {
        V v = v_load(r + i);
        if (axes & ZMPI_AXIS_X) {
            V scan = v_scan(v);
            v = v_add(scan, carry);
            carry = v_add(carry, v_last(scan));
        }
        if (axes & ZMPI_AXIS_Y) {
            v = v_add(v, v_load(sums + i));
            v_store(sums + i, v);
        }
        if (axes & ZMPI_AXIS_Z)
            v = v_add(v, v_load(q + i - plane));
        v_store(q + i, v);
    }
}

/* ---- integers to words ---- */

enum conversion { QUANTIZED, ORDERED, PLAIN };

VECTOR V convert(const U *q, V base, F step, enum conversion c)
{
    V v = v_add(v_load(q), base);
    if (c == QUANTIZED)
        return f_bits(f_mul(f_of_integers(v), step));
    return c == ORDERED ? v_ordered(v, v_set1(SIGN_BIT - 1)) : v;
}

/* Words too few for whole cache lines. */
VECTOR void convert_few(const U *q, size_t n, V base, F step, enum conversion c, unsigned char *dst)
{
    U word[2 * LANES];
    v_store(word, convert(q, base, step, c));
    v_store(word + LANES, convert(q + LANES, base, step, c));
    for (size_t i = 0; i < n; i++)
        memcpy(dst + i * WIDTH, word + i, WIDTH);
}

/* n >= LANES words to dst. */
VECTOR void convert_row(const U *q, size_t n, V base, F step, enum conversion c, unsigned char *dst)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        v_store((U *)(void *)(dst + i * WIDTH), convert(q + i, base, step, c));
    if (i < n) {
        i = n - LANES;
        v_store((U *)(void *)(dst + i * WIDTH), convert(q + i, base, step, c));
    }
}

/* Past the caches, in whole lines of 64 bytes; the ends of the row as usual. */
VECTOR void stream_row(const U *q, size_t n, V base, F step, enum conversion c, unsigned char *dst)
{
    enum { LINE = 64 / WIDTH };
    size_t head = (0 - (uintptr_t)dst) % 64 / WIDTH, i = head;
    if (n < LINE + head || (uintptr_t)dst % WIDTH) {
        convert_row(q, n, base, step, c, dst);
        return;
    }
    if (head)
        convert_few(q, head, base, step, c, dst);
    for (; i + LINE <= n; i += LINE)
        for (unsigned k = 0; k < LINE; k += LANES)
            v_stream(dst + (i + k) * WIDTH, convert(q + i + k, base, step, c));
    if (i < n)
        convert_few(q + i, n - i, base, step, c, dst + i * WIDTH);
}

VECTOR void put_row(const U *q, size_t n, const struct parts *p, bool is_float, bool stream,
                    unsigned char *dst)
{
    const V base = v_set1(p->base);
    const F step = f_set1(p->step);
    if (p->map == ZMPI_MAP_QUANTIZED && stream)
        stream_row(q, n, base, step, QUANTIZED, dst);
    else if (p->map == ZMPI_MAP_QUANTIZED)
        convert_row(q, n, base, step, QUANTIZED, dst);
    else if (is_float)
        convert_row(q, n, base, step, ORDERED, dst);
    else
        convert_row(q, n, base, step, PLAIN, dst);
}

/* ---- a chunk ---- */

/* Rows as they are stored: with x alone, and where rows are too short for vectors, all words are
 * one row of the output. */
struct job {
    const struct shape *s;
    const struct parts *p;
    const struct zmpi_rows *dst;
    bool is_float, one_row;
    struct zmpi_chunk_work *work;
};

/* All rows; `axes` is a constant to the compiler. */
VECTOR void decode_along(const struct job *j, unsigned axes)
{
    const struct shape *s = j->s;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    U *r = (U *)(void *)j->work->residuals, *sums = (U *)(void *)j->work->sums;
    struct unpacker u;
    unpacker_begin(&u, j->p);
    if (axes == ZMPI_AXIS_X) { /* runs on across the ends of rows */
        unpack_until(&u, s->count, r);
        sum_row(r, s->count, 0, axes, sums, q);
    }
    for (size_t z = 0; z < s->z; z++) {
        if (axes & ZMPI_AXIS_Y)
            memset(sums, 0, s->row * WIDTH);
        for (size_t y = 0; y < s->y; y++) {
            size_t at = (z * s->y + y) * s->row;
            if (axes != ZMPI_AXIS_X) {
                unpack_until(&u, at + s->row, r);
                sum_row(r + at, s->row, s->plane, axes, sums, q + at);
            }
            if (!j->one_row)
                put_row(q + at, s->row, j->p, j->is_float, j->dst->stream,
                        j->dst->at + z * j->dst->plane + y * j->dst->row);
        }
    }
    if (j->one_row)
        put_row(q, s->count, j->p, j->is_float, false, j->work->words);
}

KERNEL void decode_rows(const struct job *j)
{
    switch (j->p->axes) {
    case 0:
        decode_along(j, 0);
        break;
    case 1:
        decode_along(j, 1);
        break;
    case 2:
        decode_along(j, 2);
        break;
    case 3:
        decode_along(j, 3);
        break;
    case 4:
        decode_along(j, 4);
        break;
    case 5:
        decode_along(j, 5);
        break;
    case 6:
        decode_along(j, 6);
        break;
    default:
        decode_along(j, 7);
    }
}

/* Every integer is the base. */
KERNEL void decode_zero(const struct job *j)
{
    const U *zeros = (const U *)(const void *)j->work->integers;
    if (j->one_row) {
        put_row(zeros, j->s->count, j->p, j->is_float, false, j->work->words);
        return;
    }
    for (size_t z = 0; z < j->s->z; z++)
        for (size_t y = 0; y < j->s->y; y++)
            put_row(zeros, j->s->row, j->p, j->is_float, j->dst->stream,
                    j->dst->at + z * j->dst->plane + y * j->dst->row);
}

TARGET enum zmpi_status DECODE(bool is_float, const size_t extent[3], const unsigned char *src,
                               size_t size, const struct zmpi_rows *dst,
                               struct zmpi_chunk_work *work)
{
    const struct shape s = shape_of(extent);
    if (s.count < ZMPI_BLOCK)
        return SCALAR_DECODE(is_float, extent, src, size, dst, work);
    struct parts p;
    enum zmpi_status status = parse_chunk(&s, is_float, src, size, &p);
    if (status)
        return status;
    if (p.map == ZMPI_MAP_STORED) {
        memcpy(work->words, p.values, s.count * WIDTH);
        zmpi_rows_scatter(dst, extent, s.x * WIDTH, work);
        return ZMPI_OK;
    }
    const bool exceptions = p.masks != p.values;
    struct job j = {&s, &p, dst, is_float, exceptions || s.x < LANES, work};
    if (p.zero)
        decode_zero(&j);
    else
        decode_rows(&j);
    if (dst->stream)
        v_fence();
    if (exceptions)
        load_exceptions(&s, &p, (U *)(void *)work->words);
    if (j.one_row)
        zmpi_rows_scatter(dst, extent, s.x * WIDTH, work);
    return ZMPI_OK;
}
