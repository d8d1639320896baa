/* api.c - the calls of zmpi.h. */
#include <string.h>

#include "base/floats.h"
#include "calls/unbound.h"
#include "file/zfile.h"
#include "mpi/runtime.h"

/* A file that was opened without a bound. */
static int bind_new(MPI_File fh, const struct zmpi_bound *bound)
{
    zruntime_unseen("zmpi_file_set_bound");
    const struct zmpi_floats program = zmpi_floats_begin();
    const int rc = zunbound_bound(fh, bound);
    zmpi_floats_end(program);
    return rc;
}

int zmpi_file_set_bound(MPI_File fh, const char *bound)
{
    struct zmpi_bound b;
    int rc = bound && zmpi_bound_parse(bound, &b) == ZMPI_OK ? MPI_SUCCESS : MPI_ERR_ARG;
    struct zfile *f = zfile_find(fh);
    if (!f)
        return bind_new(fh, rc ? NULL : &b);
    if (!rc && !zmpi_option_is_hint(&f->options, "error_bound")) {
        const struct zmpi_floats program = zmpi_floats_begin();
        rc = zstage_flush(f); /* what is staged keeps the bound it was given under */
        zmpi_floats_end(program);
        f->options.bound = f->file_bound = b;
        f->options.bound_set = true;
        f->call_rules = false; /* the program's word is stronger */
        zmpi_option_called(&f->options, "error_bound");
    }
    zfile_done(f);
    return rc;
}

int zmpi_file_set_shape(MPI_File fh, const size_t extent[3])
{
    struct zfile *f = zfile_find(fh);
    if (!f)
        return MPI_ERR_FILE;
    if (!zmpi_option_is_hint(&f->options, "shape")) {
        memcpy(f->options.shape, extent, sizeof f->options.shape);
        zmpi_option_called(&f->options, "shape");
    }
    zfile_done(f);
    return MPI_SUCCESS;
}

static bool concerns_files(const char *option)
{
    static const char *const names[] = {"threshold", "fill", "components", "exact_below", "shape"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return false;
}

int zmpi_file_set(MPI_File fh, const char *option, const char *value)
{
    struct zfile *f = zfile_find(fh);
    char message[256];
    int rc = MPI_SUCCESS;
    if (!f)
        zruntime_unseen("zmpi_file_set");
    if (!f)
        return MPI_ERR_FILE;
    struct zmpi_options o = f->options;
    if (!option || !value || !concerns_files(option) ||
        zmpi_option_set(&o, option, value, "zmpi_file_set", message))
        rc = MPI_ERR_ARG;
    if (!rc && !zmpi_option_is_hint(&f->options, option)) {
        const struct zmpi_floats program = zmpi_floats_begin();
        rc = zstage_flush(f); /* what is staged was given under the old value */
        zmpi_floats_end(program);
        f->options = o;
        zmpi_option_called(&f->options, option);
    }
    zfile_done(f);
    return rc;
}

int zmpi_file_is_container(MPI_File fh)
{
    struct zfile *f = zfile_find(fh);
    if (f)
        zfile_done(f);
    return f != NULL;
}

int zmpi_file_get_stats(MPI_File fh, struct zmpi_file_stats *stats)
{
    struct zfile *f = zfile_find(fh);
    if (!f)
        return MPI_ERR_FILE;
    *stats = f->stats.n;
    stats->bytes_offloaded = f->offload.coded.bytes;
    stats->bytes_decoded_offloaded = f->offload.decoded.bytes;
    zfile_done(f);
    return MPI_SUCCESS;
}
