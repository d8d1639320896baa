/*
 * settings.c - fuzz target: any bytes as a file of settings, the user's or the site's, are taken or
 * refused with one line; a site's file never stops a program.
 *
 * The first byte of the input chooses: bit 0: it is the site's. The rest is the file.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "options/options_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line, or nothing where there is nothing to say. */
static void check_message(const char *message, enum zmpi_status status)
{
    if (strchr(message, '\n') || (status != ZMPI_OK && message[0] == 0))
        abort();
}

/* What applies to some file, its calls and a communicator is taken, too. */
static void apply(struct zmpi_options *o, bool site)
{
    char message[256] = "", values[256];
    struct zmpi_options job = *o; /* has the same rules */
    enum zmpi_status s = zmpi_options_for_file(&job, "/scratch/run/rho_0001.bin", message);
    check_message(message, s);
    if (site && s != ZMPI_OK)
        abort();
    job = *o;
    message[0] = 0;
    check_message(message, zmpi_options_for_comm(&job, "MPI_COMM_WORLD", message));
    zmpi_globs_match(o->never_programs, "/usr/bin/simulation");
    snprintf(values, sizeof values, "%s", o->site_message);
    check_message(values, ZMPI_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool site = size != 0 && (data[0] & 1);
    char message[256] = "", path[64];
    struct zmpi_options o;
    const int fd = memfd_create("settings", MFD_CLOEXEC);
    if (size == 0 || fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1)) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    zmpi_options_default(&o);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(o.config, sizeof o.config, "%s", path);
    const enum zmpi_status s =
        site ? zmpi_site_load(&o, path, message) : zmpi_rules_load(&o, message);
    check_message(message, s);
    if (site && s != ZMPI_OK)
        abort();
    if (s == ZMPI_OK)
        apply(&o, site);
    zmpi_options_free(&o);
    close(fd);
    return 0;
}
