/* execute.c - a program, line by line, on a compressed and a plain file side by side. */
#include "execute.h"

#include <string.h>
#include <unistd.h>

struct state my;

int sides(int64_t file)
{
    return my.alone[file] ? first_plain() : 2;
}

int first_plain(void)
{
    return compare_plain ? 0 : 1;
}

const char *path_of(const struct session *s, int64_t file, int side)
{
    static char path[2][300];
    snprintf(path[side], sizeof path[side], "%s/%c.%s", s->folder, (int)('a' + file),
             side ? "plain" : "z");
    return path[side];
}

void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void meet(const struct step *x)
{
    if (x->member)
        MPI_Barrier(x->s->comm[x->h->ranks]);
}

static do_line *const actions[LINES] = {
    [LINE_RAW] = do_raw,
    [LINE_OPEN] = do_open,
    [LINE_CLOSE] = do_close,
    [LINE_DELETE] = do_delete,
    [LINE_VIEW] = do_view,
    [LINE_ACCESS] = do_access,
    [LINE_END] = do_end,
    [LINE_COMPLETE] = do_complete,
    [LINE_SEEK] = do_seek,
    [LINE_SEEK_SHARED] = do_seek_shared,
    [LINE_POSITION] = do_position,
    [LINE_POSITION_SHARED] = do_position_shared,
    [LINE_BYTE_OFFSET] = do_byte_offset,
    [LINE_SIZE] = do_size,
    [LINE_SET_SIZE] = do_resize,
    [LINE_PREALLOCATE] = do_resize,
    [LINE_SYNC] = do_sync,
    [LINE_SYNC_ONE] = do_sync_one,
    [LINE_ATOMICITY] = do_atomicity,
    [LINE_INFO] = do_info,
    [LINE_ERROR] = do_error,
};

/* ---- which lines are for this MPI library ---- */

/* Types that it gets wrong are not for its users. */
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

static bool is_about_file(const struct line *l)
{
    return l->what == LINE_RAW || l->what == LINE_OPEN || l->what == LINE_DELETE ||
           l->what == LINE_SYNC;
}

/* The file of a line that the rules allow. */
static int file_of(const struct model *m, const struct line *l)
{
    return is_about_file(l) ? (int)line_arg(l, 0) : m->handle[line_arg(l, 0)].file;
}

/* Is it plain on both sides? */
static bool is_raw(const struct model *m, const struct line *l)
{
    return is_about_file(l) ? m->file[line_arg(l, 0)].raw : m->handle[line_arg(l, 0)].raw;
}

/* A plain file on both sides can only be used as the library likes it. */
static bool library_bears(const struct model *m, const struct line *l, const struct move *move)
{
    if (l->what == LINE_VIEW)
        return view_is_borne(m, l);
    if (l->what == LINE_PREALLOCATE)
        return quirks_bear_preallocate();
    if (l->what == LINE_ERROR)
        return quirks_bear_error((enum wrong)line_arg(l, 2));
    return l->what != LINE_ACCESS || quirks_bear_access(m, l, move) == CAN;
}

/* ---- one line ---- */

static void act(struct session *s, struct model *m, const struct line *l, const struct move *move)
{
    struct step x = {.s = s, .m = m, .l = l, .move = move, .id = line_arg(l, 0)};
    compare_files(is_raw(m, l), my.alone[file_of(m, l)]);
    if (!is_about_file(l)) {
        x.h = &m->handle[x.id];
        x.file = my.file[x.id];
        x.member = x.h->ranks >> s->rank & 1;
        x.mine = x.member && line_arg(l, 1) >> s->rank & 1;
    }
    actions[l->what](&x);
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

/* A file that was made through the library may have become plain when it was closed
 * (ZMPI_LEAST_RATIO). From now on both files are at the MPI library's mercy. */
static void look_at_file(struct session *s, struct model *m, const struct line *l)
{
    struct file *f = &m->file[line_arg(l, 0)];
    struct handle *h = &m->handle[line_arg(l, 1)];
    int plain = 0;
    const bool may_change = f->size == 0 && h->amode & MPI_MODE_RDONLY;
    if (!h->open || compare_plain || may_change)
        return;
    if (s->rank == 0)
        plain = !is_container(path_of(s, line_arg(l, 0), 0));
    MPI_Bcast(&plain, 1, MPI_INT, 0, MPI_COMM_WORLD);
    s->totals.made_plain += plain && !f->raw;
    h->raw = f->raw = plain;
}

static void run_line(struct session *s, struct model *m, const struct line *l, int number)
{
    struct move move[RANKS] = {{0}};
    const bool access = l->what == LINE_ACCESS && line_arg(l, 1) >= 0 && line_arg(l, 1) < CALLS;
    compare_context(s->totals.programs, number,
                    access ? calls[line_arg(l, 1)].name : line_names[l->what]);
    s->totals.lines++;
    bool runs = model_allows(m, l, move) && types_usable(m, l);
    if (l->what == LINE_OPEN)
        runs = runs && quirks_bear_open(m, l);
    if (l->what == LINE_SYNC || l->what == LINE_SYNC_ONE)
        runs = runs && quirks_bear_sync(m);
    if (runs && l->what != LINE_TYPE && is_raw(m, l))
        runs = library_bears(m, l, move);
    if (runs && l->what != LINE_TYPE)
        act(s, m, l, move);
    if (runs)
        model_apply(m, l, move);
    else
        s->totals.skipped++;
    if (runs && l->what == LINE_OPEN)
        look_at_file(s, m, l);
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

/* The whole file, as another program finds it; -1 if there is none. */
static int64_t whole_file(const char *path, unsigned char *data)
{
    MPI_File f;
    MPI_Offset size = -1;
    if (access(path, F_OK) != 0)
        return -1;
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f))
        return -2;
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
    int64_t size[2] = {-1, -1}, should = f->exists ? f->size : -1;
    compare_files(f->raw, my.alone[file]);
    for (int side = 0; side < sides(file); side++)
        size[side] = whole_file(path_of(s, file, side), data[side]);
    compare_three("size of the closed file", size[0], size[1], should);
    for (int64_t k = 0; k < should; k++)
        data[2][k] = f->byte[k].value;
    const bool alike = size[1] == should;
    if (!f->raw || alike)
        compare_bytes("the closed file", data[0], data[alike ? 1 : 2], data[2], should);
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
    for (int i = 0; i < p->count && i < s->lines; i++)
        run_line(s, m, &p->line[i], i + 1);
    finish_handles(s, m, p->count + 1);
    for (int file = 0; file < FILES && s->rank == 0; file++)
        check_file(s, m, file);
    remove_files(s);
    barrier();
    s->totals.programs++;
}
