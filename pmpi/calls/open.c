/* open.c - MPI_File_open: which files are containers, which become one, which are none of our
 * business. */
#define _GNU_SOURCE // SEEK_DATA
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "close/plain.h"
#include "close/trim.h"
#include "file/header.h"
#include "file/physical.h"
#include "file/zfile.h"
#include "hdf5/hdf5.h"
#include "mpi/policy.h"
#include "mpi/runtime.h"
#include "report/report.h"
#include "wrappers.h"

/* What rank 0 finds at the path before the file is opened. FAILED: it may be a container, but
 * cannot be read; OVERWRITTEN: it was one; LOST: its header never reached the disk; REPLACED: a
 * plain file that HDF5 makes anew. */
enum found {
    FOUND_OTHER,
    FOUND_NONE,
    FOUND_EMPTY,
    FOUND_CONTAINER,
    FOUND_FAILED,
    FOUND_OVERWRITTEN,
    FOUND_LOST,
    FOUND_REPLACED
};

/* Bytes at the beginning and the end of a file that tell what it is. */
enum { HEAD = ZMPI_HEADER_BYTES + 8, TAIL = 4096 };

/* ROMIO's names may say what file system they are on, as in "ufs:/scratch/x". To OMPIO that is a
 * part of the name, as any other word with a colon is to both. */
static const char *plain_path(const char *name)
{
    static const char *const systems[] = {"ufs",   "nfs",  "xfs",  "gpfs", "lustre", "panfs",
                                          "pvfs2", "pvfs", "daos", "ime",  "quobyte"};
    const char *colon = strchr(name, ':');
    if (!colon || access(name, F_OK) == 0)
        return name;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strlen(systems[i]) == (size_t)(colon - name) &&
            strncasecmp(name, systems[i], (size_t)(colon - name)) == 0)
            return colon + 1;
    return name;
}

/* The end is not looked at where the beginning tells: others may be cutting the file. */
static bool is_overwritten(int fd, const unsigned char *head, size_t size, off_t file_size)
{
    unsigned char tail[TAIL];
    ssize_t end = 0;
    if (!zmpi_is_container(head, size))
        end = zfd_read(fd, tail, TAIL, file_size > TAIL ? file_size - TAIL : 0);
    return zmpi_was_container(head, size, tail, end > 0 ? (size_t)end : 0);
}

static enum zmpi_status fd_read(void *context, uint64_t offset, void *dst, size_t size)
{
    return zfd_read(*(const int *)context, dst, size, (off_t)offset) == (ssize_t)size ? ZMPI_OK
                                                                                      : ZMPI_ERR_IO;
}

static uint64_t fd_data_at(void *context, uint64_t offset)
{
    const off_t data = lseek(*(const int *)context, (off_t)offset, SEEK_DATA);
    return data >= 0 ? (uint64_t)data : errno == ENXIO ? UINT64_MAX : offset;
}

/* By its first bytes; size 0: they cannot be read. */
static enum found recognise(int fd, const unsigned char *head, size_t size, off_t file_size)
{
    const struct zmpi_reader reader = {
        .read = fd_read, .data_at = fd_data_at, .context = &fd, .file_size = (uint64_t)file_size};
    if (zmpi_container_copied(head, size, &reader))
        return FOUND_CONTAINER;
    if (size == 0)
        return FOUND_FAILED;
    if (is_overwritten(fd, head, size, file_size))
        return FOUND_OVERWRITTEN;
    if (zmpi_is_container(head, size))
        return FOUND_CONTAINER;
    return zmpi_container_lost(head, size, &reader) ? FOUND_LOST : FOUND_OTHER;
}

static enum found inspect(const char *path)
{
    unsigned char head[HEAD];
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) /* the MPI library may yet get one */
        return FOUND_FAILED;
    if (fd < 0)
        return errno == ENOENT ? FOUND_NONE : FOUND_OTHER; /* the MPI library will say why */
    enum found found = FOUND_OTHER;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) {
        const ssize_t got = zfd_read(fd, head, HEAD, 0);
        const bool failed = got < (s.st_size < ZMPI_HEADER_BYTES ? s.st_size : ZMPI_HEADER_BYTES);
        found = got == 0 && !failed ? FOUND_EMPTY
                                    : recognise(fd, head, failed ? 0 : (size_t)got, s.st_size);
    }
    close(fd);
    return found;
}

/* Files that HDF5 opens are what they are whatever their names; but a list that the user has given
 * holds. */
static bool is_selected(const struct zmpi_options *o, const char *path)
{
    const bool listed = o->source[zmpi_option_index("files")] != ZMPI_FROM_DEFAULT;
    return (o->hdf5 == ZMPI_HDF5_CONTAINER && zhdf5_is_opening() && !listed) ||
           zmpi_options_file_matches(o, path);
}

