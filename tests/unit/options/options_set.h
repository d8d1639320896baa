/* options_set.h - settings from strings, the environment and rules files. */
#ifndef TEST_OPTIONS_SET_H
#define TEST_OPTIONS_SET_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/options.h"

/* The environment of whoever runs the tests must not count. */
static inline void clean(void)
{
    for (size_t i = 0; zmpi_option_info(i) != NULL; i++)
        unsetenv(zmpi_option_info(i)->environment);
    zmpi_log_set(ZMPI_LOG_QUIET);
}

static char message[256];

static inline enum zmpi_status set(const char *name, const char *value)
{
    struct zmpi_options o;
    zmpi_options_default(&o);
    message[0] = 0;
    return zmpi_option_set(&o, name, value, "hint", message);
}

static inline struct zmpi_options load(void)
{
    struct zmpi_options o;
    cr_assert_eq(zmpi_options_load(&o, message), ZMPI_OK, "%s", message);
    return o;
}

static inline void load_fails(const char *says)
{
    struct zmpi_options o;
    message[0] = 0;
    cr_assert_neq(zmpi_options_load(&o, message), ZMPI_OK);
    cr_assert_not_null(strstr(message, says), "\"%s\" does not say \"%s\"", message, says);
    cr_assert_null(strchr(message, '\n'));
}

/* A rules file with this text, named in ZMPI_CONFIG; removed by the caller. */
static inline void use_rules(char path[64], const char *text)
{
    snprintf(path, 64, "rules-%d.ini", (int)getpid());
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
    setenv("ZMPI_CONFIG", path, 1);
}

static inline void rules_fail(const char *text, const char *says)
{
    char path[64];
    use_rules(path, text);
    load_fails(says);
    cr_assert_eq(strncmp(message, path, strlen(path)), 0, "%s", message);
    unlink(path);
}

#endif
