/*
 * zmpi-perf: file access and collective operations of MPI, plain and through zmpi in turns.
 * perf.c holds the measurement, perf_options.c the command line, perf_data.c the data, perf_check.c
 * their verification, perf_file.c and perf_collective.c the operations, perf_library.c what
 * libzmpi.so is asked for, perf_results.c and perf_json.c what is printed.
 */
#ifndef PERF_H
#define PERF_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- perf_options.c ---- */

enum { PERF_LIST = 16, PERF_VARIANTS = 64, PERF_COMPONENTS = 16 };

/* Words separated by commas. */
struct perf_list {
    int count;
    char *word[PERF_LIST];
};

struct perf_options {
    struct perf_list operations, bounds, modes, codecs, devices;
    struct perf_list notes; /* NAME=VALUE */
    const char *field;      /* NULL: generated */
    const char *dims, *type;
    const char *directory, *json;
    size_t bytes; /* of one rank */
    int repetitions, warmups;
    int components; /* 0: not said */
    bool sync, plain, self_test;
};

/* Exits with status 2 and a message if the arguments are wrong. */
void perf_options_parse(int argc, char **argv, struct perf_options *o);

/* ---- perf_data.c, perf_check.c: what is moved, and whether it arrived ---- */

/*
 * The data of all ranks lie one behind the other in one long array, which is the field again and
 * again along its slowest extent: element e is field[e % elements]. Any rank knows the data of any
 * other, so that verification needs no messages.
 *
 * Components take turns, the same number of each in every slice: element e is one of component
 * e % components, and has its own range, limit and errors. Arrays of ranges, limits and errors have
 * an entry for each.
 */
struct perf_data {
    unsigned char *field;
    size_t elements;  /* of the field */
    size_t extent[3]; /* of the field, as far as it repeats: [1] x [2] is one slice */
    size_t width;     /* bytes of an element */
    bool is_double;
    MPI_Datatype type;
    char name[256];
    int rank, ranks;
    int components; /* 1: one variable */
    size_t slices;  /* of each rank's block */
    size_t block;   /* its elements */
};

void perf_data_make(struct perf_data *d, const struct perf_options *o);
void perf_data_free(struct perf_data *d);
/* Elements [first, first + count) of the long array. */
void perf_data_fill(const struct perf_data *d, void *dst, size_t first, size_t count);

struct perf_range {
    double min, max;
};
void perf_ranges_clear(struct perf_range r[PERF_COMPONENTS]);
double perf_data_value(const struct perf_data *d, const void *array, size_t i);
/* The part of [first, first + count) that lies in the field without a break: where, and how much.
 */
size_t perf_data_stretch(const struct perf_data *d, size_t first, size_t count, size_t *at);
/* Does it count for the range? */
bool perf_value_counts(double x);
/* Widens r[component] by the finite values that are not fill values among these elements. */
void perf_data_range(const struct perf_data *d, size_t first, size_t count,
                     struct perf_range r[PERF_COMPONENTS]);

/* How far values may be from what was sent: all 0: to the bit. */
struct perf_limit {
    double abs;      /* each */
    double relative; /* each, as a part of itself */
    double rmse;     /* the root mean square of those that count for the range */
};

/* What verification found. */
struct perf_check {
    double largest[PERF_COMPONENTS]; /* error, so far */
    bool failed;
    size_t element;                  /* the first that failed, of the long array */
    double error;                    /* of that one */
    double squares[PERF_COMPONENTS]; /* sum over errors */
    size_t counted[PERF_COMPONENTS]; /* values that count for the range */
};
/* Compares with what these elements should be. */
void perf_data_check(const struct perf_data *d, const void *got, size_t first, size_t count,
                     const struct perf_limit limit[PERF_COMPONENTS], struct perf_check *check);
/* Makes one of `count` elements, which are right, wrong by at least twice what is allowed. */
void perf_data_corrupt(const struct perf_data *d, void *got, size_t count,
                       const struct perf_limit limit[PERF_COMPONENTS]);

/* ---- variants: plain, and each combination of settings ---- */

struct perf_variant {
    const char *bound, *mode, *codec, *device; /* NULL: plain */
    bool first_mode;                           /* files know no modes: they take this one */
    int number;
    MPI_Comm comm;
    char label[160], file_label[128]; /* the second without the mode */
};

/* What the variant's bound allows components of these ranges; found: the absolute bound, the
 * largest of all components, that zmpi says a ratio took. */
void perf_limits(const struct perf_variant *v, const struct perf_range range[PERF_COMPONENTS],
                 double found, struct perf_limit limit[PERF_COMPONENTS]);
