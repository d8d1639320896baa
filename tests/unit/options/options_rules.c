/* options_rules.c - the rules file: what holds for a file, a call, a dataset or a communicator, and
 * what is wrong with it. */
#define _GNU_SOURCE
#include <ctype.h>
#include <sys/stat.h>

#include "options_set.h"

TestSuite(options_rules, .init = clean);

static const char rules[] = "; a comment\n"
                            "[*]\n"
                            "error_bound = rel=1e-4\n"
                            "[snap_*]\n"
                            "error_bound = abs=0.25 ; for pictures\n"
                            "  shape = 2x3x4\n"
                            "[/exact/*]\n"
                            "error_bound = lossless\n"
                            "device=cpu\n";

Test(options_rules, rules)
{
    char path[64];
    use_rules(path, rules);
    struct zmpi_options o = load(), f = o;
    cr_assert(o.bound_set && o.bound.mode == ZMPI_REL && o.bound.value == 1e-4);
    cr_assert_eq(o.source[0], ZMPI_FROM_RULES);
    cr_assert_eq(zmpi_options_for_file(&f, "/tmp/snap_3", message), ZMPI_OK);
    cr_assert(f.bound.mode == ZMPI_ABS && f.bound.value == 0.25 && f.shape[0] == 2 &&
              f.shape[2] == 4);
    f = o;
    cr_assert_eq(zmpi_options_for_file(&f, "/exact/snap_3", message), ZMPI_OK);
    cr_assert(f.bound.mode == ZMPI_LOSSLESS &&
              f.shape[2] == 4); // later sections win, setting by setting
    cr_assert_str_eq(f.device, "cpu");
    f = o;
    cr_assert_eq(zmpi_options_for_file(&f, "other", message), ZMPI_OK);
    cr_assert(f.bound.mode == ZMPI_REL && f.shape[2] == 0);
    zmpi_options_free(&o);
    unlink(path);
}

Test(options_rules, precedence)
{
    char path[64];
    use_rules(path, rules);
    setenv("ZMPI_ERROR_BOUND", "abs=9", 1);
    const struct zmpi_options job = load();
    struct zmpi_options o = job;
    cr_assert_eq(zmpi_options_for_file(&o, "snap_1", message), ZMPI_OK);
    cr_assert(o.bound.mode == ZMPI_ABS && o.bound.value == 0.25); // the rule that names the file
    cr_assert_eq(o.shape[0], 2);
    cr_assert(zmpi_option_overrides(&o, &job, 0) && !zmpi_option_overrides(&o, &job, 1));
    cr_assert_str_eq(zmpi_option_from(&o, 0), "rule");
    o = job;
    cr_assert_eq(zmpi_options_for_file(&o, "other", message), ZMPI_OK);
    cr_assert(o.bound.mode == ZMPI_ABS && o.bound.value == 9); // the environment above [*]
    cr_assert(!zmpi_option_overrides(&o, &job, 0));
    cr_assert_eq(zmpi_option_set(&o, "error_bound", "lossless", "hint", message), ZMPI_OK);
    cr_assert_eq(o.bound.mode, ZMPI_LOSSLESS); // a hint above both
    cr_assert_eq(zmpi_options_for_file(&o, "snap_1", message), ZMPI_OK);
    cr_assert_eq(o.bound.mode, ZMPI_LOSSLESS);
    zmpi_options_free(&o);
    unlink(path);
}

/* Sections for communicators speak of no file, and the other way round. */
Test(options_rules, rules_for_communicators)
{
    char path[64];
    use_rules(path, "[*]\ncollective_min = 1M\n[*.bin]\ndevice = a\n"
                    "[comm:halo*]\ncollectives = none\ndevice = b\n"
                    "[comm:halo 3]\ncollective_mode = never\n");
    struct zmpi_options all_comms = load(), o = all_comms;
    cr_assert(o.comm_rules && o.collective_min == 1 << 20);
    cr_assert_eq(zmpi_options_for_comm(&o, "world.bin", message), ZMPI_OK);
    cr_assert_str_eq(o.device, "auto");
    cr_assert(zmpi_options_collective(&o, "gather") && !zmpi_options_collective(&o, "bcast"));
    cr_assert(!zmpi_options_collective(&o, "scatter"));
    cr_assert_eq(zmpi_options_for_comm(&o, "halo 4", message), ZMPI_OK);
    cr_assert_str_eq(o.device, "b");
    cr_assert(!zmpi_options_collective(&o, "gather") && o.collective_mode == ZMPI_COLLECTIVE_AUTO);
    cr_assert_eq(zmpi_options_for_comm(&o, "halo 3", message), ZMPI_OK);
    cr_assert_eq(o.collective_mode, ZMPI_COLLECTIVE_NEVER);
    o = all_comms;
    cr_assert_eq(zmpi_options_for_file(&o, "comm:halo 3", message), ZMPI_OK);
    cr_assert_str_eq(o.device, "auto");
    cr_assert(zmpi_option_concerns_comms("collectives") && !zmpi_option_concerns_comms("files"));
    zmpi_options_free(&o);
    unlink(path);
}

