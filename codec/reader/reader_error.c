/* reader_error.c - messages: one line that says what went wrong, and names the file and the
 * record. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader/reader.h"

static void begin(struct zmpi_reader_error *error, enum zmpi_status status)
{
    error->status = status;
    error->system = 0;
    error->record = ZMPI_READER_NO_RECORD;
    error->text[0] = 0;
}

/* A name may contain any characters, but a message is one line. */
static void one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

enum zmpi_status zmpi_reader_fine(struct zmpi_reader_error *error)
{
    if (error)
        begin(error, ZMPI_OK);
    return ZMPI_OK;
}

enum zmpi_status zmpi_reader_say(struct zmpi_reader_error *error, enum zmpi_status status,
                                 const char *format, ...)
{
    va_list arguments;
    if (!error)
        return status;
    begin(error, status);
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    one_line(error->text);
    return status;
}

/* There are two functions of the name strerror_r. */
static const char *text_of(int error, char *buffer, size_t size)
{
    const int kept = errno;
    errno = error;
    snprintf(buffer, size, "%m");
    errno = kept;
    return buffer;
}

enum zmpi_status zmpi_reader_fail(struct zmpi_reader_error *error, const char *name,
                                  const struct zmpi_trouble *t)
{
    char buffer[128];
    const char *what = t->what;
    if (!error)
        return t->status;
    if (!what)
        what = t->system ? text_of(t->system, buffer, sizeof buffer) : zmpi_strerror(t->status);
    if (t->record == ZMPI_READER_NO_RECORD)
        zmpi_reader_say(error, t->status, "%.300s: %s", name, what);
    else
        zmpi_reader_say(error, t->status, "%.300s: record at offset %llu: %s", name,
                        (unsigned long long)t->record, what);
    error->system = t->system;
    error->record = t->record;
    return t->status;
}

void zmpi_reader_remark(struct zmpi_reader_error *error, const struct zmpi_reader_file *f)
{
    zmpi_reader_fine(error);
    for (size_t i = 0; i < f->now.count && !f->now.plain; i++) {
        const struct zmpi_container *c = &f->now.part[i]->container;
        if (!zmpi_container_whole(c)) {
            zmpi_reader_say(error, ZMPI_OK,
                            "%.300s: damaged or cut off: data may be missing (zmpi fsck)", f->name);
            return;
        }
        if (c->copied)
            zmpi_reader_say(error, ZMPI_OK,
                            "%.300s: its header is damaged, and the copy of it at the end was "
                            "taken (zmpi fsck)",
                            f->name);
        else if ((c->scanned || c->damaged) && !zmpi_source_is_written(f->fd))
            zmpi_reader_say(error, ZMPI_OK,
                            "%.300s: was not closed properly; %llu records found by scanning",
                            f->name, (unsigned long long)c->scanned);
    }
}

bool zmpi_reader_give(void *to, size_t least, const void *from, size_t all)
{
    size_t size;
    memcpy(&size, to, sizeof size);
    if (size < least)
        return false;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size,
           (size < all ? size : all) - sizeof size);
    return true;
}
