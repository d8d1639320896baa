/* report_json.h - the report of a run (ZMPI_REPORT) as the tool reads it. */
#ifndef ZMPI_TOOL_REPORT_JSON_H
#define ZMPI_TOOL_REPORT_JSON_H

#include <cjson/cJSON.h>

/* NULL: a message says what is wrong. The caller frees it by cJSON_Delete. */
cJSON *report_load(const char *path);
/* A member of an object; 0 or "" if there is none of that type. */
double report_number(const cJSON *object, const char *key);
const char *report_text(const cJSON *object, const char *key);

#endif
