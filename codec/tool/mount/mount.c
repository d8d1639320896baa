/* mount.c - zmpi mount: shows a folder's containers as plain files. It needs libfuse3 when zmpi is
 * built. */
#define _GNU_SOURCE // O_DIRECTORY
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/mount/mount.h"
#include "tool/tool.h"

#ifndef ZMPI_HAVE_FUSE
int tool_mount_run(int root, const char *folder, const char *point, bool front)
{
    (void)root, (void)folder, (void)point, (void)front;
    return tool_fail("was built without libfuse3 (libfuse3-dev): zmpi view PROGRAM needs none");
}
#endif

/* A mount inside the folder that it shows would wait for itself for ever. */
static bool is_inside(const char *point, const char *folder)
{
    const size_t n = strlen(folder);
    return strncmp(point, folder, n) == 0 && (point[n] == '/' || (n == 1 && point[1]));
}

int tool_mount(int argc, char **argv)
{
    static const struct option longs[] = {{"foreground", 0, NULL, 'f'}, {NULL, 0, NULL, 0}};
    char folder[PATH_MAX], point[PATH_MAX];
    bool front = false;
    int c;
    while ((c = getopt_long(argc, argv, "f", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        front = true;
    }
    if (argc - optind != 2)
        return tool_usage();
    if (!realpath(argv[optind], folder))
        return tool_fail("%s: %s", argv[optind], strerror(errno));
    if (!realpath(argv[optind + 1], point))
        return tool_fail("%s: %s%s", argv[optind + 1], strerror(errno),
                         errno == ENOTCONN ? " (a mount whose process is gone: fusermount3 -u)"
                                           : "");
    if (is_inside(point, folder))
        return tool_fail("%s: lies inside %s", point, folder);
    const int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return tool_fail("%s: %s", folder, strerror(errno));
    const int status = tool_mount_run(root, folder, point, front);
    close(root);
    return status;
}
