/* flare_sim.h - FLARE's engine, simulated, behind a C interface, which does what its driver would
 * do: it turns a chunk's integers into the bytes of format.md 1.6, and back. */
#ifndef ZMPI_FLARE_SIM_H
#define ZMPI_FLARE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flare_net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A chunk, row by row without gaps. */
struct flare_sim_chunk {
    size_t extent[3];
    int32_t *value;                        /* INT32_MIN: none; afterwards what is decoded */
    int32_t least[128], largest[128];      /* decoded value of each slice: made */
    uint64_t cycles, predict, runs, codes; /* made: from start to end; while it predicts; of all
                                              arrays; while it codes or decodes */
    /* Back, where there is a network: its output for each value, 0 in slices whose values are all
     * the same; its cycles. NULL: it does not run. */
    int8_t *out;
    uint64_t network;
};

struct flare_sim;

/* An engine with so many arrays; NULL: none was built, or no memory. */
struct flare_sim *flare_sim_open(unsigned arrays);
void flare_sim_close(struct flare_sim *s);
/* In so many of 256 cycles, at random, nothing is offered and nothing is taken. */
void flare_sim_stall(struct flare_sim *s, unsigned stall);
/* Does the engine have memory for chunks of this shape? */
bool flare_sim_fits(const size_t extent[3]);
/* Returns the size, at most `most`; 0: there is no room, or the engine does not answer or says what
 * cannot be. */
size_t flare_sim_encode(struct flare_sim *s, struct flare_sim_chunk *c, unsigned char *dst,
                        size_t most);
/* src is untrusted. False: it is damaged, or the engine failed as above. */
bool flare_sim_decode(struct flare_sim *s, struct flare_sim_chunk *c, const unsigned char *src,
                      size_t size);

/* Sets the network through which decoded values go from now on; NULL: none. */
void flare_sim_net(struct flare_sim *s, const struct flare_net *net);
/* Does a batch of a chunk of this shape fit FIFO2? */
bool flare_sim_net_fits(const size_t extent[3]);
/* Runs the network by itself: a piece's inputs, and the input beside it. False: there is no
 * network, or the engine does not answer. */
bool flare_sim_piece(struct flare_sim *s, const unsigned char *in, unsigned char beside,
                     size_t height, size_t width, int8_t *out);

/* Runs the decoder by itself: one section of `size` bytes back to its n <= 8192 codes. table: for
 * each 12 bits, the first lowest, the length of the code with which they begin << 10 | its symbol.
 * False: the section is invalid. */
bool flare_sim_section(const unsigned char *src, size_t size, size_t n, const uint16_t table[4096],
                       unsigned stall, signed char *code);

#ifdef __cplusplus
}
#endif
#endif
