/* report.c - zmpi report: what runs have saved, in the terminal or as a web page. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tool/report/report_html.h"
#include "tool/tool.h"

enum { LINES = 16 };

static void print_run(const cJSON *run, const char *path)
{
    const cJSON *files = cJSON_GetObjectItem(run, "files"), *f;
    char name[61];
    int n = 0;
    zmpi_text_line(name, sizeof name, path);
    printf("%s: %d files\n%-40s %10s %10s %7s  %s\n", name, cJSON_GetArraySize(files), "file",
           "MB written", "MB stored", "ratio", "bound");
    cJSON_ArrayForEach(f, files)
    {
        const char *file = report_text(f, "path"), *base = strrchr(file, '/');
        if (n++ >= LINES)
            continue;
        zmpi_text_line(name, sizeof name, base ? base + 1 : file);
        printf("%-40s %10.2f %10.2f %7.2f  %s\n", name, report_number(f, "bytes_written") / 1e6,
               report_number(f, "bytes_stored") / 1e6, report_number(f, "ratio"),
               report_text(f, "bound"));
    }
    if (n > LINES)
        printf("%d more (-o run.html has all)\n", n - LINES);
}

static int write_page(const char *path, cJSON *const *run, char *const *name, int runs)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return tool_fail("%s: cannot be written: %s", path, strerror(errno));
    report_html(out, run, name, runs);
    const bool failed = ferror(out);
    if (fclose(out) || failed)
        return tool_fail("%s: cannot be written: %s", path, strerror(errno));
    return TOOL_OK;
}

int tool_report(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *page = NULL;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) {
        if (c == 'h')
            return tool_help();
        if (c == '?')
            return tool_usage();
        page = optarg;
    }
    const int runs = argc - optind;
    if (runs < 1)
        return tool_usage();
    cJSON **run = calloc((size_t)runs, sizeof *run);
    int status = run ? TOOL_OK : tool_fail("out of memory");
    for (int i = 0; i < runs && !status; i++)
        if (!(run[i] = report_load(argv[optind + i])))
            status = TOOL_ERROR;
    if (!status && page)
        status = write_page(page, run, argv + optind, runs);
    for (int i = 0; i < runs && !status && !page; i++)
        print_run(run[i], argv[optind + i]);
    for (int i = 0; i < runs && run; i++)
        cJSON_Delete(run[i]);
    free(run);
    return status;
}
