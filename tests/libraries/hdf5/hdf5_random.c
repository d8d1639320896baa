/*
 * hdf5_random.c - run|kill|after PATH FIRST COUNT BOUND [WAY]: random programs of HDF5
 * (hdf5_random.h), each with a file PATH.SEED.h5 that it reads again at the end. `kill` kills all
 * processes some writes after a flush; `after` then says whether the file holds what was flushed,
 * or what came later.
 *
 * WAY `filter`: nothing that HDF5 refuses for datasets with filters; `gzip`: the same, by that
 * filter; with `,serial`: without MPI-IO, by one rank; with `,mpio`: each chunk is written by one
 * call alone, since HDF5 (1.10.8, 1.14.5) fails or loses data where parallel programs do it again;
 * with `,interp`: by that encoder, for which zeros are values like others.
 */
#include <math.h>
#include <signal.h>

#include "hdf5_random.h"

int rank, ranks;
double bound;
bool relative;
bool filter, gzip, serial, once, interp;

static bool replay, is_wrong;
static unsigned program; /* the seed */
static struct set sets[SETS];
static hid_t file, open_set[SETS];
static char path[500];
static int note[SETS + 1]; /* what attributes hold, the last one is the file's; 0: there is none */

/* Says once what is wrong in this program, and goes on, since HDF5 may be wrong without zmpi,
 * too. */
__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!is_wrong)
        printf("wrong: %u, rank %d, %s: %s\n", program, rank, check_case, text);
    is_wrong = true;
}

/* ---- files ---- */

static hid_t access_list(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (serial)
        return access;
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    if (pick(2)) {
        H5(H5Pset_all_coll_metadata_ops(access, true));
        H5(H5Pset_coll_metadata_write(access, true));
    }
    return access;
}

static void open_file(bool create, bool write)
{
    const hid_t access = access_list();
    if (!replay) {
        file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                      : H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
        H5(file);
    }
    for (int k = 0; k < SETS && !create && !replay; k++)
        if (sets[k].is_there)
            H5(open_set[k] = H5Dopen2(file, sets[k].name, H5P_DEFAULT));
    H5(H5Pclose(access));
}

static void close_file(void)
{
    for (int k = 0; k < SETS && !replay; k++)
        if (sets[k].is_there)
            H5(H5Dclose(open_set[k]));
    if (!replay)
        H5(H5Fclose(file));
    for (int k = 0; k < SETS; k++)
        sets[k].alone = false;
}

