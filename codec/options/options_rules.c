/*
 * options_rules.c - the rules file (ZMPI_CONFIG): settings by file or communicator name.
 *
 *     [*]                    ; every file
 *     error_bound = rel=1e-4
 *     [snap_*.bin]           ; a glob on the base name, or on the path if it contains '/'
 *     error_bound = abs=0.01
 *     [snap_*.bin #1-3]      ; the first three write calls of such a file
 *     error_bound = lossless
 *     [hdf5:/fields/rho*]    ; a dataset of HDF5's: a glob on its name, or on its path
 *     error_bound = abs=0.5
 *     [comm:halo*]           ; a glob on a communicator's name
 *     collectives = none
 *
 * Sections apply in the order of the file, later ones win; what [*] says is weaker than the
 * environment, and than any other section. The whole file is checked when it is
 * loaded, so that a mistake stops the program at its beginning and not at the first file that a
 * rule matches.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/options_value.h"

/* inih cuts longer section names and keys without a word. */
#define NAME_MAX_CHARS 48
#define COMM           "comm:"
#define DATASET        "hdf5:"

struct rule {
    char glob[NAME_MAX_CHARS + 2];
    char value[208]; /* inih's lines have at most 200 characters */
    size_t option;
    unsigned first, last; /* of write calls that the section names; 0: of all */
};

struct zmpi_rules {
    size_t count, capacity;
    struct rule *rule;
};

/* State of one reading. inih tells no line numbers, so lines are counted as they are handed to it.
 */
struct parse {
    FILE *file;
    const char *path;
    unsigned line;
    struct zmpi_rules *rules;
    enum zmpi_status status;
    char *message;
    bool comms; /* a section for communicators was seen */
};

static void fail(struct parse *p, enum zmpi_status status, const char *text)
{
    if (p->status != ZMPI_OK)
        return;
    p->status = status;
    snprintf(p->message, 256, "%.60s:%u: %.180s", p->path, p->line, text);
}

/* fgets that counts, and refuses what inih would cut in pieces. */
static char *next_line(char *dst, int size, void *stream)
{
    struct parse *p = stream;
    if (p->status != ZMPI_OK || fgets(dst, size, p->file) == NULL)
        return NULL;
    p->line++;
    size_t n = strlen(dst);
    if (n == 0) { /* so do devices that give zeros for ever */
        fail(p, ZMPI_ERR_ARG, "the line begins with a zero byte: not a text file");
        return NULL;
    }
    if (n + 1 >= (size_t)size && dst[n - 1] != '\n') {
        fail(p, ZMPI_ERR_ARG, "line too long (at most 198 characters)");
        return NULL;
    }
    size_t blanks = strspn(dst, " \t");
    const char *text = dst + blanks;
    if (*text == '[' && strcspn(text + 1, "]\n") > NAME_MAX_CHARS) {
        fail(p, ZMPI_ERR_ARG, "glob too long (at most 48 characters)");
        return NULL;
    }
    if (*text == '[' && strchr(text, ']') == NULL) {
        fail(p, ZMPI_ERR_ARG, "[ without ]");
        return NULL;
    }
    // inih would take an indented line for the rest of the value above it.
    if (blanks != 0 && *text != 0)
        memmove(dst, text, strlen(text) + 1);
    return dst;
}

