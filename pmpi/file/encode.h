/* encode.h - makes records in the outbox from data */
#ifndef ZMPI_ENCODE_H
#define ZMPI_ENCODE_H

#include "bound/ratio.h"
#include "container/container.h"
#include "device/codec_choice.h"

struct zfile;

/* One piece of a write: where it goes, what it is. */
struct zpiece {
    const unsigned char *data;
    const struct zmpi_device *holder; /* the device whose memory they are in; NULL: the host */
    struct zmpi_extent extent;        /* logical bytes */
    enum zmpi_type element;
    size_t row, rows; /* elements of one row, rows of one plane, as far as known; 0: unknown */
    const struct zmpi_range *range; /* the range of the whole call, if its bound needs one */
    const struct zmpi_fills *fills; /* exact, and not in that range; NULL: none */
    const struct zmpi_ratio_search
        *search;           /* for a ratio of the whole call; NULL: the piece has its own */
    const uint64_t *order; /* the order that its record already has; NULL: the next one */
    uint64_t read;         /* as in struct zmpi_job */
    int component;         /* of its call */
    bool exact;            /* whatever the bound */
    bool big_endian;       /* as in struct zmpi_job */
};

/* Returns the array of a piece: whole planes or rows of the known shape, else one row. */
struct zmpi_array zencode_array(const struct zpiece *p);
/* Encodes a complete job to a record in the outbox. */
int zencode_job(struct zfile *f, const struct zmpi_job *job, const struct zpiece *piece);
/* The order of the next record. */
uint64_t zencode_order(struct zfile *f);
/* Takes the last record, whose piece was just encoded, out of the outbox again. The caller gets its
 * extent back. */
void zencode_undo(struct zfile *f, struct zmpi_extent *extent);
/* Bytes of the last record's stream, without its header. */
uint64_t zencode_coded(const struct zfile *f);
/* A record that sets the logical size. */
int zencode_size(struct zfile *f, uint64_t size);
/* Bytes that the record of a piece may need in the outbox. */
size_t zencode_capacity(uint64_t bytes, size_t runs);
/* Makes room for `size` more bytes in the outbox, and returns it; NULL: no memory. */
unsigned char *zencode_reserve(struct zfile *f, size_t size);
/* Tells where a device's times of coding count (codec_choice.h). */
enum zmpi_codec_place zencode_place(const struct zmpi_device *device);

/* ---- piece.c ---- */

/* Gives a piece, with the file's bound, to a device that writes it itself, or encodes it to the
 * outbox. */
int zencode_piece(struct zfile *f, const struct zpiece *piece);
/* The same with a bound that was resolved before (abs_bound 0: exact). */
int zencode_resolved(struct zfile *f, const struct zpiece *piece, double abs_bound, double keep);

#endif
