/*
 * wse.h - streams by PEs (docs/internals/csl.md). The scalar codec codes the chunks that PEs leave
 * to the host; the bytes are the same.
 */
#ifndef ZMPI_CSL_WSE_H
#define ZMPI_CSL_WSE_H

#include "chip.h"
#include "device.h"
#include "layout/plan.h"
#include "layout/stream.h"

struct wse_count {
    uint64_t chip, host; /* number of chunks that PEs coded; that the host had to code */
};

/* Can PEs do anything for such a job, or such a stream? */
bool wse_takes_job(const struct zmpi_job *job);
bool wse_takes_stream(const struct zmpi_stream *s);

/* As the functions of struct zmpi_device. After ZMPI_ERR_DEVICE chip->problem says what happened.
 */
enum zmpi_status wse_compress(struct chip *chip, const struct zmpi_job *job, void *dst,
                              size_t capacity, const void *src, size_t *size,
                              struct wse_count *count);
enum zmpi_status wse_decompress(struct chip *chip, const struct zmpi_stream *s,
                                const unsigned char *need, void *dst, struct wse_count *count);

#endif
