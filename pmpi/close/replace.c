/* replace.c - see replace.h. */
#define _GNU_SOURCE // F_OFD_GETLK
#include "close/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/magic.h"
#include "close/beside.h"
#include "close/copy_share.h"
#include "close/decompress.h"
#include "file/physical.h"
#include "index/header.h"
#include "mpi/descriptors.h"
#include "mpi/runtime.h"

/* Bytes copied at a time. */
#define PIECE ((size_t)4 << 20)
/* With fewer bytes of floats the file stays plain. */
#define FLOATS_LEAST ((uint64_t)64 << 10)

struct zreplace {
    struct {
        char plain[PATH_MAX], beside[PATH_MAX]; /* without links */
        uint64_t size;                          /* of the plain file */
        uint64_t most;                          /* the most bytes that are copied */
    } n;                                        /* rank 0's, sent to all */
    struct stat was;                            /* the plain file when it was opened */
    uint64_t below;  /* bytes of the plain file that count: its size, or what set_size has left */
    uint64_t after;  /* order of the records with the former data */
    int fd;          /* the plain file, open for writing; -1: none */
    int descriptors; /* that this process has of the plain file */
    bool synced;     /* the container has the name of a synced one */
};

/* ---- may it be? ---- */

/* Does the file have the format of another library? Then it stays plain. */
static bool has_format(const char *path)
{
    unsigned char head[ZMPI_MAGIC_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd < 0 ? -1 : zfd_read(fd, head, sizeof head, 0);
    if (fd >= 0)
        close(fd);
    return got < 0 || zmpi_magic_find(head, (size_t)got);
}

static bool is_space(const char *path, uint64_t size)
{
    struct statvfs v;
    return statvfs(path, &v) == 0 && v.f_bavail * v.f_frsize >= size && zbeside_may_be_long(size);
}

/* If the program may read the file, its data must be copied first. If it appends, they are copied
 * in any case. */
bool zreplace_may(MPI_Comm comm, const char *path, int amode, const struct zmpi_options *o)
{
    const int never =
        MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_SEQUENTIAL | MPI_MODE_RDONLY;
    const bool anew = amode & MPI_MODE_WRONLY && !(amode & MPI_MODE_APPEND);
    struct stat s;
    int ranks = 0, all = 0;
    if (amode & never || !o->bound_set || !zruntime_agreed() || PMPI_Comm_size(comm, &ranks) ||
        PMPI_Comm_size(MPI_COMM_WORLD, &all) || ranks != all)
        return false;
    if (stat(path, &s) || !S_ISREG(s.st_mode) || s.st_size == 0 || s.st_nlink != 1)
        return false;
    return (anew || (uint64_t)s.st_size <= o->adopt_below) && !has_format(path) &&
           !zdecompress_is_known(path, o) && is_space(path, (uint64_t)s.st_size);
}

/* ---- begin ---- */

/* Is a container of that name left over from a run that was killed? */
static bool is_left(const char *name)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    const bool alone = fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type == F_UNLCK;
    close(fd);
    return alone;
}

/* Has a close finished this container? Then it may be the only copy: that close could not write
 * into the plain file, or was killed while it did. */
static bool is_whole(const char *name)
{
    unsigned char head[ZMPI_HEADER_BYTES];
    struct zmpi_header h;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd < 0 ? -1 : zfd_read(fd, head, sizeof head, 0);
    if (fd >= 0)
        close(fd);
    return got == (ssize_t)sizeof head && !zmpi_header_decode(&h, head) && h.index_length;
}

static bool make_container(struct zreplace *r, const char *path)
{
    char synced[PATH_MAX];
    struct stat s;
    if (!realpath(path, r->n.plain))
        return false;
    const int n = snprintf(r->n.beside, sizeof r->n.beside, "%s.zmpi-new", r->n.plain);
    const int m = snprintf(synced, sizeof synced, "%s.zmpi-synced", r->n.plain);
    if (n >= (int)sizeof r->n.beside || m >= (int)sizeof synced || stat(r->n.plain, &s))
        return false;
    const char *kept = access(synced, F_OK) == 0 ? synced
                       : is_whole(r->n.beside)   ? r->n.beside
                                                 : NULL;
    if (kept) {
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: stays plain: %s has data of an earlier run that are not in %s: zmpi "
                 "decompress saves them, and without that file %s is compressed",
                 path, kept, path, path);
        return false;
    }
    r->n.size = (uint64_t)s.st_size;
    return is_left(r->n.beside) && zbeside_make(r->n.beside, r->n.plain, 0);
}

