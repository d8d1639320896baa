/* report_html.h - reports of runs as one HTML page, without scripts or anything from other
 * places. */
#ifndef ZMPI_TOOL_REPORT_HTML_H
#define ZMPI_TOOL_REPORT_HTML_H

#include <stdio.h>

#include "tool/report/report_json.h"

void report_html(FILE *out, cJSON *const *run, char *const *name, int runs);

#endif
