/*
 * vector_outlet_t.h - template: integers of 16 bits, as they lie one behind the other, to words, in
 * whole vectors where these begin in memory. After vector_rows_t.h.
 */

struct outlet {
    const uint16_t *q; /* the next one */
    size_t done, left; /* words: of the chunk, and those to come of the run */
    unsigned char *to; /* where they go */
    /* Words without gaps, so many times in a plane; and bytes from there to the next ones, and to
     * the next plane's. */
    size_t run, runs, gap, far;
    size_t turn;  /* runs before that */
    size_t ahead; /* of vector_seam_t.h */
    enum way way;
    V base, seen; /* seen: all integers, ORed, in lanes of 16 bits */
    F step;
    struct patch patch;
};

VECTOR struct outlet outlet_of(const struct job *j, const uint16_t *q, U bias)
{
    const struct seam m = job_seam(j);
    const bool one = j->dst->at == j->work->words;
    const size_t run = one ? j->s->count * WIDTH : j->run;
    const size_t runs = one ? 1 : j->s->plane * WIDTH / run;
    const size_t far = j->dst->plane - (runs - 1) * j->dst->row - run;
    return (struct outlet){.q = q,
                           .left = run / WIDTH,
                           .to = j->dst->at,
                           .run = run / WIDTH,
                           .runs = runs,
                           .gap = runs > 1 ? j->dst->row - run : far,
                           .far = far,
                           .turn = runs,
                           .ahead = m.ahead,
                           .way = j->way,
                           .base = v_set1(j->p->base - bias),
                           .seen = v_set1(0),
                           .step = f_set1(j->p->step),
                           .patch = j->patch};
}

/* Integers to words, the first one number at + i of the chunk; i of them are whole vectors. seen:
 * or NULL. */
VECTOR V outlet_words(V q, V base, F step, const struct patch *patch, size_t at, size_t i, V *seen)
{
    if (seen)
        *seen = v_or(*seen, q);
    const V v = f_bits(f_mul(f_of_integers(v_add(q, base)), step));
    if (!patch)
        return v;
    /* All of them begin at the same bit of a byte. */
    const uint32_t mask = zmpi_load32(patch->masks + at / 8 + i / 8);
    const V there = patch->words ? v_load(patch->words + at + i) : patch->fill;
    return v_choose_from(v, there, mask, (unsigned)(at % 8));
}

/* What comes next; n: words that may go out now, of those that are left of the run. */
struct flow {
    const uint16_t *q;
    unsigned char *to;
    size_t done, left, n;
};

VECTOR void flow_on(struct flow *f, size_t words)
{
    f->q += words;
    f->to += words * WIDTH;
    f->done += words;
    f->left -= words;
    f->n -= words;
}

#define UNROLL _Pragma("GCC unroll 2")

/* Words up to number `end` of the chunk, but for those that share a line of memory with others that
 * are yet to come. Past the caches go whole lines: a part of another one must not, beside one that
 * did not. */
