/* engine.c - the engines there are (engine.h). */
#include "daemon/engine.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

enum { PLUGINS = 16 };
#define FOLDER "/../lib/zmpi/nic" /* from the folder of zmpi-nicd */
#define PREFIX "libzmpi_nic_"

static const char *always(void)
{
    return NULL;
}

static enum zmpi_status by_cpu(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                               const void *src, size_t *size)
{
    return zmpi_device_cpu()->compress(job, dst, dst_capacity, src, size);
}

static enum zmpi_status back_by_cpu(void *dst, size_t dst_capacity, const void *src,
                                    size_t src_size, int threads)
{
    return zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, NULL, threads);
}

static const struct nic_engine cpu = {"cpu", "the codec on this machine's cores", always, by_cpu,
                                      back_by_cpu};
static const struct nic_engine *plugin[PLUGINS];
static size_t plugins;

static void load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, ZMPI_NIC_ENGINE) : NULL;
    nic_engine_get *get;
    if (!symbol) {
        zmpi_log(ZMPI_LOG_WARN, "%s is no engine: %s", path, dlerror());
        return;
    }
    memcpy(&get, &symbol, sizeof symbol);
    plugin[plugins] = get(ZMPI_NIC_ENGINE_ABI);
    if (plugin[plugins])
        plugins++;
    else
        zmpi_log(ZMPI_LOG_WARN, "%s is an engine of another version of zmpi-nicd", path);
}

/* Only once. */
static void load_plugins(void)
{
    static bool loaded;
    char folder[PATH_MAX + sizeof FOLDER], path[PATH_MAX + sizeof FOLDER + NAME_MAX + 1];
    if (loaded || !realpath("/proc/self/exe", folder))
        return;
    loaded = true;
    memcpy(strrchr(folder, '/'), FOLDER, sizeof FOLDER);
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && plugins < PLUGINS && (e = readdir(d));) {
        const size_t length = strlen(e->d_name);
        if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) || length < 3 ||
            strcmp(e->d_name + length - 3, ".so"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        load(path);
    }
    if (d)
        closedir(d);
}

const struct nic_engine *nic_engine(size_t i)
{
    if (i == 0)
        return &cpu;
    load_plugins();
    return i <= plugins ? plugin[i - 1] : NULL;
}

const struct nic_engine *nic_engine_find(const char *name)
{
    const struct nic_engine *e;
    for (size_t i = 0; (e = nic_engine(i)); i++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}
