/*
 * device.h - what a compression device is. codec knows no device by name; a plug-in
 * lib/zmpi/libzmpi_<name>.so exports `const struct zmpi_device *zmpi_device_plugin(void)`. Every
 * device writes the same bytes (docs/format.md part 4).
 */
#ifndef ZMPI_DEVICE_H
#define ZMPI_DEVICE_H

#include "zmpi_codec.h"
#include <stdbool.h>

#define ZMPI_DEVICE_ABI 11u

/* Where a buffer is. Memory that both may touch (managed memory) is the device's. */
enum zmpi_memory { ZMPI_MEMORY_HOST = 1, ZMPI_MEMORY_GPU = 2 };

/* A copy: rows of `bytes` bytes, planes of rows, and the distance between their beginnings in each
 * of the two buffers, which is no less than their length. */
struct zmpi_box {
    size_t bytes, rows, planes;
    size_t dst_row, dst_plane, src_row, src_plane;
};

enum { ZMPI_AXES_GIVEN = 8 };

/* Fill values that a user names: kept exactly, and no part of the range. For f32 data they are
 * rounded to f32. */
enum { ZMPI_FILLS = 2 };
struct zmpi_fills {
    int count;
    double value[ZMPI_FILLS];
};

/* Variants of an encoder: huffman with books by CEAZ's approximate sort; interp's profile that
 * FLARE's hardware makes (format.md 1.6), and the one with Huffman codes (1.7). */
enum zmpi_variant {
    ZMPI_VARIANT_NONE,
    ZMPI_VARIANT_APPROXIMATE,
    ZMPI_VARIANT_FLARE,
    ZMPI_VARIANT_BOOKS
};

/* Who may have decoded parts of the data from streams of the same absolute bound: nobody; encoders
 * 1 and 2; those, and 3 in whole steps of its unit; any. */
enum zmpi_rewriting { ZMPI_NEW, ZMPI_REWRITTEN, ZMPI_REWRITTEN_BY_STEPS, ZMPI_REWRITTEN_BY_ANY };

/* One piece of work. Parameters are resolved: every device sees the same numbers. */

struct zmpi_job {
    struct zmpi_array array;
    struct zmpi_bound bound; /* as asked, goes into the header */
    double abs_bound;        /* 0: exact, +inf: none (pw_rel, whose bound is bound.value) */
    /* psnr: bounds that take abs_bound's place, one after the other, while the errors' root mean
     * square is over finer[1]. 0 0: there are none. */
    double finer[2];
    double top;  /* ratio: the largest bound that makes sense; abs_bound, 0 until then, is to be
                    found  below it (ratio.h). 0: it has been */
    double keep; /* elements with |x| >= keep are kept exactly, +inf: none */
    struct zmpi_fills fills; /* for the CPU alone (fills.h) */
    double unit; /* the data are likely multiples of it, which is the step then; 0: of none. For
                    the CPU alone (whole.h) */
    int encoder; /* as in the header: 1 fle, 2 huffman, 3 interp, which may take 2 */
    enum zmpi_variant variant;
    int threads;   /* >= 1 */
    unsigned axes; /* ZMPI_AXES_GIVEN and those along which to predict; 0: to be chosen (4.6) */
    uint64_t read; /* for speed alone: bytes that were just read, the data among them; or 0 */
    struct zmpi_interp_known *interp; /* what was chosen before (interp.h); NULL: nobody knows */
    /* Floats that are big-endian when they are decoded; src has them in this machine's order. For
     * the CPU alone. */
    bool big_endian;
    unsigned char rewritten; /* enum zmpi_rewriting. For the CPU alone */
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
/* The values that a user names, in a job that is lossy. Its range must be one without them. */
void zmpi_job_fills(struct zmpi_job *job, const struct zmpi_fills *fills);
/* Take the bound that keeps the promise whatever the errors are like, for data that will be coded
 * together with others. */
void zmpi_job_safe_bound(struct zmpi_job *job);

/* Must the range of the data be known: for the bound (rel, psnr), or to tell fill values? */
bool zmpi_bound_needs_range(const struct zmpi_bound *bound);

/*
 * zmpi_range_of by up to `threads` >= 1 threads, and only over values with |x| < threshold (0:
 * all). The result does not depend on the number of threads.
 */
void zmpi_range_scan(enum zmpi_type type, const void *src, size_t count, double threshold,
                     int threads, struct zmpi_range *range);
/* The same without the values that a user names. */
void zmpi_range_without(enum zmpi_type type, const void *src, size_t count, double threshold,
                        const struct zmpi_fills *fills, int threads, struct zmpi_range *range);

/* What a call is asked to do, as far as it decides who does it: `auto` goes by it. */
struct zmpi_work {
    size_t bytes; /* of the array */
    int encoder;  /* as in the header: 1 fle, 2 huffman, 3 interp */
    bool decompress;
};

/* An array that a device has taken, to compress it and to write the stream to a file. The structure
 * is the device's own. */
struct zmpi_write_request;

/* The result: first and last bytes, by which the caller tells whether the stream is in the file;
 * and the time in which the device worked for this process. */
#define ZMPI_CODED_HEAD 80
#define ZMPI_CODED_TAIL 8
struct zmpi_coded {
    size_t size;
    unsigned char head[ZMPI_CODED_HEAD], tail[ZMPI_CODED_TAIL];
    double seconds;
};

/*
 * Write-through: the device compresses and writes, the caller says where once it knows the size.
 * If the device fails, the caller does the work from the data, which the device keeps until
 * `drop`. Failures: ZMPI_ERR_UNSUPPORTED, there is no memory for this array; ZMPI_ERR_IO, the
 * file cannot be written there; else the device is broken. From any thread, one at a time for
 * each array.
 */
struct zmpi_device_writer {
    /* Copies the array and returns. The file is a container, known by its path and by the id in its
     * header. NULL: not taken. */
    struct zmpi_write_request *(*submit)(const struct zmpi_job *job, const void *src,
                                         const char *path, const unsigned char id[16]);
    /* Waits until the array is compressed. */
    enum zmpi_status (*coded)(struct zmpi_write_request *h, struct zmpi_coded *coded);
    /* Writes a record's head, the stream and zeros up to a multiple of 8 to `offset`; does not
     * wait. */
    void (*write)(struct zmpi_write_request *h, uint64_t offset, const void *head,
                  size_t head_size);
    /* Waits until the device has written them. *seconds: the device's time, as above. */
    enum zmpi_status (*written)(struct zmpi_write_request *h, double *seconds);
    /* Would the next call return without waiting? */
    bool (*ready)(const struct zmpi_write_request *h);
    const void *(*data)(const struct zmpi_write_request *h);
    void (*drop)(struct zmpi_write_request *h);
};

struct zmpi_device {
    size_t size;       /* sizeof(struct zmpi_device): set first, checked first */
    unsigned abi;      /* ZMPI_DEVICE_ABI */
    unsigned memory;   /* mask of enum zmpi_memory that compress and decompress accept */
    unsigned encoders; /* mask of 1 << enum zmpi_encoder that compress and decompress have */
    const char *name;  /* "cpu", "cuda", ... */
    /* NULL if usable now, else a static text saying what is missing. May be slow the first time. */
    const char *(*probe)(void);
    /* Estimated seconds, by one of the device's encoders; used by `auto`, before the probe. */
    double (*cost)(const struct zmpi_work *work);
    enum zmpi_status (*compress)(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size);
    /* need: see zmpi_stream_decode; NULL for all. What is damaged is an error. */
    enum zmpi_status (*decompress)(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   const unsigned char *need, int threads);
    /* Why this thread's last call of the device failed, for the log; a static text or the thread's
     * own. NULL: the status says it. */
    const char *(*problem)(void);
    const struct zmpi_device_writer *writer; /* NULL: it writes no files */

