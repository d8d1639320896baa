/* view_library.c - libzmpi_view.so, which `zmpi view` preloads: the view from the program's start
 * on, for it and its children. */
#define _GNU_SOURCE
#include <sys/auxv.h>

#include "base/log.h"
#include "options/options.h"
#include "view/view.h"

/* A wrong setting gets a line, and counts as not set. */
struct zmpi_view_settings zmpi_view_settings(void)
{
    struct zmpi_options o;
    char message[256];
    if (zmpi_options_load(&o, message)) {
        zmpi_log(ZMPI_LOG_ERROR, "%s", message);
        zmpi_options_default(&o);
    }
    const struct zmpi_view_settings settings = {
        .most = o.view_max ? o.view_max : zmpi_view_memory(1), .threads = o.threads};
    zmpi_options_free(&o);
    return settings;
}

/* Not in a program that has other rights than its user (setuid). */
__attribute__((constructor)) static void start(void)
{
    atomic_store(&zmpi_view_on, getauxval(AT_SECURE) == 0);
}
