/*
 * field_io: writes a raw field through MPI-IO, reads it back, and compares, on any number of ranks.
 *
 *     mpirun -n 4 field_io write -t f32 -d 40x128x128 IN.raw FILE
 *     mpirun -n 3 field_io read  -t f32 -d 40x128x128 FILE OUT.raw
 *     mpirun -n 2 field_io check -t f32 -d 40x128x128 -e 1e-3 IN.raw FILE
 *
 * The field is cut into blocks, one per rank. Options select the ways in which programs use MPI-IO:
 * collective or independent, explicit offsets or the file pointer, a whole block, a plane or a row
 * per call. It is an ordinary MPI program.
 */
#include "field_io.h"
#include "app_common.h"

#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum command { COMMAND_WRITE, COMMAND_READ, COMMAND_CHECK };

enum pieces { PIECES_DEFAULT, PIECES_ROW, PIECES_PLANE, PIECES_BLOCK };

struct options {
    enum command command;
    bool independent;
    bool pointer;
    enum pieces pieces;
    const char *type;
    const char *extents;
    double allowed;
    const char *first;
    const char *second;
};

/* One open shared file, and how it is accessed. */
struct transfer {
    const struct options *options;
    const char *path;
    MPI_File file;
    bool write;
};

static void field_set_extents(struct field *f, const char *text)
{
    enum { MOST = 16 };
    long long extents[MOST];
    int given = app_parse_extents(text, MOST, INT_MAX, extents);
    if (given == 0) {
        app_fail_together("-d %s: expected extents such as 64x128x128, each from 1 to %d", text,
                          INT_MAX);
    }
    f->dimensions = given < 3 ? given : 3;
    f->elements = 1;
    for (int i = 0; i < 3; i++) {
        f->size[i] = 1;
    }
    for (int i = 0; i < given; i++) {
        f->elements = app_multiply(f->elements, (size_t)extents[i]);
        /* The last three extents stand for themselves, all before them join the slowest one. */
        int d = 3 - given + i > 0 ? 3 - given + i : 0;
        long long folded = f->size[d] * extents[i];
        if (folded > INT_MAX) {
            app_fail_together("-d %s: the leading extents multiply to more than %d", text, INT_MAX);
        }
        f->size[d] = (int)folded;
    }
    if (f->elements > INT64_MAX / f->element) {
        app_fail_together("-d %s: the field is too large", text);
    }
}

static void field_place_block(struct field *f)
{
    int ranks = 1;
    int rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    /* Only extents above 1 are cut, but MPI_Dims_create needs one it may choose. */
    int cut[3] = {f->size[0] > 1 ? 0 : 1, f->size[1] > 1 ? 0 : 1, 0};
    MPI_Dims_create(ranks, 3, cut);
    int place[3] = {rank / (cut[1] * cut[2]), rank / cut[2] % cut[1], rank % cut[2]};
    f->own = 1;
    for (int d = 0; d < 3; d++) {
        struct app_range own = app_split(f->size[d], cut[d], place[d]);
        f->start[d] = own.start;
        f->count[d] = own.count;
        f->own = app_multiply(f->own, (size_t)own.count);
    }
    if (f->own == 0) {
        memset(f->start, 0, sizeof f->start);
        memset(f->count, 0, sizeof f->count);
    }
}

static void field_create(struct field *f, const struct options *o)
{
    *f = (struct field){.is_double = strcmp(o->type, "f64") == 0};
    f->element = f->is_double ? sizeof(double) : sizeof(float);
    f->type = f->is_double ? MPI_DOUBLE : MPI_FLOAT;
    field_set_extents(f, o->extents);
    field_place_block(f);
}

static enum pieces pieces_of(const struct options *o)
{
    if (o->pieces != PIECES_DEFAULT) {
        return o->pieces;
    }
    return o->independent ? PIECES_PLANE : PIECES_BLOCK;
}

