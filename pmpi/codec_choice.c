/* codec_choice.c - see codec_choice.h. */
#include "codec_choice.h"

#include <math.h>

/* What is taken for huffman before it was tried: rarely right, and corrected by the first trial,
 * which it must not be too dear for. */
#define SLOWER  5.0
#define SMALLER 1.5
/* The other one is tried again after so many records, and so much more seldom as it seemed slower:
 * that costs at most 3 %. */
#define AGAIN 32.0
/* Older measurements count half after so many bytes, raw and written. */
#define RAW_MEMORY     ((double)(16 << 20))
#define WRITTEN_MEMORY ((double)(4 << 20))

static void forget(double most, double *bytes, double *a, double *b)
{
    if (*bytes > most) {
        *bytes /= 2;
        *a /= 2;
        *b /= 2;
    }
}

void zcodec_coded(struct zcodec_choice *c, int encoder, double raw, double stored, double seconds)
{
    const int i = encoder - 1;
    c->raw[i] += raw;
    c->stored[i] += stored;
    c->seconds[i] += seconds;
    c->bytes[i] += (uint64_t)raw;
    forget(RAW_MEMORY, &c->raw[i], &c->stored[i], &c->seconds[i]);
}

void zcodec_written(struct zcodec_choice *c, double bytes, double seconds, bool behind)
{
    double none = 0;
    c->written += bytes;
    c->writing += seconds;
    c->behind = behind;
    forget(WRITTEN_MEMORY, &c->written, &c->writing, &none);
}

double zcodec_estimate(const struct zcodec_choice *c, int encoder)
{
    const int i = encoder - 1, known = c->raw[i] > 0 ? i : 0;
    if (!(c->raw[known] > 0))
        return 0;
    double coding = c->seconds[known] / c->raw[known], size = c->stored[known] / c->raw[known];
    if (known != i) {
        coding *= SLOWER;
        size /= SMALLER;
    }
    double writing = c->written > 0 ? size * c->writing / c->written : 0;
    return c->behind ? fmax(coding, writing) : coding + writing;
}

int zcodec_choose(struct zcodec_choice *c)
{
    if (!(c->raw[0] > 0) || !(c->written > 0))
        return 1; /* nothing is known */
    const double fle = zcodec_estimate(c, 1), huffman = zcodec_estimate(c, 2);
    const int best = huffman < fle ? 2 : 1;
    const double least = fmin(fle, huffman), other = fmax(fle, huffman);
    if ((double)++c->turns < AGAIN * other / least)
        return best;
    c->turns = 0;
    return 3 - best;
}
