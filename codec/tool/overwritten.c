/* overwritten.c - what is left of a container that a program has overwritten without zmpi. */
#include "reader/overwritten.h"
#include "tool.h"

const char *tool_overwritten_bytes(const struct zmpi_overwritten *o, char text[64])
{
    if (o->least == o->most)
        snprintf(text, 64, "%llu", (unsigned long long)o->most);
    else
        snprintf(text, 64, "%llu to %llu", (unsigned long long)o->least,
                 (unsigned long long)o->most);
    return text;
}

enum zmpi_status tool_tell_overwritten(const struct tool_input *in, enum zmpi_kind kind)
{
    struct zmpi_overwritten o;
    char text[64];
    const enum zmpi_status status = zmpi_overwritten_look(&in->reader, &o);
    if (status)
        return status;
    if (kind == ZMPI_KIND_PLAIN_OVER) {
        fprintf(
            stderr,
            "zmpi: %s: is a plain file: a program without zmpi wrote over a zmpi container. The "
            "first %s bytes are probably that program's; zmpi recover --plain saves these, zmpi "
            "recover without --plain what is left of the container\n",
            in->path, tool_overwritten_bytes(&o, text));
        return ZMPI_OK;
    }
    fprintf(stderr, "zmpi: %s: was a zmpi container before its first bytes were written over",
            in->path);
    if (o.most)
        fprintf(stderr, ", probably %s of them", tool_overwritten_bytes(&o, text));
    fprintf(stderr, ": %s. If they are another program's data, zmpi recover --plain saves these\n",
            kind == ZMPI_KIND_OVERWRITTEN ? "these are lost" : "nothing else can be read any more");
    return ZMPI_OK;
}
