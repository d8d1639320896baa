/* flare_sim.h - FLARE's prediction engine, simulated, behind a C interface: a chunk's integers to
 * codes and back. */
#ifndef ZMPI_FLARE_SIM_H
#define ZMPI_FLARE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A chunk, row by row without gaps. Anchors hold what they are decoded to. */
struct flare_sim_chunk {
    size_t extent[3];
    bool decode;
    int32_t *value; /* INT32_MIN: none; afterwards what is decoded. decode: of points that are no
                       anchors nothing is known */
    int32_t *code;  /* all points' but the anchors', in the order of codes */
    size_t codes;
};

/* What it took. */
struct flare_sim_cycles {
    uint64_t busy, runs; /* from start to end; of all arrays while they predict */
};

struct flare_sim;

/* `arrays` of those that are built; NULL: it is none of them. */
struct flare_sim *flare_sim_open(unsigned arrays);
void flare_sim_close(struct flare_sim *s);
/* stall: how often, in 256, nothing is offered and nothing is taken, at random. False: it hangs, or
 * says what cannot be. */
bool flare_sim_run(struct flare_sim *s, struct flare_sim_chunk *c, unsigned stall,
                   struct flare_sim_cycles *cycles);

/* A batch's codes to the bytes of its sections (format.md 1.6) by the coder's hardware; dst has
 * room. book: of each of 998 symbols its length << 12 | its code as it lies in a stream. Returns
 * the size; 0: it hangs. */
size_t flare_sim_code(const signed char *code, size_t n, const uint16_t book[998], unsigned stall,
                      unsigned char *dst);

/* One section of `size` bytes back to its n <= 8192 codes. table: of each 12 bits, the first
 * lowest, the length of the code that they begin with << 10 | its symbol. False: it is none. */
bool flare_sim_decode(const unsigned char *src, size_t size, size_t n, const uint16_t table[4096],
                      unsigned stall, signed char *code);

#ifdef __cplusplus
}
#endif
#endif