/* A file that HDF5 is about to cut to nothing is a new one. (It opens it twice: first as it is.) */
static bool is_replaced(const char *path, int amode, const struct zmpi_options *o)
{
    struct stat s;
    return o->hdf5 == ZMPI_HDF5_CONTAINER && zhdf5_is_truncating() && amode & MPI_MODE_CREATE &&
           amode & MPI_MODE_RDWR && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* Rank 0 decides for all; a wrong setting of one rank is everybody's, so that no rank is left
 * alone, and so is what one rank has open by other means. */
static int decide(MPI_Comm comm, const char *path, int amode, const struct zmpi_options *o,
                  int *found, int *wrong, bool *memory)
{
    /* A bound that cannot be read is no wish for none. */
    const bool selected = is_selected(o, path);
    const bool wanted = (o->bound_set || *wrong) && selected;
    int rank, mine[4] = {FOUND_OTHER, *wrong, wanted && zdescriptors_writing(path), !*memory},
              all[4];
    int rc = PMPI_Comm_rank(comm, &rank);
    if (!rc && rank == 0) {
        mine[0] = (int)inspect(path);
        if (mine[0] == FOUND_OTHER && is_replaced(path, amode, o))
            mine[0] = wanted && !zplain_is_known(path, o) ? FOUND_REPLACED : FOUND_OTHER;
        if (mine[0] == FOUND_NONE) /* an error of the MPI library, unless it makes one */
            mine[0] = amode & MPI_MODE_CREATE ? FOUND_EMPTY : FOUND_OTHER;
        /* Who only reads is one of us too: others may be about to write. */
        if (mine[0] == FOUND_EMPTY && !wanted && amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR))
            zreport_left_alone(path, selected);
        if (mine[0] == FOUND_EMPTY && (!wanted || zplain_is_known(path, o)))
            mine[0] = FOUND_OTHER;
    }
    if (!rc)
        rc = PMPI_Allreduce(mine, all, 4, MPI_INT, MPI_MAX, comm);
    const bool ours = !rc && !((all[0] == FOUND_EMPTY || all[0] == FOUND_REPLACED) && all[2]);
    if (!rc && !ours && rank == 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: not compressed: the program has it open by other means than MPI-IO too",
                 path);
    *found = ours ? all[0] : FOUND_OTHER;
    *wrong = rc ? rc : all[1];
    *memory = !rc && !all[3];
    return rc;
}

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

/* Records that nobody has indexed, and what is none. */
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
                 "%s: %llu bytes look like records and are not: left out, and older data may be "
                 "read instead (zmpi fsck)",
                 f->path, (unsigned long long)c->damaged);
    if (c->joined)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: another container begins at byte %llu, as where files were joined: it is not "
                 "seen (zmpi decompress gives all in a row)",
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
    f->end = ZMPI_HEADER_BYTES;
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
                           "opening: another container begins at byte %llu, as where files were "
                           "joined: it would be lost (zmpi decompress gives all in a row)",
                           (unsigned long long)f->container.joined);
    if (!others)
        tell_of_the_end(f, reader.file_size);
    f->end = zmpi_pad8(reader.file_size);
    return MPI_SUCCESS;
}

/* The file was found to be ours, and is a plain one by now: the last writer gave it back (plain.c),
 * or somebody wrote to it when it was new; or another container has its name (zmpi trim). All
 * begins anew; no MPI error class. */
enum { BECAME_ANOTHER = INT_MAX };

/* Closing it, to open it again, would do something to it. */
static bool may_begin_anew(const struct zfile *f)
{
    return !(f->amode & (MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE));
}

static int raise_in_use(struct zfile *f)
{
    return zfile_raise(f, MPI_ERR_FILE_IN_USE, "somebody wrote to it while it was being opened");
}

/* A writer's session begins under its lock: of two that come together, one makes the header. */
static int create_or_load(struct zfile *f, enum found found)
{
    MPI_Offset size;
    int rc = PMPI_File_get_size(f->fh, &size);
    if (rc)
        return rc;
    f->end = ZMPI_HEADER_BYTES;
    if (zsession_replaced(f))
        return may_begin_anew(f) ? BECAME_ANOTHER : raise_in_use(f);
    if (size == 0 || (found == FOUND_REPLACED && truncate(f->place, 0) == 0))
        return zheader_create(f);
    const enum found now = inspect(f->place);
    if (now == FOUND_OTHER && may_begin_anew(f))
        return BECAME_ANOTHER;
    if (now == FOUND_CONTAINER || (found == FOUND_CONTAINER && now != FOUND_OTHER))
        return load(f);
    return raise_in_use(f);
}

