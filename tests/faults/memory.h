/*
 * memory.h - memory, threads and MPI objects that libzmpi.so does not get if a test says so: a
 * library behind it, in front of MPI and libc.
 *
 * It counts calls from lack_set on; number `at`, and those after it, fail. Only calls of libzmpi.so
 * itself count, which the return address tells: the program, MPI and libc get what they ask for.
 *
 * For programs that do not call lack_set, or fail before they could:
 *
 *     LACK=AT[:TIMES[:RANK]]    from the start, in the process of that rank by the launcher (all)
 *     LACK_OF=NAME              the caller: the library whose path contains NAME [libzmpi.so],
 *                               or `program`
 *     LACK_COUNT=FILE           at the end the number of calls is appended to this file
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

/* NULL: nothing fails any more. */
void lack_set(const struct lack *lack);
/* Pauses: nothing fails and nothing is counted until it is resumed. */
void lack_pause(int paused);
/* How many such calls there were since lack_set. */
long lack_count(void);

#endif