struct zreplace *zreplace_begin(MPI_Comm comm, const char *path, const struct zmpi_options *o)
{
    struct zreplace *r = calloc(1, sizeof *r);
    struct stat s;
    int rank = 0;
    bool ok = zruntime_all(comm, r && !PMPI_Comm_rank(comm, &rank)), made = false;
    if (!ok || !r) {
        free(r);
        return NULL;
    }
    r->fd = -1;
    if (rank == 0) {
        ok = made = make_container(r, path);
        r->n.most = o->adopt_below;
    }
    ok = !PMPI_Bcast(&r->n, (int)sizeof r->n, MPI_BYTE, 0, comm) && ok;
    r->below = r->n.size;
    /* The program must not have opened the plain file by other means. */
    ok = zruntime_all(comm, ok && stat(r->n.plain, &s) == 0 && zdescriptors_of(&s) == 0);
    if (ok)
        return r;
    if (made)
        (void)unlink(r->n.beside);
    free(r);
    return NULL;
}

const char *zreplace_place(const struct zreplace *r)
{
    return r->n.beside;
}

uint64_t zreplace_size(const struct zreplace *r)
{
    return r->n.size;
}

bool zreplace_opened(struct zreplace *r, MPI_Comm comm)
{
    r->fd = open(r->n.plain, O_WRONLY | O_CLOEXEC);
    bool ok = r->fd >= 0 && fstat(r->fd, &r->was) == 0 && (uint64_t)r->was.st_size == r->n.size;
    r->descriptors = ok ? zdescriptors_of(&r->was) : 0;
    return zruntime_all(comm, ok);
}

void zreplace_drop(struct zreplace *r)
{
    if (r->fd >= 0)
        close(r->fd);
    (void)unlink(r->n.beside);
    free(r);
}

static void end(struct zfile *f)
{
    close(f->replace->fd);
    free(f->replace);
    f->replace = NULL;
}

/* ---- what was there ---- */

/* Rank 0: copies these bytes of the plain file as exact records. */
static int copy_runs(struct zfile *f, const struct zmpi_run *run, size_t n)
{
    unsigned char *bytes = malloc(PIECE);
    const int fd = open(f->replace->n.plain, O_RDONLY | O_CLOEXEC);
    int rc = bytes && fd >= 0 ? MPI_SUCCESS
                              : zfile_raise(f, MPI_ERR_IO, "reading what was there: %s",
                                            strerror(bytes ? errno : ENOMEM));
    for (size_t i = 0; i < n && !rc; i++)
        for (uint64_t at = 0; at < run[i].length && !rc; at += PIECE) {
            const uint64_t left = run[i].length - at;
            const size_t size = left < PIECE ? (size_t)left : PIECE;
            const struct zmpi_run part = {run[i].offset + at, size};
            struct zpiece piece = {.data = bytes, .element = ZMPI_BYTES, .exact = true};
            if (zfd_read(fd, bytes, size, (off_t)part.offset) != (ssize_t)size)
                rc = zfile_raise(f, MPI_ERR_IO, "reading what was there: it became shorter");
            else if (zmpi_extent_from_runs(&piece.extent, &part, 1))
                rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "reading what was there");
            else
                rc = zencode_piece(f, &piece);
        }
    if (fd >= 0)
        close(fd);
    free(bytes);
    return rc;
}

/* Collective. */
static int copy_all(struct zfile *f, const struct zmpi_run *run, size_t n)
{
    const int copied = f->rank == 0 ? copy_runs(f, run, n) : MPI_SUCCESS;
    const int assigned = zplace_dense(f, false), shared = zflush_share(f);
    f->dirty = true;
    return zfile_worst(f, copied ? copied : assigned ? assigned : shared);
}

int zreplace_fill(struct zfile *f)
{
    struct zreplace *r = f->replace;
    const struct zmpi_run all = {0, r->n.size};
    if (!zfile_may_read(f))
        return MPI_SUCCESS;
    r->after = f->log.epoch << 32 | UINT32_MAX;
    return copy_all(f, &all, 1);
}

