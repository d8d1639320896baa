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

/* The command that runs from here on: what messages name. */
void tool_begin(const struct tool_command *command);
/* Print a message and return TOOL_ERROR. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int tool_fail_status(const char *path, enum zmpi_status status);
/* The arguments are wrong: prints the command's and returns TOOL_ERROR. */
int tool_usage(void);
/* The command's help, or that of another one, on standard output. */
int tool_help(void);
int tool_describe(const struct tool_command *command);

/* The options of commands that list what one file, argv[optind], has: --json, and -a or --all.
 * False: there are others, or not one file. */
bool tool_listing(int argc, char **argv, bool *json, bool *all);

/* The environment's settings, or an error message and false. */
bool tool_options_load(struct zmpi_options *o);

/* A file to read: a container, or any other file as it is. "-" is standard input, which is copied
 * to a temporary file if it cannot seek. */
struct tool_input {
    const char *path;
    int fd;
    bool is_container;
    uint64_t physical; /* size of the file, from there on */
    uint64_t size;     /* logical bytes         */
    struct zmpi_container container;
    struct zmpi_source source; /* at its base: files may be joined */
    struct zmpi_reader reader;
    struct zmpi_options options; /* tool_input_offload: what follows is used */
    struct zmpi_offload offload;
};

/* Opens and, for a container, reads the index (or scans). Fails where another one follows. */
int tool_input_open(struct tool_input *in, const char *path);
/* The same for the first container of several in a row; and on to the next. */
int tool_input_open_first(struct tool_input *in, const char *path);
int tool_input_open_next(struct tool_input *in);
/* Says that another container follows, and returns TOOL_ERROR, if one does. */
int tool_input_alone(const struct tool_input *in);
/* The same without looking inside. */
int tool_input_open_raw(struct tool_input *in, const char *path, bool writable);
/* Is it a container? Says so if it was one. */
enum zmpi_status tool_input_look(struct tool_input *in, bool *is_container);
void tool_input_close(struct tool_input *in);
/* Has a program this container open for writing? */
bool tool_input_is_written(const struct tool_input *in);
/* True if none has, or has made it longer since it was opened here. None will open it for writing
 * before tool_input_close, if the file system has locks. */
bool tool_input_claim(const struct tool_input *in);
/* Is this a name of the file? */
bool tool_input_is_at(const struct tool_input *in, const char *path);
/* Of a container: what is read is decoded by the device that ZMPI_DEVICE names. False: a setting is
 * wrong, a message says which. */
bool tool_input_offload(struct tool_input *in);
/* Logical bytes. On failure prints a message and returns TOOL_DIFFERENT for damage, else
 * TOOL_ERROR. */
int tool_input_read(struct tool_input *in, uint64_t offset, void *dst, size_t size);

/* A container whose header is lost: reads of `in` show one, and the records that were found. NULL:
 * none was, or there is no memory. */
struct tool_headless *tool_headless_open(struct tool_input *in);
void tool_headless_close(struct tool_headless *h);
/* Of a damaged file all that can be read; what cannot is listed on stderr. (recover.c) */
int tool_keep_going(const char *path, const char *to);
/* How many bytes were written over: "1000" or "1000 to 2000". (overwritten.c) */
struct zmpi_overwritten;
const char *tool_overwritten_bytes(const struct zmpi_overwritten *o, char text[64]);
/* Says how many bytes of what is such a kind were probably written over (overwritten.c); and those
 * without the rest to another file, size NULL: as many as were found. (plain.c) */
enum zmpi_status tool_tell_overwritten(const struct tool_input *in, enum zmpi_kind kind);
int tool_recover_plain(const char *path, const char *to, const char *size);

/* Bytes to their place in a file that was opened to be written to. (verify.c) */
int tool_input_write(struct tool_input *in, const void *src, size_t size, uint64_t offset);
/* An index of c's records at `end`, behind everything; then, when that is safe on the disk, the
 * header that points to it. (verify.c) */
int tool_input_reindex(struct tool_input *in, struct zmpi_container *c, uint64_t end);

/* A record as it is in the file, checked and decoded once; *bytes is malloc'ed. On failure *chunk
 * is the damaged one if there is one. (verify.c) */
enum zmpi_status tool_record_read(struct tool_input *in, const struct zmpi_record *r,
                                  unsigned char **bytes, size_t *chunk);

/* Type and shape from a name such as velocity_3x32x64x64.f32, where they are 0 so far. */
void tool_field_name(const char *path, enum zmpi_type *type, size_t shape[3]);
/* In whose byte order the floats of a container are, as logical bytes. */
enum tool_order { TOOL_ORDER_NONE, TOOL_ORDER_OURS, TOOL_ORDER_BIG, TOOL_ORDER_MIXED };
/* By which bounds they were compressed. */
struct tool_bound {
    char text[40]; /* "": by several */
    double most;   /* the largest absolute one; < 0: not known (pw_rel) */
};
/* The type of all floats in a container; 0: it is none, holds none, or has both. And their order
 * and bounds. */
enum zmpi_type tool_container_type(struct tool_input *in, enum tool_order *order,
                                   struct tool_bound *bound);
/* The shape of its numbers, if the records tell one. */
bool tool_container_shape(struct tool_input *in, size_t shape[3]);

/* A file that appears under its name only when it is complete. "-" is standard output. */
struct tool_output {
    const char *path;        /* as the command line has it */
    char *temporary, *final; /* names; NULL: it is written where it stays */
    int fd;
    bool ends_with_hole; /* so far */
};

/* from: what it is made from, and may not replace; NULL: it may replace anything. */
int tool_output_open(struct tool_output *out, const char *path, const struct tool_input *from);
int tool_output_write(struct tool_output *out, const void *src, size_t size);
/* The same, but zeros become holes where the file can have them. */
int tool_output_write_sparse(struct tool_output *out, const void *src, size_t size);
/* n zeros, as a hole where the file can have one. */
int tool_output_skip(struct tool_output *out, uint64_t n);
bool tool_output_has_holes(const struct tool_output *out);
int tool_output_write_at(struct tool_output *out, const void *src, size_t size, uint64_t offset);
/* Give it its name, or (keep false) remove it. */
int tool_output_close(struct tool_output *out, bool keep);

/* What becomes of n bytes at logical byte `at` before they are written; buffer NULL: a hole.
 * Returns TOOL_OK, or an error that it has printed. */
typedef int tool_mend(void *context, unsigned char *buffer, uint64_t at, uint64_t n);
/* Logical bytes of a container; mend may be NULL. (copy.c) */
int tool_copy(struct tool_input *in, struct tool_output *out, uint64_t offset, uint64_t length,
              tool_mend *mend, void *context);

/* ZMPI_THREADS, else as many as there are CPUs. */
int tool_threads(void);

/* Progress of a long operation, on a terminal only. */
void tool_progress(const char *what, uint64_t done, uint64_t all);

/* "f32" or "f64". */
bool tool_parse_type(const char *text, enum zmpi_type *type);
const char *tool_type_name(enum zmpi_type type);

/* JSON pieces: a string with quotes and escapes; a number, null if it is not finite. */
void tool_json_string(const char *text);
void tool_json_number(double value);

#endif
