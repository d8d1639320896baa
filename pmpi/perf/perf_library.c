/*
 * perf_library.c - what zmpi-perf asks libzmpi.so for. It is looked up when the program runs, so
 * that the same program runs without the library, too, and measures MPI alone.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "app_common.h"
#include "perf.h"
#include "zmpi.h"

const char perf_suffix[] = ".zmpi-perf", perf_suffix_plain[] = ".zmpi-perf-plain";

/* ISO C has no cast from a pointer to data to one to a function. */
#define LOOK_UP(pointer, name)                                                                     \
    do {                                                                                           \
        void *found = dlsym(RTLD_DEFAULT, name);                                                   \
        memcpy(&(pointer), &found, sizeof found);                                                  \
    } while (0)

void perf_library_prepare(const struct perf_options *o)
{
    /* What is plain must stay plain whatever else is set; a file for each repetition would make a
     * long report. */
    setenv("ZMPI_ERROR_BOUND", o->bounds.word[0], 1);
    setenv("ZMPI_COLLECTIVES", "none", 1);
    setenv("ZMPI_FILES", "*.zmpi-perf", 1);
    setenv("ZMPI_REPORT_TEXT", "off", 0);
}

bool perf_library_there(void)
{
    return dlsym(RTLD_DEFAULT, "zmpi_comm_set") != NULL;
}

const char *perf_library_version(void)
{
    const char *(*version)(void);
    LOOK_UP(version, "zmpi_version");
    return version != NULL ? version() : NULL;
}

void perf_library_comm(const struct perf_variant *v, const char *option, const char *value)
{
    int (*set)(MPI_Comm, const char *, const char *);
    int ranks;
    LOOK_UP(set, "zmpi_comm_set");
    MPI_Comm_size(v->comm, &ranks);
    if (set != NULL && ranks > 1 && set(v->comm, option, value) != MPI_SUCCESS) {
        app_fail_together("%s=%s: libzmpi.so refuses that (zmpi options tells what is allowed)",
                          option, value);
    }
}

bool perf_library_comm_part(MPI_Comm comm, struct perf_part *part)
{
    struct zmpi_comm_stats s;
    int (*get)(MPI_Comm, struct zmpi_comm_stats *);
    LOOK_UP(get, "zmpi_comm_get_stats");
    if (get == NULL || get(comm, &s) != MPI_SUCCESS) {
        return false;
    }
    part->scan = s.seconds_scan;
    part->compress = s.seconds_compress;
    part->decode = s.seconds_decode;
    part->raw = (double)s.bytes;
    part->stored = (double)s.bytes_sent;
    part->compressed = (double)s.compressed;
    part->bound = s.ratio_bound;
    return true;
}

bool perf_library_file_part(MPI_File file, struct perf_part *part)
{
    struct zmpi_file_stats s;
    int (*get)(MPI_File, struct zmpi_file_stats *);
    LOOK_UP(get, "zmpi_file_get_stats");
    if (get == NULL || get(file, &s) != MPI_SUCCESS) {
        return false;
    }
    part->scan = s.seconds_scan;
    part->compress = s.seconds_compress;
    part->decode = s.seconds_decode;
    part->raw = (double)s.bytes_written;
    part->stored = (double)s.bytes_stored;
    part->coded = (double)s.bytes_written;
    part->decoded = (double)s.bytes_read;
    part->compressed = 1;
    part->bound = s.ratio_bound;
    return true;
}

bool perf_library_is_container(MPI_File file)
{
    int (*is_container)(MPI_File);
    LOOK_UP(is_container, "zmpi_file_is_container");
    return is_container != NULL && is_container(file);
}
