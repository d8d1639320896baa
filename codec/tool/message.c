/* message.c - messages of the tool's commands: errors, usage, help. */
#include <getopt.h>
#include <stdarg.h>

#include "tool.h"

static const struct tool_command *current;

void tool_begin(const struct tool_command *command)
{
    current = command;
}

int tool_fail(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "zmpi%s%s: ", current ? " " : "", current ? current->name : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return TOOL_ERROR;
}

int tool_fail_status(const char *path, enum zmpi_status status)
{
    return tool_fail("%s: %s", path, zmpi_strerror(status));
}

int tool_usage(void)
{
    return tool_fail("usage: zmpi %s %s", current->name, current->arguments);
}

bool tool_listing(int argc, char **argv, bool *json, bool *all)
{
    static const struct option longs[] = {
        {"json", 0, NULL, 'j'}, {"all", 0, NULL, 'a'}, {NULL, 0, NULL, 0}};
    int c;
    *json = *all = false;
    while ((c = getopt_long(argc, argv, "a", longs, NULL)) != -1) {
        if (c == '?')
            return false;
        *json = *json || c == 'j';
        *all = *all || c == 'a';
    }
    return argc - optind == 1;
}

int tool_describe(const struct tool_command *c)
{
    printf("usage: zmpi %s %s\n\n%s\n\nExample:\n\n    %s\n", c->name, c->arguments, c->help,
           c->example);
    return TOOL_OK;
}

int tool_help(void)
{
    return tool_describe(current);
}
