/*
 * dsd.h - a DSD in 64 bits, as a register or a variable holds it.
 *
 *     bits  0..15  memory: byte address; fabric: queue
 *          16..31  extent
 *          32..47  memory: stride in bytes, signed; fabout: color
 *          48..55  memory: object the address is in
 *          56..59  memory: element bytes
 *          60..61  enum dsd_kind
 *          62      fabout: sends control wavelets
 *          63      memory: moved by the operation's .index; fabout: sends it
 */
#ifndef CSL_DSD_H
#define CSL_DSD_H

#include <stdbool.h>
#include <stdint.h>

enum dsd_kind { DSD_NONE, DSD_MEM, DSD_FABIN, DSD_FABOUT };

struct dsd {
    enum dsd_kind kind;
    uint16_t base, extent; /* base: a queue if kind is not DSD_MEM */
    int16_t stride;        /* fabout: the color */
    uint8_t object, size;
    bool control, indexed;
};

static inline uint64_t dsd_pack(struct dsd d)
{
    return (uint64_t)d.base | (uint64_t)d.extent << 16 | (uint64_t)(uint16_t)d.stride << 32 |
           (uint64_t)d.object << 48 | (uint64_t)(d.size & 15u) << 56 | (uint64_t)d.kind << 60 |
           (uint64_t)d.control << 62 | (uint64_t)d.indexed << 63;
}

static inline struct dsd dsd_unpack(uint64_t bits)
{
    return (struct dsd){(enum dsd_kind)(bits >> 60 & 3), (uint16_t)bits,
                        (uint16_t)(bits >> 16),          (int16_t)(bits >> 32),
                        (uint8_t)(bits >> 48),           (uint8_t)(bits >> 56 & 15),
                        (bits >> 62 & 1) != 0,           (bits >> 63 & 1) != 0};
}

/* The DSD at another base address, for elements of `size` bytes. The stride stays the same in
 * elements. */
static inline struct dsd dsd_at(struct dsd d, uint16_t base, uint8_t object, uint8_t size)
{
    if (d.size != 0)
        d.stride = (int16_t)(d.stride / d.size * size);
    d.base = base;
    d.object = object;
    d.size = size;
    return d;
}

#endif
