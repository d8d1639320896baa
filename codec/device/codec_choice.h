/*
 * codec_choice.h - which encoder makes the time of a file's writes least, from what was measured in
 * them (ZMPI_CODEC=auto). Each rank chooses for itself: streams say how they are coded.
 */
#ifndef ZMPI_CODEC_CHOICE_H
#define ZMPI_CODEC_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum { ZCODECS = 2 }; /* fle and huffman: encoder - 1 */

/* Who did it: this process, or a device that has both encoders. What one takes tells nothing of the
 * other. */
enum zcodec_place { ZCODEC_HERE, ZCODEC_DEVICE, ZCODEC_PLACES };

struct zcodec_choice {
    double raw[ZCODECS], stored[ZCODECS]; /* bytes that each took and made */
    double coded[ZCODEC_PLACES][ZCODECS], seconds[ZCODEC_PLACES][ZCODECS]; /* in what time, there */
    double written[ZCODEC_PLACES], writing[ZCODEC_PLACES]; /* bytes to the file, and seconds */
    enum zcodec_place coder, writer;                       /* of the last record */
    double slower, smaller;  /* the second one, by a sample of the data; 0: none was taken */
    bool behind;             /* records are written while others are coded */
    uint64_t bytes[ZCODECS]; /* of this file, never forgotten */
    uint64_t turns;          /* records since the worse one was tried */
};

/* The encoder for what comes next. */
int zcodec_choose(struct zcodec_choice *c);
void zcodec_coded(struct zcodec_choice *c, int encoder, enum zcodec_place by, double raw,
                  double stored, double seconds);
void zcodec_written(struct zcodec_choice *c, enum zcodec_place by, double bytes, double seconds,
                    bool behind);
/* Estimated seconds for a raw byte, coding and writing. */
double zcodec_estimate(const struct zcodec_choice *c, int encoder);

#endif
