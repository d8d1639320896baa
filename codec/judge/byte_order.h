/*
 * byte_order.h - are floats in this machine's byte order, and floats at all?
 *
 * Libraries with big-endian formats (PETSc's binary files) turn the bytes of an array around and
 * write it as MPI_DOUBLE. Taken for numbers of this machine, bounded errors would destroy them.
 * They are told by their exponents: those of real data are near one another and not far from 1;
 * byte-swapped, they are the last bits of mantissas, which are noise or zero.
 *
 * Integers in an array of floats, as programs have them that pack all that they know of a particle
 * into one array, are denormals, which any bound makes zero. Waves that fade have such, too, but of
 * both signs, or together with greater numbers, but never beside numbers of ordinary size.
 */
#ifndef ZMPI_BYTE_ORDER_H
#define ZMPI_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zmpi_codec.h"

/* How unlikely the values seen so far are as they are, and byte-swapped; zero: none seen. */
struct zmpi_order {
    double here, other;
    unsigned values;
    uint64_t first; /* of them */
    bool varied;    /* not all are the same number, or they have the range of f64 */
    /* Denormals above zero (0 where others turned out to be many), those of them that are integers
     * of 31 bits and next to a number of ordinary size, and denormals that are no such integers. */
    unsigned positive, beside, tiny;
};

/* Values from which a verdict is sound by itself. */
#define ZMPI_ORDER_ENOUGH 16

/* Look at samples of an array; other types than floats tell nothing. */
void zmpi_order_look(struct zmpi_order *o, enum zmpi_type type, const void *src, size_t count);
bool zmpi_order_is_other(const struct zmpi_order *o);
/* Few values, or one f32 number alone far from 1, may be like that by chance. */
bool zmpi_order_is_sure(const struct zmpi_order *o);

/* Are these integers, or (f64) integers among floats? */
bool zmpi_order_has_integers(const struct zmpi_order *o);

#endif
