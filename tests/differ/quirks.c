/*
 * quirks.c - what the MPI libraries themselves cannot do. Where the plain file would crash or hang
 * the job it is accessed in a simpler way that means the same, or left alone from there on; the
 * compressed file never is. Seen
 * with Open MPI 4.1.4 and MPICH 4.0.2.
 */
#include "differ.h"

#include <stdlib.h>
#include <string.h>

enum component { ROMIO_OPENMPI, OMPIO, ROMIO_MPICH };

static enum component component(void)
{
#ifdef OPEN_MPI
    const char *io = getenv("OMPI_MCA_io");
    return io && strstr(io, "ompio") ? OMPIO : ROMIO_OPENMPI;
#else
    return ROMIO_MPICH;
#endif
}

/*
 * ROMIO's own list of a type's pieces goes wrong in many ways (loops without end, aborts, memory
 * that is overwritten) for nested holes, empty blocks, lower bounds, MPI_DOUBLE_INT and
 * MPI_SHORT_INT. None of them can do with a view without data.
 */
bool quirks_bear_view(const struct type *etype, const struct type *filetype)
{
    return filetype->size && (component() == OMPIO || (!etype->odd && !filetype->odd));
}

static bool bears_memory(const struct type *t, const struct move *v)
{
    /* Types without data: ROMIO writes for ever, OMPIO divides by zero. */
    if (t->size == 0 || (v->flags & BOTTOM && v->bytes == 0))
        return false;
    /* In memory ROMIO also wants to go upwards, from an address that is not 0. */
    return component() == OMPIO || (!t->odd && t->rising && !(v->flags & BOTTOM));
}

bool quirks_bear_access(const struct model *m, const struct line *l,
                        const struct move move[RANKS])
{
    const struct call *c = &calls[line_arg(l, 1)];
    const bool later = c->how != BLOCKING && c->how != COLLECTIVE;
    bool good = true;
    for (int r = 0; r < m->ranks; r++) {
        if (!move[r].takes_part)
            continue;
        good = good && bears_memory(type_get(&m->types, move[r].type), &move[r]);
        /* OMPIO: asynchronous reads behind the end of the file never complete. */
        if (component() == OMPIO && later && move[r].available < move[r].bytes)
            good = false;
    }
    /* ROMIO of Open MPI: nonblocking collectives call a null pointer. */
    if (component() == ROMIO_OPENMPI && c->how == NONBLOCKING_ALL)
        good = false;
    return good;
}

int quirks_simple_call(int which)
{
    const struct call *c = &calls[which];
    const enum how how = call_is_collective(c) ? COLLECTIVE : BLOCKING;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].writes == c->writes && calls[i].where == c->where && calls[i].how == how)
            return i;
    return which;
}

/* OMPIO takes these for good, and is lost afterwards. */
bool quirks_bear_error(enum wrong which)
{
    return component() != OMPIO || (which != WRONG_DISPLACEMENT && which != WRONG_PREALLOCATE);
}
