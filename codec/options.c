/* options.c - the table of all settings, and where their values come from. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options_value.h"

/* Formats whose own libraries must be able to open the files are left alone: HDF5, netCDF and ADIOS
 * under their usual names (and numbered ones: x.nc.0), WRF's files, which are netCDF without saying
 * so, and what ParaView, VMD and spreadsheets open: text, or arrays written as bytes, of which
 * nothing would be lossy. */
#define DEFAULT_FILES                                                                              \
    "*,!*.h5,!*.hdf5,!*.he5,!*.nc,!*.nc4,!*.cdf,!*.bp,!*.adios,!*.silo,!*.cgns,!*.exo,!*.e,!*."    \
    "zarr,!wrf*_d0*,!auxhist*_d0*,!*.hdf,!*.h5m,!*.h5part,!*.med,!*.rmed,!*.vtk,!*.vtkhdf,!*.vt?," \
    "!*.pvt?,!*.pvd,!*.cube,!*.csv,!*.xyz,!*.xml,!*.json,!*.txt,!*.log,!*.nc.[0-9]*,!*.h5.[0-9]*"

#define FIELD(name) .offset = offsetof(struct zmpi_options, name)
#define TEXT(name)  FIELD(name), .capacity = sizeof((struct zmpi_options *)0)->name
#define KIB         ((size_t)1 << 10)
#define MIB         ((size_t)1 << 20)
#define GIB         ((size_t)1 << 30)

