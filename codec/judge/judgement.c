/* judgement.c - see judgement.h. */
#include "judge/judgement.h"

#include <stdio.h>

/* Rows of samples: ROWS places suffice to see few wrong values among many. Rows are longer in a
 * larger call, up to ROW_MOST, where they cost no larger part of it. */
enum { ROWS = 64, ROW = 4, ROW_MOST = 16, BYTES_PER_SAMPLE = 256 << 10 };

static struct zmpi_sample rows_of(enum zmpi_type type, const void *src, size_t count)
{
    const size_t wanted = count * zmpi_type_size(type) / BYTES_PER_SAMPLE;
    const size_t row = wanted < ROW ? ROW : wanted > ROW_MOST ? ROW_MOST : wanted;
    return zmpi_sample_rows(type, src, count, ROWS, row);
}

/* True: the data are plainly floats of this type. False tells nothing. */
static bool is_plain(struct zmpi_judgement *j, enum zmpi_type type, const void *src, size_t count)
{
    double copy[ROWS * ROW_MOST];
    struct zmpi_sample s = rows_of(type, src, count);
    j->plain = (struct zmpi_plain){0};
    if (zmpi_sample_fetch(&s, copy))
        j->plain = zmpi_plain_look(&s);
    return j->plain.is;
}

void zmpi_judge(struct zmpi_judgement *j, enum zmpi_type type, const void *src, size_t count,
                bool known)
{
    if (j->order.values >= ZMPI_ORDER_ENOUGH || known)
        j->order = (struct zmpi_order){0};
    j->looks = ZMPI_LOOKS_RIGHT;
    j->is_wrong = false;
    if (type != ZMPI_F32 && type != ZMPI_F64)
        return;
    if (is_plain(j, type, src, count)) {
        j->order = (struct zmpi_order){.values = j->plain.telling};
        return;
    }
    if (!known)
        j->looks = zmpi_looks_like(type, src, count);
    if (!zmpi_device_holding(src) && j->looks != ZMPI_LOOKS_TEXT) /* text needs no other proof */
        zmpi_order_look(&j->order, type, src, count);
    j->is_wrong = j->looks != ZMPI_LOOKS_RIGHT || zmpi_order_is_wrong(&j->order);
}

bool zmpi_is_wrong(enum zmpi_type type, const void *src, size_t count)
{
    struct zmpi_judgement j = {0};
    zmpi_judge(&j, type, src, count, false);
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
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "plainly %s, 2^%d to 2^%d in %u samples", what,
                 j->plain.least, j->plain.most, j->plain.words);
    else
        snprintf(text, ZMPI_JUDGEMENT_TEXT, "%s, as far as samples tell", what);
}