/* Rows are addressed in bytes of the whole file, planes and blocks through a view of the block. */
static void transfer_set_view(const struct transfer *t, const struct field *f)
{
    if (pieces_of(t->options) == PIECES_ROW) {
        return;
    }
    MPI_Datatype view = MPI_DATATYPE_NULL;
    if (f->own == 0) {
        MPI_Type_dup(f->type, &view); /* a subarray may not be empty */
    } else {
        int leading = 3 - f->dimensions;
        view = app_subarray(f->dimensions, f->size + leading, f->count + leading,
                            f->start + leading, f->type);
    }
    int rc = MPI_File_set_view(t->file, 0, f->type, view, "native", MPI_INFO_NULL);
    app_check_io(rc, "MPI_File_set_view", t->path);
    MPI_Type_free(&view);
}

static void transfer_open(struct transfer *t, const struct field *f)
{
    int mode = MPI_MODE_RDONLY;
    if (t->write) {
        app_delete_file(MPI_COMM_WORLD, t->path);
        mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
    }
    int rc = MPI_File_open(MPI_COMM_WORLD, t->path, mode, MPI_INFO_NULL, &t->file);
    app_check_io(rc, "MPI_File_open", t->path);
    if (!t->write) {
        MPI_Offset size = 0;
        app_check_io(MPI_File_get_size(t->file, &size), "MPI_File_get_size", t->path);
        if (size < 0 || (size_t)size != f->elements * f->element) {
            app_fail("%s: holds %lld bytes, but %zu elements of %zu bytes are %zu", t->path,
                     (long long)size, f->elements, f->element, f->elements * f->element);
        }
    }
    transfer_set_view(t, f);
}

static int write_piece(const struct transfer *t, MPI_Offset at, const void *data, int count,
                       MPI_Datatype type, MPI_Status *status, const char **call)
{
    if (t->options->pointer && t->options->independent) {
        *call = "MPI_File_write";
        return MPI_File_write(t->file, data, count, type, status);
    }
    if (t->options->pointer) {
        *call = "MPI_File_write_all";
        return MPI_File_write_all(t->file, data, count, type, status);
    }
    if (t->options->independent) {
        *call = "MPI_File_write_at";
        return MPI_File_write_at(t->file, at, data, count, type, status);
    }
    *call = "MPI_File_write_at_all";
    return MPI_File_write_at_all(t->file, at, data, count, type, status);
}

static int read_piece(const struct transfer *t, MPI_Offset at, void *data, int count,
                      MPI_Datatype type, MPI_Status *status, const char **call)
{
    if (t->options->pointer && t->options->independent) {
        *call = "MPI_File_read";
        return MPI_File_read(t->file, data, count, type, status);
    }
    if (t->options->pointer) {
        *call = "MPI_File_read_all";
        return MPI_File_read_all(t->file, data, count, type, status);
    }
    if (t->options->independent) {
        *call = "MPI_File_read_at";
        return MPI_File_read_at(t->file, at, data, count, type, status);
    }
    *call = "MPI_File_read_at_all";
    return MPI_File_read_at_all(t->file, at, data, count, type, status);
}

/* One call; `count` objects of `type` hold `elements` elements. `at` is in the view's unit. */
static void transfer_piece(const struct transfer *t, const struct field *f, size_t at, void *data,
                           int count, MPI_Datatype type, size_t elements)
{
    if (t->options->pointer && pieces_of(t->options) == PIECES_ROW) {
        int rc = MPI_File_seek(t->file, (MPI_Offset)at, MPI_SEEK_SET);
        app_check_io(rc, "MPI_File_seek", t->path);
    }
    MPI_Status status;
    const char *call = "";
    int rc = t->write ? write_piece(t, (MPI_Offset)at, data, count, type, &status, &call)
                      : read_piece(t, (MPI_Offset)at, data, count, type, &status, &call);
    app_check_io(rc, call, t->path);
    app_check_count(&status, f->type, elements, call, t->path);
}

