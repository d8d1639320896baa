/* emit.c - a program as C, to be read, and to be run with and without the library. */
#include "differ.h"

void emit(const struct program *p, struct model *m, FILE *out)
{
    (void)m;
    program_write(p, out);
}
