/*
 * byte_order.h - are floats in this machine's byte order, and are they floats at all?
 *
 * Libraries with big-endian formats (PETSc's binary files) swap the bytes of an array and write it
 * as MPI_DOUBLE. A bound on such numbers would destroy them. Exponents reveal them: those of real
 * data are near one another and not far from 1. After a swap the exponent bits hold the last bits
 * of mantissas, which are noise or zero.
 *
 * Some programs pack integers into an array of floats, with all that they know of a particle. As
 * floats these are denormals, which any bound turns into zero. Waves that fade have denormals, too,
 * but of both signs, or together with greater numbers, and never beside numbers of ordinary size.
 */
#ifndef ZMPI_BYTE_ORDER_H
#define ZMPI_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zmpi_codec.h"

/* How unlikely the values seen so far are as they are, and byte-swapped. All 0: none was seen. */
struct zmpi_order {
    double here, other;
    unsigned values;
    uint64_t first; /* the first of these values */
    bool varied;    /* they are not all the same number, or they have the range of f64 */
    /* positive: denormals above zero (0 if other values turned out to be many); beside: those of
     * them that are integers of 31 bits next to a number of ordinary size; tiny: denormals that are
     * not integers of 31 bits. */
    unsigned positive, beside, tiny;
};

/* With so many values a verdict needs no earlier calls. */
#define ZMPI_ORDER_ENOUGH 16

/* Looks at samples of an array; other types than floats tell nothing. */
void zmpi_order_look(struct zmpi_order *o, enum zmpi_type type, const void *src, size_t count);
bool zmpi_order_is_other(const struct zmpi_order *o);
/* False: the values may be like that by chance, since they are few, or one f32 number far from 1.
 */
bool zmpi_order_is_sure(const struct zmpi_order *o);

/* Are these integers, or (f64) integers among floats? */
bool zmpi_order_has_integers(const struct zmpi_order *o);
/* In the other byte order, or integers? As floats they would be lost. */
bool zmpi_order_is_wrong(const struct zmpi_order *o);

#endif
