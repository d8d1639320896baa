/* open.c - MPI_File_open: which files are containers, which become one, which are none of our
 * business. */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/access.h"
#include "calls/dry_run.h"
#include "calls/found.h"
#include "calls/unbound.h"
#include "close/decompress.h"
#include "close/replace.h"
#include "close/trim.h"
#include "file/zfile.h"
#include "index/header.h"
#include "hdf5/hdf5.h"
#include "hdf5/hdf5_several.h"
#include "mpi/policy.h"
#include "mpi/runtime.h"
#include "report/report.h"
#include "wrappers.h"

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

/* The file was found to be ours, and is a plain one by now: the last writer gave it back
 * (decompress.c), or somebody wrote to it when it was new; or another container has its name (zmpi
 * trim). All begins anew; no MPI error class. */
enum { BECAME_ANOTHER = INT_MAX };

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
        return may_start_over(f) ? BECAME_ANOTHER : raise_in_use(f);
    if (size == 0 || (found == ZFOUND_REPLACED && truncate(f->place, 0) == 0))
        return zheader_create(f);
    const enum zfound now = zfound_at(f->place);
    if (is_plain(now) && may_start_over(f))
        return BECAME_ANOTHER;
    if (now == ZFOUND_CONTAINER || (found == ZFOUND_CONTAINER && !is_plain(now)))
        return load(f);
    return raise_in_use(f);
}

static int prepare_reader(struct zfile *f)
{
    zsession_reads(f);
    if (may_start_over(f) && (zsession_replaced(f) || is_plain(zfound_at(f->place))))
        return BECAME_ANOTHER;
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

/* No other thread or rank has it yet. */
static void drop_file(struct zfile *f)
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

/* A struct zfile with all that every rank must have before it goes on with others. NULL: no memory.
 */
static struct zfile *new_file(const char *path, int amode, const struct zmpi_options *o, int ranks)
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
    drop_file(f);
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
    if (worst == BECAME_ANOTHER)
        return worst;
    if (local || rc || worst)
        return local ? local : rc ? rc : worst;
    rc = zindex_share(f);
    /* A container that was there already. */
    f->durable.some = f->log.end > ZMPI_HEADER_BYTES;
    if (!rc && zfile_may_write(f))
        rc = zsession_find_nodes(f);
    if (!rc && zfile_may_write(f))
        rc = ztrim_share(f);
    f->size_before = f->durable.below = f->container.logical_size;
    if (f->amode & MPI_MODE_APPEND)
        f->position = f->shared.start = f->container.logical_size;
    return rc;
}

/* f: taken over. The handle of a file that is open already remains the program's. */
static int open_container(struct zfile *f, MPI_Comm comm, const char *name, MPI_Info info,
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
        drop_file(f);
    } else {
        if (f->options.hdf5 == ZMPI_HDF5_CONTAINER && zfile_may_write(f))
            zhdf5_wanted((uint64_t)f->options.exact_below);
        zfile_add(f);
        zfile_done(f);
    }
    return rc;
}

/* Takes over the state that the plain file had. */
static int take_state(struct zfile *f)
{
    MPI_Errhandler handler;
    if (!PMPI_File_get_errhandler(f->handle, &handler)) {
        zfile_set_handler(f, handler);
        PMPI_Errhandler_free(&handler);
    }
    int atomic = 0, rc = zposition_take(f, f->handle);
    if (!rc && !PMPI_File_get_atomicity(f->handle, &atomic) && atomic)
        rc = zf_file_set_atomicity(f, atomic);
    return zfile_alike(f, rc);
}

static int open_again(MPI_Comm comm, const char *name, int amode, const struct zmpi_options *o,
                      MPI_File handle)
{
    int ranks = 1;
    MPI_File fh;
    PMPI_Comm_size(comm, &ranks);
    struct zfile *f = new_file(zfound_path(name), amode, o, ranks);
    if (!zruntime_all(comm, f != NULL)) {
        if (f)
            drop_file(f);
        return MPI_SUCCESS;
    }
    f->handle = handle;
    int rc = open_container(f, comm, name, MPI_INFO_NULL, ZFOUND_EMPTY, &fh);
    if (rc == BECAME_ANOTHER)
        return MPI_SUCCESS;
    f = rc ? NULL : zfile_find(handle);
    if (f) {
        rc = take_state(f);
        zfile_done(f);
    }
    return rc;
}