    /*
     * The rest but prefer and give_all, which any device may have, is for devices with memory of
     * their own (ZMPI_MEMORY_GPU), which have all of it; NULL in others. compress takes src,
     * decompress dst in either memory; everything else is in the host's.
     */
    /* Is the address in this device's memory? Called for every buffer, before the probe too: a
     * device that nobody has started holds none. */
    enum zmpi_memory (*where)(const void *address);
    /* Copies between any two buffers that do not overlap; complete when it returns. */
    enum zmpi_status (*copy)(void *dst, const void *src, const struct zmpi_box *box);
    /* zmpi_range_scan of an array in the device's memory. */
    enum zmpi_status (*range)(enum zmpi_type type, const void *src, size_t count, double threshold,
                              struct zmpi_range *range);
    /* Memory of the device that holds `beside`, NULL if there is none; kept when it is given back,
     * so that the next call gets it at once. */
    void *(*take)(const void *beside, size_t bytes);
    void (*give)(void *memory);
    /* Which of several devices takes host buffers (modulo their number) if the program uses none.
     */
    void (*prefer)(unsigned number);
    /* Frees what is kept; the next call allocates it again. */
    void (*give_all)(void);
};

/*
 * The device called `name`, or for "auto" the best one that has the work's encoder (data or values
 * in host memory; ZMPI_LOG=info says why when that changes). work: NULL to ask whether there is one
 * of that name; for "auto" that is the CPU. Opens plug-ins on first use; for "auto" it starts none
 * that would not be the best. NULL if there is none of that name or it does not work; then *why
 * (never NULL on failure) says what is missing. Never unloaded; thread-safe.
 */
const struct zmpi_device *zmpi_device_find(const char *name, const struct zmpi_work *work,
                                           const char **why);

/* The built-in device. */
const struct zmpi_device *zmpi_device_cpu(void);
/* As zmpi_stream_decode, by a device; its time enters the device's cost. */
struct zmpi_stream;
enum zmpi_status zmpi_cpu_decode(const struct zmpi_stream *s, const unsigned char *need,
                                 int threads, void *dst);
/* The device that codes by this encoder: this one, or the CPU for encoders that devices do not
 * have. */
const struct zmpi_device *zmpi_device_for(const struct zmpi_device *device, int encoder);

/* The device in whose memory `address` is, NULL for the host's. Where zmpi_device_find has opened
 * no plug-in that has memory it is the host's: one load. */
const struct zmpi_device *zmpi_device_holding(const void *address);

/* Copies `bytes` between any memories; holder: the device of the one that is not the host's, or
 * NULL. */
enum zmpi_status zmpi_device_move(const struct zmpi_device *holder, void *dst, const void *src,
                                  size_t bytes);

/* The axes along which the array will be predicted (docs/format.md 4.6), as in a chunk's head: the
 * job's, or else chosen from the data, in the host's memory. */
unsigned zmpi_axes_choose(const struct zmpi_job *job, const void *src);

/* The number of this process among those of its machine, for devices that work for one each. Before
 * other threads ask for devices. */
void zmpi_device_prefer(unsigned number);
/* No call of a device will follow soon: devices free what they keep. */
void zmpi_device_give_all(void);

/* Call f for every device known (plug-ins included) with its probe's answer. */
void zmpi_device_each(void (*f)(const struct zmpi_device *device, const char *missing,
                                void *context),
                      void *context);

#endif
