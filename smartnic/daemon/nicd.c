/* nicd.c - zmpi-nicd: compresses for the processes of a node (docs/internals/smartnic.md,
 * zmpi-nicd(1)). */
#define _GNU_SOURCE
#include "daemon/nicd.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/log.h"
#include "options/options.h"
#include "options/options_value.h"

/* Where a daemon listens by default, on shm. */
#define SHM_NAME "zmpi-nicd-%ld"

static atomic_bool stopped;
static int wake; /* the server's event */

static void on_signal(int number)
{
    const uint64_t one = 1;
    (void)number;
    atomic_store(&stopped, true);
    ssize_t written = write(wake, &one, sizeof one);
    (void)written;
}

static int fail(const char *text)
{
    fprintf(stderr, "zmpi-nicd: %s\n", text);
    return 1;
}

static void help(void)
{
    printf("usage: zmpi-nicd [OPTION...] FILE\n"
           "Codes and decodes for processes that run with ZMPI_NIC=FILE ZMPI_DEVICE=smartnic.\n"
           "zmpi-nicd makes FILE: it tells them where the daemon is, and a secret.\n\n"
           "  -p, --provider NAME    libfabric's provider [tcp;ofi_rxm]\n"
           "  -l, --listen WHERE     HOST, HOST:PORT or, for shm, a name; any: wherever the\n"
           "                         provider likes [127.0.0.1; shm: zmpi-nicd-PID]\n"
           "  -m, --memory BYTES     memory for data and results under way [256M]\n"
           "  -q, --queue N          requests that may wait; more are refused [64]\n"
           "  -c, --clients N        processes that may connect at once [256]\n"
           "  -j, --threads N        threads that compress [one for each CPU]\n"
           "  -t, --timeout SECONDS  how long clients wait for a sign of life [5]\n"
           "  -e, --engine NAME      what compresses [cpu]\n"
           "  -f, --files FOLDER     a folder where it may write files (ZMPI_NIC_WRITE); may be\n"
           "                         repeated\n"
           "  -s, --sync             what it writes goes to the storage device at once\n"
           "  -v, --verbose          say who comes and goes\n"
           "      --help, --version\n\nEngines:\n");
    for (size_t i = 0; nic_engine(i); i++)
        printf("  %-22s %s\n", nic_engine(i)->name, nic_engine(i)->help);
}

static bool number(const char *text, unsigned most, unsigned *value)
{
    char *end;
    errno = 0;
    const unsigned long n = strtoul(text, &end, 10);
    *value = (unsigned)n;
    return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 && n >= 1 && n <= most;
}

static bool seconds(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && *value >= 0.01 && *value <= 3600;
}

/* Returns NULL, or the values that are allowed. */
static const char *set(struct nicd_settings *s, int option, const char *value)
{
    switch (option) {
    case 'p':
        s->provider = value;
        return strlen(value) < sizeof((struct nic_place *)0)->provider && !strchr(value, '\n')
                   ? NULL
                   : "allowed is the name of a libfabric provider (fi_info -l)";
    case 'l':
        s->listen = strcmp(value, "any") == 0 ? "" : value;
        return *value ? NULL : "allowed are an address of this machine, a name, or any";
    case 'm':
        return zmpi_bytes_parse(value, &s->memory) && s->memory >= 1 << 20
                   ? NULL
                   : "allowed are 1M and more";
    case 'q':
        return number(value, 1 << 20, &s->queue) ? NULL : "allowed are 1 to 1048576";
    case 'c':
        return number(value, 1 << 16, &s->clients) ? NULL : "allowed are 1 to 65536";
    case 'j':
        return number(value, 1024, &s->threads) ? NULL : "allowed are 1 to 1024";
    case 't':
        return seconds(value, &s->timeout) ? NULL : "allowed are 0.01 to 3600";
    case 'f':
        return nicd_root_add(s, value) ? NULL : "allowed are up to 16 folders that are there";
    case 's':
        s->sync = true;
        return NULL;
    case 'e':
        s->engine = nic_engine_find(value);
        return s->engine ? NULL : "there is no such engine; zmpi-nicd --help lists them";
    default:
        s->verbose = true;
        return NULL;
    }
}

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct nicd_settings *s)
{
    static const struct option longs[] = {
        {"provider", 1, NULL, 'p'}, {"listen", 1, NULL, 'l'},  {"memory", 1, NULL, 'm'},
        {"queue", 1, NULL, 'q'},    {"clients", 1, NULL, 'c'}, {"threads", 1, NULL, 'j'},
        {"timeout", 1, NULL, 't'},  {"engine", 1, NULL, 'e'},  {"files", 1, NULL, 'f'},
        {"sync", 0, NULL, 's'},     {"verbose", 0, NULL, 'v'}, {"help", 0, NULL, 'h'},
        {"version", 0, NULL, 'V'},  {NULL, 0, NULL, 0}};
    char text[256];
    int c;
    opterr = 0; /* we print one line ourselves */
    while ((c = getopt_long(argc, argv, "p:l:m:q:c:j:t:e:f:sv", longs, NULL)) != -1) {
        if (c == 'h') {
            help();
            return 0;
        }
        if (c == 'V') {
            printf("zmpi-nicd %s\n", zmpi_version());
            return 0;
        }
        const char *allowed = c == '?' ? "" : set(s, c, optarg);
        if (c == '?') {
            snprintf(text, sizeof text,
                     "%.100s: no such option, or its value is missing; see zmpi-nicd --help",
                     argv[optind - 1]);
            zmpi_option_one_line(text);
            return fail(text);
        }
        if (allowed) {
            snprintf(text, sizeof text, "-%c %.100s: %s", c, optarg, allowed);
            zmpi_option_one_line(text);
            return fail(text);
        }
    }
    return optind == argc - 1 ? -1 : fail("one FILE must be named; see zmpi-nicd --help");
}

