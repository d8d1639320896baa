/* left.h - plain files that a program opened for writing, for the report. */
#ifndef ZMPI_REPORT_LEFT_H
#define ZMPI_REPORT_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* Plain data: it travels as bytes. */
struct left {
    char path[256]; /* the end of a longer one */
    int why;        /* enum zleft */
    bool is_new;
};

/* The plain files of this process, each path once, and how many more were dropped. */
size_t zleft_list(const struct left **list);
struct zleft_more {
    double new_not_selected, new_without_bound, all;
};
struct zleft_more zleft_more(void);

/* A line for each reason, with names. */
void zleft_print_text(FILE *out, const struct left *list, size_t n, const struct zleft_more *more);
/* Members of the report's object, a comma behind them. */
void zleft_print_json(FILE *out, const struct left *list, size_t n, const struct zleft_more *more);

#endif
