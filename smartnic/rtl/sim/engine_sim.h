/*
 * engine_sim.h - compress arrays by the Verilated engine (docs/internals/rtl.md): what a driver of
 * the hardware would do, with the hardware's description in its place. The stream is the CPU's,
 * byte for byte. Slow: about a millisecond for a chunk.
 */
#ifndef ZMPI_RTL_ENGINE_SIM_H
#define ZMPI_RTL_ENGINE_SIM_H

#include "device.h"
#include "huffman/huffman.h"

struct zmpi_rtl;

/* What the engine counted since it was opened or asked last. */
struct zmpi_rtl_counts {
    uint64_t cycles; /* while there was something to do */
    uint64_t beats_in, beats_out, chunks;
};

/* An engine of that many lanes; NULL if none was built, or no memory. Each may be used
 * by one thread at a time. */
struct zmpi_rtl *zmpi_rtl_open(unsigned lanes);
void zmpi_rtl_close(struct zmpi_rtl *rtl);

/* Let source and sink be not ready so often, in 256, at random from a seed: for tests. */
void zmpi_rtl_stall(struct zmpi_rtl *rtl, unsigned in, unsigned out, unsigned seed);

/* As a device's compress (device.h). ZMPI_ERR_UNSUPPORTED for words of 8 bytes, a pointwise
 * relative bound, and bounds that are to be found or tried (ratio, psnr). */
enum zmpi_status zmpi_rtl_compress(struct zmpi_rtl *rtl, const struct zmpi_job *job, void *dst,
                                   size_t dst_capacity, const void *src, size_t *size);

/* The book that the engine builds from such counts, sorted well or as CEAZ does; false: it does
 * not end. */
bool zmpi_rtl_build(struct zmpi_rtl *rtl, const uint32_t count[ZMPI_HUFFMAN_SYMBOLS], bool exact,
                    struct zmpi_book *book);

struct zmpi_rtl_counts zmpi_rtl_count(struct zmpi_rtl *rtl);

#endif
