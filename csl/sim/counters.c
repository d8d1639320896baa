/* counters.c - what a run cost, and its trace. */
#include <string.h>

#include "sim.h"

enum csl_status csl_pe_counters(const struct csl_sim *sim, uint32_t x, uint32_t y,
                                struct csl_counters *counters)
{
    if (!sim->loaded || x >= sim->width || y >= sim->height)
        return CSL_ERR_ARGUMENT;
    *counters = sim->pes[y * sim->width + x].counters;
    return CSL_OK;
}

static void add(struct csl_counters *to, const struct csl_counters *c)
{
    to->cycles += c->cycles;
    to->dsd_cycles += c->dsd_cycles;
    to->wait_cycles += c->wait_cycles;
    to->thread_cycles += c->thread_cycles;
    to->tasks += c->tasks;
    to->instructions += c->instructions;
    to->wavelets_in += c->wavelets_in;
    to->wavelets_out += c->wavelets_out;
    to->wavelets_hops += c->wavelets_hops;
    to->wavelets_stall += c->wavelets_stall;
    to->data_bytes = c->data_bytes > to->data_bytes ? c->data_bytes : to->data_bytes;
    to->code_bytes = c->code_bytes > to->code_bytes ? c->code_bytes : to->code_bytes;
}

void csl_total_counters(const struct csl_sim *sim, struct csl_counters *counters)
{
    memset(counters, 0, sizeof *counters);
    for (uint32_t i = 0; sim->loaded && i < sim->width * sim->height; i++)
        add(counters, &sim->pes[i].counters);
}

void csl_reset_counters(struct csl_sim *sim)
{
    for (uint32_t i = 0; sim->loaded && i < sim->width * sim->height; i++) {
        struct csl_counters *c = &sim->pes[i].counters;
        *c = (struct csl_counters){.data_bytes = c->data_bytes, .code_bytes = c->code_bytes};
    }
}

uint64_t csl_call_cycles(const struct csl_sim *sim)
{
    return sim->call_cycles;
}

void csl_set_trace(struct csl_sim *sim, void (*trace)(void *context, const struct csl_trace *event),
                   void *context)
{
    sim->trace = trace;
    sim->trace_context = context;
}

/* A string of JSON. */
static void write_text(FILE *file, const char *name, const char *text)
{
    fprintf(file, ",\"%s\":\"", name);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, file);
    fputc('"', file);
}

void csl_trace_json(void *file, const struct csl_trace *e)
{
    static const char *const events[] = {"task",       "end",     "hop",   "thread",
                                         "thread_end", "unblock", "print", "record"};
    static const char *const directions[] = {"N", "S", "E", "W", "RAMP"};
    fprintf(file, "{\"cycle\":%llu,\"x\":%u,\"y\":%u,\"event\":\"%s\"",
            (unsigned long long)e->cycle, e->x, e->y, events[e->event]);
    if (e->name != NULL)
        write_text(file, "name", e->name);
    if (e->text != NULL)
        write_text(file, "text", e->text);
    if (e->event == CSL_EVENT_HOP)
        fprintf(file, ",\"color\":%u,\"to\":\"%s\",\"value\":%u", e->color,
                directions[e->direction], e->value);
    fprintf(file, "}\n");
}

void csl_write_counters(const struct csl_sim *sim, FILE *file)
{
    for (uint32_t i = 0; sim->loaded && i < sim->width * sim->height; i++) {
        const struct pe *pe = &sim->pes[i];
        const struct csl_counters *c = &pe->counters;
        fprintf(file, "{\"x\":%u,\"y\":%u", pe->x, pe->y);
#define FIELD(name) fprintf(file, ",\"" #name "\":%llu", (unsigned long long)c->name)
        FIELD(cycles);
        FIELD(dsd_cycles);
        FIELD(wait_cycles);
        FIELD(thread_cycles);
        FIELD(tasks);
        FIELD(instructions);
        FIELD(wavelets_in);
        FIELD(wavelets_out);
        FIELD(wavelets_hops);
        FIELD(wavelets_stall);
        FIELD(data_bytes);
        FIELD(code_bytes);
#undef FIELD
        fprintf(file, "}\n");
    }
}
