/* device.c - the devices there are: the CPU and the plug-ins; which one is the best for a job. */
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "device/plugins.h"
#include "layout/stream.h"

/* Said once for each change: calls of like sizes are decided alike. */
static void say_choice(int number, const char *name, const struct zmpi_work *work, double cost,
                       double cpu)
{
    static atomic_int said[2][2][4 * sizeof(size_t)];
    int size_class = 0;
    for (size_t n = work->bytes; n > 3; n /= 4)
        size_class++;
    atomic_int *last = &said[work->decompress][work->encoder == ZMPI_HUFFMAN][size_class];
    if (atomic_exchange(last, number) != number && work->bytes > 0)
        zmpi_log(ZMPI_LOG_INFO,
                 "device auto: %s for %zu bytes %s host memory: %.3g ms expected, %.3g ms on the "
                 "CPU",
                 name, work->bytes, work->decompress ? "decoded to" : "in", 1e3 * cost, 1e3 * cpu);
}

/* The cheapest device, by its own estimate, that has the encoder and takes host buffers; the CPU if
 * none is cheaper. */
static const struct zmpi_device *best(const struct zmpi_work *work)
{
    const struct zmpi_device *found = zmpi_device_cpu();
    const double cpu = found->cost(work);
    double least = cpu;
    size_t count, number = 0;
    struct zmpi_plugin *plugin = zmpi_plugins(&count);
    for (size_t i = 0; i < count; i++) {
        const struct zmpi_device *device = plugin[i].device;
        if (device == NULL || (device->memory & ZMPI_MEMORY_HOST) == 0 ||
            zmpi_device_for(device, work->encoder) != device)
            continue;
        double cost = device->cost(work);
        if (cost < least && zmpi_plugin_probe(&plugin[i]) == NULL) {
            least = cost;
            found = device;
            number = i + 1;
        }
    }
    if (count > 0)
        say_choice((int)number + 1, found->name, work, least, cpu);
    return found;
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
    size_t count, i = 0;
    struct zmpi_plugin *plugin = zmpi_plugins(&count);
    if (strcmp(name, "auto") == 0)
        return work ? best(work) : zmpi_device_cpu();
    while (i < count && strcmp(plugin[i].name, name) != 0)
        i++;
    const char *missing =
        i < count
            ? zmpi_plugin_probe(&plugin[i])
            : "there is no such device (no plug-in of this name in lib/zmpi or ZMPI_PLUGIN_PATH)";
    if (missing == NULL)
        return plugin[i].device;
    *why = missing;
    return NULL;
}

void zmpi_device_each(void (*f)(const struct zmpi_device *device, const char *missing,
                                void *context),
                      void *context)
{
    size_t count;
    struct zmpi_plugin *plugin = zmpi_plugins(&count);
    f(zmpi_device_cpu(), NULL, context);
    for (size_t i = 0; i < count; i++) {
        const char *missing = zmpi_plugin_probe(&plugin[i]);
        if (plugin[i].device != NULL)
            f(plugin[i].device, missing, context);
    }
}
