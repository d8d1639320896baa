/*
 * memory.h - memory, threads and MPI objects that libzmpi.so does not get when a test says so: a
 * library that stands behind it, in front of MPI and libc.
 *
 * Calls are counted from lack_set on; number `at`, and those after it, fail. Only what libzmpi.so
 * itself asks for is counted, told by the address that a call returns to: the program, MPI and libc
 * get what they ask for.
 *
 * Without a call of lack_set, for programs that fail before they could call it or do not know of
 * it:
 *
 *     LACK=AT[:TIMES[:RANK]]    from the start on, in the process that the launcher calls rank
 * RANK (default all) LACK_OF=NAME              what asks: the library whose path has NAME in
 * it [libzmpi.so]; program: the program LACK_COUNT=FILE           how many calls there were is
 * appended to this file at the end
 */
#ifndef ZMPI_TESTS_MEMORY_H
#define ZMPI_TESTS_MEMORY_H

enum lack_what {
    LACK_MEMORY = 1, /* malloc and its like */
    LACK_THREAD = 2, /* pthread_create */
    LACK_MPI = 4     /* MPI_Comm_dup and MPI_Grequest_start: MPI_ERR_INTERN */
};

struct lack {
    int what;   /* of enum lack_what, or'ed */
    long at;    /* the first call that fails, from 1; 0: none, calls are counted */
    long times; /* how many in a row; 0: all from there on */
};

/* NULL: all is there again. */
void lack_set(const struct lack *lack);
/* Nothing fails, and nothing is counted, until it goes on. */
void lack_pause(int paused);
/* How many such calls there were since lack_set. */
long lack_count(void);

#endif
