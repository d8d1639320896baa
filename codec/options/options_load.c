/* options_load.c - where the values of settings come from: the environment, and the rules file. */
#define _GNU_SOURCE // dladdr, program_invocation_name
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "options/options_value.h"

#ifndef ZMPI_SITE_FILE
#define ZMPI_SITE_FILE     "/usr/local/etc/zmpi/zmpi.conf"
#define ZMPI_SITE_FROM_LIB "../etc/zmpi/zmpi.conf" // from the folder of this library
#endif

/* The path of the program that runs, or the name by which it was started. */
static const char *program(void)
{
    static char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return n > 0 ? path : program_invocation_name;
}

/* The site's file in the prefix that zmpi is installed in, which need not be the one that it was
 * built for (cmake --install --prefix); path is empty if there is none. */
static void installed_site_file(char path[PATH_MAX])
{
    static const char here;
    char file[PATH_MAX], longer[PATH_MAX + sizeof ZMPI_SITE_FROM_LIB];
    Dl_info self;
    path[0] = 0;
    if (dladdr(&here, &self) == 0 || realpath(self.dli_fname, file) == NULL)
        return;
    *strrchr(file, '/') = 0;
    snprintf(longer, sizeof longer, "%s/" ZMPI_SITE_FROM_LIB, file);
    if (realpath(longer, path) == NULL)
        path[0] = 0;
}

/* The site's file: of the prefix of this library, of the one that it was built for, or of the
 * machine. */
static enum zmpi_status load_site(struct zmpi_options *o, char message[256])
{
    char installed[PATH_MAX];
    installed_site_file(installed);
    const char *const paths[] = {installed, ZMPI_SITE_FILE, "/etc/zmpi/zmpi.conf"};
    enum zmpi_status s = ZMPI_OK;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && o->site[0] == 0 && s == ZMPI_OK; i++)
        if (paths[i][0] != 0)
            s = zmpi_site_load(o, paths[i], message);
    o->never = o->never_programs[0] != 0 && zmpi_globs_match(o->never_programs, program());
    return s;
}

enum zmpi_status zmpi_options_load(struct zmpi_options *o, char message[256])
{
    struct zmpi_options t;
    zmpi_options_default(&t);
    // A program that has more rights than its user does not take the user's settings.
    enum zmpi_status s = getauxval(AT_SECURE) ? ZMPI_OK : zmpi_environment_check(message);
    if (s == ZMPI_OK)
        s = zmpi_environment_load(&t, message);
    // The rules come after the environment, which names their file, and stay below it.
    if (s == ZMPI_OK)
        s = load_site(&t, message);
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

void zmpi_options_free(struct zmpi_options *o)
{
    zmpi_rules_free(o->rules);
    o->rules = NULL;
}
