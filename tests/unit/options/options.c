/* options.c - every setting with good and bad values, and where values come from. */
#define _GNU_SOURCE
#include <ctype.h>
#include <sys/auxv.h>

#include "options_set.h"

TestSuite(options, .init = clean);

/* What a table of strings ends with is NULL. */
static void all(const char *name, const char *const *good, const char *const *bad)
{
    for (; *good != NULL; good++)
        cr_assert_eq(set(name, *good), ZMPI_OK, "%s=%s: %s", name, *good, message);
    for (; *bad != NULL; bad++) {
        cr_assert_eq(set(name, *bad), ZMPI_ERR_ARG, "%s=%s was taken", name, *bad);
        cr_assert_not_null(strstr(message, "allowed"), "%s", message);
        cr_assert_null(strchr(message, '\n'), "%s", message);
    }
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(options, values)
{
    all("error_bound",
        LIST("abs=1", "rel=1e-3", "abs=1e-30", "lossless", "rel=0.99", "psnr=80", "psnr=300",
             "pw_rel=1e-3", "ratio=8"),
        LIST("", "abs=0", "abs=-1", "rel=-1", "rel=1", "rel=2", "abs=nan", "abs=inf", "rel=", "abs",
             "1e-3", "ABS=1", "abs=1 ", " abs=1", "abs=1x", "abs=0x1p-3", "abs=1e999", "lossless=1",
             "psnr=0", "psnr=-60", "psnr=301", "psnr=nan", "pw_rel=0", "pw_rel=1", "pw_rel=-1e-3",
             "ratio=1", "ratio=0", "ratio=inf"));
    all("codec", LIST("fle", "huffman", "huffman:approximate", "interp", "interp:flare", "auto"),
        LIST("", "FLE", "zfp", "fle,fle", "huffman:", "huffman:exact", "fle:approximate",
             "interp:approximate"));
    all("device", LIST("auto", "cpu", "cuda", "my_dev-2"),
        LIST("", "a b", "../x", "CPU", "abcdefghijklmnopqrstuvwxyzabcdefghij"));
    all("files", LIST("*", "*.bin", "a,b,!c", "/scratch/*", "!a,*", "!a", "!a,!b"),
        LIST("", ",", "a,", ",a", "!", "a,,b"));
    all("least_ratio", LIST("0", "1", "1.1", "2", "1e9"),
        LIST("", "-1", "nan", "inf", "1.1x", "off"));
    all("exact_below", LIST("0", "4096", "1000000000"), LIST("", "-1", "4K", "1000000001"));
    all("threads", LIST("0", "1", "1024"),
        LIST("", "-1", "1025", "2x", " 2", "+2", "1.5", "99999999999999999999"));
    all("collectives",
        LIST("gather", "none", "gather,gather", "bcast,bcast_lossy", "scatter,allgather,alltoall"),
        LIST("", "gatherv", "reduce", "gather,", ",gather", "none,gather", "GATHER"));
    all("collective_min", LIST("0", "1", "64K", "64k", "1M", "2G"),
        LIST("", "-1", "K", "1T", "1KB", "64 K", "1.5M", "18446744073709551615", "9999999999G"));
    all("collective_mode", LIST("auto", "measured", "always", "never"),
        LIST("", "on", "Auto", "always,never"));
    all("hdf5", LIST("off", "container", "filter"), LIST("", "on", "filters", "Container"));
    all("element_type", LIST("datatype", "auto", "f32", "f64", "f32-big", "f64-big"),
        LIST("", "F32", "double", "f32,f64"));
    all("collective_piece", LIST("4K", "4M", "1G"), LIST("", "0", "4095", "1025M", "4MB"));
    all("staging", LIST("1M", "16M", "1G", "1048576", "1024K"),
        LIST("", "0", "1048575", "1K", "1025M", "2G"));
    all("shape", LIST("10", "10x20", "1x2x3", "2x3x4x5", "5X6"),
        LIST("", "0", "10x", "x10", "0x1x1", "-1x2", "1 x 2", "1,2",
             "4294967296x4294967296x4294967296"));
    all("threshold", LIST("1e15", "none"), LIST("", "0", "-1", "nan", "None"));
    all("fill", LIST("0", "-1", "-9999,1e15", "0.25,nan", "NaN", "none"),
        LIST("", "1,2,3", "1,", ",1", "inf", "0x1", "1 ", "1;2", "1e999", "None"));
    all("disable", LIST("", "none", "avx2", "avx512,avx2"), LIST("sse", "none,avx2", "avx2,"));
    all("report_text", LIST("on", "off"), LIST("", "1", "yes", "ON"));
    all("log", LIST("quiet", "error", "warn", "info", "debug"), LIST("", "verbose", "3"));
    char text[2048];
    memset(text, 'x', sizeof text);
    text[1023] = 0;
    all("report", LIST("", "a.json", text), LIST("a\nb"));
    text[1023] = 'x';
    text[1024] = 0;
    all("config", LIST("", "r.ini"), LIST(text));
    all("plugin_path", LIST("", "/a:/b"), LIST(text));
    all("nic", LIST("", "/run/nic"), LIST(text));
    all("trim", LIST("on", "off"), LIST("", "1", "ON"));
    all("nic_write", LIST("on", "off"), LIST("", "1", "ON"));
}

Test(options, fields)
{
    struct zmpi_options o;
    zmpi_options_default(&o);
    cr_assert(!o.bound_set && o.threads == 0 && o.collective_min == 65536 &&
              o.staging == (size_t)16 << 20);
    cr_assert(o.report_text && o.log == ZMPI_LOG_WARN && o.shape[2] == 0);
    cr_assert_str_eq(o.device, "auto");
    cr_assert_str_eq(o.collectives, "gather"); // what others send is computed with
    cr_assert_eq(zmpi_option_set(&o, "error_bound", "rel=1e-3", "h", message), ZMPI_OK);
    cr_assert(o.bound_set && o.bound.mode == ZMPI_REL && o.bound.value == 1e-3);
    cr_assert_eq(zmpi_option_set(&o, "staging", "2M", "h", message), ZMPI_OK);
    cr_assert_eq(o.staging, (size_t)2 << 20);
    cr_assert_eq(zmpi_option_set(&o, "shape", "2x3x4x5", "h", message), ZMPI_OK);
    cr_assert(o.shape[0] == 6 && o.shape[1] == 4 && o.shape[2] == 5);
    cr_assert_eq(zmpi_option_set(&o, "shape", "7", "h", message), ZMPI_OK);
    cr_assert(o.shape[0] == 1 && o.shape[1] == 1 && o.shape[2] == 7);
    struct zmpi_options before = o;
    cr_assert_neq(zmpi_option_set(&o, "error_bound", "rel=-1", "h", message), ZMPI_OK);
    cr_assert_eq(memcmp(&o, &before, sizeof o), 0); // a failure changes nothing
}

Test(options, message_says_what_is_allowed)
{
    setenv("ZMPI_ERROR_BOUND", "rel=-1", 1);
    load_fails("ZMPI_ERROR_BOUND=rel=-1: allowed are " ZMPI_BOUNDS);
    cr_assert_eq(set("error_bond", "abs=1"), ZMPI_ERR_ARG);
    cr_assert_not_null(strstr(message, "error_bound"), "%s", message);
}

/* Every row can be printed and what is printed can be set again. */
Test(options, table_round_trip)
{
    struct zmpi_options o = load();
    size_t n = 0;
    for (; zmpi_option_info(n) != NULL; n++) {
        const struct zmpi_option_info *info = zmpi_option_info(n);
        char text[1024], name[64] = "ZMPI_";
        for (size_t k = 0; info->name[k] != 0; k++)
            name[k + 5] = (char)toupper((unsigned char)info->name[k]);
        cr_assert_str_eq(name, info->environment);
        if (info->info_key != NULL)
            cr_assert(strncmp(info->info_key, "zmpi_", 5) == 0 &&
                      strcmp(info->info_key + 5, info->name) == 0);
        zmpi_option_get(&o, n, text);
        cr_assert_str_eq(text, info->default_value);
        if (text[0] != 0)
            cr_assert_eq(set(info->name, text), ZMPI_OK, "%s", message);
        cr_assert(info->help[0] != 0 && info->type[0] != 0);
    }
    cr_assert_eq(n, (size_t)ZMPI_OPTION_COUNT);
}

Test(options, environment)
{
    setenv("ZMPI_ERROR_BOUND", "abs=0.5", 1);
    setenv("ZMPI_THREADS", "3", 1);
    setenv("ZMPI_REPORT", "", 1);
    struct zmpi_options o = load();
    cr_assert(o.bound_set && o.bound.mode == ZMPI_ABS && o.threads == 3);
    cr_assert_eq(o.source[0], ZMPI_FROM_ENVIRONMENT);
    cr_assert_eq(o.source[1], ZMPI_FROM_DEFAULT);
}

Test(options, unknown_variables)
{
    setenv("ZMPI_DATA", "/x", 1);
    setenv("ZMPI_TEST_ANYTHING", "1", 1);
    setenv("ZMPIX", "1", 1);
    load();
    setenv("ZMPI_EROR_BOUND", "abs=1", 1);
    load_fails("ZMPI_EROR_BOUND");
    load_fails("did you mean ZMPI_ERROR_BOUND?");
    unsetenv("ZMPI_EROR_BOUND");
    setenv("ZMPI_BOUND", "abs=1", 1);
    load_fails("did you mean ZMPI_ERROR_BOUND?");
    unsetenv("ZMPI_BOUND");
    load();
}

// What is not close to a setting is told of, and stops nothing.
Test(options, variables_of_others)
{
    static const char *const names[] = {
        "ZMPI_ROOT",
        "ZMPI_DIR",
        "ZMPI_HOME",
        "ZMPI_PATH",
        "ZMPI_LIB",
        "ZMPI_INCLUDE",
        "ZMPI_BIN",
        "ZMPI_VERSION",
        "ZMPI_PREFIX",
        "ZMPI_MODULE",
        "ZMPI_FOO", // as long as ZMPI_LOG, and like it in nothing else
        "ZMPI_COMPLETELY_DIFFERENT_WORDS_OF_GREAT_LENGTH_THAT_EXCEED_ANY_BUFFER_THERE_MAY_BE"};
    cr_assert_not(zmpi_options_unknown(message));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv(names[i], "1", 1);
        load();
        cr_assert(zmpi_options_unknown(message), "%s", names[i]);
        cr_assert_eq(strncmp(message, names[i], strcspn(message, " ")), 0, "%s", message);
        unsetenv(names[i]);
    }
}

