/*
 * coll_comm.c - what is kept for a communicator: a communicator of our own with the same ranks,
 * settings, and measurements. The first collective that may be compressed makes it, since all ranks
 * enter that. It is cached as an attribute, which MPI frees with the communicator.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "collective/coll.h"
#include "mpi/next.h"
#include "mpi/runtime.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int keyval = MPI_KEYVAL_INVALID;
static atomic_bool finalizing;
static struct zcomm foreign; /* cached on communicators on which we must not compress */

static int forget(MPI_Comm comm, int key, void *attribute, void *extra)
{
    struct zcomm *s = attribute;
    (void)comm, (void)key, (void)extra;
    if (s == &foreign)
        return MPI_SUCCESS;
    if (!atomic_load(&finalizing))
        PMPI_Comm_free(&s->comm);
    free(s);
    return MPI_SUCCESS;
}

static void make_keyval(void)
{
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL))
        keyval = MPI_KEYVAL_INVALID;
}

void zcomm_finalize(void)
{
    atomic_store(&finalizing, true);
}

/* False: nothing is cached. */
static bool look_up(MPI_Comm comm, struct zcomm **s)
{
    int found = 0;
    *s = NULL;
    pthread_once(&once, make_keyval);
    if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID ||
        PMPI_Comm_get_attr(comm, keyval, s, &found) || !found)
        return false;
    if (*s == &foreign)
        *s = NULL;
    return true;
}

struct zcomm *zcomm_find(MPI_Comm comm)
{
    struct zcomm *s;
    return look_up(comm, &s) ? s : NULL;
}

/* May we compress on it? All ranks of the communicator get the same answer. */
static bool is_ours(MPI_Comm comm)
{
    int ranks;
    return zruntime_agreed() && zruntime_all_have_it(comm) && !PMPI_Comm_size(comm, &ranks) &&
           ranks > 1;
}

static bool on_one_node(const struct zcomm *s)
{
    MPI_Comm node;
    int ranks = 0;
    if (PMPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &node))
        return false;
    PMPI_Comm_size(node, &ranks);
    PMPI_Comm_free(&node);
    return ranks == s->ranks;
}

/* Hashes the settings as text, since the struct has padding. */
static void note_settings(struct zcomm *s)
{
    const struct zmpi_option_info *info;
    char text[1024];
    uint64_t hash = 0;
    for (size_t i = 0; (info = zmpi_option_info(i)) != NULL; i++)
        if (zmpi_option_concerns_comms(info->name)) {
            zmpi_option_get(&s->options, i, text);
            hash = zmpi_hash(text, strlen(text), hash);
        }
    s->settings = (double)(hash >> 11);
}

/* Gives rank 0's settings, with the rules for the communicator's name, to all ranks. */
static int share_settings(struct zcomm *s, MPI_Comm program)
{
    char name[MPI_MAX_OBJECT_NAME] = "", message[256];
    int length;
    s->options = *zruntime_options();
    struct zmpi_rules *rules = s->options.rules;
    if (s->rank == 0 && !PMPI_Comm_get_name(program, name, &length) &&
        zmpi_options_for_comm(&s->options, name, message))
        zmpi_log(ZMPI_LOG_WARN, "%s", message);
    int rc = PMPI_Bcast(&s->options, (int)sizeof s->options, MPI_BYTE, 0, s->comm);
    s->options.rules = rules;
    note_settings(s);
    s->offload = (struct zmpi_offload){.what = "collectives", .name = s->options.device};
    return rc;
}

static struct zcomm *make(MPI_Comm program)
{
    MPI_Comm comm;
    if (zruntime_comm(program, &comm))
        return NULL;
    struct zcomm *s = calloc(1, sizeof *s);
    if (s) {
        s->comm = comm;
        PMPI_Comm_rank(comm, &s->rank);
        PMPI_Comm_size(comm, &s->ranks);
    }
    if (!zruntime_all(comm, s != NULL) || share_settings(s, program)) {
        free(s);
        PMPI_Comm_free(&comm);
        return NULL;
    }
    s->one_node = on_one_node(s);
    return s;
}

