/* size.c - size, synchronisation and the end of a container (all collective, but get_size). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "close/replace.h"
#include "close/trim.h"
#include "file/physical.h"
#include "file/zfile.h"
#include "index/header.h"
#include "wrappers.h"

int zf_file_get_size(struct zfile *f, MPI_Offset *size)
{
    if (!size)
        return zfile_raise(f, MPI_ERR_ARG, "get_size: nowhere to put it");
    *size = (MPI_Offset)zfile_size(f);
    return MPI_SUCCESS;
}

/* Some ranks' errors do not mean that nothing was done (in OMPIO every rank truncates): *gone is
 * what the file says, and the same on all ranks. */
static int truncate_log(struct zfile *f, int *gone)
{
    MPI_Offset size = 0;
    const MPI_Errhandler handler = zfile_defer_handler(f);
    errno = 0;
    int rc = PMPI_File_set_size(f->fh, ZMPI_HEADER_BYTES);
    const int error = errno;
    if (zfile_call_handler(f, handler, rc))
        rc = zphysical_failed(f, rc, error, "MPI_File_set_size");
    PMPI_Barrier(f->comm);
    int asked = PMPI_File_get_size(f->fh, &size);
    *gone = !asked && size <= ZMPI_HEADER_BYTES;
    if (f->rank == 0 && *gone && !rc) /* before anybody takes a place */
        rc = zsession_restarted(f);
    int sent = PMPI_Bcast(gone, 1, MPI_INT, 0, f->comm);
    return rc ? rc : asked ? asked : sent;
}

/* Places are about to be given anew: a device that wakes up late must not write there what it was
 * asked for before. It looks at the id. */
static int renew_id(struct zfile *f)
{
    int mine = f->options.nic_write, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    return rc || !any ? rc : zheader_rename(f);
}

/* Size 0: nothing written before counts any more, so the log starts anew and its space is given
 * back, unless others know its records. The header goes first: whoever dies in between, or cannot
 * truncate, leaves records that a scan finds. */
static int restart_log(struct zfile *f)
{
    int gone = 0, rc = zheader_reset(f);
    f->dirty = true;
    if (!rc)
        rc = truncate_log(f, &gone);
    if (!gone)
        return rc;
    struct zmpi_header header = f->container.header;
    zmpi_container_free(&f->container);
    zreadahead_forget(f);
    f->container.header = header;
    znews_forget(&f->news);
    zmpi_entries_free(&f->fresh);
    f->log.end = zsession_log_begin(f);
    zreuse_drop(f);
    int renewed = renew_id(f);
    return rc ? rc : renewed;
}

static int change_size(struct zfile *f, uint64_t size)
{
    int rc = MPI_SUCCESS;
    if (size == 0 && !f->session.shared)
        return restart_log(f);
    if (f->rank == 0)
        rc = zencode_size(f, size);
    int assigned = zplace_dense(f, false);
    rc = rc ? rc : assigned;
    f->container.logical_size = size;
    int shared = zflush_share(f);
    return rc ? rc : shared;
}

/* The size is rank 0's, so that all go on alike: in atomic mode each finds others' records when it
 * looks. */
static int resize(struct zfile *f, uint64_t size, bool only_larger)
{
    int rc = zflush_collective(f);
    uint64_t now = f->rank == 0 ? zfile_size(f) : 0;
    int sent = PMPI_Bcast(&now, 1, MPI_UINT64_T, 0, f->comm);
    /* Records that nobody knows, of a write that failed late, are to go too. */
    const bool leftover = size == 0 && !f->session.shared && f->log.end > ZMPI_HEADER_BYTES;
    if (sent || (now == size && !leftover) || (only_larger && now >= size))
        return zfile_alike(f, rc ? rc : sent);
    int changed = change_size(f, size);
    if (!only_larger)
        zreplace_resized(f, size);
    return zfile_alike(f, rc ? rc : changed);
}

int zf_file_set_size(struct zfile *f, MPI_Offset size)
{
    if (size < 0 || !zfile_may_write(f))
        return zfile_raise(f, size < 0 ? MPI_ERR_ARG : MPI_ERR_READ_ONLY, "set_size to %lld",
                           (long long)size);
    return resize(f, (uint64_t)size, false);
}

int zf_file_preallocate(struct zfile *f, MPI_Offset size)
{
    if (size < 0 || !zfile_may_write(f))
        return zfile_raise(f, size < 0 ? MPI_ERR_ARG : MPI_ERR_READ_ONLY, "preallocate %lld",
                           (long long)size);
    return resize(f, (uint64_t)size, true);
}

/* Others' records become known here, if anybody else writes. */
static int learn(struct zfile *f)
{
    int news = f->session.shared;
    if (!zfile_may_write(f)) {
        news = f->rank == 0 && zsession_changed(f);
        int rc = PMPI_Bcast(&news, 1, MPI_INT, 0, f->comm);
        if (rc)
            return rc;
    }
    return news ? zindex_reload(f) : MPI_SUCCESS;
}

/* Data of all ranks are on the disk, or all have an error: nobody may rely on what is not there. */
int zf_file_sync(struct zfile *f)
{
    /* After a failed write some MPI libraries return early from their sync, where others wait: all
     * call it or none. */
    int rc = zfile_alike(f, zfile_may_write(f) ? zflush_collective(f) : MPI_SUCCESS);
    if (rc)
        return rc;
    int learned = learn(f);
    int synced = zphysical_sync(f);
    rc = zfile_alike(f, synced ? synced : learned);
    f->durable.some = f->durable.some || !synced;
    if (!rc) {
        f->durable.below = f->container.logical_size;
        f->durable.hides = false;
        if (zfile_may_write(f))
            rc = zreplace_synced(f);
        if (zfile_may_write(f) && !rc)
            rc = ztrim_meanwhile(f);
    }
    return rc;
}
