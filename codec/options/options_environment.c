/* options_environment.c - settings from the environment, and variables that look like some. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/options_value.h"

/* Settings of a plug-in alone, which looks at them itself, and of tests. */
static bool is_ignored(const char *variable)
{
    static const char *const begins[] = {"ZMPI_OFF=", "ZMPI_DATA=", "ZMPI_TEST_", "ZMPI_EMU_",
                                         "ZMPI_WSE_"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(variable, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Names that module systems, package managers and users set for where zmpi is installed. */
static bool is_of_the_site(const char *name)
{
    static const char *const words[] = {"ROOT", "DIR",    "HOME",    "PATH",    "BASE", "PREFIX",
                                        "LIB",  "LIBDIR", "LIBRARY", "INCLUDE", "INC",  "BIN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name + strlen("ZMPI_"), words[i]) == 0)
            return true;
    return false;
}

static bool is_setting(const char *variable)
{
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++)
        if (strcmp(zmpi_option_info(i)->environment, variable) == 0)
            return true;
    return false;
}

/* The next variable from *e on that begins like a setting and is none, as `name`; or false. */
static bool next_unknown(char ***e, char name[64])
{
    for (; *e != NULL && **e != NULL; ++*e) {
        const size_t n = strcspn(**e, "=");
        if (strncmp(**e, "ZMPI_", 5) != 0 || is_ignored(**e))
            continue;
        snprintf(name, 64, "%.*s", (int)(n < 64 ? n : 63), **e);
        if (!is_setting(name)) {
            ++*e;
            return true;
        }
    }
    return false;
}

/* The setting that an unknown variable is probably a misspelling of, as in zmpi_option_suggest. */
static void suggest_setting(const char *name, char hint[64])
{
    hint[0] = 0;
    if (!is_of_the_site(name))
        zmpi_option_suggest(name, ZMPI_NAME_ENVIRONMENT, hint);
}

enum zmpi_status zmpi_environment_check(char message[256])
{
    char name[64], hint[64];
    for (char **e = environ; next_unknown(&e, name);) {
        suggest_setting(name, hint);
        if (hint[0] == 0)
            continue;
        snprintf(message, 256, "%s: there is no such setting%s", name, hint);
        return ZMPI_ERR_ARG;
    }
    return ZMPI_OK;
}

bool zmpi_options_unknown(char message[256])
{
    char name[64], hint[64];
    for (char **e = environ; next_unknown(&e, name);) {
        suggest_setting(name, hint);
        if (hint[0] != 0)
            continue;
        snprintf(message, 256, "%s is no setting and changes nothing (zmpi options lists them)",
                 name);
        zmpi_option_one_line(message);
        return true;
    }
    return false;
}

enum zmpi_status zmpi_environment_load(struct zmpi_options *o, char message[256])
{
    for (size_t i = 0; i < ZMPI_OPTION_COUNT; i++) {
        const char *name = zmpi_option_info(i)->environment;
        const char *value = secure_getenv(name);
        enum zmpi_status s = ZMPI_OK;
        if (value != NULL)
            s = zmpi_option_assign(o, i, value, ZMPI_FROM_ENVIRONMENT, name, message);
        if (s != ZMPI_OK)
            return s;
    }
    return ZMPI_OK;
}
