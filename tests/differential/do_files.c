/* do_files.c - lines that open, close, synchronise and resize files, and set their views. */
#include "execute.h"

#include <string.h>

void do_raw(const struct step *x)
{
    static unsigned char data[FILE_BYTES];
    const int64_t n = line_arg(x->l, 1);
    barrier();
    fill(data, n, line_arg(x->l, 2), 0);
    for (int side = 0; side < 2 && x->s->rank == 0; side++) {
        FILE *f = need(fopen(path_of(x->s, x->id, side), "wb"));
        if (fwrite(data, 1, (size_t)n, f) != (size_t)n)
            compare_fail("cannot write %s", path_of(x->s, x->id, side));
        fclose(f);
    }
    barrier();
}

void do_delete(const struct step *x)
{
    int rc[2] = {0, 0};
    barrier();
    for (int side = 0; side < sides(x->id) && x->s->rank == 0; side++)
        rc[side] = MPI_File_delete(path_of(x->s, x->id, side), MPI_INFO_NULL);
    compare_both("MPI_File_delete", error_class(rc[0]), error_class(rc[1]));
    barrier();
}

void do_open(const struct step *x)
{
    MPI_File *file = my.file[line_arg(x->l, 1)];
    const int ranks = (int)line_arg(x->l, 2) & ((1 << x->s->ranks) - 1);
    int rc[2] = {0, 0};
    char staging[32];
    MPI_Info info = MPI_INFO_NULL;
    if (line_arg(x->l, 4)) {
        MPI_Info_create(&info);
        snprintf(staging, sizeof staging, "%lld", (long long)line_arg(x->l, 4));
        MPI_Info_set(info, "zmpi_staging", staging);
    }
    barrier();
    for (int side = 0; side < sides(x->id) && ranks >> x->s->rank & 1; side++)
        rc[side] = MPI_File_open(x->s->comm[ranks], path_of(x->s, x->id, side),
                                 (int)line_arg(x->l, 3), info, &file[side]);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (model_open_works(x->m, x->l))
        compare_three("MPI_File_open", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
    else
        compare_both("MPI_File_open", error_class(rc[0]), error_class(rc[1]));
    barrier();
}

void do_close(const struct step *x)
{
    int rc[2] = {0, 0};
    barrier();
    for (int side = 0; side < sides(x->h->file) && x->member; side++)
        rc[side] = MPI_File_close(&x->file[side]);
    compare_both("MPI_File_close", error_class(rc[0]), error_class(rc[1]));
    barrier();
}

static void sync_one(const struct step *x, int64_t handle)
{
    const struct handle *h = &x->m->handle[handle];
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(h->file) && h->ranks >> x->s->rank & 1; side++)
        rc[side] = MPI_File_sync(my.file[handle][side]);
    compare_both("MPI_File_sync", error_class(rc[0]), error_class(rc[1]));
}

void do_sync_one(const struct step *x)
{
    sync_one(x, x->id);
}

void do_sync(const struct step *x)
{
    for (int turn = 0; turn < 2; turn++) {
        for (int h = 0; h < HANDLES; h++)
            if (x->m->handle[h].open && x->m->handle[h].file == x->id)
                sync_one(x, h);
        barrier();
    }
}

/* set_size or preallocate. */
void do_resize(const struct step *x)
{
    const int64_t bytes = line_arg(x->l, 1);
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(x->h->file) && x->member; side++) {
        if (x->l->what == LINE_PREALLOCATE && (side < first_plain() || quirks_bear_preallocate()))
            rc[side] = MPI_File_preallocate(x->file[side], bytes);
        else if (x->l->what == LINE_SET_SIZE || bytes > x->m->file[x->h->file].size)
            rc[side] = MPI_File_set_size(x->file[side], bytes);
    }
    compare_three("set_size or preallocate", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
}

void do_atomicity(const struct step *x)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(x->h->file) && x->member; side++)
        rc[side] = MPI_File_set_atomicity(x->file[side], line_arg(x->l, 1) != 0);
    compare_three("MPI_File_set_atomicity", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
    barrier();
}

/* ---- views ---- */

/* What is under way on the plain file must be over before it is closed. */
static void leave_handle(int handle, int side)
{
    for (int k = 0; k < FLIGHTS; k++) {
        struct flight *f = &my.flight[handle][k];
        if (f->used && f->request[side] != MPI_REQUEST_NULL)
            MPI_Wait(&f->request[side], &f->status[side]);
    }
    MPI_File_close(&my.file[handle][side]);
}

void leave_plain(const struct step *x)
{
    const int file = x->h->file;
    for (int h = 0; h < HANDLES; h++)
        if (!my.alone[file] && x->m->handle[h].open && x->m->handle[h].file == file &&
            x->m->handle[h].ranks >> x->s->rank & 1)
            for (int side = first_plain(); side < 2; side++)
                leave_handle(h, side);
    my.alone[file] = true;
    compare_files(x->h->raw, true);
}

bool view_is_borne(const struct model *m, const struct line *l)
{
    const struct handle *h = &m->handle[line_arg(l, 0)];
    bool good = true;
    for (int r = 0; r < m->ranks; r++)
        if (h->ranks >> r & 1)
            good = good && quirks_bear_view(type_get(&m->types, line_rank_arg(l, 1, 3, r, 1)),
                                            type_get(&m->types, line_rank_arg(l, 1, 3, r, 2)),
                                            h->amode & MPI_MODE_SEQUENTIAL);
    return good;
}

void do_view(const struct step *x)
{
    const int rank = x->s->rank;
    int rc[2] = {0, 0};
    int64_t at = line_rank_arg(x->l, 1, 3, rank, 0);
    if (x->h->amode & MPI_MODE_SEQUENTIAL)
        at = MPI_DISPLACEMENT_CURRENT;
    if (!view_is_borne(x->m, x->l))
        leave_plain(x);
    for (int side = 0; side < sides(x->h->file) && x->member; side++)
        rc[side] = MPI_File_set_view(
            x->file[side], at, type_mpi(&x->m->types, line_rank_arg(x->l, 1, 3, rank, 1)),
            type_mpi(&x->m->types, line_rank_arg(x->l, 1, 3, rank, 2)), "native", MPI_INFO_NULL);
    compare_three("MPI_File_set_view", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
}
