/*
 * options_rules.c - the rules file (ZMPI_CONFIG), and the site's: settings by file or communicator
 * name.
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
 * rule matches. What is wrong in the site's file is ignored: users cannot mend it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/options_lines.h"
#include "options/options_value.h"

#define COMM    "comm:"
#define DATASET "hdf5:"
#define SITE    "site"

struct rule {
    char *glob; /* of one allocation with the value */
    char *value;
    size_t option;
    unsigned first, last; /* of write calls that the section names; 0: of all */
    bool site;            /* the site's: weaker than all settings of a user */
};

struct zmpi_rules {
    size_t count, capacity;
    struct rule *rule;
};

/* State of one reading. */
struct parse {
    const char *path;
    unsigned line;
    struct zmpi_options *options;
    struct zmpi_rules *rules;
    enum zmpi_status status;
    char *message;
    bool site; /* the site's file */
};

/* The first error is kept for the message. */
static void fail(struct parse *p, enum zmpi_status status, const char *text)
{
    if (p->status != ZMPI_OK || (p->site && p->message[0] != 0))
        return;
    if (!p->site || status == ZMPI_ERR_MEMORY)
        p->status = status;
    snprintf(p->message, 256, "%.60s:%u%s: %.170s", p->path, p->line, p->site ? " (ignored)" : "",
             text);
    zmpi_option_one_line(p->message);
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
    const size_t glob = strlen(rule->glob) + 1, value = strlen(rule->value) + 1;
    char *text = malloc(glob + value);
    if (text == NULL)
        return false;
    struct rule *r = &rules->rule[rules->count++];
    *r = *rule;
    r->glob = memcpy(text, rule->glob, glob);
    r->value = memcpy(text + glob, rule->value, value);
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

/* Splits "GLOB #N" or "GLOB #N-M" into glob and calls. False: the calls are wrong. */
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

/* The names a section may set, for messages: as many whole names as fit a line. */
static void allowed_names(const char *section, char text[128])
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; zmpi_option_info(i) != NULL; i++) {
        const char *name = zmpi_option_info(i)->name;
        if (!allowed_in(section, zmpi_option_row(name, NULL)))
            continue;
        const char *more = n + strlen(name) < 120 ? name : "...";
        n += (size_t)snprintf(text + n, 128 - n, "%s%s", n == 0 ? "" : ", ", more);
        if (more != name)
            return;
    }
}

static void refuse_name(struct parse *p, const char *section, const char *name)
{
    char text[256], names[128], hint[64];
    zmpi_option_suggest(name, ZMPI_NAME_OPTION, hint);
    if (zmpi_option_row(name, NULL) == NULL && hint[0] != 0) {
        snprintf(text, sizeof text, "%.32s: no such setting%s", name, hint);
    } else {
        allowed_names(section, names);
        snprintf(text, sizeof text, "%.32s: allowed in a rule are %s", name, names);
    }
    fail(p, ZMPI_ERR_ARG, text);
}

/* [site]: what users cannot change. */
static bool take_never(struct parse *p, const struct zmpi_line *line)
{
    struct zmpi_options *o = p->options;
    const bool files = strcmp(line->name, "never_files") == 0;
    if (!files && strcmp(line->name, "never_programs") != 0)
        fail(p, ZMPI_ERR_ARG, "[site] has never_files and never_programs");
    else if (!zmpi_globs_parse(line->value, files ? o->never_files : o->never_programs,
                               sizeof o->never_files))
        fail(p, ZMPI_ERR_ARG, "allowed are globs separated by commas (at most 1023 characters)");
    return p->status == ZMPI_OK;
}

/* A section's rule may be wrong in itself, or stand where it must not. */
static const char *wrong_rule(const struct parse *p, struct rule *rule, const char *name)
{
    const bool file = !is_for_comms(rule->glob) && !is_for_datasets(rule->glob);
    if (!take_calls(rule) || (rule->first && !file))
        return "calls are written [GLOB #3] or [GLOB #1-3], counted from 1";
    if (rule->first && strcmp(name, "error_bound") != 0)
        return "a rule for single calls can set only error_bound";
    if ((rule->first || is_for_datasets(rule->glob)) && strcmp(rule->value, "none") == 0)
        return "none is for whole files: for a call or a dataset use lossless";
    if (p->site && (rule->first || is_for_datasets(rule->glob)))
        return "a site's rules are for files and communicators as a whole";
    return NULL;
}

