/* run.c - zmpi run: starts an MPI program with the libzmpi.so that was built for its MPI. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_file.h"
#include "tool/program/preload.h"
#include "tool/tool.h"

enum mpi { NO_MPI, OPEN_MPI, MPICH, MPI_ABI };
static const char *const mpi_name[] = {"", "openmpi", "mpich", "abi"};

struct run {
    char **argv; /* the program's */
    char path[PATH_MAX];
    enum mpi mpi;
    bool explain, help;
};

static bool is_first(void)
{
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                       "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof rank / sizeof *rank; i++)
        if (getenv(rank[i]))
            return strcmp(getenv(rank[i]), "0") == 0;
    return true;
}

/* ---- the program ---- */

/* Since version 6 Open MPI's communicators lie in a library that the MPI library needs. */
static bool is_open_mpi(const struct elf_file *library)
{
    for (size_t i = 0; i < library->needed_count; i++)
        if (strncmp(library->needed[i], "libopen_mpi.so", 14) == 0)
            return true;
    return elf_defines(library, "ompi_mpi_comm_world");
}

static enum mpi mpi_of(const struct elf_file *library)
{
    if (strncmp(elf_name(library), "libmpi_abi", 10) == 0)
        return MPI_ABI;
    return is_open_mpi(library) ? OPEN_MPI : MPICH;
}

/* For a library that is not found here: judges by its name. */
static enum mpi mpi_of_missing(const char *name)
{
    if (strncmp(name, "libmpi_abi.so", 13) == 0)
        return MPI_ABI;
    if (strcmp(name, "libmpi.so.40") == 0)
        return OPEN_MPI;
    return strncmp(name, "libmpich.so", 11) == 0 || strcmp(name, "libmpi.so.12") == 0 ? MPICH
                                                                                      : NO_MPI;
}

/* The launcher's MPI, which is the program's. */
static enum mpi mpi_of_launcher(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return OPEN_MPI;
    return getenv("HYDI_CONTROL_FD") || getenv("MPI_LOCALNRANKS") || getenv("PMI_RANK") ? MPICH
           : getenv("PMIX_RANK")                                                        ? OPEN_MPI
                                                                                        : NO_MPI;
}

/* Why libzmpi.so must not be preloaded; or NULL, and the program's MPI if its file shows that. */
static const char *look_at_file(const char *path, enum mpi *mpi)
{
    struct elf_closure c;
    const char *why = NULL;
    *mpi = NO_MPI;
    if (tool_program_is_setuid(path))
        return "it is setuid or setgid";
    if (!elf_closure_make(&c, path)) { /* a script, for example, cannot be read */
        if (elf_is_mpi(&c.file[0]))
            why = "MPI is a part of it (it is linked statically)";
        else if (c.file[0].needed_count == 0)
            why = "it is linked statically";
        for (size_t i = 0; i < c.files; i++) {
            if (elf_is_zmpi(&c.file[i]))
                why = "it is linked to libzmpi.so already";
            if (elf_is_mpi(&c.file[i]))
                *mpi = mpi_of(&c.file[i]);
        }
        for (size_t i = 0; i < c.missing_count && !*mpi; i++)
            *mpi = mpi_of_missing(c.missing[i]);
    }
    elf_closure_free(&c);
    return why;
}

/* ---- the library ---- */

static bool find_library(enum mpi mpi, char path[PATH_MAX])
{
    char name[40];
    snprintf(name, sizeof name, "%s/libzmpi.so", mpi_name[mpi]);
    return tool_library_find(name, path);
}

