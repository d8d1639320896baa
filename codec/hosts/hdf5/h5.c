/* h5.c - see h5.h. */
#define _GNU_SOURCE // dladdr, RTLD_NOLOAD
#include "hosts/hdf5/h5.h"

#include <dlfcn.h>
#include <string.h>

/* The program may hold the variables of the library that all programs find (copy relocations). */
static void *variables_of(void *handle)
{
    void *open = dlsym(handle, "H5open");
    return open && open == dlsym(RTLD_DEFAULT, "H5open") ? RTLD_DEFAULT : handle;
}

static hid_t value_of(void *handle, const char *name)
{
    const hid_t *value = dlsym(handle, name);
    return value ? *value : -1;
}

/* A library that is linked into the program has no file of its own. */
static void *handle_of(const void *caller)
{
    Dl_info info;
    void *handle = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return handle ? handle : dlopen(NULL, RTLD_LAZY);
}

int h5_find(struct h5 *h, const void *caller)
{
    void *handle = handle_of(caller), *symbol;
    int all = handle != NULL;
    if (!handle)
        return 0;
#define FIND(name, result, parameters)                                                             \
    symbol = dlsym(handle, #name);                                                                 \
    memcpy(&h->name, &symbol, sizeof symbol);                                                      \
    all = all && symbol;
    H5_ASKED(FIND)
    void *const where = variables_of(handle);
    h->native_float = value_of(where, "H5T_NATIVE_FLOAT_g");
    h->native_double = value_of(where, "H5T_NATIVE_DOUBLE_g");
    h->error_class = value_of(where, "H5E_ERR_CLS_g");
    h->error_major = value_of(where, "H5E_PLINE_g");
    h->error_minor = value_of(where, "H5E_BADVALUE_g");
    dlclose(handle); /* the library calls us, so it stays loaded */
    return all && h->native_float > 0 && h->native_double > 0;
}
