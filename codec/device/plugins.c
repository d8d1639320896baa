/*
 * plugins.c - the plug-ins that lie beside the library (their format: device.h).
 *
 * They are opened once, at the first question that the CPU alone does not answer, and never closed:
 * their threads and memory may outlive any call. A device is probed when it is first to be
 * used: a probe may start a driver, which takes long and reads its settings, and a program that
 * uses that itself must come first.
 */
#define _GNU_SOURCE // dladdr
#include "device/plugins.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/log.h"

#define PREFIX       "libzmpi_"
#define SUFFIX       ".so"
#define MOST_DEVICES 16

#ifndef ZMPI_PLUGIN_DIR
#define ZMPI_PLUGIN_DIR "/usr/local/lib/zmpi"
#endif

static struct zmpi_plugin known[MOST_DEVICES];
static size_t known_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct zmpi_device *_Atomic with_memory; /* of its own; the first one */
static unsigned preferred;

static struct zmpi_plugin *find(const char *name)
{
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

static void add(const char *name, const struct zmpi_device *device, const char *missing)
{
    if (known_count == MOST_DEVICES)
        return;
    struct zmpi_plugin *k = &known[known_count++];
    snprintf(k->name, sizeof k->name, "%s", name);
    k->device = device;
    k->missing = missing;
    pthread_mutex_init(&k->lock, NULL);
    if (device != NULL && device->prefer != NULL)
        device->prefer(preferred);
    if (device == NULL || (device->memory & ZMPI_MEMORY_GPU) == 0)
        return;
    const struct zmpi_device *none = NULL;
    atomic_compare_exchange_strong(&with_memory, &none, device);
}

const char *zmpi_plugin_probe(struct zmpi_plugin *k)
{
    if (k->device == NULL)
        return k->missing;
    if (atomic_load(&k->probed))
        return k->missing;
    pthread_mutex_lock(&k->lock);
    if (!atomic_load(&k->probed)) {
        k->missing = k->device->probe();
        atomic_store(&k->probed, true);
    }
    pthread_mutex_unlock(&k->lock);
    return k->missing;
}

/* A plug-in that cannot be used says why: now, and again when it is asked for by name. */
static void refuse(const char *name, const char *path, enum zmpi_log_level level,
                   const char *reason)
{
    char *text = NULL;
    zmpi_log(level, "plug-in %s: %s", path, reason);
    if (asprintf(&text, "plug-in %s: %s", path, reason) < 0)
        text = NULL;
    add(name, NULL, text != NULL ? text : "its plug-in could not be opened"); // kept for good
}

/* NULL if all that device.h asks of a plug-in is there. Looks at no more of it than its size
 * allows. */
static const char *check(const struct zmpi_device *device, const char *name, char reason[160])
{
    if (device->size < offsetof(struct zmpi_device, memory))
        return "its device has no ABI number";
    if (device->abi != ZMPI_DEVICE_ABI || device->size != sizeof *device) {
        snprintf(reason, 160,
                 "made for device ABI %u (%zu bytes), this zmpi has %u (%zu bytes); rebuild it",
                 device->abi, device->size, ZMPI_DEVICE_ABI, sizeof *device);
        return reason;
    }
    if (device->name == NULL || strcmp(device->name, name) != 0)
        return "its device has another name than its file";
    bool memory = (device->memory & ZMPI_MEMORY_GPU) != 0;
    if (!device->probe || !device->cost || !device->compress || !device->decompress ||
        (memory && (!device->where || !device->copy || !device->range || !device->take ||
                    !device->give || !device->prefer || !device->give_all)))
        return "its device lacks functions";
    return NULL;
}

static void open_plugin(const char *name, const char *path)
{
    char reason[160];
    if (find(name) != NULL || strcmp(name, "cpu") == 0)
        return; // found in an earlier directory, or ours
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        // Quiet: a plug-in whose vendor's library is not on this machine is no mistake.
        const char *error = dlerror();
        refuse(name, path, ZMPI_LOG_INFO, error != NULL ? error : "cannot be opened");
        return;
    }
    // POSIX says that this conversion works; C has no word for it.
    const struct zmpi_device *(*plugin)(void);
    *(void **)&plugin = dlsym(handle, "zmpi_device_plugin");
    const struct zmpi_device *device = plugin != NULL ? plugin() : NULL;
    const char *wrong = plugin == NULL   ? "has no function zmpi_device_plugin"
                        : device == NULL ? "offers no device"
                                         : check(device, name, reason);
    if (wrong == NULL) {
        add(name, device, NULL);
        return;
    }
    refuse(name, path, ZMPI_LOG_WARN, wrong);
    dlclose(handle);
}