/* The number of calls on this rank; a collective loop needs the same number everywhere. */
static long long calls_needed(const struct options *o, long long own)
{
    long long most = own;
    if (!o->independent) {
        MPI_Allreduce(&own, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    }
    return most;
}

static void transfer_rows(const struct transfer *t, const struct field *f, char *block)
{
    size_t row = (size_t)f->count[2];
    long long rows = (long long)f->count[0] * f->count[1];
    long long calls = calls_needed(t->options, rows);
    for (long long i = 0; i < calls; i++) {
        if (i >= rows) {
            transfer_piece(t, f, 0, block, 0, f->type, 0);
            continue;
        }
        size_t at = field_row_start(f, (int)(i / f->count[1]), (int)(i % f->count[1]));
        transfer_piece(t, f, at * f->element, block + (size_t)i * row * f->element, f->count[2],
                       f->type, row);
    }
}

/* Plane after plane, or all planes at once. */
static void transfer_planes(const struct transfer *t, const struct field *f, char *block)
{
    size_t plane = (size_t)f->count[1] * (size_t)f->count[2];
    bool whole = pieces_of(t->options) == PIECES_BLOCK;
    size_t piece = whole ? f->own : plane;
    long long own = f->own == 0 ? 0 : whole ? 1 : f->count[0];
    long long calls = calls_needed(t->options, own);

    /* An int count may be too small for the elements of a piece; rows as elements are enough. */
    bool by_row = piece > INT_MAX;
    MPI_Datatype type = f->type;
    if (by_row) {
        MPI_Type_contiguous(f->count[2], f->type, &type);
        MPI_Type_commit(&type);
        if (piece / (size_t)f->count[2] > INT_MAX) {
            app_fail("a piece has more than %d rows; use more ranks", INT_MAX);
        }
    }
    int count = (int)(by_row ? piece / (size_t)f->count[2] : piece);
    for (long long i = 0; i < calls; i++) {
        bool mine = i < own;
        size_t at = mine ? (size_t)i * piece : 0;
        transfer_piece(t, f, at, block + at * f->element, mine ? count : 0, type, mine ? piece : 0);
    }
    if (by_row) {
        MPI_Type_free(&type);
    }
}

/* Moves this rank's block to or from the shared file. Returns the seconds it took. */
static double transfer_block(const struct options *o, const struct field *f, const char *path,
                             void *block, bool write)
{
    struct transfer t = {.options = o, .path = path, .file = MPI_FILE_NULL, .write = write};
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    transfer_open(&t, f);
    if (pieces_of(o) == PIECES_ROW) {
        transfer_rows(&t, f, block);
    } else {
        transfer_planes(&t, f, block);
    }
    app_check_io(MPI_File_close(&t.file), "MPI_File_close", path);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* Prints the verdict on rank 0. Returns 0 when every element is as allowed, 1 otherwise. */
static int report_difference(const struct field *f, const struct difference *mine)
{
    double largest = 0;
    long long counts[3] = {mine->beyond, mine->special, mine->differing};
    long long sums[3] = {0, 0, 0};
    MPI_Allreduce(&mine->largest, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(counts, sums, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("field_io: max_error=%.17g beyond=%lld special_changed=%lld differing=%lld "
               "elements=%zu\n",
               largest, sums[0], sums[1], sums[2], f->elements);
    }
    return sums[0] > 0 || sums[1] > 0 ? 1 : 0;
}

static int run(const struct options *o)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct field f;
    field_create(&f, o);
    if (o->command != COMMAND_READ && rank == 0) {
        raw_check_size(&f, o->first);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    size_t bytes = f.elements * f.element;
    void *block = app_allocate(f.own, f.element);
    int status = 0;
    if (o->command == COMMAND_WRITE) {
        raw_read_block(&f, o->first, block);
        double seconds = transfer_block(o, &f, o->second, block, true);
        if (rank == 0) {
            printf("field_io: wrote %zu bytes in %.6f s\n", bytes, seconds);
        }
    } else if (o->command == COMMAND_READ) {
        double seconds = transfer_block(o, &f, o->first, block, false);
        raw_write_block(&f, o->second, block);
        if (rank == 0) {
            printf("field_io: read %zu bytes in %.6f s\n", bytes, seconds);
        }
    } else {
        void *original = app_allocate(f.own, f.element);
        raw_read_block(&f, o->first, original);
        transfer_block(o, &f, o->second, block, false);
        struct difference mine = compare_blocks(&f, original, block, o->allowed);
        status = report_difference(&f, &mine);
        free(original);
    }
    free(block);
    return status;
}

static void usage(FILE *to)
{
    fputs("Usage: field_io write [OPTIONS] -t f32|f64 -d EXTENTS IN.raw FILE\n"
          "       field_io read  [OPTIONS] -t f32|f64 -d EXTENTS FILE OUT.raw\n"
          "       field_io check [OPTIONS] -t f32|f64 -d EXTENTS [-e MAXABS] IN.raw FILE\n"
          "Moves a raw field to or from FILE through MPI-IO, one block of it per rank.\n\n"
          "  -t f32|f64       element type\n"
          "  -d EXTENTS       such as 64x128x128, slowest first; 4 and more are folded to 3\n"
          "  -e MAXABS        largest error allowed (0); NaN, infinities and fill values from\n"
          "                   1e20 up must be identical in any case\n"
          "  --independent    independent calls (default: collective)\n"
          "  --pointer        individual file pointer (default: explicit offsets)\n"
          "  --pieces WHAT    row, plane or block per call (block; plane with --independent);\n"
          "                   rows are addressed in bytes without a view, the others through\n"
          "                   a view of the rank's block\n"
          "  --help           this help\n\n"
          "Exit status: 0 if all is well, 1 on failure or a difference, 2 on wrong usage.\n",
          to);
}

static int parse_pieces(const char *text, enum pieces *pieces)
{
    static const char *const names[] = {"", "row", "plane", "block"};
    for (int i = PIECES_ROW; i <= PIECES_BLOCK; i++) {
        if (strcmp(text, names[i]) == 0) {
            *pieces = (enum pieces)i;
            return 0;
        }
    }
    return -1;
}

static int parse_allowed(const char *text, double *allowed)
{
    char *end = NULL;
    *allowed = strtod(text, &end);
    return end != text && *end == '\0' && *allowed >= 0 ? 0 : -1;
}

static int parse_command(const char *text, enum command *command)
{
    static const char *const names[] = {"write", "read", "check"};
    for (int i = COMMAND_WRITE; i <= COMMAND_CHECK; i++) {
        if (strcmp(text, names[i]) == 0) {
            *command = (enum command)i;
            return 0;
        }
    }
    return -1;
}

/* Returns 0 to run, 1 when help was asked for, 2 on a wrong command line. */
static int parse_options(struct options *o, int argc, char **argv)
{
    static const struct option longer[] = {
        {"independent", no_argument, NULL, 'I'},
        {"pointer", no_argument, NULL, 'P'},
        {"pieces", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int bad = 0;
    int option = 0;
    while (bad == 0 && (option = getopt_long(argc, argv, "t:d:e:h", longer, NULL)) != -1) {
        switch (option) {
        case 't':
            o->type = optarg;
            bad = strcmp(optarg, "f32") != 0 && strcmp(optarg, "f64") != 0;
            break;
        case 'd':
            o->extents = optarg;
            break;
        case 'e':
            bad = parse_allowed(optarg, &o->allowed);
            break;
        case 'p':
            bad = parse_pieces(optarg, &o->pieces);
            break;
        case 'I':
            o->independent = true;
            break;
        case 'P':
            o->pointer = true;
            break;
        case 'h':
            return 1;
        default:
            return 2;
        }
    }
    if (bad != 0 || argc - optind != 3 || o->type == NULL || o->extents == NULL ||
        parse_command(argv[optind], &o->command) != 0) {
        return 2;
    }
    o->first = argv[optind + 1];
    o->second = argv[optind + 2];
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    app_set_name("field_io");
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    struct options options = {0};
    opterr = rank == 0;
    int parsed = parse_options(&options, argc, argv);
    int status = 0;
    if (parsed != 0) {
        if (rank == 0) {
            usage(parsed == 1 ? stdout : stderr);
        }
        status = parsed == 1 ? 0 : 2;
    } else {
        status = run(&options);
    }
    MPI_Finalize();
    return status;
}
