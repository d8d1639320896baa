/* options_site.c - the site's file: below all that a user says, but for what it never wants. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/options_value.h"

static char message[256];

/* Defaults, then this text as the site's file. */
static struct zmpi_options site(const char *text)
{
    struct zmpi_options o;
    char path[64];
    snprintf(path, sizeof path, "site-%d.conf", (int)getpid());
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
    zmpi_options_default(&o);
    cr_assert_eq(zmpi_site_load(&o, path, message), ZMPI_OK);
    cr_assert_str_eq(o.site, path);
    unlink(path);
    return o;
}

static size_t row(const char *name)
{
    return zmpi_option_index(name);
}

Test(site, is_weaker_than_users)
{
    struct zmpi_options o = site("[*]\nerror_bound = abs=2\ncodec = huffman\n"
                                 "[big*]\nerror_bound = abs=3\nexact_below = 7\n");
    cr_assert_eq(zmpi_option_assign(&o, row("codec"), "fle", ZMPI_FROM_ENVIRONMENT, "", message),
                 ZMPI_OK);
    cr_assert_eq(zmpi_rules_apply(&o, NULL, message), ZMPI_OK);
    cr_assert(o.bound_set && o.bound.value == 2);
    cr_assert_str_eq(o.codec, "fle");
    cr_assert_str_eq(zmpi_option_from(&o, row("error_bound")), "site");
    cr_assert_str_eq(zmpi_option_file(&o, row("error_bound")), o.site);
    cr_assert_null(zmpi_option_file(&o, row("codec")));
    // A section that names files is the site's word too, and no more than that.
    struct zmpi_options big = o;
    cr_assert_eq(zmpi_rules_apply(&big, "big1", message), ZMPI_OK);
    cr_assert_eq(big.bound.value, 3);
    big = o;
    cr_assert_eq(
        zmpi_option_assign(&big, row("error_bound"), "abs=9", ZMPI_FROM_RULES, "", message),
        ZMPI_OK);
    cr_assert_eq(zmpi_rules_apply(&big, "big1", message), ZMPI_OK);
    cr_assert_eq(big.bound.value, 9);
    cr_assert_eq(o.site_message[0], 0);
    zmpi_options_free(&o);
}

Test(site, never)
{
    struct zmpi_options o =
        site("[site]\nnever_files = *.rst ,\t/scratch/x/*, !keep.rst ; restarts\n"
             "never_programs = vasp*\n");
    cr_assert_eq(zmpi_option_set(&o, "files", "*", "h", message), ZMPI_OK);
    cr_assert(!zmpi_options_file_matches(&o, "a/b.rst") &&
              !zmpi_options_file_matches(&o, "/scratch/x/y"));
    cr_assert(zmpi_options_file_matches(&o, "keep.rst") && zmpi_options_file_matches(&o, "y"));
    cr_assert(zmpi_globs_match(o.never_programs, "/opt/bin/vasp_std") &&
              !zmpi_globs_match(o.never_programs, "/opt/vasp/lmp"));
    cr_assert(zmpi_options_collective(&o, "gather"));
    o.never = true;
    cr_assert(!zmpi_options_file_matches(&o, "y") && !zmpi_options_collective(&o, "gather"));
    zmpi_options_free(&o);
}

/* Each wrong line is left out, the first one is told of; all others count. */
Test(site, wrong_lines_are_ignored)
{
    static const char *const wrong[][2] = {
        {"nonsense", "expected [GLOB] or NAME = VALUE"},
        {"error_bound = rel=7", "allowed are abs=V"},
        {"thread = 7", "did you mean threads?"},
        {"[a", "[ without ]"},
        {"[a #1]\nerror_bound = lossless", "a site's rules are for files and communicators"},
        {"[hdf5:a]\nerror_bound = lossless", "a site's rules are for files and communicators"},
        {"[site]\nnever = x", "never_files and never_programs"},
        {"[site]\nnever_files = a,,b", "globs separated by commas"},
        {"[site]\nnever_files = a, ,b", "globs separated by commas"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[256];
        snprintf(text, sizeof text, "[*]\n%s\n[b*]\ncodec = zip\ncodec = huffman\n", wrong[i][0]);
        struct zmpi_options o = site(text);
        cr_assert_not_null(strstr(o.site_message, wrong[i][1]), "%s", o.site_message);
        cr_assert_not_null(strstr(o.site_message, " (ignored): "), "%s", o.site_message);
        cr_assert_null(strchr(o.site_message, '\n'));
        cr_assert_eq(zmpi_rules_apply(&o, "b1", message), ZMPI_OK);
        cr_assert_str_eq(o.codec, "huffman");
        zmpi_options_free(&o);
    }
}

Test(site, is_no_text_or_not_there)
{
    struct zmpi_options o;
    zmpi_options_default(&o);
    cr_assert_eq(zmpi_site_load(&o, "/nonexistent/zmpi.conf", message), ZMPI_OK);
    cr_assert(o.site[0] == 0 && o.rules == NULL);
    cr_assert_eq(zmpi_site_load(&o, "/", message), ZMPI_OK);
    cr_assert_eq(o.site[0], 0);
    zmpi_options_free(&o);
}
