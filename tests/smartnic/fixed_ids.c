/* fixed_ids.c - preloaded: gives containers the same id each time, so that files can be compared.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The plug-in draws nonces of the same size, which must differ: zmpi-nicd does not answer a
 * repeated one. */
static int is_plugin(const void *caller)
{
    Dl_info from;
    return dladdr(caller, &from) && from.dli_fname && strstr(from.dli_fname, "smartnic");
}

ssize_t getrandom(void *dst, size_t size, unsigned flags)
{
    if (size != 16 || is_plugin(__builtin_return_address(0)))
        return syscall(SYS_getrandom, dst, size, flags);
    memset(dst, 0x42, size);
    return 16;
}
