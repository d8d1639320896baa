/*
 * pmix.c - behind libzmpi.so, for runtime/mixed.sh: the launcher's store answers wrongly about
 * zmpi's key. ZMPI_TEST_STORE: put:N (rank N cannot put it), get (nobody finds it), late (nobody
 * finds it at once), type, false, null (its value is another).
 */
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void done_fn(int status, void *data);
int PMIx_Commit(void);
int PMIx_Put(uint8_t scope, const char *key, void *value);
int PMIx_Get(const void *proc, const char *key, const void *info, size_t count, uint16_t **value);
int PMIx_Fence(const void *procs, size_t procs_count, const void *info, size_t count);
int PMIx_Fence_nb(const void *procs, size_t procs_count, const void *info, size_t count,
                  done_fn *done, void *data);

enum { FAILS = -1, INTEGER = 6, FLAG_AT = 8 /* behind the type */ };

/* Of Open MPI 5's own libraries, or of a component's. */
static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    return function ? function : dlsym(dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD), name);
}

static bool is(const char *key, const char *wrong)
{
    const char *now = getenv("ZMPI_TEST_STORE");
    return now && strcmp(key, "zmpi") == 0 && strncmp(now, wrong, strlen(wrong)) == 0;
}

int PMIx_Commit(void)
{
    int (*commit)(void);
    *(void **)&commit = real("PMIx_Commit");
    return commit();
}

int PMIx_Put(uint8_t scope, const char *key, void *value)
{
    int (*put)(uint8_t, const char *, void *);
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    *(void **)&put = real("PMIx_Put");
    if (rank && is(key, "put:") && strcmp(getenv("ZMPI_TEST_STORE") + 4, rank) == 0)
        return FAILS;
    return put(scope, key, value);
}

int PMIx_Get(const void *proc, const char *key, const void *info, size_t count, uint16_t **value)
{
    int (*get)(const void *, const char *, const void *, size_t, uint16_t **);
    *(void **)&get = real("PMIx_Get");
    const bool at_once = count > 0 && strcmp(info, "pmix.immediate") == 0;
    const int rc =
        is(key, "get") || (is(key, "late") && at_once) ? FAILS : get(proc, key, info, count, value);
    if (!rc && is(key, "type"))
        **value = INTEGER;
    if (!rc && is(key, "false"))
        ((bool *)*value)[FLAG_AT] = false;
    if (!rc && is(key, "null"))
        *value = NULL;
    return rc;
}

int PMIx_Fence(const void *procs, size_t procs_count, const void *info, size_t count)
{
    int (*fence)(const void *, size_t, const void *, size_t);
    *(void **)&fence = real("PMIx_Fence");
    return fence(procs, procs_count, info, count);
}

int PMIx_Fence_nb(const void *procs, size_t procs_count, const void *info, size_t count,
                  done_fn *done, void *data)
{
    int (*fence)(const void *, size_t, const void *, size_t, done_fn *, void *);
    *(void **)&fence = real("PMIx_Fence_nb");
    return fence(procs, procs_count, info, count, done, data);
}
