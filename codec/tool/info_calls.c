/* info_calls.c - what the write calls of a container were, as its last writer has told. */
#include "info_kinds.h"

#include <math.h>
#include <stdlib.h>
static void number_text(const struct zmpi_call *c, char text[40])
{
    if (c->first == c->last)
        snprintf(text, 40, "%u", c->first);
    else
        snprintf(text, 40, "%u-%u", c->first, c->last);
}

static void range_text(const struct zmpi_call *c, unsigned i, char text[80])
{
    const struct zmpi_call_part *p = &c->part[i];
    if (isnan(p->min) || isnan(p->max))
        snprintf(text, 80, "not known");
    else
        snprintf(text, 80, "%.6g to %.6g%s", p->min, p->max, c->sampled ? " *" : "");
}

static void error_text(const struct zmpi_call *c, unsigned i, char text[80])
{
    if (c->exact)
        snprintf(text, 80, "exact: %s", zmpi_exact_name(c->exact));
    else if (isnan(c->part[i].error))
        snprintf(text, 80, "not measured");
    else
        snprintf(text, 80, "%.6g *", c->part[i].error);
}

static void print_call(const struct zmpi_call *c)
{
    const size_t extent[3] = {c->shape[0], c->shape[1], c->shape[2]};
    char number[40], shape[80] = "", bound[40], ratio[40] = "", parts[40];
    number_text(c, number);
    if (c->shape[2])
        tool_shape_text(extent, shape);
    zmpi_bound_format(&c->bound, bound);
    if (c->stored)
        snprintf(ratio, sizeof ratio, "%.2f", (double)c->raw / (double)c->stored);
    snprintf(parts, sizeof parts, "%d%s", abs(c->components), c->components < 0 ? " slow" : "");
    printf("  %-7s %-9llu %-5s %-14s %-10s %-10s %-8s %-7s", number, (unsigned long long)c->values,
           tool_type_name(c->type), shape, parts, bound,
           c->encoder ? zmpi_encoder_name(c->encoder) : "", ratio);
    for (unsigned i = 0; i < c->parts; i++) {
        char range[80], error[80], absolute[40] = "";
        range_text(c, i, range);
        error_text(c, i, error);
        if (!c->exact && isfinite(c->part[i].abs_bound))
            snprintf(absolute, sizeof absolute, "%.6g", c->part[i].abs_bound);
        printf("%*s %-26s %-11s %s\n", i ? 79 : 0, "", range, absolute, error);
    }
}

void tool_calls_print(const struct tool_calls *s)
{
    const struct zmpi_calls *calls = &s->list;
    int64_t rank = -1;
    if (s->status)
        printf("calls          the list is damaged, the data are not\n");
    if (!s->there)
        return;
    printf("calls          of %s; [NAME #N] of a rule is call N; * on samples\n",
           calls->appended ? "the last program that added data"
                           : "the program that wrote the file");
    printf("  %-7s %-9s %-5s %-14s %-10s %-10s %-8s %-7s %-26s %-11s %s\n", "call", "values",
           "type", "shape", "components", "bound", "encoder", "ratio", "range", "absolute",
           "largest error");
    for (unsigned i = 0; i < calls->count; i++) {
        const struct zmpi_call *c = &calls->call[i];
        if (c->rank != rank)
            printf("  independent calls of rank %lld\n", (long long)c->rank);
        rank = c->rank;
        print_call(c);
    }
    if (calls->more)
        printf("  ... and more\n");
}

void tool_calls_json(const struct tool_calls *s)
{
    if (!s->there)
        return;
    printf(", \"calls_appended\": %s, \"more_calls\": %s, \"calls\": [",
           s->list.appended ? "true" : "false", s->list.more ? "true" : "false");
    for (unsigned i = 0; i < s->list.count; i++) {
        fputs(i ? ", {" : "{", stdout);
        zmpi_call_json(stdout, &s->list.call[i]);
        fputc('}', stdout);
    }
    fputc(']', stdout);
}
