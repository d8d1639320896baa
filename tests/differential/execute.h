/* execute.h - what execute.c and the files with the lines it executes (do_*.c) share. */
#ifndef ZMPI_TESTS_DIFFERENTIAL_EXECUTE_H
#define ZMPI_TESTS_DIFFERENTIAL_EXECUTE_H

#include "access.h"

/* What this rank has open and under way. Of two files, 0 is the compressed and 1 the plain one. */
struct state {
    bool alone[FILES]; /* the plain file was left; quirks.c */
    MPI_File file[HANDLES][2];
    struct flight flight[HANDLES][FLIGHTS];
    struct flight split[HANDLES];
};

extern struct state my;

/* One line, as all ranks come to it. */
struct step {
    struct session *s;
    struct model *m; /* as it was before the line */
    const struct line *l;
    const struct move *move; /* of LINE_ACCESS */
    const struct handle *h;  /* the line's, unless it is about a file */
    MPI_File *file;          /* the two of that handle */
    int64_t id;              /* first argument: handle or file */
    bool member, mine;       /* this rank has the handle; it is among the ranks named second */
};

typedef void do_line(const struct step *x);
do_line do_raw, do_open, do_close, do_delete, do_view, do_sync, do_sync_one, do_resize,
    do_atomicity;
do_line do_access, do_end, do_complete;
do_line do_seek, do_seek_shared, do_position, do_position_shared, do_byte_offset, do_size, do_info,
    do_error;

/* How many files there are: 2, or without the plain ones 1 (0 if both are plain). */
int sides(int64_t file);
int first_plain(void); /* side */
const char *path_of(const struct session *s, int64_t file, int side);
void barrier(void);
/* Of those who have the file open: what one moves, like the shared pointer, the others see. */
void meet(const struct step *x);
/* The MPI library cannot go on with the plain file. */
void leave_plain(const struct step *x);
bool view_is_borne(const struct model *m, const struct line *l);

#endif
