/*
 * options.h - every setting, in one table: {name, type, default, environment, info key, help}. It
 * feeds the parser of the environment, of MPI_Info hints, of the rules file, and `zmpi options`.
 */
#ifndef ZMPI_OPTIONS_H
#define ZMPI_OPTIONS_H

#include "base/log.h"
#include "base/text.h"
#include "device.h"
#include <stdbool.h>

/* The source of a value: a more specific source is stronger. A stronger source is never overwritten
 * by a weaker one. */
enum zmpi_option_source {
    ZMPI_FROM_DEFAULT,
    ZMPI_FROM_SITE,  /* the site's file, whatever the section */
    ZMPI_FROM_RULES, /* section [*] */
    ZMPI_FROM_ENVIRONMENT,
    ZMPI_FROM_NAMED_RULES, /* sections that name files or communicators */
    ZMPI_FROM_CALL,        /* zmpi.h */
    ZMPI_FROM_HINT         /* MPI_Info: zmpi_option_set */
};

#define ZMPI_OPTION_COUNT 31

struct zmpi_rules; /* the parsed rules file */

enum zmpi_collective_mode {
    ZMPI_COLLECTIVE_AUTO,     /* lossy data by a fixed rule, all others as measured */
    ZMPI_COLLECTIVE_MEASURED, /* lossy data as measured, too */
    ZMPI_COLLECTIVE_ALWAYS,
    ZMPI_COLLECTIVE_NEVER
};

/* Files that HDF5 writes. */
enum zmpi_hdf5_mode {
    ZMPI_HDF5_OFF,       /* bytes, as any others */
    ZMPI_HDF5_CONTAINER, /* containers, in which its datasets of floats are lossy */
    ZMPI_HDF5_FILTER     /* HDF5's own files, whose datasets of floats go through zmpi's filter */
};

/* The type that data may have that come as bytes, or that are not what their datatype says. */
enum zmpi_elements {
    ZMPI_ELEMENTS_DATATYPE,
    ZMPI_ELEMENTS_AUTO,
    ZMPI_ELEMENTS_F32,
    ZMPI_ELEMENTS_F64,
    ZMPI_ELEMENTS_F32_BIG, /* big-endian */
    ZMPI_ELEMENTS_F64_BIG
};

struct zmpi_options {
    bool bound_set; /* error_bound given at all: else nothing is converted */
    struct zmpi_bound bound;
    double threshold; /* values with |x| >= threshold are kept exactly; 0: none but fill values */
    struct zmpi_fills fill; /* values that are kept exactly, and have no part in the range */
    char codec[24]; /* fle, huffman, huffman:approximate, interp, interp:huffman, interp:flare, auto
                     */
    char device[32];         /* auto, cpu, ... */
    char files[1024];        /* comma-separated globs of files that may become containers; "!glob"
                                excludes; last match wins */
    int hdf5;                /* enum zmpi_hdf5_mode */
    double least_ratio;      /* of files that stay compressed after close; 0: any */
    int threads;             /* 0: automatic */
    char collectives[256];   /* comma-separated: gather, scatter, ..., or none */
    int collective_mode;     /* enum zmpi_collective_mode */
    size_t collective_min;   /* bytes from one rank to another below which they are sent raw */
    size_t collective_piece; /* raw bytes of one message */
    size_t staging;          /* bytes an independent writer may hold per file */
    size_t adopt_below;      /* bytes of a plain file that are copied into a container */
    int exact_below;   /* calls of up to this many values are exact; 0: no call is exact for that */
    int components;    /* N interleaved ones; -N: N blocks; 0: as the data look; 1: off */
    int element_type;  /* enum zmpi_elements */
    size_t shape[3];   /* zmpi_shape hint: extents of one rank's buffer, 0: unknown */
    char report[1024]; /* "", or a JSON file's path */
    bool report_text;  /* print the text report at finalize */
    char config[1024]; /* rules file */
    enum zmpi_log_level log;
    char plugin_path[1024]; /* directories searched for plug-ins first, separated by ':' */
    char nic[1024];         /* of the SmartNIC's daemon; its plug-in reads the environment itself */
    bool view;              /* programs of MPI get the logical bytes of containers they open */
    size_t view_max;        /* bytes of memory for that; 0: a share of the machine's */
    bool dry_run;           /* nothing becomes a container; samples of what would be are coded */
    bool trim;              /* space of overwritten data is given back at close */
    bool nic_write;         /* that daemon writes what it has compressed */
    char disable[64];       /* instruction sets not to be used; zmpi_kernels() reads the environment
                               itself */
    char site[256];         /* the site's file, where there is one */
    char site_message[256]; /* the first error in it, or "" */
    char never_files[1024]; /* globs of files that the site wants to be left alone */
    char never_programs[1024];               /* and of programs */
    bool never;                              /* this is one of them: nothing is compressed */
    bool comm_rules;                         /* the rules file has sections for communicators */
    unsigned char source[ZMPI_OPTION_COUNT]; /* enum zmpi_option_source, in table order */
    struct zmpi_rules *rules; /* read by zmpi_options_load; shared by all copies of the struct */
};

/*
 * Set one option by its name ("error_bound"), as a hint does. `source` names the setting in
 * messages ("hint zmpi_error_bound"). On failure o is unchanged and ZMPI_ERR_ARG comes with a
 * one-line message "SOURCE=VALUE: what is allowed" in message[256].
 */
enum zmpi_status zmpi_option_set(struct zmpi_options *o, const char *name, const char *value,
                                 const char *source, char message[256]);
/* Does a key begin like a hint of zmpi's: zmpi_x, or ZMPI_X, which is the same? */
bool zmpi_hint_is_ours(const char *key);
/* False for a key that begins like a hint and is none, with a message and perhaps the hint that was
 * meant. */
