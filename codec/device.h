/*
 * device.h - what a compression device is. codec knows no device by name; a plug-in
 * lib/zmpi/libzmpi_<name>.so exports `const struct zmpi_device *zmpi_device_plugin(void)`. Every
 * device writes the same bytes (docs/format.md part 4).
 */
#ifndef ZMPI_DEVICE_H
#define ZMPI_DEVICE_H

#include "zmpi_codec.h"
#include <stdbool.h>

#define ZMPI_DEVICE_ABI 1u

/* Where a buffer lives. */
enum zmpi_memory { ZMPI_MEMORY_HOST = 1, ZMPI_MEMORY_GPU = 2 };

/* One piece of work. Parameters are resolved: every device sees the same numbers. */
struct zmpi_job {
    struct zmpi_array array;
    struct zmpi_bound bound; /* as asked, goes into the header */
    double abs_bound;        /* 0: exact, +inf: none (pw_rel, whose bound is bound.value) */
    /* psnr: what takes abs_bound's place, in turn, as long as the errors' root mean square is over
     * finer[1]. 0 0: nothing does. */
    double finer[2];
    double keep; /* elements with |x| >= keep are kept exactly, +inf: none */
    int encoder; /* as in the header: 1 fle, 2 huffman */
    int threads; /* >= 1 */
};

/*
 * Resolve a bound into a job (format.md 4.1, 4.2), encoder fle, one thread. range: of the whole
 * distributed array; may be NULL if zmpi_bound_needs_range says so.
 */
enum zmpi_status zmpi_job_make(const struct zmpi_array *array, const struct zmpi_bound *bound,
                               const struct zmpi_range *range, struct zmpi_job *job);
/*
 * Values with |x| >= threshold are kept exactly too. 0: no threshold. The job's range must be one
 * without such values.
 */
void zmpi_job_threshold(struct zmpi_job *job, double threshold);
/* Take the bound that keeps the promise whatever the errors are like, for data that will be coded
 * together with others. */
void zmpi_job_settle(struct zmpi_job *job);

/* Must the range of the data be known: for the bound (rel, psnr), or to tell fill values? */
bool zmpi_bound_needs_range(const struct zmpi_bound *bound);

/*
 * zmpi_range_of by up to `threads` >= 1 threads, and only over values with |x| < threshold (0:
 * all). The result does not depend on the number of threads.
 */
void zmpi_range_scan(enum zmpi_type type, const void *src, size_t count, double threshold,
                     int threads, struct zmpi_range *range);

struct zmpi_device {
    size_t size;      /* sizeof(struct zmpi_device): set first, checked first */
    unsigned abi;     /* ZMPI_DEVICE_ABI */
    unsigned memory;  /* mask of enum zmpi_memory that compress and decompress accept */
    const char *name; /* "cpu", "cuda", ... */
    /* NULL if usable now, else a static text saying what is missing. May be slow the first time. */
    const char *(*probe)(void);
    /* Estimated seconds to compress (or decompress) `bytes`; used by `auto`. */
    double (*cost)(size_t bytes, bool decompress);
    enum zmpi_status (*compress)(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size);
    /* need: see zmpi_stream_decode; NULL for all. */
    enum zmpi_status (*decompress)(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   const unsigned char *need, int threads);
};

/*
 * The device called `name`, or the best one for "auto" (host buffers of `bytes`). Opens plug-ins
 * on first use. NULL if there is none of that name or it does not work; then *why (never NULL on
 * failure) says what is missing. Never unloaded; thread-safe.
 */
const struct zmpi_device *zmpi_device_find(const char *name, size_t bytes, const char **why);

/* The device built in. */
const struct zmpi_device *zmpi_device_cpu(void);
/* What codes by this encoder: the device, or the CPU for encoders that devices do not have. */
const struct zmpi_device *zmpi_device_for(const struct zmpi_device *device, int encoder);

/* The axes along which the array will be predicted (docs/format.md 4.6), as in a chunk's head; part
 * of compression, by itself for those who measure. */
unsigned zmpi_axes_choose(const struct zmpi_job *job, const void *src);

/* Call f for every device known (plug-ins included) with its probe's answer. */
void zmpi_device_each(void (*f)(const struct zmpi_device *device, const char *missing,
                                void *context),
                      void *context);

#endif
