/* chip_sdk.c - struct chip by the vendor's tools. Nobody has run it with them yet. */
#define _GNU_SOURCE // nftw
#include "chip_sdk.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_sources.h"
#include "planner.h"

static bool fail(struct chip_sdk *c, const char *what, const char *why)
{
    snprintf(c->problem, sizeof c->problem, "%.50s: %.200s", what, why);
    c->chip.problem = c->problem;
    return false;
}

/* ---- the bridge's protocol (csl/sdk/bridge.py) ---- */

static bool send_all(struct chip_sdk *c, const void *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = send(c->peer, (const char *)data + at, size - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return fail(c, "csl/sdk/bridge.py", "it has ended");
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool receive_all(struct chip_sdk *c, void *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = recv(c->peer, (char *)data + at, size - at, 0);
        if (n == 0 || (n < 0 && errno != EINTR))
            return fail(c, "csl/sdk/bridge.py", "it has ended; see its messages");
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool receive_ok(struct chip_sdk *c)
{
    char line[256];
    size_t n = 0;
    do {
        if (!receive_all(c, line + n, 1))
            return false;
    } while (line[n] != '\n' && ++n < sizeof line - 1);
    line[n] = 0;
    return strcmp(line, "ok") == 0 || fail(c, "the vendor's run time", line);
}

static size_t bytes_of(const struct chip *chip, unsigned columns, unsigned elements)
{
    return (size_t)4 * columns * chip->height * elements;
}

static bool ask(struct chip_sdk *c, const char *verb, const char *name, unsigned columns,
                unsigned elements)
{
    char line[96];
    int n = snprintf(line, sizeof line, "%s %s %u %u\n", verb, name, columns, elements);
    return send_all(c, line, (size_t)n);
}

static bool to(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
               unsigned elements)
{
    struct chip_sdk *c = (struct chip_sdk *)chip;
    return ask(c, "to", name, columns, elements) &&
           send_all(c, src, bytes_of(chip, columns, elements)) && receive_ok(c);
}

static bool from(struct chip *chip, const char *name, uint32_t *dst, unsigned elements)
{
    struct chip_sdk *c = (struct chip_sdk *)chip;
    return ask(c, "from", name, chip->width, elements) && receive_ok(c) &&
           receive_all(c, dst, bytes_of(chip, chip->width, elements));
}

static bool launch(struct chip *chip, const char *function)
{
    struct chip_sdk *c = (struct chip_sdk *)chip;
    return ask(c, "launch", function, 0, 0) && receive_ok(c);
}

/* ---- cslc, and the bridge ---- */

static bool in_path(const char *tool)
{
    const char *path = secure_getenv("PATH");
    char *copy = strdup(path ? path : ""), *rest = copy, *folder, file[4096];
    bool found = false;
    while (copy && !found && (folder = strsep(&rest, ":")) != NULL)
        found = snprintf(file, sizeof file, "%s/%s", folder, tool) < (int)sizeof file &&
                access(file, X_OK) == 0;
    free(copy);
    return found;
}

const char *chip_sdk_missing(void)
{
    return !in_path("cslc")        ? "the vendor's compiler cslc is not in PATH"
           : !in_path("cs_python") ? "the vendor's cs_python is not in PATH"
                                   : NULL;
}

static bool write_sources(struct chip_sdk *c)
{
    for (size_t i = 0; i < csl_kernel_source_count; i++) {
        char path[sizeof c->folder + 64];
        const struct csl_kernel_source *s = &csl_kernel_sources[i];
        snprintf(path, sizeof path, "%s/%s", c->folder, s->name);
        FILE *file = fopen(path, "w");
        bool written = file && fwrite(s->text, 1, s->size, file) == s->size;
        if ((file && fclose(file)) || !written)
            return fail(c, path, strerror(errno));
    }
    return true;
}

extern char **environ;

/* Starts a tool. Its standard input is `input`, unless that is negative; its standard output is our
 * standard error. */
static bool start(struct chip_sdk *c, char *const argument[], int input, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    int error = posix_spawnp(child, argument[0], &actions, NULL, argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 || fail(c, argument[0], strerror(error));
}

/* A simulated fabric needs some PEs around ours. A machine has its own size (CS-2). */
static bool compile(struct chip_sdk *c, const char *program, const struct chip_rows *rows,
                    bool machine)
{
    char layout[sizeof c->folder + 64], dims[48], params[128], out[sizeof c->folder + 8];
    int status;
    pid_t child;
    snprintf(layout, sizeof layout, "%s/%s_layout.csl", c->folder, program);
    snprintf(dims, sizeof dims, "--fabric-dims=%u,%u", machine ? 757 : c->chip.width + 7,
             machine ? 996 : c->chip.height + 2);
    int n = snprintf(params, sizeof params, "--params=width:%u,height:%u,scalar:0", c->chip.width,
                     c->chip.height);
    if (rows->pipeline)
        snprintf(params + n, sizeof params - (size_t)n, ",pipeline:%u,groups:%lld,decode:%d",
                 rows->pipeline, (long long)stages_groups(rows), rows->decode);
    snprintf(out, sizeof out, "%s/out", c->folder);
    char *argument[] = {"cslc", "--arch=wse2", layout, dims,       "--fabric-offsets=4,1",
                        params, "-o",          out,    "--memcpy", "--channels=1",
                        NULL};
    if (!start(c, argument, -1, &child))
        return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return fail(c, "cslc", strerror(errno));
    return status == 0 || fail(c, "cslc", "it does not compile the kernels; see its messages");
}

static bool start_bridge(struct chip_sdk *c, const char *address)
{
    char script[sizeof c->folder + 16], out[sizeof c->folder + 8], height[16];
    int pair[2];
    snprintf(script, sizeof script, "%s/bridge.py", c->folder);
    snprintf(out, sizeof out, "%s/out", c->folder);
    snprintf(height, sizeof height, "%u", c->chip.height);
    char *argument[] = {
        "cs_python",     script, "--name", out, "--height", height, address ? "--cmaddr" : NULL,
        (char *)address, NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return fail(c, "socketpair", strerror(errno));
    c->peer = pair[0];
    bool started = start(c, argument, pair[1], &c->bridge);
    close(pair[1]);
    return started;
}

bool chip_sdk_open(struct chip_sdk *c, const char *program, unsigned width, unsigned height,
                   const struct chip_rows *rows, const char *address)
{
    const char *temporary = secure_getenv("TMPDIR");
    *c = (struct chip_sdk){.chip = {.width = width,
                                    .height = height,
                                    .pipeline = rows->pipeline,
                                    .to = to,
                                    .from = from,
                                    .launch = launch},
                           .peer = -1,
                           .owner = getpid()};
    int n = snprintf(c->folder, sizeof c->folder, "%s/zmpi-wse-XXXXXX",
                     temporary && *temporary ? temporary : "/tmp");
    if (n >= (int)sizeof c->folder || !mkdtemp(c->folder)) {
        c->folder[0] = 0;
        return fail(c, "no folder for what cslc makes", strerror(errno));
    }
    return write_sources(c) && compile(c, program, rows, address != NULL) &&
           start_bridge(c, address);
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *place)
{
    (void)info;
    (void)flag;
    (void)place;
    return remove(path);
}

/* A child of the process that started the bridge leaves bridge and folder alone. */
void chip_sdk_close(struct chip_sdk *c)
{
    const bool ours = c->owner == getpid();
    if (c->peer >= 0) {
        if (ours)
            shutdown(c->peer, SHUT_RDWR);
        close(c->peer);
    }
    while (ours && c->bridge && waitpid(c->bridge, NULL, 0) < 0 && errno == EINTR)
        ;
    if (ours && c->folder[0])
        nftw(c->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    *c = (struct chip_sdk){.peer = -1};
}
