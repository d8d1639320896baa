/* error.c - codec errors become MPI error classes here and nowhere else (MPI 3.1, 13.7). */
#include <stdarg.h>
#include <stdio.h>

#include "file/zfile.h"

int zstatus_class(enum zmpi_status status)
{
    switch (status) {
    case ZMPI_OK:
        return MPI_SUCCESS;
    case ZMPI_ERR_ARG:
    case ZMPI_ERR_BOUND:
        return MPI_ERR_ARG;
    case ZMPI_ERR_MEMORY:
        return MPI_ERR_NO_MEM;
    case ZMPI_ERR_NO_SPACE:
        return MPI_ERR_NO_SPACE;
    case ZMPI_ERR_FORMAT:
    case ZMPI_ERR_VERSION:
    case ZMPI_ERR_TRUNCATED:
    case ZMPI_ERR_CHECKSUM:
    case ZMPI_ERR_CORRUPT:
    case ZMPI_ERR_IO:
        return MPI_ERR_IO;
    case ZMPI_ERR_UNSUPPORTED:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case ZMPI_ERR_SPACE:
    case ZMPI_ERR_SIZE:
    case ZMPI_ERR_DEVICE:
        break;
    }
    return MPI_ERR_OTHER;
}

int zfile_raise(struct zfile *f, int error_class, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    zmpi_log(ZMPI_LOG_ERROR, "%s: %s", f->path, text);
    PMPI_File_call_errhandler(f->handle, error_class);
    return error_class;
}

int zfile_raise_status(struct zfile *f, enum zmpi_status status, const char *what)
{
    return zfile_raise(f, zstatus_class(status), "%s: %s", what, zmpi_strerror(status));
}

/* Codes beyond the classes mean nothing to another process. */
int zfile_worst(const struct zfile *f, int rc)
{
    int mine = MPI_SUCCESS, worst = MPI_SUCCESS;
    if (rc)
        PMPI_Error_class(rc, &mine);
    int reduced = PMPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, f->comm);
    return rc ? rc : reduced ? reduced : worst;
}

int zfile_alike(struct zfile *f, int rc)
{
    int worst = zfile_worst(f, rc);
    if (!rc && worst)
        PMPI_File_call_errhandler(f->handle, worst);
    return worst;
}

static bool is_of_program(MPI_Errhandler handler)
{
#if MPI_VERSION >= 4
    if (handler == MPI_ERRORS_ABORT)
        return false;
#endif
    return handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL;
}

void zfile_set_handler(struct zfile *f, MPI_Errhandler handler)
{
    f->handled = is_of_program(handler);
    PMPI_File_set_errhandler(f->handle, handler);
    if (f->fh != f->handle)
        PMPI_File_set_errhandler(f->fh, handler);
}

void zfile_note_handler(struct zfile *f)
{
    MPI_Errhandler handler;
    if (PMPI_File_get_errhandler(f->handle, &handler))
        return;
    f->handled = is_of_program(handler);
    PMPI_Errhandler_free(&handler);
}

MPI_Errhandler zfile_silence_errors(struct zfile *f)
{
    MPI_Errhandler handler;
    if (PMPI_File_get_errhandler(f->handle, &handler))
        handler = MPI_ERRHANDLER_NULL;
    zfile_set_handler(f, MPI_ERRORS_RETURN);
    return handler;
}

void zfile_restore_handler(struct zfile *f, MPI_Errhandler handler)
{
    if (handler == MPI_ERRHANDLER_NULL)
        return;
    zfile_set_handler(f, handler);
    PMPI_Errhandler_free(&handler);
}

MPI_Errhandler zfile_defer_handler(struct zfile *f)
{
    return f->handled ? zfile_silence_errors(f) : MPI_ERRHANDLER_NULL;
}

int zfile_call_handler(struct zfile *f, MPI_Errhandler deferred, int rc)
{
    if (deferred == MPI_ERRHANDLER_NULL)
        return rc;
    zfile_restore_handler(f, deferred);
    if (rc)
        PMPI_File_call_errhandler(f->handle, rc);
    return rc;
}

int zfile_unsupported(struct zfile *f, const char *function)
{
    return zfile_raise(
        f, MPI_ERR_UNSUPPORTED_OPERATION,
        "%s is not supported on a compressed file (leave this file out with ZMPI_FILES='*,!%s')",
        function, f->path);
}

/*
 * The handler of MPI_FILE_NULL is the one for errors of MPI_File_open (MPI 3.1, 13.7). Open MPI 4
 * lets us ask for it but not call it, and calls MPI_COMM_WORLD's instead: a handler of the
 * program's own is not called there.
 */
static void call_default_handler(int error_class)
{
    MPI_Errhandler handler;
    if (PMPI_File_get_errhandler(MPI_FILE_NULL, &handler))
        return;
    if (handler == MPI_ERRORS_ARE_FATAL)
        PMPI_Abort(MPI_COMM_WORLD, error_class);
#ifndef OPEN_MPI
    if (handler != MPI_ERRORS_RETURN)
        PMPI_File_call_errhandler(MPI_FILE_NULL, error_class);
#endif
    PMPI_Errhandler_free(&handler);
}

int zraise_no_file(int error_class, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    zmpi_log(ZMPI_LOG_ERROR, "%s", text);
    call_default_handler(error_class);
    return error_class;
}