static bool take(void *user, const struct zmpi_line *line)
{
    struct parse *p = user;
    struct rule rule = {.glob = line->section, .site = p->site};
    const char *name = line->name, *section = line->section;
    char text[256];
    p->line = line->number;
    if (line->wrong != NULL) {
        fail(p, ZMPI_ERR_ARG, line->wrong);
        return p->status == ZMPI_OK;
    }
    if (p->site && strcmp(section, SITE) == 0)
        return take_never(p, line);
    const struct zmpi_option *row = zmpi_option_row(name, &rule.option);
    if (row == NULL || (section[0] != 0 && !allowed_in(section, row))) {
        refuse_name(p, section, name);
        return p->status == ZMPI_OK;
    }
    if (section[0] == 0) {
        fail(p, ZMPI_ERR_ARG, "setting outside of a section; begin with [*] or [GLOB]");
        return p->status == ZMPI_OK;
    }
    struct zmpi_options scratch;
    if (!zmpi_option_parse(row, &scratch, line->value)) {
        snprintf(text, sizeof text, "%s=%.60s: %s", name, line->value, row->allowed);
        fail(p, ZMPI_ERR_ARG, text);
        return p->status == ZMPI_OK;
    }
    rule.value = (char *)line->value;
    char *glob = strdup(section); /* of which take_calls cuts an end off */
    rule.glob = glob;
    const char *wrong = glob != NULL ? wrong_rule(p, &rule, name) : NULL;
    if (wrong != NULL)
        fail(p, ZMPI_ERR_ARG, wrong);
    else if (glob == NULL || !append(p->rules, &rule))
        fail(p, ZMPI_ERR_MEMORY, zmpi_strerror(ZMPI_ERR_MEMORY));
    else
        p->options->comm_rules |= is_for_comms(section);
    free(glob);
    return p->status == ZMPI_OK;
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

static enum zmpi_status read_file(struct parse *p, FILE *file)
{
    if (p->options->rules == NULL)
        p->options->rules = calloc(1, sizeof *p->options->rules);
    p->rules = p->options->rules;
    enum zmpi_status s = p->rules != NULL ? zmpi_lines_read(file, take, p) : ZMPI_ERR_MEMORY;
    if (s != ZMPI_OK)
        fail(p, s, s == ZMPI_ERR_IO ? strerror(errno) : zmpi_strerror(s));
    fclose(file);
    return p->status;
}

enum zmpi_status zmpi_rules_load(struct zmpi_options *o, char message[256])
{
    struct parse p = {.path = o->config, .options = o, .message = message};
    if (o->config[0] == 0)
        return ZMPI_OK;
    FILE *file = open_rules(o->config, message);
    return file != NULL ? read_file(&p, file) : ZMPI_ERR_ARG;
}

enum zmpi_status zmpi_site_load(struct zmpi_options *o, const char *path, char message[256])
{
    struct parse p = {.path = path, .options = o, .message = o->site_message, .site = true};
    FILE *file = open_rules(path, message);
    if (file == NULL)
        return ZMPI_OK;
    snprintf(o->site, sizeof o->site, "%s", path);
    const enum zmpi_status s = read_file(&p, file);
    if (s != ZMPI_OK)
        snprintf(message, 256, "%s", o->site_message);
    return s;
}

static enum zmpi_status apply(struct zmpi_options *o, const struct rule *r, char message[256])
{
    const bool named = strcmp(r->glob, "*") != 0;
    const enum zmpi_option_source source = r->site ? ZMPI_FROM_SITE
                                           : named ? ZMPI_FROM_NAMED_RULES
                                                   : ZMPI_FROM_RULES;
    return zmpi_option_assign(o, r->option, r->value, source, r->site ? o->site : o->config,
                              message);
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

bool zmpi_rules_calls(const struct zmpi_options *o, const char *path, size_t *i, unsigned calls[2],
                      struct zmpi_bound *bound)
{
    while (o->rules != NULL && *i < o->rules->count) {
        const struct rule *r = &o->rules->rule[(*i)++];
        calls[0] = r->first;
        calls[1] = r->last;
        if (selects_call(r, path, 0) && zmpi_bound_parse(r->value, bound) == ZMPI_OK)
            return true;
    }
    return false;
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

/* ---- from process to process ---- */

/* A rule's numbers; behind them glob and value, each with its end. */
struct packed {
    uint64_t option, first, last, site, glob, value;
};

size_t zmpi_rules_pack(const struct zmpi_options *o, void *to)
{
    const size_t rules = o->rules != NULL ? o->rules->count : 0;
    unsigned char *at = to;
    size_t bytes = 0;
    for (size_t k = 0; k < rules; k++) {
        const struct rule *r = &o->rules->rule[k];
        const struct packed p = {
            r->option, r->first, r->last, r->site, strlen(r->glob) + 1, strlen(r->value) + 1};
        if (at != NULL) {
            memcpy(at + bytes, &p, sizeof p);
            memcpy(at + bytes + sizeof p, r->glob, p.glob);
            memcpy(at + bytes + sizeof p + p.glob, r->value, p.value);
        }
        bytes += sizeof p + p.glob + p.value;
    }
    return bytes;
}

bool zmpi_rules_unpack(struct zmpi_options *o, const void *from, size_t bytes)
{
    struct zmpi_rules *rules = calloc(1, sizeof *rules);
    const unsigned char *at = from, *const end = at + bytes;
    struct packed p;
    bool fine = rules != NULL;
    while (fine && at < end) {
        memcpy(&p, at, sizeof p);
        at += sizeof p;
        struct rule r = {.glob = (char *)(uintptr_t)at,
                         .value = (char *)(uintptr_t)(at + p.glob),
                         .option = (size_t)p.option,
                         .first = (unsigned)p.first,
                         .last = (unsigned)p.last,
                         .site = p.site != 0};
        fine = append(rules, &r);
        at += p.glob + p.value;
    }
    if (!fine) {
        zmpi_rules_free(rules);
        return false;
    }
    zmpi_rules_free(o->rules);
    o->rules = rules;
    return true;
}

void zmpi_rules_free(struct zmpi_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t k = 0; k < rules->count; k++)
        free(rules->rule[k].glob);
    free(rules->rule);
    free(rules);
}
