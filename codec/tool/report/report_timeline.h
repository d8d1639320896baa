/* report_timeline.h - a picture of when a run wrote, read and sent. */
#ifndef ZMPI_REPORT_TIMELINE_H
#define ZMPI_REPORT_TIMELINE_H

#include <stdio.h>

#include "tool/report/report_json.h"

/* timeline: that of a report. If it is NULL or unusable, nothing is drawn. */
void report_timeline(FILE *out, const cJSON *timeline);

#endif
