/* position.c - views and file pointers of a container (MPI 3.1, 13.3 and 13.4.3). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calls/access.h"
#include "calls/dry_run.h"
#include "calls/unbound.h"
#include "file/zfile.h"
#include "index/header.h"
#include "mpi/policy.h"
#include "wrappers.h"

/* The bound of the file, but for calls and datasets that rules name. */
static const struct zmpi_bound *bound_in_force(const struct zfile *f)
{
    return zmpi_option_is_hint(&f->options, "error_bound") ? &f->options.bound : &f->file_bound;
}

/* Programs pass hints of MPI_File_get_info back (HDF5 from 1.14 on does): these set nothing, and
 * rules stay stronger. */
static int take_hints(struct zfile *f, MPI_Info info, char message[256])
{
    const size_t row = zmpi_option_index("error_bound");
    const struct zmpi_bound force = *bound_in_force(f), before = f->options.bound;
    const unsigned char source = f->options.source[row];
    const bool was_set = f->options.bound_set;
    int rc = zpolicy_hints(&f->options, info, message);
    if (!rc && was_set && f->options.bound.mode == force.mode &&
        f->options.bound.value == force.value) { // NOLINT: the same number
        f->options.bound = before;
        f->options.source[row] = source;
    }
    return rc;
}

static int apply_hints(struct zfile *f, MPI_Info info)
{
    char message[256];
    if (info == MPI_INFO_NULL)
        return MPI_SUCCESS;
    int rc = zstage_flush(f); /* staged data keep the bound that they were written with */
    if (take_hints(f, info, message))
        return zfile_raise(f, MPI_ERR_INFO_VALUE, "%s", message);
    if (f->rank == 0)
        zpolicy_look_for_misspelt(info);
    return rc;
}

static int change_view(struct zfile *f, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep)
{
    struct zview view;
    if (!datarep)
        return zfile_raise(f, MPI_ERR_UNSUPPORTED_DATAREP, "set_view: no data representation");
    if (strcasecmp(datarep, "native") != 0 && strcasecmp(datarep, "internal") != 0)
        return zfile_raise(f, MPI_ERR_UNSUPPORTED_DATAREP,
                           "data representation %s: compressed files have native and internal",
                           datarep);
    if (disp == MPI_DISPLACEMENT_CURRENT && (f->amode & MPI_MODE_SEQUENTIAL)) {
        uint64_t position = 0;
        int peeked = zshared_position(f, &position);
        if (peeked)
            return peeked;
        disp = (MPI_Offset)zview_offset(&f->view, position);
    }
    if (disp < 0)
        return zfile_raise(f, MPI_ERR_ARG, "set_view: displacement %lld", (long long)disp);
    int rc = zview_make(&view, disp, etype, filetype);
    if (rc)
        return zfile_raise(f, rc, "set_view: datatype");
    if (view.etype_size == 0 || view.file.size % view.etype_size) {
        zview_free(&view);
        return zfile_raise(f, MPI_ERR_ARG, "set_view: the filetype is not made of etypes");
    }
    const char *forbidden = zview_forbidden(&view, zfile_may_write(f));
    if (forbidden) {
        zview_free(&view);
        return zfile_raise(f, MPI_ERR_ARG, "set_view: the filetype is not allowed: %s", forbidden);
    }
    zview_free(&f->view);
    f->view = view;
    f->position = 0;
    return MPI_SUCCESS;
}

int zposition_take(struct zfile *f, MPI_File plain)
{
    MPI_Offset disp = 0, position = 0;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING + 1] = "";
    int rc = PMPI_File_get_view(plain, &disp, &etype, &filetype, datarep);
    if (rc)
        return rc;
    rc = change_view(f, disp, etype, filetype, datarep);
    if (!ztype_is_predefined(etype))
        PMPI_Type_free(&etype);
    if (!ztype_is_predefined(filetype))
        PMPI_Type_free(&filetype);
    if (!rc && !(f->amode & MPI_MODE_SEQUENTIAL))
        rc = PMPI_File_get_position(plain, &position);
    f->position = (uint64_t)position * f->view.etype_size;
    return rc;
}

static int set_view(struct zfile *f, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                    const char *datarep, MPI_Info info)
{
    int flushed = zflush_independent(f), rc = change_view(f, disp, etype, filetype, datarep);
    int reset = zshared_reset(f, rc == MPI_SUCCESS); /* collective, whatever happened here */
    int hinted = apply_hints(f, info);
    return rc ? rc : flushed ? flushed : reset ? reset : hinted;
}

int zw_file_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                     const char *datarep, MPI_Info info)
{
    int rc = zunbound_hints(fh, info);
    if (rc)
        return rc;
    struct zfile *f = zfile_find(fh);
    if (!f) {
        zdry_set_view(fh, disp, etype, filetype);
        zpolicy_passed_over(fh, info);
        return PMPI_File_set_view(fh, disp, etype, filetype, datarep, info);
    }
    rc = set_view(f, disp, etype, filetype, datarep, info);
    zfile_done(f);
    return rc;
}

/* The caller frees what it gets, unless it is predefined. */
static int give_type(MPI_Datatype kept, MPI_Datatype *given)
{
    int combiner, rc = ztype_combiner(kept, &combiner);
    if (rc || combiner == MPI_COMBINER_NAMED) {
        *given = kept;
        return rc;
    }
    return PMPI_Type_dup(kept, given);
}

