/* found.c - what is at a path: a container, what is left of one, nothing, or none of our business;
 * and what becomes of it.
 */
#define _GNU_SOURCE // SEEK_DATA
#include "calls/found.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "close/decompress.h"
#include "close/replace.h"
#include "container/container.h"
#include "file/physical.h"
#include "file/zfile.h"
#include "hdf5/hdf5.h"
#include "mpi/descriptors.h"
#include "reader/overwritten.h"
#include "report/report.h"

const char *zfound_path(const char *name)
{
    static const char *const systems[] = {"ufs",   "nfs",  "xfs",  "gpfs", "lustre", "panfs",
                                          "pvfs2", "pvfs", "daos", "ime",  "quobyte"};
    const char *colon = strchr(name, ':');
    if (!colon || access(name, F_OK) == 0)
        return name;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strlen(systems[i]) == (size_t)(colon - name) &&
            strncasecmp(name, systems[i], (size_t)(colon - name)) == 0)
            return colon + 1;
    return name;
}

/* Bytes at the beginning and the end of a file that tell what it is. */
enum { HEAD = ZMPI_HEAD_BYTES, TAIL = 4096 };

/* The end is not read if the beginning tells: others may be cutting the file. */
static bool is_overwritten(int fd, const unsigned char *head, size_t size, off_t file_size)
{
    unsigned char tail[TAIL];
    ssize_t end = 0;
    if (!zmpi_is_container(head, size))
        end = zfd_read(fd, tail, TAIL, file_size > TAIL ? file_size - TAIL : 0);
    return zmpi_was_container(head, size, tail, end > 0 ? (size_t)end : 0);
}

static enum zmpi_status fd_read(void *context, uint64_t offset, void *dst, size_t size)
{
    return zfd_read(*(const int *)context, dst, size, (off_t)offset) == (ssize_t)size ? ZMPI_OK
                                                                                      : ZMPI_ERR_IO;
}

static uint64_t fd_data_at(void *context, uint64_t offset)
{
    const off_t data = lseek(*(const int *)context, (off_t)offset, SEEK_DATA);
    return data >= 0 ? (uint64_t)data : errno == ENXIO ? UINT64_MAX : offset;
}

/* Its first bytes are another program's, or damaged. */
static enum zfound recognise_overwritten(const struct zmpi_reader *in)
{
    struct zmpi_overwritten o;
    return zmpi_overwritten_look(in, &o) == ZMPI_OK && o.plain ? ZFOUND_PLAIN_OVER
                                                               : ZFOUND_OVERWRITTEN;
}

/* Judges by its first bytes; size 0: they cannot be read. */
static enum zfound recognise(int fd, const unsigned char *head, size_t size, off_t file_size)
{
    const struct zmpi_reader reader = {
        .read = fd_read, .data_at = fd_data_at, .context = &fd, .file_size = (uint64_t)file_size};
    if (zmpi_container_copied(head, size, &reader))
        return ZFOUND_CONTAINER;
    if (size == 0)
        return ZFOUND_FAILED;
    if (is_overwritten(fd, head, size, file_size))
        return recognise_overwritten(&reader);
    if (zmpi_is_container(head, size))
        return ZFOUND_CONTAINER;
    return zmpi_container_lost(head, size, &reader) ? ZFOUND_LOST : ZFOUND_OTHER;
}

enum zfound zfound_at(const char *path)
{
    unsigned char head[HEAD];
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) /* the MPI library may yet get one */
        return ZFOUND_FAILED;
    if (fd < 0)
        return errno == ENOENT ? ZFOUND_NONE : ZFOUND_OTHER; /* the MPI library will say why */
    enum zfound found = ZFOUND_OTHER;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) {
        const ssize_t got = zfd_read(fd, head, HEAD, 0);
        const bool failed = got < (s.st_size < ZMPI_HEADER_BYTES ? s.st_size : ZMPI_HEADER_BYTES);
        found = got == 0 && !failed ? ZFOUND_EMPTY
                                    : recognise(fd, head, failed ? 0 : (size_t)got, s.st_size);
    }
    close(fd);
    return found;
}

/* ---- what becomes of it ---- */

/* HDF5's own file, whatever its name is. */
static bool is_filtered(const struct zmpi_options *o)
{
    return zhdf5_is_opening() && o->hdf5 == ZMPI_HDF5_FILTER;
}

bool zfound_is_selected(const struct zmpi_options *o, const char *path)
{
    const bool listed = o->source[zmpi_option_index("files")] != ZMPI_FROM_DEFAULT;
    if (is_filtered(o))
        return false;
    return (o->hdf5 == ZMPI_HDF5_CONTAINER && zhdf5_is_opening() && !listed) ||
           zmpi_options_file_matches(o, path);
}

