/*
 * coll.h - what the files of the collective operations share. docs/architecture.md, section 7,
 * describes the protocol.
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

/* What is known about one operation with blocks of one size class; the same on all ranks. */
struct zmeasured {
    double per_byte[ZWAYS]; /* seconds for a byte of the largest block; 0: not measured */
    double estimate[ZWAYS]; /* the same, estimated from calls that went another way; 0: none */
    unsigned count[ZWAYS];  /* measurements */
    unsigned since[ZWAYS];  /* calls since the last one */
    int strange[ZWAYS];     /* this many in a row were far slower, or (< 0) faster, than before */
    unsigned world;         /* how often such a row showed that something has changed */
    unsigned seen[ZWAYS];   /* value of `world` at the measurement */
    unsigned estimated;     /* value of `world` when estimate[ZRAW] was made */
    bool like;              /* the estimate is from messages of similar size */
    double untimed;         /* seconds of calls by the fixed rule since raw was last timed */
    unsigned skip;          /* the next calls go raw without an agreement, this many */
    int best;
};

/* Seconds that ranks take to wake up and messages to start. They say nothing about the network's
 * rate. */
#define ZLATENCY 5e-4

/* What each encoder made of a part of a call's data. */
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
    bool by_rule;  /* compressed whatever it takes */
    double bytes;  /* of the largest block */
    double pieces; /* of that block; one is coded while others are sent */
    /* Seconds on this rank, */
    double elapsed, scan, compress, decode, codec; /* codec: compress and decode together */
    double transfer;                               /* seconds, by the first messages; 0: unknown */
    double raw, sent;                              /* bytes that it sent */
    struct zsample sample;
};

/* What calls took and saved that the fixed rule compressed; the same on all ranks. */
struct zlosses {
    double elapsed, saved; /* seconds */
    bool said;
};

struct zcomm {
    MPI_Comm comm; /* our own, with the same ranks, for our messages */
    int rank, ranks;
    bool one_node;               /* all ranks share memory */
    struct zmpi_options options; /* the same on all ranks */
    double settings;             /* a hash of them, of 53 bits */
    bool differed;               /* a line said that they differ between ranks */
    uint64_t calls;              /* compressed ones, the same on all ranks */
    struct zmpi_offload offload;
    uint64_t decoded; /* bytes decoded by devices that the report has counted */
    struct zpending pending;
    struct zlosses losses;
    struct zmeasured measured[ZOPS][ZCLASSES];
    struct zmpi_codec_choice codec[ZOPS];    /* what encoders did, for estimates */
    struct zmpi_axes_known axes[2];          /* axes of earlier data: [0] lossy, [1] exact */
    struct zmpi_interp_known interp;         /* how interp predicted earlier lossy data */
    struct zmpi_components_known components; /* components that were found in blocks */
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
    unsigned char *buf; /* the program's buffer */
    const struct ztype *type;
    uint64_t bytes;
    const struct zmpi_device *holder; /* the device whose memory it is in; NULL: the host */
    unsigned char *direct;            /* the data, if they are one stretch of memory */
    size_t shape[3];
    uint64_t piece; /* bytes of it in one message: whole planes or rows, if they fit */
};

/* Returns the bytes of the whole planes or rows that fit into `most`. */
uint64_t zblock_whole(const struct zblock *b, uint64_t most);
uint64_t zblock_pieces(const struct zblock *b);
/* Returns the bytes of the piece that begins at `at`. */
uint64_t zblock_piece(const struct zblock *b, uint64_t at);
struct zmpi_array zblock_array(const struct zblock *b, uint64_t bytes);
/* Returns the array of one of n components of `whole`. */
struct zmpi_array zblock_component(const struct zmpi_array *whole, size_t n);
/* Bytes of a block, in one stretch. */
struct zpart {
    unsigned char *data;
    const struct zmpi_device *holder; /* the device whose memory they are in; NULL: the host */
    void *taken;                      /* goes back to `taker` */
    const struct zmpi_device *taker;
};

/* Gives the bytes [at, at + bytes): in place, or as a copy, which is in scratch if it is in the
 * host's memory. False: a device's memory cannot be read. */
bool zblock_read(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *scratch,
                 struct zpart *part);
/* Gives a buffer for bytes [at, at + bytes), which zblock_place puts into their place: that place
 * itself, or scratch memory. */
void zblock_destination(const struct zblock *b, uint64_t at, uint64_t bytes, unsigned char *scratch,
                        struct zpart *part);
bool zblock_place(const struct zblock *b, uint64_t at, uint64_t bytes, const struct zpart *part);
/* Copies the part to scratch, unless it is in the host's memory. False: it cannot be read. */
bool zpart_to_host(struct zpart *part, uint64_t bytes, unsigned char *scratch);
void zpart_free(struct zpart *part);
/* Copies bytes from the host's memory into the block. */
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

