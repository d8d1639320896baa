/* log.c - one line on stderr at a time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/log.h"
#include "base/text.h"

static atomic_int log_level = ZMPI_LOG_WARN;
static atomic_int log_rank = -1;

void zmpi_log_set(enum zmpi_log_level level)
{
    atomic_store(&log_level, (int)level);
}

void zmpi_log_rank(int rank)
{
    atomic_store(&log_rank, rank);
}

/* Length of "zmpi: " or "zmpi[3]: ". */
static size_t write_prefix(char *line, size_t size)
{
    int rank = atomic_load(&log_rank);
    int n = rank < 0 ? snprintf(line, size, "zmpi: ") : snprintf(line, size, "zmpi[%d]: ", rank);
    return n < 0 ? 0 : (size_t)n;
}

/* False: the program has closed stderr, and what has its number now may be a file of data. */
static bool is_possible(void)
{
    struct stat s;
    const int flags = fcntl(STDERR_FILENO, F_GETFL);
    // Shells and launchers open files for writing alone; who catches stderr in a file to read it
    // back has mostly unlinked that.
    return flags >= 0 && ((flags & O_ACCMODE) != O_RDWR || flags & O_APPEND ||
                          fstat(STDERR_FILENO, &s) != 0 || !S_ISREG(s.st_mode) || s.st_nlink == 0);
}

/* Every write raises SIGPIPE where nobody reads stderr any more: a program that says nothing
 * itself must not be ended by it. */
static bool block_sigpipe(sigset_t *before)
{
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    /* One that waits already is the program's. */
    if (sigpending(&pending) || sigismember(&pending, SIGPIPE))
        return false;
    return pthread_sigmask(SIG_BLOCK, &pipe, before) == 0;
}

static void release_sigpipe(const sigset_t *before, bool raised)
{
    const struct timespec now = {0};
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (raised && sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void zmpi_log_text(const char *text, size_t n)
{
    const int saved =
        errno; /* logging must not change the errno that the caller is about to report */
    sigset_t before;
    ssize_t written = 0;
    if (is_possible()) {
        const bool held = block_sigpipe(&before);
        do { /* nothing can be done if it fails */
            written = write(STDERR_FILENO, text, n);
            text += written > 0 ? written : 0;
            n -= written > 0 ? (size_t)written : 0;
        } while (n > 0 && (written > 0 || (written < 0 && errno == EINTR)));
        if (held)
            release_sigpipe(&before, written < 0 && errno == EPIPE);
    }
    errno = saved;
}

void zmpi_log(enum zmpi_log_level level, const char *format, ...)
{
    if (level == ZMPI_LOG_QUIET || (int)level > atomic_load(&log_level))
        return;
    const int saved = errno;
    char text[2048], line[2048 + 64];
    va_list args;
    const locale_t program = zmpi_decimal_begin();
    va_start(args, format);
    const int m = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    zmpi_decimal_end(program);
    size_t n = write_prefix(line, sizeof line);
    n += zmpi_text_line(line + n, sizeof line - n - 1, m < 0 ? "" : text);
    line[n++] = '\n';
    /* One write(2): lines of several ranks or threads on the same stream stay whole. */
    zmpi_log_text(line, n);
    errno = saved;
}
