/*
 * judgement.h - are a call's floats what their datatype says? One sample, from which all is told;
 * where that is not plain the judges read more, each what it needs.
 */
#ifndef ZMPI_JUDGEMENT_H
#define ZMPI_JUDGEMENT_H

#include "judge/byte_order.h"
#include "judge/element_type.h"
#include "judge/plain.h"

struct zmpi_judgement {
    struct zmpi_plain plain;
    enum zmpi_looks looks;
    struct zmpi_order order; /* with values of calls before, as long as these are few */
    bool is_wrong;           /* by order, looks, or both: such data are exact */
};

/* Of an array in the host's or a device's memory. known: the program tells the type of each call,
 * so that looks are not asked, and calls before tell nothing of this one. j: all 0, or what was
 * said of the call before. */
void zmpi_judge(struct zmpi_judgement *j, enum zmpi_type type, const void *src, size_t count,
                bool known);
/* Are they something else, or in the other byte order? By their data alone. */
bool zmpi_is_wrong(enum zmpi_type type, const void *src, size_t count);

enum { ZMPI_JUDGEMENT_TEXT = 160 };
void zmpi_judgement_text(const struct zmpi_judgement *j, enum zmpi_type type,
                         char text[ZMPI_JUDGEMENT_TEXT]);

#endif
