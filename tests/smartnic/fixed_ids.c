/* fixed_ids.c - preloaded: containers get the same id each time, so that files can be compared. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t getrandom(void *dst, size_t size, unsigned flags)
{
    if (size != 16)
        return syscall(SYS_getrandom, dst, size, flags);
    memset(dst, 0x42, size);
    return 16;
}
