/* init.c - MPI_Init and MPI_Finalize: the job's settings, and the end of all that is still open. */
#include "base/pool.h"
#include "collective/coll.h"
#include "dry/dry_rows.h"
#include "hdf5/hdf5_filter.h"
#include "mpi/next.h"
#include "mpi/presence.h"
#include "mpi/runtime.h"
#include "mpi/timeline.h"
#include "report/report.h"
#include "wrappers.h"

static bool finishes_last; /* after what the program does inside MPI_Finalize */

/* A program that forgot MPI_File_close: what it wrote goes to its slots, where a scan of the log
 * finds it. */
static void rescue(struct zfile *f)
{
    if (zfile_may_write(f) && !zstage_flush(f))
        zplace_own(f);
}

/* While the MPI library's files are whole: ROMIO ends by an attribute too, before ours. */
static void rescue_before(void)
{
    struct zfile *last = NULL;
    for (struct zfile *f; (f = zfile_after(last)); last = f) {
        rescue(f);
        zfile_done(f); /* it stays in the table */
    }
}

static void rescue_open_files(void)
{
    struct zfile *f;
    while ((f = zfile_after(NULL))) {
        if (zfile_may_write(f))
            zmpi_log(ZMPI_LOG_WARN,
                     "%s: not closed before MPI_Finalize; zmpi fsck --repair writes its index",
                     f->path);
        rescue(f);
        zoffload_free(f);
        zbackground_free(f);
        zfile_remove(f);
        zfile_done(f);
    }
}

static void finish(void)
{
    rescue_open_files();
    zcomm_finalize();
    if (zruntime_agreed()) {
        zcall_dry_end();
        zreport_finalize();
    }
    zmpi_pool_stop();
    zmpi_device_give_all();
}

static int on_finish(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)attribute, (void)extra;
    finish();
    return MPI_SUCCESS;
}

/*
 * MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF, the last one first (MPI 3.1,
 * 8.7.1). Programs and libraries close their files there, HDF5 for one: what ends with us is an
 * attribute too, and older than theirs.
 */
static void finish_last(void)
{
    int key;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finish, &key, NULL))
        return;
    finishes_last = !PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    PMPI_Comm_free_keyval(&key); /* it stays as long as the attribute does */
}

/* Nothing is sent to anybody from here on. */
static void stay_out(int rank, int missing)
{
    zruntime_stay_out(rank);
    if (zpresence_is_first())
        zmpi_log(
            ZMPI_LOG_WARN,
            "rank %d of MPI_COMM_WORLD runs without libzmpi.so, and perhaps others: nothing is "
            "compressed; give LD_PRELOAD to every program of the job, or to none",
            missing);
}

static void start(void)
{
    int rank;
    zdry_begin();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int missing = zpresence_missing();
    finish_last();
    if (missing >= 0)
        stay_out(rank, missing);
    else {
        zruntime_agree(rank);
        zhdf5_filter_agree();
    }
    ztimeline_begin();
}

int zw_init(int *argc, char ***argv)
{
    if (zruntime_off())
        return PMPI_Init(argc, argv);
    zruntime_begin();
    zpresence_announce();
    int rc = PMPI_Init(argc, argv);
    if (!rc)
        start();
    return rc;
}

int zw_init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (zruntime_off())
        return PMPI_Init_thread(argc, argv, required, provided);
    zruntime_begin();
    zpresence_announce();
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    if (!rc)
        start();
    return rc;
}

int zw_finalize(void)
{
    if (finishes_last)
        rescue_before();
    else
        finish();
    return PMPI_Finalize();
}
