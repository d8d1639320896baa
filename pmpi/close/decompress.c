/*
 * decompress.c - some files become plain again when they are closed: those that compression made
 * hardly smaller, that hold nothing but bytes, or that begin like a file of another library. A
 * program that opens them by other means than MPI-IO then finds what was written. (A program that
 * writes bytes has a format of its own, and mostly other programs that read it.)
 *
 * The bytes go to a new file beside the container, which takes its name at the end. Until then, and
 * if anything fails, the container stays.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/magic.h"
#include "close/beside.h"
#include "close/copy_share.h"
#include "close/decompress.h"
#include "file/physical.h"
#include "file/zfile.h"
#include "index/header.h"
#include "mpi/runtime.h"

/* A small header that one rank writes first, by itself, must not decide about the data that follow.
 */
#define LEAST ((uint64_t)16 << 10)
/* From this size on a file decides for others of its kind; smaller ones are copied each time. */
#define COSTS ((uint64_t)1 << 20)
/* Bytes for each rank. A larger file that gained too little stays: the copy would take too long. */
#define MOST ((uint64_t)256 << 20)
/* A file stays as it is if it is more than this many times as long as what was written, since it is
 * mostly holes. */
#define HOLES 4
/* A file of bytes may still have one part of so many of known types, such as a header of integers.
 */
#define PARTS 16

/* ---- names ---- */

/* Names of files that became plain, without their digits, in which the names of other time steps
 * differ. */
