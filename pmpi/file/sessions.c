/*
 * sessions.c - one file, open for writing in several communicators, and atomic mode
 * (docs/architecture.md, "Several communicators").
 *
 * A single writer computes places and asks nobody. With a second writer, or in atomic mode, places
 * and epochs come from counters behind the header (format.md 2.6), and each step holds a lock. A
 * rank never holds a lock while it waits for another rank, which might wait for the lock. Locks
 * belong to open file descriptions and lie far behind any data, where the MPI library has none.
 */
#define _GNU_SOURCE // F_OFD_SETLKW
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "file/physical.h"
#include "file/zfile.h"

enum { COUNTERS_AT = 384, COUNTERS_BYTES = 32 };

struct counters {
    uint64_t shared, end, epoch;
};

/* ---- locks ---- */

static struct flock lock_at(off_t byte, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

static void open_lock_file(struct zfile *f)
{
    struct zsession *s = &f->session;
    if (s->fd >= 0 || s->no_locks)
        return;
    s->fd = zreopen(f);
    s->no_locks = s->fd < 0;
}

/* Locks the log. type: F_RDLCK or F_WRLCK. On a file system without locks zmpi works as if nobody
 * else had the file. If other sessions rely on the lock, failing to get it is an error; then
 * nothing is locked. */
static int lock_log(struct zfile *f, short type)
{
    struct zsession *s = &f->session;
    struct flock l = lock_at(ZMPI_LOCK_LOG, type);
    if (s->held++ > 0)
        return MPI_SUCCESS;
    open_lock_file(f);
    while (!s->no_locks && fcntl(s->fd, F_OFD_SETLKW, &l) != 0) {
        if (errno != EINTR && (s->counted || s->shared)) {
            s->held--;
            return zphysical_failed(f, MPI_SUCCESS, errno, "locking");
        }
        s->no_locks = errno != EINTR;
    }
    return MPI_SUCCESS;
}

static void unlock_log(struct zfile *f)
{
    struct zsession *s = &f->session;
    struct flock l = lock_at(ZMPI_LOCK_LOG, F_UNLCK);
    if (--s->held == 0 && s->fd >= 0)
        (void)fcntl(s->fd, F_OFD_SETLK, &l);
}

static void set_presence(struct zfile *f, off_t byte, short type)
{
    struct flock l = lock_at(byte, type);
    if (f->session.fd >= 0)
        (void)fcntl(f->session.fd, F_OFD_SETLK, &l);
}

/* Does somebody else hold this lock? */
static bool is_held(struct zfile *f, off_t byte)
{
    struct flock l = lock_at(byte, F_WRLCK);
    open_lock_file(f);
    return f->session.fd >= 0 && fcntl(f->session.fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

/* Is it certain that nobody else holds this lock? */
static bool is_free(struct zfile *f, off_t byte)
{
    struct flock l = lock_at(byte, F_WRLCK);
    return f->session.fd >= 0 && fcntl(f->session.fd, F_OFD_GETLK, &l) == 0 && l.l_type == F_UNLCK;
}

bool zsession_others(struct zfile *f)
{
    return is_held(f, ZMPI_LOCK_WRITERS);
}

/* ---- counters ---- */

/* Counters of a writer that did not finish are useless: see zsession_started. */
static int read_counters(struct zfile *f, struct counters *c)
{
    unsigned char b[COUNTERS_BYTES];
    *c = (struct counters){0};
    if (f->session.fd < 0)
        return MPI_SUCCESS;
    ssize_t got = zfd_read(f->session.fd, b, sizeof b, COUNTERS_AT);
    if (got < 0)
        return zphysical_failed(f, MPI_SUCCESS, errno, "reading the header");
    if (got == sizeof b && zmpi_load64(b + 24) == zmpi_hash(b, 24, 0))
        *c = (struct counters){zmpi_load64(b), zmpi_load64(b + 8), zmpi_load64(b + 16)};
    return MPI_SUCCESS;
}

/* Checks counters on which other sessions depend: a guess could be another session's place. */
static int check_counters(struct zfile *f, const struct counters *c)
{
    if (c->end >= ZMPI_HEADER_BYTES)
        return MPI_SUCCESS;
    if (f->session.fd < 0)
        return zfile_raise(
            f, MPI_ERR_IO,
            "it cannot be opened once more on this rank, to lock it: see the limit on "
            "open files (ulimit -n)");
    return zfile_raise(f, MPI_ERR_IO,
                       "the header's counters are damaged (format.md 2.6): was the file written or "
                       "cut by other means than MPI-IO?");
}

static int write_counters(struct zfile *f, const struct counters *c)
{
    unsigned char b[COUNTERS_BYTES];
    zmpi_store64(b, c->shared);
    zmpi_store64(b + 8, c->end);
    zmpi_store64(b + 16, c->epoch);
    zmpi_store64(b + 24, zmpi_hash(b, 24, 0));
    if (f->session.fd < 0 || zfd_write(f->session.fd, b, sizeof b, COUNTERS_AT) == 0)
        return MPI_SUCCESS;
    return zphysical_failed(f, MPI_SUCCESS, errno, "writing the header");
}

static uint64_t physical_size(const struct zfile *f)
{
    struct stat s;
    return f->session.fd >= 0 && fstat(f->session.fd, &s) == 0 ? zmpi_pad8((uint64_t)s.st_size) : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- a session's beginning ---- */

void zsession_before(struct zfile *f)
{
    f->session.fd = zreopen(f);
    f->session.before = f->session.fd >= 0;
}

bool zsession_replaced(const struct zfile *f)
{
    return f->session.before && !zsession_is_at(f, f->place);
}

void zsession_enter(struct zfile *f)
{
    (void)lock_log(f, F_WRLCK); /* nobody relies on the lock yet */
    f->session.shared = zsession_others(f);
}

int zsession_started(struct zfile *f)
{
    struct counters c;
    struct zmpi_header *h = &f->container.header;
    int rc = read_counters(f, &c);
    if (f->session.shared) {
        c.shared = 1;
        c.end = larger(c.end, f->log.end);
        c.epoch = h->next_epoch = larger(c.epoch, h->next_epoch) + 1;
    } else { /* the counters are from writers that have ended */
        c = (struct counters){.end = f->log.end};
    }
    rc = rc ? rc : write_counters(f, &c);
    set_presence(f, ZMPI_LOCK_WRITERS, F_RDLCK);
    unlock_log(f);
    return rc;
}

void zsession_refused(struct zfile *f)
{
    unlock_log(f);
}

void zsession_reads(struct zfile *f)
{
    struct flock l = lock_at(ZMPI_LOCK_READERS, F_RDLCK);
    open_lock_file(f);
    while (f->session.fd >= 0 && fcntl(f->session.fd, F_OFD_SETLKW, &l) != 0)
        if (errno != EINTR)
            return;
}

/* A hash of what differs between running kernels. */
static uint64_t kernel(void)
{
    char id[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, id, sizeof id);
    if (fd >= 0)
        close(fd);
    return n > 0 ? zmpi_hash(id, (size_t)n, 0) : 0;
}

int zsession_find_nodes(struct zfile *f)
{
    /* The minimum of a number and of its complement tell whether all ranks have the same. */
    uint64_t mine[3], all[3], node = kernel();
    mine[0] = node;
    mine[1] = ~node;
    mine[2] = node != 0 && !f->session.no_locks; /* rank 0 has tried it */
    int rc = PMPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_MIN, f->comm);
    f->session.counted = !rc && all[0] == ~all[1] && all[2];
    return rc;
}

int zsession_restarted(struct zfile *f)
{
    struct counters c = {.end = ZMPI_HEADER_BYTES};
    return write_counters(f, &c);
}

/* ---- places ---- */

uint64_t zsession_log_begin(const struct zfile *f)
{
    return f->session.counted ? ZMPI_HEADER_BYTES : ZMPI_FIRST_PAGE;
}

/* Nothing long begins in the header's page. Short files do not grow by it. */
static uint64_t behind_page(uint64_t base, uint64_t size)
{
    return base < ZMPI_FIRST_PAGE && size > 16 * ZMPI_FIRST_PAGE ? ZMPI_FIRST_PAGE : base;
}

int zsession_reserve(struct zfile *f, uint64_t size, uint64_t *base, uint64_t *epoch)
{
    struct counters c;
    int rc = lock_log(f, F_WRLCK);
    if (rc)
        return rc;
    rc = read_counters(f, &c);
    f->session.shared = f->session.shared || c.shared;
    const bool asked = f->session.shared || f->session.counted;
    if (asked)
        *base = c.end;
    if (!rc && asked)
        rc = check_counters(f, &c);
    *base = behind_page(*base, size);
    c.end = *base + size;
    if (epoch)
        c.epoch = *epoch = larger(*epoch, c.shared ? c.epoch : 0) + 1;
    if (!rc)
        rc = write_counters(f, &c);
    unlock_log(f);
    return rc;
}

int zsession_alone(struct zfile *f, bool *alone)
{
    struct counters c;
    *alone = false;
    if (f->session.shared || f->session.counted)
        return MPI_SUCCESS;
    int rc = lock_log(f, F_RDLCK);
    if (rc)
        return rc;
    rc = read_counters(f, &c);
    f->session.shared = c.shared;
    *alone = !rc && !c.shared;
    if (!*alone)
        unlock_log(f);
    return rc;
}

void zsession_alone_end(struct zfile *f)
{
    unlock_log(f);
}

/* ---- what others wrote ---- */

/* A number that changes with the counters, and so with each placement at a collective point. */
static uint64_t fingerprint(struct zfile *f)
{
    unsigned char header[ZMPI_HEADER_BYTES] = {0};
    open_lock_file(f);
    if (f->session.fd < 0 || pread(f->session.fd, header, sizeof header, 0) < 0)
        return 0;
    return zmpi_hash(header, sizeof header, physical_size(f));
}

bool zsession_changed(struct zfile *f)
{
    return f->session.loaded != fingerprint(f);
}

void zsession_looked(struct zfile *f)
{
    f->session.loaded = fingerprint(f);
}

/* ---- atomic mode ---- */

/* Reads the records of others between the known ones and `end`. */
static int follow(struct zfile *f, uint64_t end)
{
    struct zmpi_reader reader = zfile_reader(f);
    reader.file_size = end < reader.file_size ? end : reader.file_size;
    enum zmpi_status status = end > f->session.known
                                  ? zmpi_container_follow(&f->container, &reader, f->session.known)
                                  : ZMPI_OK;
    f->session.known = end;
    return status ? zfile_raise_status(f, status, "reading what others wrote") : MPI_SUCCESS;
}

int zsession_atomic_begin(struct zfile *f, bool write)
{
    if (!f->session.atomic)
        return MPI_SUCCESS;
    struct counters c;
    int rc = lock_log(f, write ? F_WRLCK : F_RDLCK);
    if (rc)
        return rc;
    rc = read_counters(f, &c);
    if (!rc)
        rc = check_counters(f, &c);
    if (!rc)
        rc = follow(f, c.end);
    if (!rc && write) {
        c.epoch = f->log.epoch = larger(c.epoch, f->log.epoch) + 1;
        f->log.sequence = 0;
        rc = write_counters(f, &c);
    }
    if (rc)
        unlock_log(f);
    return rc;
}

int zsession_atomic_end(struct zfile *f, int rc)
{
    if (!f->session.atomic)
        return rc;
    struct counters c;
    int counted = read_counters(f, &c);
    if (!counted)
        f->session.known = c.end; /* nobody else wrote meanwhile */
    unlock_log(f);
    return rc ? rc : counted;
}

int zsession_share_log(struct zfile *f)
{
    int rc = lock_log(f, F_WRLCK);
    if (rc)
        return rc;
    if (f->session.no_locks) {
        rc = zfile_raise(f, MPI_ERR_UNSUPPORTED_OPERATION,
                         "atomic mode needs file locks, which this file system does not have");
    } else {
        struct counters c;
        rc = read_counters(f, &c);
        c.end = larger(larger(c.end, f->log.end), physical_size(f));
        c.epoch = larger(c.epoch, f->log.epoch);
        c.shared = 1;
        f->session.known = c.end;
        rc = rc ? rc : write_counters(f, &c);
    }
    unlock_log(f);
    return rc;
}

/* ---- a session's end ---- */

/* Cuts the file to no bytes. Opens it by its name only if there is no other way, since the name may
 * belong to another file by now. */
static int cut_to_nothing(const struct zfile *f)
{
    return f->session.fd >= 0 ? ftruncate(f->session.fd, 0) : truncate(f->place, 0);
}

int zsession_leave(struct zfile *f, bool empty, int (*write_index)(struct zfile *))
{
    int rc = MPI_SUCCESS;
    if (f->rank == 0) {
        rc = lock_log(f, F_WRLCK);
        const bool locked = !rc, last = locked && !zsession_others(f);
        struct counters c;
        rc = rc ? rc : read_counters(f, &c);
        if (!rc && last && c.shared)
            rc = write_index(f);
        else if (!rc && last && empty && cut_to_nothing(f) != 0)
            rc = zphysical_failed(f, MPI_SUCCESS, errno, "emptying at close");
        set_presence(f, ZMPI_LOCK_WRITERS, F_UNLCK);
        if (locked)
            unlock_log(f);
    }
    int worst = rc, sent = PMPI_Bcast(&worst, 1, MPI_INT, 0, f->comm);
    return sent ? sent : worst;
}

int zsession_lock(struct zfile *f)
{
    return lock_log(f, F_WRLCK);
}

void zsession_unlock(struct zfile *f)
{
    unlock_log(f);
}

bool zsession_is_only(struct zfile *f)
{
    return !f->session.no_locks && is_free(f, ZMPI_LOCK_WRITERS) && is_free(f, ZMPI_LOCK_READERS);
}

bool zsession_only_begin(struct zfile *f)
{
    struct counters c;
    if (lock_log(f, F_WRLCK))
        return false;
    if (zsession_is_only(f) && !read_counters(f, &c) && !c.shared)
        return true;
    unlock_log(f);
    return false;
}

bool zsession_no_readers(struct zfile *f)
{
    struct flock l = lock_at(ZMPI_LOCK_READERS, F_WRLCK);
    return fcntl(f->session.fd, F_OFD_SETLK, &l) == 0;
}

void zsession_only_end(struct zfile *f)
{
    struct flock l = lock_at(ZMPI_LOCK_READERS, F_UNLCK);
    (void)fcntl(f->session.fd, F_OFD_SETLK, &l);
    unlock_log(f);
}

bool zsession_is_at(const struct zfile *f, const char *path)
{
    struct stat open, named;
    return fstat(f->session.fd, &open) == 0 && stat(path, &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

int zsession_descriptor(struct zfile *f)
{
    open_lock_file(f);
    return zfile_may_write(f) ? f->session.fd : -1;
}

int zsession_sync(struct zfile *f, bool quietly)
{
    const bool mine = f->rank == 0 || !f->session.counted;
    int none = mine && zsession_descriptor(f) < 0, any = 0, rc;
    rc = PMPI_Allreduce(&none, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (rc)
        return rc;
    if (any)
        return zfile_worst(f, zphysical_sync(f));
    errno = 0;
    if (mine && fdatasync(f->session.fd) != 0)
        rc = quietly ? MPI_ERR_IO : zphysical_failed(f, MPI_SUCCESS, errno, "fdatasync");
    return zfile_worst(f, rc);
}

void zsession_free(struct zfile *f)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (f->session.fd >= 0) {
        /* A child that the program has forked holds the locks, too, as long as it lives. */
        (void)fcntl(f->session.fd, F_OFD_SETLK, &all);
        close(f->session.fd);
    }
    f->session.fd = -1;
}
