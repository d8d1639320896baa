/* flare_net_sim.h - the array of the enhancer's network, simulated. */
#ifndef ZMPI_FLARE_NET_SIM_H
#define ZMPI_FLARE_NET_SIM_H

#include <stdbool.h>

#include "flare_net.h"

#ifdef __cplusplus
extern "C" {
#endif

struct flare_net_sim;

/* side * side multipliers: 4 or 8; NULL: another number, or no memory. */
struct flare_net_sim *flare_net_sim_open(unsigned side, const struct flare_net *net);
void flare_net_sim_close(struct flare_net_sim *s);
/* Runs a piece of a slice whose values go from least to largest, which must differ. stall: in so
 * many of 256 cycles nothing is offered or taken. *cycles: from start to end. False: it hangs. */
bool flare_net_sim_run(struct flare_net_sim *s, const int32_t *value, int32_t least,
                       int32_t largest, size_t height, size_t width, unsigned stall, int8_t *out,
                       uint64_t *cycles);
/* The same for bytes that are inputs already. */
bool flare_net_sim_bytes(struct flare_net_sim *s, const unsigned char *in, unsigned char beside,
                         size_t height, size_t width, unsigned stall, int8_t *out);

#ifdef __cplusplus
}
#endif
#endif