/* A file that HDF5 is about to cut to nothing is a new one. (It opens it twice: first as it is.) */
static bool is_cut(const char *path, int amode)
{
    struct stat s;
    return zhdf5_is_truncating() && amode & MPI_MODE_CREATE && amode & MPI_MODE_RDWR &&
           stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* What a file becomes that is cut to nothing: a container that was plain, or HDF5's own file. */
static enum zfound as_cut(enum zfound there, const char *path, const struct zmpi_options *o,
                          bool wanted)
{
    if (there == ZFOUND_CONTAINER && is_filtered(o))
        return ZFOUND_OTHER;
    return there == ZFOUND_OTHER && o->hdf5 == ZMPI_HDF5_CONTAINER && wanted &&
                   !zdecompress_is_known(path, o)
               ? ZFOUND_REPLACED
               : there;
}

/* Rank 0: notes for the report a file that is opened for writing and stays plain. `there`: what was
 * found; it may be no data file at all. */
static void tell_of_plain(const char *path, enum zfound there, bool selected,
                          const struct zmpi_options *o)
{
    struct stat s;
    const bool is_new = there == ZFOUND_EMPTY || there == ZFOUND_NONE;
    if (!is_new && (stat(path, &s) || !S_ISREG(s.st_mode)))
        return;
    zreport_left_alone(path,
                       is_filtered(o)  ? ZLEFT_FILTERED
                       : !selected     ? ZLEFT_NOT_SELECTED
                       : !o->bound_set ? ZLEFT_NO_BOUND
                       : is_new        ? ZLEFT_AS_OTHERS
                                       : ZLEFT_THERE,
                       is_new);
}

int zfound_decide(MPI_Comm comm, const char *path, int amode, const struct zmpi_options *o,
                  int *found, int *wrong, bool *memory)
{
    /* A bound that cannot be read is no wish for none. */
    const bool selected = zfound_is_selected(o, path);
    const bool wanted = (o->bound_set || *wrong) && selected;
    const bool writes = amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR);
    int rank,
        mine[4] = {ZFOUND_OTHER, *wrong, selected && writes && zdescriptors_writing(path),
                   !*memory},
        all[4];
    int rc = PMPI_Comm_rank(comm, &rank);
    if (!rc && rank == 0) {
        const enum zfound there = zfound_at(path);
        mine[0] = (int)there;
        if (mine[0] == ZFOUND_PLAIN_OVER) {
            zmpi_log(ZMPI_LOG_WARN,
                     "%s: is a plain file: a program without zmpi wrote over a compressed one, of "
                     "which the end is left (zmpi recover --plain cuts it off)",
                     path);
            mine[0] = ZFOUND_OTHER;
        }
        if (is_cut(path, amode))
            mine[0] = (int)as_cut((enum zfound)mine[0], path, o, wanted);
        if (mine[0] == ZFOUND_OTHER && there == ZFOUND_OTHER && wanted && !*wrong && writes &&
            zreplace_may(comm, path, amode, o))
            mine[0] = ZFOUND_THERE;
        if (mine[0] == ZFOUND_NONE) /* an error of the MPI library, unless it makes one */
            mine[0] = amode & MPI_MODE_CREATE ? ZFOUND_EMPTY : ZFOUND_OTHER;
        /* A reader counts as a user of the container, too: others may be about to write. */
        const bool is_new = mine[0] == ZFOUND_EMPTY;
        if (mine[0] == ZFOUND_EMPTY && zdecompress_is_known(path, o))
            mine[0] = ZFOUND_OTHER;
        if (mine[0] == ZFOUND_EMPTY && !wanted)
            mine[0] = selected && writes ? ZFOUND_UNBOUND : ZFOUND_OTHER;
        if ((mine[0] == ZFOUND_OTHER || mine[0] == ZFOUND_UNBOUND) && writes && !*wrong &&
            (is_new || there != ZFOUND_NONE))
            tell_of_plain(path, there, selected, o);
    }
    if (!rc)
        rc = PMPI_Allreduce(mine, all, 4, MPI_INT, MPI_MAX, comm);
    const bool is_new =
        all[0] == ZFOUND_EMPTY || all[0] == ZFOUND_REPLACED || all[0] == ZFOUND_UNBOUND;
    const bool ours = !rc && !(is_new && all[2]);
    if (!rc && !ours && rank == 0 && all[0] != ZFOUND_UNBOUND) {
        zreport_left_alone(path, ZLEFT_OPEN_OTHERWISE, true);
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: not compressed: the program has it open by other means than MPI-IO too",
                 path);
    }
    *found = ours ? all[0] : ZFOUND_OTHER;
    *wrong = rc ? rc : all[1];
    *memory = !rc && !all[3];
    return rc;
}