VECTOR void outlet_run(struct outlet *o, size_t end, bool stream, bool patched)
{
    enum { LINE_WORDS = LINE / WIDTH };
    const V base = o->base;
    const F step = o->step;
    const struct patch fill = {o->patch.masks, o->patch.words, o->patch.fill};
    const struct patch *const patch = patched ? &fill : NULL;
    const size_t run = o->run, gap = o->gap, far = o->far, ahead = o->ahead;
    struct flow f = {.q = o->q, .to = o->to, .done = o->done, .left = o->left};
    size_t turn = o->turn;
    V seen = o->seen;
    for (;;) {
        f.n = end - f.done < f.left ? end - f.done : f.left;
        const size_t from = (uintptr_t)f.to % WIDTH ? 0 : (uintptr_t)f.to % sizeof(V) / WIDTH;
        if (from) {
            const size_t room = LANES - from, few = f.n < room ? f.n : room;
            if (few < room && few < f.left)
                break;
            const V v = h_widen_few(f.q, few);
            v_store_part(f.to, outlet_words(v, base, step, patch, f.done, 0, &seen), from, few);
            flow_on(&f, few);
        }
        if (sizeof(V) < LINE && stream && (uintptr_t)f.to % LINE && f.n >= LANES) {
            v_store((U *)(void *)f.to,
                    outlet_words(h_widen(f.q), base, step, patch, f.done, 0, &seen));
            flow_on(&f, LANES);
        }
        const size_t whole = f.n - f.n % (stream ? LINE_WORDS : LANES);
        size_t i = 0;
        /* Each would wait for the one before: two are seen as one. What goes past the caches waits
         * for memory, and runs of an odd number of vectors are slower so. */
        for (; !stream && i + 2 * LANES <= whole; i += 2 * LANES) {
            seen = v_or(seen, v_load((const U *)(const void *)(f.q + i)));
            for (size_t k = i; k < i + 2 * LANES; k += LANES)
                v_store((U *)(void *)(f.to + k * WIDTH),
                        outlet_words(h_widen(f.q + k), base, step, patch, f.done, k, NULL));
        }
        UNROLL
        for (; i < whole; i += LANES) {
            const V w = outlet_words(h_widen(f.q + i), base, step, patch, f.done, i, &seen);
            if (stream)
                v_stream(f.to + i * WIDTH, w);
            else
                v_store((U *)(void *)(f.to + i * WIDTH), w);
        }
        flow_on(&f, whole);
        if (f.n < f.left)
            break;
        if (sizeof(V) < LINE && f.n >= LANES) {
            v_store((U *)(void *)f.to,
                    outlet_words(h_widen(f.q), base, step, patch, f.done, 0, &seen));
            flow_on(&f, LANES);
        }
        if (f.n) {
            const V v = h_widen_few(f.q, f.n);
            v_store_lanes(f.to, outlet_words(v, base, step, patch, f.done, 0, &seen), 0, f.n);
            flow_on(&f, f.n);
        }
        turn--;
        f.to += turn ? gap : far;
        turn = turn ? turn : o->runs;
        f.left = run;
        if (stream && ahead) {
            const size_t two = 2 * (run * WIDTH + gap);
            fetch_end(f.to, ahead);
            /* The line where a run begins is the tile's before this one, and no longer as near as
             * it was. Not one that is written whole. */
            if ((uintptr_t)(f.to + two) % LINE)
                fetch_end(f.to, two);
        }
        if (f.done >= end)
            break;
    }
    o->q = f.q;
    o->to = f.to;
    o->done = f.done;
    o->left = f.left;
    o->turn = turn;
    o->seen = seen;
}

KERNEL void outlet_store(struct outlet *o, size_t end)
{
    outlet_run(o, end, false, false);
}

KERNEL void outlet_patch(struct outlet *o, size_t end)
{
    outlet_run(o, end, false, true);
}

KERNEL void outlet_stream(struct outlet *o, size_t end)
{
    outlet_run(o, end, true, false);
}

KERNEL void outlet_stream_patch(struct outlet *o, size_t end)
{
    outlet_run(o, end, true, true);
}

VECTOR void outlet_until(struct outlet *o, size_t end)
{
    if (o->done >= end)
        return;
    if (o->way == PLAIN && o->patch.masks)
        outlet_patch(o, end);
    else if (o->way == PLAIN)
        outlet_store(o, end);
    else if (o->patch.masks)
        outlet_stream_patch(o, end);
    else
        outlet_stream(o, end);
}

/* Was one of them not less than this power of two? */
VECTOR bool outlet_beyond(const struct outlet *o, U limit)
{
    const U beyond = (0 - limit) & UINT16_MAX;
    return m_any(v_differ(v_and(o->seen, v_set1(beyond << 16 | beyond)), v_set1(0)));
}

#undef UNROLL
