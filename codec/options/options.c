/* options.c - the table of all settings. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "options/options_value.h"

/* Formats whose own libraries must be able to open the files are left alone, by the names that they
 * mostly have (numbered ones too: x.nc.0; WRF's files are netCDF without saying so): what
 * simulations, visualisation, imaging, seismics, molecular dynamics and Python write, archives and
 * text. Files with other names are known by their first bytes (magic.h). */
#define DEFAULT_FILES                                                                              \
    "*,!*.h5,!*.hdf5,!*.he5,!*.hdf,!*.h5m,!*.h5part,!*.nc,!*.nc4,!*.cdf,!*.bp,!*.adios,"           \
    "!*.silo,!*.cgns,!*.exo,!*.e,!*.zarr,!*.med,!*.rmed,!*.root,!*.grib,!*.grb,!*.grib2,"          \
    "!*.grb2,!*.vtk,!*.vtkhdf,!*.vt?,!*.pvt?,!*.pvd,!*.xmf,!*.xdmf,!*.case,!*.plt,!*.szplt,"       \
    "!*.ply,!*.stl,!*.vdb,!*.cube,!*.fits,!*.fit,!*.fts,!*.asdf,!*.dcm,!*.nii,!*.mrc,!*.mrcs,"     \
    "!*.nrrd,!*.mha,!*.mhd,!*.tif,!*.tiff,!*.png,!*.jpg,!*.exr,!*.jp2,!*.segy,!*.sgy,!*.segd,"     \
    "!*.su,!*.rsf,!*.las,!*.laz,!*.xtc,!*.trr,!*.tng,!*.dcd,!*.pdb,!*.bam,!*.cram,!*.xyz,"         \
    "!*.npy,!*.npz,!*.mat,!*.pkl,!*.pt,!*.pth,!*.onnx,!*.safetensors,!*.parquet,!*.arrow,"         \
    "!*.zip,!*.gz,!*.bz2,!*.xz,!*.zst,!*.tar,!*.db,!*.csv,!*.xml,!*.json,!*.yaml,!*.txt,"          \
    "!*.log,!wrf*_d0*,!auxhist*_d0*,!*.nc.[0-9]*,!*.h5.[0-9]*"

#define FIELD(name) .offset = offsetof(struct zmpi_options, name)
#define TEXT(name)  FIELD(name), .capacity = sizeof((struct zmpi_options *)0)->name
#define KIB         ((size_t)1 << 10)
#define MIB         ((size_t)1 << 20)
#define GIB         ((size_t)1 << 30)

