/*
 * interp.h - encoder 3. Values become integers of a unit that is 1/128 of the bound. They are
 * predicted from coarse to fine or from their neighbours, quantized, and coded by rANS with
 * contexts (format.md 1.5, 4.10).
 *
 * Everything that decides a value is exact arithmetic on 32-bit integers, modulo 2^32, so that
 * every machine gets the same.
 */
#ifndef ZMPI_INTERP_H
#define ZMPI_INTERP_H

#include "device.h"
#include "layout/grids.h"

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

/* A set says how the chunks that name it are predicted. Level 0 is the finest. */
struct zmpi_interp_set {
    enum zmpi_interp_family family;
    unsigned axes;                              /* mask of enum zmpi_axis */
    unsigned levels;                            /* lattice */
    unsigned shift;                             /* of contexts */
    unsigned lag;                               /* planes: 1 to ZMPI_INTERP_LAG */
    unsigned char fine[ZMPI_INTERP_LEVELS + 1]; /* bits that a level's step lacks; last: anchors */
    unsigned char way[ZMPI_INTERP_LEVELS][8];   /* for each class of a level: axes, 8: cubic */
};

/* The parameters that all chunks of a stream share. */
struct zmpi_interp_rule {
    enum zmpi_type type;
    double unit;
    double abs_bound, keep;         /* for the encoder */
    uint64_t fill[ZMPI_FILLS];      /* for the encoder: values that stay exact, as bits */
    bool decoded;                   /* for the encoder: the values seem to be decoded by the set */
    const struct zmpi_grids *grids; /* for the encoder: values on them stay as they are; or NULL */
    unsigned sets;
    bool flare; /* the profile FLARE, which has no sets */
    bool books; /* the profile with Huffman codes */
    struct zmpi_interp_set set[ZMPI_INTERP_SETS];
};

/* The name of the profile FLARE in struct zmpi_stream_info, beside the families. */
enum { ZMPI_INTERP_FLARE = 4 };

/* The unit for a bound; 0: no unit fits. */
double zmpi_interp_unit(double abs_bound);
/* Levels that a lattice along these axes has in tiles of this shape. */
unsigned zmpi_interp_levels(unsigned axes, const size_t tile[3]);
/* Tiles of the profile FLARE. */
void zmpi_flare_tile(const size_t extent[3], size_t tile[3]);
/* Tiles for prediction along these axes. */
void zmpi_interp_tile(const size_t extent[3], unsigned axes, size_t tile[3]);

/* ---- parameters in a stream ---- */

/* The byte that names a profile, and the last profile that this version knows. */
enum { ZMPI_INTERP_PROFILE_AT = 9, ZMPI_INTERP_PROFILES = 2 };

/* Returns the number of bytes, a multiple of 4. */
size_t zmpi_interp_save(const struct zmpi_interp_rule *rule, unsigned char dst[ZMPI_INTERP_HEAD]);
/* src is untrusted. False: the format does not allow it. tile: that of the stream. */
bool zmpi_interp_load(struct zmpi_interp_rule *rule, enum zmpi_type type, const uint32_t tile[3],
                      const unsigned char *src, size_t size);

/* ---- the choice (format.md 4.10) ---- */

struct zmpi_plan;
struct zmpi_interp_work;
/* So many threads make a choice at most. */
enum { ZMPI_INTERP_BRANCHES = 3 };
/* The distance by which planes are most alike: 1 or a divisor of the number of planes, with leading
 * extents folded into one. The plan has at least two planes. */
unsigned zmpi_interp_find_lag(const struct zmpi_plan *plan, double abs_bound,
                              const unsigned char *src);
/* Chooses the best prediction for the plan's array, in integers of the rule's unit, which is given;
 * also sets the plan's tiles. tells: decoded values give their integers back. *known: the data seem
 * to be decoded, and it takes the set that they were decoded by. work: of threads, NULL at first;
 * the caller frees them. */
enum zmpi_status zmpi_interp_choose(struct zmpi_plan *plan, const struct zmpi_job *job,
                                    const unsigned char *src, bool tells,
                                    struct zmpi_interp_rule *rule, bool *known,
                                    struct zmpi_interp_work *work[ZMPI_INTERP_BRANCHES]);

/* What was chosen for earlier arrays of the same file: a set that fits one step of a simulation
 * fits the next. All 0: nothing yet. The caller owns it, in struct zmpi_job's `interp`; two threads
 * must not use it at once. */
enum { ZMPI_INTERP_ENTRIES = 8 };
struct zmpi_interp_known {
    struct zmpi_interp_entry {
        enum zmpi_type type;
        size_t extent[3];
        double abs_bound; /* an entry serves bounds from half of it to twice */
        struct zmpi_interp_set set;
        unsigned calls; /* 0: no entry */
    } entry[ZMPI_INTERP_ENTRIES];
    unsigned next; /* the entry that was made first */
};

/* ---- chunks ---- */

/* Buffers of one thread for tiles of up to a shape. */
struct zmpi_interp_work;
/* For chunks of these sets; without sets, for chunks of the profile FLARE. NULL: no memory. */
struct zmpi_interp_work *zmpi_interp_work_new(const size_t tile[3],
                                              const struct zmpi_interp_set *set, unsigned sets,
                                              bool encode);
/* Returns an encoder's workspace for this set, too: w if it suffices, else a larger one for all
 * that w was for, and w is freed. w may be NULL. NULL: no memory. */
struct zmpi_interp_work *zmpi_interp_work_for(struct zmpi_interp_work *w, const size_t tile[3],
                                              const struct zmpi_interp_set *set);
void zmpi_interp_work_free(struct zmpi_interp_work *w);
/* The largest coded chunk of this many elements. */
size_t zmpi_interp_chunk_most(size_t elements, size_t width);

/* Codes the tile `src` by set number `set` to dst, which has room for zmpi_interp_chunk_most bytes;
 * returns the size. decoded: unless NULL, gets the values as a decoder reads them, without gaps. */
size_t zmpi_interp_encode(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                          unsigned set, const size_t extent[3], const struct zmpi_rows *src,
                          unsigned char *dst, unsigned char *decoded);
/* Do values seem to be decoded: by a set, or by something else? */
enum zmpi_interp_origin { ZMPI_INTERP_FRESH, ZMPI_INTERP_DECODED, ZMPI_INTERP_DECODED_BY_IT };
/* Estimates the bits, in 1/256, that the tile takes by the set. choose: first chooses the set's
 * ways for it. */
uint64_t zmpi_interp_estimate(struct zmpi_interp_work *w, const struct zmpi_interp_rule *rule,
                              struct zmpi_interp_set *set, bool choose, const size_t extent[3],
                              const struct zmpi_rows *src, enum zmpi_interp_origin *origin);
/* A coded chunk, and where its values go. */
struct zmpi_interp_coded {
    const unsigned char *src;
    size_t size, extent[3];
    struct zmpi_rows rows;
};
/* Does it take less time to decode two chunks side by side? Where few bits are to be decoded, their
 * workspaces only displace each other from the cache. */
bool zmpi_interp_two_pay(const struct zmpi_interp_coded c[2]);
/* Decodes n chunks, one or two, each by a workspace of its own. status: of each. Never reads
 * outside src, nor writes outside the tile; on error its contents are undefined. */
void zmpi_interp_decode(struct zmpi_interp_work *const w[], const struct zmpi_interp_rule *rule,
                        const struct zmpi_interp_coded c[], int n, enum zmpi_status status[]);

#endif
