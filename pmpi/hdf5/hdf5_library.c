/*
 * hdf5_library.c - the HDF5 library that a call belongs to.
 *
 * A process may have several HDF5 libraries: each Python package brings its own, which is invisible
 * to other packages. A program's call reaches zmpi first. It must go on to the library that it
 * would have reached without zmpi, because one library does not know the handles of another. H5open
 * tells which library this is: every HDF5 library has it, and zmpi does not.
 */
#define _GNU_SOURCE // dladdr1, RTLD_NEXT
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "hdf5/hdf5.h"

/* Where a call comes from, and the library that it goes to: looked up once, never forgotten. */
struct site {
    const void *caller;
    const struct zhdf5 *library;
    struct site *next;
};

#define BUCKETS 64
static _Atomic(struct site *) sites[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zhdf5 *libraries;

#ifndef __GLIBC__
/* musl has no symbol versions, and so no dladdr1. There zmpi cannot tell which library an object is
 * linked to. */
static int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    (void)address, (void)info, (void)extra, (void)flags;
    return 0;
}
enum { RTLD_DL_LINKMAP };
#endif

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The value of this tag in an object's dynamic section. Some systems leave its addresses as they
 * are in the file. */
static const char *entry_of(const struct link_map *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag) {
            const uintptr_t at = d->d_un.d_ptr;
            return (const char *)(at < object->l_addr ? at + object->l_addr : at);
        }
    return NULL;
}

/* Does the object ask for symbol versions of the file that `function` is in? */
static bool names_versions_of(const struct link_map *object, const void *function)
{
    Dl_info info;
    const char *need = entry_of(object, DT_VERNEED), *strings = entry_of(object, DT_STRTAB);
    struct link_map *library = NULL;
    if (!need || !strings || !dladdr1(function, &info, (void **)&library, RTLD_DL_LINKMAP))
        return false;
    const char *own = entry_of(library, DT_STRTAB), *soname = NULL;
    for (const ElfW(Dyn) *d = library->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SONAME && own)
            soname = own + d->d_un.d_val;
    for (;;) {
        ElfW(Verneed) v;
        memcpy(&v, need, sizeof v);
        if (soname && strcmp(strings + v.vn_file, soname) == 0)
            return true;
        if (v.vn_next == 0)
            return false;
        need += v.vn_next;
    }
}

static void *symbol_of(const char *file, const char *name)
{
    void *handle = file[0] ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return symbol;
}

static int find_any(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    *(void **)found = symbol_of(info->dlpi_name, "H5open");
    return *(void **)found != NULL;
}

/* H5open as the caller would find it: the one that all programs find, or the one in a library that
 * the caller's object needs. */
static void *open_of(const void *caller)
{
    Dl_info info;
    struct link_map *object = NULL;
    void *own = NULL, *shared = dlsym(RTLD_DEFAULT, "H5open"), *any = NULL;
    if (dladdr1(caller, &info, (void **)&object, RTLD_DL_LINKMAP) && object)
        own = symbol_of(object->l_name, "H5open");
    if (own && (!shared || (own != shared && names_versions_of(object, own))))
        return own;
    if (!shared)
        dl_iterate_phdr(find_any, &any);
    return shared ? shared : any;
}

static void *find_behind(void *handle, const char *name, bool shared)
{
    void *symbol = shared ? dlsym(RTLD_NEXT, name) : NULL;
    return symbol ? symbol : dlsym(handle, name);
}

