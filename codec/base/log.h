/* log.h - the only place from which the library prints. Level by
 * ZMPI_LOG=quiet|error|warn|info|debug (default warn), to stderr. */
#ifndef ZMPI_LOG_H
#define ZMPI_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum zmpi_log_level {
    ZMPI_LOG_QUIET,
    ZMPI_LOG_ERROR,
    ZMPI_LOG_WARN,
    ZMPI_LOG_INFO,
    ZMPI_LOG_DEBUG
};

void zmpi_log_set(enum zmpi_log_level level);
/* One line "zmpi: ..." (rank is prefixed once known: "zmpi[3]: "), whatever bytes names have in it;
 * a newline is added. Written by one write(2). */
void zmpi_log(enum zmpi_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void zmpi_log_rank(int rank);
/* Writes lines unchanged to stderr, if that is possible, without SIGPIPE if nobody reads them. */
void zmpi_log_text(const char *text, size_t n);

#endif
