/* main.c - LIBRARY [local|global]: a program without MPI that loads a library with it, as
 * interpreters do, where the rest of the process does not see its symbols, or does. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int global = argc > 2 && strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    void *library = dlopen(argv[1], RTLD_NOW | global);
    int (*run)(int, char **);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(library, "run");
    return run(argc, argv);
}
