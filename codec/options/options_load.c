/* options_load.c - where the values of settings come from: the environment, and the rules file. */
#include <string.h>
#include <sys/auxv.h>

#include "options/options_value.h"

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
