/*
 * libfabric.c - the five functions of libfabric that its headers do not define inline. They are
 * opened when they are first needed: loading libfabric runs code of every fabric's provider, which
 * would cost programs that only have the plug-in installed and do not use it.
 */
#include "common/fabric.h"

#include <dlfcn.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <string.h>

static int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                      struct fi_info **);
static void (*freeinfo)(struct fi_info *);
static struct fi_info *(*dupinfo)(const struct fi_info *);
static int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
static const char *(*text_of)(int);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing;

/* Libraries of providers (PSM's) change handlers of signals, which belong to the program: this
 * restores them. */
static void *open_quietly(const char *name)
{
    static const int taken[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGINT, SIGTERM};
    enum { TAKEN = sizeof taken / sizeof *taken };
    struct sigaction before[TAKEN];
    for (int i = 0; i < TAKEN; i++)
        sigaction(taken[i], NULL, &before[i]);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < TAKEN; i++)
        sigaction(taken[i], &before[i], NULL);
    return handle;
}

static void load(void)
{
    void *handle = open_quietly("libfabric.so.1");
    if (!handle) {
        missing = "libfabric.so.1 cannot be opened (Debian package libfabric1)";
        return;
    }
    const struct {
        const char *name;
        void *at;
    } needed[] = {{"fi_getinfo", &getinfo},
                  {"fi_freeinfo", &freeinfo},
                  {"fi_dupinfo", &dupinfo},
                  {"fi_fabric", &fabric},
                  {"fi_strerror", &text_of}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        void *found = dlsym(handle, needed[i].name);
        if (!found)
            missing = "libfabric.so.1 lacks functions";
        memcpy(needed[i].at, &found, sizeof found);
    }
}

const char *nic_libfabric(void)
{
    pthread_once(&once, load);
    return missing;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    return getinfo(version, node, service, flags, hints, info);
}

void fi_freeinfo(struct fi_info *info)
{
    freeinfo(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    return dupinfo(info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
    return fabric(attr, fid, context);
}

const char *fi_strerror(int number)
{
    return text_of(number);
}
