/* execute.c - a program, line by line, on a compressed and a plain file side by side. */
#include "access.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What this rank has open and under way. */
static struct {
    bool alone[FILES]; /* the plain file was left; quirks.c */
    MPI_File file[HANDLES][2];
    struct flight flight[HANDLES][FLIGHTS];
    struct flight split[HANDLES];
} my;

static int sides(int64_t file)
{
    return my.alone[file] ? 1 : 2;
}

static const char *path_of(const struct session *s, int64_t file, int side)
{
    static char path[2][300];
    snprintf(path[side], sizeof path[side], "%s/%c.%s", s->folder, (int)('a' + file),
             side ? "plain" : "z");
    return path[side];
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of those who have the file open: what one moves, like the shared pointer, the others see. */
static void meet(const struct session *s, const struct handle *h)
{
    if (h->ranks >> s->rank & 1)
        MPI_Barrier(s->comm[h->ranks]);
}

static bool takes_part(const struct session *s, const struct handle *h)
{
    return h->ranks >> s->rank & 1;
}

/* ---- files ---- */

static void do_raw(struct session *s, const struct line *l)
{
    static unsigned char data[FILE_BYTES];
    size_t n = (size_t)line_arg(l, 1);
    barrier();
    fill(data, (int64_t)n, line_arg(l, 2), 0);
    for (int side = 0; side < 2 && s->rank == 0; side++) {
        FILE *f = need(fopen(path_of(s, line_arg(l, 0), side), "wb"));
        if (fwrite(data, 1, n, f) != n)
            compare_fail("cannot write %s", path_of(s, line_arg(l, 0), side));
        fclose(f);
    }
    barrier();
}

static void do_delete(struct session *s, const struct line *l)
{
    int rc[2] = {0, 0};
    barrier();
    for (int side = 0; side < sides(line_arg(l, 0)) && s->rank == 0; side++)
        rc[side] = MPI_File_delete(path_of(s, line_arg(l, 0), side), MPI_INFO_NULL);
    compare_both("MPI_File_delete", error_class(rc[0]), error_class(rc[1]));
    barrier();
}

static void do_open(struct session *s, const struct model *m, const struct line *l)
{
    const int64_t handle = line_arg(l, 1);
    const int ranks = (int)line_arg(l, 2) & ((1 << s->ranks) - 1), amode = (int)line_arg(l, 3);
    int rc[2] = {0, 0};
    char staging[32];
    MPI_Info info = MPI_INFO_NULL;
    if (line_arg(l, 4)) {
        MPI_Info_create(&info);
        snprintf(staging, sizeof staging, "%lld", (long long)line_arg(l, 4));
        MPI_Info_set(info, "zmpi_staging", staging);
    }
    barrier();
    for (int side = 0; side < sides(line_arg(l, 0)) && ranks >> s->rank & 1; side++)
        rc[side] = MPI_File_open(s->comm[ranks], path_of(s, line_arg(l, 0), side), amode, info,
                                 &my.file[handle][side]);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (model_open_works(m, l))
        compare_three("MPI_File_open", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
    else
        compare_both("MPI_File_open", error_class(rc[0]), error_class(rc[1]));
    barrier();
}

static void do_close(struct session *s, const struct handle *h, int64_t handle)
{
    int rc[2] = {0, 0};
    barrier();
    for (int side = 0; side < sides(h->file) && takes_part(s, h); side++)
        rc[side] = MPI_File_close(&my.file[handle][side]);
    compare_both("MPI_File_close", error_class(rc[0]), error_class(rc[1]));
    barrier();
}

static void sync_one(struct session *s, const struct handle *h, int64_t handle)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(h->file) && takes_part(s, h); side++)
        rc[side] = MPI_File_sync(my.file[handle][side]);
    compare_both("MPI_File_sync", error_class(rc[0]), error_class(rc[1]));
}

