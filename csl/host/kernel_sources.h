/* kernel_sources.h - the sources of csl/kernels, built in. CMake makes kernel_sources.c of them. */
#ifndef ZMPI_CSL_KERNEL_SOURCES_H
#define ZMPI_CSL_KERNEL_SOURCES_H

#include <stddef.h>

struct csl_kernel_source {
    const char *name, *text;
    size_t size;
};

extern const struct csl_kernel_source csl_kernel_sources[];
extern const size_t csl_kernel_source_count;

#endif