/* Preloads the library, or says in one line why the program runs without it. */
static void add_library(struct run *r)
{
    char library[PATH_MAX];
    enum mpi of_file;
    const char *plain = look_at_file(r->path, &of_file);
    const enum mpi mpi = r->mpi ? r->mpi : of_file ? of_file : mpi_of_launcher();
    if (plain) {
        tool_fail("%s: %s: it runs without a preloaded libzmpi.so", r->path, plain);
    } else if (!mpi) {
        tool_fail("%s: zmpi cannot tell which MPI it uses: it runs without zmpi (choose the MPI by "
                  "--mpi openmpi, mpich or abi)",
                  r->path);
    } else if (!find_library(mpi, library)) {
        tool_fail("%s: no libzmpi.so for its MPI, %s, is installed: it runs without zmpi", r->path,
                  mpi_name[mpi]);
    } else if (tool_library_preload(library) && r->explain) {
        tool_fail("%s: MPI is %s (%s): LD_PRELOAD=%s", r->path, mpi_name[mpi],
                  r->mpi    ? "--mpi"
                  : of_file ? "the program's file"
                            : "the launcher",
                  getenv("LD_PRELOAD"));
    }
}

/* ---- the command ---- */

static bool mpi_parse(const char *name, enum mpi *mpi)
{
    for (*mpi = OPEN_MPI; *mpi <= MPI_ABI; ++*mpi)
        if (strcmp(name, mpi_name[*mpi]) == 0)
            return true;
    return false;
}

/* Turns options into settings, which override those of the environment. */
static int parse(struct run *r, int argc, char **argv)
{
    static const struct option longs[] = {
        {"bound", 1, NULL, 'e'},   {"codec", 1, NULL, 'c'}, {"rules", 1, NULL, 'r'},
        {"report", 1, NULL, 'p'},  {"mpi", 1, NULL, 'm'},   {"dry-run", 0, NULL, 'd'},
        {"verbose", 0, NULL, 'v'}, {"help", 0, NULL, 'h'},  {NULL, 0, NULL, 0}};
    static const struct {
        int option;
        const char *variable;
    } setting[] = {
        {'e', "ZMPI_ERROR_BOUND"}, {'c', "ZMPI_CODEC"}, {'r', "ZMPI_CONFIG"}, {'p', "ZMPI_REPORT"}};
    int c;
    while ((c = getopt_long(argc, argv, "+e:vh", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        if (c == 'm' && !mpi_parse(optarg, &r->mpi))
            return tool_fail("--mpi %s: openmpi, mpich or abi", optarg);
        if (c == 'd' && setenv("ZMPI_DRY_RUN", "on", 1))
            return tool_fail("out of memory");
        r->explain = r->explain || c == 'v';
        r->help = r->help || c == 'h';
        for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
            if (c == setting[i].option && setenv(setting[i].variable, optarg, 1))
                return tool_fail("out of memory");
    }
    r->argv = argv + optind;
    return *r->argv || r->help ? TOOL_OK : tool_usage();
}

/* Checks settings before the program starts. */
static int prepare(struct run *r, int argc, char **argv)
{
    struct zmpi_options options;
    int status = parse(r, argc, argv);
    if (status || r->help)
        return status;
    if (!tool_options_load(&options))
        return TOOL_ERROR;
    zmpi_options_free(&options);
    if (tool_program_find(*r->argv, r->path))
        return TOOL_OK;
    tool_fail("%s: there is no such program", *r->argv);
    return TOOL_NOT_FOUND;
}

/* A launcher starts one process of this tool for each rank. Only the first one prints messages
 * before the program runs. */
static int be_silent(void)
{
    const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, STDERR_FILENO);
        close(null);
    }
    return kept;
}

int tool_run(int argc, char **argv)
{
    struct run r = {0};
    const int kept = is_first() ? STDERR_FILENO : be_silent();
    const int status = prepare(&r, argc, argv);
    if (status && kept != STDERR_FILENO)
        sleep(1); /* a launcher ends all processes when one fails: the first one's message must come
                     before */
    if (status || r.help)
        return status ? status : tool_help();
    add_library(&r);
    if (kept != STDERR_FILENO && kept >= 0)
        dup2(kept, STDERR_FILENO);
    return tool_program_start(r.path, r.argv);
}
