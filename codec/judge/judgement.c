/* judgement.c - see judgement.h. */
#include "judge/judgement.h"

#include <stdio.h>

/* Mostly empty data: do they have rows that are plainly floats? */
static struct zmpi_plain look_at_varied(const struct zmpi_taken *t)
{
    struct zmpi_taken varied;
    zmpi_sample_varied(&varied, t->type, t->src, t->count);
    return varied.rows ? zmpi_plain_look(&varied) : (struct zmpi_plain){0};
}

/* True: the data are plainly floats of this type. False tells nothing. */
static bool is_plain(struct zmpi_judgement *j, const struct zmpi_taken *t)
{
    j->plain = t->rows ? zmpi_plain_look(t) : (struct zmpi_plain){0};
    if (!j->plain.is && t->rows > 1 && j->plain.telling < ZMPI_PLAIN_LEAST)
        j->plain = look_at_varied(t);
    return j->plain.is;
}

void zmpi_judge(struct zmpi_judgement *j, const struct zmpi_taken *t, bool known)
{
    if (j->order.values >= ZMPI_ORDER_ENOUGH || known)
        j->order = (struct zmpi_order){0};
    j->looks = ZMPI_LOOKS_RIGHT;
    j->is_wrong = false;
    if (t->type != ZMPI_F32 && t->type != ZMPI_F64)
        return;
    if (is_plain(j, t)) {
        j->order = (struct zmpi_order){.values = j->plain.telling};
        return;
    }
    if (!known)
        j->looks = zmpi_looks_like(t->type, t->src, t->count);
    if (!zmpi_device_holding(t->src) && j->looks != ZMPI_LOOKS_TEXT) /* text needs no other proof */
        zmpi_order_look(&j->order, t->type, t->src, t->count);
    j->is_wrong = j->looks != ZMPI_LOOKS_RIGHT || zmpi_order_is_wrong(&j->order);
}

bool zmpi_is_wrong(enum zmpi_type type, const void *src, size_t count)
{
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    zmpi_sample_take(&taken, type, src, count);
    zmpi_judge(&j, &taken, false);
    return j.is_wrong;
}

void zmpi_judgement_text(const struct zmpi_judgement *j, enum zmpi_type type,
                         char text[ZMPI_JUDGEMENT_TEXT])
{
    const char *const what = type == ZMPI_F32 ? "f32" : "f64";
    if (j->looks != ZMPI_LOOKS_RIGHT)
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "%s, not %s", zmpi_looks_name(j->looks), what);
    else if (zmpi_order_has_integers(&j->order))
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "integers among %s", what);
    else if (zmpi_order_is_other(&j->order))
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "%s in the other byte order", what);
    else if (j->plain.is)
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "clearly %s, 2^%d to 2^%d in %u samples", what,
                 j->plain.least, j->plain.most, j->plain.words);
    else
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "%s, as far as samples tell", what);
}