static void do_sync(struct session *s, const struct model *m, int64_t file)
{
    for (int turn = 0; turn < 2; turn++) {
        for (int h = 0; h < HANDLES; h++)
            if (m->handle[h].open && m->handle[h].file == file)
                sync_one(s, &m->handle[h], h);
        barrier();
    }
}

/* The MPI library cannot go on with the plain file. */
static void leave_plain(struct session *s, const struct model *m, int file)
{
    for (int h = 0; h < HANDLES; h++)
        if (!my.alone[file] && m->handle[h].open && m->handle[h].file == file &&
            takes_part(s, &m->handle[h]))
            MPI_File_close(&my.file[h][1]);
    my.alone[file] = true;
    compare_files(m->file[file].raw, true);
}

/* ---- access ---- */

static void one_access(struct session *s, struct model *m, const struct line *l,
                       const struct move *v, bool simple)
{
    const int64_t handle = line_arg(l, 0);
    const struct call *c = &calls[line_arg(l, 1)];
    struct flight *x = &my.split[handle], once;
    if (c->how == BLOCKING || c->how == COLLECTIVE)
        x = &once;
    else if (c->how != SPLIT)
        for (x = my.flight[handle]; x->used; x++) /* the rules leave one free */
            ;
    flight_start(x, m, l, v, s->rank, my.file[handle], sides(m->handle[handle].file), simple);
    if (x == &once)
        flight_finish(x, s->sabotage);
}

static void do_access(struct session *s, struct model *m, const struct line *l,
                      const struct move move[RANKS])
{
    const int64_t handle = line_arg(l, 0);
    const struct handle *h = &m->handle[handle];
    const struct call *c = &calls[line_arg(l, 1)];
    const bool turns = c->where == SHARED && !call_is_collective(c);
    const enum bearing bearing = quirks_bear_access(m, l, move);
    if (bearing == CANNOT)
        leave_plain(s, m, h->file);
    const bool simple = !my.alone[h->file] && bearing == SIMPLY;
    s->totals.accesses++;
    if (c->where == SHARED)
        meet(s, h);
    for (int r = 0; r < s->ranks && turns; r++) {
        if (!move[r].takes_part)
            continue;
        if (r == s->rank)
            one_access(s, m, l, &move[r], simple);
        meet(s, h); /* the next rank goes on where this one left the pointer */
    }
    if (!turns && move[s->rank].takes_part)
        one_access(s, m, l, &move[s->rank], simple);
    if (c->where == SHARED || h->atomic)
        meet(s, h);
}

static void do_end(struct session *s, const struct handle *h, int64_t handle)
{
    struct flight *x = &my.split[handle];
    for (int side = 0; side < x->sides - x->simple && takes_part(s, h); side++) {
        void *origin = x->flags & BOTTOM ? MPI_BOTTOM : x->buffer[side] + x->origin;
        int rc = end_split(h->split - 1, my.file[handle][side], origin,
                           x->flags & IGNORE_STATUS ? MPI_STATUS_IGNORE : &x->status[side]);
        x->rc[side] = x->rc[side] ? x->rc[side] : rc;
    }
    if (takes_part(s, h))
        flight_finish(x, s->sabotage);
}

/* ---- positions and sizes ---- */

static void do_seek(struct session *s, const struct handle *h, const struct line *l)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(h->file) && h->ranks & line_arg(l, 1) & 1 << s->rank; side++)
        rc[side] = MPI_File_seek(my.file[line_arg(l, 0)][side], line_rank_arg(l, 3, 1, s->rank, 0),
                                 (int)line_arg(l, 2));
    compare_three("MPI_File_seek", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
}

static void do_seek_shared(struct session *s, const struct handle *h, const struct line *l)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(h->file) && takes_part(s, h); side++)
        rc[side] = MPI_File_seek_shared(my.file[line_arg(l, 0)][side], line_arg(l, 2),
                                        (int)line_arg(l, 1));
    compare_three("MPI_File_seek_shared", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
    meet(s, h);
}

