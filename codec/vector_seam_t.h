/*
 * vector_seam_t.h - template: vectors of words, as rows end with them, to rows that lie anywhere,
 * past the caches: in whole vectors where these begin in memory. After vector_stream_t.h.
 */

/* 0, 1, ...: with n added, what v_pick takes to leave out the first n of two vectors' lanes. */
VECTOR V v_lanes(size_t n)
{
    static const U lanes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_add(v_load(lanes), v_set1((U)n));
}

struct seam {
    unsigned char *to; /* where the next vector goes */
    size_t waiting;    /* words for it, which are the last ones of `held` */
    size_t before;     /* and how many of these are not ours: it is the first one of a run */
    V held, join;      /* what takes them, and what follows, together */
    /* From here to the end of a run some way on: the line there is another tile's too, and to be
     * read before it is written. */
    size_t ahead;
    size_t bytes; /* of a run */
    /* Whole lines of it. A part of another must not go past the caches beside one that did not. */
    uintptr_t lines;
    size_t whole;
};

/* For runs of `bytes` bytes, the first at `at`, a step apart. */
VECTOR struct seam seam_begin(const unsigned char *at, size_t bytes, size_t step)
{
    enum { FAR = 8192 };
    const size_t runs = 1 + FAR / bytes;
    for (size_t i = 0; i < runs; i++)
        fetch_end(at, i * step + bytes - 1);
    return (struct seam){.held = v_set1(0),
                         .join = v_lanes(LANES),
                         .ahead = runs * step + bytes - 1,
                         .bytes = bytes};
}

/* What waits is written. */
VECTOR void seam_end(struct seam *m)
{
    if (m->waiting > m->before)
        v_store_lanes(m->to, v_pick(m->held, m->held, m->join), m->before, m->waiting);
}

/* Go on at `at`, which is a multiple of WIDTH. */
VECTOR void seam_at(struct seam *m, unsigned char *at)
{
    if (m->to + m->waiting * WIDTH == at)
        return;
    seam_end(m);
    fetch_end(at, m->ahead);
    const size_t over = (uintptr_t)at % sizeof(V);
    m->to = at - over;
    m->waiting = m->before = over / WIDTH;
    m->join = v_lanes(LANES - m->waiting);
    const uintptr_t begin = (uintptr_t)at, end = (begin + m->bytes) / LINE * LINE;
    m->lines = (begin + LINE - 1) / LINE * LINE;
    m->whole = end > m->lines ? end - m->lines : 0;
}

VECTOR void seam_full(struct seam *m, V v)
{
    const V all = v_pick(m->held, v, m->join);
    if (__builtin_expect(m->before > 0, 0)) {
        /* Not from its own first word on: the next line, which goes past the caches, would be asked
         * for too, masked or not. */
        v_store_lanes(m->to, all, m->before, LANES);
        m->before = 0;
    } else if (sizeof(V) == LINE || (uintptr_t)m->to - m->lines < m->whole) {
        v_stream(m->to, all);
    } else {
        v_store((U *)(void *)m->to, all);
    }
    m->to += sizeof(V);
}

VECTOR void seam_put(struct seam *m, V v)
{
    seam_full(m, v);
    m->held = v;
}

/* The first n < LANES. */
VECTOR void seam_put_few(struct seam *m, V v, size_t n)
{
    m->waiting += n;
    if (m->waiting >= LANES) {
        seam_full(m, v);
        m->waiting -= LANES;
    }
    m->join = v_lanes(LANES - m->waiting);
    m->held = v_pick(m->held, v, v_lanes(n));
}
