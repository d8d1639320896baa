/* options.c - zmpi options: the table of settings (codec/options/options.c), with the values in
 * force here.
 */
#include "device.h"
#include "tool.h"

static void print_device(const struct zmpi_device *device, const char *missing, void *context)
{
    (void)context;
    printf("  %-10s %s\n", device->name, missing ? missing : "ready");
}

int tool_options(int argc, char **argv)
{
    static const char *const from[] = {"default", "rules file", "environment", "call", "hint"};
    struct zmpi_options o;
    const struct zmpi_option_info *option;
    char value[1024];
    (void)argv;
    if (argc != 1)
        return tool_usage();
    if (!tool_options_load(&o))
        return TOOL_ERROR;
    for (size_t i = 0; (option = zmpi_option_info(i)); i++) {
        zmpi_option_get(&o, i, value);
        printf("%s", option->environment);
        if (option->info_key)
            printf("  (hint %s)", option->info_key);
        printf("\n    %s\n    type %s, default %s\n    now %s (%s)\n\n", option->help, option->type,
               *option->default_value ? option->default_value : "not set",
               *value ? value : "not set", from[o.source[i]]);
    }
    printf("Precedence: hint, then calls of zmpi.h, then environment, then rules file "
           "(ZMPI_CONFIG).\n\nDevices:\n");
    zmpi_device_each(print_device, NULL);
    zmpi_options_free(&o);
    return TOOL_OK;
}
