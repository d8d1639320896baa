/* preload.c - see preload.h. */
#define _GNU_SOURCE
#include "tool/program/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/tool.h"

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool tool_program_find(const char *name, char path[PATH_MAX])
{
    const char *folder = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin";
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        return is_program(path);
    }
    while (folder && *name) {
        const size_t n = strcspn(folder, ":");
        const bool fits =
            snprintf(path, PATH_MAX, "%.*s/%s", (int)n, n ? folder : ".", name) < PATH_MAX;
        if (fits && is_program(path))
            return true;
        folder = folder[n] ? folder + n + 1 : NULL;
    }
    return false;
}

bool tool_program_is_setuid(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && (s.st_mode & (S_ISUID | S_ISGID)) != 0;
}

bool tool_library_find(const char *name, char path[PATH_MAX])
{
    void *version = dlsym(RTLD_DEFAULT, "zmpi_version");
    Dl_info codec;
    char real[PATH_MAX];
    if (!version || !dladdr(version, &codec) || !realpath(codec.dli_fname, real))
        return false;
    *strrchr(real, '/') = 0;
    return snprintf(path, PATH_MAX, "%s/zmpi/%s", real, name) < PATH_MAX && access(path, R_OK) == 0;
}

bool tool_library_preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *all;
    if (strpbrk(library, " :")) {
        tool_fail(
            "%s: a path with a blank or colon cannot be preloaded: the program runs without zmpi",
            library);
        return false;
    }
    if (asprintf(&all, "%s%s%s", library, others && *others ? ":" : "", others ? others : "") < 0) {
        tool_fail("out of memory: the program runs without zmpi");
        return false;
    }
    const bool set = setenv("LD_PRELOAD", all, 1) == 0;
    free(all);
    if (!set)
        tool_fail("out of memory: the program runs without zmpi");
    return set;
}

int tool_program_start(const char *path, char **argv)
{
    signal(SIGXFSZ, SIG_DFL); /* the tool ignores it */
    execv(path, argv);
    tool_fail("%s: %s", path, strerror(errno));
    return TOOL_NOT_RUN;
}
