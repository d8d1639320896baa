/* interp_params.c - tiles, and the parameters of a stream (format.md 1.5). */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "interp/flare/flare.h"

enum { HEAD = 12 };

unsigned zmpi_interp_levels(unsigned axes, const size_t tile[3])
{
    size_t most = 1;
    unsigned levels = 0;
    for (int i = 0; i < 3; i++)
        if (axes >> (2 - i) & 1 && tile[i] > most)
            most = tile[i];
    while (((size_t)1 << levels) < most)
        levels++;
    return levels;
}

double zmpi_interp_unit(double abs_bound)
{
    /* Half a step and half a unit are 128.5 units. That leaves 1/1024 of the bound for the rounding
     * of decoded values. If this is not enough, a value becomes an exception. */
    const double unit = abs_bound / 128.625;
    return unit >= 0x1p-960 && unit <= 0x1p900 ? unit : 0;
}

/* Halves the longest extent, or nearly so, until the tile is small enough. Axes without prediction
 * count as longer: contexts need only a few planes. */
void zmpi_interp_tile(const size_t extent[3], unsigned axes, size_t tile[3])
{
    size_t pieces[3];
    for (int i = 0; i < 3; i++) {
        const size_t n = extent[i] ? extent[i] : 1;
        pieces[i] = (n - 1) / ZMPI_INTERP_ELEMENTS + 1;
        tile[i] = (n - 1) / pieces[i] + 1;
    }
    while (tile[1] * tile[2] > ZMPI_INTERP_ELEMENTS / tile[0]) {
        int longest = 0;
        size_t most = 0;
        for (int i = 0; i < 3; i++) {
            const size_t length = tile[i] > 1 ? tile[i] * (axes >> (2 - i) & 1 ? 1 : 4) : 0;
            if (length > most) {
                most = length;
                longest = i;
            }
        }
        pieces[longest] += pieces[longest] / 8 + 1;
        tile[longest] = (extent[longest] - 1) / pieces[longest] + 1;
    }
}

/* Takes whole regions of 128 points along each axis; if some axes are short, more regions along
 * others. */
void zmpi_flare_tile(const size_t extent[3], size_t tile[3])
{
    size_t words = 1;
    for (int i = 0; i < 3; i++) {
        tile[i] = extent[i] < ZMPI_FLARE_SLICES ? extent[i] : ZMPI_FLARE_SLICES;
        words *= tile[i];
    }
    for (int i = 2; i >= 1; i--)
        for (; tile[i] < extent[i] && 2 * words <= ZMPI_FLARE_WORDS; words *= 2)
            tile[i] *= 2;
}

size_t zmpi_interp_save(const struct zmpi_interp_rule *rule, unsigned char dst[ZMPI_INTERP_HEAD])
{
    unsigned char *at = dst + HEAD;
    memset(dst, 0, ZMPI_INTERP_HEAD);
    zmpi_storef64(dst, rule->unit);
    dst[8] = (unsigned char)rule->sets;
    dst[ZMPI_INTERP_PROFILE_AT] = rule->flare ? 1 : rule->books ? 2 : 0;
    for (unsigned k = 0; k < rule->sets; k++) {
        const struct zmpi_interp_set *s = &rule->set[k];
        *at++ = (unsigned char)s->family;
        *at++ = (unsigned char)(s->axes | s->shift << 4);
        if (s->family == ZMPI_INTERP_LORENZO)
            continue;
        if (s->family == ZMPI_INTERP_PLANES)
            *at++ = (unsigned char)s->lag;
        *at++ = s->fine[s->levels];
        for (unsigned l = s->levels; l-- > 0;) {
            *at++ = s->fine[l];
            for (unsigned p = 1; p < 8; p++)
                if (!(p & ~s->axes))
                    *at++ = s->way[l][p];
        }
    }
    return ((size_t)(at - dst) + 3) / 4 * 4;
}

static const unsigned char *load_levels(struct zmpi_interp_set *s, const unsigned char *at,
                                        const unsigned char *end)
{
    const size_t each = (size_t)1 << __builtin_popcount(s->axes);
    if ((size_t)(end - at) < 1 + s->levels * each)
        return NULL;
    s->fine[s->levels] = *at++;
    for (unsigned l = s->levels; l-- > 0;) {
        s->fine[l] = *at++;
        for (unsigned p = 1; p < 8; p++) {
            if (p & ~s->axes)
                continue;
            const unsigned way = s->way[l][p] = *at++;
            if (way > 15 || !(way & 7) || way & 7 & ~p)
                return NULL;
        }
    }
    for (unsigned l = 0; l <= s->levels; l++)
        if (s->fine[l] > ZMPI_INTERP_FINEST)
            return NULL;
    return at;
}

bool zmpi_interp_load(struct zmpi_interp_rule *rule, enum zmpi_type type, const uint32_t tile[3],
                      const unsigned char *src, size_t size)
{
    const size_t shape[3] = {tile[0], tile[1], tile[2]};
    const unsigned char *at = src + HEAD, *end = src + size;
    memset(rule, 0, sizeof *rule);
    if (size < HEAD || size > ZMPI_INTERP_HEAD ||
        src[ZMPI_INTERP_PROFILE_AT] > ZMPI_INTERP_PROFILES || src[10] || src[11])
        return false;
    rule->flare = src[ZMPI_INTERP_PROFILE_AT] == 1;
    rule->books = src[ZMPI_INTERP_PROFILE_AT] == 2;
    rule->type = type;
    rule->unit = zmpi_loadf64(src);
    rule->sets = src[8];
    if (!(rule->unit > 0 && rule->unit < (double)INFINITY))
        return false;
    if (rule->flare)
        return !rule->sets && at == end && tile[0] <= ZMPI_FLARE_SLICES;
    if (rule->sets < 1 || rule->sets > ZMPI_INTERP_SETS ||
        shape[0] * shape[1] * shape[2] > ZMPI_INTERP_ELEMENTS)
        return false;
    for (unsigned k = 0; k < rule->sets; k++) {
        struct zmpi_interp_set *s = &rule->set[k];
        if (end - at < 2)
            return false;
        s->family = at[0];
        s->axes = at[1] & 7;
        s->shift = at[1] >> 4;
        if (at[1] & 8 || !s->axes || s->shift >= ZMPI_INTERP_SHIFTS)
            return false;
        at += 2;
        if (s->family == ZMPI_INTERP_LORENZO)
            continue;
        if (s->family == ZMPI_INTERP_PLANES && at < end)
            s->lag = *at++;
        if (s->family == ZMPI_INTERP_PLANES
                ? s->axes & ZMPI_AXIS_Z || s->lag < 1 || s->lag > ZMPI_INTERP_LAG
                : s->family != ZMPI_INTERP_LATTICE)
            return false;
        s->levels = zmpi_interp_levels(s->axes, shape);
        if (!s->levels || s->levels > ZMPI_INTERP_LEVELS || !(at = load_levels(s, at, end)))
            return false;
    }
    if (end - at > 3)
        return false;
    for (; at < end; at++)
        if (*at)
            return false;
    return true;
}
