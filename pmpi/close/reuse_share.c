/* reuse_share.c - gaps that overwritten records leave while a file stays open. Rank 0 finds them
 * after a sync and gives them to the ranks, which use them again (file/reuse.c). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "close/trim.h"
#include "index/header.h"

/* What rank 0 tells all ranks. */
struct found {
    uint64_t gaps, bytes;
    int own;
};

/* Rank 0: finds each rank's share, by the bytes of its records that are kept. */
static bool weigh(struct zfile *f, double *share)
{
    struct zmpi_reader reader = zfile_reader(f);
    struct zmpi_record *record;
    double all = 0;
    if (zmpi_container_records(&f->container, &reader, &record))
        return false;
    memset(share, 0, (size_t)f->ranks * sizeof *share);
    for (size_t i = 0; i < f->container.count; i++)
        share[record[i].rank % (uint32_t)f->ranks] += (double)zmpi_record_size(&record[i]);
    free(record);
    for (int r = 0; r < f->ranks; r++)
        all += share[r];
    for (int r = 0; r < f->ranks; r++)
        share[r] = all > 0 ? share[r] / all : 1.0 / f->ranks;
    return true;
}

/* Keeps only the part [from, to) of the bytes of all gaps. */
static void cut(struct zreuse *u, uint64_t from, uint64_t to)
{
    uint64_t at = 0;
    size_t n = 0;
    for (size_t i = 0; i < u->gaps; i++) {
        const struct zmpi_run r = u->gap[i];
        const uint64_t lo = from > at ? from - at : 0, hi = to > at ? to - at : 0;
        const uint64_t end = hi < r.length ? hi : r.length;
        at += r.length;
        if (lo < end)
            u->gap[n++] = (struct zmpi_run){r.offset + lo, end - lo};
    }
    u->gaps = n;
}

/* Gives each rank a share by what it has written: programs mostly write the same again. */
static int give_shares(struct zfile *f, const struct found *d)
{
    struct zreuse *u = &f->reuse;
    double *share = malloc((size_t)f->ranks * sizeof *share), before = 0;
    int bad = share == NULL, any = 0;
    if (f->rank != 0)
        u->gap = malloc(d->gaps * sizeof *u->gap);
    bad |= u->gap == NULL || (f->rank == 0 && share && !weigh(f, share));
    int rc = PMPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (!rc && !any)
        rc = PMPI_Bcast(share, f->ranks, MPI_DOUBLE, 0, f->comm);
    if (!rc && !any)
        rc = PMPI_Bcast(u->gap, (int)(d->gaps * sizeof *u->gap), MPI_BYTE, 0, f->comm);
    if (rc || any) {
        zreuse_drop(f);
        free(share);
        return rc;
    }
    u->gaps = d->gaps;
    for (int r = 0; r < f->rank; r++)
        before += share[r];
    const double end = before + share[f->rank];
    const uint64_t from = (uint64_t)(before * (double)d->bytes) & ~(uint64_t)7;
    const uint64_t to =
        f->rank == f->ranks - 1 ? d->bytes : (uint64_t)(end * (double)d->bytes) & ~(uint64_t)7;
    cut(u, from, to);
    free(share);
    return MPI_SUCCESS;
}

int ztrim_share(struct zfile *f)
{
    struct found d = {.gaps = f->rank == 0 ? f->reuse.gaps : 0};
    uint64_t mine[3] = {f->reuse.alone, f->rank == 0 ? f->reuse.together : 0, f->options.nic_write},
             all[3] = {0};
    int rc = PMPI_Bcast(&d, sizeof d, MPI_BYTE, 0, f->comm);
    if (rc || d.gaps == 0)
        return rc;
    rc = PMPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, f->comm);
    if (f->rank != 0)
        zreuse_drop(f);
    if (rc || all[2] || !f->session.counted) {
        zreuse_drop(f);
        return rc;
    }
    d.own = all[0] > all[1];
    for (size_t i = 0; f->rank == 0 && i < f->reuse.gaps; i++)
        d.bytes += f->reuse.gap[i].length;
    rc = PMPI_Bcast(&d, sizeof d, MPI_BYTE, 0, f->comm);
    f->reuse.own = d.own;
    f->reuse.filled = f->reuse.alone = f->reuse.together = 0;
    return rc || !d.own ? rc : give_shares(f, &d);
}

/* Replaces the known records by those of the new index, since some known ones may be written over.
 */
static int reload_records(struct zfile *f)
{
    struct zmpi_container fresh;
    zmpi_container_init(&fresh);
    int rc = zindex_read_all(f, &fresh);
    if (rc) {
        zmpi_container_free(&fresh);
        return rc;
    }
    zindex_replace(f, &fresh);
    f->log.first_epoch = ++f->log.epoch; /* all earlier records are rank 0's now */
    f->log.sequence = 0;
    return MPI_SUCCESS;
}

/* Some rank still knows records that may be written over. From now on ranks read the records from
 * the file, as if several communicators wrote it. */
static int stop(struct zfile *f, int rc)
{
    zreuse_drop(f);
    if (f->rank == 0)
        (void)zsession_share_log(f);
    f->session.shared = true;
    return rc;
}

int ztrim_meanwhile(struct zfile *f)
{
    uint64_t mine[3] = {f->stats.n.bytes_written, f->reuse.filled, f->options.nic_write}, all[3];
    int go = 0;
    if (!f->session.counted || f->session.atomic)
        return MPI_SUCCESS;
    int rc = PMPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, f->comm);
    if (!rc && f->rank == 0)
        go = !all[2] && ztrim_worth(f, all[0], all[1]);
    if (!rc)
        rc = PMPI_Bcast(&go, 1, MPI_INT, 0, f->comm);
    if (rc || !go)
        return rc;
    rc = zfile_worst(f, zindex_write(f));
    if (rc)
        return rc;
    ztrim(f, true);
    rc = zfile_worst(f, reload_records(f));
    return rc ? stop(f, rc) : ztrim_share(f);
}
