/*
 * interp.h - encoder 3: values as integers of a unit 1/128 of the bound, predicted from coarse to
 * fine or from their neighbours, quantized, and coded by rANS with contexts (format.md 1.5, 4.10).
 *
 * All that decides a value is exact arithmetic on 32-bit integers, modulo 2^32, so that every
 * machine gets the same.
 */
#ifndef ZMPI_INTERP_H
#define ZMPI_INTERP_H

#include "device.h"
#include "layout/chunk.h"

enum {
    ZMPI_INTERP_ELEMENTS = ZMPI_INTERP_WORDS,
    ZMPI_INTERP_LEVELS = 18,
    ZMPI_INTERP_SETS = 4,
    ZMPI_INTERP_STEP_BITS = 8, /* binary orders of a step above the unit */
    ZMPI_INTERP_CONTEXTS = 25,
    ZMPI_INTERP_SYMBOLS = 72,
    ZMPI_INTERP_FINEST = 4,  /* bits that a level's step may lack */
    ZMPI_INTERP_SHIFTS = 6,  /* of contexts */
    ZMPI_INTERP_HEAD = 1024, /* bytes of parameters, at most */
    ZMPI_INTERP_LAG = 64,
    ZMPI_INTERP_MAGNITUDE = 63,
    ZMPI_INTERP_CUBIC = 8 /* in a way */
};

enum zmpi_interp_family {
    ZMPI_INTERP_LATTICE = 1,
    ZMPI_INTERP_LORENZO = 2,
    ZMPI_INTERP_PLANES = 3 /* lattices in planes, or in planes less the one `lag` before */
};

/* A set: how the chunks that name it are predicted. Level 0 is the finest. */
struct zmpi_interp_set {
    enum zmpi_interp_family family;
    unsigned axes;                              /* mask of enum zmpi_axis */
    unsigned levels;                            /* lattice */
    unsigned shift;                             /* of contexts */
    unsigned lag;                               /* planes: 1 to ZMPI_INTERP_LAG */
    unsigned char fine[ZMPI_INTERP_LEVELS + 1]; /* bits that a level's step lacks; last: anchors */
    unsigned char way[ZMPI_INTERP_LEVELS][8];   /* of each class of a level: axes, 8: cubic */
};

/* The parameters that all chunks of a stream share. */
struct zmpi_interp_rule {
    enum zmpi_type type;
    double unit;
    double abs_bound, keep;    /* encoder */
    uint64_t fill[ZMPI_FILLS]; /* encoder: values that are exact, as bits */
    bool decoded;              /* encoder: values were decoded by the set, as it seems */
    unsigned sets;
    bool flare; /* the profile of that name: no sets */
    bool books; /* the profile with Huffman codes */
    struct zmpi_interp_set set[ZMPI_INTERP_SETS];
};

/* What a stream of the profile is called in struct zmpi_stream_info, beside the families. */
enum { ZMPI_INTERP_FLARE = 4 };

/* The unit of a bound; 0: there is none that could be used. */
double zmpi_interp_unit(double abs_bound);
/* Levels that a lattice along these axes has in tiles of this shape. */
unsigned zmpi_interp_levels(unsigned axes, const size_t tile[3]);
/* Tiles of the profile FLARE. */
void zmpi_flare_tile(const size_t extent[3], size_t tile[3]);
/* Tiles for prediction along these axes. */
void zmpi_interp_tile(const size_t extent[3], unsigned axes, size_t tile[3]);

/* ---- parameters in a stream ---- */

/* The byte that names a profile, and the last one that this version knows. */
enum { ZMPI_INTERP_PROFILE_AT = 9, ZMPI_INTERP_PROFILES = 2 };

/* Returns the bytes, a multiple of 4. */
size_t zmpi_interp_save(const struct zmpi_interp_rule *rule, unsigned char dst[ZMPI_INTERP_HEAD]);
/* src is untrusted. False: it is not what the format allows. tile: of the stream. */
bool zmpi_interp_load(struct zmpi_interp_rule *rule, enum zmpi_type type, const uint32_t tile[3],
                      const unsigned char *src, size_t size);

/* ---- the choice (format.md 4.10) ---- */

struct zmpi_plan;
/* Of 1 and the divisors of the planes' number what planes differ least by: leading extents are
 * folded into one. The plan has two planes or more. */
unsigned zmpi_interp_find_lag(const struct zmpi_plan *plan, double abs_bound,
                              const unsigned char *src);
/* What the plan's array is best predicted by, in integers of the rule's unit, which is given; and
 * its tiles, to the plan. tells: decoded values tell their integers again. *known: by what it seems
 * to have been decoded by. */
enum zmpi_status zmpi_interp_choose(struct zmpi_plan *plan, const struct zmpi_job *job,
                                    const unsigned char *src, bool tells,
                                    struct zmpi_interp_rule *rule, bool *known);

/* What was chosen for arrays of one file before: what fits one step of a simulation fits the next.
 * All 0: nothing. The caller's, by struct zmpi_job's `interp`; not for two threads at once. */
enum { ZMPI_INTERP_ENTRIES = 8 };
struct zmpi_interp_known {
    struct zmpi_interp_entry {
        enum zmpi_type type;
        size_t extent[3];
        double abs_bound; /* another one's is at most twice or half of it */
        struct zmpi_interp_set set;
        unsigned calls; /* 0: no entry */
    } entry[ZMPI_INTERP_ENTRIES];
    unsigned next; /* the entry that was made first */
};

/* ---- chunks ---- */

/* Buffers of one thread for tiles of up to a shape. */
struct zmpi_interp_work;
/* For chunks of these sets, or without any those of the profile FLARE; NULL: no memory. */
struct zmpi_interp_work *zmpi_interp_work_new(const size_t tile[3],
                                              const struct zmpi_interp_set *set, unsigned sets,
                                              bool encode);
/* Can an encoder's be used for these as well? */
bool zmpi_interp_work_fits(const struct zmpi_interp_work *w, const size_t tile[3],
                           const struct zmpi_interp_set *set);
void zmpi_interp_work_free(struct zmpi_interp_work *w);
/* The largest coded chunk of this many elements. */
size_t zmpi_interp_chunk_most(size_t elements, size_t width);

/* Code the tile `src` by set number `set` to dst, which has room for zmpi_interp_chunk_most bytes;
 * returns the size. decoded: if not NULL the values as they will be read, without gaps. */
size_t zmpi_interp_encode(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                          unsigned set, const size_t extent[3], const struct zmpi_rows *src,
                          unsigned char *dst, unsigned char *decoded);
/* Do values look as if they had been decoded: by a set, by something else? */
enum zmpi_interp_origin { ZMPI_INTERP_FRESH, ZMPI_INTERP_DECODED, ZMPI_INTERP_DECODED_BY_IT };
/* Estimated bits, in 1/256, of the tile by the set. choose: the set's ways are chosen for it. */
uint64_t zmpi_interp_estimate(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                              struct zmpi_interp_set *set, bool choose, const size_t extent[3],
                              const struct zmpi_rows *src, enum zmpi_interp_origin *origin);
/* Never reads outside src, nor writes outside the tile; on error its contents are undefined. */
enum zmpi_status zmpi_interp_decode(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                                    const size_t extent[3], const unsigned char *src, size_t size,
                                    const struct zmpi_rows *dst);

#endif
