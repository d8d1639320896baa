/* bench.h - what the files of `zmpi bench` share. */
#ifndef ZMPI_BENCH_H
#define ZMPI_BENCH_H

#include "bound/ratio.h"
#include "judge/axes_known.h"
#include "layout/stream.h"
#include "tool/tool.h"

enum { BENCH_MOST_REPETITIONS = 31, BENCH_MOST_PEERS = 4, BENCH_PEER_REPETITIONS = 3 };

/* Seconds of each repetition of an operation. */
struct bench_times {
    int n;
    double seconds[BENCH_MOST_REPETITIONS];
};

/* What decompression returns, compared with the original. */
struct bench_quality {
    double max_error, max_relative, psnr; /* relative: to |x| */
};

/* One compressor on one array. */
struct bench_codec {
    const char *name;
    struct bench_times compress, decompress;
    size_t size;
    struct bench_quality quality;
};

struct bench_field {
    const char *name;
    struct zmpi_array array;
    size_t bytes;
    size_t copies; /* copies of the file, one behind the other */
    void *data;
};

struct bench_settings {
    enum zmpi_type type; /* 0: from the file's name, else f32 */
    size_t shape[3];     /* 0 0 0: from the file's name, else one row */
    struct zmpi_bound bound;
    double threshold;
    struct zmpi_fills fill;
    int components; /* as in zmpi_options, at least 1 or -2; each is measured by itself */
    int encoder;
    enum zmpi_variant variant;
    int first_threads, last_threads;
    int repetitions;
    size_t size;
    bool json, verbose, peers;
    const struct zmpi_device *device;
};

/* All results of one field with one number of threads. Rates count uncompressed bytes. */
struct bench_result {
    const struct bench_field *field;
    const struct bench_settings *settings;
    struct zmpi_job job;
    struct zmpi_range range;
    struct bench_times copy, read, scan; /* memcpy; reading alone; finding the range */
    struct bench_times choice;           /* finding the axes: a part of compression */
    struct zmpi_axes_known known;        /* as in a simulation that writes step after step */
    unsigned axes;
    struct bench_codec zmpi;
    double abs_bound;        /* from the stream */
    struct zmpi_array piece; /* the part that fits in the second-level cache */
    size_t piece_bytes;      /* 0: not measured */
    struct bench_times piece_copy, piece_recall;
    struct bench_codec cached; /* zmpi on the piece */
    int peers;
    struct bench_codec peer[BENCH_MOST_PEERS];
};

/* bench_field.c */
/* Like malloc, on huge pages if the system gives them. It touches every page. */
void *bench_alloc(size_t size);
int bench_field_load(struct bench_field *f, const char *path, const struct bench_settings *s);
int bench_field_generate(struct bench_field *f, const struct bench_settings *s);

/* bench_measure.c: messages on failure. */
int bench_measure(struct bench_result *r, const struct bench_field *f,
                  const struct bench_settings *s, int threads);
double bench_median(const struct bench_times *t);
/* (slowest - fastest) / median */
double bench_fastest(const struct bench_times *t);
double bench_slowest(const struct bench_times *t);
double bench_spread(const struct bench_times *t);

/*
 * bench_peers.c: other compressors, which the tool was built with, on one thread. `best` is the
 * absolute bound, 0 for lossless; a compressor that cannot serve it is left out. Sizes are 0 on
 * failure.
 */
struct bench_peer {
    const char *name;
    bool lossy;
    size_t (*capacity)(const struct zmpi_array *array, double bound);
    size_t (*compress)(const struct zmpi_array *array, double bound, void *dst, size_t capacity,
                       void *src);
    bool (*decompress)(const struct zmpi_array *array, double bound, void *dst, void *src,
                       size_t size);
};
/* i = 0, 1, ... until NULL */
const struct bench_peer *bench_peer(int i);

/* bench_print.c */
void bench_print(const struct bench_result *r, bool head);
void bench_print_json(const struct bench_result *r);

#endif