static void check_position(struct session *s, const struct model *m, int64_t handle)
{
    const struct handle *h = &m->handle[handle];
    MPI_Offset at[2] = {-1, -1}, byte[2] = {-1, -1};
    int64_t etype = view_etype(m, &h->view[s->rank]), position = h->position[s->rank];
    for (int side = 0; side < sides(h->file); side++) {
        MPI_File_get_position(my.file[handle][side], &at[side]);
        MPI_File_get_byte_offset(my.file[handle][side], position / etype, &byte[side]);
    }
    compare_three("MPI_File_get_position", at[0], at[1], position / etype);
    compare_three("MPI_File_get_byte_offset", byte[0], byte[1],
                  view_offset(m, &h->view[s->rank], position / etype * etype));
}

static void check_shared(struct session *s, const struct model *m, int64_t handle)
{
    const struct handle *h = &m->handle[handle];
    MPI_Offset at[2] = {-1, -1};
    for (int side = 0; side < sides(h->file); side++)
        MPI_File_get_position_shared(my.file[handle][side], &at[side]);
    compare_three("MPI_File_get_position_shared", at[0], at[1],
                  h->shared / view_etype(m, &h->view[s->rank]));
}

static void check_byte_offset(struct session *s, const struct model *m, const struct line *l)
{
    const struct handle *h = &m->handle[line_arg(l, 0)];
    MPI_Offset at = line_arg(l, 2), byte[2] = {-1, -1};
    for (int side = 0; side < sides(h->file); side++)
        MPI_File_get_byte_offset(my.file[line_arg(l, 0)][side], at, &byte[side]);
    compare_three("MPI_File_get_byte_offset", byte[0], byte[1],
                  view_offset(m, &h->view[s->rank], at * view_etype(m, &h->view[s->rank])));
}

static void check_size(struct session *s, const struct model *m, int handle)
{
    MPI_Offset size[2] = {-1, -1};
    for (int side = 0; side < sides(m->handle[handle].file); side++)
        MPI_File_get_size(my.file[handle][side], &size[side]);
    compare_three("MPI_File_get_size", size[0], size[1], model_size(m, handle, s->rank));
}

/* size: before */
static void do_resize(struct session *s, const struct handle *h, const struct line *l, int64_t size)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(h->file) && takes_part(s, h); side++) {
        MPI_File file = my.file[line_arg(l, 0)][side];
        if (l->what == LINE_PREALLOCATE && (side == 0 || quirks_bear_preallocate()))
            rc[side] = MPI_File_preallocate(file, line_arg(l, 1));
        else if (l->what == LINE_SET_SIZE || line_arg(l, 1) > size)
            rc[side] = MPI_File_set_size(file, line_arg(l, 1));
    }
    compare_three("set_size or preallocate", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
}

/* ---- views and the rest ---- */

static bool bears_view(const struct model *m, const struct line *l)
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