int zf_file_get_view(struct zfile *f, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                     char *datarep)
{
    *disp = f->view.displacement;
    strcpy(datarep, "native");
    int rc = give_type(f->view.etype, etype);
    return rc ? rc : give_type(f->view.filetype, filetype);
}

/* Etypes of the view that lie below the end of the file. */
static uint64_t end_of_file(struct zfile *f)
{
    uint64_t below = zview_bytes_below(&f->view, zfile_size(f));
    return (below + f->view.etype_size - 1) / f->view.etype_size;
}

int zf_file_seek(struct zfile *f, MPI_Offset offset, int whence)
{
    MPI_Offset from = 0;
    uint64_t position;
    int rc = zfile_sequential(f, "seek");
    if (rc)
        return rc;
    if (whence == MPI_SEEK_CUR)
        from = (MPI_Offset)(f->position / f->view.etype_size);
    else if (whence == MPI_SEEK_END)
        from = (MPI_Offset)end_of_file(f);
    else if (whence != MPI_SEEK_SET)
        return zfile_raise(f, MPI_ERR_ARG, "seek: whence %d", whence);
    if (__builtin_add_overflow(from, offset, &from) || from < 0 ||
        __builtin_mul_overflow((uint64_t)from, f->view.etype_size, &position))
        return zfile_raise(f, MPI_ERR_ARG, "seek: offset %lld leads out of the file",
                           (long long)offset);
    f->position = position;
    return MPI_SUCCESS;
}

int zf_file_get_position(struct zfile *f, MPI_Offset *offset)
{
    *offset = (MPI_Offset)(f->position / f->view.etype_size);
    return zfile_sequential(f, "get_position");
}

int zf_file_get_byte_offset(struct zfile *f, MPI_Offset offset, MPI_Offset *disp)
{
    uint64_t position;
    int rc = zfile_sequential(f, "get_byte_offset");
    if (rc)
        return rc;
    if (offset < 0 || __builtin_mul_overflow((uint64_t)offset, f->view.etype_size, &position))
        return zfile_raise(f, MPI_ERR_ARG, "get_byte_offset: offset %lld", (long long)offset);
    *disp = (MPI_Offset)zview_offset(&f->view, position);
    return MPI_SUCCESS;
}

int zf_file_get_type_extent(struct zfile *f, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    int rc =
        datatype == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : PMPI_Type_get_extent(datatype, &lb, extent);
    return rc ? zfile_raise(f, rc, "get_type_extent") : MPI_SUCCESS;
}

int zf_file_get_amode(struct zfile *f, int *amode)
{
    *amode = f->amode;
    return MPI_SUCCESS;
}

int zf_file_get_group(struct zfile *f, MPI_Group *group)
{
    return PMPI_File_get_group(f->fh, group);
}

int zw_file_set_info(MPI_File fh, MPI_Info info)
{
    int rc = zunbound_hints(fh, info);
    if (rc)
        return rc;
    struct zfile *f = zfile_find(fh);
    rc = PMPI_File_set_info(f ? f->fh : fh, info);
    if (!f)
        zpolicy_passed_over(fh, info);
    if (f && !rc)
        rc = apply_hints(f, info);
    if (f)
        zfile_done(f);
    return rc;
}

int zw_file_set_errhandler(MPI_File fh, MPI_Errhandler handler)
{
    struct zfile *f = fh == MPI_FILE_NULL ? NULL : zfile_find(fh);
    const int rc = PMPI_File_set_errhandler(fh, handler);
    if (f && !rc)
        zfile_set_handler(f, handler);
    if (f)
        zfile_done(f);
    return rc;
}

/* The MPI library's hints and ours that are in force. */
int zf_file_get_info(struct zfile *f, MPI_Info *info_used)
{
    int rc = PMPI_File_get_info(f->fh, info_used);
    if (!rc && f->options.bound_set) {
        char bound[40];
        zmpi_bound_format(bound_in_force(f), bound);
        rc = PMPI_Info_set(*info_used, "zmpi_error_bound", bound);
    }
    return rc;
}

static int set_atomic(struct zfile *f, bool atomic)
{
    int rc = zflush_collective(f);
    uint64_t flushed[2] = {MPI_SUCCESS, 0};
    if (atomic && f->rank == 0) {
        flushed[0] = (uint64_t)zsession_share_log(f);
        flushed[1] = f->session.known;
    }
    int sent = PMPI_Bcast(flushed, 2, MPI_UINT64_T, 0, f->comm);
    rc = zfile_worst(f, rc ? rc : sent ? sent : (int)flushed[0]);
    if (rc)
        return rc;
    f->session.shared = f->session.shared || atomic;
    f->session.known = flushed[1];
    rc = zfile_worst(f, zindex_reload(f));
    f->session.atomic = rc ? f->session.atomic : atomic;
    return rc;
}

int zf_file_set_atomicity(struct zfile *f, int flag)
{
    const bool atomic = flag != 0;
    if (!zfile_may_write(f)) /* nobody in this group writes */
        f->session.atomic_reads = atomic;
    else if (atomic != f->session.atomic)
        return set_atomic(f, atomic);
    return MPI_SUCCESS;
}

int zf_file_get_atomicity(struct zfile *f, int *flag)
{
    *flag = f->session.atomic || f->session.atomic_reads;
    return MPI_SUCCESS;
}