static int prepare_reader(struct zfile *f)
{
    zsession_reads(f);
    if (may_begin_anew(f) && (zsession_replaced(f) || inspect(f->place) == FOUND_OTHER))
        return BECAME_ANOTHER;
    return load(f);
}

static int prepare_root(struct zfile *f, enum found found)
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

/* It is in nobody's hands yet. */
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

/* With all that every rank must have before it goes on with others. NULL: no memory. */
static struct zfile *new_file(const char *path, int amode, const struct zmpi_options *o, int ranks)
{
    struct zfile *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = *o;
    f->file_bound = o->bound;
    f->call_rules = zmpi_rules_call(o, path, 0, &(struct zmpi_bound){ZMPI_LOSSLESS, 0});
    f->slot_size = zmpi_pad8(o->staging);
    f->amode = amode;
    f->hdf5 = zhdf5_is_opening();
    f->session.fd = -1;
    f->references = 2; /* the table's and ours */
    f->path = strdup(path);
    f->place = from_root(path);
    f->shared_path = f->place ? malloc(strlen(f->place) + ZSHARED_NAME) : NULL;
    const bool made = znews_make(&f->news, ranks) && f->path && f->shared_path;
    f->comm = MPI_COMM_NULL;
    f->offload = (struct zmpi_offload){.what = f->path, .name = f->options.device};
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

/* What a rank has to itself. */
static int prepare_here(struct zfile *f, MPI_Comm comm, enum found found)
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
static int prepare(struct zfile *f, MPI_Comm comm, enum found found)
{
    int local = prepare_here(f, comm, found), worst = MPI_SUCCESS;
    int rc = PMPI_Allreduce(&local, &worst, 1, MPI_INT, MPI_MAX, comm);
    if (worst == BECAME_ANOTHER)
        return worst;
    if (local || rc || worst)
        return local ? local : rc ? rc : worst;
    rc = zindex_share(f);
    /* A container that was there already. */
    f->durable = f->end > ZMPI_HEADER_BYTES;
    if (!rc && zfile_may_write(f))
        rc = zsession_find_nodes(f);
    f->size_before = f->promised = f->container.logical_size;
    if (f->amode & MPI_MODE_APPEND)
        f->position = f->shared_start = f->container.logical_size;
    return rc;
}

/* f: taken over. */
static int open_container(struct zfile *f, MPI_Comm comm, const char *name, MPI_Info info,
                          enum found found, MPI_File *fh)
{
    int rank = 0;
    if (!PMPI_Comm_rank(comm, &rank) && rank == 0)
        zsession_before(f);
    int rc = PMPI_File_open(comm, name, physical_mode(f->amode), info, fh);
    const bool opened = !rc;
    if (!rc) {
        f->fh = *fh;
        f->program = comm;
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
            zhdf5_wanted();
        zfile_add(f);
        zfile_done(f);
    }
    return rc;
}

static int open_as_found(MPI_Comm comm, const char *filename, int amode, MPI_Info info,
                         MPI_File *fh)
{
    const char *path = plain_path(filename);
    struct zmpi_options o = *zruntime_options();
    char message[256] = "a setting of another rank is wrong";
    int found, ranks = 1,
               wrong = zmpi_options_for_file(&o, path, message) ? MPI_ERR_INFO_VALUE : MPI_SUCCESS;
    if (!wrong)
        wrong = zpolicy_hints(&o, info, message);
    /* Calls that no rule names are exact then. */
    struct zmpi_bound of_calls;
    if (!o.bound_set && zmpi_rules_call(&o, path, 0, &of_calls)) {
        o.bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
        o.bound_set = true;
    }
    PMPI_Comm_size(comm, &ranks);
    struct zfile *f = new_file(path, amode, &o, ranks);
    bool memory = f != NULL;
    int rank = 0, rc = decide(comm, path, amode, &o, &found, &wrong, &memory);
    if (!rc && !PMPI_Comm_rank(comm, &rank) && rank == 0) {
        zpolicy_look_for_misspelt(info);
        if (found != FOUND_OTHER && !wrong)
            zruntime_check_device(&o, path);
    }
    if (!rc && memory && !wrong &&
        (found == FOUND_CONTAINER || found == FOUND_EMPTY || found == FOUND_REPLACED))
        return open_container(f, comm, filename, info, (enum found)found, fh);
    if (f)
        drop_file(f);
    if (rc)
        return rc;
    if (found == FOUND_FAILED)
        return zraise_no_file(MPI_ERR_IO,
                              "%s: reading its first bytes failed, and it may be compressed: see "
                              "the limit on open files (ulimit -n) and the system log",
                              path);
    if (found == FOUND_OVERWRITTEN)
        return zraise_no_file(
            MPI_ERR_IO,
            "%s: is compressed, and its first bytes were written over by other "
            "means than MPI-IO: they may be that program's data (docs/limits.md); "
            "zmpi recover saves what can be read of the rest",
            path);
    if (found == FOUND_LOST)
        return zraise_no_file(
            MPI_ERR_IO,
            "%s: is compressed, and its first bytes never reached the disk, since "
            "the machine stopped before they were synchronised: zmpi recover saves "
            "what can be read",
            path);
    if (wrong && found != FOUND_OTHER)
        return zraise_no_file(wrong, "%s: %s", path, message);
    if (found == FOUND_OTHER)
        return PMPI_File_open(comm, filename, amode, info, fh);
    return zraise_no_file(MPI_ERR_NO_MEM, "%s: no memory on some rank to open it", path);
}

static int open_any(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    for (int tries = 0; tries < 10; tries++) {
        int rc = open_as_found(comm, filename, amode, info, fh);
        if (rc != BECAME_ANOTHER)
            return rc;
    }
    return zraise_no_file(MPI_ERR_FILE_IN_USE, "%s: becomes another file all the time", filename);
}

/*
 * Some processes of the communicator may have no such library: nothing may be asked of them. Who
 * has it gets no compressed bytes for data; the file stays open, since closing it waits for others.
 */
static int open_plain(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *path = plain_path(filename);
    const struct zmpi_options *o = zruntime_options();
    const enum found found = inspect(path);
    int rank = -1, rc = PMPI_File_open(comm, filename, amode, info, fh);
    if (rc)
        return rc;
    if (found == FOUND_CONTAINER) {
        *fh = MPI_FILE_NULL;
        return zraise_no_file(MPI_ERR_UNSUPPORTED_OPERATION,
                              "%s: is compressed, and libzmpi.so may be missing in processes that "
                              "open it too (another program of the job, or another MPI_COMM_WORLD)",
                              path);
    }
    const bool wanted = o->bound_set && is_selected(o, path);
    if (wanted && (found == FOUND_EMPTY || found == FOUND_NONE) && !PMPI_Comm_rank(comm, &rank) &&
        rank == 0 && zruntime_agreed() && !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: not compressed, as are other files that are opened together with processes "
                 "of another MPI_COMM_WORLD: they may run without libzmpi.so",
                 path);
    return MPI_SUCCESS;
}

int zw_file_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    if (comm == MPI_COMM_NULL) /* MPI says so, by the handler of files */
        return PMPI_File_open(comm, filename, amode, info, fh);
    zdescriptors_opening(true);
    int rc = zruntime_all_have_it(comm) ? open_any(comm, filename, amode, info, fh)
                                        : open_plain(comm, filename, amode, info, fh);
    zdescriptors_opening(false);
    return rc;
}

