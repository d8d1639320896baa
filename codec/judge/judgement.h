/*
 * judgement.h - are a call's floats what their datatype says? The call's sample answers for most
 * data; if it does not, each judge reads what it needs.
 */
#ifndef ZMPI_JUDGEMENT_H
#define ZMPI_JUDGEMENT_H

#include "judge/byte_order.h"
#include "judge/element_type.h"
#include "judge/plain.h"

struct zmpi_judgement {
    struct zmpi_plain plain;
    enum zmpi_looks looks;
    struct zmpi_order order; /* together with values of earlier calls, as long as they are few */
    bool is_wrong;           /* by order, looks, or both: such data stay exact */
};

/* Judges a call in the host's or a device's memory by its sample. known: the program tells the type
 * of each call; then the looks are not judged, and earlier calls tell nothing about this one. j:
 * all 0, or the judgement of the call before. */
void zmpi_judge(struct zmpi_judgement *j, const struct zmpi_taken *taken, bool known);
/* Are the data something else, or in the other byte order? Judges this call alone. */
bool zmpi_is_wrong(enum zmpi_type type, const void *src, size_t count);

enum { ZMPI_JUDGEMENT_TEXT = 160 };
void zmpi_judgement_text(const struct zmpi_judgement *j, enum zmpi_type type,
                         char text[ZMPI_JUDGEMENT_TEXT]);

#endif
