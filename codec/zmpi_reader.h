/*
 * zmpi_reader.h - read the files that zmpi writes (containers), without MPI.
 *
 *     struct zmpi_reader_file *file;
 *     struct zmpi_reader_error error;
 *     if (zmpi_reader_open("p.bin", NULL, &file, &error))
 *         return fprintf(stderr, "%s\n", error.text), 1;
 *     if (zmpi_reader_read(file, 4096, numbers, sizeof numbers, &error))
 *         fprintf(stderr, "%s\n", error.text);
 *     zmpi_reader_close(file);
 *
 * A container looks like the plain file that the program wrote: `logical size` bytes, of which any
 * range can be read. Containers that were joined (cat) are read in a row, as one.
 *
 * Conventions: functions return ZMPI_OK or an error; outputs are written only on ZMPI_OK unless
 * said otherwise. No function prints or exits. Offsets and sizes are in bytes. No pointer may be
 * NULL but options and errors. All functions may be called from several threads at once, also for
 * one file, where they wait for each other; only zmpi_reader_close must be the last one.
 *
 * A structure whose first member is `size` may grow in later versions: set that to sizeof the
 * structure and all else to 0. ZMPI_ERR_ARG if it is smaller than it was in the first version.
 */
#ifndef ZMPI_READER_H
#define ZMPI_READER_H

#include "zmpi_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open file. */
struct zmpi_reader_file;

#define ZMPI_READER_NO_RECORD UINT64_MAX

/* What went wrong. This structure never grows. */
struct zmpi_reader_error {
    enum zmpi_status status;
    int system;      /* the system's errno if a call of it failed, else 0 */
    uint64_t record; /* where in the file the damaged record begins, or ZMPI_READER_NO_RECORD */
    char text[512];  /* one line without its end: the file, the record, what is wrong. On ZMPI_OK:
                        "", or after zmpi_reader_open and _refresh what should be known of the file
                        ("FILE: was not closed properly; 3 records found by scanning") */
};

enum {
    /* A file that is no container is read as it is, as MPI programs with zmpi do. */
    ZMPI_READER_PLAIN = 1,
    /* Values as the network that zmpi enhance has put into the file gives them: nearer to the
     * original ones. A file without one is read as it is. */
    ZMPI_READER_ENHANCE = 2
};

struct zmpi_reader_options {
    size_t size;    /* sizeof(struct zmpi_reader_options) */
    int threads;    /* that decode at once; 0: as many as there are CPUs for this process */
    unsigned flags; /* of those above */
};

/*
 * Open a file for reading. options NULL: all 0. error, here and below: may be NULL.
 *
 * ZMPI_ERR_IO (it cannot be opened or read), ZMPI_ERR_FORMAT (it is no container),
 * ZMPI_ERR_VERSION, ZMPI_ERR_CHECKSUM and others of damage (nothing of it can be read),
 * ZMPI_ERR_MEMORY, ZMPI_ERR_ARG. A damaged file of which some can be read is opened:
 * zmpi_reader_info tells.
 */
ZMPI_API enum zmpi_status zmpi_reader_open(const char *path,
                                           const struct zmpi_reader_options *options,
                                           struct zmpi_reader_file **file,
                                           struct zmpi_reader_error *error);

/* The same for a descriptor that is open for reading and can seek. It stays the caller's, who may
 * close it afterwards; its position does not move. `name` is for messages. */
ZMPI_API enum zmpi_status zmpi_reader_open_fd(int fd, const char *name,
                                              const struct zmpi_reader_options *options,
                                              struct zmpi_reader_file **file,
                                              struct zmpi_reader_error *error);

/* NULL does nothing. */
ZMPI_API void zmpi_reader_close(struct zmpi_reader_file *file);

