/* compress.h - what the files of `zmpi compress` share. */
#ifndef ZMPI_TOOL_COMPRESS_H
#define ZMPI_TOOL_COMPRESS_H

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
    bool shape_known; /* by -d, or by the name of the file */
    struct zmpi_offload offload;
    struct tool_input in;
    struct tool_output out;
    struct zmpi_header header;
    struct zmpi_range range[ZMPI_COMPONENTS_MOST]; /* of each component */
    struct zmpi_container container;               /* what was written so far */
    double least_bound, most_bound;                /* absolute, of all records */
    double coded;                                  /* bytes of their streams */
};

/* compress_look.c: what the field is; messages on failure. */
/* How many components there are: as set, else 1 until the data were looked at. Each is a record of
 * its own. */
int tool_components(const struct tool_work *w);
/* Without --components: as the data look, by what is read at a time. */
int tool_find_components(struct tool_work *w);
/* Without -d: the same of a component's shape. */
int tool_find_shape(struct tool_work *w);
/* The range of each component. */
int tool_find_ranges(struct tool_work *w);
/* Where component c begins: interleaved ones with the file. */
uint64_t tool_component_begin(const struct tool_work *w, int c);
/* *n bytes of points at `at` to buffer, of which component c alone is left if it is interleaved: *n
 * becomes its bytes. rest: room for all that is read. */
int tool_read_component(struct tool_work *w, int c, uint64_t at, unsigned char *buffer,
                        unsigned char *rest, size_t *n);
/* Numbers of which every byte matters are not for a bound, nor are data that -t does not name. */
int tool_check_data(struct tool_work *w, const unsigned char *input, size_t bytes);

#endif
