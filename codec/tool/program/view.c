/* view.c - zmpi view: starts a program that reads the logical bytes of the containers that it
 * opens. */
#include <getopt.h>
#include <stdlib.h>

#include "elf_file.h"
#include "tool/program/preload.h"
#include "tool/tool.h"

/* Why a program cannot have the view; NULL if it can. Does not examine a script's interpreter. */
static const char *why_not(const char *path)
{
    struct elf_file e = {0};
    const char *why = NULL;
    if (tool_program_is_setuid(path))
        return "it is setuid or setgid";
    if (!elf_read(&e, path) && e.needed_count == 0)
        why = "it is linked statically";
    elf_free(&e);
    return why;
}

/* If the view is impossible, one line says why the program sees containers as they are. */
static void add_view(const char *path, bool explain)
{
    char library[PATH_MAX];
    const char *why = why_not(path);
    if (why)
        tool_fail("%s: %s: it sees containers as they are (zmpi decompress)", path, why);
    else if (!tool_library_find("view/libzmpi_view.so", library))
        tool_fail("lib/zmpi/view/libzmpi_view.so is missing, build or install all of zmpi: the "
                  "program sees containers as they are");
    else if (tool_library_preload(library) && explain)
        tool_fail("LD_PRELOAD=%s", getenv("LD_PRELOAD"));
}

int tool_view(int argc, char **argv)
{
    static const struct option longs[] = {{"max", 1, NULL, 'm'},
                                          {"verbose", 0, NULL, 'v'},
                                          {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct zmpi_options options;
    char path[PATH_MAX];
    bool explain = false;
    int c;
    while ((c = getopt_long(argc, argv, "+vh", longs, NULL)) != -1) {
        if (c == 'h')
            return tool_help();
        if (c == '?')
            return tool_usage();
        explain = explain || c == 'v';
        if (c == 'm' && setenv("ZMPI_VIEW_MAX", optarg, 1))
            return tool_fail("out of memory");
    }
    if (!argv[optind])
        return tool_usage();
    if (!tool_options_load(&options)) /* is checked before the program starts */
        return TOOL_ERROR;
    const bool on = options.view;
    zmpi_options_free(&options);
    if (!tool_program_find(argv[optind], path)) {
        tool_fail("%s: there is no such program", argv[optind]);
        return TOOL_NOT_FOUND;
    }
    if (on)
        add_view(path, explain);
    else
        tool_fail("ZMPI_VIEW=off: the program sees containers as they are");
    return tool_program_start(path, argv + optind);
}
