/*
 * real.c - in front of libzmpi.so: what a test program itself opens is the container on disk, at
 * which it looks. The plain view, which is on, is for the MPI library and all others.
 * ZMPI_TEST_SHOWN: for the program too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/real_files.h"

static uintptr_t begin, end;

/* The first one is the program. */
static int find(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        begin = start < begin ? start : begin;
        end = start + info->dlpi_phdr[i].p_memsz > end ? start + info->dlpi_phdr[i].p_memsz : end;
    }
    return 1;
}

static bool is_program(const void *caller)
{
    if (!end)
        dl_iterate_phdr(find, NULL);
    if (getenv("ZMPI_TEST_SHOWN"))
        return false;
    return (uintptr_t)caller >= begin && (uintptr_t)caller < end;
}

#define PASS(type, name, parameters, arguments)                                                    \
    type real_##name parameters __asm__(#name);                                                    \
    type real_##name parameters                                                                    \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        const bool mine = is_program(__builtin_return_address(0));                                 \
        if (!next)                                                                                 \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        zmpi_real_files += mine;                                                                   \
        type result = next arguments;                                                              \
        zmpi_real_files -= mine;                                                                   \
        return result;                                                                             \
    }

/* On the machines that zmpi runs on, a third argument that was not given does no harm. */
PASS(int, open, (const char *p, int flags, mode_t mode), (p, flags, mode))
PASS(int, open64, (const char *p, int flags, mode_t mode), (p, flags, mode))
PASS(int, __open_2, (const char *p, int flags), (p, flags))
PASS(int, __open64_2, (const char *p, int flags), (p, flags))
PASS(int, openat, (int at, const char *p, int flags, mode_t mode), (at, p, flags, mode))
PASS(FILE *, fopen, (const char *p, const char *mode), (p, mode))
PASS(FILE *, fopen64, (const char *p, const char *mode), (p, mode))
PASS(int, stat, (const char *p, struct stat *s), (p, s))
PASS(int, lstat, (const char *p, struct stat *s), (p, s))
PASS(int, fstat, (int fd, struct stat *s), (fd, s))
