/* hdf5_several.c - see hdf5_several.h. */
#include "hdf5/hdf5_several.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5/hdf5_filter.h"
#include "mpi/next.h"

struct several {
    MPI_File handle;
    struct several *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct several *all;

void zhdf5_several_opened(MPI_File handle, int ranks)
{
    if (ranks == 1 || !zhdf5_is_opening() || !zhdf5_filter_is_used())
        return;
    struct several *s = malloc(sizeof *s);
    if (!s)
        return; /* HDF5 refuses it then */
    s->handle = handle;
    pthread_mutex_lock(&lock);
    s->next = all;
    all = s;
    pthread_mutex_unlock(&lock);
}

void zhdf5_several_closes(MPI_File handle)
{
    pthread_mutex_lock(&lock);
    struct several **at = &all;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct several *s = *at;
    if (s)
        *at = s->next;
    pthread_mutex_unlock(&lock);
    free(s);
}

/* The handle that HDF5's driver for MPI-IO returns has the type MPI_File. Other drivers return the
 * address of a part of their own file structure, and no open MPI_File has those bytes. */
bool zhdf5_several_handle(const struct zhdf5 *h, hid_t object, MPI_File *handle)
{
    const int type = h->H5Iget_type(object);
    if (type != ZH5I_FILE && type != ZH5I_GROUP && type != ZH5I_DATASET)
        return false;
    void *at = NULL;
    const hid_t file = h->H5Iget_file_id(object);
    const bool found =
        file >= 0 && h->H5Fget_vfd_handle(file, ZH5P_DEFAULT, &at) >= 0 && at != NULL;
    if (found)
        memcpy(handle, at, sizeof *handle);
    if (file >= 0)
        h->H5Fclose(file);
    return found;
}

bool zhdf5_several_have(const struct zhdf5 *h, hid_t object)
{
    MPI_File handle;
    pthread_mutex_lock(&lock);
    const bool any = all != NULL;
    pthread_mutex_unlock(&lock);
    if (!any || !zhdf5_several_handle(h, object, &handle))
        return false;
    pthread_mutex_lock(&lock);
    const struct several *s = all;
    while (s && s->handle != handle)
        s = s->next;
    pthread_mutex_unlock(&lock);
    return s != NULL;
}