/* "libzmpi_cuda.so" -> "cuda"; false if it is not such a name. */
static bool plugin_name(const char *file, char name[32])
{
    size_t n = strlen(file), ends = strlen(PREFIX) + strlen(SUFFIX);
    if (n <= ends || n - ends >= 32 || strncmp(file, PREFIX, strlen(PREFIX)) != 0 ||
        strcmp(file + n - strlen(SUFFIX), SUFFIX) != 0)
        return false;
    memcpy(name, file + strlen(PREFIX), n - ends);
    name[n - ends] = 0;
    return true;
}

/* Opens all plug-ins of a directory, sorted by name, so that the order is the same everywhere. */
static void open_directory(const char *directory)
{
    struct dirent **entry;
    int n = scandir(directory, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX], name[32];
        int length = snprintf(path, sizeof path, "%s/%s", directory, entry[i]->d_name);
        if (length > 0 && length < PATH_MAX && plugin_name(entry[i]->d_name, name))
            open_plugin(name, path);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

/* ZMPI_PLUGIN_PATH: directories separated by colons. */
static void open_path(const char *list)
{
    char *copy = strdup(list != NULL ? list : ""), *rest = copy, *directory;
    while (copy != NULL && (directory = strsep(&rest, ":")) != NULL)
        if (*directory != 0)
            open_directory(directory);
    free(copy);
}

/* The file this code was loaded from, without links; malloc'ed. */
static char *own_path(void)
{
    Dl_info self, program;
    if (dladdr(&once, &self) == 0)
        return NULL;
    // What the program's own file is called there, argv[0], need not be a path.
    const bool own = dladdr((const void *)getauxval(AT_PHDR), &program) != 0 &&
                     program.dli_fbase == self.dli_fbase;
    return realpath(own ? "/proc/self/exe" : self.dli_fname, NULL);
}

/* lib/libzmpi.so has its plug-ins in lib/zmpi, bin/zmpi in ../lib/zmpi. */
static void open_beside(void)
{
    static const char *const place[] = {"zmpi", "../lib/zmpi"};
    char *path = own_path(), *slash = path != NULL ? strrchr(path, '/') : NULL;
    char directory[PATH_MAX];
    if (slash != NULL) {
        *slash = 0;
        for (size_t i = 0; i < 2; i++) {
            int n = snprintf(directory, sizeof directory, "%s/%s", path, place[i]);
            if (n > 0 && n < PATH_MAX)
                open_directory(directory);
        }
    }
    free(path);
}

static void open_all(void)
{
    open_path(secure_getenv("ZMPI_PLUGIN_PATH"));
    open_beside();
    open_directory(ZMPI_PLUGIN_DIR);
}

struct zmpi_plugin *zmpi_plugins(size_t *count)
{
    pthread_once(&once, open_all);
    *count = known_count;
    return known;
}

const struct zmpi_device *zmpi_device_holding(const void *address)
{
    const struct zmpi_device *device = atomic_load_explicit(&with_memory, memory_order_acquire);
    return device != NULL && device->where(address) == ZMPI_MEMORY_GPU ? device : NULL;
}

enum zmpi_status zmpi_device_move(const struct zmpi_device *holder, void *dst, const void *src,
                                  size_t bytes)
{
    if (holder != NULL && bytes > 0)
        return holder->copy(dst, src, &(struct zmpi_box){bytes, 1, 1, bytes, bytes, bytes, bytes});
    if (bytes > 0)
        memcpy(dst, src, bytes);
    return ZMPI_OK;
}

void zmpi_device_prefer(unsigned number)
{
    preferred = number;
    for (size_t i = 0; i < known_count; i++)
        if (known[i].device != NULL && known[i].device->prefer != NULL)
            known[i].device->prefer(number);
}

void zmpi_device_give_all(void)
{
    for (size_t i = 0; i < known_count; i++)
        if (known[i].device != NULL && known[i].device->give_all != NULL)
            known[i].device->give_all();
}
