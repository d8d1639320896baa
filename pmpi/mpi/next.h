/* next.h - the MPI library that our wrappers call: found late, called through a table (see next.c).
 */
#ifndef ZMPI_NEXT_H
#define ZMPI_NEXT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "next_mpi.h"
#include "wrappers.h"

/* Names of what znext holds (next_mpi.h); functions by their PMPI_ name. */
extern const char *const znext_name[ZNEXT_COUNT];
/* The functions we wrap, by their MPI_ name, and the MPI library's own PMPI_ function for each. */
extern const char *const zwrapped_name[ZWRAPPED_COUNT];
extern void *zreal[ZWRAPPED_COUNT];

extern atomic_bool znext_found;
void znext_search(void);

/* Before anything else in every function that a program can call. Ends the program if there is no
 * MPI library, or another one than we were built with. */
static inline void znext_find(void)
{
    if (__builtin_expect(!atomic_load_explicit(&znext_found, memory_order_acquire), 0))
        znext_search();
}

/* The function behind us, PMPI_x for MPI_x, that newer MPIs have; NULL: this one has it not. */
void *znext_function(const char *name);

/* Does the code at this address belong to us, to the MPI library or to a tool behind us? */
bool znext_is_behind(const void *address);

#endif
