/*
 * differential.h - random MPI-IO programs, each run on a compressed and on a plain file at once.
 *
 * A program is a list of lines of numbers (program.c), so that it can be kept in a file, cut down,
 * and printed as C (emit.c). The model (model.c, rules.c) knows what a correct library does with a
 * line, and whether MPI allows it there. generate.c appends only allowed lines; execute.c skips
 * others, so that any subset of the lines is a correct program again.
 *
 * A failing program runs again with two plain files and without the library: an error of the MPI
 * library itself is not zmpi's (differential.py).
 */
#ifndef ZMPI_TESTS_DIFFERENTIAL_H
#define ZMPI_TESTS_DIFFERENTIAL_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    RANKS = 4,
    FILES = 2,
    HANDLES = 3,
    TYPES = 96,
    ARGUMENTS = 40,
    FILE_BYTES = 4 << 20,   /* no access lies behind this */
    ACCESS_BYTES = 1 << 20, /* of one rank in one call */
    FLIGHTS = 8             /* requests of one rank under way */
};

/* ---- program.c: lines, as text and as numbers ---- */

enum what {
    LINE_TYPE,            /* id combiner ... */
    LINE_RAW,             /* file bytes seed: a plain file of somebody else's */
    LINE_OPEN,            /* file handle ranks amode staging */
    LINE_CLOSE,           /* handle */
    LINE_DELETE,          /* file */
    LINE_VIEW,            /* handle, for each rank: displacement etype filetype */
    LINE_ACCESS,          /* handle call ranks seed style, for each rank: offset type count flags */
    LINE_END,             /* handle: of the split collective */
    LINE_COMPLETE,        /* handle how: all requests */
    LINE_SEEK,            /* handle ranks whence, for each rank: offset */
    LINE_SEEK_SHARED,     /* handle whence offset */
    LINE_POSITION,        /* handle ranks */
    LINE_POSITION_SHARED, /* handle ranks */
    LINE_BYTE_OFFSET,     /* handle ranks offset */
    LINE_SIZE,            /* handle ranks */
    LINE_SET_SIZE,        /* handle bytes */
    LINE_PREALLOCATE,     /* handle bytes */
    LINE_SYNC,            /* file: sync, barrier, sync on all its handles */
    LINE_SYNC_ONE,        /* handle: a single sync, which orders nothing */
    LINE_ATOMICITY,       /* handle flag */
    LINE_INFO,            /* handle: view, mode, group, type extents, atomicity */
    LINE_ERROR,           /* handle ranks which: a call that must fail */
    LINES
};

struct line {
    enum what what;
    int n;
    int64_t a[ARGUMENTS];
};

struct program {
    int ranks;
    struct line *line;
    int count, capacity;
};

extern const char *const line_names[LINES];
void program_add(struct program *p, const struct line *l);
void program_free(struct program *p);
bool program_read(struct program *p, FILE *f);
void program_write(const struct program *p, FILE *f);
/* Argument i, 0 if the line is shorter. */
int64_t line_arg(const struct line *l, int i);
/* Of rank r, whose `width` arguments begin behind the first `fixed` ones. */
int64_t line_rank_arg(const struct line *l, int fixed, int width, int r, int i);
void *need(void *p); /* ends the program when there is no memory */

/* ---- random numbers ---- */

struct chance {
    uint64_t state;
};

uint64_t chance_next(struct chance *c);
/* 0 .. n-1 */
int64_t chance_below(struct chance *c, int64_t n);
bool chance_of(struct chance *c, int percent);

/* ---- program.c: the data access calls ---- */

enum where { AT, POINTER, SHARED };
enum how { BLOCKING, COLLECTIVE, NONBLOCKING, NONBLOCKING_ALL, SPLIT };

struct call {
    const char *name; /* behind "MPI_File_" */
    bool writes;
    enum where where;
    enum how how;
};

enum { CALLS = 28 };
extern const struct call calls[CALLS];
bool call_is_collective(const struct call *c);

enum { IGNORE_STATUS = 1, BOTTOM = 2, LARGE_COUNT = 4 };

/* ---- types.c: datatypes, independently of the MPI library ---- */

enum combiner {
    T_BASIC,          /* which */
    T_CONTIGUOUS,     /* child count */
    T_VECTOR,         /* child count length stride (elements) */
    T_HVECTOR,        /* the same, stride in bytes */
    T_INDEXED,        /* child n, n times: length displacement */
    T_HINDEXED,       /* the same, displacement in bytes */
    T_INDEXED_BLOCK,  /* child n length displacements */
    T_HINDEXED_BLOCK, /* the same, displacement in bytes */
    T_STRUCT,         /* lb extent n, n times: child length displacement; resized to lb, extent */
    T_RESIZED,        /* child lb extent */
    T_SUBARRAY,       /* child order dimensions, for each: size subsize start */
    T_DARRAY,         /* child order ranks rank dimensions, for each: size how argument grid */
    T_DUP,            /* child */
    COMBINERS
};

