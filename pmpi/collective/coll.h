/*
 * coll.h - what the files of the collective operations share. docs/architecture.md, section 7,
 * tells the protocol.
 *
 * A collective is wrapped in four steps, the same on all ranks of the communicator:
 *     zcall_begin    is it one that may be compressed?   decided by what every rank knows
 *     zcall_agree    one small reduction: can all, and shall we?
 *     zexchange_run, zrelay_run    the pieces
 *     zcall_end      errors, measurements, the report
 */
#ifndef ZMPI_COLL_H
#define ZMPI_COLL_H

#include <stdio.h>

#include "bound/fill.h"
#include "file/zfile.h"

/* ---- the operations: number, MPI name, the name in ZMPI_COLLECTIVES ---- */

#define ZOP_LIST(X)                                                                                \
    X(GATHER, "MPI_Gather", "gather")                                                              \
    X(GATHERV, "MPI_Gatherv", "gather")                                                            \
    X(SCATTER, "MPI_Scatter", "scatter")                                                           \
    X(SCATTERV, "MPI_Scatterv", "scatter")                                                         \
    X(ALLGATHER, "MPI_Allgather", "allgather")                                                     \
    X(ALLGATHERV, "MPI_Allgatherv", "allgather")                                                   \
    X(BCAST, "MPI_Bcast", "bcast")                                                                 \
    X(ALLTOALL, "MPI_Alltoall", "alltoall")                                                        \
    X(ALLTOALLV, "MPI_Alltoallv", "alltoall")

enum zop {
#define X(id, name, option) ZOP_##id,
    ZOP_LIST(X)
#undef X
        ZOPS
};

const char *zop_name(enum zop op);

/* ---- coll_comm.c: a communicator that was used for a collective ---- */

enum { ZCLASSES = 32 }; /* of sizes: factors of 4 */

/* How a call's data go: raw, or by the encoder of that number. */
enum { ZRAW, ZWAYS = 1 + ZCODECS };

/* What is known of one operation with blocks of one size class; the same on all ranks. */
struct zmeasured {
    double per_byte[ZWAYS]; /* seconds for a byte of the largest block; 0: not measured */
    double estimate[ZWAYS]; /* the same, from what calls that went another way took; 0: none */
    unsigned count[ZWAYS];  /* measurements */
    unsigned since[ZWAYS];  /* calls since the last one */
    int strange[ZWAYS];     /* this many in a row were far slower, or (< 0) faster, than before */
    unsigned world;         /* how often that was no accident: something has changed */
    unsigned seen[ZWAYS];   /* when it was measured */
    unsigned estimated;     /* when estimate[ZRAW] was made */
    bool like;              /* from messages of like size */
    unsigned skip;          /* calls to go raw without asking anybody */
    int best;
};

/* Seconds in which ranks wake up and messages come, which are none of the network's rate. */
#define ZLATENCY 5e-4

/* A part of a call's data by each encoder. */
struct zsample {
    double seconds[ZCODECS]; /* 0: not taken */
    double smaller;          /* how many times smaller the second encoder's stream is */
};

/* The last call that was measured. Ranks tell each other with the next call's agreement. */
struct zpending {
    bool any;
    int way;
    enum zop op;
    int size_class;
    double bytes;  /* of the largest block */
    double pieces; /* of it, each coded while others are sent */
    /* On this rank: seconds, */
    double elapsed, scan, compress, decode, codec; /* the last: of both together */
    double transfer;                               /* by the first messages; 0: not known */
    double raw, sent;                              /* bytes that it sent */
    struct zsample sample;
};

/* What calls that were compressed by the fixed rule took, and saved; the same on all ranks. */
struct zlosses {
    double elapsed, saved; /* seconds */
    bool said;
};

struct zcomm {
    MPI_Comm comm; /* the ranks of the program's, for our messages */
    int rank, ranks;
    bool one_node;               /* all ranks share memory */
    struct zmpi_options options; /* the same on all ranks */
    double settings;             /* a hash of them, of 53 bits */
    bool differed;               /* a line said that they differ between ranks */
    uint64_t calls;              /* compressed ones, the same on all ranks */
    struct zmpi_offload offload;
    uint64_t decoded; /* of its bytes, those that the report knows */
    struct zpending pending;
    struct zlosses losses;
    struct zmeasured measured[ZOPS][ZCLASSES];
    struct zmpi_codec_choice codec[ZOPS];    /* what the encoders did in them, for estimates */
    struct zmpi_axes_known axes[2];          /* of what was coded before: lossy; exact */
    struct zmpi_interp_known interp;         /* what interp predicted lossy data by */
    struct zmpi_components_known components; /* that were found in blocks */
    struct zmpi_comm_stats stats;
};

