/* close.c - MPI_File_close: index and header are written, and what need not be a container is none.
 */
#include "calls/access.h"
#include "calls/dry_run.h"
#include "calls/unbound.h"
#include "close/decompress.h"
#include "close/replace.h"
#include "close/trim.h"
#include "file/zfile.h"
#include "hdf5/hdf5_several.h"
#include "index/header.h"
#include "report/report.h"
#include "wrappers.h"

/* Nothing was written to a new file: leave it empty, as without zmpi. */
static bool still_empty(const struct zfile *f)
{
    return f->container.count == 0 && f->container.logical_size == 0;
}

/* If that fails, the data are in the container, which stays. */
static int replace(struct zfile *f, int failed)
{
    bool few = false;
    int rc = zreplace_close(f, &f->plain, &few);
    if (f->plain && f->rank == 0)
        zreport_left_alone(f->path, few ? ZLEFT_FEW_FLOATS : ZLEFT_THERE, false);
    return failed ? failed : rc;
}

static int finish(struct zfile *f)
{
    int rc = zflush_collective(f), dirty = f->dirty, any = 0;
    uint64_t mine[4] = {f->container.count, f->stats.n.bytes_written, f->reuse.filled,
                        f->rank == 0 ? f->log.end : 0},
             all[4] = {0};
    PMPI_Allreduce(&dirty, &any, 1, MPI_INT, MPI_MAX, f->comm);
    PMPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, f->comm);
    const bool empty = all[0] == 0 && still_empty(f);
    if (f->replace || (any && !empty && !f->session.shared)) {
        const bool wanted = f->rank == 0 && ztrim_wanted(f, all[1], all[2]);
        zreport_calls_section(f, all[3]);
        int indexed = zindex_write(f);
        rc = rc ? rc : indexed;
        if (f->replace)
            rc = replace(f, rc);
        if (!f->plain)
            zdecompress_at_close(f, rc);
        if (f->rank == 0 && !wanted)
            ztrim_remember(f, all[2]);
        if (!f->plain)
            ztrim(f, wanted && indexed == MPI_SUCCESS);
    }
    int left = zsession_leave(f, empty, zindex_write_all);
    return zfile_alike(f, rc ? rc : left);
}

/* Removes the file from the table, and closes the handle that is not the program's. */
static int leave(struct zfile *f)
{
    zshared_remove(f);
    zfile_remove(f);
    return f->fh != f->handle ? PMPI_File_close(&f->fh) : MPI_SUCCESS;
}

static void forget(struct zfile *f)
{
    zsession_free(f);
    PMPI_Comm_free(&f->comm);
}

static int close_container(struct zfile *f, MPI_File *handle)
{
    int rc = zfile_may_write(f) ? finish(f) : MPI_SUCCESS;
    zoffload_free(f);
    zbackground_free(f);
    zreport_file(f); /* after this nobody uses the shared pointer any more */
    int closed = leave(f);
    int rest = PMPI_File_close(handle);
    closed = closed ? closed : rest;
    if (zfile_may_write(f))
        closed = zfile_worst(f, closed);
    forget(f);
    return rc ? rc : closed;
}

void zclose_unused(struct zfile *f)
{
    zoffload_free(f);
    zbackground_free(f);
    (void)leave(f);
    forget(f);
}

int zw_file_close(MPI_File *fh)
{
    struct zfile *f = fh ? zfile_find(*fh) : NULL;
    if (fh)
        zhdf5_several_closes(*fh);
    if (!f) {
        if (fh) {
            zunbound_closed(*fh);
            zdry_close(*fh);
        }
        return PMPI_File_close(fh);
    }
    const int rc = close_container(f, fh);
    zfile_done(f);
    return rc;
}
