/*
 * vector_stage_t.h - template: words on their way to a seam. They are stored as they are made, and
 * loaded where vectors of memory begin when others were made meanwhile: what was just stored is
 * slow to load in another alignment. After vector_rows_t.h and vector_turn_t.h.
 */

struct stage {
    U *room;       /* two of them */
    size_t before; /* words in the other */
    unsigned now;
};

/* A vector may begin with the last word. */
enum { STAGE = 64 * LANES, STAGED = STAGE + LANES };

/* A vector before them is read too. */
VECTOR struct stage stage_of(const struct job *j)
{
    return (struct stage){.room = (U *)(void *)j->work->words + LANES};
}

VECTOR void stage_move(struct stage *t, struct seam *m)
{
    if (t->before)
        seam_words(m, t->room + (t->now ^ 1) * STAGED, t->before);
}

VECTOR unsigned char *stage_room(const struct stage *t)
{
    return (unsigned char *)(t->room + t->now * STAGED);
}

VECTOR void stage_made(struct stage *t, struct seam *m, size_t words)
{
    stage_move(t, m);
    t->before = words;
    t->now ^= 1;
}
