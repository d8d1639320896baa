/* base.h - memory, errors and names: what every file of the simulator uses. */
#ifndef CSL_BASE_H
#define CSL_BASE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csl_sim.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A piece of a source file; not terminated. */
struct str {
    const char *p;
    size_t n;
};

struct source {
    const char *path; /* as shown in messages */
    const char *text;
    size_t size;
};

struct pos {
    const struct source *source; /* NULL: no place, as for host calls */
    uint32_t line, column;
};

struct block;

/* Everything that a handle holds lives here until csl_stop. An error jumps to where the host's call
 * began, and no function in between has anything to free. */
struct arena {
    struct block *blocks;
    size_t used, limit;
    enum csl_status status; /* of the last failed call */
    char message[512];
    jmp_buf failed;
};

void *csl_alloc(struct arena *a, size_t size); /* zeroed */
void *csl_alloc_array(struct arena *a, size_t count, size_t size);
void csl_free_all(struct arena *a);

/* Returns a copy with room for twice as many elements if *capacity are used. */
void *csl_grow(struct arena *a, void *old, size_t count, size_t *capacity, size_t size);

_Noreturn void csl_fail(struct arena *a, enum csl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void csl_fail_at(struct arena *a, struct pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

char *csl_format(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool csl_str_is(struct str s, const char *text);
bool csl_str_same(struct str a, struct str b);
struct str csl_str(const char *text);

/* For printf's "%.*s"; long names are cut. */
#define STR_ARG(s) (int)((s).n < 100 ? (s).n : 100), (s).p

#endif