bool perf_bound_is_ratio(const struct perf_variant *v);
/* Is this a bound that can be verified? */
bool perf_bound_known(const char *bound);

/* ---- one repetition ---- */

/* What one rank did; plain doubles, since they travel. */
struct perf_part {
    double seconds;
    double scan, compress, decode;
    double raw, stored;              /* bytes of compressed messages or records, before and after */
    double compressed;               /* 1: something was */
    double coded;                    /* bytes that this rank compressed */
    double decoded;                  /* and decoded */
    double largest[PERF_COMPONENTS]; /* errors */
    double bound;                    /* absolute, that a ratio took */
};

enum { PERF_PART_DOUBLES = sizeof(struct perf_part) / sizeof(double) };

/* Everything an operation needs. */
struct perf_run {
    const struct perf_options *options;
    const struct perf_data *data;
    const struct perf_variant *variant;
    char path[4096]; /* file operations */
    unsigned char *send, *recv;
    struct perf_check check;
    struct perf_part written; /* when the file was made that is read */
    bool warmup;
};

struct perf_operation {
    const char *name;
    /* Before the first repetition of each variant, and after the last. May be NULL. */
    void (*prepare)(struct perf_run *r, const struct perf_operation *op);
    void (*finish)(struct perf_run *r, const struct perf_operation *op);
    /* One repetition: barrier, the timed part, verification. */
    void (*repeat)(struct perf_run *r, const struct perf_operation *op, struct perf_part *part);
    /* Buffers of this rank, in elements. */
    size_t (*send_elements)(const struct perf_data *d);
    size_t (*recv_elements)(const struct perf_data *d);
    /* Bytes moved by all ranks: the time divided by these is the rate. */
    double (*bytes)(const struct perf_data *d);
    bool is_file, is_collective_file;
    const char *collectives; /* in zmpi's option of this name */
};

/* NULL if there is none of this name. */
const struct perf_operation *perf_file_operation(const char *name);
const struct perf_operation *perf_collective_operation(const char *name);
const char *perf_file_names(void);
const char *perf_collective_names(void);

const char *perf_label(const struct perf_operation *op, const struct perf_variant *v);

/* Aborts the job with a message if verification failed on this rank, or if it did not although a
 * value of the `count` that arrived was falsified. */
void perf_verdict(const struct perf_run *r, const struct perf_operation *op, size_t count,
                  const struct perf_limit limit[PERF_COMPONENTS]);

/* ---- perf_library.c ---- */

/* Settings in the environment, before MPI_Init: names of files that are compressed, no report. */
void perf_library_prepare(const struct perf_options *o);
/* Is libzmpi.so in front of MPI? */
bool perf_library_there(void);
const char *perf_library_version(void);
void perf_library_comm(const struct perf_variant *v, const char *option, const char *value);
bool perf_library_comm_part(MPI_Comm comm, struct perf_part *part);
bool perf_library_file_part(MPI_File file, struct perf_part *part);
bool perf_library_is_container(MPI_File file);
/* Suffixes of files that are compressed and that are not. */
extern const char perf_suffix[], perf_suffix_plain[];

/* ---- perf_results.c, perf_json.c: on rank 0 ---- */

struct perf_breakdown {
    double scan, compress, decode, rest;
};

/* One operation and variant. */
struct perf_result {
    const struct perf_operation *operation;
    const struct perf_variant *variant;
    double *seconds; /* of each repetition: those of the slowest rank */
    int count;
    double bytes, ratio;
    double median, cov, speedup;                  /* against plain */
    double compressed;                            /* repetitions that were, in part at least */
    double largest[PERF_COMPONENTS];              /* errors */
    struct perf_breakdown busiest, mean;          /* the rank that coded longest; all */
    double compress_rate, decode_rate, scan_rate; /* bytes a second, the best of any rank; 0 */
};

/* Of all components. */
double perf_largest(const double largest[PERF_COMPONENTS]);
/* parts: [repetition][rank] */
void perf_result_make(struct perf_result *result, const struct perf_part *parts, int ranks);
void perf_table_head(void);
/* And one for each component, if there are several. */
void perf_table_row(const struct perf_result *result, const struct perf_data *d);

struct perf_machine {
    char cpu[256], mpi[256];
    char date[32]; /* when measuring ended: UTC, as ISO 8601 has it */
    int cores, nodes;
    double load;
};

void perf_machine_find(struct perf_machine *m); /* collective */
void perf_json_write(const struct perf_options *o, const struct perf_data *d,
                     const struct perf_machine *m, const struct perf_result *results, int count);

#endif