void zreplace_resized(struct zfile *f, uint64_t size)
{
    if (f->replace && size < f->replace->below)
        f->replace->below = size;
}

/* ---- what is there now ---- */

/* The container's records below `size`, and the holes that they leave. */
struct state {
    struct zmpi_container from;
    struct zmpi_run *hole;
    size_t holes;
    uint64_t missing; /* bytes in holes that count */
    bool undisturbed; /* nobody else has the plain file open or has changed it */
};

static void forget(struct state *s)
{
    free(s->hole);
    zmpi_container_free(&s->from);
}

/* Is the plain file unchanged, not opened again by this process, and still under its name? */
static bool is_undisturbed(const struct zfile *f)
{
    const struct zreplace *r = f->replace;
    struct stat now, named;
    return fstat(r->fd, &now) == 0 && stat(r->n.plain, &named) == 0 && named.st_dev == now.st_dev &&
           named.st_ino == now.st_ino && zdescriptors_of(&now) == r->descriptors &&
           (f->rank > 0 || (now.st_size == r->was.st_size && now.st_nlink == 1 &&
                            memcmp(&now.st_mtim, &r->was.st_mtim, sizeof now.st_mtim) == 0 &&
                            memcmp(&now.st_ctim, &r->was.st_ctim, sizeof now.st_ctim) == 0));
}

/* Collective; false on all ranks if a rank cannot tell. */
static bool look(struct zfile *f, uint64_t after, struct state *s)
{
    const struct zreplace *r = f->replace;
    zmpi_container_init(&s->from);
    const int rc = zindex_read_all(f, &s->from);
    bool ok = zruntime_all(f->comm, !rc);
    const uint64_t logical = s->from.logical_size;
    struct zmpi_reader reader = zfile_reader(f);
    if (ok)
        ok = !zmpi_container_holes(&s->from, &reader, logical > r->below ? logical : r->below,
                                   after, &s->hole, &s->holes);
    for (size_t i = 0; i < s->holes && ok; i++) {
        const struct zmpi_run *h = &s->hole[i];
        const uint64_t hi = h->offset + h->length;
        if (h->offset < r->below)
            s->missing += (hi < r->below ? hi : r->below) - h->offset;
    }
    s->undisturbed = zruntime_all(f->comm, is_undisturbed(f));
    return zruntime_all(f->comm, ok);
}

/* Gives rank 0's answer to all ranks. */
static bool answer_of_root(struct zfile *f, bool root)
{
    int yes = root;
    return !PMPI_Bcast(&yes, 1, MPI_INT, 0, f->comm) && yes;
}

/* Syncs the container and gives it the plain file's name. */
static bool take_name(struct zfile *f)
{
    struct zreplace *r = f->replace;
    char *place = strdup(r->n.plain);
    bool ok = zruntime_all(f->comm, place != NULL) && !zsession_sync(f, false);
    if (ok && f->rank == 0) {
        ok = zsession_is_at(f, f->place) && rename(f->place, r->n.plain) == 0;
        if (ok)
            zbeside_sync_folder(r->n.plain);
    }
    if (!answer_of_root(f, ok)) {
        free(place);
        return false;
    }
    free(f->place);
    f->place = place;
    end(f);
    return true;
}

/* Sums up the bytes that all ranks have written, and those of floats. Collective. */
static int written(const struct zfile *f, uint64_t all[2])
{
    uint64_t mine[2] = {f->stats.n.bytes_written, f->stats.bytes_typed};
    return PMPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, f->comm);
}

static bool is_touched(const struct zfile *f, const uint64_t all[2])
{
    const struct zreplace *r = f->replace;
    return all[0] > 0 || r->below < r->n.size || f->container.logical_size != r->n.size;
}

/* Cuts off the holes behind `below`, which stay holes. The bytes in the others are copied from the
 * plain file. */
static size_t holes_before(struct zmpi_run *hole, size_t n, uint64_t below)
{
    while (n && hole[n - 1].offset >= below)
        n--;
    if (n && hole[n - 1].offset + hole[n - 1].length > below)
        hole[n - 1].length = below - hole[n - 1].offset;
    return n;
}