/* The state cached on the communicator, or NULL if it is unknown or not one of ours. */
struct zcomm *zcomm_find(MPI_Comm comm);
/* The same; makes it if it is missing. Collective. */
struct zcomm *zcomm_make(MPI_Comm comm);
/* Forgets all communicators: from MPI_Finalize on they are left to the MPI library. */
void zcomm_finalize(void);

/* ---- coll_block.c: what one rank gives to another ---- */

struct zblock {
    unsigned char *buf; /* as MPI is given it */
    const struct ztype *type;
    uint64_t bytes;
    const struct zmpi_device *holder; /* of the memory it is in; NULL: the host's */
    unsigned char *direct;            /* the data, if they are one stretch of memory */
    size_t shape[3];
    uint64_t piece; /* bytes that one message takes of it: whole planes or rows where they fit */
};

/* Bytes of whole planes or rows, where they fit into `most`. */
uint64_t zblock_whole(const struct zblock *b, uint64_t most);
uint64_t zblock_pieces(const struct zblock *b);
/* Bytes of the piece that begins at `at`. */
uint64_t zblock_piece(const struct zblock *b, uint64_t at);
struct zmpi_array zblock_array(const struct zblock *b, uint64_t bytes);
/* The array that one of n components of `whole` is. */
struct zmpi_array zblock_component(const struct zmpi_array *whole, size_t n);
/* Bytes of a block, in one stretch. */
struct zpart {
    unsigned char *data;
    const struct zmpi_device *holder; /* of the memory they are in; NULL: the host's */
    void *taken;                      /* to be given back to `taker` */
    const struct zmpi_device *taker;
};

/* The bytes [at, at + bytes), in place or copied, to scratch if that is in the host's memory.
 * False: a device's memory cannot be read. */
bool zblock_read(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *scratch,
                 struct zpart *part);
/* A buffer for bytes [at, at + bytes) until zblock_place: their place itself, or scratch memory. */
void zblock_destination(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *scratch,
                        struct zpart *part);
bool zblock_place(const struct zblock *b, uint64_t at, uint64_t bytes, const struct zpart *part);
/* Copies to scratch, unless the block is in the host's memory. False: it cannot be read. */
bool zpart_to_host(struct zpart *part, uint64_t bytes, unsigned char *scratch);
void zpart_free(struct zpart *part);
/* Copies from the host's memory. */
bool zblock_put(const struct zblock *b, uint64_t at, uint64_t bytes, const unsigned char *src);
bool zblock_copy(const struct zblock *to, const struct zblock *from, unsigned char *scratch);

/* One side of a collective's arguments: a block for each rank, or only one. */
struct zside {
    void *buf;
    MPI_Count count; /* of every block */
    MPI_Datatype datatype;
    /* The v forms: of each block, in one of two widths; NULL otherwise. */
    const int *counts, *places;
    const MPI_Count *large_counts;
    const MPI_Aint *large_places;
    struct ztype type; /* flattened, by zside_make */
    bool made;
};

/* A side by MPI's arguments: one block for each rank, all alike, or of the v forms. */
static inline struct zside zside_of(const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return (struct zside){.buf = (void *)(uintptr_t)buf, .count = count, .datatype = datatype};
}

static inline struct zside zside_of_v(const void *buf, const int counts[], const int places[],
                                      MPI_Datatype datatype)
{
    return (struct zside){
        .buf = (void *)(uintptr_t)buf, .datatype = datatype, .counts = counts, .places = places};
}

static inline struct zside zside_of_v_large(const void *buf, const MPI_Count counts[],
                                            const MPI_Aint places[], MPI_Datatype datatype)
{
    return (struct zside){.buf = (void *)(uintptr_t)buf,
                          .datatype = datatype,
                          .large_counts = counts,
                          .large_places = places};
}

/* Elements of block i. */
static inline MPI_Count zside_count(const struct zside *s, int i)
{
    return s->counts ? s->counts[i] : s->large_counts ? s->large_counts[i] : s->count;
}

bool zside_make(struct zside *s);
void zside_free(struct zside *s);
void zside_block(const struct zside *s, int i, const struct zmpi_options *o, struct zblock *b);
/* Data bytes of `count` elements; 0 if the arguments are wrong, which MPI will report. */
uint64_t zside_bytes(MPI_Count count, MPI_Datatype datatype);

