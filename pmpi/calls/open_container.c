/* open_container.c - opens a container, or makes one: rank 0 makes the header or loads the index
 * under the lock of its session, and all ranks get what they must have. */
#include "calls/open.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "close/trim.h"
#include "hdf5/hdf5.h"
#include "index/header.h"
#include "mpi/runtime.h"

/* The mode the container itself needs: writers read the header and the index, positions are ours.
 * What may not be is left to the MPI library to refuse. */
static int physical_mode(int amode)
{
    if (amode & MPI_MODE_RDWR && amode & (MPI_MODE_SEQUENTIAL | MPI_MODE_WRONLY))
        return amode;
    int mode = amode & ~(MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL);
    if (mode & MPI_MODE_WRONLY)
        mode = (mode & ~MPI_MODE_WRONLY) | MPI_MODE_RDWR;
    return mode;
}

/* Logs records without an index, and bytes that are no records. */
static void tell_of_the_end(const struct zfile *f, uint64_t file_size)
{
    const struct zmpi_container *c = &f->container;
    if (c->copied)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: its header is damaged, and the copy of it at the end was taken (zmpi fsck "
                 "--repair mends it)",
                 f->path);
    if (c->damaged)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: %llu bytes look like records and are damaged: reads leave them out and may "
                 "return older data (zmpi fsck)",
                 f->path, (unsigned long long)c->damaged);
    if (c->joined)
        zmpi_log(
            ZMPI_LOG_WARN,
            "%s: another container begins at byte %llu, perhaps since files were joined: MPI-IO "
            "reads the first alone (zmpi decompress writes all in a row)",
            f->path, (unsigned long long)c->joined);
    if (c->scanned)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: was not closed properly; %llu records found by scanning (zmpi fsck --repair "
                 "writes the index)",
                 f->path, (unsigned long long)c->scanned);
    else if (c->indexed && file_size > c->header.log_end && !c->joined)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: the last %llu bytes are not seen: appended by other means than MPI-IO, or "
                 "never finished",
                 f->path, (unsigned long long)(file_size - c->header.log_end));
}

/* Rank 0: the directory of the index, or what a scan of the log finds. */
static int load(struct zfile *f)
{
    struct zmpi_reader reader = zfile_reader(f);
    f->log.end = ZMPI_HEADER_BYTES;
    if (reader.file_size == 0) /* until somebody writes, and we synchronise */
        return MPI_SUCCESS;
    const bool others = zsession_others(f);
    if (!others) /* whose data this kernel need not know of yet */
        reader.data_at = zfile_data_at;
    enum zmpi_status status = zmpi_container_open_lazily(&f->container, &reader);
    if (!status && zfile_may_read(f))
        status = zindex_read_small(&f->container, &reader);
    if (status)
        return zfile_raise_status(f, status, "opening");
    if (!zmpi_container_whole(&f->container))
        return zindex_not_whole(f);
    if (f->container.header_lost && zfile_may_write(f))
        return zfile_raise(f, MPI_ERR_IO,
                           "opening: its header is damaged; it can be read, by the copy at its "
                           "end, but not be written to (zmpi fsck --repair mends it)");
    if (f->container.joined && zfile_may_write(f))
        return zfile_raise(f, MPI_ERR_IO,
                           "opening: another container begins at byte %llu, perhaps since files "
                           "were joined: it would be lost (zmpi decompress writes all in a row)",
                           (unsigned long long)f->container.joined);
    if (!others)
        tell_of_the_end(f, reader.file_size);
    f->log.end = zmpi_pad8(reader.file_size);
    return MPI_SUCCESS;
}

/* Closing it, to open it again, would do something to it. */
static bool may_start_over(const struct zfile *f)
{
    return !(f->amode & (MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE));
}

static int raise_in_use(struct zfile *f)
{
    return zfile_raise(f, MPI_ERR_FILE_IN_USE, "somebody wrote to it while it was being opened");
}

static bool is_plain(enum zfound found)
{
    return found == ZFOUND_OTHER || found == ZFOUND_PLAIN_OVER;
}

/* A writer's session begins under its lock: of two that come together, one makes the header. */
static int create_or_load(struct zfile *f, enum zfound found)
{
    MPI_Offset size;
    int rc = PMPI_File_get_size(f->fh, &size);
    if (rc)
        return rc;
    f->log.end = ZMPI_HEADER_BYTES;
    if (zsession_replaced(f))
        return may_start_over(f) ? ZOPEN_BECAME_ANOTHER : raise_in_use(f);
    if (size == 0 || (found == ZFOUND_REPLACED && truncate(f->place, 0) == 0))
        return zheader_create(f);
    const enum zfound now = zfound_at(f->place);
    if (is_plain(now) && may_start_over(f))
        return ZOPEN_BECAME_ANOTHER;
    if (now == ZFOUND_CONTAINER || (found == ZFOUND_CONTAINER && !is_plain(now)))
        return load(f);
    return raise_in_use(f);
}

static int prepare_reader(struct zfile *f)
{
    zsession_reads(f);
    if (may_start_over(f) && (zsession_replaced(f) || is_plain(zfound_at(f->place))))
        return ZOPEN_BECAME_ANOTHER;
    return load(f);
}

