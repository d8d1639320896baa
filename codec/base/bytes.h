/*
 * bytes.h - little-endian loads and stores of any alignment (docs/format.md: all integers and
 * floats are little-endian).
 */
#ifndef ZMPI_BYTES_H
#define ZMPI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ZMPI_BIG_ENDIAN false
#define ZMPI_LE16(v)    (v)
#define ZMPI_LE32(v)    (v)
#define ZMPI_LE64(v)    (v)
#else
#define ZMPI_BIG_ENDIAN true
#define ZMPI_LE16(v)    __builtin_bswap16(v)
#define ZMPI_LE32(v)    __builtin_bswap32(v)
#define ZMPI_LE64(v)    __builtin_bswap64(v)
#endif

static inline uint16_t zmpi_load16(const void *src)
{
    uint16_t v;
    memcpy(&v, src, sizeof v);
    return ZMPI_LE16(v);
}

static inline uint32_t zmpi_load32(const void *src)
{
    uint32_t v;
    memcpy(&v, src, sizeof v);
    return ZMPI_LE32(v);
}

static inline uint64_t zmpi_load64(const void *src)
{
    uint64_t v;
    memcpy(&v, src, sizeof v);
    return ZMPI_LE64(v);
}

/* Copies elements of a width between this machine's byte order and a file's (little-endian); dst
 * may be src. */
static inline void zmpi_copy_elements(void *dst, const void *src, size_t bytes, size_t width)
{
    const unsigned char *from = src;
    unsigned char *to = dst;
    if (!ZMPI_BIG_ENDIAN || width < 4) {
        if (to != from)
            memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += width) {
        const uint64_t word = width == 4 ? zmpi_load32(from + i) : zmpi_load64(from + i);
        const uint32_t half = (uint32_t)word;
        memcpy(to + i, width == 4 ? (const void *)&half : &word, width);
    }
}

static inline double zmpi_loadf64(const void *src)
{
    uint64_t bits = zmpi_load64(src);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Swaps `count` words of 4 or 8 bytes between this machine's byte order and big-endian; dst may be
 * src. */
static inline void zmpi_bytes_big_endian(void *dst, const void *src, size_t count, size_t width)
{
    unsigned char *to = dst;
    const unsigned char *from = src;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
        memmove(dst, src, count * width);
        return;
    }
    for (size_t i = 0; i < count && width == 4; i++) {
        uint32_t v;
        memcpy(&v, from + 4 * i, sizeof v);
        v = __builtin_bswap32(v);
        memcpy(to + 4 * i, &v, sizeof v);
    }
    for (size_t i = 0; i < count && width == 8; i++) {
        uint64_t v;
        memcpy(&v, from + 8 * i, sizeof v);
        v = __builtin_bswap64(v);
        memcpy(to + 8 * i, &v, sizeof v);
    }
}

static inline void zmpi_store16(void *dst, uint16_t v)
{
    v = ZMPI_LE16(v);
    memcpy(dst, &v, sizeof v);
}

static inline void zmpi_store32(void *dst, uint32_t v)
{
    v = ZMPI_LE32(v);
    memcpy(dst, &v, sizeof v);
}

static inline void zmpi_store64(void *dst, uint64_t v)
{
    v = ZMPI_LE64(v);
    memcpy(dst, &v, sizeof v);
}

static inline void zmpi_storef64(void *dst, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    zmpi_store64(dst, bits);
}

#endif
