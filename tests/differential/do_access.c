/* do_access.c - lines that read and write, and those that complete what others began. */
#include "execute.h"

static void one_access(const struct step *x, bool simple)
{
    const struct call *c = &calls[line_arg(x->l, 1)];
    struct flight *f = &my.split[x->id], once;
    if (c->how == BLOCKING || c->how == COLLECTIVE)
        f = &once;
    else if (c->how != SPLIT)
        for (f = my.flight[x->id]; f->used; f++) /* the rules leave one free */
            ;
    flight_start(f, x->m, x->l, &x->move[x->s->rank], x->s->rank, x->file, sides(x->h->file),
                 simple);
    if (f == &once)
        flight_finish(f, x->s->sabotage);
}

void do_access(const struct step *x)
{
    const struct call *c = &calls[line_arg(x->l, 1)];
    const bool turns = c->where == SHARED && !call_is_collective(c);
    const enum bearing bearing = quirks_bear_access(x->m, x->l, x->move);
    if (bearing == CANNOT)
        leave_plain(x);
    const bool simple = sides(x->h->file) == 2 && bearing == SIMPLY;
    x->s->totals.accesses++;
    if (c->where == SHARED)
        meet(x);
    for (int r = 0; r < x->s->ranks && turns; r++) {
        if (!x->move[r].takes_part)
            continue;
        if (r == x->s->rank)
            one_access(x, simple);
        meet(x); /* the next rank goes on where this one left the pointer */
    }
    if (!turns && x->move[x->s->rank].takes_part)
        one_access(x, simple);
    if (x->h->atomic)
        barrier(); /* what was written is there for all */
    else if (c->where == SHARED)
        meet(x);
}

static int end_split(int which, MPI_File f, void *buf, MPI_Status *status)
{
    switch (which) {
    case 4:
        return MPI_File_write_at_all_end(f, buf, status);
    case 9:
        return MPI_File_write_all_end(f, buf, status);
    case 13:
        return MPI_File_write_ordered_end(f, buf, status);
    case 18:
        return MPI_File_read_at_all_end(f, buf, status);
    case 23:
        return MPI_File_read_all_end(f, buf, status);
    default:
        return MPI_File_read_ordered_end(f, buf, status);
    }
}

void do_end(const struct step *x)
{
    struct flight *f = &my.split[x->id];
    if (!x->member)
        return;
    for (int side = 0; side < (f->simple ? first_plain() : f->sides); side++) {
        void *buf = f->flags & BOTTOM ? MPI_BOTTOM : f->buffer[side] + f->origin;
        int rc = end_split(x->h->split - 1, x->file[side], buf,
                           f->flags & IGNORE_STATUS ? MPI_STATUS_IGNORE : &f->status[side]);
        f->rc[side] = f->rc[side] ? f->rc[side] : rc;
    }
    flight_finish(f, x->s->sabotage);
}

void do_complete(const struct step *x)
{
    if (x->member)
        flights_complete(my.flight[x->id], FLIGHTS, (int)line_arg(x->l, 1) + x->s->rank,
                         x->s->sabotage);
}
