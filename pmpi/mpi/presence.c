/*
 * presence.c - do all ranks of MPI_COMM_WORLD have this library? Job lines of several programs,
 * and scripts around them, may give it to some ranks alone; then these must not send anything to
 * the others, nor call a collective that those do not.
 *
 * The launcher's key-value store tells, by which MPI libraries find each other in MPI_Init. Each
 * process that has the library puts a key there before what MPI_Init waits for:
 *
 *     PMIx      in the MPI library's PMIx_Commit, which comes to us first (Open MPI; Slurm with it)
 *     PMI 1     by the wire protocol of Hydra, to which MPICH has its own client inside
 *
 * With other launchers nobody can tell, and all ranks are taken to have it. A rank whose key the
 * store refuses stays out, as the others believe that it lacks the library.
 *
 * After MPI_Init each rank asks for its parent and children in a binary tree, no others, and the
 * answer goes up and down this tree. Who has the library receives these messages before the program
 * gets to call MPI; who has not is never sent one.
 */
#define _GNU_SOURCE // RTLD_NEXT, dladdr

#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "mpi/presence.h"
#include "mpi/runtime.h"
#include "next_mpi.h"

enum { TAG = 32767, NOBODY = INT_MAX, PATIENCE = 10 /* seconds */ };

#define KEY "zmpi"

/* ---- PMIx ---- */

/* As pmix_common.h has them since PMIx 2; of values, what is used. */
enum { PMIX_BOOL = 1, PMIX_INT = 6, PMIX_GLOBAL = 3 };

struct pmix_value {
    uint16_t type;
    union {
        bool flag;
        int integer;
        unsigned char space[64];
        void *aligned;
    } data;
};

struct pmix_proc {
    char space[256];
    uint32_t rank;
};

struct pmix_info {
    char key[512];
    uint32_t flags;
    struct pmix_value value;
};

typedef int pmix_commit_fn(void);
typedef int pmix_put_fn(uint8_t scope, const char *key, struct pmix_value *value);
typedef int pmix_get_fn(const struct pmix_proc *proc, const char *key, const struct pmix_info *info,
                        size_t count, struct pmix_value **value);
typedef int pmix_fence_fn(const struct pmix_proc *procs, size_t procs_count,
                          const struct pmix_info *info, size_t count);
typedef void pmix_done_fn(int status, void *data);
typedef int pmix_fence_nb_fn(const struct pmix_proc *procs, size_t procs_count,
                             const struct pmix_info *info, size_t count, pmix_done_fn *done,
                             void *data);

static bool unseen;    /* the store did not take this rank's key */
static void *pmix;     /* where its functions are; NULL: not used */
static bool collected; /* all processes' keys came to each node, whoever is asked for */

#define SHOWN __attribute__((visibility("default")))
SHOWN pmix_commit_fn PMIx_Commit;
SHOWN pmix_fence_fn PMIx_Fence;
SHOWN pmix_fence_nb_fn PMIx_Fence_nb;

enum { PMIX_ERROR = -1 };

/* The library that the caller is linked to: mostly a component's, which others do not see. */
static void *library_behind(const void *caller)
{
    Dl_info info;
    if (dlsym(RTLD_NEXT, "PMIx_Commit"))
        return RTLD_NEXT;
    return dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Its function, and not ours; or NULL. */
static void *function_of(void *library, const char *name)
{
    Dl_info found, own;
    void *function = library ? dlsym(library, name) : NULL;
    return function && dladdr(function, &found) && dladdr(&pmix, &own) &&
                   found.dli_fbase != own.dli_fbase
               ? function
               : NULL;
}

int PMIx_Commit(void)
{
    static atomic_flag put_already = ATOMIC_FLAG_INIT;
    void *library = library_behind(__builtin_return_address(0));
    struct pmix_value here = {.type = PMIX_BOOL, .data.flag = true};
    pmix_commit_fn *commit;
    pmix_put_fn *put;
    *(void **)&commit = function_of(library, "PMIx_Commit");
    *(void **)&put = function_of(library, "PMIx_Put");
    if (!commit)
        return PMIX_ERROR;
    if (put && !zruntime_off() && !atomic_flag_test_and_set(&put_already)) {
        unseen = put(PMIX_GLOBAL, KEY, &here) != 0;
        pmix = library;
    }
    return commit();
}

static void note_fence(const struct pmix_info *info, size_t count)
{
    collected |= count > 0 && strncmp(info->key, "pmix.collect", sizeof info->key) == 0 &&
                 info->value.type == PMIX_BOOL && info->value.data.flag;
}

int PMIx_Fence(const struct pmix_proc *procs, size_t procs_count, const struct pmix_info *info,
               size_t count)
{
    pmix_fence_fn *fence;
    *(void **)&fence = function_of(library_behind(__builtin_return_address(0)), "PMIx_Fence");
    note_fence(info, count);
    return fence ? fence(procs, procs_count, info, count) : PMIX_ERROR;
}

int PMIx_Fence_nb(const struct pmix_proc *procs, size_t procs_count, const struct pmix_info *info,
                  size_t count, pmix_done_fn *done, void *data)
{
    pmix_fence_nb_fn *fence;
    *(void **)&fence = function_of(library_behind(__builtin_return_address(0)), "PMIx_Fence_nb");
    note_fence(info, count);
    return fence ? fence(procs, procs_count, info, count, done, data) : PMIX_ERROR;
}

static bool pmix_finds(int rank, const struct pmix_info *how)
{
    const char *space = getenv("PMIX_NAMESPACE");
    struct pmix_proc proc = {.rank = (uint32_t)rank};
    struct pmix_value *value = NULL;
    pmix_get_fn *get;
    *(void **)&get = dlsym(pmix, "PMIx_Get");
    if (!get || !space || strlen(space) >= sizeof proc.space)
        return false;
    memcpy(proc.space, space, strlen(space));
    if (get(&proc, KEY, how, 1, &value) || !value)
        return false;
    const bool has = value->type == PMIX_BOOL && value->data.flag;
    free(value);
    return has;
}

/* A key that is not there may be waited for. Keys that were not collected come from the other node
 * in little time, or never. */
static bool pmix_has(int rank, bool patient)
{
    const struct pmix_info now = {.key = "pmix.immediate",
                                  .value = {.type = PMIX_BOOL, .data.flag = true}},
                           soon = {.key = "pmix.timeout",
                                   .value = {.type = PMIX_INT, .data.integer = PATIENCE}};
    return pmix_finds(rank, &now) || (patient && !collected && pmix_finds(rank, &soon));
}

/* ---- PMI 1 ---- */

enum { LINE = 1024 };

static struct {
    int fd; /* -1: not used */
    char space[256];
} pmi = {.fd = -1};

/* Variables that Hydra sets, and an MPI library whose client speaks version 1. */
static int pmi_descriptor(void)
{
    const char *fd = getenv("PMI_FD"), *version = getenv("MPIR_CVAR_PMI_VERSION");
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (!fd || !getenv("PMI_RANK") || !getenv("MPI_LOCALNRANKS") ||
        (version && strcmp(version, "1") != 0) || PMPI_Get_library_version(text, &length) ||
        strncmp(text, "MPICH Version", strlen("MPICH Version")) != 0)
        return -1;
    char *end;
    const long n = strtol(fd, &end, 10);
    return *fd && !*end && n >= 0 && n <= INT_MAX ? (int)n : -1;
}

static bool write_all(const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        const ssize_t n = write(pmi.fd, line, left);
        if (n <= 0)
            return false;
        line += n;
        left -= (size_t)n;
    }
    return true;
}