/* What a file holds. */
struct zmpi_reader_info {
    size_t size;            /* sizeof(struct zmpi_reader_info) */
    uint64_t logical_size;  /* bytes that can be read */
    uint64_t physical_size; /* bytes of the file */
    uint64_t records;       /* including those that newer records cover */
    uint64_t containers;    /* 1, more where files were joined; 0: it is a plain file */
    uint64_t scanned;       /* records that were found by scanning: its last writer did not close
                               it, or has it open */
    int whole;              /* 0: it is damaged or cut off, and data may be missing */
    int written;            /* 1: a program has it open for writing */
};

ZMPI_API enum zmpi_status zmpi_reader_info(struct zmpi_reader_file *file,
                                           struct zmpi_reader_info *info,
                                           struct zmpi_reader_error *error);

#define ZMPI_READER_LEVELS 4
#define ZMPI_READER_LIST   0xFFFF

/*
 * One record: the data of one write call, or of several small ones. It covers logical bytes lo
 * to hi - 1, all of them if levels is 0. Otherwise it covers runs of `run` bytes: count[0] of
 * them stride[0] bytes apart, count[1] of these groups stride[1] apart, and so on.
 * ZMPI_READER_LIST: a list of runs.
 */
struct zmpi_reader_record {
    size_t size;     /* sizeof(struct zmpi_reader_record) */
    int kind;        /* 1: data, 2: the file's size was set to lo */
    uint64_t offset; /* in the file */
    uint64_t stored; /* bytes in the file */
    uint64_t lo, hi, bytes;
    uint64_t run;
    unsigned levels;
    uint64_t count[ZMPI_READER_LEVELS], stride[ZMPI_READER_LEVELS];
    uint64_t epoch; /* of two records the one of the later epoch wins */
    uint32_t rank;  /* in MPI_COMM_WORLD, of who wrote it */
    /* Of its data. If they are damaged `status` says how, and what follows is 0. */
    enum zmpi_status status;
    struct zmpi_array array;
    struct zmpi_bound bound; /* as asked */
    double abs_bound;        /* of every finite element; 0: exact, +inf: none (pw_rel) */
    int encoder;             /* enum zmpi_encoder */
    uint64_t chunks;
    int big_endian; /* floats, as they are read */
};

/* Record `number` < info.records, in the order in which they win, the last one last. The first call
 * lists all, with about 200 bytes for each. ZMPI_ERR_ARG: there is none of that number. */
ZMPI_API enum zmpi_status zmpi_reader_record(struct zmpi_reader_file *file, uint64_t number,
                                             struct zmpi_reader_record *record,
                                             struct zmpi_reader_error *error);

/*
 * Logical bytes [offset, offset + size) to dst. Bytes that nobody wrote are 0. Only the chunks that
 * hold these bytes are read and decoded.
 *
 * ZMPI_ERR_ARG: they lie behind the logical size. ZMPI_ERR_IO, ZMPI_ERR_MEMORY, or an error of
 * damage (ZMPI_ERR_CHECKSUM, ...): then dst is undefined, and the other records can be read.
 */
ZMPI_API enum zmpi_status zmpi_reader_read(struct zmpi_reader_file *file, uint64_t offset,
                                           void *dst, size_t size, struct zmpi_reader_error *error);

struct zmpi_reader_run {
    uint64_t offset, length;
};

/* n runs of logical bytes to dst, one behind the other; they increase and do not overlap, else
 * ZMPI_ERR_ARG. Otherwise as zmpi_reader_read: a chunk that holds several is decoded once. */
ZMPI_API enum zmpi_status zmpi_reader_read_runs(struct zmpi_reader_file *file,
                                                const struct zmpi_reader_run *runs, size_t n,
                                                void *dst, struct zmpi_reader_error *error);

/*
 * Looks again at a file that a program still writes. What the program has completed since can be
 * read from now on, and the logical size may have changed. *changed (may be NULL): 0 if nothing
 * has. The function scans what was added, not the whole file. Errors are those of
 * zmpi_reader_open; then all is as it was before.
 */
ZMPI_API enum zmpi_status zmpi_reader_refresh(struct zmpi_reader_file *file, int *changed,
                                              struct zmpi_reader_error *error);

#ifdef __cplusplus
}
#endif
#endif
