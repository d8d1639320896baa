/* report_timeline.h - when a run wrote, read and sent, as a picture. */
#ifndef ZMPI_REPORT_TIMELINE_H
#define ZMPI_REPORT_TIMELINE_H

#include <stdio.h>

#include "tool/report/report_json.h"

/* timeline: of a report; NULL, or of no use: nothing is drawn. */
void report_timeline(FILE *out, const cJSON *timeline);

#endif