/* One line and its answer. */
static bool pmi_ask(const char *line, char answer[LINE])
{
    struct pollfd wait = {.fd = pmi.fd, .events = POLLIN};
    size_t n = 0;
    if (!write_all(line))
        return false;
    do {
        if (n == LINE - 1 || poll(&wait, 1, 1000 * PATIENCE) != 1 ||
            read(pmi.fd, answer + n, 1) != 1)
            return false;
    } while (answer[n++] != '\n');
    answer[n] = 0;
    return true;
}

static void pmi_announce(void)
{
    char line[LINE], answer[LINE];
    pmi.fd = pmi_descriptor();
    const bool open = pmi.fd >= 0 && pmi_ask("cmd=init pmi_version=1 pmi_subversion=1\n", answer) &&
                      strstr(answer, "rc=0") && pmi_ask("cmd=get_my_kvsname\n", answer);
    const char *space = open ? strstr(answer, "kvsname=") : NULL;
    if (!space || sscanf(space, "kvsname=%255s", pmi.space) != 1) {
        pmi.fd = -1;
        return;
    }
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=" KEY "-%.20s value=1\n", pmi.space,
             getenv("PMI_RANK"));
    unseen = !pmi_ask(line, answer) || !strstr(answer, "rc=0");
}

static bool pmi_has(int rank)
{
    char line[LINE], answer[LINE];
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=" KEY "-%d\n", pmi.space, rank);
    return pmi_ask(line, answer) && strstr(answer, "rc=0") && strstr(answer, "value=1");
}

/* ---- both ---- */

void zpresence_announce(void)
{
    pmi_announce();
}

static bool can_tell(void)
{
    return pmi.fd >= 0 || (pmix && getenv("PMIX_NAMESPACE"));
}

static bool has(int rank)
{
    return pmi.fd >= 0 ? pmi_has(rank) : pmix_has(rank, true);
}

static int lower(int a, int b)
{
    return a < b ? a : b;
}

/* The message between ranks that have the library. */
static int receive(int from)
{
    int missing = from;
    return PMPI_Recv(&missing, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ? from
                                                                                         : missing;
}

static void send(int to, int missing)
{
    PMPI_Send(&missing, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

int zpresence_missing(void)
{
    int rank = 0, ranks = 1, missing = NOBODY;
    bool child_has[2] = {false, false};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1 || !can_tell())
        return -1;
    if (unseen)
        return rank;
    const int parent = (rank - 1) / 2;
    for (int k = 0; k < 2; k++) {
        const int child = 2 * rank + 1 + k;
        if (child >= ranks)
            continue;
        child_has[k] = has(child);
        missing = lower(missing, child_has[k] ? receive(child) : child);
    }
    if (rank > 0 && has(parent)) {
        send(parent, missing);
        missing = receive(parent);
    } else if (rank > 0) {
        missing = lower(missing, parent);
    }
    for (int k = 0; k < 2; k++)
        if (child_has[k])
            send(2 * rank + 1 + k, missing);
    return missing == NOBODY ? -1 : missing;
}

bool zpresence_is_first(void)
{
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int other = unseen ? ranks - 1 : rank - 1; other >= 0; other--)
        if (other != rank && (pmi.fd >= 0 ? pmi_has(other) : pmix_has(other, false)))
            return false;
    return true;
}