static void flush(void)
{
    if (!replay)
        H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    for (int k = 0; k < SETS; k++)
        if (sets[k].is_there) {
            sets[k].alone = false;
            memcpy(sets[k].flushed, sets[k].value, elements(&sets[k]) * sizeof(double));
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* After a flush the others see what one rank wrote by itself. */
static void see(struct set *s)
{
    if (s->alone)
        flush();
}

/* ---- datasets ---- */

static void create(int number)
{
    int k = 0;
    while (k < SETS && sets[k].is_there)
        k++;
    if (k == SETS)
        return;
    draw_set(&sets[k], number);
    note[k] = 0;
    const struct set *const s = &sets[k];
    const hid_t list = creation_list(s),
                space = H5Screate_simple(s->rank, s->size, s->layout == GROWING ? s->most : NULL);
    if (!replay)
        H5(open_set[k] = H5Dcreate2(file, s->name, type_in_file(s->type), space, H5P_DEFAULT, list,
                                    H5P_DEFAULT));
    H5(H5Sclose(space));
    H5(H5Pclose(list));
}

static void delete (int k)
{
    if (!sets[k].is_there)
        return;
    if (!replay) {
        H5(H5Dclose(open_set[k]));
        H5(H5Ldelete(file, sets[k].name, H5P_DEFAULT));
    }
    sets[k].is_there = false;
}

/* Draws another size; `once`: larger by whole chunks. */
static void draw_size(struct set *s)
{
    if (once) {
        const hsize_t more = s->chunk[0] * (1 + pick(2)), row = elements(s) / s->size[0];
        s->size[0] += (s->size[0] + more) * row > MOST_ELEMENTS ? 0 : more;
        return;
    }
    for (int i = 0; i < s->rank; i++)
        if (pick(2))
            s->size[i] = 1 + pick((size_t)(2 * s->size[i]));
    for (int i = 0; i < s->rank; i++)
        s->size[i] = s->size[i] > s->most[i] ? s->most[i] : s->size[i];
    while (elements(s) > MOST_ELEMENTS)
        for (int i = 0; i < s->rank; i++)
            s->size[i] = (s->size[i] + 1) / 2;
}

/* Keeps what is in both sizes; everything else becomes the fill value. */
static void resize(int k)
{
    struct set *const s = &sets[k];
    if (!s->is_there || s->layout != GROWING)
        return;
    see(s);
    struct set old = *s;
    old.value = check_alloc(elements(s) * sizeof *old.value);
    memcpy(old.value, s->value, elements(s) * sizeof *old.value);
    draw_size(s);
    allocate(s);
    for (size_t i = 0; i < elements(s); i++) {
        size_t left = i, at = 0, place[MOST_RANK];
        bool inside = true;
        for (int d = s->rank - 1; d >= 0; d--) {
            place[d] = left % (size_t)s->size[d];
            left /= (size_t)s->size[d];
            inside = inside && place[d] < old.size[d];
        }
        for (int d = 0; d < s->rank; d++)
            at = at * (size_t)old.size[d] + place[d];
        if (inside)
            s->value[i] = old.value[at];
    }
    s->codings++; /* elements that were cut off become fill values */
    free(old.value);
    if (!replay)
        H5(H5Dset_extent(open_set[k], s->size));
}

/* ---- transfers ---- */

static enum type draw_type(const struct set *s)
{
    static const enum type floats[] = {F32, F64, F32_BE, F64_BE}, whole[] = {I32, U8, F64, F32};
    if ((filter && !serial) || pick(3))
        return s->type;
    return is_float(s->type) ? floats[pick(4)] : whole[pick(4)];
}

static hid_t draw_list(bool together)
{
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    if (serial)
        return how;
    H5(H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (together && !filter && pick(4) == 0)
        H5(H5Pset_dxpl_mpio_collective_opt(how, H5FD_MPIO_INDIVIDUAL_IO));
    /* HDF5 1.10.8 loses filtered data if it transfers them by chunks. */
    if (together && !once && pick(4) == 0)
        H5(H5Pset_dxpl_mpio_chunk_opt(how,
                                      pick(2) ? H5FD_MPIO_CHUNK_ONE_IO : H5FD_MPIO_CHUNK_MULTI_IO));
    return how;
}

/* A rank's own part of what all write; no other rank has any of it. */
static void box_of(const struct set *s, int who, int cut, hsize_t *low, hsize_t *high)
{
    for (int i = 0; i < s->rank; i++) {
        const hsize_t from = i == 0 && once ? s->rows : 0, left = s->size[i] - from;
        low[i] = from + (i == cut ? left * (hsize_t)who / (hsize_t)ranks : 0);
        high[i] = i == cut ? from + left * (hsize_t)(who + 1) / (hsize_t)ranks : s->size[i];
    }
}

static void *make_buffer(const struct part *p)
{
    unsigned char *data = check_alloc(p->held * bytes_of(p->type));
    for (size_t i = 0; i < p->held * bytes_of(p->type); i++)
        data[i] = (unsigned char)check_mix(7, i);
    return data;
}

static void write_part(int k, const struct part *p, size_t salt, enum look look, hid_t how)
{
    void *data = make_buffer(p);
    for (size_t i = 0; i < p->n; i++)
        put(p->type, data, p->in[i], value_of(&sets[k], p->type, salt, look, p->at[i]));
    void *before = check_alloc(p->held * bytes_of(p->type));
    memcpy(before, data, p->held * bytes_of(p->type));
    H5(H5Dwrite(open_set[k], type_in_file(p->type), p->memory, p->file, how, data));
    CHECK(memcmp(before, data, p->held * bytes_of(p->type)) == 0);
    free(before);
    free(data);
}

static void note_range(struct set *s, double least, double most)
{
    s->codings++;
    if (most < least)
        return;
    s->least = fmin(s->least, least);
    s->greatest = fmax(s->greatest, most);
    s->range = fmax(s->range, serial ? s->greatest - s->least : most - least);
}

/* All ranks write, each a part of its own, or one writes alone. To compact datasets all write the
 * same. */
static void write_set(int k)
{
    struct set *const s = &sets[k];
    if (!s->is_there || (once && s->rows == s->size[0]))
        return;
    const bool same = s->layout == COMPACT, alone = !same && !filter && pick(4) == 0;
    const bool together = filter || (!alone && pick(3) > 0);
    const int writer = (int)pick((size_t)ranks), cut = (int)pick((size_t)s->rank);
    const bool whole = pick(3) == 0;
    const size_t salt = pick(1000);
    const enum look look = (enum look)pick(LOOKS);
    bool converts = false; /* then HDF5 writes independently */
    double least = HUGE_VAL, most = -HUGE_VAL;
    if (s->alone)
        see(s);
    const hid_t how = draw_list(together);
    for (int r = 0; r < (same ? 1 : ranks); r++) {
        hsize_t low[MOST_RANK], high[MOST_RANK];
        box_of(s, r, alone || same ? MOST_RANK : cut, low, high);
        struct part p = make_part(s, draw_type(s), low, high,
                                  whole && (alone || same || ranks == 1) && s->rows == 0);
        converts = converts || p.type != s->type;
        const bool writes = alone ? r == writer : same || r == rank;
        for (size_t i = 0; i < p.n && (!alone || r == writer); i++) {
            const double v = s->value[p.at[i]] = value_of(s, p.type, salt, look, p.at[i]);
            least = isfinite(v) ? fmin(least, v) : least;
            most = isfinite(v) ? fmax(most, v) : most;
        }
        if (!replay && writes && (!alone || rank == writer))
            write_part(k, &p, salt, look, how);
        end_part(&p);
    }
    s->alone = !together || converts;
    s->rows = once ? s->size[0] : 0;
    note_range(s, least, most);
    H5(H5Pclose(how));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Reads a part that any rank may have written. Bytes between the elements in the buffer must not
 * change. */
static void read_set(int k, bool whole)
{
    struct set *const s = &sets[k];
    hsize_t low[MOST_RANK] = {0};
    if (!s->is_there)
        return;
    see(s);
    const hid_t how = draw_list(pick(2));
    for (int r = 0; r < ranks; r++) {
        struct part p = make_part(s, draw_type(s), low, s->size, whole);
        bool *read = calloc(p.held + 1, sizeof *read);
        unsigned char *data = make_buffer(&p), *before = make_buffer(&p);
        if (!replay && r == rank)
            H5(H5Dread(open_set[k], type_in_file(p.type), p.memory, p.file, how, data));
        for (size_t i = 0; i < p.n && !replay && r == rank; i++) {
            const double should = s->value[p.at[i]], is = get(p.type, data, p.in[i]);
            const bool shorter =
                (s->type == F64 || s->type == F64_BE) && (p.type == F32 || p.type == F32_BE);
            const double v = shorter ? (double)(float)should : should;
            read[p.in[i]] = true;
            if (!is_as(s, is, v, shorter ? fabs(v) * 0x1p-23 : 0))
                wrong("%s, element %zu of %zu: %.17g, not %.17g", s->name, p.at[i], elements(s), is,
                      v);
        }
        for (size_t i = 0; i < p.held && !replay && r == rank; i++)
            CHECK(read[i] || memcmp(data + i * bytes_of(p.type), before + i * bytes_of(p.type),
                                    bytes_of(p.type)) == 0);
        free(before);
        free(data);
        free(read);
        end_part(&p);
    }
    H5(H5Pclose(how));
}

/* ---- attributes ---- */

enum { NOTES = 20 };

/* Writes an attribute of a dataset, or of the file. */
static void write_note(int k, int number)
{
    double data[NOTES];
    for (int i = 0; i < NOTES; i++)
        data[i] = number + 0.001 * i;
    const int which = sets[k].is_there ? k : SETS;
    if (!replay) {
        const hid_t of = which == k ? open_set[k] : file,
                    space = H5Screate_simple(1, &(hsize_t){NOTES}, NULL),
                    at = note[which] ? H5Aopen(of, "note", H5P_DEFAULT)
                                     : H5Acreate2(of, "note", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                                  H5P_DEFAULT);
        H5(at);
        H5(H5Awrite(at, H5T_NATIVE_DOUBLE, data));
        H5(H5Aclose(at));
        H5(H5Sclose(space));
    }
    note[which] = number;
}

static void read_note(int which)
{
    double data[NOTES];
    if (!note[which] || (which < SETS && !sets[which].is_there))
        return;
    const hid_t at = H5Aopen(which < SETS ? open_set[which] : file, "note", H5P_DEFAULT);
    H5(at);
    H5(H5Aread(at, H5T_NATIVE_DOUBLE, data));
    H5(H5Aclose(at));
    for (int i = 0; i < NOTES; i++)
        CHECK_SAY(data[i] == note[which] + 0.001 * i, "note %d: %g", which, data[i]); // NOLINT
}

/* ---- programs ---- */

static void read_all(void)
{
    for (int k = 0; k < SETS; k++)
        read_set(k, true);
    for (int k = 0; k <= SETS && !replay; k++)
        read_note(k);
}

static void step(int number)
{
    const int k = (int)pick(SETS);
    const size_t what = pick(20);
    check_say("step %d", number);
    if (what < 3)
        create(number);
    else if (what == 3 && pick(3) == 0)
        delete (k);
    else if (what == 4)
        resize(k);
    else if (what == 5)
        flush();
    else if (what == 6)
        write_note(k, number);
    else if (what == 7) {
        close_file();
        open_file(false, true);
    } else if (what < 10)
        read_set(k, false);
    else
        write_set(k);
}

static void begin(const char *name, unsigned number)
{
    snprintf(path, sizeof path, "%s.%u.h5", name, number);
    check_say("%s", path);
    program = number;
    is_wrong = false;
    seed(number);
    memset(note, 0, sizeof note);
    for (int k = 0; k < SETS; k++)
        sets[k].is_there = false;
    if (!replay)
        check_remove(path, MPI_COMM_WORLD);
    open_file(true, true);
    for (int i = 1; i <= 3; i++)
        create(i);
}

static void run(const char *name, unsigned number)
{
    begin(name, number);
    for (int i = 4, steps = 10 + (int)pick(30); i < steps; i++)
        step(i);
    check_say("in the end");
    close_file();
    open_file(false, false);
    read_all();
    close_file();
}

/* Runs until it is killed, some writes after the last flush. */
static void run_until_killed(const char *name, unsigned number)
{
    begin(name, number);
    for (int i = 4, steps = 10 + (int)pick(20); i < steps; i++)
        step(i);
    flush();
    bool written[SETS] = {false}; /* at most once each */
    for (size_t i = 0, writes = filter ? 0 : pick(4); i < writes; i++) {
        const int k = (int)pick(SETS);
        if (sets[k].is_there && sets[k].layout != COMPACT && !sets[k].alone && !written[k])
            write_set(k);
        written[k] = true;
    }
    if (!replay)
        raise(SIGKILL);
}

static void read_after(void)
{
    replay = false;
    open_file(false, false);
    for (int k = 0; k < SETS; k++) {
        const struct set *const s = &sets[k];
        if (!s->is_there)
            continue;
        double *data = check_alloc(elements(s) * sizeof *data);
        H5(H5Dread(open_set[k], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        for (size_t i = 0; i < elements(s); i++)
            if (!is_as(s, data[i], s->flushed[i], 0) && !is_as(s, data[i], s->value[i], 0))
                wrong("%s, element %zu: %.17g, not %.17g or %.17g", s->name, i, data[i],
                      s->flushed[i], s->value[i]);
        free(data);
    }
    for (int k = 0; k <= SETS; k++)
        read_note(k);
    close_file();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(argc >= 6);
    const char *const what = argv[1], *const name = argv[2];
    const unsigned first = (unsigned)atoi(argv[3]);
    const char *const within = argv[5];
    relative = strncmp(within, "rel=", 4) == 0;
    bound = atof(within + 4 * relative);
    gzip = argc > 6 && strncmp(argv[6], "gzip", 4) == 0;
    serial = argc > 6 && strstr(argv[6], "serial");
    filter = argc > 6;
    interp = filter && strstr(argv[6], "interp");
    once = filter && !serial;
    replay = strcmp(what, "after") == 0;
    if (strcmp(what, "run") == 0)
        for (unsigned i = 0; i < (unsigned)atoi(argv[4]); i++)
            run(name, first + i);
    else
        run_until_killed(name, first);
    if (replay)
        read_after();
    if (strcmp(what, "kill") == 0)
        puts("not killed");
    MPI_Finalize();
    return 0;
}
