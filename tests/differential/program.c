/* program.c - a program as lines of numbers. */
#include "differential.h"

#include <stdlib.h>
#include <string.h>

const char *const line_names[LINES] = {"type",
                                       "raw",
                                       "open",
                                       "close",
                                       "delete",
                                       "view",
                                       "access",
                                       "end",
                                       "complete",
                                       "seek",
                                       "seek_shared",
                                       "position",
                                       "position_shared",
                                       "byte_offset",
                                       "size",
                                       "set_size",
                                       "preallocate",
                                       "sync",
                                       "sync_one",
                                       "atomicity",
                                       "info",
                                       "error"};

void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "differ: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        exit(3);
    }
    return p;
}

int64_t line_arg(const struct line *l, int i)
{
    return i < l->n ? l->a[i] : 0;
}

int64_t line_rank_arg(const struct line *l, int fixed, int width, int r, int i)
{
    return line_arg(l, fixed + width * r + i);
}

void program_add(struct program *p, const struct line *l)
{
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 64;
        p->line = need(realloc(p->line, (size_t)p->capacity * sizeof *p->line));
    }
    p->line[p->count++] = *l;
}

void program_free(struct program *p)
{
    free(p->line);
    *p = (struct program){.ranks = p->ranks};
}

static bool parse(char *text, struct line *l)
{
    char *rest, *word = strtok_r(text, " \t\n", &rest);
    *l = (struct line){.what = LINES};
    if (!word)
        return false;
    for (int i = 0; i < LINES; i++)
        if (strcmp(word, line_names[i]) == 0)
            l->what = (enum what)i;
    while ((word = strtok_r(NULL, " \t\n", &rest)) && l->n < ARGUMENTS)
        l->a[l->n++] = strtoll(word, NULL, 10);
    return l->what != LINES;
}

/* The first line is "ranks N"; lines that begin with '#' are comments. */
bool program_read(struct program *p, FILE *f)
{
    char text[2048];
    struct line l;
    if (!fgets(text, sizeof text, f) || sscanf(text, "ranks %d", &p->ranks) != 1)
        return false;
    while (fgets(text, sizeof text, f)) {
        if (text[0] == '#' || text[0] == '\n')
            continue;
        if (!parse(text, &l))
            return false;
        program_add(p, &l);
    }
    return p->ranks >= 1 && p->ranks <= RANKS;
}

void program_write(const struct program *p, FILE *f)
{
    fprintf(f, "ranks %d\n", p->ranks);
    for (int i = 0; i < p->count; i++) {
        fprintf(f, "%s", line_names[p->line[i].what]);
        for (int k = 0; k < p->line[i].n; k++)
            fprintf(f, " %lld", (long long)p->line[i].a[k]);
        fprintf(f, "\n");
    }
}

uint64_t chance_next(struct chance *c)
{
    uint64_t x = c->state += 0x9E3779B97F4A7C15U;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
}

int64_t chance_below(struct chance *c, int64_t n)
{
    return n > 1 ? (int64_t)(chance_next(c) % (uint64_t)n) : 0;
}

bool chance_of(struct chance *c, int percent)
{
    return chance_below(c, 100) < percent;
}

/* ---- the data access calls ---- */

const struct call calls[CALLS] = {
    {"write_at", true, AT, BLOCKING},
    {"write_at_all", true, AT, COLLECTIVE},
    {"iwrite_at", true, AT, NONBLOCKING},
    {"iwrite_at_all", true, AT, NONBLOCKING_ALL},
    {"write_at_all_begin", true, AT, SPLIT},
    {"write", true, POINTER, BLOCKING},
    {"write_all", true, POINTER, COLLECTIVE},
    {"iwrite", true, POINTER, NONBLOCKING},
    {"iwrite_all", true, POINTER, NONBLOCKING_ALL},
    {"write_all_begin", true, POINTER, SPLIT},
    {"write_shared", true, SHARED, BLOCKING},
    {"write_ordered", true, SHARED, COLLECTIVE},
    {"iwrite_shared", true, SHARED, NONBLOCKING},
    {"write_ordered_begin", true, SHARED, SPLIT},
    {"read_at", false, AT, BLOCKING},
    {"read_at_all", false, AT, COLLECTIVE},
    {"iread_at", false, AT, NONBLOCKING},
    {"iread_at_all", false, AT, NONBLOCKING_ALL},
    {"read_at_all_begin", false, AT, SPLIT},
    {"read", false, POINTER, BLOCKING},
    {"read_all", false, POINTER, COLLECTIVE},
    {"iread", false, POINTER, NONBLOCKING},
    {"iread_all", false, POINTER, NONBLOCKING_ALL},
    {"read_all_begin", false, POINTER, SPLIT},
    {"read_shared", false, SHARED, BLOCKING},
    {"read_ordered", false, SHARED, COLLECTIVE},
    {"iread_shared", false, SHARED, NONBLOCKING},
    {"read_ordered_begin", false, SHARED, SPLIT},
};

bool call_is_collective(const struct call *c)
{
    return c->how == COLLECTIVE || c->how == NONBLOCKING_ALL || c->how == SPLIT;
}