/* The container's place instead of the plain file's. */
static bool move_place(struct zfile *f, const char *place)
{
    free(f->place);
    free(f->shared.path);
    f->place = strdup(place);
    f->shared.path = malloc(strlen(place) + ZSHARED_NAME);
    return f->place && f->shared.path;
}

/* f: taken over. Collective: the container beside a plain file is open, and has what it must have.
 * What goes wrong there is no error of the program's. */
static bool open_beside(struct zfile *f, MPI_Comm comm, struct zreplace *r, MPI_Info info)
{
    const MPI_File program = f->handle;
    MPI_File container;
    f->replace = r;
    if (open_container(f, comm, zreplace_place(r), info, ZFOUND_EMPTY, &container))
        return false;
    f = zfile_find(program);
    MPI_Errhandler handler = zfile_silence_errors(f);
    int rc = zf_file_preallocate(f, (MPI_Offset)zreplace_size(r));
    rc = rc ? rc : zreplace_fill(f);
    if (f->amode & MPI_MODE_APPEND)
        f->position = f->shared.start = zreplace_size(r);
    zfile_restore_handler(f, handler);
    const bool ok = zruntime_all(comm, !rc);
    if (!ok)
        zclose_unused(f);
    zfile_done(f);
    return ok;
}

/* Collective: a plain file, and the container beside it that is to replace it. f: taken over. What
 * goes wrong leaves it plain. */
static int open_there(struct zfile *f, MPI_Comm comm, const char *name, MPI_Info info, MPI_File *fh)
{
    struct zreplace *r = zreplace_begin(comm, f->path, &f->options);
    int rank = 0, rc = PMPI_File_open(comm, name, f->amode, info, fh);
    const bool begun = r && zruntime_all(comm, !rc && move_place(f, zreplace_place(r))) &&
                       zreplace_opened(r, comm);
    f->handle = begun ? *fh : MPI_FILE_NULL;
    if (!begun)
        drop_file(f);
    else if (open_beside(f, comm, r, info))
        return MPI_SUCCESS;
    if (r)
        zreplace_drop(r);
    if (!rc && !PMPI_Comm_rank(comm, &rank) && rank == 0)
        zreport_left_alone(zfound_path(name), ZLEFT_THERE, false);
    return rc;
}

static bool is_new_file(int found)
{
    return found == ZFOUND_EMPTY || found == ZFOUND_REPLACED || found == ZFOUND_UNBOUND ||
           found == ZFOUND_THERE;
}

/* f: taken over. */
static int open_dry(struct zfile *f, MPI_Comm comm, const char *name, MPI_Info info, bool bound,
                    MPI_File *fh)
{
    int rc = PMPI_File_open(comm, name, f->amode, info, fh);
    if (rc)
        drop_file(f);
    else
        zdry_opened(f, comm, *fh, bound);
    return rc;
}

/* A dry run changes no value: what it writes into a container that is there is exact. */
static void make_exact(struct zfile *f)
{
    f->options.bound = f->file_bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    f->options.bound_set = true;
    f->call_rules = f->hdf5 = false; /* they may have other bounds */
}

