/*
 * quirks.c - what the MPI libraries themselves cannot do. Where the plain file would crash or hang
 * the job it is accessed in a simpler way that means the same, or left alone from there on; the
 * compressed file never is. Seen
 * with Open MPI 4.1.4 and MPICH 4.0.2.
 */
#include "differential.h"

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
 * that is overwritten) for nested holes, empty blocks, lower bounds, darrays of derived types,
 * MPI_DOUBLE_INT and MPI_SHORT_INT. None of them can do with a view without data.
 */
bool quirks_bear_view(const struct type *etype, const struct type *filetype, bool sequential)
{
    /* OMPIO takes MPI_DISPLACEMENT_CURRENT for a negative number. */
    if (component() == OMPIO)
        return filetype->size && !sequential;
    return filetype->size && !etype->odd && !filetype->odd;
}

static bool bears_memory(const struct type *t, const struct move *v)
{
    /* Types without data: ROMIO writes for ever, OMPIO divides by zero. */
    if (t->size == 0 || (v->flags & BOTTOM && v->bytes == 0))
        return false;
    /* In memory ROMIO also wants to go upwards, from an address that is not 0. */
    return component() == OMPIO || (!t->odd && t->rising && !(v->flags & BOTTOM));
}

enum bearing quirks_bear_access(const struct model *m, const struct line *l,
                                const struct move move[RANKS])
{
    const struct call *c = &calls[line_arg(l, 1)];
    const bool later = c->how != BLOCKING && c->how != COLLECTIVE;
    bool good = true, nothing = false;
    for (int r = 0; r < m->ranks; r++) {
        if (!move[r].takes_part)
            continue;
        good = good && bears_memory(type_get(&m->types, move[r].type), &move[r]);
        nothing = nothing || move[r].bytes == 0;
    }
    /* OMPIO: where a rank writes nothing at the shared pointer, or a call that moves nothing is
     * under way, ranks leave a later MPI_File_sync before the others have come. */
    if (component() == OMPIO && nothing && c->where == SHARED && call_is_collective(c))
        return CANNOT;
    if (component() == OMPIO && nothing && later)
        good = false;
    /* OMPIO: asynchronous reads behind the end of the file never complete, and the end of a plain
     * file is not always where it should be. */
    if (component() == OMPIO && later && !c->writes)
        good = false;
    /* Nonblocking collectives of Open MPI: ROMIO calls a null pointer, and with OMPIO it is again
     * MPI_File_sync that goes wrong. */
    if (component() != ROMIO_MPICH && c->how == NONBLOCKING_ALL)
        good = false;
    return good ? CAN : SIMPLY;
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

/* OMPIO: an open that fails by MPI_MODE_EXCL deletes the file if MPI_MODE_DELETE_ON_CLOSE is set.
 */
bool quirks_bear_open(const struct model *m, const struct line *l)
{
    const int amode = (int)line_arg(l, 3);
    return component() != OMPIO || !(amode & MPI_MODE_DELETE_ON_CLOSE) || model_open_works(m, l);
}

/* OMPIO: a process with a request under way, on whatever file, leaves MPI_File_sync with
 * MPI_ERR_OTHER at once, and others wait for it. */
bool quirks_bear_sync(const struct model *m)
{
    bool idle = true;
    for (int h = 0; h < HANDLES && component() == OMPIO; h++)
        for (int r = 0; r < m->ranks && m->handle[h].open; r++)
            idle = idle && !m->handle[h].split && m->handle[h].flights[r] == 0;
    return idle;
}

/* OMPIO: some ranks leave the next set_size before the others have come. */
bool quirks_bear_preallocate(void)
{
    return component() != OMPIO;
}
