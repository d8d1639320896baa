/* unbound.c - see unbound.h. */
#include "calls/unbound.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mpi/policy.h"
#include "mpi/runtime.h"

struct unbound {
    struct unbound *next;
    MPI_File fh;
    MPI_Comm comm;
    struct zmpi_options options;
    int amode;
    zunbound_open *again;
    char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unbound *list;
static atomic_int count; /* read without the lock: mostly there is none */

/* The link of the list that points to it. With the lock. */
static struct unbound **place_of(MPI_File fh)
{
    struct unbound **at = &list;
    while (*at && (*at)->fh != fh)
        at = &(*at)->next;
    return at;
}

static struct unbound *find(MPI_File fh)
{
    if (atomic_load_explicit(&count, memory_order_acquire) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    struct unbound *u = *place_of(fh);
    pthread_mutex_unlock(&lock);
    return u;
}

void zunbound_opened(MPI_Comm comm, const char *name, int amode, const struct zmpi_options *o,
                     MPI_File fh, zunbound_open *again)
{
    const size_t length = strlen(name) + 1;
    struct unbound *u = malloc(sizeof *u + length);
    if (u) {
        *u = (struct unbound){
            .fh = fh, .comm = MPI_COMM_NULL, .options = *o, .amode = amode, .again = again};
        memcpy(u->name, name, length);
    }
    if (!zruntime_all(comm, u != NULL) || zruntime_comm(comm, &u->comm)) {
        free(u);
        return;
    }
    pthread_mutex_lock(&lock);
    u->next = list;
    list = u;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add_explicit(&count, 1, memory_order_release);
}

void zunbound_closed(MPI_File fh)
{
    if (!find(fh))
        return;
    pthread_mutex_lock(&lock);
    struct unbound **at = place_of(fh), *u = *at;
    *at = u->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&count, 1, memory_order_release);
    PMPI_Comm_free(&u->comm);
    free(u);
}

static void release(MPI_Datatype *type)
{
    if (!ztype_is_predefined(*type))
        PMPI_Type_free(type);
}

/* Nothing was written, and its view can be a container's. */
static bool is_empty(MPI_File fh)
{
    MPI_Offset size = 1, disp;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING + 1] = "";
    if (PMPI_File_get_size(fh, &size) || size != 0 ||
        PMPI_File_get_view(fh, &disp, &etype, &filetype, datarep))
        return false;
    release(&etype);
    release(&filetype);
    return strcasecmp(datarep, "native") == 0 || strcasecmp(datarep, "internal") == 0;
}

/* What the ranks know together; each is not 0 if it is so on some rank. */
struct state {
    int wrong, bound, used;
};

static int agree(const struct unbound *u, int wrong, const struct zmpi_options *o,
                 struct state *all)
{
    struct state mine = {wrong, o->bound_set, !is_empty(u->fh)};
    return PMPI_Allreduce(&mine, all, 3, MPI_INT, MPI_MAX, u->comm);
}

/* It stays plain for good if something was written, and waits on if there is still no bound. */
static int open_if_empty(struct unbound *u, const struct zmpi_options *o, const struct state *all)
{
    const MPI_File fh = u->fh;
    int rc = MPI_SUCCESS, rank = 0;
    u->options = *o;
    if (!all->used && !all->bound)
        return MPI_SUCCESS;
    if (!all->used) {
        if (PMPI_Comm_rank(u->comm, &rank) == 0 && rank == 0)
            zruntime_check_device(o, u->name);
        rc = u->again(u->comm, u->name, u->amode, o, fh);
    }
    zunbound_closed(fh);
    return rc;
}

int zunbound_hints(MPI_File fh, MPI_Info info)
{
    struct unbound *u = find(fh);
    char message[256] = "a hint of another rank is wrong";
    if (!u)
        return MPI_SUCCESS;
    struct zmpi_options o = u->options;
    struct state all = {0};
    const int wrong = zpolicy_hints(&o, info, message);
    int rank = 0, rc = agree(u, wrong, &o, &all);
    if (!rc && all.wrong) {
        rc = wrong ? wrong : MPI_ERR_INFO_VALUE;
        zmpi_log(ZMPI_LOG_ERROR, "%s: %s", u->name, message);
        PMPI_File_call_errhandler(fh, rc);
    }
    if (rc)
        return rc;
    if (!all.used && all.bound && PMPI_Comm_rank(u->comm, &rank) == 0 && rank == 0)
        zpolicy_look_for_misspelt(info);
    return open_if_empty(u, &o, &all);
}

int zunbound_bound(MPI_File fh, const struct zmpi_bound *bound)
{
    struct unbound *u = find(fh);
    if (!u)
        return MPI_ERR_FILE;
    struct zmpi_options o = u->options;
    struct state all = {0};
    if (bound) {
        o.bound = *bound;
        o.bound_set = true;
        zmpi_option_called(&o, "error_bound");
    }
    int rc = agree(u, !bound, &o, &all);
    if (rc || all.wrong)
        return rc ? rc : MPI_ERR_ARG;
    rc = open_if_empty(u, &o, &all);
    struct zfile *f = rc ? NULL : zfile_find(fh);
    if (f)
        zfile_done(f);
    return f || rc ? rc : MPI_ERR_FILE;
}