static int open_as_found(MPI_Comm comm, const char *filename, int amode, MPI_Info info,
                         MPI_File *fh)
{
    const char *path = zfound_path(filename);
    struct zmpi_options o = *zruntime_options();
    char message[256] = "a setting of another rank is wrong";
    int found, ranks = 1,
               wrong = zmpi_options_for_file(&o, path, message) ? MPI_ERR_INFO_VALUE : MPI_SUCCESS;
    if (!wrong)
        wrong = zpolicy_hints(&o, info, message);
    const bool datasets = zhdf5_is_opening() && zmpi_rules_dataset(&o, NULL, NULL);
    if (datasets && o.source[zmpi_option_index("hdf5")] == ZMPI_FROM_DEFAULT)
        o.hdf5 = ZMPI_HDF5_CONTAINER;
    /* Then data that no rule names are exact. */
    struct zmpi_bound of_calls;
    if (!o.bound_set && (datasets || zmpi_rules_call(&o, path, 0, &of_calls))) {
        o.bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
        o.bound_set = true;
    }
    PMPI_Comm_size(comm, &ranks);
    const bool dry = zruntime_options()->dry_run, bound = o.bound_set;
    struct zfile *f = new_file(path, amode, &o, ranks);
    bool memory = f != NULL;
    int rank = 0, rc = zfound_decide(comm, path, amode, &o, &found, &wrong, &memory);
    if (!rc && !PMPI_Comm_rank(comm, &rank) && rank == 0) {
        zpolicy_look_for_misspelt(info);
        if (found != ZFOUND_OTHER && !wrong)
            zruntime_check_device(&o, path);
    }
    if (f && dry && found == ZFOUND_CONTAINER)
        make_exact(f);
    if (!rc && memory && !wrong &&
        (found == ZFOUND_CONTAINER ||
         (!dry && (found == ZFOUND_EMPTY || found == ZFOUND_REPLACED))))
        return open_container(f, comm, filename, info, (enum zfound)found, fh);
    if (!rc && memory && !wrong && found == ZFOUND_THERE && !dry)
        return open_there(f, comm, filename, info, fh);
    if (dry && !rc && memory && !wrong && is_new_file(found))
        return open_dry(f, comm, filename, info, bound, fh);
    if (f)
        drop_file(f);
    if (rc)
        return rc;
    if (found == ZFOUND_FAILED)
        return zraise_no_file(MPI_ERR_IO,
                              "%s: reading its first bytes failed, and it may be compressed: see "
                              "the limit on open files (ulimit -n) and the system log",
                              path);
    if (found == ZFOUND_OVERWRITTEN)
        return zraise_no_file(
            MPI_ERR_IO,
            "%s: is compressed, and its first bytes were written over by other "
            "means than MPI-IO: zmpi recover --plain saves that program's data, zmpi recover what "
            "can be read of the rest (docs/limits.md)",
            path);
    if (found == ZFOUND_LOST)
        return zraise_no_file(
            MPI_ERR_IO,
            "%s: is compressed, and its first bytes never reached the disk, since "
            "the machine stopped before they were synchronised: zmpi recover saves "
            "what can be read",
            path);
    if (wrong && found != ZFOUND_OTHER)
        return zraise_no_file(wrong, "%s: %s", path, message);
    if (found == ZFOUND_OTHER || found == ZFOUND_UNBOUND)
        rc = PMPI_File_open(comm, filename, amode, info, fh);
    if (found == ZFOUND_UNBOUND && !rc)
        zunbound_opened(comm, filename, amode, &o, *fh, open_again);
    if (found == ZFOUND_OTHER || found == ZFOUND_UNBOUND)
        return rc;
    return zraise_no_file(MPI_ERR_NO_MEM, "%s: no memory on some rank to open it", path);
}

static int open_any(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    for (int tries = 0; tries < 10; tries++) {
        int rc = open_as_found(comm, filename, amode, info, fh);
        if (rc != BECAME_ANOTHER)
            return rc;
    }
    return zraise_no_file(MPI_ERR_FILE_IN_USE, "%s: another file keeps taking its place", filename);
}

/*
 * Some processes of the communicator may have no such library: nothing may be asked of them. Who
 * has it gets no compressed bytes for data; the file stays open, since closing it waits for others.
 */
static int open_plain(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *path = zfound_path(filename);
    const struct zmpi_options *o = zruntime_options();
    const enum zfound found = zfound_at(path);
    int rank = -1, rc = PMPI_File_open(comm, filename, amode, info, fh);
    if (rc)
        return rc;
    if (found == ZFOUND_CONTAINER) {
        *fh = MPI_FILE_NULL;
        return zraise_no_file(MPI_ERR_UNSUPPORTED_OPERATION,
                              "%s: is compressed, and libzmpi.so may be missing in processes that "
                              "open it too (another program of the job, or another MPI_COMM_WORLD)",
                              path);
    }
    const bool wanted = o->bound_set && zfound_is_selected(o, path);
    if (wanted && (found == ZFOUND_EMPTY || found == ZFOUND_NONE) && !PMPI_Comm_rank(comm, &rank) &&
        rank == 0 && zruntime_agreed() && !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: not compressed, as are other files that are opened together with processes "
                 "of another MPI_COMM_WORLD: they may run without libzmpi.so",
                 path);
    return MPI_SUCCESS;
}

int zw_file_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    if (comm == MPI_COMM_NULL /* MPI says so, by the handler of files */ || zruntime_off())
        return PMPI_File_open(comm, filename, amode, info, fh);
    zdescriptors_opening(true);
    int rc = zruntime_all_have_it(comm) ? open_any(comm, filename, amode, info, fh)
                                        : open_plain(comm, filename, amode, info, fh);
    zdescriptors_opening(false);
    int ranks = 1;
    if (!rc && !PMPI_Comm_size(comm, &ranks))
        zhdf5_several_opened(*fh, ranks);
    return rc;
}

int zw_file_delete(const char *filename, MPI_Info info)
{
    return PMPI_File_delete(filename, info);
}
