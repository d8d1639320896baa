/*
 * device.c - the devices there are: the CPU, and whatever plug-ins lie beside the library (format:
 * device.h).
 *
 * Plug-ins are opened once, at the first question that the CPU alone does not answer, and never
 * closed: their threads and memory may outlive any call. A device is probed when it is first to be
 * used: a probe may start a driver, which takes long and reads its settings, and a program that
 * uses that itself must come first.
 */
#define _GNU_SOURCE // dladdr1
#include "device.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "layout/stream.h"

#define PREFIX       "libzmpi_"
#define SUFFIX       ".so"
#define MOST_DEVICES 16

#ifndef ZMPI_PLUGIN_DIR
#define ZMPI_PLUGIN_DIR "/usr/local/lib/zmpi"
#endif

/* A name that a user can ask for: a device, or the reason why its plug-in is none. */
static struct known {
    char name[32];
    const struct zmpi_device *device; /* NULL: the plug-in could not be used */
    const char *missing; /* NULL if it works; valid if device is NULL or probed is done */
    pthread_mutex_t lock;
    atomic_bool probed;
} known[MOST_DEVICES];
static size_t known_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct zmpi_device *_Atomic with_memory; /* of its own; the first one */
static unsigned preferred;

static struct known *find(const char *name)
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
    struct known *k = &known[known_count++];
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

/* Why the device cannot be used, or NULL. */
static const char *probe(struct known *k)
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
    if (find(name) != NULL)
        return; // found in an earlier directory
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

/* All plug-ins of a directory, by name, so that the order is the same everywhere. */
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
    Dl_info self;
    struct link_map *map = NULL;
    if (dladdr1(&once, &self, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return NULL;
    // The program itself has no name there, and argv[0] need not be a path.
    return realpath(map->l_name[0] != 0 ? map->l_name : "/proc/self/exe", NULL);
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
    add("cpu", zmpi_device_cpu(), NULL);
    open_path(secure_getenv("ZMPI_PLUGIN_PATH"));
    open_beside();
    open_directory(ZMPI_PLUGIN_DIR);
}

/* Said once for each change: calls of like sizes are decided alike. */
static void say_choice(const struct known *best, const struct zmpi_work *work, double cost,
                       double cpu)
{
    static atomic_int said[2][2][4 * sizeof(size_t)];
    int size_class = 0, now = (int)(best - known) + 1;
    for (size_t n = work->bytes; n > 3; n /= 4)
        size_class++;
    atomic_int *last = &said[work->decompress][work->encoder == ZMPI_HUFFMAN][size_class];
    if (atomic_exchange(last, now) != now && known_count > 1 && work->bytes > 0)
        zmpi_log(ZMPI_LOG_INFO,
                 "device auto: %s for %zu bytes %s host memory: %.3g ms expected, %.3g ms on the "
                 "CPU",
                 best->name, work->bytes, work->decompress ? "decoded to" : "in", 1e3 * cost,
                 1e3 * cpu);
}

/* The cheapest by its own estimate of those with the encoder that take host buffers; the CPU if
 * nothing says otherwise. */
static const struct zmpi_device *best(const struct zmpi_work *work)
{
    const struct known *found = &known[0];
    double cpu = zmpi_device_cpu()->cost(work), least = cpu;
    for (size_t i = 1; i < known_count; i++) {
        struct known *k = &known[i];
        if (k->device == NULL || (k->device->memory & ZMPI_MEMORY_HOST) == 0 ||
            zmpi_device_for(k->device, work->encoder) != k->device)
            continue;
        double cost = k->device->cost(work);
        if (cost < least && probe(k) == NULL) {
            least = cost;
            found = k;
        }
    }
    say_choice(found, work, least, cpu);
    return found->device;
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

const struct zmpi_device *zmpi_device_for(const struct zmpi_device *device, int encoder)
{
    return encoder > 0 && encoder < 32 && (device->encoders >> encoder & 1) != 0
               ? device
               : zmpi_device_cpu();
}

const struct zmpi_device *zmpi_device_find(const char *name, const struct zmpi_work *work,
                                           const char **why)
{
    if (strcmp(name, "cpu") == 0)
        return zmpi_device_cpu();
    pthread_once(&once, open_all);
    if (strcmp(name, "auto") == 0)
        return work ? best(work) : zmpi_device_cpu();
    struct known *k = find(name);
    if (k == NULL) {
        *why = "there is no such device (no plug-in of this name in lib/zmpi or ZMPI_PLUGIN_PATH)";
        return NULL;
    }
    const char *missing = probe(k);
    if (missing == NULL)
        return k->device;
    *why = missing;
    return NULL;
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

void zmpi_device_each(void (*f)(const struct zmpi_device *device, const char *missing,
                                void *context),
                      void *context)
{
    pthread_once(&once, open_all);
    for (size_t i = 0; i < known_count; i++) {
        const char *missing = probe(&known[i]);
        if (known[i].device != NULL)
            f(known[i].device, missing, context);
    }
}