/* Collective: the container replaces the plain file, if it can. */
static int replace(struct zfile *f, bool closing, bool *done)
{
    const struct zreplace *r = f->replace;
    struct state s = {0};
    int rc = MPI_SUCCESS;
    *done = false;
    if (look(f, 0, &s) && s.undisturbed && s.missing <= r->n.most) {
        if (s.missing)
            rc = copy_all(f, s.hole, holes_before(s.hole, s.holes, r->below));
        if (!rc && s.missing && closing)
            rc = zfile_worst(f, zindex_write(f));
        *done = !rc && take_name(f);
    }
    forget(&s);
    return rc;
}

/* ---- a sync ---- */

/* Collective: the container gets a name under which the next open does not remove it. */
static bool keep(struct zfile *f)
{
    struct zreplace *r = f->replace;
    char *place = malloc(strlen(f->place) + 16);
    bool ok = zruntime_all(f->comm, place);
    if (ok) {
        sprintf(place, "%s.zmpi-synced", r->n.plain);
        ok = answer_of_root(f, f->rank == 0 && rename(f->place, place) == 0);
    }
    if (!ok) {
        free(place);
        return false;
    }
    free(f->place);
    f->place = place;
    r->synced = true;
    if (f->rank == 0)
        zbeside_sync_folder(place);
    return true;
}

/* Synced data must survive if the process is killed. */
static int keep_synced(struct zfile *f)
{
    if (!keep(f))
        return zfile_raise(f, MPI_ERR_IO, "MPI_File_sync: %s cannot be renamed", f->place);
    if (f->rank == 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: was not written as a whole when MPI_File_sync was called: until it is, or "
                 "until it is closed, the new data are in %s",
                 f->path, f->place);
    return MPI_SUCCESS;
}

int zreplace_synced(struct zfile *f)
{
    const struct zreplace *r = f->replace;
    uint64_t all[2];
    bool done = false;
    int rc = r ? written(f, all) : MPI_SUCCESS;
    if (!r || rc || !is_touched(f, all))
        return rc;
    if (all[0] + r->n.most >= r->below || r->after)
        rc = replace(f, false, &done);
    if (!rc && !done && !f->replace->synced)
        rc = keep_synced(f);
    return rc;
}

/* ---- close ---- */

/* Collective: copies what the program wrote into the plain file after all. */
static int write_back(struct zfile *f, struct state *s, bool known)
{
    struct zreplace *r = f->replace;
    struct stat now;
    bool ok = known;
    if (ok && f->rank == 0 && r->below < r->n.size)
        ok = ftruncate(r->fd, (off_t)r->below) == 0;
    ok = zruntime_all(f->comm, ok) && zcopy_share(f, &s->from, s->hole, s->holes, false, r->fd);
    ok = zruntime_all(f->comm, ok);
    if (ok && f->rank == 0)
        ok = fstat(r->fd, &now) == 0 && ((uint64_t)now.st_size >= s->from.logical_size ||
                                         ftruncate(r->fd, (off_t)s->from.logical_size) == 0);
    ok = zruntime_all(f->comm, ok && (!f->durable.some || fsync(r->fd) == 0));
    if (!ok && !r->synced)
        (void)keep(f);
    if (!ok)
        return zfile_raise(f, MPI_ERR_IO,
                           "closing: the new data could not be written into the plain file, and "
                           "are in %s (zmpi decompress)",
                           f->place);
    return MPI_SUCCESS;
}

/* Collective: gives the container up, and writes its data into the plain file. */
static int give_up(struct zfile *f)
{
    struct state s = {0};
    const bool known = look(f, f->replace->after, &s);
    const int rc = write_back(f, &s, known);
    forget(&s);
    return rc;
}

int zreplace_close(struct zfile *f, bool *gone, bool *few)
{
    const struct zreplace *r = f->replace;
    uint64_t all[2] = {0};
    bool done = false;
    int rc = written(f, all);
    const bool untouched = !rc && !is_touched(f, all);
    if (!rc && (all[1] >= FLOATS_LEAST || r->synced))
        rc = replace(f, true, &done);
    if (done)
        return rc;
    if (!untouched)
        rc = give_up(f);
    if (f->rank == 0 && !rc && zsession_is_at(f, f->place))
        (void)unlink(f->place);
    *gone = true;
    *few = !untouched && all[1] < FLOATS_LEAST;
    end(f);
    return rc;
}