Test(options, unknown_hints)
{
    cr_assert(zmpi_hint_is_known("zmpi_error_bound", message));
    cr_assert(zmpi_hint_is_known("cb_nodes", message));
    cr_assert_not(zmpi_hint_is_known("zmpi_bound", message));
    cr_assert_str_eq(message,
                     "hint zmpi_bound: there is no such hint; did you mean zmpi_error_bound?");
    cr_assert(zmpi_hint_is_known("ZMPI_ERROR_BOUND", message)); // spelt like the variable
    cr_assert_not(zmpi_hint_is_known("ZMPI_BOUND", message));
    cr_assert_str_eq(message,
                     "hint ZMPI_BOUND: there is no such hint; did you mean zmpi_error_bound?");
    cr_assert_not(zmpi_hint_is_known("zmpi_files", message)); // an option that no file has alone
    cr_assert_str_eq(message,
                     "hint zmpi_files: is for the whole job: set ZMPI_FILES in the environment");
    cr_assert_not(zmpi_hint_is_known("zmpi_", message));
}

static bool matches(const char *files, const char *path)
{
    struct zmpi_options o;
    zmpi_options_default(&o);
    if (files != NULL)
        cr_assert_eq(zmpi_option_set(&o, "files", files, "h", message), ZMPI_OK, "%s", message);
    return zmpi_options_file_matches(&o, path);
}

