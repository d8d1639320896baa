/*
 * vector_stage_t.h - template: words on their way to a seam. They are stored as they are made, run
 * after run of memory, and loaded where vectors of memory begin when others were made meanwhile:
 * what was just stored is slow to load in another alignment. After vector_rows_t.h and
 * vector_turn_t.h.
 */

/* Words of a room of 4 KiB; a vector may begin with the last one. */
enum { STAGE = 4096 / WIDTH, STAGED = STAGE + LANES, RUNS = 16 };

struct stage {
    U *room; /* two of them, which take turns */
    unsigned now;
    const unsigned char *next; /* where the last words go on */
    struct staged {
        size_t words, runs;
        struct run {
            unsigned char *to;
            size_t words;
        } run[RUNS];
    } staged[2];
};

/* A vector before them is read too. */
VECTOR void stage_begin(struct stage *t, const struct job *j)
{
    t->room = (U *)(void *)j->work->words + LANES;
    t->now = 0;
    t->next = NULL;
    for (unsigned i = 0; i < 2; i++)
        t->staged[i].words = t->staged[i].runs = 0;
}

/* What is in the other room is moved, and it is that of the words to come. */
KERNEL void stage_turn(struct stage *t, struct seam *m)
{
    t->now ^= 1;
    t->next = NULL;
    struct staged *s = t->staged + t->now;
    const U *words = t->room + t->now * STAGED;
    for (size_t i = 0; i < s->runs; i++) {
        seam_at(m, s->run[i].to);
        seam_words(m, words, s->run[i].words);
        words += s->run[i].words;
    }
    s->words = s->runs = 0;
}

VECTOR void stage_end(struct stage *t, struct seam *m)
{
    stage_turn(t, m);
    stage_turn(t, m);
    seam_end(m);
}

/* Where n <= RUNS runs of `words` words are staged, without gaps, which go to `to` and a step
 * apart behind it. */
VECTOR unsigned char *stage_runs(struct stage *t, struct seam *m, unsigned char *to, size_t words,
                                 size_t n, size_t step)
{
    if (t->staged[t->now].words + n * words > STAGE || t->staged[t->now].runs + n > RUNS)
        stage_turn(t, m);
    struct staged *s = t->staged + t->now;
    U *room = t->room + t->now * STAGED + s->words;
    for (size_t i = 0; i < n; i++, to += step) {
        if (to != t->next)
            s->run[s->runs++] = (struct run){.to = to};
        s->run[s->runs - 1].words += words;
        t->next = to + words * WIDTH;
    }
    s->words += n * words;
    return (unsigned char *)room;
}

VECTOR unsigned char *stage_row(struct stage *t, struct seam *m, unsigned char *to, size_t words)
{
    return stage_runs(t, m, to, words, 1, 0);
}
