/*
 * vector_store_t.h - template: integers, which lie one behind the other, to words in memory. It
 * stores whole vectors at the addresses where vectors begin. Included once for integers of a word
 * and once for those of 16 bits; parameters as in vector_sums_t.h, and A(words): LANES integers to
 * words.
 */

struct A(writer) {
    const W *q;        /* the next one */
    size_t done, left; /* words of the chunk that are written; words left in the run */
    unsigned char *to; /* where they go */
    /* A plane has `runs` runs of `run` words without gaps; bytes from a run's end to the next run,
     * and to the next plane. */
    size_t run, runs, gap, far;
    size_t runs_left; /* runs before the next plane */
    size_t ahead;     /* distance of the prefetch for a run's last line, which is written later */
    bool stream;
    struct conversion how;
    struct patch patch;
};

VECTOR struct A(writer) A(writer_of)(const struct job *j, const W *q, struct conversion how)
{
    enum { FAR = 8192 };
    const struct lines l = lines_of(j->s, j->dst);
    const size_t bytes = l.words * WIDTH, far = l.plane - (l.y - 1) * l.row - bytes;
    const size_t step = l.y > 1 ? l.row : l.plane, some = 1 + FAR / bytes;
    const bool one = l.y == 1 && l.z == 1;
    if (j->stream && !one)
        for (size_t i = 0; i < some; i++)
            if ((uintptr_t)(l.at + i * step + bytes) % LINE)
                fetch_end(l.at, i * step + bytes - 1);
    return (struct A(writer)){.q = q,
                              .left = l.words,
                              .to = j->dst->at,
                              .run = l.words,
                              .runs = l.y,
                              .gap = l.y > 1 ? l.row - bytes : far,
                              .far = far,
                              .runs_left = l.y,
                              .ahead = one ? 0 : some * step + bytes - 1,
                              .stream = j->stream,
                              .how = how,
                              .patch = j->patch};
}

/* The writer's state in a run; n: words that may be written now, of those that are left of the
 * run. */
struct A(flow) {
    const W *q;
    unsigned char *to;
    size_t done, left, n;
};

VECTOR void A(flow_on)(struct A(flow) * f, size_t words)
{
    f->q += words;
    f->to += words * WIDTH;
    f->done += words;
    f->left -= words;
    f->n -= words;
}

/* Words from number i on. */
VECTOR V A(at)(const struct A(flow) * f, size_t i, const struct conversion *how, bool ordered,
               const struct patch *patch)
{
    const V v = A(words)(f->q + i, how, ordered);
    return patch ? patch_at(patch, f->done + i, v) : v;
}

#define AT(i) A(at)(&f, i, &how, ordered, patch)

/* Writes words up to number `end` of the chunk. It leaves words whose cache line also holds words
 * that do not exist yet. Stores that bypass the caches must write whole lines: a partial line
 * beside such stores is slow. `stream`, `patched` and `ordered` are constants for the compiler. */
VECTOR void A(write_run)(struct A(writer) * o, size_t end, bool stream, bool patched, bool ordered)
{
    enum { LINE_WORDS = LINE / WIDTH };
    const struct conversion how = o->how;
    const struct patch there = o->patch, *const patch = patched ? &there : NULL;
    const size_t run = o->run, gap = o->gap, far = o->far, ahead = o->ahead;
    struct A(flow) f = {.q = o->q, .to = o->to, .done = o->done, .left = o->left};
    size_t runs_left = o->runs_left;
    for (;;) {
        f.n = end - f.done < f.left ? end - f.done : f.left;
        const size_t from = (uintptr_t)f.to % WIDTH ? 0 : (uintptr_t)f.to % sizeof(V) / WIDTH;
        if (from) {
            const size_t rest = LANES - from, few = f.n < rest ? f.n : rest;
            if (few < rest && few < f.left)
                break;
            v_store_part(f.to, AT(0), from, few);
            A(flow_on)(&f, few);
        }
        while (sizeof(V) < LINE && stream && (uintptr_t)f.to % LINE && f.n >= LANES) {
            v_store((U *)(void *)f.to, AT(0));
            A(flow_on)(&f, LANES);
        }
        const size_t whole = f.n - f.n % (stream ? LINE_WORDS : LANES);
#pragma GCC unroll 2
        for (size_t i = 0; i < whole; i += LANES) {
            if (stream)
                v_stream(f.to + i * WIDTH, AT(i));
            else
                v_store((U *)(void *)(f.to + i * WIDTH), AT(i));
        }
        A(flow_on)(&f, whole);
        if (f.n < f.left)
            break;
        for (; f.n >= LANES; A(flow_on)(&f, LANES))
            v_store((U *)(void *)f.to, AT(0));
        if (f.n) {
            v_store_lanes(f.to, AT(0), 0, f.n);
            A(flow_on)(&f, f.n);
        }
        runs_left--;
        f.to += runs_left ? gap : far;
        runs_left = runs_left ? runs_left : o->runs;
        f.left = run;
        if (stream && ahead) {
            const size_t two = 2 * (run * WIDTH + gap);
            if ((uintptr_t)(f.to + ahead + 1) % LINE)
                fetch_end(f.to, ahead);
            /* The run's first line also holds words of the tile before this one. It has left the
             * near cache since, so prefetch it. A line that is written whole needs no prefetch. */
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
    o->runs_left = runs_left;
}

#undef AT

#define CASE(name, stream, patched, ordered)                                                       \
    KERNEL void A(name)(struct A(writer) * o, size_t end)                                          \
    {                                                                                              \
        A(write_run)(o, end, stream, patched, ordered);                                            \
    }
CASE(write_plain, false, false, false)
CASE(write_patched, false, true, false)
CASE(write_past, true, false, false)
CASE(write_patched_past, true, true, false)
#if X_ORDERED
CASE(write_ordered, false, false, true)
CASE(write_ordered_past, true, false, true)
#endif
#undef CASE

VECTOR void A(write_until)(struct A(writer) * o, size_t end)
{
    if (o->done >= end)
        return;
#if X_ORDERED
    if (o->how.ordered) {
        if (o->stream)
            A(write_ordered_past)(o, end);
        else
            A(write_ordered)(o, end);
        return;
    }
#endif
    if (!o->stream && o->patch.masks)
        A(write_patched)(o, end);
    else if (!o->stream)
        A(write_plain)(o, end);
    else if (o->patch.masks)
        A(write_patched_past)(o, end);
    else
        A(write_past)(o, end);
}