/* Sections for datasets concern no file, and say nothing but a bound; the last one wins. */
Test(options_rules, rules_for_datasets)
{
    char path[64];
    struct zmpi_bound bound = {ZMPI_ABS, 7};
    use_rules(path, "[*.bin]\nerror_bound = abs=1\n[hdf5:/fields/rho*]\nerror_bound = abs=2\n"
                    "[hdf5:p]\nerror_bound = abs=3\n[hdf5:/fields/rho_old]\n"
                    "error_bound = lossless\n");
    struct zmpi_options o = load();
    cr_assert(zmpi_rules_dataset(&o, NULL, NULL) && !o.comm_rules);
    cr_assert(zmpi_rules_set(&o, "error_bound"));
    cr_assert(!zmpi_rules_dataset(&o, "/fields/q", &bound) && bound.value == 7);
    cr_assert(!zmpi_rules_dataset(&o, "", &bound) && !zmpi_rules_dataset(&o, "x.bin", &bound));
    cr_assert(zmpi_rules_dataset(&o, "/fields/rho", &bound) && bound.value == 2);
    cr_assert(zmpi_rules_dataset(&o, "/fields/p", &bound) && bound.value == 3);
    cr_assert(zmpi_rules_dataset(&o, "/fields/rho_old", &bound) && bound.mode == ZMPI_LOSSLESS);
    cr_assert_eq(zmpi_options_for_file(&o, "hdf5:p", message), ZMPI_OK);
    cr_assert(!o.bound_set);
    zmpi_options_free(&o);
    unlink(path);
    use_rules(path, "[hdf5:*]\nerror_bound = abs=2\n");
    o = load();
    cr_assert(zmpi_rules_dataset(&o, "", &bound) && zmpi_rules_dataset(&o, "/a/b", &bound));
    cr_assert(!o.bound_set);
    zmpi_options_free(&o);
    unlink(path);
    use_rules(path, "[*]\nerror_bound = abs=2\n");
    o = load();
    cr_assert(!zmpi_rules_dataset(&o, NULL, NULL));
    zmpi_options_free(&o);
    unlink(path);
}

/* A rule that the environment hides must be right all the same. */
Test(options_rules, hidden_rules_are_checked)
{
    setenv("ZMPI_ERROR_BOUND", "abs=9", 1);
    rules_fail("[*]\nerror_bound = abs=-1\n", ":2:");
}

Test(options_rules, bad_rules)
{
    rules_fail("[*]\nerror_bound = rel=2\n", ":2: error_bound=rel=2: allowed are abs=V");
    rules_fail("\n\n[a]\nthreads = 4\n",
               ":4: threads: allowed in a rule are error_bound, "
               "threshold, fill, codec, device, files, hdf5, least_ratio, exact_below, shape");
    rules_fail("[a #0]\nerror_bound = lossless\n", ":2: calls are written [GLOB #3]");
    rules_fail("[a #3-2]\nerror_bound = lossless\n", ":2: calls are written");
    rules_fail("[a #1x]\nerror_bound = lossless\n", ":2: calls are written");
    rules_fail("[a #1]\ndevice = cpu\n", ":2: a rule for single calls can set only error_bound");
    rules_fail("[hdf5:a #1]\nerror_bound = lossless\n", ":2: calls are written");
    rules_fail("[hdf5:a]\ncodec = fle\n", ":2: codec: allowed in a rule are error_bound");
    rules_fail("[comm:a]\nstaging = 2M\n",
               ":2: staging: allowed in a rule are error_bound, threshold, fill, codec, device, "
               "collectives, collective_mode, collective_min, collective_piece, shape");
    rules_fail("[a*]\ncollectives = none\n", ":2: collectives: allowed in a rule are error_bound");
    rules_fail("[comm:a]\ncollectives = reduce\n", ":2: collectives=reduce: allowed are gather");
    rules_fail("[a]\nerorbound = abs=1\n", ":2:");
    rules_fail("error_bound = abs=1\n", ":1:");
    rules_fail("[a\nerror_bound = abs=1\n", ":1:");
    rules_fail("[a]\nnonsense\n", ":2:");
    rules_fail("[a]\nerror_bound = abs=1\n  codec = zip\n", ":3:");
    rules_fail("[a]\nshape = \n", ":2:");
    rules_fail("[a]\ncodek = fle\n", ":2: codek: no such setting; did you mean codec?");
    rules_fail("[a] b\ncodec = fle\n", ":1: expected nothing behind ]");
    rules_fail("[a #1]\nerror_bound = none\n", ":2: none is for whole files");
    rules_fail("[hdf5:a]\nerror_bound = none\n", ":2: none is for whole files");
    rules_fail("[site]\nnever_files = *\n", ":2: never_files");
    char *text = calloc(1, 70000);
    cr_assert_not_null(text);
    memset(text, ' ', 69999);
    rules_fail(text, ":1: line too long");
    free(text);
}

