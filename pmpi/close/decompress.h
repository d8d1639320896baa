/* decompress.h - containers that become plain files when they are closed. */
#ifndef ZMPI_DECOMPRESS_H
#define ZMPI_DECOMPRESS_H

#include "file/zfile.h"

/* This rank writes `data` at this logical run. The beginning of a file may tell its format. */
void zdecompress_look(struct zfile *f, const struct zmpi_run *run, const unsigned char *data);
/* Collective, at the end of a writer's session, when all data are in the file and indexed: makes
 * the file plain if it gained too little, or has a format of its own. failed: some data are
 * missing. */
void zdecompress_at_close(struct zfile *f, int failed);
/* Has a file whose name differs only in digits become plain in this run, and may a new one be plain
 * because of that? All processes get the same answer. */
bool zdecompress_is_known(const char *path, const struct zmpi_options *o);

#endif
