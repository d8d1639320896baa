/*
 * tool.h - what the commands of `zmpi` share.
 *
 * A command returns its exit status. Messages go to standard error as "zmpi COMMAND: FILE: what is
 * wrong".
 */
#ifndef ZMPI_TOOL_H
#define ZMPI_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "container/container.h"
#include "options/options.h"
#include "reader/source.h"

enum { TOOL_OK = 0, TOOL_DIFFERENT = 1, TOOL_ERROR = 2 };

struct tool_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments;
    const char *help;
    const char *example;
};

int tool_compress(int argc, char **argv);
int tool_decompress(int argc, char **argv);
int tool_recover(int argc, char **argv);
int tool_cat(int argc, char **argv);
int tool_info(int argc, char **argv);
int tool_verify(int argc, char **argv);
int tool_fsck(int argc, char **argv);
int tool_trim(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_options(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_view(int argc, char **argv);
int tool_mount(int argc, char **argv);
int tool_convert(int argc, char **argv);
int tool_enhance(int argc, char **argv);
int tool_report(int argc, char **argv);
int tool_advise(int argc, char **argv);

/* Sets the command that messages name from here on. */
void tool_begin(const struct tool_command *command);
/* Prints a message and returns TOOL_ERROR. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int tool_fail_status(const char *path, enum zmpi_status status);
/* For wrong arguments: prints the command's usage and returns TOOL_ERROR. */
int tool_usage(void);
/* Prints the command's help, or that of another one, on standard output. */
int tool_help(void);
int tool_describe(const struct tool_command *command);

/* Parses the options of commands that list one file, argv[optind]: --json, and -a or --all. False:
 * there are other options, or not exactly one file. */
bool tool_listing(int argc, char **argv, bool *json, bool *all);

/* Loads the environment's settings. False: one is wrong, and a message says so. */
bool tool_options_load(struct zmpi_options *o);

/* A file to read: a container, or any other file as it is. "-" is standard input; if that cannot
 * seek, it is copied to a temporary file. */
struct tool_input {
    const char *path;
    int fd;
    bool is_container;
    uint64_t physical; /* bytes of the file from `base` on */
    uint64_t size;     /* logical bytes         */
    struct zmpi_container container;
    struct zmpi_source source; /* begins at `base`: files may be joined */
    struct zmpi_reader reader;
    struct zmpi_options options; /* set by tool_input_offload, which all members below are for */
    struct zmpi_offload offload;
};

/* Opens a file; of a container it reads the index, or scans. Fails if another container follows. */
int tool_input_open(struct tool_input *in, const char *path);
/* Opens the first of several containers in a row; the next one. */
int tool_input_open_first(struct tool_input *in, const char *path);
int tool_input_open_next(struct tool_input *in);
/* If another container follows, says so and returns TOOL_ERROR. */
int tool_input_alone(const struct tool_input *in);
/* Opens a file without examining its contents. */
int tool_input_open_raw(struct tool_input *in, const char *path, bool writable);
/* Is it a container? Also says so if it was one. */
enum zmpi_status tool_input_look(struct tool_input *in, bool *is_container);
void tool_input_close(struct tool_input *in);
/* Has a program opened this container for writing? */
bool tool_input_is_written(const struct tool_input *in);
/* True if no program has it open for writing or has extended it since this process opened it. If
 * the file system has locks, none can open it for writing before tool_input_close. */
bool tool_input_claim(const struct tool_input *in);
/* Does this path name the same file? */
bool tool_input_is_at(const struct tool_input *in, const char *path);
/* For a container: the device that ZMPI_DEVICE names decodes what is read. False: a setting is
 * wrong, and a message says which. */
bool tool_input_offload(struct tool_input *in);
/* Reads logical bytes. On failure it prints a message and returns TOOL_DIFFERENT for damage, else
 * TOOL_ERROR. */
int tool_input_read(struct tool_input *in, uint64_t offset, void *dst, size_t size);

/* For a container whose header is lost: reads of `in` then show a header, and the records that were
 * found. NULL: none was found, or there is no memory. */
struct tool_headless *tool_headless_open(struct tool_input *in);
void tool_headless_close(struct tool_headless *h);
/* Writes all that can be read of a damaged file, and lists the rest on stderr. (recover.c) */
int tool_keep_going(const char *path, const char *to);
/* How many bytes were overwritten: "1000" or "1000 to 2000". (overwritten.c) */
struct zmpi_overwritten;
const char *tool_overwritten_bytes(const struct zmpi_overwritten *o, char text[64]);
/* Says how many bytes of an overwritten container were probably overwritten (overwritten.c). The
 * other writes these bytes alone to another file; size NULL: as many as were found. (plain.c) */
enum zmpi_status tool_tell_overwritten(const struct tool_input *in, enum zmpi_kind kind);
int tool_recover_plain(const char *path, const char *to, const char *size);

/* Writes bytes to their place in a file that was opened for writing. (verify.c) */
int tool_input_write(struct tool_input *in, const void *src, size_t size, uint64_t offset);
/* Writes an index of c's records at `end`, behind everything. Once it is safe on the disk, writes
 * the header that points to it. (verify.c) */
int tool_input_reindex(struct tool_input *in, struct zmpi_container *c, uint64_t end);

/* Reads a record as it is in the file, checks it and decodes it once; *bytes is malloc'ed. On
 * failure *chunk is the damaged one if there is one. (verify.c) */
enum zmpi_status tool_record_read(struct tool_input *in, const struct zmpi_record *r,
                                  unsigned char **bytes, size_t *chunk);

/* Takes type and shape from a name such as velocity_3x32x64x64.f32, where they are still 0. */
void tool_field_name(const char *path, enum zmpi_type *type, size_t shape[3]);
/* The byte order of a container's floats, as logical bytes. */
enum tool_order { TOOL_ORDER_NONE, TOOL_ORDER_OURS, TOOL_ORDER_BIG, TOOL_ORDER_MIXED };
/* The bounds with which they were compressed. */
struct tool_bound {
    char text[40]; /* "": several different ones */
    double most;   /* the largest absolute bound; < 0: unknown (pw_rel) */
};
/* The type of all floats in a container; 0: it is no container, or it holds no floats or both
 * types. Also their byte order and bounds. */
enum zmpi_type tool_container_type(struct tool_input *in, enum tool_order *order,
                                   struct tool_bound *bound);
/* The shape of its numbers, if the records have a common one. */
bool tool_container_shape(struct tool_input *in, size_t shape[3]);

/* A file that appears under its name only when it is complete. "-" is standard output. */
struct tool_output {
    const char *path;        /* as on the command line */
    char *temporary, *final; /* names; NULL: the file is written in its place */
    int fd;
    bool ends_with_hole; /* of what was written so far */
};

/* from: the input, which must not be replaced; NULL: any file may be. */
int tool_output_open(struct tool_output *out, const char *path, const struct tool_input *from);
int tool_output_write(struct tool_output *out, const void *src, size_t size);
/* Writes data. Zeros become holes if the file can have them. */
int tool_output_write_sparse(struct tool_output *out, const void *src, size_t size);
/* Writes n zeros, as a hole if the file can have one. */
int tool_output_skip(struct tool_output *out, uint64_t n);
bool tool_output_has_holes(const struct tool_output *out);
int tool_output_write_at(struct tool_output *out, const void *src, size_t size, uint64_t offset);
/* Gives the file its name or, if keep is false, removes it. */
int tool_output_close(struct tool_output *out, bool keep);

/* Changes n bytes at logical byte `at` before they are written; buffer NULL: a hole. Returns
 * TOOL_OK, or an error that it has printed. */
typedef int tool_mend(void *context, unsigned char *buffer, uint64_t at, uint64_t n);
/* Copies logical bytes of a container; mend may be NULL. (copy.c) */
int tool_copy(struct tool_input *in, struct tool_output *out, uint64_t offset, uint64_t length,
              tool_mend *mend, void *context);

/* ZMPI_THREADS, else the number of CPUs. */
int tool_threads(void);

/* Shows the progress of a long operation, only on a terminal. */
void tool_progress(const char *what, uint64_t done, uint64_t all);

/* Parses "f32" or "f64". */
bool tool_parse_type(const char *text, enum zmpi_type *type);
const char *tool_type_name(enum zmpi_type type);

/* JSON pieces: a string with quotes and escapes; a number, or null if it is not finite. */
void tool_json_string(const char *text);
void tool_json_number(double value);

#endif
