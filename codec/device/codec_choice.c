/* codec_choice.c - see codec_choice.h. */
#include "device/codec_choice.h"

#include <math.h>

/* The guess for huffman before the first trial or sample: rarely right, but corrected by the first
 * trial, which it must not prevent by being too high. */
#define SLOWER  5.0
#define SMALLER 1.5
/* The other one is tried again after so many records, and so much more seldom as it seemed slower:
 * that costs at most 3 %. */
#define AGAIN 32.0
/* Older measurements count half after so many bytes, raw and written. */
#define RAW_MEMORY     ((double)(16 << 20))
#define WRITTEN_MEMORY ((double)(4 << 20))

static void forget(double most, double *bytes, double *other)
{
    if (*bytes > most) {
        *bytes /= 2;
        *other /= 2;
    }
}

void zmpi_codec_coded(struct zmpi_codec_choice *c, int encoder, enum zmpi_codec_place by,
                      double raw, double stored, double seconds)
{
    const int i = encoder - 1;
    if (i >= ZCODECS) /* interp, which is no choice */
        return;
    c->raw[i] += raw;
    c->stored[i] += stored;
    c->coded[by][i] += raw;
    c->seconds[by][i] += seconds;
    c->bytes[i] += (uint64_t)raw;
    c->coder = by;
    forget(RAW_MEMORY, &c->raw[i], &c->stored[i]);
    forget(RAW_MEMORY, &c->coded[by][i], &c->seconds[by][i]);
}

void zmpi_codec_written(struct zmpi_codec_choice *c, enum zmpi_codec_place by, double bytes,
                        double seconds, bool behind)
{
    c->written[by] += bytes;
    c->writing[by] += seconds;
    c->writer = by;
    c->behind = behind;
    forget(WRITTEN_MEMORY, &c->written[by], &c->writing[by]);
}

/* Seconds for a raw byte, where the last record was coded: there the next one will be. One of the
 * two was tried there. */
static double coding_of(const struct zmpi_codec_choice *c, int i)
{
    const double *bytes = c->coded[c->coder], *seconds = c->seconds[c->coder];
    if (bytes[i] > 0)
        return seconds[i] / bytes[i];
    const double other = seconds[1 - i] / bytes[1 - i];
    const double slower = c->slower > 0 ? c->slower : SLOWER;
    return i == 0 ? other / slower : other * slower;
}

double zmpi_codec_estimate(const struct zmpi_codec_choice *c, int encoder)
{
    const int i = encoder - 1, known = c->raw[i] > 0 ? i : 0;
    if (!(c->raw[known] > 0))
        return 0;
    const double coding = coding_of(c, i), written = c->written[c->writer];
    const double smaller = c->smaller > 0 ? c->smaller : SMALLER;
    const double size = c->stored[known] / c->raw[known] / (known == i ? 1 : smaller);
    const double writing = written > 0 ? size * c->writing[c->writer] / written : 0;
    return c->behind ? fmax(coding, writing) : coding + writing;
}

int zmpi_codec_choose(struct zmpi_codec_choice *c)
{
    if (!(c->raw[0] > 0) || !(c->written[c->writer] > 0))
        return 1; /* nothing is known */
    const double fle = zmpi_codec_estimate(c, 1), huffman = zmpi_codec_estimate(c, 2);
    const int best = huffman < fle ? 2 : 1;
    const double least = fmin(fle, huffman), other = fmax(fle, huffman);
    if ((double)++c->turns < AGAIN * other / least)
        return best;
    c->turns = 0;
    return 3 - best;
}
