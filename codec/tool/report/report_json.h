/* report_json.h - the report of a run (ZMPI_REPORT) as the tool reads it. */
#ifndef ZMPI_TOOL_REPORT_JSON_H
#define ZMPI_TOOL_REPORT_JSON_H

#include <cjson/cJSON.h>

/* NULL: a message says what is wrong. cJSON_Delete frees it. */
cJSON *report_load(const char *path);
/* Members of an object, whatever it is: 0 and "" where there is none of that kind. */
double report_number(const cJSON *object, const char *key);
const char *report_text(const cJSON *object, const char *key);

#endif
