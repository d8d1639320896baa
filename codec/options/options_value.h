/*
 * options_value.h - the values of single options: text to field and back. Private to options*.c.
 */
#ifndef ZMPI_OPTIONS_VALUE_H
#define ZMPI_OPTIONS_VALUE_H

#include "options/options.h"

enum zmpi_option_kind {
    ZMPI_OPTION_BOUND,
    ZMPI_OPTION_THRESHOLD,
    ZMPI_OPTION_FILL,
    ZMPI_OPTION_RATIO,
    ZMPI_OPTION_CODEC,
    ZMPI_OPTION_DEVICE,
    ZMPI_OPTION_FILES,
    ZMPI_OPTION_INT,
    ZMPI_OPTION_COLLECTIVES,
    ZMPI_OPTION_COLLECTIVE_MODE,
    ZMPI_OPTION_HDF5,
    ZMPI_OPTION_ELEMENT_TYPE,
    ZMPI_OPTION_BYTES,
    ZMPI_OPTION_SHAPE,
    ZMPI_OPTION_COMPONENTS,
    ZMPI_OPTION_PATH,
    ZMPI_OPTION_SWITCH,
    ZMPI_OPTION_LEVEL,
    ZMPI_OPTION_KERNELS
};

/* A row of the table. */
struct zmpi_option {
    struct zmpi_option_info info;
    const char *allowed; /* ends the message "SOURCE=VALUE: allowed are ..." */
    enum zmpi_option_kind kind;
    bool per_file;   /* may stand in a section of the rules file for files */
    size_t offset;   /* of the field in struct zmpi_options */
    size_t capacity; /* of a text field */
    size_t min, max; /* of a number */
    bool per_comm;   /* may stand in a section for communicators */
};

/* Parse `text` into the option's field. False, and o unchanged, if it is not allowed. */
bool zmpi_option_parse(const struct zmpi_option *option, struct zmpi_options *o, const char *text);
/* The opposite. */
void zmpi_option_format(const struct zmpi_option *option, const struct zmpi_options *o,
                        char text[1024]);

/* The row of that name, or NULL. *index (may be NULL) is its number. */
const struct zmpi_option *zmpi_option_row(const char *name, size_t *index);

/* Set option number i from `source` unless a stronger source has set it. Message as in
 * zmpi_option_set. */
enum zmpi_status zmpi_option_assign(struct zmpi_options *o, size_t i, const char *value,
                                    enum zmpi_option_source source, const char *label,
                                    char message[256]);

enum zmpi_name_form { ZMPI_NAME_OPTION, ZMPI_NAME_ENVIRONMENT, ZMPI_NAME_HINT };

/* "; did you mean NAME?" for the nearest of the table's names of this form, or "". */
void zmpi_option_suggest(const char *name, enum zmpi_name_form form, char text[64]);

/* Read o->config into o->rules; message with file and line on failure. */
enum zmpi_status zmpi_rules_load(struct zmpi_options *o, char message[256]);
/* Reads the site's file, if there is one, before the rules: o->site_message gets its first error,
 * and wrong lines are ignored. ZMPI_ERR_MEMORY, with a message, is the only failure. */
enum zmpi_status zmpi_site_load(struct zmpi_options *o, const char *path, char message[256]);
/* Apply the rules of section [*] only (path NULL), or all that match path. */
enum zmpi_status zmpi_rules_apply(struct zmpi_options *o, const char *path, char message[256]);
/* Apply all rules for communicators whose glob matches `name`. */
enum zmpi_status zmpi_rules_apply_comm(struct zmpi_options *o, const char *name, char message[256]);
void zmpi_rules_free(struct zmpi_rules *rules);

/* Globs separated by commas, none of them empty. */
bool zmpi_globs_parse(const char *text, char *dst, size_t capacity);

/* A message becomes one line, whatever the value that it quotes. */
void zmpi_option_one_line(char message[256]);

/* Does the environment have a misspelt variable, which would silently do nothing? */
enum zmpi_status zmpi_environment_check(char message[256]);
enum zmpi_status zmpi_environment_load(struct zmpi_options *o, char message[256]);

#endif
