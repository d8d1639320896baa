/* print_run.c - <simprint> collects a PE's line until it ends, <debug> records a value: events. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static void event(struct pe *pe, enum csl_event kind, const char *name, const char *text)
{
    struct csl_sim *sim = pe->sim;
    struct csl_trace t = {
        .event = kind, .cycle = pe->wake, .x = pe->x, .y = pe->y, .name = name, .text = text};
    if (sim->trace != NULL)
        sim->trace(sim->trace_context, &t);
}

static void flush(struct pe *pe)
{
    event(pe, CSL_EVENT_PRINT, NULL, pe->line);
    pe->line_used = 0;
}

static void add_to_line(struct pe *pe, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text != '\n')
            pe->line[pe->line_used++] = *text;
        pe->line[pe->line_used] = '\0';
        if (*text == '\n' || pe->line_used + 1u == sizeof pe->line)
            flush(pe);
    }
}

static void number(char *to, size_t size, const struct insn *i, int64_t v)
{
    unsigned bits = 8u * csl_code_bytes[i->tc];
    uint32_t u = (uint32_t)v;
    float f;
    memcpy(&f, &u, sizeof f);
    if (i->tc >= TC_F16)
        snprintf(to, size, "%.9g", (double)(i->tc == TC_F16 ? csl_float_of((uint16_t)v) : f));
    else if (i->imm == PRINT_HEX)
        snprintf(to, size, "%0*X", (int)bits / 4, u);
    else if (i->imm == PRINT_BINARY) {
        for (unsigned k = 0; k < bits; k++)
            to[k] = u >> (bits - 1 - k) & 1 ? '1' : '0';
        to[bits] = '\0';
    } else
        snprintf(to, size, "%lld", (long long)v);
}

void csl_print(struct pe *pe, const struct insn *i, const int64_t *r)
{
    char digits[40];
    const char *text = digits;
    if (i->imm == PRINT_TEXT)
        text = pe->program->texts[i->a];
    else if (i->imm == PRINT_TIME)
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)pe->wake);
    else
        number(digits, sizeof digits, i, r[i->a]);
    if (i->c)
        event(pe, CSL_EVENT_RECORD, pe->program->texts[i->b], text);
    else
        add_to_line(pe, text);
}
