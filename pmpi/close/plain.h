/* plain.h - files that are decompressed again when they are closed. */
#ifndef ZMPI_PLAIN_H
#define ZMPI_PLAIN_H

#include "file/zfile.h"

/* This rank writes `data` at this logical run: the beginning of a file may tell its format. */
void zplain_look(struct zfile *f, const struct zmpi_run *run, const unsigned char *data);
/* Collective, at the end of a writer's session, all of it being in the file and indexed: the file
 * becomes plain if it gained too little, or has a format of its own. failed: not all of it is. */
void zplain_give_back(struct zfile *f, int failed);
/* Has a file of such a name, but for digits, become plain in this run, and may a new one be plain
 * for that? All processes say the same. */
bool zplain_is_known(const char *path, const struct zmpi_options *o);

#endif