Test(options, files)
{
    cr_assert(matches(NULL, "out.bin") && matches(NULL, "/a/b.h5/out.bin") &&
              matches(NULL, "noextension"));
    static const char *const own[] = {
        "h5", "hdf5", "he5", "hdf", "h5m", "h5part", "nc", "nc4", "cdf", "bp", "adios", "silo",
        "cgns", "exo", "e", "zarr", "med", "rmed", "vtk", "vtkhdf", "vtu", "vti", "vtr", "vts",
        "vtp", "pvtu", "pvd", "cube", "csv", "xyz", "xml", "json", "txt", "log",
        // of imaging, astronomy, seismics, molecules, Python
        "fits", "asdf", "dcm", "nii", "mrc", "nrrd", "tif", "segy", "sgy", "su", "rsf", "las",
        "xtc", "trr", "dcd", "bam", "npy", "npz", "mat", "pkl", "pt", "parquet", "root", "grib2",
        "zip", "tar"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char path[64];
        snprintf(path, sizeof path, "/scratch/run/out.%s", own[i]);
        cr_assert(!matches(NULL, path), "%s", path);
        cr_assert(matches("*", path), "%s", path); // a user's value replaces the default
    }
    cr_assert(!matches(NULL, "/run/wrfout_d01_2000-01-24_12:00:00") && matches(NULL, "wrf_mean"));
    cr_assert(!matches(NULL, "/run/x.nc.0") && !matches(NULL, "x.h5.12") &&
              matches(NULL, "x.nc.raw"));
    cr_assert(matches(NULL, "cube") && matches(NULL, "vtu") && matches(NULL, "a.cube.bin"));
    cr_assert(matches("snap*", "/x/snap1") && !matches("snap*", "/snap/x"));
    cr_assert(matches("/scratch/*", "/scratch/a/b") && !matches("/scratch/*", "/home/b"));
    cr_assert(matches("*,!*.log,keep.log", "keep.log") && !matches("*,!*.log,keep.log", "x.log"));
    cr_assert(!matches("keep.log,!*.log", "keep.log")); // the last match wins
    cr_assert(!matches("a", "b"));
    // Only exclusions: the default list less those.
    cr_assert(!matches("!slab* , !*.raw", "slab1") && !matches("!slab*", "x.h5") &&
              matches("!slab*", "x.raw") && !matches("!slab*,!*.raw", "x.raw"));
    char many[1000] = "!";
    memset(many + 1, 'x', 900); // does not fit behind the default's
    cr_assert_eq(set("files", many), ZMPI_ERR_ARG);
}