/* Makes a side from MPI's arguments: one block for each rank, all of the same size or, for the v
 * forms, of their own. */
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

/* A call with several components, interleaved or one behind the other in each block
 * (coll_components.c). */
struct zapart {
    struct zmpi_range range[ZMPI_COMPONENTS_MOST];
    struct zmpi_fill fill[ZMPI_COMPONENTS_MOST];
    struct zmpi_fills fills[ZMPI_COMPONENTS_MOST];
    int only;                        /* the one component that a scan `again` is for */
    int place[ZMPI_COMPONENTS_MOST]; /* for a ratio: the place by which each was coded before */
};

struct zcall {
    struct zcomm *state;
    MPI_Comm comm; /* the program's */
    enum zop op;
    int root;       /* 0 if the call has none; the root counts the call for the report */
    bool exact;     /* without loss, whatever the bound */
    bool all_know;  /* every rank knew the size before the agreement */
    bool lossy;     /* values may change: before the agreement this rank's, afterwards any rank's */
    uint64_t bytes; /* of the largest block */
    uint64_t steps; /* pieces of the block with the most pieces, of all ranks */
    struct zmpi_range range;
    struct zmpi_fill fill;           /* possible fill values */
    struct zmpi_fills fills;         /* those that the user names, and others that were found */
    bool again;                      /* a scan without fill values: */
    double below;                    /* only values of smaller magnitudes count; 0: all */
    struct zmpi_fills without;       /* these do not */
    struct zmpi_ratio_search search; /* for a ratio of all data of the call */
    int components;                  /* of this rank's data; below 0: blocks; 0: it has no data.
                                      * After the agreement those of all ranks; 1: one array */
    struct zapart apart;             /* if there is more than one component */
    uint64_t sequence;
    bool measuring;
    enum zcall_kind kind;
    int way;               /* the encoder, if the call is compressed */
    double start, codec;   /* seconds */
    uint64_t scanned;      /* bytes that were read to find the range */
    double scan, compress; /* seconds; the rest of codec is decoding */
    double began;          /* of the exchange, about the same on all ranks; 0: not yet */
    double transfer;       /* seconds, as in struct zpending */
    struct zsample sample;
    double raw, sent; /* bytes that this rank sent, as they were and as messages */
    int error;
};

/*
 * May this call be compressed? bytes: of the largest block if every rank knows it, else 0 (v
 * forms). `given`: what this rank contributes, for the report. `sent`: the same for a dry run, or
 * NULL; if only the root sends, only the root passes it. False: the call goes to MPI as it is. All
 * ranks get the same answer.
 */
bool zcall_begin(struct zcall *c, enum zop op, int root, MPI_Comm comm, bool all_know,
                 uint64_t bytes, uint64_t given, struct zside *sent);
/* coll_dry.c: estimates what a call that goes to MPI unchanged would send. Collective. */
void zcall_dry(struct zcall *c, struct zside *sent);
/* Sends a dry run's rows of all processes to the first. Collective on MPI_COMM_WORLD. */
void zcall_dry_end(void);
/* Does the call choose its encoder? */
bool zcall_picks(const struct zcall *c);
/* Before the agreement: notes that the call has data of this type. */
void zcall_look(struct zcall *c, enum zmpi_type element);
/* Are all ranks ready, and is the call compressed? All ranks get the same answer. bytes, steps: the
 * largest of this rank. */
bool zcall_agree(struct zcall *c, bool ready, uint64_t bytes, uint64_t steps);
bool zcall_wants_range(const struct zcall *c);
/* Adds a block to this rank's value range. */
void zcall_scan(struct zcall *c, const struct zblock *b, unsigned char *scratch);
/* Finds the range of all ranks' data. `scan` adds this rank's blocks, once, or again without
 * possible fill values. Collective. */
typedef void zcall_scan_fn(struct zcall *c, void *context);
int zcall_find_range(struct zcall *c, zcall_scan_fn *scan, void *context);
/*
 * For a ratio: finds one bound for all data, from samples of them. Collective: begin, then add all
 * blocks and share; repeat add and share while share says so.
 */