static struct zhdf5 *make(void *open, void *handle)
{
    struct zhdf5 *h = calloc(1, sizeof *h);
    /* A tool that is loaded after zmpi stands in front of the library that all programs find. */
    const bool shared = base_of(dlsym(RTLD_DEFAULT, "H5open")) == base_of(open);
    void *symbol;
    int lacks = 0;
    if (!h)
        return NULL;
#define ZHDF5_FIND_BEHIND(name, result, parameters)                                                \
    symbol = find_behind(handle, #name, shared);                                                   \
    memcpy(&h->name, &symbol, sizeof symbol);
#define ZHDF5_FIND(name, result, parameters)                                                       \
    symbol = dlsym(handle, #name);                                                                 \
    memcpy(&h->name, &symbol, sizeof symbol);
#define ZHDF5_FIND_ASKED(name, result, parameters)                                                 \
    ZHDF5_FIND(name, result, parameters) lacks += !symbol;
    ZHDF5_WRAPPED(ZHDF5_FIND_BEHIND)
    ZHDF5_ASKED(ZHDF5_FIND_ASKED)
    ZHDF5_OPTIONAL(ZHDF5_FIND)
    /* The program may hold the library's variables (copy relocations). */
    void *const where = shared ? RTLD_DEFAULT : handle;
    h->H5T_NATIVE_FLOAT_g = dlsym(where, "H5T_NATIVE_FLOAT_g");
    h->H5T_NATIVE_DOUBLE_g = dlsym(where, "H5T_NATIVE_DOUBLE_g");
    h->H5P_LST_DATASET_CREATE_ID_g = dlsym(where, "H5P_LST_DATASET_CREATE_ID_g");
    h->H5P_LST_DATASET_ACCESS_ID_g = dlsym(where, "H5P_LST_DATASET_ACCESS_ID_g");
    h->H5FD_MPIO_id_g = dlsym(where, "H5FD_MPIO_id_g");
    h->handle = handle; /* the library is never unloaded, so that its functions stay valid */
    h->whole =
        !lacks && h->H5T_NATIVE_FLOAT_g && h->H5T_NATIVE_DOUBLE_g && h->H5P_LST_DATASET_CREATE_ID_g;
    h->next = libraries;
    libraries = h;
    return h;
}

/* The caller holds the lock. */
static struct zhdf5 *find(const void *caller)
{
    Dl_info info;
    void *open = open_of(caller);
    void *handle =
        open && dladdr(open, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle)
        return NULL;
    for (struct zhdf5 *h = libraries; h; h = h->next)
        if (h->handle == handle) {
            dlclose(handle);
            return h;
        }
    return make(open, handle);
}

bool zhdf5_is_known(const struct zhdf5 *h)
{
    return atomic_load_explicit(&h->known, memory_order_relaxed);
}

/* The caller does not hold the lock: a thread-safe HDF5 has a lock of its own. */
static void ask_version(struct zhdf5 *h)
{
    unsigned major = 0, minor = 0, release = 0;
    if (h->whole && h->H5get_libversion(&major, &minor, &release) >= 0)
        atomic_store_explicit(&h->known, major > 1 || (major == 1 && minor >= 10),
                              memory_order_relaxed);
}

static const struct site *site_of(const void *caller, struct site *first)
{
    struct site *s = first;
    while (s && s->caller != caller)
        s = s->next;
    return s;
}

const struct zhdf5 *zhdf5_behind(const void *caller)
{
    _Atomic(struct site *) *bucket = &sites[((uintptr_t)caller >> 2) % BUCKETS];
    const struct site *known = site_of(caller, atomic_load_explicit(bucket, memory_order_acquire));
    if (known)
        return known->library;
    pthread_mutex_lock(&lock);
    struct zhdf5 *library = find(caller);
    pthread_mutex_unlock(&lock);
    if (library)
        ask_version(library);
    pthread_mutex_lock(&lock);
    struct site *first = atomic_load_explicit(bucket, memory_order_relaxed);
    struct site *s = library && !site_of(caller, first) ? malloc(sizeof *s) : NULL;
    if (s) {
        *s = (struct site){caller, library, first};
        atomic_store_explicit(bucket, s, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return library;
}

/* Without zmpi, a program would not start with a library that lacks the function. */
void zhdf5_missing(const char *function)
{
    zmpi_log(ZMPI_LOG_ERROR, "%s: no HDF5 library with this function is loaded", function);
}
