/* attributes.c - see attributes.h. */
#define _GNU_SOURCE
#include "base/attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define ACCESS_LIST "system.posix_acl_access"
/* The longest that Linux allows. */
enum { MOST = 65536 };

static bool copy(int from, int to, char *names, char *value)
{
    const ssize_t n = flistxattr(from, names, MOST);
    if (n < 0)
        return errno == ENOTSUP;
    for (const char *p = names; p < names + n; p += strlen(p) + 1) {
        if (strncmp(p, "user.", 5) != 0 && strcmp(p, ACCESS_LIST) != 0)
            continue;
        const ssize_t size = fgetxattr(from, p, value, MOST);
        if (size < 0 || fsetxattr(to, p, value, (size_t)size, 0) != 0)
            return false;
    }
    return true;
}

bool zmpi_attributes_copy(int from, int to)
{
    char *both = malloc(2 * (size_t)MOST);
    if (!both)
        return false;
    (void)fremovexattr(to, ACCESS_LIST); /* the folder's default */
    const bool done = copy(from, to, both, both + MOST);
    const int error = errno;
    free(both);
    errno = error;
    return done;
}
