/* options.c - zmpi options: the table of settings (codec/options/options.c), with the values in
 * force here, or for one file.
 */
#include <getopt.h>

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

static void print_option(const struct zmpi_options *o, const struct zmpi_options *job, size_t i)
{
    const struct zmpi_option_info *option = zmpi_option_info(i);
    char value[1024];
    zmpi_option_get(o, i, value);
    printf("%s", option->environment);
    if (option->info_key)
        printf("  (hint %s)", option->info_key);
    printf("\n    %s\n    type %s, default %s\n    now %s (%s", option->help, option->type,
           or_not_set(option->default_value), or_not_set(value), zmpi_option_from(o, i));
    if (zmpi_option_overrides(o, job, i)) {
        zmpi_option_get(job, i, value);
        printf("; overrides %s of the %s", or_not_set(value), zmpi_option_from(job, i));
    }
    printf(")\n\n");
}

static void print_all(const struct zmpi_options *o, const struct zmpi_options *job,
                      const char *file)
{
    for (size_t i = 0; zmpi_option_info(i); i++)
        print_option(o, job, i);
    if (file)
        printf("A new file %s is %s.\n\n", file,
               !zmpi_options_file_matches(o, file) ? "left alone: ZMPI_FILES does not select it"
               : o->bound_set                      ? "compressed"
                                                   : "left alone: no bound is set for it");
    printf(
        "The more specific setting wins: hint, then calls of zmpi.h, then rules (ZMPI_CONFIG) that "
        "name\nfiles or communicators, then the environment, then rules of [*].\n\nDevices:\n");
    zmpi_device_each(print_device, NULL);
}

int tool_options(int argc, char **argv)
{
    static const struct option longs[] = {{"file", 1, NULL, 'f'}, {NULL, 0, NULL, 0}};
    const char *file = NULL;
    char message[256];
    struct zmpi_options job, o;
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        file = optarg;
    }
    if (argc != optind)
        return tool_usage();
    if (!tool_options_load(&job))
        return TOOL_ERROR;
    o = job;
    const bool fine = !file || zmpi_options_for_file(&o, file, message) == ZMPI_OK;
    if (fine)
        print_all(&o, &job, file);
    zmpi_options_free(&job);
    return fine ? TOOL_OK : tool_fail("%s", message);
}