static void do_view(struct session *s, struct model *m, const struct line *l)
{
    const struct handle *h = &m->handle[line_arg(l, 0)];
    int rc[2] = {0, 0};
    int64_t at = line_rank_arg(l, 1, 3, s->rank, 0);
    if (h->amode & MPI_MODE_SEQUENTIAL)
        at = MPI_DISPLACEMENT_CURRENT;
    if (!bears_view(m, l))
        leave_plain(s, m, h->file);
    for (int side = 0; side < sides(h->file) && takes_part(s, h); side++)
        rc[side] = MPI_File_set_view(my.file[line_arg(l, 0)][side], at,
                                     type_mpi(&m->types, line_rank_arg(l, 1, 3, s->rank, 1)),
                                     type_mpi(&m->types, line_rank_arg(l, 1, 3, s->rank, 2)),
                                     "native", MPI_INFO_NULL);
    compare_three("MPI_File_set_view", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
}

static bool is_named(MPI_Datatype t)
{
    int i, a, d, combiner;
    MPI_Type_get_envelope(t, &i, &a, &d, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* Compare a datatype of the view; frees both. */
static void compare_types(const struct model *m, int64_t handle, int64_t id, MPI_Datatype type[2])
{
    const struct type *t = type_get(&m->types, id);
    MPI_Count lb[2] = {0, 0}, extent[2] = {0, 0}, size[2] = {0, 0};
    MPI_Aint file_extent[2] = {0, 0};
    bool named[2] = {false, false};
    for (int side = 0; side < sides(m->handle[handle].file); side++) {
        MPI_Type_get_extent_x(type[side], &lb[side], &extent[side]);
        MPI_Type_size_x(type[side], &size[side]);
        MPI_File_get_type_extent(my.file[handle][side], type[side], &file_extent[side]);
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

static void check_info(struct session *s, const struct model *m, int64_t handle)
{
    const struct handle *h = &m->handle[handle];
    MPI_Offset at[2] = {0, 0};
    MPI_Datatype etype[2], filetype[2];
    MPI_Group group;
    int amode[2] = {0, 0}, size[2] = {0, 0}, atomic[2] = {0, 0};
    char datarep[2][MPI_MAX_DATAREP_STRING] = {"", ""};
    for (int side = 0; side < sides(h->file); side++) {
        MPI_File f = my.file[handle][side];
        MPI_File_get_view(f, &at[side], &etype[side], &filetype[side], datarep[side]);
        MPI_File_get_amode(f, &amode[side]);
        MPI_File_get_atomicity(f, &atomic[side]);
        MPI_File_get_group(f, &group);
        MPI_Group_size(group, &size[side]);
        MPI_Group_free(&group);
    }
    compare_three("view: displacement", at[0], at[1], h->view[s->rank].displacement);
    compare_both("view: data representation differs", strcmp(datarep[0], datarep[1]), 0);
    compare_types(m, handle, h->view[s->rank].etype, etype);
    compare_types(m, handle, h->view[s->rank].filetype, filetype);
    compare_three("MPI_File_get_amode", amode[0], amode[1], h->amode);
    compare_three("MPI_File_get_atomicity", atomic[0] != 0, atomic[1] != 0, h->atomic);
    compare_three("MPI_File_get_group", size[0], size[1], __builtin_popcount((unsigned)h->ranks));
}

static void do_atomicity(struct session *s, const struct handle *h, const struct line *l)
{
    int rc[2] = {0, 0};
    for (int side = 0; side < sides(h->file) && takes_part(s, h); side++)
        rc[side] = MPI_File_set_atomicity(my.file[line_arg(l, 0)][side], line_arg(l, 1) != 0);
    compare_three("MPI_File_set_atomicity", error_class(rc[0]), error_class(rc[1]), MPI_SUCCESS);
    barrier();
}

/* ---- calls that must fail ---- */

static int wrong_call(enum wrong which, MPI_File f)
{
    char byte[8] = "1234567";
    MPI_Offset at;
    switch (which) {
    case WRONG_WRITE:
        return MPI_File_write_at(f, 0, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRONG_READ:
        return MPI_File_read_at(f, 0, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
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
    default:
        return MPI_File_read_at(f, 0, byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

static void do_error(struct session *s, const struct handle *h, const struct line *l)
{
    static const char *const names[WRONGS] = {"write to MPI_MODE_RDONLY",
                                              "read from MPI_MODE_WRONLY",
                                              "read at -1",
                                              "write at -1",
                                              "seek to -1",
                                              "seek: wrong whence",
                                              "read count -1",
                                              "write MPI_DATATYPE_NULL",
                                              "get_byte_offset of -1",
                                              "set_size -1",
                                              "set_size of MPI_MODE_RDONLY",
                                              "preallocate -1",
                                              "set_view: unknown datarep",
                                              "set_view: displacement -5",
                                              "explicit offset with MPI_MODE_SEQUENTIAL"};
    int rc[2] = {0, 0};
    const int n = quirks_bear_error((enum wrong)line_arg(l, 2)) ? sides(h->file) : 1;
    for (int side = 0; side < n && takes_part(s, h); side++)
        rc[side] = wrong_call((enum wrong)line_arg(l, 2), my.file[line_arg(l, 0)][side]);
    if (takes_part(s, h))
        compare_wrong(names[line_arg(l, 2)], error_class(rc[0]), error_class(rc[1]));
}

/* ---- lines ---- */

/* Types that this MPI library gets wrong are not for its users. */
static bool types_usable(struct model *m, const struct line *l)
{
    const bool view = l->what == LINE_VIEW;
    for (int r = 0; r < m->ranks && (view || l->what == LINE_ACCESS); r++) {
        int64_t a = view ? line_rank_arg(l, 1, 3, r, 1) : line_rank_arg(l, 5, 4, r, 1);
        int64_t b = view ? line_rank_arg(l, 1, 3, r, 2) : a;
        if (type_mpi(&m->types, a) == MPI_DATATYPE_NULL ||
            type_mpi(&m->types, b) == MPI_DATATYPE_NULL)
            return false;
    }
    return true;
}

static void do_line(struct session *s, struct model *m, const struct line *l, struct move *move)
{
    const int64_t a = line_arg(l, 0);
    const struct handle *h = &m->handle[a >= 0 && a < HANDLES ? a : 0];
    const bool mine = takes_part(s, h) && line_arg(l, 1) >> s->rank & 1;
    switch (l->what) {
    case LINE_RAW:
        do_raw(s, l);
        break;
    case LINE_OPEN:
        do_open(s, m, l);
        break;
    case LINE_CLOSE:
        do_close(s, h, a);
        break;
    case LINE_DELETE:
        do_delete(s, l);
        break;
    case LINE_VIEW:
        do_view(s, m, l);
        break;
    case LINE_ACCESS:
        do_access(s, m, l, move);
        break;
    case LINE_END:
        do_end(s, h, a);
        break;
    case LINE_COMPLETE:
        if (takes_part(s, h))
            flights_complete(my.flight[a], FLIGHTS, (int)line_arg(l, 1) + s->rank, s->sabotage);
        break;
    case LINE_SEEK:
        do_seek(s, h, l);
        break;
    case LINE_SEEK_SHARED:
        do_seek_shared(s, h, l);
        break;
    case LINE_POSITION:
        if (mine && h->position[s->rank] >= 0)
            check_position(s, m, a);
        break;
    case LINE_POSITION_SHARED:
        meet(s, h);
        if (mine)
            check_shared(s, m, a);
        meet(s, h);
        break;
    case LINE_BYTE_OFFSET:
        if (mine)
            check_byte_offset(s, m, l);
        break;
    case LINE_SIZE:
        if (mine)
            check_size(s, m, (int)a);
        break;
    case LINE_SET_SIZE:
    case LINE_PREALLOCATE:
        do_resize(s, h, l, m->file[h->file].size);
        break;
    case LINE_SYNC:
        do_sync(s, m, a);
        break;
    case LINE_SYNC_ONE:
        sync_one(s, h, a);
        break;
    case LINE_ATOMICITY:
        do_atomicity(s, h, l);
        break;
    case LINE_INFO:
        if (takes_part(s, h))
            check_info(s, m, a);
        break;
    case LINE_ERROR:
        do_error(s, h, l);
        break;
    default:
        break;
    }
}

static int file_of(const struct model *m, const struct line *l)
{
    const int64_t a = line_arg(l, 0);
    if (l->what == LINE_OPEN || l->what == LINE_DELETE || l->what == LINE_SYNC)
        return a >= 0 && a < FILES ? (int)a : 0;
    return a >= 0 && a < HANDLES ? m->handle[a].file : 0;
}

/* Is the file plain on both sides? */
static bool is_raw(const struct model *m, const struct line *l)
{
    const int64_t a = line_arg(l, 0);
    const bool by_handle = l->what != LINE_OPEN && l->what != LINE_DELETE && l->what != LINE_SYNC;
    if (by_handle && a >= 0 && a < HANDLES && m->handle[a].open)
        return m->handle[a].raw;
    return m->file[file_of(m, l)].raw;
}

/* A plain file on both sides can only be used as the library likes it. */
static bool library_bears(const struct model *m, const struct line *l, const struct move *move)
{
    if (l->what == LINE_VIEW)
        return bears_view(m, l);
    if (l->what == LINE_PREALLOCATE)
        return quirks_bear_preallocate();
    if (l->what == LINE_ERROR)
        return quirks_bear_error((enum wrong)line_arg(l, 2));
    return l->what != LINE_ACCESS || quirks_bear_access(m, l, move) == CAN;
}

static void run_line(struct session *s, struct model *m, const struct line *l, int number)
{
    struct move move[RANKS] = {{0}};
    compare_context(s->totals.programs, number,
                    l->what == LINE_ACCESS && line_arg(l, 1) >= 0 && line_arg(l, 1) < CALLS
                        ? calls[line_arg(l, 1)].name
                        : line_names[l->what]);
    compare_files(is_raw(m, l), my.alone[file_of(m, l)]);
    s->totals.lines++;
    if (model_allows(m, l, move) && types_usable(m, l) &&
        (!is_raw(m, l) || library_bears(m, l, move))) {
        do_line(s, m, l, move);
        model_apply(m, l, move);
    } else {
        s->totals.skipped++;
    }
    moves_free(move);
}

/* ---- after the last line ---- */

static void finish_handles(struct session *s, struct model *m, int number)
{
    for (int h = 0; h < HANDLES; h++) {
        struct line l = {LINE_END, 1, {h}};
        if (!m->handle[h].open)
            continue;
        if (m->handle[h].split)
            run_line(s, m, &l, number);
        l.what = LINE_COMPLETE;
        run_line(s, m, &l, number);
        l.what = LINE_CLOSE;
        run_line(s, m, &l, number);
    }
}

static bool is_container(const char *path)
{
    static const unsigned char magic[4] = {0x89, 'Z', 'M', 'P'};
    unsigned char head[4] = {0};
    FILE *f = fopen(path, "rb");
    bool is = f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, magic, 4) == 0;
    if (f)
        fclose(f);
    return is;
}

/* The whole file, as another program finds it. */
static int64_t whole_file(const char *path, unsigned char *data)
{
    MPI_File f;
    MPI_Offset size = -1;
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f))
        return -1;
    MPI_File_get_size(f, &size);
    if (size <= FILE_BYTES)
        MPI_File_read_at(f, 0, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    return size;
}

static void check_file(struct session *s, const struct model *m, int file)
{
    static unsigned char data[3][FILE_BYTES];
    const struct file *f = &m->file[file];
    int64_t size[2], should = f->exists ? f->size : -1;
    compare_files(f->raw, my.alone[file]);
    for (int side = 0; side < sides(file); side++)
        size[side] = whole_file(path_of(s, file, side), data[side]);
    compare_three("size of the closed file", size[0], size[1], should);
    for (int64_t k = 0; k < should; k++)
        data[2][k] = f->byte[k].value;
    if (!f->raw || size[1] == should)
        compare_bytes("the closed file", data[0], size[1] == should ? data[1] : data[2], data[2],
                      should);
    s->totals.containers += is_container(path_of(s, file, 0));
}

static void remove_files(const struct session *s)
{
    for (int i = 0; i < 2 * FILES && s->rank == 0; i++)
        unlink(path_of(s, i / 2, i % 2));
}

void execute(struct session *s, struct model *m, const struct program *p)
{
    model_reset(m);
    memset(my.alone, 0, sizeof my.alone);
    remove_files(s);
    for (int i = 0; i < p->count; i++)
        run_line(s, m, &p->line[i], i + 1);
    finish_handles(s, m, p->count + 1);
    for (int file = 0; file < FILES && s->rank == 0; file++)
        check_file(s, m, file);
    remove_files(s);
    barrier();
    s->totals.programs++;
}