/* ---- coll_call.c: one call on this rank ---- */

enum zcall_kind { ZCALL_COMPRESSED, ZCALL_RAW_FASTER, ZCALL_RAW_NODE, ZCALL_PASSED, ZCALL_KINDS };

/* Several components, interleaved or one behind the other in each block (coll_components.c). */
struct zapart {
    struct zmpi_range range[ZMPI_COMPONENTS_MOST];
    struct zmpi_fill fill[ZMPI_COMPONENTS_MOST];
    int only;                        /* while only values below `below` count: the only component */
    int place[ZMPI_COMPONENTS_MOST]; /* ratio: the place by which each was coded before */
};

struct zcall {
    struct zcomm *state;
    MPI_Comm comm; /* the program's */
    enum zop op;
    int root;       /* 0 if there is none; it counts the call for the report */
    bool exact;     /* whatever the bound */
    bool all_know;  /* every rank knew the size before the agreement */
    bool lossy;     /* values may change: this rank's, after the agreement any rank's */
    uint64_t bytes; /* of the largest block */
    uint64_t steps; /* pieces of the block that has most of them, of any rank */
    struct zmpi_range range;
    struct zmpi_fill fill;           /* possible fill values */
    double below;                    /* only values of smaller magnitudes count; 0: all */
    struct zmpi_ratio_search search; /* ratio: of all data of the call */
    int components;                  /* that this rank's data have, below 0: blocks, 0: it has no
                                        data; after the agreement those of all ranks, 1: one array
                                      */
    struct zapart apart;             /* of more than one */
    uint64_t sequence;
    bool measuring;
    enum zcall_kind kind;
    int way;               /* the encoder, if the call is compressed */
    double start, codec;   /* seconds */
    uint64_t scanned;      /* bytes, to find the range */
    double scan, compress; /* seconds; the rest of codec is decoding */
    double began;          /* the exchange, on all ranks about the same time; 0: not yet */
    double transfer;       /* seconds, as struct zpending has them */
    struct zsample sample;
    double raw, sent; /* bytes that this rank sent, as they were and as messages */
    int error;
};

/*
 * May this call be compressed? bytes: of the largest block if every rank knows it, else 0 (v
 * forms). `given`: what this rank contributes, for the report. `sent`: that, for a dry run, or
 * NULL; what a root alone sends counts there alone. False: the call goes to MPI as it is. Same
 * answer on all ranks.
 */
bool zcall_begin(struct zcall *c, enum zop op, int root, MPI_Comm comm, bool all_know,
                 uint64_t bytes, uint64_t given, struct zside *sent);
/* coll_dry.c: estimates what a call that goes to MPI unchanged would send. Collective. */
void zcall_dry(struct zcall *c, struct zside *sent);
/* Sends a dry run's rows of all processes to the first. Collective on MPI_COMM_WORLD. */
void zcall_dry_end(void);
/* Does the call choose its encoder? */
bool zcall_picks(const struct zcall *c);
/* Before the agreement: notes that there are data of this type. */
void zcall_look(struct zcall *c, enum zmpi_type element);
/* Same answer on all ranks: are all ready, and is the call compressed? bytes, steps: this rank's
 * largest. */
bool zcall_agree(struct zcall *c, bool ready, uint64_t bytes, uint64_t steps);
bool zcall_wants_range(const struct zcall *c);
/* Add a block to this rank's value range. */
void zcall_scan(struct zcall *c, const struct zblock *b, unsigned char *scratch);
/* Finds the range of all ranks' data. `scan` adds this rank's blocks, once, or again without
 * possible fill values. Collective. */
typedef void zcall_scan_fn(struct zcall *c, void *context);
int zcall_find_range(struct zcall *c, zcall_scan_fn *scan, void *context);
/*
 * For a ratio: one bound for all data, from samples of them. Collective: begin; add all blocks;
 * share; and again from add on while that says so.
 */
