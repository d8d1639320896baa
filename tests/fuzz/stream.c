/*
 * stream.c - fuzz target: any bytes decode or are refused, and a part of a stream decodes as the
 * whole does.
 *
 * The first byte of the input chooses: bit 0: put the checksums right, bit 1: the length too. The
 * rest is the stream.
 */
#include <stdlib.h>
#include <string.h>

#include "fix_checksums.h"

#define DECODED_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes [begin, end) decoded alone. */
static void check_part(const struct zmpi_stream *s, const uint8_t *whole, size_t begin, size_t end)
{
    uint8_t *part = malloc(s->info.decoded_bytes + 1);
    uint8_t *need = calloc(s->info.chunks + 1, 1);
    if (part != NULL && need != NULL) {
        zmpi_stream_mark(s, begin, end, need);
        if (zmpi_stream_decode(s, need, 1, part, NULL) != ZMPI_OK ||
            memcmp(part + begin, whole + begin, end - begin) != 0)
            abort();
    }
    free(part);
    free(need);
}

static void check_stream(const uint8_t *src, size_t size)
{
    struct zmpi_stream_info info;
    struct zmpi_stream s;
    size_t bad;
    enum zmpi_status status = zmpi_stream_info(src, size, &info);
    if (status != ZMPI_OK || info.decoded_bytes > DECODED_MAX) {
        if (status != ZMPI_OK && zmpi_decompress(NULL, 0, src, size) == ZMPI_OK)
            abort();
        return;
    }
    uint8_t *whole = malloc(info.decoded_bytes + 1);
    if (whole == NULL)
        return;
    status = zmpi_decompress(whole, info.decoded_bytes, src, size);
    if (zmpi_stream_verify(src, size, &bad) != status)
        abort();
    if (info.decoded_bytes > 0 &&
        zmpi_decompress(whole, info.decoded_bytes - 1, src, size) != ZMPI_ERR_SPACE)
        abort();
    if (status == ZMPI_OK && zmpi_stream_parse(&s, src, size) == ZMPI_OK) {
        size_t n = info.decoded_bytes;
        check_part(&s, whole, n / 3, n / 3);
        check_part(&s, whole, n / 3, n / 2);
        check_part(&s, whole, n - n / 5, n);
    }
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint8_t *src = malloc(size > 1 ? size - 1 : 1);
    if (src == NULL)
        return 0;
    /* Exactly the stream's bytes are allocated, so that one too far is seen. */
    memcpy(src, data + 1, size - 1);
    if (data[0] & 1)
        fix_stream(src, size - 1, data[0] & 2);
    check_stream(src, size - 1);
    free(src);
    return 0;
}
