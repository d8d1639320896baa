/* text.c - names in lines and in JSON, how alike they are, and globs. */
#include "base/text.h"

#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

static size_t line_byte(char shown[5], unsigned char c)
{
    if (c >= 0x20 && c != 0x7F) {
        shown[0] = (char)c;
        return 1;
    }
    const int n = c == '\n'   ? snprintf(shown, 5, "\\n")
                  : c == '\t' ? snprintf(shown, 5, "\\t")
                              : snprintf(shown, 5, "\\%03o", c);
    return (size_t)n;
}

size_t zmpi_text_line(char *out, size_t capacity, const char *text)
{
    size_t used = 0;
    for (; *text; text++) {
        char shown[5];
        const size_t n = line_byte(shown, (unsigned char)*text);
        if (used + n + 1 > capacity)
            break;
        memcpy(out + used, shown, n);
        used += n;
    }
    if (capacity)
        out[used] = 0;
    return used;
}

/* Bytes of the character of UTF-8 that begins here, 0: none does. */
static size_t character(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : 0;
    if (s[0] >= 0xC2 && s[0] < 0xF5)
        n = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    /* Valid UTF-8: no more bytes than needed, no surrogate, nothing too large. */
    const unsigned least = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0;
    const unsigned most = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    return n > 2 && (s[1] < least || s[1] > most) ? 0 : n;
}

void zmpi_text_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t n = character(s);
        if (n == 0)
            fprintf(out, "\\udc%02x", *s);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
    fputc('"', out);
}

enum { NAME_MOST = 32 };

size_t zmpi_text_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t row[NAME_MOST + 1];
    if (n > NAME_MOST || m > NAME_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (diagonal + 1 < best)
                best = diagonal + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

bool zmpi_glob_matches(const char *glob, const char *path)
{
    const char *base = strrchr(path, '/');
    const char *subject = strchr(glob, '/') == NULL && base != NULL ? base + 1 : path;
    return fnmatch(glob, subject, 0) == 0;
}

const char *zmpi_globs_next(const char *globs, const char **glob, size_t *length)
{
    const size_t n = strcspn(globs, ","), blank = strspn(globs, " \t");
    *glob = globs + (blank < n ? blank : n);
    *length = n - (size_t)(*glob - globs);
    while (*length > 0 && strchr(" \t", (*glob)[*length - 1]) != NULL)
        --*length;
    return globs[n] == ',' ? globs + n + 1 : NULL;
}

bool zmpi_globs_match(const char *globs, const char *path)
{
    bool match = false;
    for (const char *p = globs, *found; p != NULL;) {
        char glob[1024];
        size_t n;
        p = zmpi_globs_next(p, &found, &n);
        const bool exclude = n > 0 && *found == '!';
        snprintf(glob, sizeof glob, "%.*s", (int)(n - exclude), found + exclude);
        if (zmpi_glob_matches(glob, path))
            match = !exclude;
    }
    return match;
}
