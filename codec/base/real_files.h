/*
 * real_files.h - threads that see files as they are on disk. Where a plain view (codec/view/)
 * stands in front of open and stat, a program gets a container's logical bytes. The tool, the
 * reader and MPI's own calls do not: they count up while they run.
 */
#ifndef ZMPI_REAL_FILES_H
#define ZMPI_REAL_FILES_H

/* Above 0: the view passes this thread's calls on. All libraries of the process that have a view
 * share the counter. It is in memory that each thread has from its start, since signal handlers may
 * read it. */
extern _Thread_local int zmpi_real_files __attribute__((tls_model("initial-exec")));

#endif
