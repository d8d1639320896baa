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
    V base, seen; /* seen: all integers, ORed */
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

/* Integers to words, the first one number `at` of the chunk. */
VECTOR V outlet_words(V q, V base, F step, const struct patch *patch, size_t at)
{
    const V v = f_bits(f_mul(f_of_integers(v_add(q, base)), step));
    return patch ? patch_at(patch, at, v) : v;
}

/* Words up to number `end` of the chunk, but for those that share a vector of memory with others
 * that are yet to come. */
VECTOR void outlet_run(struct outlet *o, size_t end, bool stream, bool patched)
{
    const uint16_t *q = o->q;
    const V base = o->base;
    const F step = o->step;
    const struct patch fill = {o->patch.masks, o->patch.words, o->patch.fill};
    const struct patch *const patch = patched ? &fill : NULL;
    const size_t run = o->run, gap = o->gap, far = o->far, ahead = o->ahead;
    unsigned char *to = o->to;
    size_t done = o->done, left = o->left, turn = o->turn;
    V seen = o->seen;
    for (;;) {
        size_t n = end - done < left ? end - done : left;
        const size_t from = (uintptr_t)to % WIDTH ? 0 : (uintptr_t)to % sizeof(V) / WIDTH;
        if (from) {
            const size_t room = LANES - from, few = n < room ? n : room;
            if (few < room && few < left)
                break;
            const V v = v_where((M)_bzhi_u32(ALL_LANES, (unsigned)few), h_widen(q));
            seen = v_or(seen, v);
            const V w = outlet_words(v, base, step, patch, done);
            v_store_lanes(to - from * WIDTH, v_pick(w, w, v_lanes(LANES - from)), from, from + few);
            to += few * WIDTH;
            q += few;
            done += few;
            left -= few;
            n -= few;
        }
        left -= n / LANES * LANES;
        for (; n >= LANES; n -= LANES, q += LANES, done += LANES, to += LANES * WIDTH) {
            const V v = h_widen(q);
            seen = v_or(seen, v);
            const V w = outlet_words(v, base, step, patch, done);
            if (stream)
                v_stream(to, w);
            else
                v_store((U *)(void *)to, w);
        }
        if (n < left)
            break;
        if (n) {
            const V v = v_where((M)_bzhi_u32(ALL_LANES, (unsigned)n), h_widen(q));
            seen = v_or(seen, v);
            v_store_lanes(to, outlet_words(v, base, step, patch, done), 0, n);
            to += n * WIDTH;
            q += n;
            done += n;
        }
        turn--;
        to += turn ? gap : far;
        turn = turn ? turn : o->runs;
        left = run;
        if (stream && ahead) {
            const size_t two = 2 * (run * WIDTH + gap);
            fetch_end(to, ahead);
            /* The line where a run begins is the tile's before this one, and no longer as near as
             * it was. Not one that is written whole. */
            if ((uintptr_t)(to + two) % LINE)
                fetch_end(to, two);
        }
        if (done >= end)
            break;
    }
    o->q = q;
    o->to = to;
    o->done = done;
    o->left = left;
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
    return v_differ(v_and(o->seen, v_set1(0 - limit)), v_set1(0)) != 0;
}
