/* plugins.h - the plug-ins that lie beside the library. */
#ifndef ZMPI_PLUGINS_H
#define ZMPI_PLUGINS_H

#include <pthread.h>
#include <stdatomic.h>

#include "device.h"

/* A name that a user can ask for: a device, or the reason why its plug-in is none. */
struct zmpi_plugin {
    char name[32];
    const struct zmpi_device *device; /* NULL: the plug-in could not be used */
    const char *missing; /* NULL if it works; valid if device is NULL or probed is done */
    pthread_mutex_t lock;
    atomic_bool probed;
};

/* All plug-ins, opened at the first call, without the CPU. Thread-safe. */
struct zmpi_plugin *zmpi_plugins(size_t *count);
/* Why the device cannot be used, or NULL. It is probed at the first call. Thread-safe. */
const char *zmpi_plugin_probe(struct zmpi_plugin *plugin);

#endif