bool zcall_wants_ratio(const struct zcall *c);
void zcall_ratio_begin(struct zcall *c);
void zcall_ratio_add(struct zcall *c, const struct zblock *b, unsigned char *scratch);
bool zcall_ratio_share(struct zcall *c, int *rc);
double zcall_ratio_bound(const struct zcall *c); /* 0: without loss */
/* coll_sample.c: tries both encoders on a part of the block, before the call chooses one. */
void zcall_sample(struct zcall *c, const struct zblock *b, unsigned char *scratch);
/* Logs and remembers an error; zcall_end raises it. */
void zcall_fail(struct zcall *c, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that the block's data are in the memory of a device that has failed; once for each call.
 */
void zcall_unreadable(struct zcall *c, const struct zblock *b);
/* Ends a call, compressed or raw; rc: what MPI returned. */
int zcall_end(struct zcall *c, int rc);

/* ---- coll_components.c: data of several variables ---- */

/* Before the agreement: finds the components of a block of this rank. Its pieces become whole
 * points, or have one component each. */
void zapart_look(struct zcall *c, struct zblock *b);
/* Warns, once in a process, that data of n interleaved components have one range. */
void zapart_say_whole(const struct zcall *c, int n);
/* Returns the number of components, if there are several; else 0. */
static inline int zapart_number(const struct zcall *c)
{
    const int n = c->components < 0 ? -c->components : c->components;
    return n > 1 ? n : 0;
}
/* Returns the component of the piece at `at`, if components are blocks; else -1. */
static inline int zapart_block(const struct zcall *c, const struct zblock *b, uint64_t at)
{
    return c->components < 0 ? (int)(at / (b->bytes / (uint64_t)-c->components)) : -1;
}
/* For zcall_scan: scans the host's data of whole points. */
void zapart_scan(struct zcall *c, enum zmpi_type type, const void *data, size_t count);
/* For zcall_find_range: merges the ranges of all ranks. Collective. */
int zapart_share_ranges(struct zcall *c);
/* Makes the job of a component; `whole` is the job of its piece as one array. */
bool zapart_job(const struct zcall *c, const struct zmpi_job *whole, int component,
                struct zmpi_job *job);
/* Codes a piece to a stream for each interleaved component, of less than `bytes` in all, or returns
 * 0. `whole` is its job as one array. */
size_t zapart_compress(struct zcall *c, const struct zmpi_job *whole, const unsigned char *data,
                       size_t bytes, unsigned char *dst);
/* Replaces each component of a piece by its values after coding and decoding by fle. */
enum zmpi_status zapart_decode_own(const struct zcall *c, const struct zmpi_job *whole,
                                   unsigned char *data, size_t bytes);
/* Decodes `streams` streams, of `bytes` in all, to data. */
enum zmpi_status zapart_decode(struct zcall *c, int streams, const unsigned char *src, size_t size,
                               unsigned char *data, size_t bytes);

/* ---- coll_apart_ratio.c: a ratio for components; for zcall_ratio_begin, _add, _share and _bound
 * ---- */

void zapart_ratio_begin(struct zcall *c);
/* block: the only component (zapart_block). False: no memory. */
bool zapart_ratio_add(struct zcall *c, const struct zmpi_array *whole, const void *data, int block);
int zapart_ratio_share(struct zcall *c);
/* Sets the bound that was found in an open job of a component. */
void zapart_ratio_apply(const struct zcall *c, int component, struct zmpi_job *job);
/* Returns the largest bound of any component. */
double zapart_ratio_bound(const struct zcall *c);

/* ---- coll_piece.c: a piece of a block as a message ---- */

enum { ZPIECE_HEAD = 64 };

/* Are the floats numbers of this machine? Others are kept exactly (element_type.h; for data in the
 * host's memory also byte_order.h). */
bool zpiece_has_numbers(const struct zcall *c, enum zmpi_type element, const void *data,
                        size_t bytes);
/* Makes the job for `data` of a block, or for this many of its first bytes. False: there is none.
 * Floats that are not numbers are kept exactly. */
bool zpiece_job(const struct zcall *c, const struct zblock *b, const void *data, size_t bytes,
                int encoder, struct zmpi_job *job);
/* Makes the job for an array of this range without these fill values, in which the piece's own job
 * has shown floats. Its bound stays open if the user wants a ratio. */
bool zpiece_make_job(const struct zcall *c, const struct zmpi_array *array,
                     const struct zmpi_bound *bound, const struct zmpi_range *range,
                     const struct zmpi_fills *fills, int encoder, struct zmpi_job *job);
/* Codes to a stream of less than `room` bytes, or returns 0. holder: the device with the data's
 * memory; NULL: the host. */
size_t zpiece_stream(struct zcall *c, const struct zmpi_device *holder, const unsigned char *data,
                     struct zmpi_job *job, unsigned char *dst, size_t capacity);
/* Replaces the data by their values after coding and decoding by fle. */
enum zmpi_status zpiece_decode_own(const struct zmpi_job *job, unsigned char *data, size_t bytes);
/* Returns the bytes that suffice for the message of any piece of a block of this size, and for the
 * piece itself. */
size_t zpiece_capacity(const struct zmpi_options *o, uint64_t bytes);
/* Writes the message of the piece of b that begins at `at` to dst; returns its size. */
int zpiece_encode(struct zcall *c, const struct zblock *b, uint64_t at, unsigned char *dst,
                  unsigned char *scratch);

/* Returns the data bytes that an unchecked message claims: for counts only, since they may be
 * wrong. */
uint64_t zpiece_raw(const struct zcall *c, const unsigned char *message, int size);

/* Returns the seconds that it claims to have been on its way. */
double zpiece_age(const struct zcall *c, const unsigned char *message, int size);

struct zpiece_head {
    uint64_t at, raw;
    int streams; /* one for each component; 0: the bytes as they are */
};

/* Checks a whole message of rank `origin` for b. False: it is damaged, and reported. */
bool zpiece_check(struct zcall *c, const struct zblock *b, int origin, const unsigned char *message,
                  int size, struct zpiece_head *h);
/* Decodes a checked message to its place. */
bool zpiece_place(struct zcall *c, const struct zblock *b, int origin, const unsigned char *message,
                  int size, const struct zpiece_head *h, unsigned char *scratch);

/* ---- coll_lanes.c, coll_exchange.c: each pair of ranks has data of its own ---- */

/* The data between this rank and a peer. */
struct zlane {
    int peer;
    struct zblock out, in; /* bytes 0: nothing goes that way */
    bool in_place;         /* both are the same memory */
    uint64_t sent;         /* bytes of `out` that messages have taken */
    uint64_t received;     /* bytes of `in` that arrived well */
    unsigned flying;       /* messages whose sending may not have ended */
    uint64_t posted, arrived;
    uint64_t known; /* how many messages there are at least */
    bool all_known; /* and at most */
};

/* The working state of a call. Both ends have the same lanes, in such an order that the first
 * unfinished one can always go on. */
struct zexchange {
    struct zlane *lane;
    size_t lanes;
    unsigned char *memory, *scratch; /* memory: malloc'ed; scratch: a part of it */
    size_t in_slots, out_slots, in_capacity, out_capacity;
};

enum { ZLANES = 4, ZSLOTS = 2 * ZLANES }; /* lanes that work at the same time; messages each way */

int zexchange_run(struct zcall *c, const struct zexchange *x);

/*
 * Does all of a gather, scatter or alltoall. A side that means nothing on this rank, or is
 * MPI_IN_PLACE, is NULL. False on all ranks: the call goes to MPI.
 */
bool zlanes_run(struct zcall *c, struct zside *send, struct zside *recv);

/* ---- coll_relay.c: the same data for all ranks ---- */

struct zrelay {
    const struct zblock *block; /* where data go, for each origin */
    struct zblock *own;         /* what this rank contributes; NULL: nothing */
    int origins;                /* ranks that contribute data: all, or one */
    bool keep_own;              /* what it contributes stays as it is */
    uint64_t bytes;             /* of the largest block */
    int from, to[2], to_count;  /* neighbours */
};

/* Does everything from the agreement on. ready: this rank has all that it needs. False on all
 * ranks: the call goes to MPI. */
bool zrelay_run(struct zcall *c, const struct zrelay *r, bool ready);

/* ---- coll_report.c ---- */

struct zcall_outcome {
    enum zop op;
    enum zcall_kind kind;
    bool counts;               /* this rank counts the call */
    bool by_time;              /* measured time decided how lossy data were coded */
    double raw, sent, decoded; /* bytes; decoded: by other devices than the CPU */
    double seconds;
    double ratio_bound; /* absolute bound that gave a ratio; 0: none */
    int chosen;         /* the encoder that ZMPI_CODEC=auto chose; 0: auto is not set */
    double coding;      /* seconds that encoding and decoding took here */
    /* Seconds of the call by each encoder, measured or estimated; 0: unknown. */
    double all[ZCODECS];
};

void zreport_collective(const struct zcall_outcome *outcome);
/* Adds the seconds that a call of all ranks saved compared with the other way. */
void zreport_saved(enum zop op, enum zcall_kind kind, double seconds);
/* Adds bytes that crossed the network, and their time. */
void zreport_link(enum zop op, double bytes, double seconds);
/* Collective on MPI_COMM_WORLD. True if there is something to say. */
bool zreport_collectives_sum(void);
void zreport_collectives_text(FILE *out, bool speak);
void zreport_collectives_json(FILE *out);

/* Counts a call of a function that is never compressed: the data that this rank gives, or gets from
 * a scatter. */
void zpassed(int function, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
             bool per_rank);
/* counts: int or MPI_Count, by their width. */
void zpassed_each(int function, const void *buf, const void *counts, size_t width,
                  MPI_Datatype datatype, MPI_Comm comm);

#endif
