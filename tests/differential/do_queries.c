/* do_queries.c - lines about positions and sizes, and calls that must fail. */
#include "execute.h"

#include <string.h>

static const struct view *view_of(const struct step *x)
{
    return &x->h->view[x->s->rank];
}

void do_seek(const struct step *x)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(x->h->file) && x->mine; side++)
        rc[side] = MPI_File_seek(x->file[side], line_rank_arg(x->l, 3, 1, x->s->rank, 0),
                                 (int)line_arg(x->l, 2));
    compare_three("MPI_File_seek", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
}

void do_seek_shared(const struct step *x)
{
    const int whence = (int)line_arg(x->l, 1);
    const MPI_Offset at = line_arg(x->l, 2);
    int rc[2] = {0, 0};
    meet(x);
    for (int side = 0; side < sides(x->h->file) && x->member; side++) {
        /* ROMIO miscounts the end of views with holes; ranks that find it negative leave, and the
         * others wait for them. */
        if (whence == MPI_SEEK_END && (side >= first_plain() || x->h->raw))
            rc[side] = MPI_File_seek_shared(
                x->file[side],
                at + view_end(x->m, view_of(x), model_size(x->m, (int)x->id, x->s->rank)),
                MPI_SEEK_SET);
        else
            rc[side] = MPI_File_seek_shared(x->file[side], at, whence);
    }
    compare_three("MPI_File_seek_shared", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
    meet(x);
}

void do_position(const struct step *x)
{
    MPI_Offset at[2] = {-1, -1}, byte[2] = {-1, -1};
    const int64_t etype = view_etype(x->m, view_of(x)), position = x->h->position[x->s->rank];
    if (!x->mine || position < 0)
        return;
    for (int side = 0; side < sides(x->h->file); side++) {
        MPI_File_get_position(x->file[side], &at[side]);
        MPI_File_get_byte_offset(x->file[side], position / etype, &byte[side]);
    }
    compare_three("MPI_File_get_position", at[0], at[1], position / etype);
    compare_three("MPI_File_get_byte_offset", byte[0], byte[1],
                  view_offset(x->m, view_of(x), position / etype * etype));
}

void do_position_shared(const struct step *x)
{
    MPI_Offset at[2] = {-1, -1};
    meet(x);
    for (int side = 0; side < sides(x->h->file) && x->mine; side++)
        MPI_File_get_position_shared(x->file[side], &at[side]);
    if (x->mine)
        compare_three("MPI_File_get_position_shared", at[0], at[1],
                      x->h->shared / view_etype(x->m, view_of(x)));
    meet(x);
}

void do_byte_offset(const struct step *x)
{
    const MPI_Offset at = line_arg(x->l, 2);
    MPI_Offset byte[2] = {-1, -1};
    for (int side = 0; side < sides(x->h->file) && x->mine; side++)
        MPI_File_get_byte_offset(x->file[side], at, &byte[side]);
    if (x->mine)
        compare_three("MPI_File_get_byte_offset", byte[0], byte[1],
                      view_offset(x->m, view_of(x), at * view_etype(x->m, view_of(x))));
}

void do_size(const struct step *x)
{
    MPI_Offset size[2] = {-1, -1};
    for (int side = 0; side < sides(x->h->file) && x->mine; side++)
        MPI_File_get_size(x->file[side], &size[side]);
    if (x->mine)
        compare_three("MPI_File_get_size", size[0], size[1],
                      model_size(x->m, (int)x->id, x->s->rank));
}

/* ---- everything else one may ask ---- */

static bool is_named(MPI_Datatype t)
{
    int i, a, d, combiner;
    MPI_Type_get_envelope(t, &i, &a, &d, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* A datatype of the view; frees both. */
static void check_types(const struct step *x, int64_t id, MPI_Datatype type[2])
{
    const struct type *t = type_get(&x->m->types, id);
    MPI_Count lb[2] = {0, 0}, extent[2] = {0, 0}, size[2] = {0, 0};
    MPI_Aint file_extent[2] = {0, 0};
    bool named[2] = {false, false};
    for (int side = 0; side < sides(x->h->file); side++) {
        MPI_Type_get_extent_x(type[side], &lb[side], &extent[side]);
        MPI_Type_size_x(type[side], &size[side]);
        MPI_File_get_type_extent(x->file[side], type[side], &file_extent[side]);
        named[side] = is_named(type[side]);
        if (!named[side])
            MPI_Type_free(&type[side]);
    }
    compare_three("view: lower bound", lb[0], lb[1], t ? t->lb : 0);
    compare_three("view: extent", extent[0], extent[1], t ? t->extent : 1);
    compare_three("view: size", size[0], size[1], t ? t->size : 1);
    compare_three("MPI_File_get_type_extent", file_extent[0], file_extent[1], t ? t->extent : 1);
    compare_three("view: predefined type", named[0], named[1],
                  !t || line_arg(t->line, 1) == T_BASIC);
}

void do_info(const struct step *x)
{
    MPI_Offset at[2] = {0, 0};
    MPI_Datatype etype[2], filetype[2];
    MPI_Group group;
    int amode[2] = {0, 0}, size[2] = {0, 0}, atomic[2] = {0, 0};
    char datarep[2][MPI_MAX_DATAREP_STRING] = {"", ""};
    if (!x->member)
        return;
    for (int side = 0; side < sides(x->h->file); side++) {
        MPI_File f = x->file[side];
        MPI_File_get_view(f, &at[side], &etype[side], &filetype[side], datarep[side]);
        MPI_File_get_amode(f, &amode[side]);
        MPI_File_get_atomicity(f, &atomic[side]);
        MPI_File_get_group(f, &group);
        MPI_Group_size(group, &size[side]);
        MPI_Group_free(&group);
    }
    compare_three("view: displacement", at[0], at[1], view_of(x)->displacement);
    compare_both("view: data representation differs", strcmp(datarep[0], datarep[1]) != 0, 0);
    check_types(x, view_of(x)->etype, etype);
    check_types(x, view_of(x)->filetype, filetype);
    compare_three("MPI_File_get_amode", amode[0], amode[1], x->h->amode);
    compare_three("MPI_File_get_atomicity", atomic[0] != 0, atomic[1] != 0, x->h->atomic);
    compare_three("MPI_File_get_group", size[0], size[1],
                  __builtin_popcount((unsigned)x->h->ranks));
}

/* ---- calls that must fail ---- */

static int wrong_call(enum wrong which, MPI_File f)
{
    char byte[8] = "1234567";
    MPI_Offset at;
    switch (which) {
    case WRONG_WRITE:
        return MPI_File_write_at(f, 0, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRONG_OFFSET_READ:
        return MPI_File_read_at(f, -1, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRONG_OFFSET_WRITE:
        return MPI_File_write_at(f, -1, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRONG_SEEK:
        return MPI_File_seek(f, -1, MPI_SEEK_SET);
    case WRONG_WHENCE:
        return MPI_File_seek(f, 0, 12345);
    case WRONG_COUNT:
        return MPI_File_read_at(f, 0, byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRONG_TYPE:
        return MPI_File_write_at(f, 0, byte, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE);
    case WRONG_BYTE_OFFSET:
        return MPI_File_get_byte_offset(f, -1, &at);
    case WRONG_SET_SIZE:
        return MPI_File_set_size(f, -1);
    case WRONG_SET_SIZE_RDONLY:
        return MPI_File_set_size(f, 10);
    case WRONG_PREALLOCATE:
        return MPI_File_preallocate(f, -1);
    case WRONG_DATAREP:
        return MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "nosuch", MPI_INFO_NULL);
    case WRONG_DISPLACEMENT:
        return MPI_File_set_view(f, -5, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    default: /* WRONG_READ, WRONG_SEQUENTIAL */
        return MPI_File_read_at(f, 0, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

void do_error(const struct step *x)
{
    static const char *const names[WRONGS] = {"write to MPI_MODE_RDONLY",
                                              "read from MPI_MODE_WRONLY",
                                              "read at -1",
                                              "write at -1",
                                              "seek to -1",
                                              "seek with a wrong whence",
                                              "read of count -1",
                                              "write of MPI_DATATYPE_NULL",
                                              "get_byte_offset of -1",
                                              "set_size to -1",
                                              "set_size with MPI_MODE_RDONLY",
                                              "preallocate -1",
                                              "set_view with an unknown datarep",
                                              "set_view with displacement -5",
                                              "explicit offset with MPI_MODE_SEQUENTIAL"};
    const enum wrong which = (enum wrong)line_arg(x->l, 2);
    const int n = quirks_bear_error(which) ? sides(x->h->file) : first_plain();
    int rc[2] = {0, 0};
    for (int side = 0; side < n && x->member; side++)
        rc[side] = wrong_call(which, x->file[side]);
    if (x->member)
        compare_wrong(names[which], error_class(rc[0]), error_class(rc[1]));
}
