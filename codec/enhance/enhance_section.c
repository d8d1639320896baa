/* enhance_section.c - a file's part of the network: weights, and which chunks gain (format.md
 * 2.9). */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "enhance/enhance.h"

enum { VERSION = 1, FIXED = ZMPI_SECTION_HEAD + 8 + ZMPI_NET_BYTES };

static const char magic[4] = {'Z', 'E', 'N', 'H'};

static uint64_t hash(const unsigned char *section, size_t size, uint64_t seed)
{
    return zmpi_hash2(section, 16, section + ZMPI_SECTION_HEAD, size - ZMPI_SECTION_HEAD, seed);
}

void zmpi_section_seal(unsigned char *section, size_t size, uint64_t seed)
{
    memcpy(section, magic, sizeof magic);
    section[4] = VERSION;
    zmpi_store64(section + 8, size);
    zmpi_store64(section + 16, hash(section, size, seed));
}

/* Parses one stream's part at *at. */
static bool parse_stream(struct zmpi_enhancer *e, struct zmpi_enhanced *s, const unsigned char **at,
                         const unsigned char *end)
{
    size_t left = (size_t)(end - *at), flags = 0;
    if (left < ZMPI_ENHANCED_HEAD)
        return false;
    *s = (struct zmpi_enhanced){.stream = zmpi_load64(*at),
                                .of = e,
                                .chunks = zmpi_load32(*at + 8),
                                .size = *at + ZMPI_ENHANCED_HEAD};
    left -= ZMPI_ENHANCED_HEAD;
    if (zmpi_load32(*at + 12) != 0 || s->chunks > left / 4)
        return false;
    left -= 4 * s->chunks;
    s->flags = s->size + 4 * s->chunks;
    for (size_t k = 0; k < s->chunks; k++) {
        flags += zmpi_enhanced_has(s, k) ? zmpi_load32(s->size + 4 * k) - 1 : 0;
        if (flags > left)
            return false;
    }
    *at = s->flags + flags;
    return true;
}

static enum zmpi_status parse(struct zmpi_enhancer *e, const unsigned char *section, size_t size)
{
    const unsigned char *at = section + FIXED, *end = section + size;
    e->times = section[5];
    e->least = section[6];
    e->count = zmpi_load32(section + ZMPI_SECTION_HEAD);
    if (e->times < 1 || e->times > 2 || e->least < 1 || e->least > ZMPI_NET_ONE || section[7] ||
        zmpi_load32(section + ZMPI_SECTION_HEAD + 4) != 0 ||
        e->count > (size_t)(end - at) / ZMPI_ENHANCED_HEAD ||
        !zmpi_net_load(&e->net, section + ZMPI_SECTION_HEAD + 8))
        return ZMPI_ERR_CORRUPT;
    e->of = calloc(e->count + 1, sizeof *e->of);
    if (!e->of)
        return ZMPI_ERR_MEMORY;
    for (size_t i = 0; i < e->count; i++)
        if (!parse_stream(e, &e->of[i], &at, end) ||
            (i > 0 && e->of[i].stream <= e->of[i - 1].stream))
            return ZMPI_ERR_CORRUPT;
    return at == end ? ZMPI_OK : ZMPI_ERR_CORRUPT;
}

enum zmpi_status zmpi_enhancer_parse(struct zmpi_enhancer *e, unsigned char *bytes, size_t size,
                                     uint64_t seed)
{
    memset(e, 0, sizeof *e);
    if (size < FIXED || memcmp(bytes, magic, sizeof magic) != 0 || zmpi_load64(bytes + 8) != size ||
        hash(bytes, size, seed) != zmpi_load64(bytes + 16))
        return ZMPI_ERR_CHECKSUM;
    if (bytes[4] != VERSION)
        return ZMPI_ERR_VERSION;
    const enum zmpi_status status = parse(e, bytes, size);
    if (status) {
        free(e->of);
        memset(e, 0, sizeof *e);
    } else {
        e->bytes = bytes;
    }
    return status;
}

void zmpi_enhancer_free(struct zmpi_enhancer *e)
{
    free(e->of);
    free(e->bytes);
    memset(e, 0, sizeof *e);
}

bool zmpi_enhancer_takes(const struct zmpi_stream_info *s)
{
    return s->encoder == ZMPI_INTERP && s->abs_bound > 0 && s->abs_bound < 1e300;
}

static int by_stream(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = ((const struct zmpi_enhanced *)b)->stream;
    return (x > y) - (x < y);
}

enum zmpi_status zmpi_enhancer_find(const struct zmpi_enhancer *e, const struct zmpi_stream *s,
                                    const struct zmpi_enhanced **found)
{
    const uint64_t checksum = zmpi_load64(s->src + 72);
    *found = bsearch(&checksum, e->of, e->count, sizeof *e->of, by_stream);
    if (!*found)
        return ZMPI_OK;
    return (*found)->chunks == s->info.chunks && zmpi_enhancer_takes(&s->info) ? ZMPI_OK
                                                                               : ZMPI_ERR_CORRUPT;
}
