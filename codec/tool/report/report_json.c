/* report_json.c - see report_json.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/report_json.h"
#include "tool/tool.h"

enum { MOST = 256 << 20, VERSION = 1 /* that the library writes: print_json of pmpi/report */ };

static char *read_all(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text = in ? malloc(1) : NULL;
    size_t size = 0, capacity = 0;
    while (text && size < MOST) {
        if (size == capacity) {
            char *grown = realloc(text, (capacity = 2 * capacity + 65536) + 1);
            if (!grown)
                break;
            text = grown;
        }
        const size_t got = fread(text + size, 1, capacity - size, in);
        if (got == 0)
            break;
        size += got;
    }
    if (!in || ferror(in))
        tool_fail("%s: %s", path, strerror(errno));
    if (text)
        text[size] = 0;
    if (in)
        fclose(in);
    return text;
}

cJSON *report_load(const char *path)
{
    char *text = read_all(path);
    cJSON *report = text ? cJSON_Parse(text) : NULL;
    free(text);
    if (text && !(cJSON_GetObjectItem(report, "zmpi") && cJSON_GetObjectItem(report, "files"))) {
        tool_fail(
            "%s: is no report of zmpi: ZMPI_REPORT=FILE, or zmpi run --report FILE, makes one",
            path);
        cJSON_Delete(report);
        return NULL;
    }
    const double version = report_number(report, "version");
    if (text && (version < 1 || version > VERSION)) {
        tool_fail("%s: is a report of version %g, and this zmpi reads version %d: take the zmpi "
                  "that made it",
                  path, version, VERSION);
        cJSON_Delete(report);
        return NULL;
    }
    return report;
}

double report_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : 0;
}

const char *report_text(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}