static const struct zmpi_option table[] = {
    {{"error_bound", "bound", "", "ZMPI_ERROR_BOUND", "zmpi_error_bound",
      "largest error of a value: abs=V, rel=V (of the value range), pw_rel=V (of the value "
      "itself), "
      "psnr=dB (of all values together), ratio=R (as large as it takes) or lossless; unset: "
      "nothing "
      "is converted"},
     "allowed are " ZMPI_BOUNDS,
     ZMPI_OPTION_BOUND,
     true,
     FIELD(bound),
     .per_comm = true},
    {{"threshold", "number", "", "ZMPI_THRESHOLD", "zmpi_threshold",
      "values of this magnitude and above are kept exactly and left out of the range; unset: only "
      "the usual "
      "fill values (1e20, 9.96921e36, ...)"},
     "allowed is a finite number > 0, or none",
     ZMPI_OPTION_THRESHOLD,
     true,
     FIELD(threshold),
     .per_comm = true},
    {{"codec", "name", "fle", "ZMPI_CODEC", "zmpi_codec",
      "encoder of the residuals: fle (fast), huffman (smaller), huffman:approximate (its codes by "
      "CEAZ's approximate sort) or auto (what was measured to take less time)"},
     "allowed are fle, huffman, huffman:approximate or auto",
     ZMPI_OPTION_CODEC,
     true,
     TEXT(codec),
     .per_comm = true},
    {{"device", "name", "auto", "ZMPI_DEVICE", "zmpi_device",
      "where to compress and decode: auto, cpu or the name of a plug-in"},
     "allowed are auto, cpu or the name of a plug-in (a-z, 0-9, _ and -, at most 31)",
     ZMPI_OPTION_DEVICE,
     true,
     TEXT(device),
     .per_comm = true},
    {{"files", "globs", DEFAULT_FILES, "ZMPI_FILES", NULL,
      "files that may be compressed: globs separated by commas, on the base name or, with a '/', "
      "on "
      "the path as the program gives it; !glob excludes; the last match wins"},
     "allowed are globs separated by commas, at least one without '!' (at most 1023 characters)",
     ZMPI_OPTION_FILES,
     false,
     TEXT(files)},
    {{"least_ratio", "number", "1.1", "ZMPI_LEAST_RATIO", "zmpi_least_ratio",
      "files that compression made less than so many times smaller, and those that hold nothing "
      "but bytes, are plain again once they are closed; 0: none"},
     "allowed is a finite number >= 0",
     ZMPI_OPTION_RATIO,
     true,
     FIELD(least_ratio)},
    {{"threads", "number", "0", "ZMPI_THREADS", "zmpi_threads",
      "threads of one process that compress; 0: automatic"},
     "allowed are 0 (automatic) to 1024",
     ZMPI_OPTION_INT,
     false,
     FIELD(threads),
     .max = 1024},
    {{"collectives", "list", "gather,scatter", "ZMPI_COLLECTIVES", NULL,
      "collective operations whose messages are compressed, separated by ',': gather, scatter, "
      "alltoall, allgather, bcast (exact), bcast_lossy, each with its v form; or none"},
     "allowed are gather, scatter, alltoall, allgather, bcast and bcast_lossy, separated by ',', "
     "or "
     "none",
     ZMPI_OPTION_COLLECTIVES,
     false,
     TEXT(collectives),
     .per_comm = true},
    {{"collective_mode", "name", "auto", "ZMPI_COLLECTIVE_MODE", NULL,
      "when those messages are compressed: auto (where it was measured to be faster), always or "
      "never"},
     "allowed are auto, always or never",
     ZMPI_OPTION_COLLECTIVE_MODE,
     false,
     FIELD(collective_mode),
     .per_comm = true},
    {{"collective_min", "bytes", "64K", "ZMPI_COLLECTIVE_MIN", NULL,
      "smallest block from one process to another in a collective operation that is compressed"},
     "allowed is a number of bytes, with K, M or G if you like",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(collective_min),
     .max = SIZE_MAX >> 1,
     .per_comm = true},
    {{"collective_piece", "bytes", "4M", "ZMPI_COLLECTIVE_PIECE", NULL,
      "raw bytes that a collective operation compresses and sends at a time"},
     "allowed are 4K to 1G",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(collective_piece),
     .min = 4 * KIB,
     .max = GIB,
     .per_comm = true},
    {{"staging", "bytes", "16M", "ZMPI_STAGING", "zmpi_staging",
      "compressed bytes of independent writes that a process holds back for each file"},
     "allowed are 1M to 1G",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(staging),
     .min = MIB,
     .max = GIB},
    {{"shape", "shape", "", "ZMPI_SHAPE", "zmpi_shape",
      "extents NZxNYxNX of the array in one process's buffer, where the datatype does not tell"},
     "allowed is NZxNYxNX, each at least 1",
     ZMPI_OPTION_SHAPE,
     true,
     FIELD(shape),
     .per_comm = true},
    {{"report", "path", "", "ZMPI_REPORT", NULL,
      "JSON file for the report at the end; empty: none"},
     "allowed is a path of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(report)},
    {{"report_text", "switch", "on", "ZMPI_REPORT_TEXT", NULL,
      "print the report on rank 0's standard error"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     false,
     FIELD(report_text)},
    {{"config", "path", "", "ZMPI_CONFIG", NULL,
      "file of rules: settings by file or communicator name"},
     "allowed is a path of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(config)},
    {{"log", "level", "warn", "ZMPI_LOG", NULL, "what is said on standard error"},
     "allowed are quiet, error, warn, info or debug",
     ZMPI_OPTION_LEVEL,
     false,
     FIELD(log)},
    {{"plugin_path", "path", "", "ZMPI_PLUGIN_PATH", NULL,
      "directories searched for device plug-ins first, separated by ':'"},
     "allowed is a list of directories of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(plugin_path)},
    {{"nic", "path", "", "ZMPI_NIC", NULL,
      "file that zmpi-nicd has made: where the device smartnic finds it"},
     "allowed is a path of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(nic)},
    {{"nic_write", "switch", "off", "ZMPI_NIC_WRITE", "zmpi_nic_write",
      "zmpi-nicd writes what it has compressed to the file; calls return when it has the data"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     true,
     FIELD(nic_write)},
    {{"trim", "switch", "on", "ZMPI_TRIM", "zmpi_trim",
      "at close, the room of overwritten data goes back to the file system"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     true,
     FIELD(trim)},
    {{"disable", "list", "", "ZMPI_DISABLE", NULL,
      "instruction sets that the CPU codec must not use, separated by ','"},
     "allowed are avx2, avx512, avx512vbmi and neon, or none",
     ZMPI_OPTION_KERNELS,
     false,
     TEXT(disable)},
};

_Static_assert(sizeof table / sizeof *table == ZMPI_OPTION_COUNT, "ZMPI_OPTION_COUNT is wrong");

const struct zmpi_option_info *zmpi_option_info(size_t i)
{
    return i < ZMPI_OPTION_COUNT ? &table[i].info : NULL;
}

void zmpi_option_get(const struct zmpi_options *o, size_t i, char text[1024])
{
    zmpi_option_format(&table[i], o, text);
}

const struct zmpi_option *zmpi_option_row(const char *name, size_t *index)
{
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++) {
        if (strcmp(table[i].info.name, name) == 0) {
            if (index != NULL)
                *index = i;
            return &table[i];
        }
    }
    return NULL;
}

/* A message is one line whatever the value holds. */
static void make_one_line(char message[256])
{
    for (char *p = message; *p != 0; p++)
        if ((unsigned char)*p < 0x20)
            *p = '?';
}

enum zmpi_status zmpi_option_assign(struct zmpi_options *o, size_t i, const char *value,
                                    enum zmpi_option_source source, const char *label,
                                    char message[256])
{
    struct zmpi_options ignored;
    // A value that a stronger source hides must still be a valid one.
    bool hidden = o->source[i] > source;
    if (!zmpi_option_parse(&table[i], hidden ? &ignored : o, value)) {
        snprintf(message, 256, "%.80s=%.64s: %s", label, value, table[i].allowed);
        make_one_line(message);
        return ZMPI_ERR_ARG;
    }
    if (!hidden)
        o->source[i] = (unsigned char)source;
    return ZMPI_OK;
}

enum zmpi_status zmpi_option_set(struct zmpi_options *o, const char *name, const char *value,
                                 const char *source, char message[256])
{
    size_t i;
    if (zmpi_option_row(name, &i) == NULL) {
        char hint[64];
        zmpi_option_suggest(name, ZMPI_NAME_OPTION, hint);
        snprintf(message, 256, "%.80s=%.40s: there is no option %.40s%s", source, value, name,
                 hint);
        make_one_line(message);
        return ZMPI_ERR_ARG;
    }
    return zmpi_option_assign(o, i, value, ZMPI_FROM_HINT, source, message);
}

bool zmpi_option_is_hint(const struct zmpi_options *o, const char *name)
{
    size_t i;
    return zmpi_option_row(name, &i) != NULL && o->source[i] == ZMPI_FROM_HINT;
}

void zmpi_options_default(struct zmpi_options *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++)
        if (table[i].info.default_value[0] != 0)
            zmpi_option_parse(&table[i], o, table[i].info.default_value);
}

/* Settings of a plug-in alone, which looks at them itself, and of tests. */
static bool is_ignored(const char *variable)
{
    static const char *const begins[] = {"ZMPI_DATA=", "ZMPI_TEST_", "ZMPI_EMU_", "ZMPI_WSE_"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(variable, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* A misspelt variable would silently do nothing; nothing is what must not happen. */
static enum zmpi_status check_environment(char message[256])
{
    for (char **e = environ; e != NULL && *e != NULL; e++) {
        if (strncmp(*e, "ZMPI_", 5) != 0 || is_ignored(*e))
            continue;
        char name[64];
        size_t n = strcspn(*e, "=");
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), *e);
        bool known = false;
        for (size_t i = 0; i < ZMPI_OPTION_COUNT && !known; i++)
            known = strcmp(table[i].info.environment, name) == 0;
        if (known)
            continue;
        char hint[64];
        zmpi_option_suggest(name, ZMPI_NAME_ENVIRONMENT, hint);
        snprintf(message, 256, "%s: there is no such setting%s", name, hint);
        return ZMPI_ERR_ARG;
    }
    return ZMPI_OK;
}

static enum zmpi_status load_environment(struct zmpi_options *o, char message[256])
{
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++) {
        const char *name = table[i].info.environment;
        const char *value = getenv(name);
        enum zmpi_status s = ZMPI_OK;
        if (value != NULL)
            s = zmpi_option_assign(o, i, value, ZMPI_FROM_ENVIRONMENT, name, message);
        if (s != ZMPI_OK)
            return s;
    }
    return ZMPI_OK;
}

enum zmpi_status zmpi_options_load(struct zmpi_options *o, char message[256])
{
    struct zmpi_options t;
    zmpi_options_default(&t);
    enum zmpi_status s = check_environment(message);
    if (s == ZMPI_OK)
        s = load_environment(&t, message);
    // The rules come after the environment, which names their file, and stay below it.
    if (s == ZMPI_OK)
        s = zmpi_rules_load(&t, message);
    if (s == ZMPI_OK)
        s = zmpi_rules_apply(&t, NULL, message);
    if (s != ZMPI_OK) {
        zmpi_options_free(&t);
        return s;
    }
    zmpi_log_set(t.log);
    *o = t;
    return ZMPI_OK;
}

enum zmpi_status zmpi_options_for_file(struct zmpi_options *o, const char *path, char message[256])
{
    return zmpi_rules_apply(o, path, message);
}

enum zmpi_status zmpi_options_for_comm(struct zmpi_options *o, const char *name, char message[256])
{
    return zmpi_rules_apply_comm(o, name, message);
}

bool zmpi_option_concerns_comms(const char *name)
{
    const struct zmpi_option *row = zmpi_option_row(name, NULL);
    return row != NULL && row->per_comm;
}

bool zmpi_options_collective(const struct zmpi_options *o, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = o->collectives; (p = strstr(p, name)) != NULL; p += n)
        if ((p == o->collectives || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

void zmpi_options_free(struct zmpi_options *o)
{
    zmpi_rules_free(o->rules);
    o->rules = NULL;
}

bool zmpi_glob_matches(const char *glob, const char *path)
{
    const char *base = strrchr(path, '/');
    const char *subject = strchr(glob, '/') == NULL && base != NULL ? base + 1 : path;
    return fnmatch(glob, subject, 0) == 0;
}

bool zmpi_options_file_matches(const struct zmpi_options *o, const char *path)
{
    bool match = false;
    for (const char *p = o->files; *p != 0;) {
        char glob[sizeof o->files];
        size_t n = strcspn(p, ",");
        bool exclude = *p == '!';
        snprintf(glob, sizeof glob, "%.*s", (int)(n - exclude), p + exclude);
        if (zmpi_glob_matches(glob, path))
            match = !exclude;
        p += n + (p[n] == ',');
    }
    return match;
}

#define SUGGEST_MAX 32

/* Levenshtein distance of two short names; a large number if one is too long. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t row[SUGGEST_MAX + 1];
    if (n > SUGGEST_MAX || m > SUGGEST_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (diagonal + 1 < best)
                best = diagonal + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

/* Of an option, in the form that `name` has: ZMPI_X, zmpi_x or x. NULL: it has none. */
static const char *known_as(const struct zmpi_option_info *info, enum zmpi_name_form form)
{
    return form == ZMPI_NAME_ENVIRONMENT ? info->environment
           : form == ZMPI_NAME_HINT      ? info->info_key
                                         : info->name;
}

void zmpi_option_suggest(const char *name, enum zmpi_name_form form, char text[64])
{
    const char *nearest = "";
    const size_t prefix = form == ZMPI_NAME_OPTION || strlen(name) < 5 ? 0 : 5; // what all have
    const char *word = name + prefix;
    size_t least = (strlen(word) + 1) / 2; // farther than half of it is another word
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++) {
        const char *known = known_as(&table[i].info, form);
        if (known == NULL)
            continue;
        // A part of a name is as good as one letter that is wrong.
        const bool part = strlen(word) > 3 && strstr(known + prefix, word) != NULL;
        const size_t d = part ? 1 : distance(word, known + prefix);
        if (d < least) {
            least = d;
            nearest = known;
        }
    }
    text[0] = 0;
    if (*nearest != 0)
        snprintf(text, 64, "; did you mean %s?", nearest);
}

bool zmpi_hint_is_known(const char *key, char message[256])
{
    char suggestion[64];
    if (strncmp(key, "zmpi_", 5) != 0)
        return true;
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++)
        if (table[i].info.info_key != NULL && strcmp(table[i].info.info_key, key) == 0)
            return true;
    zmpi_option_suggest(key, ZMPI_NAME_HINT, suggestion);
    snprintf(message, 256, "hint %.80s: there is no such hint%s", key, suggestion);
    make_one_line(message);
    return false;
}
