/* place.c - the file by which clients find their daemon (place.h). */
#define _GNU_SOURCE
#include "common/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"

#define FIRST_LINE "zmpi-nicd 1\n"

enum { FILE_MAX = 1024 };

static bool fail(char message[256], const char *path, const char *why)
{
    snprintf(message, 256, "%.150s: %.100s", path, why);
    return false;
}

/* ---- hexadecimal ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the number of bytes read; 0 if the text is anything else, or longer. */
static size_t from_hex(const char *text, unsigned char *dst, size_t capacity)
{
    size_t n = strlen(text);
    if (n % 2 || n / 2 > capacity)
        return 0;
    for (size_t i = 0; i < n / 2; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return 0;
        dst[i] = (unsigned char)(high * 16 + low);
    }
    return n / 2;
}

static void to_hex(const unsigned char *src, size_t n, char *text)
{
    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", src[i]);
}

/* ---- reading ---- */

static double seconds(const char *text)
{
    const locale_t program = zmpi_decimal_begin();
    const double value = strtod(text, NULL);
    zmpi_decimal_end(program);
    return value;
}

static bool parse(char *text, struct nic_place *p)
{
    char *rest = text, *line;
    bool secret = false;
    memset(p, 0, sizeof *p);
    if (strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0)
        return false;
    strsep(&rest, "\n");
    while ((line = strsep(&rest, "\n")) != NULL && *line) {
        char *value = strchr(line, ' ');
        if (!value)
            return false;
        *value++ = 0;
        if (strcmp(line, "provider") == 0 && strlen(value) < sizeof p->provider)
            strcpy(p->provider, value);
        else if (strcmp(line, "format") == 0)
            p->format = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(line, "address") == 0)
            p->address_size = from_hex(value, p->address, sizeof p->address - 1);
        else if (strcmp(line, "secret") == 0)
            secret = from_hex(value, p->secret, NIC_KEY) == NIC_KEY;
        else if (strcmp(line, "timeout") == 0)
            p->timeout = seconds(value);
        else if (strcmp(line, "starting") == 0)
            p->starting = true;
        else
            return false;
    }
    return p->provider[0] && p->address_size > 0 && secret && p->timeout > 0 && p->timeout < 1e6;
}

bool nic_place_read(const char *path, struct nic_place *place, char message[256])
{
    struct stat st;
    char text[FILE_MAX + 1], why[100];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(message, path, strerror(errno));
    ssize_t n = fstat(fd, &st) == 0 ? read(fd, text, FILE_MAX) : -1;
    int error = errno;
    close(fd);
    if (n < 0)
        return fail(message, path, strerror(error));
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return fail(message, path, "is not a file of this user: others may know its secret");
    if ((st.st_mode & 077) != 0) {
        snprintf(why, sizeof why, "has mode %04o: others may know its secret; start zmpi-nicd anew",
                 (unsigned)st.st_mode & 07777);
        return fail(message, path, why);
    }
    text[n] = 0;
    return parse(text, place) || fail(message, path, "is not a file that zmpi-nicd has written");
}

/* ---- writing ---- */

/* Is there nothing, or a file that a daemon wrote? */
static bool replaceable(const char *path)
{
    char first[sizeof FIRST_LINE] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT;
    ssize_t n = read(fd, first, sizeof first - 1);
    close(fd);
    return n == sizeof first - 1 && strcmp(first, FIRST_LINE) == 0;
}

bool nic_place_write(const char *path, const struct nic_place *place, char message[256])
{
    char address[2 * NIC_ADDRESS_MAX + 1], secret[2 * NIC_KEY + 1], *beside = NULL;
    if (!replaceable(path))
        return fail(message, path, "is there already and no file of zmpi-nicd: give another name");
    to_hex(place->address, place->address_size, address);
    to_hex(place->secret, NIC_KEY, secret);
    if (asprintf(&beside, "%s.%ld", path, (long)getpid()) < 0)
        return fail(message, path, "out of memory");
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good =
        fd >= 0 &&
        dprintf(fd, FIRST_LINE "provider %s\nformat %u\naddress %s\nsecret %s\ntimeout %g\n%s",
                place->provider, place->format, address, secret, place->timeout,
                place->starting ? "starting again\n" : "") > 0;
    if (fd >= 0)
        good = close(fd) == 0 && good;
    good = good && rename(beside, path) == 0;
    int error = errno;
    if (!good && fd >= 0)
        unlink(beside);
    free(beside);
    return good || fail(message, path, strerror(error));
}