int zw_file_delete(const char *filename, MPI_Info info)
{
    return PMPI_File_delete(filename, info);
}

/* Nothing was written to a new file: leave it as empty as without us. */
static bool still_empty(const struct zfile *f)
{
    return f->container.count == 0 && f->container.logical_size == 0;
}

static int finish(struct zfile *f)
{
    int rc = zsettle_collective(f), dirty = f->dirty, any = 0;
    uint64_t mine[3] = {f->container.count, f->stats.n.bytes_written, 0}, all[3] = {0};
    if (f->rank == 0)
        mine[2] = ztrim_wanted(f);
    PMPI_Allreduce(&dirty, &any, 1, MPI_INT, MPI_MAX, f->comm);
    PMPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, f->comm);
    const bool empty = all[0] == 0 && still_empty(f);
    if (any && !empty && !f->session.shared) {
        int indexed = zindex_write(f);
        rc = rc ? rc : indexed;
        zplain_give_back(f, rc);
        if (!f->plain && all[1] >= all[2])
            ztrim(f, indexed == MPI_SUCCESS);
    }
    int left = zsession_leave(f, empty);
    return zfile_alike(f, rc ? rc : left);
}

int zf_file_close(struct zfile *f, MPI_File *fh)
{
    int rc = zfile_may_write(f) ? finish(f) : MPI_SUCCESS;
    zthrough_free(f);
    zbackground_free(f);
    zreport_file(f); /* after this nobody uses the shared pointer any more */
    zshared_remove(f);
    zfile_remove(f);
    int closed = PMPI_File_close(fh);
    if (zfile_may_write(f))
        closed = zfile_worst(f, closed);
    zsession_free(f);
    PMPI_Comm_free(&f->comm);
    return rc ? rc : closed;
}
