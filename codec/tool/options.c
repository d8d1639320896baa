/* options.c - zmpi options: the table of settings (codec/options/options.c), with the values that
 * apply here, or to one file. */
#include <getopt.h>
#include <string.h>
#include <strings.h>

#include "device.h"
#include "tool.h"

static void print_device(const struct zmpi_device *device, const char *missing, void *context)
{
    (void)context;
    printf("  %-10s %s\n", device->name, missing ? missing : "ready");
}

static const char *or_not_set(const char *value)
{
    return *value ? value : "not set";
}

/* Prints the bounds of single write calls, where rules give them. */
static void print_calls(const struct zmpi_options *o, size_t i, const char *file)
{
    size_t at = 0;
    unsigned calls[2];
    struct zmpi_bound bound;
    char value[1024], text[40];
    zmpi_option_get(o, i, value);
    while (file && zmpi_rules_calls(o, file, &at, calls, &bound)) {
        zmpi_bound_format(&bound, text);
        printf(calls[0] == calls[1] ? "    write call %u" : "    write calls %u to %u", calls[0],
               calls[1]);
        printf(": %s (rule; overrides %s of the %s)\n", text, or_not_set(value),
               zmpi_option_from(o, i));
    }
}

static void print_option(const struct zmpi_options *o, const struct zmpi_options *job, size_t i,
                         const char *file)
{
    const struct zmpi_option_info *option = zmpi_option_info(i);
    char value[1024];
    zmpi_option_get(o, i, value);
    printf("%s", option->environment);
    if (option->info_key)
        printf("  (hint %s)", option->info_key);
    printf("\n    %s\n    type %s, default %s\n    now %s (%s", option->help, option->type,
           or_not_set(option->default_value), or_not_set(value), zmpi_option_from(o, i));
    if (zmpi_option_file(o, i))
        printf(" of %s", zmpi_option_file(o, i));
    if (zmpi_option_overrides(o, job, i)) {
        zmpi_option_get(job, i, value);
        printf("; overrides %s of the %s", or_not_set(value), zmpi_option_from(job, i));
    }
    printf(")\n");
    if (strcmp(option->name, "error_bound") == 0)
        print_calls(o, i, file);
    printf("\n");
}

static void print_json_calls(const struct zmpi_options *o, const char *file)
{
    size_t at = 0;
    unsigned calls[2];
    struct zmpi_bound bound;
    char text[40];
    printf(", \"calls\": [");
    for (bool more = false; zmpi_rules_calls(o, file, &at, calls, &bound); more = true) {
        zmpi_bound_format(&bound, text);
        printf("%s{\"call\": %u, \"to\": %u, \"value\": \"%s\"}", more ? ", " : "", calls[0],
               calls[1], text);
    }
    printf("]");
}

static void print_json(const struct zmpi_options *o, size_t i, const char *file)
{
    const struct zmpi_option_info *option = zmpi_option_info(i);
    const char *text[] = {option->name,           option->environment,   option->info_key,
                          option->type,           option->default_value, option->help,
                          zmpi_option_from(o, i), zmpi_option_file(o, i)};
    static const char *const key[] = {"name",    "variable", "hint", "type",
                                      "default", "help",     "from", "file"};
    char value[1024];
    zmpi_option_get(o, i, value);
    printf("{\"value\": ");
    tool_json_string(value);
    for (size_t k = 0; k < sizeof key / sizeof *key; k++) {
        printf(", \"%s\": ", key[k]);
        if (text[k])
            tool_json_string(text[k]);
        else
            printf("null");
    }
    if (file && strcmp(option->name, "error_bound") == 0)
        print_json_calls(o, file);
    printf("}");
}

/* Is this the option's name in rules, its variable, or its hint? */
static bool is_called(size_t i, const char *name)
{
    const struct zmpi_option_info *option = zmpi_option_info(i);
    return strcasecmp(name, option->name) == 0 || strcasecmp(name, option->environment) == 0 ||
           (option->info_key && strcasecmp(name, option->info_key) == 0);
}

/* Prints the options of these names; all options without a name. */
static int print_some(const struct zmpi_options *o, const struct zmpi_options *job, char **names,
                      const char *file, bool json)
{
    bool more = false;
    for (char **name = names; *name; name++) {
        size_t i = 0;
        while (zmpi_option_info(i) && !is_called(i, *name))
            i++;
        if (!zmpi_option_info(i))
            return tool_fail("there is no setting %s (zmpi options lists all)", *name);
    }
    printf("%s", json ? "[" : "");
    for (size_t i = 0; zmpi_option_info(i); i++) {
        bool wanted = !*names;
        for (char **name = names; *name; name++)
            wanted = wanted || is_called(i, *name);
        if (!wanted)
            continue;
        printf("%s", json && more ? ",\n " : "");
        more = true;
        if (json)
            print_json(o, i, file);
        else
            print_option(o, job, i, file);
    }
    printf("%s", json ? "]\n" : "");
    return TOOL_OK;
}

static void print_file(const struct zmpi_options *o, const char *file)
{
    printf("A new file %s is %s.\n\n", file,
           zmpi_globs_match(o->never_files, file) ? "left alone: never_files of the site names it"
           : !zmpi_options_file_matches(o, file)  ? "left alone: ZMPI_FILES does not select it"
           : o->bound_set || zmpi_rules_call(o, file, 0, &(struct zmpi_bound){0})
               ? "compressed"
               : "left alone: no bound is set for it");
}

static void print_rest(void)
{
    printf(
        "The more specific setting wins: hint, then calls of zmpi.h, then rules (ZMPI_CONFIG) that "
        "name\nfiles or communicators, then the environment, then rules of [*], then the site's "
        "file.\n\nDevices:\n");
    zmpi_device_each(print_device, NULL);
}

int tool_options(int argc, char **argv)
{
    static const struct option longs[] = {
        {"file", 1, NULL, 'f'}, {"json", 0, NULL, 'j'}, {NULL, 0, NULL, 0}};
    const char *file = NULL;
    bool json = false;
    char message[256];
    struct zmpi_options job, o;
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        if (c == 'f')
            file = optarg;
        json = json || c == 'j';
    }
    if (!tool_options_load(&job))
        return TOOL_ERROR;
    o = job;
    int status = TOOL_OK;
    if (file && zmpi_options_for_file(&o, file, message))
        status = tool_fail("%s", message);
    if (!status)
        status = print_some(&o, &job, argv + optind, file, json);
    if (!status && !json && file)
        print_file(&o, file);
    if (!status && !json && argc == optind)
        print_rest();
    zmpi_options_free(&job);
    return status;
}