static bool append(struct zmpi_rules *rules, const struct rule *rule)
{
    if (rules->count == rules->capacity) {
        size_t capacity = rules->capacity == 0 ? 16 : 2 * rules->capacity;
        struct rule *grown = realloc(rules->rule, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        rules->rule = grown;
        rules->capacity = capacity;
    }
    rules->rule[rules->count++] = *rule;
    return true;
}

static bool is_for_comms(const char *section)
{
    return strncmp(section, COMM, strlen(COMM)) == 0;
}

static bool is_for_datasets(const char *section)
{
    return strncmp(section, DATASET, strlen(DATASET)) == 0;
}

/* "GLOB #N" or "GLOB #N-M": cuts the calls off, and says which. False: they are wrong. */
static bool take_calls(struct rule *r)
{
    char *at = strstr(r->glob, " #"), *end;
    if (at == NULL)
        return true;
    errno = 0;
    const unsigned long first = strtoul(at + 2, &end, 10);
    const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
    if (errno || *end != 0 || first < 1 || last < first || last > INT_MAX ||
        strspn(at + 2, "0123456789-") != strlen(at + 2))
        return false;
    r->first = (unsigned)first;
    r->last = (unsigned)last;
    while (at > r->glob && at[-1] == ' ')
        at--;
    *at = 0;
    return true;
}

/* May this option stand in this section? In [*] both kinds may. */
static bool allowed_in(const char *section, const struct zmpi_option *row)
{
    if (strcmp(section, "*") == 0)
        return row->per_file || row->per_comm;
    if (is_for_datasets(section))
        return strcmp(row->info.name, "error_bound") == 0;
    return is_for_comms(section) ? row->per_comm : row->per_file;
}

/* The names a section may set, for messages. */
static void allowed_names(const char *section, char text[192])
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; zmpi_option_info(i) != NULL; i++) {
        const char *name = zmpi_option_info(i)->name;
        if (allowed_in(section, zmpi_option_row(name, NULL)) && n < 192)
            n += (size_t)snprintf(text + n, 192 - n, "%s%s", n == 0 ? "" : ", ", name);
    }
}

static int take(void *user, const char *section, const char *name, const char *value)
{
    struct parse *p = user;
    struct rule rule = {.option = 0};
    char text[256], names[192];
    const struct zmpi_option *row = zmpi_option_row(name, &rule.option);
    if (p->status != ZMPI_OK)
        return 0;
    if (row == NULL || (section[0] != 0 && !allowed_in(section, row))) {
        allowed_names(section, names);
        snprintf(text, sizeof text, "%.48s: allowed in a rule are %s", name, names);
        fail(p, ZMPI_ERR_ARG, text);
        return 0;
    }
    if (section[0] == 0) {
        fail(p, ZMPI_ERR_ARG, "setting outside of a section; begin with [*] or [GLOB]");
        return 0;
    }
    struct zmpi_options scratch;
    if (!zmpi_option_parse(row, &scratch, value)) {
        snprintf(text, sizeof text, "%s=%.60s: %s", name, value, row->allowed);
        fail(p, ZMPI_ERR_ARG, text);
        return 0;
    }
    snprintf(rule.glob, sizeof rule.glob, "%s", section);
    snprintf(rule.value, sizeof rule.value, "%s", value);
    const bool file = !is_for_comms(section) && !is_for_datasets(section);
    if (!take_calls(&rule) || (rule.first && !file)) {
        fail(p, ZMPI_ERR_ARG, "calls are written [GLOB #3] or [GLOB #1-3], counted from 1");
        return 0;
    }
    if (rule.first && strcmp(name, "error_bound") != 0) {
        fail(p, ZMPI_ERR_ARG, "of single calls only error_bound can be set");
        return 0;
    }
    p->comms |= is_for_comms(section);
    if (!append(p->rules, &rule))
        fail(p, ZMPI_ERR_MEMORY, zmpi_strerror(ZMPI_ERR_MEMORY));
    return p->status == ZMPI_OK;
}

static enum zmpi_status read_rules(struct parse *p)
{
    int bad = ini_parse_stream(next_line, p, take, p);
    if (p->status == ZMPI_OK && ferror(p->file) != 0)
        fail(p, ZMPI_ERR_IO, strerror(errno));
    if (p->status == ZMPI_OK && bad != 0) {
        p->line = bad > 0 ? (unsigned)bad : p->line;
        fail(p, ZMPI_ERR_ARG, "expected [GLOB] or NAME = VALUE");
    }
    return p->status;
}

