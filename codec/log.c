/* log.c - one line on stderr at a time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decimal.h"
#include "log.h"

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

bool zmpi_log_is_possible(void)
{
    struct stat s;
    const int flags = fcntl(STDERR_FILENO, F_GETFL);
    // Shells and launchers open files for writing alone; who catches stderr in a file to read it
    // back has mostly unlinked that.
    return flags >= 0 && ((flags & O_ACCMODE) != O_RDWR || flags & O_APPEND ||
                          fstat(STDERR_FILENO, &s) != 0 || !S_ISREG(s.st_mode) || s.st_nlink == 0);
}

void zmpi_log(enum zmpi_log_level level, const char *format, ...)
{
    if (level == ZMPI_LOG_QUIET || (int)level > atomic_load(&log_level))
        return;
    int saved = errno; // a log line must not change what the caller is about to report
    if (!zmpi_log_is_possible()) {
        errno = saved;
        return;
    }
    char line[2048];
    size_t n = write_prefix(line, sizeof line);
    va_list args;
    const locale_t program = zmpi_decimal_begin();
    va_start(args, format);
    int m = vsnprintf(line + n, sizeof line - n - 1, format, args);
    va_end(args);
    zmpi_decimal_end(program);
    n += m < 0 ? 0 : strlen(line + n);
    line[n++] = '\n';
    // One write: lines of several ranks or threads on the same stream stay whole. Nothing can be
    // done if it fails.
    ssize_t written = write(STDERR_FILENO, line, n);
    (void)written;
    errno = saved;
}
