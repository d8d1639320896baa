/* driver.c - the plug-in looks for the driver when it may have been loaded, not for every buffer.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "../../gpu/gpu.h"

#include <dlfcn.h>

#include <criterion/criterion.h>

static unsigned looked;

/* Counts the searches of gpu/driver.c. */
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    looked += name && !strcmp(name, ZMPI_CUDA_DRIVER);
    return next(name, flags);
}

static void host_memory(unsigned searches)
{
    struct gpu_memory m;
    for (int i = 0; i < 3; i++) {
        cr_assert(gpu_query(&m, &m));
        cr_assert(!m.known && !m.gpu);
        cr_assert_not(gpu_in_use());
    }
    cr_assert_eq(looked, searches, "%u searches", looked);
}

Test(driver, looked_for)
{
    host_memory(1);
    cr_assert_not_null(dlopen(ZMPI_TEST_LIBRARY, RTLD_LAZY), "%s", dlerror());
    host_memory(2);
    cr_assert_not(gpu_context_push_own(NULL));
    cr_assert_not_null(dlopen(ZMPI_TEST_DRIVER, RTLD_LAZY), "%s", dlerror());
    cr_assert_eq(gpu_number(&looked), 0);
    host_memory(3);
}
