/* find.h - finds a library's function in front of which another one with its name stands. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct wanted {
    const char *library, *function;
    void *found;
};

static int look_in(struct dl_phdr_info *info, size_t size, void *context)
{
    struct wanted *w = context;
    (void)size;
    if (strstr(info->dlpi_name, w->library) == NULL)
        return 0;
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    w->found = handle ? dlsym(handle, w->function) : NULL;
    return w->found != NULL;
}

/* Works also if MPI was loaded with local visibility. library: its name without the version. */
static void *find_behind(const char *function, const char *library)
{
    struct wanted w = {library, function, dlsym(RTLD_NEXT, function)};
    if (w.found == NULL)
        dl_iterate_phdr(look_in, &w);
    if (w.found == NULL)
        abort();
    return w.found;
}
