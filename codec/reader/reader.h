/* reader.h - the private side of zmpi_reader.h: an open file. */
#ifndef ZMPI_READER_PRIVATE_H
#define ZMPI_READER_PRIVATE_H

#include <pthread.h>

#include "enhance/enhance.h"
#include "reader/source.h"
#include "zmpi_reader.h"

/* One of the containers that a file holds in a row; or a plain file. */
struct zmpi_part {
    uint64_t begin, length; /* logical bytes, counted over all parts */
    uint64_t first;         /* number of its first record, counted over all parts */
    struct zmpi_source source;
    struct zmpi_reader in;
    struct zmpi_container container;
    struct zmpi_enhancer enhancer; /* if `in` has it */
    struct zmpi_opened opened;
    struct zmpi_record *record; /* malloc; NULL: not listed yet */
};

/* The state of the file when it was last examined. */
struct zmpi_contents {
    struct zmpi_part **part; /* malloc, each of them too */
    size_t count;
    bool plain;
    uint64_t physical, logical;              /* sizes */
    unsigned char header[ZMPI_HEADER_BYTES]; /* of the last part, as far as the file has it */
    struct timespec modified;
};

struct zmpi_reader_file {
    pthread_mutex_t lock; /* guards all members below */
    char *name;           /* for messages */
    int fd, threads;
    bool own; /* no other code uses the descriptor's position and locks */
    unsigned flags;
    struct zmpi_contents now;
};

/* An error that is not a text yet. */
struct zmpi_trouble {
    enum zmpi_status status;
    int system;       /* errno */
    uint64_t record;  /* ZMPI_READER_NO_RECORD: none */
    const char *what; /* static; NULL: the status says enough */
};

/* Writes a message, if there is a buffer for it, and returns its status. */
enum zmpi_status zmpi_reader_fail(struct zmpi_reader_error *error, const char *name,
                                  const struct zmpi_trouble *trouble);
/* The same with a text of the caller's; also for ZMPI_OK. */
enum zmpi_status zmpi_reader_say(struct zmpi_reader_error *error, enum zmpi_status status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Says that nothing went wrong. */
enum zmpi_status zmpi_reader_fine(struct zmpi_reader_error *error);
/* Remarks on a file that could be opened. */
void zmpi_reader_remark(struct zmpi_reader_error *error, const struct zmpi_reader_file *f);

/* Examines the whole file. On failure *c is empty. */
enum zmpi_status zmpi_contents_open(const struct zmpi_reader_file *f, struct zmpi_contents *c,
                                    struct zmpi_trouble *trouble);
void zmpi_contents_free(struct zmpi_contents *c);
uint64_t zmpi_contents_records(const struct zmpi_contents *c);
/* Is the file unchanged since it was examined? The clock is too coarse to show every change by
 * time, so a file that changed in the last moment counts as changed. */
bool zmpi_contents_same(const struct zmpi_reader_file *f);
/* Takes in what was added, if nothing else has changed; false if that is not certain. */
bool zmpi_contents_follow(struct zmpi_reader_file *f);

/* Copies all logical bytes to the beginning of another file, which gets the same size; holes stay
 * holes. No other thread may use f. error is not NULL; its `system` is the errno of a write that
 * failed. */
enum zmpi_status zmpi_reader_copy(struct zmpi_reader_file *f, int fd,
                                  struct zmpi_reader_error *error);

/* Copies `from` to a versioned structure of the caller's: *size bytes, or as many as zmpi knows.
 * false: the structure is smaller than its first version. */
bool zmpi_reader_give(void *to, size_t least, const void *from, size_t all);

#endif