bool zmpi_hint_is_known(const char *key, char message[256]);
/* May a call change this option, or did a hint, which is stronger, set it? */
bool zmpi_option_is_hint(const struct zmpi_options *o, const char *name);
/* A call of zmpi.h has set it. */
void zmpi_option_called(struct zmpi_options *o, const char *name);
/* "default", "environment", "rule", ... of option i. */
const char *zmpi_option_from(const struct zmpi_options *o, size_t i);
/* The file that this value is from, or NULL. */
const char *zmpi_option_file(const struct zmpi_options *o, size_t i);
/* Does o, made from `job`'s for one file, have another value for option i than was set for the
 * whole job? */
bool zmpi_option_overrides(const struct zmpi_options *o, const struct zmpi_options *job, size_t i);
void zmpi_options_default(struct zmpi_options *o);
/*
 * Defaults, then the site's file, then the rules that apply to all files (section [*]), then ZMPI_*
 * of the environment.
 * A ZMPI_* variable whose name is close to a setting's is an error. The whole rules file is checked
 * here. On success the log level is in force. A setuid program does not read the environment.
 */
enum zmpi_status zmpi_options_load(struct zmpi_options *o, char message[256]);
/* True, with a one-line message, if the environment has another ZMPI_* variable that is no setting
 * (ZMPI_ROOT of a module system, say). */
bool zmpi_options_unknown(char message[256]);
/* Apply the rules whose glob matches `path` to o (a copy of what zmpi_options_load made). Cannot
 * fail today: the rules were checked. */
enum zmpi_status zmpi_options_for_file(struct zmpi_options *o, const char *path, char message[256]);
/* The same for a communicator: the rules of sections [comm:GLOB] whose glob matches its name. */
enum zmpi_status zmpi_options_for_comm(struct zmpi_options *o, const char *name, char message[256]);
/* The bound that a rule sets for a write call of this file, counted from 1; 0: is there a rule for
 * any of its calls? */
bool zmpi_rules_call(const struct zmpi_options *o, const char *path, unsigned call,
                     struct zmpi_bound *bound);
/* The next rule from *i on, 0 at first, for calls of this file, calls[0] to calls[1]; later rules
 * are stronger. False: there is none. */
bool zmpi_rules_calls(const struct zmpi_options *o, const char *path, size_t *i, unsigned calls[2],
                      struct zmpi_bound *bound);
/* The bound that a rule sets for a dataset of this name; NULL: is there a rule for any? */
bool zmpi_rules_dataset(const struct zmpi_options *o, const char *name, struct zmpi_bound *bound);
/* Packs all rules as bytes, for another process of the same build. to NULL: returns the number of
 * bytes. */
size_t zmpi_rules_pack(const struct zmpi_options *o, void *to);
/* Replaces o's rules by these. False: no memory, and nothing has changed. */
bool zmpi_rules_unpack(struct zmpi_options *o, const void *from, size_t bytes);
/* Does a rule set this option, for whatever file? */
bool zmpi_rules_set(const struct zmpi_options *o, const char *name);
/* May this option be set for a single communicator? */
bool zmpi_option_concerns_comms(const char *name);
/* Is `name` in o->collectives? */
bool zmpi_options_collective(const struct zmpi_options *o, const char *name);
/* Free what zmpi_options_load allocated; every copy of o loses its rules. */
void zmpi_options_free(struct zmpi_options *o);
/* May this new file become a container? By o->files, and what the site never wants to. */
bool zmpi_options_file_matches(const struct zmpi_options *o, const char *path);

/* Iterate over the table: i = 0, 1, ... until NULL. */
struct zmpi_option_info {
    const char *name, *type, *default_value, *environment;
    const char *info_key; /* NULL: concerns the whole process, no MPI_Info hint */
    const char *help;
};
const struct zmpi_option_info *zmpi_option_info(size_t i);

/* The place in the table of the option of this name, which exists. */
size_t zmpi_option_index(const char *name);

/* The value in force of option i, written as it would be set; "" for an error bound or shape that
 * is not set. */
void zmpi_option_get(const struct zmpi_options *o, size_t i, char text[1024]);

#define ZMPI_ENCODER_NAMES                                                                         \
    "fle, huffman, huffman:approximate, interp, interp:huffman or interp:flare"
/* The encoder of that name, as in a stream's header, and a job's variant; 0 if there is none. */
int zmpi_encoder_parse(const char *name, enum zmpi_variant *variant);
const char *zmpi_encoder_name(int encoder);
/* o->codec; where nobody has set it and the bound is a ratio, huffman. */
const char *zmpi_options_codec(const struct zmpi_options *o);
/* The encoder of this codec; fle for auto, if nobody measures. */
int zmpi_options_encoder(const struct zmpi_options *o, enum zmpi_variant *variant);

/* "64K", "16M", "1G", "123": bytes, K = 1024. False if it is anything else or too large. */
bool zmpi_bytes_parse(const char *text, size_t *bytes);
/* A finite decimal number > 0. zmpi_threshold_format is the opposite, "" for 0. */
bool zmpi_threshold_parse(const char *text, double *threshold);
void zmpi_threshold_format(double threshold, char text[32]);
/* One or two decimal numbers, separated by ',', or none; NaN, which is exact anyway, may be one.
 * zmpi_fills_format is the opposite, "" for none. */
bool zmpi_fills_parse(const char *text, struct zmpi_fills *fills);
void zmpi_fills_format(const struct zmpi_fills *fills, char text[80]);
/* "NZxNYxNX", also with fewer extents (leading ones become 1) or more (leading ones are
 * multiplied). Each at least 1. */
bool zmpi_shape_parse(const char *text, size_t shape[3]);

#endif
