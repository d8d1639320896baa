/* compress.h - what the files of `zmpi compress` share. */
#ifndef ZMPI_TOOL_COMPRESS_H
#define ZMPI_TOOL_COMPRESS_H

#include "bound/ratio.h"
#include "device/offload.h"
#include "judge/components.h"
#include "tool.h"

struct tool_work {
    struct zmpi_options options;
    enum zmpi_type type;
    struct zmpi_bound bound;
    bool bound_given, verbose, looks_told;
    int encoder; /* 0: not given */
    enum zmpi_variant variant;
    size_t shape[3];  /* of one component; 0 0 0: not given */
    bool shape_known; /* from -d, or from the file's name */
    struct zmpi_offload offload;
    struct tool_input in;
    struct tool_output out;
    struct zmpi_header header;
    struct zmpi_range range[ZMPI_COMPONENTS_MOST]; /* of each component */
    struct zmpi_fills fills[ZMPI_COMPONENTS_MOST];
    struct zmpi_container container; /* the records that were written so far */
    double least_bound, most_bound;  /* absolute, of all records */
    double coded;                    /* bytes of the records' streams */
    double share;                    /* the largest bound, as a part of its component's range */
    struct zmpi_ratio_search search; /* the bounds of one ratio for several components */
    int place[ZMPI_COMPONENTS_MOST]; /* by which each was coded before */
};

/* compress_look.c: what the field is; messages on failure. */
/* How many components there are: as set, else 1 until the data were examined. Each has records of
 * its own. */
int tool_components(const struct tool_work *w);
/* Without --components: finds them in the data, one read's worth at a time. */
int tool_find_components(struct tool_work *w);
/* Without -d: finds a component's shape in the same way. */
int tool_find_shape(struct tool_work *w);
/* Finds the range of each component. */
int tool_find_ranges(struct tool_work *w);
/* Where component c begins. Interleaved components begin with the file. */
uint64_t tool_component_begin(const struct tool_work *w, int c);
/* Reads *n bytes of points at `at` to buffer. If component c is interleaved, only its elements stay
 * there, and *n becomes their bytes. rest: memory for everything that is read. */
int tool_read_component(struct tool_work *w, int c, uint64_t at, unsigned char *buffer,
                        unsigned char *rest, size_t *n);
/* Refuses data that a bound would destroy: numbers of which every byte matters, and data of another
 * type than -t names. */
int tool_check_data(struct tool_work *w, const unsigned char *input, size_t bytes);

/* compress_ratio.c */
/* Have several components one ratio together? */
bool tool_has_one_ratio(const struct tool_work *w);
/* Then: finds the bounds of one piece, a record of each component, `at` bytes behind the beginning
 * of each. Message on failure. */
int tool_search_ratio(struct tool_work *w, uint64_t at, const struct zmpi_array *array);
/* Makes the job of a component, with the bound that was found. */
enum zmpi_status tool_job(struct tool_work *w, const struct zmpi_array *array, int c,
                          struct zmpi_job *job);

#endif
