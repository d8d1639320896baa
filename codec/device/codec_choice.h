/*
 * codec_choice.h - the encoder with which a file's writes take the least time, by measurements of
 * earlier writes (ZMPI_CODEC=auto). Each rank chooses for itself: a stream says how it is coded.
 */
#ifndef ZMPI_CODEC_CHOICE_H
#define ZMPI_CODEC_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum { ZCODECS = 2 }; /* fle and huffman: encoder - 1 */

/* Who coded: this process, or a device that has both encoders. The time of one tells nothing about
 * the other. */
enum zmpi_codec_place { ZMPI_CODEC_HERE, ZMPI_CODEC_DEVICE, ZMPI_CODEC_PLACES };

struct zmpi_codec_choice {
    double raw[ZCODECS], stored[ZCODECS]; /* bytes that each took and made */
    double coded[ZMPI_CODEC_PLACES][ZCODECS],
        seconds[ZMPI_CODEC_PLACES][ZCODECS]; /* in what time, there */
    double written[ZMPI_CODEC_PLACES],
        writing[ZMPI_CODEC_PLACES];      /* bytes to the file, and seconds */
    enum zmpi_codec_place coder, writer; /* of the last record */
    double slower, smaller;  /* how many times slower the second encoder is, and smaller its stream,
                                on a sample; 0: no sample */
    bool behind;             /* records are written while others are coded */
    uint64_t bytes[ZCODECS]; /* of this file, never forgotten */
    uint64_t turns;          /* records since the worse one was tried */
};

/* The encoder for the next record. */
int zmpi_codec_choose(struct zmpi_codec_choice *c);
void zmpi_codec_coded(struct zmpi_codec_choice *c, int encoder, enum zmpi_codec_place by,
                      double raw, double stored, double seconds);
void zmpi_codec_written(struct zmpi_codec_choice *c, enum zmpi_codec_place by, double bytes,
                        double seconds, bool behind);
/* Estimated seconds for a raw byte, coding and writing. */
double zmpi_codec_estimate(const struct zmpi_codec_choice *c, int encoder);

#endif
