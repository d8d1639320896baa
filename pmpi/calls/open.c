/* open.c - MPI_File_open: which files are containers, which become one, which are none of our
 * business. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "calls/access.h"
#include "calls/dry_run.h"
#include "calls/open.h"
#include "calls/unbound.h"
#include "close/decompress.h"
#include "close/replace.h"
#include "hdf5/hdf5.h"
#include "hdf5/hdf5_several.h"
#include "mpi/descriptors.h"
#include "mpi/policy.h"
#include "mpi/runtime.h"
#include "report/report.h"
#include "wrappers.h"

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
    struct zfile *f = zopen_new_file(zfound_path(name), amode, o, ranks);
    if (!zruntime_all(comm, f != NULL)) {
        if (f)
            zopen_drop_file(f);
        return MPI_SUCCESS;
    }
    f->handle = handle;
    int rc = zopen_container(f, comm, name, MPI_INFO_NULL, ZFOUND_EMPTY, &fh);
    if (rc == ZOPEN_BECAME_ANOTHER)
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
    if (zopen_container(f, comm, zreplace_place(r), info, ZFOUND_EMPTY, &container))
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
        zopen_drop_file(f);
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
        zopen_drop_file(f);
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

/* The settings of a file: by its name, by the hints, and a bound for what HDF5 or a call brings. An
 * MPI error class if one is wrong; then the message says which. */
static int take_settings(const char *path, MPI_Info info, struct zmpi_options *o, char message[256])
{
    int wrong = zmpi_options_for_file(o, path, message) ? MPI_ERR_INFO_VALUE : MPI_SUCCESS;
    if (!wrong)
        wrong = zpolicy_hints(o, info, message);
    const bool datasets = zhdf5_is_opening() && zmpi_rules_dataset(o, NULL, NULL);
    if (datasets && o->source[zmpi_option_index("hdf5")] == ZMPI_FROM_DEFAULT)
        o->hdf5 = ZMPI_HDF5_CONTAINER;
    /* Then data that no rule names are exact. */
    struct zmpi_bound of_calls;
    if (!o->bound_set && (datasets || zmpi_rules_call(o, path, 0, &of_calls))) {
        o->bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
        o->bound_set = true;
    }
    return wrong;
}

/* Raises why what was found cannot be opened. */
static int raise_as_found(int found, int wrong, const char *path, const char *message)
{
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
    if (wrong)
        return zraise_no_file(wrong, "%s: %s", path, message);
    return zraise_no_file(MPI_ERR_NO_MEM, "%s: no memory on some rank to open it", path);
}

static int open_as_found(MPI_Comm comm, const char *filename, int amode, MPI_Info info,
                         MPI_File *fh)
{
    const char *path = zfound_path(filename);
    struct zmpi_options o = *zruntime_options();
    char message[256] = "a setting of another rank is wrong";
    int found, ranks = 1, wrong = take_settings(path, info, &o, message);
    PMPI_Comm_size(comm, &ranks);
    const bool dry = zruntime_options()->dry_run, bound = o.bound_set;
    struct zfile *f = zopen_new_file(path, amode, &o, ranks);
    bool memory = f != NULL;
    int rank = 0, rc = zfound_decide(comm, path, amode, &o, &found, &wrong, &memory);
    if (!rc && !PMPI_Comm_rank(comm, &rank) && rank == 0) {
        zpolicy_look_for_misspelt(info);
        if (found != ZFOUND_OTHER && !wrong)
            zruntime_check_device(&o, path);
    }
    if (f && dry && found == ZFOUND_CONTAINER)
        make_exact(f);
    const bool ready = !rc && memory && !wrong;
    const bool is_empty = found == ZFOUND_EMPTY || found == ZFOUND_REPLACED;
    if (ready && (found == ZFOUND_CONTAINER || (is_empty && !dry)))
        return zopen_container(f, comm, filename, info, (enum zfound)found, fh);
    if (ready && found == ZFOUND_THERE && !dry)
        return open_there(f, comm, filename, info, fh);
    if (ready && dry && is_new_file(found))
        return open_dry(f, comm, filename, info, bound, fh);
    if (f)
        zopen_drop_file(f);
    if (rc)
        return rc;
    if (found != ZFOUND_OTHER && (found != ZFOUND_UNBOUND || wrong))
        return raise_as_found(found, wrong, path, message);
    rc = PMPI_File_open(comm, filename, amode, info, fh);
    if (found == ZFOUND_UNBOUND && !rc)
        zunbound_opened(comm, filename, amode, &o, *fh, open_again);
    return rc;
}

static int open_any(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    for (int tries = 0; tries < 10; tries++) {
        int rc = open_as_found(comm, filename, amode, info, fh);
        if (rc != ZOPEN_BECAME_ANOTHER)
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