static const struct zmpi_option table[] = {
    {{"error_bound", "bound", "", "ZMPI_ERROR_BOUND", "zmpi_error_bound",
      "largest error of a value: abs=V, rel=V (times the value range), pw_rel=V (times the value "
      "itself), psnr=dB (of all values together), ratio=R (with whatever error that needs) or "
      "lossless; not set: nothing is compressed"},
     "allowed are " ZMPI_BOUNDS,
     ZMPI_OPTION_BOUND,
     true,
     FIELD(bound),
     .per_comm = true},
    {{"threshold", "number", "", "ZMPI_THRESHOLD", "zmpi_threshold",
      "values of this magnitude and above are exact and not part of the range; not set: only the "
      "usual fill values (1e20, 9.96921e36, ...)"},
     "allowed is a finite number > 0, or none",
     ZMPI_OPTION_THRESHOLD,
     true,
     FIELD(threshold),
     .per_comm = true},
    {{"fill", "numbers", "", "ZMPI_FILL", "zmpi_fill",
      "one or two fill values, V or V,V, which are exact and not part of the range; not set: the "
      "usual ones, and those that stand apart from the data"},
     "allowed are one or two finite numbers separated by ',', or none",
     ZMPI_OPTION_FILL,
     true,
     FIELD(fill),
     .per_comm = true},
    {{"codec", "name", "fle", "ZMPI_CODEC", "zmpi_codec",
      "encoder: fle (fast), huffman (smaller), huffman:approximate (with CEAZ's approximate "
      "sort), interp (smallest, much slower, other values within the bound), interp:huffman (with "
      "Huffman codes instead of rANS: larger), interp:flare (the profile of FLARE's hardware) or "
      "auto (fle or huffman, whichever took less time so far); not set: fle, and huffman for a "
      "ratio"},
     "allowed are fle, huffman, huffman:approximate, interp, interp:huffman, interp:flare or auto",
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
      "files that may be compressed: globs separated by commas (and blanks); a glob matches the "
      "base name or, if it has a '/', the path as the program gives it; !glob excludes; the last "
      "match wins; only !globs: the default list without these"},
     "allowed are globs separated by commas (at most 1023 characters; with the default list's, if "
     "all begin with '!')",
     ZMPI_OPTION_FILES,
     true,
     TEXT(files)},
    {{"hdf5", "name", "off", "ZMPI_HDF5", "zmpi_hdf5",
      "files of HDF5 and netCDF-4 programs: off (like all other files), container (new files "
      "become containers, whatever their names; their datasets of floats are lossy) or filter "
      "(files stay HDF5's own, and new datasets of floats go through zmpi's filter; not as a "
      "hint); not set: container if a rule names datasets, else off"},
     "allowed are off, container or filter",
     ZMPI_OPTION_HDF5,
     true,
     FIELD(hdf5)},
    {{"least_ratio", "number", "1.1", "ZMPI_LEAST_RATIO", "zmpi_least_ratio",
      "a file that became less than this many times smaller, or that holds nothing but bytes, "
      "becomes a plain file when it is closed; 0: never"},
     "allowed is a finite number >= 0",
     ZMPI_OPTION_RATIO,
     true,
     FIELD(least_ratio)},
    {{"threads", "number", "0", "ZMPI_THREADS", "zmpi_threads",
      "threads of one process that compress and decode; 0: automatic"},
     "allowed are 0 (automatic) to 1024",
     ZMPI_OPTION_INT,
     false,
     FIELD(threads),
     .max = 1024},
    {{"collectives", "list", "gather", "ZMPI_COLLECTIVES", NULL,
      "collective operations whose messages may be compressed, separated by ',': gather, scatter, "
      "alltoall, allgather, bcast (exact), bcast_lossy, each with its v form; or none"},
     "allowed are gather, scatter, alltoall, allgather, bcast and bcast_lossy, separated by ',', "
     "or none",
     ZMPI_OPTION_COLLECTIVES,
     false,
     TEXT(collectives),
     .per_comm = true},
    {{"collective_mode", "name", "auto", "ZMPI_COLLECTIVE_MODE", NULL,
      "when messages of ZMPI_COLLECTIVES are compressed: auto (between nodes, if they are large "
      "enough), measured (if measured times say that it is faster: lossy values differ from run "
      "to run, within the bound), always or never"},
     "allowed are auto, measured, always or never",
     ZMPI_OPTION_COLLECTIVE_MODE,
     false,
     FIELD(collective_mode),
     .per_comm = true},
    {{"collective_min", "bytes", "64K", "ZMPI_COLLECTIVE_MIN", NULL,
      "smallest block from one process to another that a collective operation compresses"},
     "allowed is a number of bytes, with K, M or G if you like",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(collective_min),
     .max = SIZE_MAX >> 1,
     .per_comm = true},
    {{"collective_piece", "bytes", "4M", "ZMPI_COLLECTIVE_PIECE", NULL,
      "uncompressed bytes in one message of a collective operation"},
     "allowed are 4K to 1G",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(collective_piece),
     .min = 4 * KIB,
     .max = GIB,
     .per_comm = true},
    {{"staging", "bytes", "16M", "ZMPI_STAGING", "zmpi_staging",
      "compressed bytes of independent writes that a process collects for each file before it "
      "writes them"},
     "allowed are 1M to 1G",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(staging),
     .min = MIB,
     .max = GIB},
    {{"exact_below", "number", "4096", "ZMPI_EXACT_BELOW", "zmpi_exact_below",
      "write calls of at most this many floats on all ranks together, such as headers and "
      "coordinates, are exact; many small calls that share a record are not; 0: none"},
     "allowed are 0 to 1000000000",
     ZMPI_OPTION_INT,
     true,
     FIELD(exact_below),
     .max = 1000000000},
    {{"shape", "shape", "", "ZMPI_SHAPE", "zmpi_shape",
      "extents NZxNYxNX of the array in one process's buffer, if the datatype does not tell them; "
      "not set: found in the data"},
     "allowed is NZxNYxNX, each at least 1",
     ZMPI_OPTION_SHAPE,
     true,
     FIELD(shape),
     .per_comm = true},
    {{"components", "components", "auto", "ZMPI_COMPONENTS", "zmpi_components",
      "variables in one write call's floats, each with its own range: N interleaved ones, or "
      "N:slow one behind the other; auto: by the datatype or the data; 1: the call is one array"},
     "allowed are auto, and 1 to 64, with :slow or without",
     ZMPI_OPTION_COMPONENTS,
     true,
     FIELD(components),
     .per_comm = true},
    {{"element_type", "name", "datatype", "ZMPI_ELEMENT_TYPE", "zmpi_element_type",
      "type of floats that a program writes as bytes, in big-endian order, or (f64) as pairs of "
      "f32: f32, f64, f32-big, f64-big, or auto (any of these); a call's data are lossy if they "
      "look like that type, else exact; datatype: only what the datatype calls floats"},
     "allowed are datatype, auto, f32, f64, f32-big or f64-big",
     ZMPI_OPTION_ELEMENT_TYPE,
     true,
     FIELD(element_type)},
    {{"report", "path", "", "ZMPI_REPORT", NULL,
      "file to which MPI_Finalize writes the report as JSON; not set: none"},
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
    {{"dry_run", "switch", "off", "ZMPI_DRY_RUN", NULL,
      "compress nothing; try several bounds and encoders on samples, and report what they would "
      "save"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     false,
     FIELD(dry_run)},
    {{"config", "path", "", "ZMPI_CONFIG", NULL,
      "file of rules: settings by the name of a file, dataset or communicator"},
     "allowed is a path of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(config)},
    {{"log", "level", "warn", "ZMPI_LOG", NULL,
      "messages on standard error: quiet, error, warn, info or debug"},
     "allowed are quiet, error, warn, info or debug",
     ZMPI_OPTION_LEVEL,
     false,
     FIELD(log)},
    {{"plugin_path", "path", "", "ZMPI_PLUGIN_PATH", NULL,
      "directories where zmpi looks for device plug-ins first, separated by ':'"},
     "allowed is a list of directories of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(plugin_path)},
    {{"nic", "path", "", "ZMPI_NIC", NULL,
      "file that the daemon zmpi-nicd makes; the device smartnic finds the daemon by it"},
     "allowed is a path of at most 1023 characters",
     ZMPI_OPTION_PATH,
     false,
     TEXT(nic)},
    {{"nic_write", "switch", "off", "ZMPI_NIC_WRITE", "zmpi_nic_write",
      "the daemon zmpi-nicd also writes the file, with what it has compressed; calls return once "
      "the daemon has the data"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     true,
     FIELD(nic_write)},
    {{"trim", "switch", "on", "ZMPI_TRIM", "zmpi_trim",
      "at close, give the space of overwritten data back to the file system"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     true,
     FIELD(trim)},
    {{"adopt_below", "bytes", "1M", "ZMPI_ADOPT_BELOW", NULL,
      "an existing plain file becomes a container if a program writes it anew, all but at most "
      "this many bytes; 0: if it writes all of it"},
     "allowed is a number of bytes, with K, M or G if you like",
     ZMPI_OPTION_BYTES,
     true,
     FIELD(adopt_below),
     .max = SIZE_MAX >> 1},
    {{"view", "switch", "on", "ZMPI_VIEW", NULL,
      "a program sees the uncompressed bytes of containers that it opens by open, fopen or "
      "Fortran (after MPI_Init, or under zmpi view)"},
     "allowed are on or off",
     ZMPI_OPTION_SWITCH,
     false,
     FIELD(view)},
    {{"view_max", "bytes", "0", "ZMPI_VIEW_MAX", NULL,
      "memory that one process may use for the uncompressed bytes of containers that it opens "
      "(ZMPI_VIEW); beyond it they go to a nameless file in TMPDIR; 0: a quarter of the "
      "machine's, divided among the job's processes there"},
     "allowed is a number of bytes, with K, M or G if you like",
     ZMPI_OPTION_BYTES,
     false,
     FIELD(view_max),
     .max = SIZE_MAX >> 1},
    {{"disable", "list", "", "ZMPI_DISABLE", NULL,
      "instruction sets that the CPU codec must not use, separated by ',': avx2, avx512, "
      "avx512vbmi, neon"},
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

size_t zmpi_option_index(const char *name)
{
    size_t i = 0;
    zmpi_option_row(name, &i);
    return i;
}

void zmpi_option_one_line(char message[256])
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
        const bool percent = table[i].kind == ZMPI_OPTION_BOUND && strchr(value, '%');
        snprintf(message, 256, "%.80s=%.64s: %s%s", label, value, percent ? "10% is rel=0.1; " : "",
                 table[i].allowed);
        zmpi_option_one_line(message);
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
        zmpi_option_one_line(message);
        return ZMPI_ERR_ARG;
    }
    return zmpi_option_assign(o, i, value, ZMPI_FROM_HINT, source, message);
}

bool zmpi_option_is_hint(const struct zmpi_options *o, const char *name)
{
    return o->source[zmpi_option_index(name)] == ZMPI_FROM_HINT;
}

void zmpi_option_called(struct zmpi_options *o, const char *name)
{
    o->source[zmpi_option_index(name)] = ZMPI_FROM_CALL;
}

const char *zmpi_option_from(const struct zmpi_options *o, size_t i)
{
    static const char *const names[] = {"default", "site", "rules, [*]", "environment",
                                        "rule",    "call", "hint"};
    return names[o->source[i]];
}

const char *zmpi_option_file(const struct zmpi_options *o, size_t i)
{
    switch (o->source[i]) {
    case ZMPI_FROM_SITE:
        return o->site;
    case ZMPI_FROM_RULES:
    case ZMPI_FROM_NAMED_RULES:
        return o->config;
    default:
        return NULL;
    }
}

bool zmpi_option_overrides(const struct zmpi_options *o, const struct zmpi_options *job, size_t i)
{
    char value[1024], before[1024];
    if (job->source[i] == ZMPI_FROM_DEFAULT || o->source[i] == job->source[i])
        return false;
    zmpi_option_get(o, i, value);
    zmpi_option_get(job, i, before);
    return strcmp(value, before) != 0;
}

void zmpi_options_default(struct zmpi_options *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++)
        if (table[i].info.default_value[0] != 0)
            zmpi_option_parse(&table[i], o, table[i].info.default_value);
}

bool zmpi_option_concerns_comms(const char *name)
{
    const struct zmpi_option *row = zmpi_option_row(name, NULL);
    return row != NULL && row->per_comm;
}

bool zmpi_options_collective(const struct zmpi_options *o, const char *name)
{
    size_t n = strlen(name);
    if (o->never)
        return false;
    for (const char *p = o->collectives; (p = strstr(p, name)) != NULL; p += n)
        if ((p == o->collectives || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

bool zmpi_options_file_matches(const struct zmpi_options *o, const char *path)
{
    return !o->never && !zmpi_globs_match(o->never_files, path) && zmpi_globs_match(o->files, path);
}

/* The option's name in the form of `name`: ZMPI_X, zmpi_x or x. NULL: it has none. */
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
        const size_t d = part ? 1 : zmpi_text_distance(word, known + prefix);
        if (d < least) {
            least = d;
            nearest = known;
        }
    }
    text[0] = 0;
    if (*nearest != 0)
        snprintf(text, 64, "; did you mean %s?", nearest);
}

bool zmpi_hint_is_ours(const char *key)
{
    return strncmp(key, "zmpi_", 5) == 0 || strncmp(key, "ZMPI_", 5) == 0;
}

bool zmpi_hint_is_known(const char *key, char message[256])
{
    char name[64], suggestion[64];
    if (!zmpi_hint_is_ours(key))
        return true;
    snprintf(name, sizeof name, "%s", key);
    for (char *p = name; *p != 0; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++) {
        const struct zmpi_option_info *info = &table[i].info;
        if (strcmp(info->name, name + strlen("zmpi_")) != 0)
            continue;
        if (info->info_key != NULL)
            return true;
        snprintf(message, 256, "hint %.80s: is for the whole job: set %s in the environment", key,
                 info->environment);
        return false;
    }
    zmpi_option_suggest(name, ZMPI_NAME_HINT, suggestion);
    snprintf(message, 256, "hint %.80s: there is no such hint%s", key, suggestion);
    zmpi_option_one_line(message);
    return false;
}

/* ---- the encoder ---- */

/* At the same ratio huffman's errors are the smaller ones, whatever the data. */
const char *zmpi_options_codec(const struct zmpi_options *o)
{
    const bool is_default = o->source[zmpi_option_index("codec")] == ZMPI_FROM_DEFAULT;
    return is_default && o->bound_set && o->bound.mode == ZMPI_RATIO ? "huffman" : o->codec;
}

int zmpi_options_encoder(const struct zmpi_options *o, enum zmpi_variant *variant)
{
    *variant = ZMPI_VARIANT_NONE;
    int encoder = zmpi_encoder_parse(zmpi_options_codec(o), variant);
    return encoder ? encoder : ZMPI_FLE;
}