/* cli/settings.sh runs this program so, as somebody who has fewer rights than its owner. */
Test(options, setuid_programs_read_no_environment)
{
    if (!getauxval(AT_SECURE))
        cr_skip_test("not setuid");
    setenv("ZMPI_ERROR_BOUND", "nonsense", 1);
    setenv("ZMPI_NO_SUCH_SETTING", "1", 1);
    setenv("ZMPI_CONFIG", "/nonexistent/rules.ini", 1);
    struct zmpi_options o = load();
    cr_assert(!o.bound_set);
    zmpi_options_free(&o);
}

/* A ratio takes huffman, where nobody has set an encoder. */
Test(options, encoder_of_a_ratio)
{
    struct zmpi_options o;
    enum zmpi_variant variant;
    zmpi_options_default(&o);
    cr_assert_eq(zmpi_options_encoder(&o, &variant), ZMPI_FLE);
    cr_assert_eq(zmpi_option_set(&o, "error_bound", "ratio=8", "a test", message), ZMPI_OK);
    cr_assert_eq(zmpi_options_encoder(&o, &variant), ZMPI_HUFFMAN);
    cr_assert_str_eq(zmpi_options_codec(&o), "huffman");
    cr_assert_eq(zmpi_option_set(&o, "codec", "fle", "a test", message), ZMPI_OK);
    cr_assert_eq(zmpi_options_encoder(&o, &variant), ZMPI_FLE);
    zmpi_options_free(&o);
}