static struct {
    pthread_mutex_t lock;
    uint64_t hash[256];
    size_t count;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash_of_kind(const char *path)
{
    char kind[PATH_MAX];
    size_t n = 0;
    for (const char *p = path; *p && n < sizeof kind; p++) {
        const bool digit = isdigit((unsigned char)*p);
        if (!digit || n == 0 || kind[n - 1] != '0')
            kind[n++] = digit ? '0' : *p;
    }
    return zmpi_hash(kind, n, 0);
}

static bool find_kind(uint64_t hash)
{
    for (size_t i = 0; i < sizeof known.hash / sizeof *known.hash && i < known.count; i++)
        if (known.hash[i] == hash)
            return true;
    return false;
}

/* The ratio that a file must reach; 0: it may have any size. */
static double least_ratio(const struct zmpi_options *o)
{
    return o->bound_set && o->bound.mode == ZMPI_RATIO ? 0 : o->least_ratio;
}

bool zdecompress_is_known(const char *path, const struct zmpi_options *o)
{
    if (least_ratio(o) == 0)
        return false;
    pthread_mutex_lock(&known.lock);
    const bool found = known.count && find_kind(hash_of_kind(path));
    pthread_mutex_unlock(&known.lock);
    return found;
}

/* Remembers a name; true: it is new. Only names that all processes know count: each process may
 * open a file alone, and a file must not be plain for some and a container for others. */
static bool remember(const char *path, int ranks)
{
    int all = 0;
    if (!zruntime_agreed() || PMPI_Comm_size(MPI_COMM_WORLD, &all) || ranks != all)
        return false;
    const uint64_t hash = hash_of_kind(path);
    pthread_mutex_lock(&known.lock);
    const bool news = !find_kind(hash);
    if (news)
        known.hash[known.count++ % (sizeof known.hash / sizeof *known.hash)] = hash;
    pthread_mutex_unlock(&known.lock);
    return news;
}

/* ---- does it pay? ---- */

void zdecompress_look(struct zfile *f, const struct zmpi_run *run, const unsigned char *data)
{
    const uint64_t size = run->length < ZMPI_MAGIC_BYTES ? run->length : ZMPI_MAGIC_BYTES;
    /* A user who named these files and their element type wants them compressed. */
    const bool meant = f->options.element_type != ZMPI_ELEMENTS_DATATYPE &&
                       f->options.source[zmpi_option_index("files")] != ZMPI_FROM_DEFAULT;
    if (f->data.format || run->offset != 0 || f->options.least_ratio <= 0 || meant)
        return;
    const char *format = zmpi_magic_find(data, (size_t)size);
    /* HDF5 writes its first bytes again when it opens a file that is there. */
    const bool stays = f->options.hdf5 == ZMPI_HDF5_CONTAINER || f->size_before;
    if (format && !(stays && strcmp(format, "HDF5") == 0))
        f->data.format = format;
}

enum { FAILED, WRITTEN, TYPED, STORED, RATIO, LOGICAL, LOG_END, FORMAT, SUMS };

/* Sums over the ranks. Rank 0 alone adds what is the same on all ranks, and what only it knows. */
static int sum_up(const struct zfile *f, int failed, double all[SUMS])
{
    double mine[SUMS] = {[FAILED] = failed != 0 || f->session.shared,
                         [WRITTEN] = (double)f->stats.n.bytes_written,
                         [TYPED] = (double)f->stats.bytes_typed,
                         [STORED] = (double)f->stats.n.bytes_stored,
                         [FORMAT] = f->data.format && !(f->amode & MPI_MODE_DELETE_ON_CLOSE)};
    if (f->rank == 0) {
        mine[RATIO] = f->amode & MPI_MODE_DELETE_ON_CLOSE ? 0 : least_ratio(&f->options);
        mine[LOGICAL] = (double)f->container.logical_size;
        mine[LOG_END] = (double)f->container.header.log_end;
        mine[TYPED] += (double)f->size_before; /* its type is unknown */
    }
    return PMPI_Allreduce(mine, all, SUMS, MPI_DOUBLE, MPI_SUM, f->comm);
}

static bool is_of_bytes(const struct zfile *f, const double all[SUMS])
{
    return all[TYPED] * PARTS <= all[WRITTEN] && all[LOGICAL] <= HOLES * all[WRITTEN] &&
           (f->ranks > 1 || all[LOGICAL] >= (double)LEAST);
}

/* Neither what was written this time nor the file as a whole became smaller. */
static bool gained_little(const double all[SUMS])
{
    return all[LOGICAL] >= (double)LEAST && all[WRITTEN] < all[RATIO] * all[STORED] &&
           all[LOGICAL] < all[RATIO] * all[LOG_END];
}

/* ---- the new file ---- */

struct copy {
    struct zmpi_container from; /* read anew: a writer may not know all of it */
    int fd;
    bool sole; /* rank 0: no other process may write */
    struct names {
        char copy[PATH_MAX];  /* "": there is none */
        char final[PATH_MAX]; /* the container's path, without links */
    } name;
};

/* Rank 0: creates the empty file, with the container's owner and mode. */
static bool create(struct zfile *f, struct names *name)
{
    const unsigned char *id = f->container.header.id;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->session.fd);
    /* Finds the file's present path; without /proc another file may have that. */
    if (!(realpath(link, name->final) || realpath(f->place, name->final)) ||
        !zsession_is_at(f, name->final))
        return false;
    const int n = snprintf(name->copy, sizeof name->copy, "%s.plain-%02x%02x%02x%02x", name->final,
                           id[0], id[1], id[2], id[3]);
    const bool made = n < (int)sizeof name->copy &&
                      zbeside_make(name->copy, name->final, f->container.logical_size);
    if (!made)
        name->copy[0] = 0;
    return made;
}

static bool is_same(const struct zfile *f, const struct zmpi_container *again)
{
    return zmpi_container_whole(again) && again->logical_size == f->container.logical_size &&
           memcmp(again->header.id, f->container.header.id, 16) == 0;
}

static bool copy_begin(struct zfile *f, struct copy *c)
{
    bool ok = zbeside_may_be_long(f->container.logical_size);
    if (f->rank == 0) {
        c->sole = ok && zsession_only_begin(f);
        ok = c->sole && create(f, &c->name);
    }
    if (PMPI_Bcast(&c->name, (int)sizeof c->name, MPI_CHAR, 0, f->comm) ||
        !zruntime_all(f->comm, ok))
        return false;
    /* Another node may see another file under this name. */
    c->fd = open(c->name.copy, O_WRONLY | O_CLOEXEC);
    if (!zruntime_all(f->comm, c->fd >= 0))
        return false;
    /* This reads through the open file, since threads may close files at the same time, and ROMIO
     * of Open MPI 4.1.4 crashes if two threads open files at once (tests/mpi/runtime/threads.c). */
    const int rc = zindex_read_all(f, &c->from);
    return zruntime_all(f->comm,
                        !rc && is_same(f, &c->from) && zbeside_may_be_long(c->from.logical_size));
}

