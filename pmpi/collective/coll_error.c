/* coll_error.c - names a call, and reports what went wrong in it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collective/coll.h"

static const char *const names[ZOPS] = {
#define X(id, name, option) [ZOP_##id] = name,
    ZOP_LIST(X)
#undef X
};
const char *zop_name(enum zop op)
{
    return names[op];
}

bool zcall_picks(const struct zcall *c)
{
    return strcmp(c->state->options.codec, "auto") == 0;
}

void zcall_fail(struct zcall *c, int error_class, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    zmpi_log(ZMPI_LOG_ERROR, "%s on %d ranks: %s", zop_name(c->op), c->state->ranks, text);
    if (!c->error)
        c->error = error_class;
}

void zcall_unreadable(struct zcall *c, const struct zblock *b)
{
    const char *problem = b->holder && b->holder->problem ? b->holder->problem() : NULL;
    if (!c->error)
        zcall_fail(c, MPI_ERR_OTHER, "the memory of device %s cannot be read on rank %d (%s)",
                   b->holder ? b->holder->name : "", c->state->rank,
                   problem ? problem : zmpi_strerror(ZMPI_ERR_DEVICE));
}