bool zcall_wants_ratio(const struct zcall *c);
void zcall_ratio_begin(struct zcall *c);
void zcall_ratio_add(struct zcall *c, const struct zblock *b, unsigned char *scratch);
bool zcall_ratio_share(struct zcall *c, int *rc);
double zcall_ratio_bound(const struct zcall *c); /* 0: without loss */
/* coll_sample.c: tries both encoders on a part of the block, before one is chosen. */
void zcall_sample(struct zcall *c, const struct zblock *b, unsigned char *scratch);
/* Log and remember an error; it is raised by zcall_end. */
void zcall_fail(struct zcall *c, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The block's data are in the memory of a device that has failed: logged once for each call. */
void zcall_unreadable(struct zcall *c, const struct zblock *b);
/* The end of a call, compressed or raw; rc: what MPI returned. */
int zcall_end(struct zcall *c, int rc);

/* ---- coll_components.c: data of several variables ---- */

/* Before the agreement: the components of a block of this rank; its pieces become whole points, or
 * of one component each. */
void zapart_look(struct zcall *c, struct zblock *b);
/* Of more than one: how many; else 0. */
static inline int zapart_number(const struct zcall *c)
{
    const int n = c->components < 0 ? -c->components : c->components;
    return n > 1 ? n : 0;
}
/* The component that the piece at `at` has, of blocks; else -1. */
static inline int zapart_block(const struct zcall *c, const struct zblock *b, uint64_t at)
{
    return c->components < 0 ? (int)(at / (b->bytes / (uint64_t)-c->components)) : -1;
}
/* For zcall_scan: scans the host's data of whole points. */
void zapart_scan(struct zcall *c, enum zmpi_type type, const void *data, size_t count);
/* For zcall_find_range: merges the ranges of all ranks. Collective. */
int zapart_share_ranges(struct zcall *c);
/* The job of a component, where `whole` is that of a piece, which is one array. */
bool zapart_job(const struct zcall *c, const struct zmpi_job *whole, int component,
                struct zmpi_job *job);
/* Codes a piece, which has a job as one array, to a stream for each interleaved component, less
 * than `bytes` in all; or returns 0. */
size_t zapart_compress(struct zcall *c, const struct zmpi_job *whole, const unsigned char *data,
                       size_t bytes, unsigned char *dst);
/* Replaces each component of a piece by its values after coding and decoding by fle. */
enum zmpi_status zapart_decode_own(const struct zcall *c, const struct zmpi_job *whole,
                                   unsigned char *data, size_t bytes);
/* Decodes `streams` streams, of `bytes` in all, to data. */
enum zmpi_status zapart_decode(struct zcall *c, int streams, const unsigned char *src, size_t size,
                               unsigned char *data, size_t bytes);

/* ---- coll_apart_ratio.c: a ratio of them; for zcall_ratio_begin, _add, _share and _bound ---- */

void zapart_ratio_begin(struct zcall *c);
/* block: the only component (zapart_block). False: no memory. */
bool zapart_ratio_add(struct zcall *c, const struct zmpi_array *whole, const void *data, int block);
int zapart_ratio_share(struct zcall *c);
/* The bound that was found, to an open job of a component. */
void zapart_ratio_apply(const struct zcall *c, int component, struct zmpi_job *job);
/* The largest that any component has. */
double zapart_ratio_bound(const struct zcall *c);

/* ---- coll_piece.c: a piece of a block as a message ---- */

enum { ZPIECE_HEAD = 64 };

/* Are floats numbers of this machine, or kept exactly (byte_order.h, of data in the host's memory;
 * element_type.h)? */
bool zpiece_has_numbers(const struct zcall *c, enum zmpi_type element, const void *data,
                        size_t bytes);
/* The job for `data` of a block, or for this many of its first bytes. False: there is none. Floats
 * that are no numbers are kept exactly. */
bool zpiece_job(const struct zcall *c, const struct zblock *b, const void *data, size_t bytes,
                int encoder, struct zmpi_job *job);
/* The job for an array of this range, in which the piece's own job has shown floats; open where a
 * ratio is asked. */
bool zpiece_make_job(const struct zcall *c, const struct zmpi_array *array,
                     const struct zmpi_bound *bound, const struct zmpi_range *range, int encoder,
                     struct zmpi_job *job);
/* Codes to a stream of less than `room` bytes, or returns 0. holder: of the data's memory, NULL:
 * the host's. */
size_t zpiece_stream(struct zcall *c, const struct zmpi_device *holder, const unsigned char *data,
                     struct zmpi_job *job, unsigned char *dst, size_t capacity);
/* Replaces the data by their values after coding and decoding by fle. */
enum zmpi_status zpiece_decode_own(const struct zmpi_job *job, unsigned char *data, size_t bytes);
/* Bytes for the message of any piece of a block of this size, and for the piece itself. */
size_t zpiece_capacity(const struct zmpi_options *o, uint64_t bytes);
/* Writes the message of the piece of b that begins at `at` to dst; returns its size. */
int zpiece_encode(struct zcall *c, const struct zblock *b, uint64_t at, unsigned char *dst,
                  unsigned char *scratch);

/* Data bytes by an unchecked message's own word: to be counted, not to be trusted. */
uint64_t zpiece_raw(const struct zcall *c, const unsigned char *message, int size);

/* Seconds that it was on its way, by its own word. */
double zpiece_age(const struct zcall *c, const unsigned char *message, int size);

struct zpiece_head {
    uint64_t at, raw;
    int streams; /* of as many components; 0: the bytes as they are */
};

/* Checks all of a message of rank `origin` for b. False: the error is reported. */
bool zpiece_check(struct zcall *c, const struct zblock *b, int origin, const unsigned char *message,
                  int size, struct zpiece_head *h);
/* Decodes a checked message to its place. */
bool zpiece_place(struct zcall *c, const struct zblock *b, int origin, const unsigned char *message,
                  int size, const struct zpiece_head *h, unsigned char *scratch);

/* ---- coll_lanes.c, coll_exchange.c: every pair of ranks has its own data ---- */

/* Between this rank and a peer. */
struct zlane {
    int peer;
    struct zblock out, in; /* bytes 0: nothing goes that way */
    bool in_place;         /* both are the same memory */
    uint64_t sent;         /* bytes of `out` in messages */
    uint64_t received;     /* bytes of `in` that arrived well */
    unsigned flying;       /* messages that may still be on their way out */
    uint64_t posted, arrived;
    uint64_t known; /* messages there are at least */
    bool all_known; /* and no more */
};

/* The working state of a call. The lanes are the same at both ends, in an order in which the first
 * unfinished one can always go on. */
struct zexchange {
    struct zlane *lane;
    size_t lanes;
    unsigned char *memory, *scratch; /* malloc'ed; a piece of it */
    size_t in_slots, out_slots, in_capacity, out_capacity;
};

enum { ZLANES = 4, ZSLOTS = 2 * ZLANES }; /* lanes at work at once; messages each way */

int zexchange_run(struct zcall *c, const struct zexchange *x);

/*
 * Does all of a gather, scatter or alltoall. A side that means nothing on this rank, or is
 * MPI_IN_PLACE, is NULL. False on all ranks: the call goes to MPI.
 */
bool zlanes_run(struct zcall *c, struct zside *send, struct zside *recv);

/* ---- coll_relay.c: the same data for all ranks ---- */

struct zrelay {
    const struct zblock *block; /* where data go, by origin */
    struct zblock *own;         /* what this rank brings, NULL: nothing */
    int origins;                /* ranks that bring data: all, or one */
    bool keep_own;              /* what it brings stays as it is */
    uint64_t bytes;             /* of the largest block */
    int from, to[2], to_count;  /* neighbours */
};

/* Does everything from the agreement on. ready: does this rank have all it needs? False on all
 * ranks: the call goes to MPI. */
bool zrelay_run(struct zcall *c, const struct zrelay *r, bool ready);

/* ---- coll_report.c ---- */

struct zcall_outcome {
    enum zop op;
    enum zcall_kind kind;
    bool counts;               /* this rank counts the call */
    bool by_time;              /* measured time decided what became of lossy data */
    double raw, sent, decoded; /* bytes; the last by other devices than the CPU */
    double seconds;
    double ratio_bound; /* absolute, that a ratio took; 0: none, or no ratio */
    int chosen;         /* the encoder that ZMPI_CODEC=auto took; 0: it was not asked */
    double coding;      /* seconds that encoding and decoding took here */
    /* Seconds of the call by each encoder, measured or estimated; 0: unknown. */
    double all[ZCODECS];
};

void zreport_collective(const struct zcall_outcome *outcome);
/* Adds the seconds that a call of all ranks saved against the other way. */
void zreport_saved(enum zop op, enum zcall_kind kind, double seconds);
/* Adds bytes that crossed the network, and their time. */
void zreport_link(enum zop op, double bytes, double seconds);
/* Collective on MPI_COMM_WORLD. True if there is something to say. */
bool zreport_collectives_sum(void);
void zreport_collectives_text(FILE *out, bool speak);
void zreport_collectives_json(FILE *out);

/* A call of a function that is only counted: data that this rank gives (or gets of a scatter). */
void zpassed(int function, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
             bool per_rank);
/* counts: int or MPI_Count, by their width. */
void zpassed_each(int function, const void *buf, const void *counts, size_t width,
                  MPI_Datatype datatype, MPI_Comm comm);

#endif