/* Ends a copy, even if copy_begin failed. Collective. */
static bool copy_end(struct zfile *f, struct copy *c, bool ok)
{
    zmpi_container_free(&c->from);
    if (c->fd >= 0 && close(c->fd) != 0)
        ok = false;
    ok = zruntime_all(f->comm, ok);
    if (f->rank == 0 && ok) {
        ok = zsession_no_readers(f) && zsession_is_at(f, c->name.final) &&
             rename(c->name.copy, c->name.final) == 0;
        if (ok && f->durable.some)
            zbeside_sync_folder(c->name.final);
    }
    if (f->rank == 0 && !ok && c->name.copy[0])
        (void)unlink(c->name.copy);
    if (c->sole)
        zsession_only_end(f);
    return zruntime_all(f->comm, ok);
}

static bool give_back(struct zfile *f)
{
    struct copy *c = calloc(1, sizeof *c);
    bool ok = zruntime_all(f->comm, c);
    if (ok) {
        c->fd = -1;
        zmpi_container_init(&c->from);
        ok = copy_begin(f, c) && zcopy_share(f, &c->from, NULL, 0, true, c->fd) &&
             (!f->durable.some || fsync(c->fd) == 0);
        ok = copy_end(f, c, ok);
    }
    free(c);
    return ok;
}

/* A failure costs nothing: it must not call an error handler, which may end the program. */
static bool give_back_quietly(struct zfile *f)
{
    MPI_Errhandler handler = zfile_silence_errors(f);
    const bool ok = give_back(f);
    zfile_restore_handler(f, handler);
    return ok;
}

static const char *why(const struct zfile *f, const double all[SUMS])
{
    if (all[FORMAT] > 0)
        return f->data.format ? f->data.format : "a known format";
    return is_of_bytes(f, all) ? "nothing but bytes" : "saved too little";
}

/* Small files, which may be many, appear in the report alone. news: the first of this kind. */
static void tell(const struct zfile *f, const double all[SUMS], bool news)
{
    if (f->rank == 0)
        zmpi_log(news ? ZMPI_LOG_WARN : ZMPI_LOG_INFO,
                 "%s: %s: %s, compressed %.2f to 1 (ZMPI_LEAST_RATIO=%.3g)%s", f->path,
                 f->plain ? "made plain" : "stays compressed", why(f, all),
                 all[WRITTEN] / all[STORED], f->options.least_ratio,
                 news ? "; new files of such a name stay plain" : "");
}

/* Does the size of lossy data depend on measured time? Then values of later files must not depend
 * on it. */
static bool is_by_time(const struct zmpi_options *o)
{
    return o->bound_set && o->bound.mode != ZMPI_LOSSLESS && strcmp(o->codec, "auto") == 0;
}

void zdecompress_at_close(struct zfile *f, int failed)
{
    double all[SUMS];
    if (sum_up(f, failed, all) || all[FAILED] > 0 || !(all[WRITTEN] > 0))
        return;
    const bool must = all[FORMAT] > 0, may = all[RATIO] > 0;
    const bool bytes = must || (may && is_of_bytes(f, all));
    if (!bytes && !(may && gained_little(all)))
        return;
    if (bytes || all[LOGICAL] <= (double)MOST * f->ranks)
        f->plain = give_back_quietly(f);
    if (must || (all[LOGICAL] >= (double)COSTS && (bytes || !is_by_time(&f->options)))) {
        const bool news = remember(f->path, f->ranks);
        tell(f, all, news);
    }
}