/* ---- the file ---- */

static struct stat *made; /* did we make it? in memory that parent and child share */

/* Is it still ours, or has another daemon replaced it? */
static bool is_ours(const char *path)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_ino == made->st_ino && now.st_dev == made->st_dev;
}

static void remove_file(const char *path)
{
    if (is_ours(path))
        unlink(path);
    made->st_ino = 0;
}

/* Tells clients to wait for the next daemon instead of the dead one. */
static void say_starting(const char *path)
{
    char message[256];
    struct nic_place place;
    if (!is_ours(path) || !nic_place_read(path, &place, message))
        return;
    place.starting = true;
    if (nic_place_write(path, &place, message))
        stat(path, made);
}

/* ---- the parent, which restarts a crashed daemon ---- */

static pid_t child;

static void pass_on(int number)
{
    if (child > 0)
        kill(child, number);
}

/* Removes what shm leaves of a process that could not clean up. */
static void clean_up_after(pid_t pid)
{
    char name[64];
    snprintf(name, sizeof name, SHM_NAME ":0", (long)pid);
    shm_unlink(name);
}

static bool crashed(int how)
{
    const int number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    return number == SIGSEGV || number == SIGBUS || number == SIGABRT;
}

/* libfabric's shm crashes if a client dies at the wrong moment; the other clients must not lose the
 * daemon by that. Returns true in the child. The parent returns false at the end, with the exit
 * status. */
static bool supervise(const char *path, int *status)
{
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    const pid_t parent = getpid();
    made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
        *status = fail("no memory");
        return false;
    }
    for (;;) {
        const double begin = zmpi_seconds();
        child = fork();
        if (child == 0) {
            signal(SIGTERM, SIG_DFL);
            signal(SIGINT, SIG_DFL);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            return getppid() == parent;
        }
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        int how = 0;
        const bool ended = child > 0 && waitpid(child, &how, 0) == child;
        if (ended && WIFSIGNALED(how))
            clean_up_after(child);
        if (ended && crashed(how) && zmpi_seconds() - begin > 1) {
            zmpi_log(ZMPI_LOG_WARN, "%s: zmpi-nicd ended by signal %d; starting it again", path,
                     WTERMSIG(how));
            say_starting(path);
            continue;
        }
        remove_file(path);
        *status = !ended ? fail("cannot start a process") : WIFEXITED(how) ? WEXITSTATUS(how) : 1;
        return false;
    }
}

static int serve(struct nicd *s, const char *path)
{
    char message[256];
    struct sigaction action = {.sa_handler = on_signal};
    if (!nicd_listen(s, message))
        return fail(message);
    wake = s->event;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a client's error, not ours */
    if (!nic_place_write(path, &s->place, message) || stat(path, made) != 0)
        return fail(message);
    zmpi_log(ZMPI_LOG_INFO, "%s: %s, engine %s, %u threads, %zu MiB", path, s->set.provider,
             s->set.engine->name, s->thread_count, s->set.memory >> 20);
    const bool good = nicd_serve(s, &stopped);
    remove_file(path);
    nicd_close(s);
    return good ? 0 : fail("the fabric does not work any more");
}

/* Each client's connection needs a descriptor, and so do connections of strangers. */
static void raise_descriptors(unsigned clients)
{
    struct rlimit limit;
    const rlim_t wanted = 4 * (rlim_t)clients + 256;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    static struct nicd s = {.blocks.lock = PTHREAD_MUTEX_INITIALIZER,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .work = PTHREAD_COND_INITIALIZER};
    char name[64];
    s.set = (struct nicd_settings){.engine = nic_engine(0),
                                   .provider = "tcp;ofi_rxm",
                                   .memory = (size_t)256 << 20,
                                   .queue = 64,
                                   .clients = 256,
                                   .threads = (unsigned)zmpi_cpus_count(),
                                   .timeout = 5};
    int status = parse(argc, argv, &s.set);
    if (status >= 0)
        return status;
    zmpi_log_set(s.set.verbose ? ZMPI_LOG_INFO : ZMPI_LOG_WARN);
    if (!supervise(argv[optind], &status))
        return status;
    raise_descriptors(s.set.clients);
    const char *missing = nic_libfabric();
    if (!missing)
        missing = s.set.engine->start();
    if (missing)
        return fail(missing);
    snprintf(name, sizeof name, SHM_NAME, (long)getpid());
    if (!s.set.listen)
        s.set.listen = strcmp(s.set.provider, "shm") == 0 ? name : "127.0.0.1";
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return serve(&s, argv[optind]);
}
