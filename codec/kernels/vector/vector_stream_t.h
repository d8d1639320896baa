/*
 * vector_stream_t.h - template: whole lines that are written past the caches.
 */

enum { LINE = 64 };

/* Prefetches the line `ahead` bytes behind `run`: a partial line is read before it is written. */
static inline void fetch_end(const unsigned char *run, size_t ahead)
{
    __builtin_prefetch((const void *)((uintptr_t)run + ahead), 1);
}

/* memcpy that bypasses the caches in whole lines of 64 bytes; ends are copied as usual. */
KERNEL void *stream_bytes(void *to, const void *from, size_t size)
{
    const unsigned char *src = from;
    unsigned char *dst = to;
    size_t i = (0 - (uintptr_t)dst) % 64;
    i = i < size ? i : size;
    memcpy(dst, src, i);
    for (; i + 64 <= size; i += 64)
        for (unsigned k = 0; k < 64; k += sizeof(V))
            v_stream(dst + i + k, v_load((const U *)(const void *)(src + i + k)));
    memcpy(dst + i, src + i, size - i);
    return to;
}
