/* options_lines.c - a file of [SECTION] and NAME = VALUE, line by line. */
#include <stdlib.h>
#include <string.h>

#include "options/options_lines.h"

/* More than any person writes: a limit for memory, whatever the file holds. */
#define LINE_CAPACITY 65536

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char *trim(char *text)
{
    while (is_blank(*text))
        text++;
    for (size_t n = strlen(text); n != 0 && is_blank(text[n - 1]); n--)
        text[n - 1] = 0;
    return text;
}

/* Cuts the line off at the first of these characters that follows a blank. */
static void cut_comment(char *text, const char *marks)
{
    for (char *p = text; (p = strpbrk(p, marks)) != NULL; p++) {
        if (p == text || is_blank(p[-1])) {
            *p = 0;
            return;
        }
    }
}

static const char *take_section(char *text, struct zmpi_line *line)
{
    cut_comment(text, ";"); /* [GLOB #1-3] */
    text = trim(text);
    const size_t n = strlen(text);
    line->section[0] = 0;
    if (text[n - 1] != ']')
        return strchr(text, ']') == NULL ? "[ without ]" : "expected nothing behind ]";
    text[n - 1] = 0;
    memcpy(line->section, text + 1, n - 1);
    return NULL;
}

static const char *take_value(char *text, struct zmpi_line *line)
{
    char *sign = strpbrk(text, "=:");
    if (sign == NULL)
        return "expected [GLOB] or NAME = VALUE";
    *sign = 0;
    cut_comment(sign + 1, ";#");
    line->name = trim(text);
    line->value = trim(sign + 1);
    return NULL;
}

/* One line: its end is cut off. NULL, or what is wrong. */
static const char *take(char *text, struct zmpi_line *line)
{
    line->name = line->value = NULL;
    if (line->number == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0) /* editors' mark of UTF-8 */
        text += 3;
    text = trim(text);
    if (*text == 0 || *text == ';' || *text == '#')
        return NULL;
    return *text == '[' ? take_section(text, line) : take_value(text, line);
}

enum zmpi_status zmpi_lines_read(FILE *file, zmpi_line_fn *use, void *user)
{
    char *text = malloc(LINE_CAPACITY), *section = malloc(LINE_CAPACITY);
    struct zmpi_line line = {.section = section};
    enum zmpi_status status = text != NULL && section != NULL ? ZMPI_OK : ZMPI_ERR_MEMORY;
    bool more = status == ZMPI_OK;
    if (more)
        section[0] = 0;
    while (more && fgets(text, LINE_CAPACITY, file) != NULL) {
        const size_t n = strlen(text);
        line.number++;
        line.wrong = NULL;
        line.last = false;
        if (n == 0 || (text[n - 1] != '\n' && !feof(file))) {
            line.wrong = n + 1 < LINE_CAPACITY ? "a zero byte: not a text file" : "line too long";
            line.last = true;
        } else {
            line.wrong = take(text, &line);
        }
        if (line.wrong != NULL || line.name != NULL)
            more = use(user, &line);
        more = more && !line.last;
    }
    if (status == ZMPI_OK && ferror(file) != 0)
        status = ZMPI_ERR_IO;
    free(text);
    free(section);
    return status;
}