enum { BASICS = 12, DIMENSIONS_MAX = 3 };
/* Distributions of T_DARRAY. */
enum { BLOCK, CYCLIC, NONE };

struct part {
    int64_t offset;
    int32_t size;
    bool is_number; /* MPI_FLOAT or MPI_DOUBLE, by its size */
};

struct type {
    struct line *line; /* NULL: no such type */
    int64_t lb, extent, size;
    struct part *part; /* the type map, one for each basic element */
    int parts, capacity;
    bool even;   /* all parts have the same size */
    bool rising; /* not negative, monotonic, without overlap: fit for a file that is written */
    bool odd;    /* more than one level of holes, blocks without data, a lower bound,
                    or a darray of derived types */
    bool counts_twice;  /* holds basic types of two numbers */
    bool built, usable; /* `usable`: the MPI library's own idea of it is right */
    MPI_Datatype mpi;
};

struct types {
    struct type type[TYPES];
    int refused; /* types that the MPI library gets wrong */
    int built;
};

/* Adds what the line says, or nothing if it makes no sense. */
bool type_define(struct types *all, const struct line *l);
const struct type *type_get(const struct types *all, int64_t id);
/* Lowest and highest byte of n items, from the address MPI is given. */
void type_span(const struct type *t, int64_t n, int64_t *low, int64_t *high);
/* Between bytes in a row and n items in memory. */
void type_scatter(const struct type *t, int64_t n, unsigned char *origin,
                  const unsigned char *packed, int64_t bytes);
void type_gather(const struct type *t, int64_t n, const unsigned char *origin,
                 unsigned char *packed);
/* The MPI library's handle, or MPI_DATATYPE_NULL if it gets the type wrong. */
MPI_Datatype type_mpi(struct types *all, int64_t id);
void types_free(struct types *all);
const char *basic_name(int which);
int basic_size(int which);

/* ---- model.c, rules.c: what a correct library does ---- */

struct view {
    int64_t displacement;
    int64_t etype, filetype; /* ids */
};

struct handle {
    bool open;
    int file, ranks; /* ranks: a mask */
    bool raw;        /* plain on both sides */
    int amode;
    bool atomic;
    struct view view[RANKS];
    bool same_view;
    int64_t position[RANKS]; /* data bytes of the view; -1: the standard does not say */
    int64_t shared;
    int split; /* call + 1 of the split collective under way */
    int flights[RANKS];
};

/* The history of a byte since the last synchronisation. An actor is a rank with a handle. */
struct byte {
    unsigned char value;
    unsigned char writer;   /* actor + 1 */
    unsigned short readers; /* mask of actors */
    unsigned char busy;     /* 1: being read, 2: being written, by calls that are not complete */
    unsigned char mark;     /* actor + 1, within one line */
};

enum { ACTORS = RANKS * HANDLES };

struct file {
    bool exists, raw;    /* raw: not made through the library */
    int64_t size;        /* as of the last synchronisation */
    int64_t end[ACTORS]; /* of an actor's own writes since then */
    int seen;            /* actors that looked at the size since then */
    bool busy_size;      /* calls under way move it or depend on it */
    int64_t touched;
    struct byte *byte;
};

struct model {
    int ranks;
    bool shared_opens; /* a file may be open twice */
    bool numbers;      /* what is written as numbers is some, which a bound does not change */
    struct types types;
    struct file file[FILES];
    struct handle handle[HANDLES];
};

void model_init(struct model *m, int ranks);
void model_reset(struct model *m); /* a new program */
void model_free(struct model *m);

/* One rank's part of a LINE_ACCESS. */
struct move {
    bool takes_part;
    int64_t position, bytes; /* in the view; as asked */
    int64_t available;       /* fewer, if the file ends */
    int64_t *offset;         /* where each byte lies in the file */
    int64_t type, count;
    int flags;
};

void moves_free(struct move move[RANKS]);
/* Does MPI allow this line now? For LINE_ACCESS, `move` tells what it does. */
bool model_allows(struct model *m, const struct line *l, struct move move[RANKS]);
/* Do it. */
void model_apply(struct model *m, const struct line *l, struct move move[RANKS]);
/* Must the open, or this kind of deliberately wrong call, fail? */
bool model_open_works(const struct model *m, const struct line *l);

