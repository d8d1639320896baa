/*
 * real_files.h - who means files as they are on disk.
 *
 * Where a plain view (codec/view/) stands in front of open and stat, a program gets a container's
 * logical bytes. The tool, the reader and MPI's own calls do not: they count up while they run.
 */
#ifndef ZMPI_REAL_FILES_H
#define ZMPI_REAL_FILES_H

/* Above 0: this thread's calls are passed on. One for all libraries of the process that have a
 * view. In the memory that each thread has from its start: signal handlers may ask. */
extern _Thread_local int zmpi_real_files __attribute__((tls_model("initial-exec")));

#endif
