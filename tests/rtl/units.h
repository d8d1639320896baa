/* units.h - modules of the engine one by one (units.sv), behind a C interface. */
#ifndef ZMPI_RTL_UNITS_H
#define ZMPI_RTL_UNITS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum unit {
    UNIT_QUANT,
    UNIT_LEVEL,
    UNIT_HOLD,
    UNIT_LORENZO,
    UNIT_BLOCK,
    UNIT_OUTLIERS,
    UNIT_SYMBOLS,
    UNIT_BITS,
    UNIT_COMPACT,
    UNIT_PACK,
    UNIT_HISTOGRAM
};

/* Lanes; words of an item in and out. */
enum { UNIT_LANES = 8, UNIT_WORDS = 34 };

struct units;

/* How often, in 256, nothing is offered and nothing is taken, at random. */
struct units *units_open(unsigned stall, uint64_t seed);
void units_close(struct units *u);

/* Chooses a module and its constant inputs, and starts it. */
void units_select(struct units *u, enum unit unit, uint32_t a, uint32_t b, uint32_t c);
void units_start(struct units *u);

/* Sends n items; returns what came out until nothing came for a while, at most `capacity` items. */
size_t units_run(struct units *u, const uint32_t (*in)[UNIT_WORDS], size_t n,
                 uint32_t (*out)[UNIT_WORDS], size_t capacity);
/* What its outputs show two cycles later. */
uint32_t units_look(struct units *u, unsigned word);

#ifdef __cplusplus
}
#endif
#endif