/* A section and a value of 300 characters; comments behind values and sections, by either sign. */
Test(options_rules, long_rules_and_comments)
{
    char text[2000] = "\xef\xbb\xbf[x.bin] ; why\nfiles = *.bin", glob[301], path[64];
    memset(glob, 'g', 300);
    glob[300] = 0;
    for (int i = 0; i < 60; i++)
        strcat(text, ",!d*.b");
    sprintf(text + strlen(text),
            "   # all these\nerror_bound = none ; of [x]\n[%s]\r\ncodec: huffman\t;\r\n", glob);
    strcat(text, "[*]\nerror_bound=abs=1;2\n");
    rules_fail(text, "error_bound=abs=1;2"); // no blank before it: part of the value
    text[strlen(text) - 3] = 0;
    use_rules(path, text);
    struct zmpi_options o = load(), x = o;
    cr_assert(o.bound_set && o.bound.value == 1);
    cr_assert_eq(zmpi_options_for_file(&x, "x.bin", message), ZMPI_OK);
    cr_assert(!x.bound_set);
    cr_assert(zmpi_options_file_matches(&x, "x.bin") && !zmpi_options_file_matches(&x, "d1.b"));
    cr_assert_str_eq(zmpi_option_file(&x, zmpi_option_index("files")), path);
    x = o;
    cr_assert_eq(zmpi_options_for_file(&x, glob, message), ZMPI_OK);
    cr_assert_str_eq(x.codec, "huffman");
    zmpi_options_free(&o);
    unlink(path);
}

Test(options_rules, rules_that_cannot_be_read)
{
    setenv("ZMPI_CONFIG", "/nonexistent/rules.ini", 1);
    load_fails("ZMPI_CONFIG=/nonexistent/rules.ini: No such file or directory");
    setenv("ZMPI_CONFIG", "/", 1);
    load_fails("ZMPI_CONFIG=/: is not a regular file");
    // Nobody writes to it: opening it must not wait.
    cr_assert_eq(mkfifo("rules.fifo", 0600), 0);
    setenv("ZMPI_CONFIG", "rules.fifo", 1);
    load_fails("ZMPI_CONFIG=rules.fifo: is not a regular file");
    unlink("rules.fifo");
    setenv("ZMPI_CONFIG", "/dev/zero", 1);
    load_fails("ZMPI_CONFIG=/dev/zero: is not a regular file");
}

Test(options_rules, empty_rules)
{
    char path[64];
    use_rules(path, "");
    struct zmpi_options o = load();
    cr_assert(!o.bound_set);
    zmpi_options_free(&o);
    unlink(path);
}

/* As another rank has them: the same rules, whatever that rank had itself. */
Test(options_rules, packed)
{
    char path[64];
    use_rules(path, "[hdf5:/a*]\nerror_bound = abs=0.5\n[snap* #2-3]\nerror_bound = rel=0.1\n");
    struct zmpi_options o = load();
    unlink(path);
    use_rules(path, rules);
    struct zmpi_options other = load();
    unlink(path);
    const size_t bytes = zmpi_rules_pack(&o, NULL);
    char *packed = malloc(bytes);
    cr_assert_eq(zmpi_rules_pack(&o, packed), bytes);
    cr_assert(zmpi_rules_unpack(&other, packed, bytes));
    struct zmpi_bound bound;
    cr_assert(zmpi_rules_dataset(&other, "/a1", &bound) && bound.value == 0.5);
    cr_assert(!zmpi_rules_dataset(&other, "/b", &bound));
    cr_assert(zmpi_rules_call(&other, "snap_1", 3, &bound) && bound.value == 0.1);
    cr_assert(!zmpi_rules_call(&other, "snap_1", 4, &bound));
    cr_assert_eq(zmpi_rules_pack(&other, NULL), bytes);
    cr_assert(zmpi_rules_unpack(&other, packed, 0));
    cr_assert_eq(zmpi_rules_pack(&other, NULL), 0);
    free(packed);
    zmpi_options_free(&o);
    zmpi_options_free(&other);
}