int64_t view_offset(const struct model *m, const struct view *v, int64_t position);
/* Etypes of the view below the end of the file. */
int64_t view_end(const struct model *m, const struct view *v, int64_t size);
int64_t view_etype(const struct model *m, const struct view *v);
/* The size of the file as this rank may know it; -1 if others are changing it. */
int64_t model_size(const struct model *m, int handle, int rank);
/* What one rank writes. */
void move_data(const struct model *m, const struct line *l, const struct move *v, int rank,
               unsigned char *data);
void fill(unsigned char *data, int64_t n, int64_t seed, int style);
enum { STYLES = 6 };

enum wrong {
    WRONG_WRITE,       /* writing what was opened for reading */
    WRONG_READ,        /* and the reverse */
    WRONG_OFFSET_READ, /* negative */
    WRONG_OFFSET_WRITE,
    WRONG_SEEK,
    WRONG_WHENCE,
    WRONG_COUNT,
    WRONG_TYPE,
    WRONG_BYTE_OFFSET,
    WRONG_SET_SIZE, /* negative */
    WRONG_SET_SIZE_RDONLY,
    WRONG_PREALLOCATE,
    WRONG_DATAREP,
    WRONG_DISPLACEMENT,
    WRONG_SEQUENTIAL, /* explicit offset */
    WRONGS
};

/* ---- generate.c ---- */

struct wishes {
    bool shared_opens, atomic, large;
};

void generate(struct program *p, struct model *m, const struct wishes *w, uint64_t seed);
/* generate_types.c: a new line LINE_TYPE of the program; its id, or -1. */
int64_t generate_filetype(struct program *p, struct model *m, struct chance *c, int64_t etype,
                          int rank, int ranks, uint64_t pattern);
int64_t generate_memory(struct program *p, struct model *m, struct chance *c, int64_t etype,
                        bool writes, int64_t wanted);
int64_t generate_etype(struct program *p, struct model *m, struct chance *c);

/* ---- execute.c: both files ---- */

struct totals {
    int64_t programs, lines, skipped, accesses;
    int64_t deviations; /* the plain file was not as the standard says, the compressed one was */
    int64_t containers, made_plain;
};

struct session {
    int rank, ranks;
    MPI_Comm comm[1 << RANKS]; /* by mask */
    const char *folder;
    const char *sabotage; /* call whose result is falsified, or NULL */
    int64_t lines;        /* run no more of a program */
    struct totals totals;
};

void execute(struct session *s, struct model *m, const struct program *p);

/* ---- quirks.c: what MPI libraries cannot do ---- */

/* Can the plain file have this view? Otherwise the program goes on without a plain file. */
bool quirks_bear_view(const struct type *etype, const struct type *filetype, bool sequential);
/* Can the plain file be accessed in this way, or by quirks_simple_call from contiguous bytes? */
enum bearing { CAN, SIMPLY, CANNOT };
enum bearing quirks_bear_access(const struct model *m, const struct line *l,
                                const struct move move[RANKS]);
int quirks_simple_call(int which);
bool quirks_bear_preallocate(void);
bool quirks_bear_open(const struct model *m, const struct line *l);
bool quirks_bear_sync(const struct model *m);
/* Can it be called as in LINE_ERROR? */
bool quirks_bear_error(enum wrong which);

/* ---- compare.c ---- */

/* What is being done, for messages. */
void compare_context(int64_t program, int line, const char *what);
/* After so many seconds the process ends itself and says where it was; 0: never. */
void compare_watch(unsigned seconds);
/* untouched: both files are plain; alone: there is no plain file. */
void compare_files(bool untouched, bool alone);
bool compare_is_untouched(void);
extern int64_t compare_deviations;
extern bool compare_verbose; /* name deviations */
extern bool compare_trace;   /* and every line */
extern bool compare_plain;   /* both files are plain: can the MPI library do this program? */
extern int64_t
    compare_strict_line; /* then: in this line, without an error; 0: without a crash and in time */
_Noreturn void compare_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* z: compressed, p: plain. Without a model the two must agree; with one, z must agree with it. */
void compare_both(const char *what, int64_t z, int64_t p);
void compare_three(const char *what, int64_t z, int64_t p, int64_t model);
void compare_bytes(const char *what, const unsigned char *z, const unsigned char *p,
                   const unsigned char *model, int64_t n);
/* For a call that must fail. MPI libraries differ in the error class, and some accept such calls.
 */
void compare_wrong(const char *what, int z, int p);
int error_class(int rc);

/* ---- emit.c ---- */

void emit(const struct program *p, struct model *m, FILE *out);

#endif
