/*
 * vector_turn_t.h - template: what vector_seam_t.h does, for instruction sets that cannot pick from
 * two vectors at once: each is turned by as many lanes as wait. After vector_stream_t.h.
 */

struct seam {
    unsigned char *to; /* where the next vector goes */
    size_t waiting;    /* words for it, which are the first ones of `held` */
    size_t before;     /* and how many of these are not ours: it is the first one of a run */
    V held;
    V turn;   /* v_take: lanes up by as many, the last ones first */
    V behind; /* the lanes behind them */
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
    enum { FAR = 4096 };
    const size_t runs = 1 + FAR / bytes;
    for (size_t i = 0; i < runs; i++)
        fetch_end(at, i * step + bytes - 1);
    return (struct seam){.held = v_set1(0), .ahead = runs * step + bytes - 1, .bytes = bytes};
}

/* What waits is written. */
VECTOR void seam_end(struct seam *m)
{
    if (m->waiting > m->before)
        v_store_lanes(m->to, m->held, m->before, m->waiting);
}

/* After a change of how many wait. */
VECTOR void seam_behind(struct seam *m)
{
    static const U behind[] = {0,     0,     0,     0,     0,     0,     0,     0,
                               (U)-1, (U)-1, (U)-1, (U)-1, (U)-1, (U)-1, (U)-1, (U)-1};
    m->behind = v_load(behind + 8 - m->waiting);
}

/* The same before vectors that are to be turned. */
VECTOR void seam_turn(struct seam *m)
{
    m->turn = v_turn(LANES - m->waiting);
    seam_behind(m);
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
    seam_turn(m);
    const uintptr_t begin = (uintptr_t)at, end = (begin + m->bytes) / LINE * LINE;
    m->lines = (begin + LINE - 1) / LINE * LINE;
    m->whole = end > m->lines ? end - m->lines : 0;
}

/* A vector as it is to be in memory. */
VECTOR void seam_full(struct seam *m, V all)
{
    if (__builtin_expect(m->before > 0, 0)) {
        /* Not from its own first word on, as there. */
        v_store_lanes(m->to, all, m->before, LANES);
        m->before = 0;
    } else if ((uintptr_t)m->to - m->lines < m->whole) {
        v_stream(m->to, all);
    } else {
        v_store((U *)(void *)m->to, all);
    }
    m->to += sizeof(V);
}

VECTOR void seam_put(struct seam *m, V v)
{
    const V turned = v_take(v, m->turn);
    seam_full(m, v_blend(m->held, turned, m->behind));
    m->held = turned;
}

/* The first n < LANES. */
VECTOR void seam_put_few(struct seam *m, V v, size_t n)
{
    const V turned = v_take(v, m->turn), all = v_blend(m->held, turned, m->behind);
    m->waiting += n;
    m->held = all;
    if (m->waiting >= LANES) {
        seam_full(m, all);
        m->waiting -= LANES;
        m->held = turned;
    }
    seam_turn(m);
}

/* ---- words that are loaded where memory's vectors begin: nothing is turned ---- */

/* What waits, and behind it the lanes of v. */
VECTOR V seam_join(const struct seam *m, V v)
{
    return v_blend(m->held, v, m->behind);
}

/* v is the vector of which the first n < LANES lanes are to wait. */
VECTOR void seam_hold(struct seam *m, V v, size_t n)
{
    m->held = v;
    m->waiting = n;
    seam_behind(m);
}

/* n words, which are whole vectors. */
VECTOR void seam_move(struct seam *m, const U *words, size_t n)
{
    enum { SOME = 8 };
    const uintptr_t lines = m->lines, past = m->whole, last = lines + past;
    unsigned char *to = m->to, *const end = to + n * WIDTH;
    const uintptr_t stop = (uintptr_t)end < last ? (uintptr_t)end : last;
    for (; to < end && (uintptr_t)to - lines >= past; to += sizeof(V), words += LANES)
        v_store((U *)(void *)to, v_load(words));
    for (; (uintptr_t)to + SOME * sizeof(V) <= stop; to += SOME * sizeof(V), words += SOME * LANES)
        for (unsigned k = 0; k < SOME; k++)
            v_stream(to + k * sizeof(V), v_load(words + k * LANES));
    for (; (uintptr_t)to < stop; to += sizeof(V), words += LANES)
        v_stream(to, v_load(words));
    for (; to < end; to += sizeof(V), words += LANES)
        v_store((U *)(void *)to, v_load(words));
    m->to = to;
}

/* n words; as many as wait may be read before them, and a vector behind. */
VECTOR void seam_words(struct seam *m, const U *words, size_t n)
{
    const U *from = words - m->waiting;
    const size_t all = m->waiting + n, whole = all / LANES * LANES;
    const V first = seam_join(m, v_load(from));
    if (!whole) {
        seam_hold(m, first, all);
        return;
    }
    seam_full(m, first);
    seam_move(m, from + LANES, whole - LANES);
    seam_hold(m, v_load(from + whole), all - whole);
}
