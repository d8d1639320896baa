/*
 * engine_sim.h - compresses arrays by the Verilated engine (docs/internals/rtl.md). It does what a
 * driver of the hardware would do, with the hardware's description in its place. The stream is the
 * CPU's, byte for byte. It is slow: about a millisecond for a chunk.
 */
#ifndef ZMPI_RTL_ENGINE_SIM_H
#define ZMPI_RTL_ENGINE_SIM_H

#include "device.h"
#include "huffman/huffman.h"

struct zmpi_rtl;

/* Counters since the engine was opened or asked last. */
struct zmpi_rtl_counts {
    uint64_t cycles; /* cycles while there was work */
    uint64_t beats_in, beats_out, chunks;
};

/* An engine with so many lanes; NULL if none was built, or no memory. One thread at a time may use
 * each. */
struct zmpi_rtl *zmpi_rtl_open(unsigned lanes);
void zmpi_rtl_close(struct zmpi_rtl *rtl);

/* For tests: source and sink are not ready in so many of 256 cycles, at random from a seed. */
void zmpi_rtl_stall(struct zmpi_rtl *rtl, unsigned in, unsigned out, unsigned seed);

/* As a device's compress (device.h). Returns ZMPI_ERR_UNSUPPORTED for words of 8 bytes, for a
 * pointwise relative bound, and for bounds that must be searched (ratio, psnr). */
enum zmpi_status zmpi_rtl_compress(struct zmpi_rtl *rtl, const struct zmpi_job *job, void *dst,
                                   size_t dst_capacity, const void *src, size_t *size);

/* The book that the engine builds from such counts, sorted exactly or as CEAZ does; false: it does
 * not end. */
bool zmpi_rtl_build(struct zmpi_rtl *rtl, const uint32_t count[ZMPI_HUFFMAN_SYMBOLS], bool exact,
                    struct zmpi_book *book);

struct zmpi_rtl_counts zmpi_rtl_count(struct zmpi_rtl *rtl);

#endif
