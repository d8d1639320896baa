/*
 * enhance_section.c - fuzz target: any bytes as the section of a network are taken or refused;
 * values that it changes move by the bound at most, and a part of them is as in the whole.
 *
 * The first byte of the input chooses: bit 0: put the hash right, bit 1: the section is for the
 * stream at hand. The rest is the section.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "enhance/enhance.h"

enum { NZ = 2, NY = 33, NX = 70, POINTS = NZ * NY * NX, FIRST_STREAM = 32 + ZMPI_NET_BYTES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A stream of one chunk, made once. */
static struct zmpi_stream stream;
static float plain[POINTS];

static int make(void)
{
    static unsigned char coded[8 * POINTS];
    static float field[POINTS];
    const struct zmpi_array a = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_bound bound = {ZMPI_ABS, 0.02};
    const struct zmpi_codec_options o = {.size = sizeof o, .encoder = ZMPI_INTERP, .threads = 1};
    size_t size;
    if (stream.src)
        return 1;
    for (int i = 0; i < POINTS; i++)
        field[i] = sinf((float)(i % NX) / 9) * cosf((float)(i / NX) / 7);
    field[77] = NAN;
    return zmpi_compress_with(&o, &a, &bound, NULL, coded, sizeof coded, field, &size) == ZMPI_OK &&
           zmpi_stream_parse(&stream, coded, size) == ZMPI_OK &&
           stream.info.encoder == ZMPI_INTERP &&
           zmpi_stream_decode(&stream, NULL, 1, plain, NULL) == ZMPI_OK;
}

static void check(const struct zmpi_enhancer *e)
{
    static float whole[POINTS], part[POINTS];
    struct zmpi_stream s = stream;
    const struct zmpi_copy copy = {400, 0, 8000};
    if (zmpi_enhancer_find(e, &s, &s.enhanced) != ZMPI_OK)
        return;
    if (zmpi_stream_decode(&s, NULL, 1, whole, NULL) != ZMPI_OK ||
        zmpi_stream_copy(&s, NULL, 1, &copy, 1, (unsigned char *)part) != ZMPI_OK ||
        memcmp(part, whole + 100, 8000) != 0)
        abort();
    for (int i = 0; i < POINTS; i++)
        if (fabs((double)whole[i] - (double)plain[i]) > 1.0001 * s.info.abs_bound)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zmpi_enhancer e;
    if (size < 1 || !make())
        return 0;
    /* Exactly the section's bytes are allocated, so that one too far is seen. */
    unsigned char *section = malloc(size > 1 ? size - 1 : 1);
    if (!section)
        return 0;
    memcpy(section, data + 1, size - 1);
    if (data[0] & 2 && size - 1 >= FIRST_STREAM + 16)
        memcpy(section + FIRST_STREAM, stream.src + 72, 8);
    if (data[0] & 1 && size - 1 >= 32)
        zmpi_section_seal(section, size - 1, 0);
    if (zmpi_enhancer_parse(&e, section, size - 1, 0) == ZMPI_OK) {
        check(&e);
        zmpi_enhancer_free(&e);
    } else {
        free(section);
    }
    return 0;
}
