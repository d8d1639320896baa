/*
 * hdf5_filter.c - see hdf5_filter.h. zmpi registers the class of the plug-in that HDF5 would load
 * itself. So filter and file are the same with and without libzmpi.so.
 */
#define _GNU_SOURCE // dladdr
#include "hdf5/hdf5_filter.h"

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "hdf5/hdf5_parameters.h"
#include "mpi/runtime.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX]; /* "": not found */
static const void *class_of_filter;
static void (*set_range)(const struct zmpi_range *);
static atomic_bool used;

/* lib/zmpi/hdf5 beside libzmpi_codec.so in lib; libzmpi.so may be a copy in another folder. */
static void find_folder(void)
{
    Dl_info info;
    void *codec = dlsym(RTLD_DEFAULT, "zmpi_compress_with");
    char *path =
        dladdr(codec ? codec : (void *)&once, &info) ? realpath(info.dli_fname, NULL) : NULL;
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) {
        *slash = 0;
        const int n = snprintf(folder, sizeof folder, "%s/zmpi/hdf5", path);
        if (n < 0 || n >= PATH_MAX)
            folder[0] = 0;
    }
    free(path);
}

static void load(void)
{
    char file[PATH_MAX + 16];
    const void *(*info)(void);
    find_folder();
    if (zruntime_off() || zruntime_options()->never /* other ranks may have no libzmpi.so */ ||
        zruntime_options()->hdf5 != ZMPI_HDF5_FILTER)
        return;
    snprintf(file, sizeof file, "%s/libh5zmpi.so", folder);
    void *handle = folder[0] ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *class = handle ? dlsym(handle, "H5PLget_plugin_info") : NULL;
    void *range = handle ? dlsym(handle, "h5zmpi_set_range") : NULL;
    if (!class || !range) {
        zmpi_log(ZMPI_LOG_ERROR,
                 "ZMPI_HDF5=filter: %s is not there or not of this version: datasets are written "
                 "without it",
                 file);
        return;
    }
    memcpy(&info, &class, sizeof class);
    memcpy(&set_range, &range, sizeof range);
    class_of_filter = info();
    atomic_store_explicit(&used, true, memory_order_release);
}

bool zhdf5_filter_is_used(void)
{
    return atomic_load_explicit(&used, memory_order_acquire);
}

void zhdf5_filter_agree(void)
{
    if (zruntime_off() || zruntime_options()->hdf5 != ZMPI_HDF5_FILTER)
        return;
    pthread_once(&once, load);
    int mine = zhdf5_filter_is_used(), all = 0;
    if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) || (mine && !all)) {
        atomic_store(&used, false);
    }
}

void zhdf5_filter_set_range(const struct zmpi_range *range)
{
    set_range(range);
}

/* In front of HDF5's own default, which often does not exist: HDF5 stops at the first folder that
 * it cannot open. */
static void show_folder(const struct zhdf5 *h)
{
    static const struct zhdf5 *warned[16];
    static size_t count;
    unsigned allowed = 0;
    pthread_mutex_lock(&lock);
    bool first = count < sizeof warned / sizeof *warned;
    for (size_t i = 0; i < count; i++)
        first = first && warned[i] != h;
    if (first)
        warned[count++] = h;
    pthread_mutex_unlock(&lock);
    if (first && folder[0] && h->H5PLprepend && h->H5PLget_loading_state(&allowed) >= 0 &&
        allowed & ZH5PL_FILTERS)
        h->H5PLprepend(folder);
}

void zhdf5_filter_ready(const struct zhdf5 *h)
{
    pthread_once(&once, load);
    if (zruntime_off() || !zhdf5_is_known(h))
        return;
    if (zhdf5_filter_is_used())
        h->H5Zregister(class_of_filter); /* once more after H5close, which drops the filter */
    else
        show_folder(h);
}

bool zhdf5_filter_of(const struct zhdf5 *h, hid_t list, enum zmpi_mode *mode)
{
    unsigned values[ZHDF5_PARAMETERS] = {0}, flags, config;
    size_t count = ZHDF5_PARAMETERS;
    const bool found =
        h->H5Pget_filter2(list, 0, &flags, &count, values, 0, NULL, &config) == ZHDF5_FILTER;
    *mode = (enum zmpi_mode)values[0];
    return found;
}