/* A pipe would keep every rank waiting, and a device might. */
static FILE *open_rules(const char *path, char message[256])
{
    struct stat s;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool regular = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    FILE *file = regular ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        snprintf(message, 256, "ZMPI_CONFIG=%.160s: %s", path,
                 fd >= 0 && !regular ? "is not a regular file" : strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return file;
}

enum zmpi_status zmpi_rules_load(struct zmpi_options *o, char message[256])
{
    if (o->config[0] == 0)
        return ZMPI_OK;
    struct parse p = {.path = o->config, .message = message};
    p.file = open_rules(o->config, message);
    if (p.file == NULL)
        return ZMPI_ERR_ARG;
    p.rules = calloc(1, sizeof *p.rules);
    if (p.rules == NULL)
        fail(&p, ZMPI_ERR_MEMORY, zmpi_strerror(ZMPI_ERR_MEMORY));
    else
        read_rules(&p);
    fclose(p.file);
    if (p.status != ZMPI_OK) {
        zmpi_rules_free(p.rules);
        return p.status;
    }
    o->rules = p.rules;
    o->comm_rules = p.comms;
    return ZMPI_OK;
}

static enum zmpi_status apply(struct zmpi_options *o, const struct rule *r, char message[256])
{
    const bool named = strcmp(r->glob, "*") != 0;
    return zmpi_option_assign(o, r->option, r->value,
                              named ? ZMPI_FROM_NAMED_RULES : ZMPI_FROM_RULES, o->config, message);
}

static bool selects_file(const struct rule *r, const char *path)
{
    if (path == NULL)
        return !r->first && strcmp(r->glob, "*") == 0;
    return !r->first && !is_for_comms(r->glob) && !is_for_datasets(r->glob) &&
           zmpi_glob_matches(r->glob, path);
}

static bool selects_call(const struct rule *r, const char *path, unsigned call)
{
    return r->first && zmpi_glob_matches(r->glob, path) &&
           (call == 0 || (call >= r->first && call <= r->last));
}

bool zmpi_rules_call(const struct zmpi_options *o, const char *path, unsigned call,
                     struct zmpi_bound *bound)
{
    bool found = false;
    for (size_t k = 0; o->rules != NULL && k < o->rules->count; k++) {
        const struct rule *r = &o->rules->rule[k];
        if (selects_call(r, path, call) && zmpi_bound_parse(r->value, bound) == ZMPI_OK)
            found = true;
    }
    return found;
}

bool zmpi_rules_dataset(const struct zmpi_options *o, const char *name, struct zmpi_bound *bound)
{
    bool found = false;
    for (size_t k = 0; o->rules != NULL && k < o->rules->count; k++) {
        const struct rule *r = &o->rules->rule[k];
        if (is_for_datasets(r->glob) &&
            (name == NULL || zmpi_glob_matches(r->glob + strlen(DATASET), name)))
            found = name == NULL || zmpi_bound_parse(r->value, bound) == ZMPI_OK;
    }
    return found;
}

enum zmpi_status zmpi_rules_apply(struct zmpi_options *o, const char *path, char message[256])
{
    enum zmpi_status s = ZMPI_OK;
    for (size_t k = 0; o->rules != NULL && k < o->rules->count && s == ZMPI_OK; k++)
        if (selects_file(&o->rules->rule[k], path))
            s = apply(o, &o->rules->rule[k], message);
    return s;
}

enum zmpi_status zmpi_rules_apply_comm(struct zmpi_options *o, const char *name, char message[256])
{
    enum zmpi_status s = ZMPI_OK;
    for (size_t k = 0; o->rules != NULL && k < o->rules->count && s == ZMPI_OK; k++) {
        const struct rule *r = &o->rules->rule[k];
        if (is_for_comms(r->glob) && fnmatch(r->glob + strlen(COMM), name, 0) == 0)
            s = apply(o, r, message);
    }
    return s;
}

bool zmpi_rules_set(const struct zmpi_options *o, const char *name)
{
    size_t option;
    if (o->rules == NULL || zmpi_option_row(name, &option) == NULL)
        return false;
    for (size_t k = 0; k < o->rules->count; k++)
        if (o->rules->rule[k].option == option)
            return true;
    return false;
}

void zmpi_rules_free(struct zmpi_rules *rules)
{
    if (rules == NULL)
        return;
    free(rules->rule);
    free(rules);
}