static int prepare_root(struct zfile *f, enum zfound found)
{
    if (!zfile_may_write(f))
        return prepare_reader(f);
    zsession_enter(f);
    int rc = create_or_load(f, found);
    if (rc) {
        zsession_refused(f);
        return rc;
    }
    ztrim_begin(f);
    return zsession_started(f);
}

void zopen_drop_file(struct zfile *f)
{
    zsession_free(f);
    f->references = 1;
    zfile_done(f);
}

static char *from_root(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof folder))
        return strdup(path);
    const size_t before = strlen(folder), size = before + 1 + strlen(path) + 1;
    if (size > PATH_MAX) /* the system would refuse it */
        return strdup(path);
    char *whole = malloc(size);
    if (whole) {
        memcpy(whole, folder, before);
        whole[before] = '/';
        memcpy(whole + before + 1, path, size - before - 1);
    }
    return whole;
}

struct zfile *zopen_new_file(const char *path, int amode, const struct zmpi_options *o, int ranks)
{
    struct zfile *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = *o;
    f->file_bound = o->bound;
    f->call_rules = zmpi_rules_call(o, path, 0, &(struct zmpi_bound){ZMPI_LOSSLESS, 0});
    f->log.slot_size = zmpi_pad8(o->staging);
    f->amode = amode;
    f->hdf5 = zhdf5_is_opening();
    f->session.fd = -1;
    f->references = 2; /* the table's and ours */
    f->path = strdup(path);
    f->place = from_root(path);
    f->shared.path = f->place ? malloc(strlen(f->place) + ZSHARED_NAME) : NULL;
    const bool made = znews_make(&f->news, ranks) && f->path && f->shared.path;
    f->comm = MPI_COMM_NULL;
    f->offload = (struct zmpi_offload){.what = f->path, .name = f->options.device};
    f->handle = MPI_FILE_NULL;
    f->view = (struct zview){.etype = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL};
    zmpi_container_init(&f->container);
    /* Recursive: an error handler may ask about the file that it is called for. */
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    int locked = pthread_mutex_init(&f->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    if (!locked)
        pthread_mutex_lock(&f->lock);
    if (made && !locked)
        return f;
    zopen_drop_file(f);
    return NULL;
}

/* Sets the members that differ from rank to rank. */
static int prepare_here(struct zfile *f, MPI_Comm comm, enum zfound found)
{
    PMPI_Comm_rank(comm, &f->rank);
    PMPI_Comm_size(comm, &f->ranks);
    int rc = zruntime_comm(comm, &f->comm);
    if (rc)
        return rc;
    rc = zview_default(&f->view);
    return !rc && f->rank == 0 ? prepare_root(f, found) : rc;
}

/* Collective: everything after the MPI library opened the file. It fails on all ranks or on none.
 */
static int prepare(struct zfile *f, MPI_Comm comm, enum zfound found)
{
    int local = prepare_here(f, comm, found), worst = MPI_SUCCESS;
    int rc = PMPI_Allreduce(&local, &worst, 1, MPI_INT, MPI_MAX, comm);
    if (worst == ZOPEN_BECAME_ANOTHER)
        return worst;
    if (local || rc || worst)
        return local ? local : rc ? rc : worst;
    rc = zindex_share(f);
    /* A container that was there already. */
    f->durable.some = f->log.end > ZMPI_HEADER_BYTES;
    if (!rc && zfile_may_write(f))
        rc = zsession_find_nodes(f);
    if (!rc && zfile_may_write(f) && f->log.end < zsession_log_begin(f))
        f->log.end = zsession_log_begin(f);
    if (!rc && zfile_may_write(f))
        rc = ztrim_share(f);
    f->size_before = f->durable.below = f->container.logical_size;
    if (f->amode & MPI_MODE_APPEND)
        f->position = f->shared.start = f->container.logical_size;
    return rc;
}

int zopen_container(struct zfile *f, MPI_Comm comm, const char *name, MPI_Info info,
                    enum zfound found, MPI_File *fh)
{
    int rank = 0;
    if (!PMPI_Comm_rank(comm, &rank) && rank == 0)
        zsession_before(f);
    const bool is_open = f->handle != MPI_FILE_NULL;
    const int only_first = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE;
    const int mode = physical_mode(f->amode) & ~(is_open ? only_first : 0);
    int rc = PMPI_File_open(comm, name, mode, info, fh);
    const bool opened = !rc;
    if (!rc) {
        f->fh = *fh;
        f->handle = is_open ? f->handle : *fh;
        f->program = is_open ? MPI_COMM_NULL : comm;
        zfile_note_handler(f);
        rc = prepare(f, comm, found);
    }
    if (rc) {
        if (opened)
            PMPI_File_close(fh);
        if (f->comm != MPI_COMM_NULL)
            PMPI_Comm_free(&f->comm);
        zopen_drop_file(f);
    } else {
        if (f->options.hdf5 == ZMPI_HDF5_CONTAINER && zfile_may_write(f))
            zhdf5_wanted((uint64_t)f->options.exact_below);
        zfile_add(f);
        zfile_done(f);
    }
    return rc;
}