/*
 * Threads may make several communicators at once. MPI libraries make one after the other, and each
 * process may begin with another one, so that threads would wait for each other for ever (Open MPI
 * 4.1; the program's own collectives cannot do so). So a process makes one at a time, and all ranks
 * agree on the order: each waiting communicator has a key, the same on all its ranks, and a process
 * makes the one with its least key. The least key of all may then go everywhere.
 */
struct waiting {
    uint64_t key;
    struct waiting *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *first_waiting;
static uint64_t keys;
static bool making;

/* Gets the first rank's key and begins to wait. All ranks are here then, so that nobody waits for a
 * rank that is elsewhere. */
static int enter(MPI_Comm comm, struct waiting *w)
{
    int rank, world;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    pthread_mutex_lock(&lock);
    const uint64_t mine = rank == 0 ? ++keys << 32 | (uint32_t)world : 0;
    pthread_mutex_unlock(&lock);
    const int rc = PMPI_Allreduce(&mine, &w->key, 1, MPI_UINT64_T, MPI_MAX, comm);
    if (rc)
        return rc;
    pthread_mutex_lock(&lock);
    w->next = first_waiting;
    first_waiting = w;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static void leave(const struct waiting *w)
{
    pthread_mutex_lock(&lock);
    struct waiting **p = &first_waiting;
    while (*p != w)
        p = &(*p)->next;
    *p = w->next;
    pthread_mutex_unlock(&lock);
}

/* True: this process makes no other communicator until it gives up this claim. */
static bool claim(const struct waiting *mine)
{
    pthread_mutex_lock(&lock);
    bool may = !making;
    for (const struct waiting *w = first_waiting; w; w = w->next)
        may &= w->key >= mine->key;
    making |= may;
    pthread_mutex_unlock(&lock);
    return may;
}

static void give_up(void)
{
    pthread_mutex_lock(&lock);
    making = false;
    pthread_mutex_unlock(&lock);
}

/* Makes the communicator, at once: if a later call did, other threads would decide when, and so
 * which values are lossy. */
static struct zcomm *make_alone(MPI_Comm comm)
{
    struct zcomm *s = NULL;
    struct waiting w;
    int rc = enter(comm, &w), all = rc != MPI_SUCCESS;
    const bool entered = !rc;
    while (!all) {
        const int mine = claim(&w);
        rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
        all |= rc != MPI_SUCCESS;
        if (all && !rc)
            s = make(comm);
        if (mine)
            give_up();
        if (!all)
            sched_yield();
    }
    if (entered)
        leave(&w);
    PMPI_Comm_set_attr(comm, keyval, s ? s : &foreign);
    return s;
}

struct zcomm *zcomm_make(MPI_Comm comm)
{
    struct zcomm *s;
    if (look_up(comm, &s) || comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID)
        return s;
    if (is_ours(comm))
        return make_alone(comm);
    PMPI_Comm_set_attr(comm, keyval, &foreign);
    return NULL;
}

/* ---- zmpi.h ---- */

int zmpi_comm_set(MPI_Comm comm, const char *option, const char *value)
{
    znext_find(); /* if the MPI library stands in front of us, this is the first call */
    zruntime_unseen("zmpi_comm_set");
    struct zmpi_options checked = *zruntime_options();
    char message[256];
    if (!option || !value || !zmpi_option_concerns_comms(option) ||
        zmpi_option_set(&checked, option, value, "zmpi_comm_set", message))
        return MPI_ERR_ARG;
    struct zcomm *s = zcomm_make(comm);
    if (!s)
        return MPI_ERR_COMM;
    zmpi_option_set(&s->options, option, value, "zmpi_comm_set", message);
    note_settings(s);
    return MPI_SUCCESS;
}

int zmpi_comm_get_stats(MPI_Comm comm, struct zmpi_comm_stats *stats)
{
    znext_find();
    struct zcomm *s = zcomm_find(comm);
    if (!s)
        return MPI_ERR_COMM;
    *stats = s->stats;
    stats->bytes_offloaded = s->offload.coded.bytes;
    stats->bytes_decoded_offloaded = s->offload.decoded.bytes;
    return MPI_SUCCESS;
}
