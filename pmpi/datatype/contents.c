/*
 * contents.c - how a datatype was made (MPI 4.1, 5.1.13).
 *
 * Types that calls of large counts made (MPI_Type_vector_c) tell it to MPI_Type_get_envelope_c and
 * MPI_Type_get_contents_c alone. These are looked up when the program runs: MPI libraries that have
 * them run with a libzmpi.so that was built with an older one's mpi.h.
 */
#include <pthread.h>
#include <stdlib.h>

#include "datatype/datatype.h"
#include "mpi/next.h"

/* The number of integers, addresses and types that a constructor got. */
struct envelope {
    MPI_Count integers, addresses, large, datatypes;
    int combiner;
};

static int (*envelope_c)(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *);
static int (*contents_c)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int *,
                         MPI_Aint *, MPI_Count *, MPI_Datatype *);

static void look_up(void)
{
    void *envelope = znext_function("PMPI_Type_get_envelope_c");
    void *contents = znext_function("PMPI_Type_get_contents_c");
    if (envelope && contents) {
        *(void **)&envelope_c = envelope;
        *(void **)&contents_c = contents;
    }
}

static int envelope_get(MPI_Datatype t, struct envelope *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_up);
    *e = (struct envelope){0};
    if (envelope_c)
        return envelope_c(t, &e->integers, &e->addresses, &e->large, &e->datatypes, &e->combiner);
    int integers, addresses, datatypes;
    int rc = PMPI_Type_get_envelope(t, &integers, &addresses, &datatypes, &e->combiner);
    if (!rc) {
        e->integers = integers;
        e->addresses = addresses;
        e->datatypes = datatypes;
    }
    return rc;
}

int ztype_combiner(MPI_Datatype t, int *combiner)
{
    struct envelope e;
    int rc = envelope_get(t, &e);
    *combiner = e.combiner;
    return rc;
}

bool ztype_is_predefined(MPI_Datatype t)
{
    int combiner;
    return ztype_combiner(t, &combiner) == MPI_SUCCESS &&
           (combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
            combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER);
}

/* ---- large counts in the places that the other calls' numbers have ---- */

/* How many integers stand in front of the large counts; those left stand behind them. */
static MPI_Count integers_before(const struct envelope *e)
{
    return e->combiner == MPI_COMBINER_SUBARRAY ? 1 : e->combiner == MPI_COMBINER_DARRAY ? 3 : 0;
}

/* How many of the large counts are what the other calls give as addresses: the last ones. */
static MPI_Count addresses_among(const struct envelope *e, const MPI_Count *large)
{
    switch (e->combiner) {
    case MPI_COMBINER_HVECTOR:
        return 1;
    case MPI_COMBINER_RESIZED:
        return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return large[0];
    }
    return 0;
}

static void arrange(struct zcontents *c, const struct envelope *e, const int *integer,
                    const MPI_Aint *address, const MPI_Count *large)
{
    const MPI_Count before = integers_before(e), moved = e->large ? addresses_among(e, large) : 0;
    const MPI_Count kept = e->large - moved;
    int64_t *to = c->integer;
    for (MPI_Count i = 0; i < e->integers && i < before; i++)
        *to++ = integer[i];
    for (MPI_Count i = 0; i < kept; i++)
        *to++ = large[i];
    for (MPI_Count i = before; i < e->integers; i++)
        *to++ = integer[i];
    to = c->address;
    for (MPI_Count i = 0; i < e->addresses; i++)
        *to++ = address[i];
    for (MPI_Count i = kept; i < e->large; i++)
        *to++ = large[i];
}

/* ---- constants among them ---- */

static void correct_order(int64_t *order)
{
    *order = *order == 0 ? MPI_ORDER_C : *order == 1 ? MPI_ORDER_FORTRAN : *order;
}

static void correct_distribution(int64_t *how, int64_t *argument)
{
    *how = *how == 0   ? MPI_DISTRIBUTE_BLOCK
           : *how == 1 ? MPI_DISTRIBUTE_CYCLIC
           : *how == 2 ? MPI_DISTRIBUTE_NONE
                       : *how;
    *argument = *argument == -1 ? MPI_DISTRIBUTE_DFLT_DARG : *argument;
}

/* Open MPI 6.0.0rc2 gives programs of the standard ABI the constants of its own mpi.h; no other
 * MPI's are the same numbers. */
static void correct_constants(struct zcontents *c)
{
    if (c->combiner == MPI_COMBINER_SUBARRAY)
        correct_order(&c->integer[1 + 3 * c->integer[0]]);
    if (c->combiner != MPI_COMBINER_DARRAY)
        return;
    const int64_t n = c->integer[2];
    for (int64_t i = 0; i < n; i++)
        correct_distribution(&c->integer[3 + n + i], &c->integer[3 + 2 * n + i]);
    correct_order(&c->integer[3 + 4 * n]);
}

/* ---- contents ---- */

static int call(MPI_Datatype t, const struct envelope *e, int *integer, MPI_Aint *address,
                MPI_Count *large, MPI_Datatype *datatype)
{
    if (contents_c)
        return contents_c(t, e->integers, e->addresses, e->large, e->datatypes, integer, address,
                          large, datatype);
    return PMPI_Type_get_contents(t, (int)e->integers, (int)e->addresses, (int)e->datatypes,
                                  integer, address, datatype);
}

int zcontents_get(MPI_Datatype t, struct zcontents *c)
{
    struct envelope e;
    int rc = envelope_get(t, &e);
    if (rc)
        return rc;
    const size_t integers = (size_t)e.integers, addresses = (size_t)e.addresses,
                 large_n = (size_t)e.large, datatypes = (size_t)e.datatypes;
    int *integer = calloc(integers + 1, sizeof *integer);
    MPI_Aint *address = calloc(addresses + 1, sizeof *address);
    MPI_Count *large = calloc(large_n + 1, sizeof *large);
    c->combiner = e.combiner;
    c->integer = calloc(integers + large_n + 1, sizeof *c->integer);
    c->address = calloc(addresses + large_n + 1, sizeof *c->address);
    c->datatype = calloc(datatypes + 1, sizeof *c->datatype);
    c->child = calloc(datatypes + 1, sizeof *c->child);
    if (!integer || !address || !large || !c->integer || !c->address || !c->datatype || !c->child) {
        rc = MPI_ERR_NO_MEM;
    } else {
        c->datatypes = datatypes;
        for (size_t i = 0; i < datatypes; i++)
            c->datatype[i] = MPI_DATATYPE_NULL;
        rc = call(t, &e, integer, address, large, c->datatype);
    }
    if (!rc) {
        arrange(c, &e, integer, address, large);
        correct_constants(c);
    }
    free(integer);
    free(address);
    free(large);
    return rc;
}

void zcontents_free(struct zcontents *c)
{
    for (size_t i = 0; i < c->datatypes; i++) {
        ztype_free(&c->child[i]);
        if (c->datatype[i] != MPI_DATATYPE_NULL && !ztype_is_predefined(c->datatype[i]))
            PMPI_Type_free(&c->datatype[i]);
    }
    free(c->integer);
    free(c->address);
    free(c->datatype);
    free(c->child);
}
