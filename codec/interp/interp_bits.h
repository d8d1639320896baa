/* interp_bits.h - bits of a chunk's head and of its escapes (format.md 1.5), the lowest first. */
#ifndef ZMPI_INTERP_BITS_H
#define ZMPI_INTERP_BITS_H

#include "interp/interp_work.h"

static inline void put_bits(struct put *p, uint32_t value, unsigned count)
{
    p->have |= (uint64_t)value << p->count;
    p->count += count;
    while (p->count >= 8) {
        *p->at++ = (unsigned char)p->have;
        p->have >>= 8;
        p->count -= 8;
    }
}

static inline void put_end(struct put *p)
{
    if (p->count)
        *p->at++ = (unsigned char)p->have;
    p->have = p->count = 0;
}

static inline uint32_t take_bits(struct bits *b, unsigned count)
{
    while (b->count < count) {
        if (b->at < b->end)
            b->have |= (uint64_t)*b->at++ << b->count;
        else
            b->over = true;
        b->count += 8;
    }
    const uint32_t value = (uint32_t)(b->have & (((uint64_t)1 << count) - 1));
    b->have >>= count;
    b->count -= count;
    return value;
}

#endif
