/* find.h - a function of a library that another one of the same name stands in front of. */
#include <dlfcn.h>
#include <stdlib.h>

/* Also where MPI was loaded out of sight of the rest of the process. */
static void *find_behind(const char *function, const char *library)
{
    void *f = dlsym(RTLD_NEXT, function);
    if (f == NULL) {
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == NULL || (f = dlsym(handle, function)) == NULL)
            abort();
    }
    return f;
}
