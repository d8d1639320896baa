/* runtime.c - settings of the job, agreed by all ranks, and what MPI_Init has found out. */
#define _GNU_SOURCE // secure_getenv
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "mpi/next.h"
#include "mpi/runtime.h"
#include "view/view.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct zmpi_options options;
static enum zmpi_status options_status;
static char options_message[256];
static bool agreed;       /* all ranks of MPI_COMM_WORLD have rank 0's settings */
static bool some_lack_it; /* some ranks of it have no such library */
static int node_ranks = 1;
static int share; /* of the node's cores, in threads; 0: not known yet */

static double begun; /* MPI_Init; 0: it was not called */

bool zruntime_off(void)
{
    const char *s = secure_getenv("ZMPI_OFF");
    return s && *s && strcmp(s, "0") != 0 && strcmp(s, "off") != 0;
}

void zruntime_begin(void)
{
    begun = zmpi_seconds();
}

double zruntime_seconds(void)
{
    return begun > 0 ? zmpi_seconds() - begun : 0;
}

static void load_options(void)
{
    if (zruntime_off()) { /* nor are other settings checked */
        zmpi_options_default(&options);
        options.log = ZMPI_LOG_ERROR;
        zmpi_log_set(options.log);
        return;
    }
    options_status = zmpi_options_load(&options, options_message);
}

bool zruntime_agreed(void)
{
    return agreed;
}

/* A program whose MPI_Init did not pass through us (MPI-4 sessions) gets its own rank's
 * settings. */
const struct zmpi_options *zruntime_options(void)
{
    pthread_once(&once, load_options);
    return &options;
}

/*
 * This rank's share of the CPUs that it may use: each is divided among the ranks of the node that
 * may use it too. One CPU per rank gives 1; four ranks that all may use all of 16 CPUs have 4 each.
 * Collective on the node.
 */
static int find_share(MPI_Comm node)
{
    unsigned cpus = (unsigned)zmpi_cpus_end(), most = 0;
    if (PMPI_Allreduce(&cpus, &most, 1, MPI_UNSIGNED, MPI_MAX, node) || most == 0)
        return 1;
    int *users = calloc(2 * (size_t)most, sizeof *users); /* of each CPU, then this rank alone */
    if (!zruntime_all(node, users != NULL)) {
        free(users);
        return 1;
    }
    double sum = 0;
    for (unsigned i = 0; i < most; i++)
        users[most + i] = zmpi_cpus_has(i);
    int rc = PMPI_Allreduce(users + most, users, (int)most, MPI_INT, MPI_SUM, node);
    for (unsigned i = 0; i < most && !rc; i++)
        sum += users[most + i] ? 1.0 / users[i] : 0;
    free(users);
    return sum > 1 ? (int)(sum + 1e-6) : 1; /* thirds may add up to a little less than 1 */
}

static void share_node(int rank)
{
    MPI_Comm node;
    int number;
    share = 1;
    if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node))
        return;
    share = find_share(node);
    PMPI_Comm_rank(node, &number);
    PMPI_Comm_size(node, &node_ranks);
    zmpi_device_prefer((unsigned)number);
    PMPI_Comm_free(&node);
}

struct zmpi_view_settings zmpi_view_settings(void)
{
    return (struct zmpi_view_settings){.most = options.view_max ? options.view_max
                                                                : zmpi_view_memory(node_ranks),
                                       .threads = zruntime_threads(&options)};
}

/* Without our MPI_Init nobody has counted the node's ranks: one thread can harm none of them. */
int zruntime_threads(const struct zmpi_options *o)
{
    return o->threads > 0 ? o->threads : share > 0 ? share : 1;
}

int zruntime_comm(MPI_Comm program, MPI_Comm *comm)
{
    MPI_Group group;
    *comm = MPI_COMM_NULL;
    int rc = PMPI_Comm_group(program, &group);
    if (rc)
        return rc;
    rc = PMPI_Comm_create(program, group, comm);
    PMPI_Group_free(&group);
    if (rc)
        *comm = MPI_COMM_NULL;
    else
        PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    return rc;
}

bool zruntime_all(MPI_Comm comm, bool mine)
{
    int yes = mine, all = 0;
    return !PMPI_Allreduce(&yes, &all, 1, MPI_INT, MPI_MIN, comm) && all;
}

static bool all_of_our_world(MPI_Comm comm)
{
    MPI_Group all, group, others;
    int n = 1;
    if (PMPI_Comm_group(comm, &group))
        return false;
    if (!PMPI_Comm_group(MPI_COMM_WORLD, &all)) {
        if (!PMPI_Group_difference(group, all, &others)) {
            PMPI_Group_size(others, &n);
            if (others != MPI_GROUP_EMPTY)
                PMPI_Group_free(&others);
        }
        PMPI_Group_free(&all);
    }
    PMPI_Group_free(&group);
    return n == 0;
}

/* Where MPI_Init was not seen (MPI-4 sessions) nobody has asked. */
bool zruntime_all_have_it(MPI_Comm comm)
{
    int inter = 1, ranks = 0;
    if (zruntime_off() || PMPI_Comm_test_inter(comm, &inter) || inter ||
        PMPI_Comm_size(comm, &ranks))
        return false;
    return ranks == 1 || (!some_lack_it && (!agreed || all_of_our_world(comm)));
}

/* A wrong setting ends the program here, before it computes for hours and then writes something
 * else than was meant. */
static void stop_if_wrong(int rank)
{
    int mine = options_status ? rank : -1, worst = -1;
    PMPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst < 0)
        return;
    if (rank == worst)
        zmpi_log(ZMPI_LOG_ERROR, "%s", options_message);
    PMPI_Finalize();
    exit(EXIT_FAILURE);
}

/* A device that is asked for by name is started here; `auto` starts one for the first call that it
 * is the best for. */
static void check_device(int rank)
{
    const char *why = NULL;
    if (!zmpi_device_find(options.device, NULL, &why) && rank == 0)
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_DEVICE=%s: %s; using the CPU", options.device, why);
}

void zruntime_check_device(const struct zmpi_options *o, const char *path)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *why = NULL;
    if (strcmp(o->device, options.device) != 0 && !zmpi_device_find(o->device, NULL, &why) &&
        !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN, "%s: device %s: %s; using the CPU", path, o->device, why);
}

void zruntime_no_bound(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!options.bound_set && !zmpi_rules_set(&options, "error_bound") &&
        !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN,
                 "no error bound is set (ZMPI_ERROR_BOUND=abs=V, rel=V, pw_rel=V, "
                 "psnr=dB, ratio=R or lossless): new files and collectives pass unchanged, unless "
                 "a hint or the program sets one");
}

void zruntime_unseen(const char *call)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    int initialized = 0; /* not in MPI-4 sessions alone */
    if (agreed || some_lack_it || zruntime_off())
        return;
    znext_find(); /* where the MPI library is in front of us this may be the first call */
    if (!PMPI_Initialized(&initialized) && initialized && !atomic_flag_test_and_set(&said))
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: libzmpi.so did not see MPI_Init: link the program to it before the MPI "
                 "library, or preload it",
                 call);
}

/* A list that selects an HDF5 file without naming one has forgotten what the default leaves out. */
static void say_files(void)
{
    const bool wanted = options.bound_set || zmpi_rules_set(&options, "error_bound");
    if (wanted && !options.never && zmpi_globs_match(options.files, "x.h5") &&
        strstr(options.files, "h5") == NULL)
        zmpi_log(ZMPI_LOG_WARN,
                 "ZMPI_FILES=%.60s (%s) replaces the default list, which leaves HDF5, netCDF and "
                 "other known formats alone; to add to it: !GLOBs alone",
                 options.files, zmpi_option_from(&options, zmpi_option_index("files")));
}

static void say_unknown(void)
{
    char message[256];
    if (zmpi_options_unknown(message))
        zmpi_log(ZMPI_LOG_WARN, "%s", message);
    if (options.site_message[0])
        zmpi_log(ZMPI_LOG_WARN, "%s", options.site_message);
    say_files();
    if (options.never && options.never_programs[0])
        zmpi_log(ZMPI_LOG_INFO, "%s: never_programs names this program: nothing is compressed",
                 options.site);
}

/* A relative path starts from the folder where the program was started, wherever the program goes
 * before it ends. */
static void fix_report_path(void)
{
    char path[sizeof options.report];
    if (!options.report[0] || options.report[0] == '/' || !getcwd(path, sizeof path))
        return;
    const size_t folder = strlen(path), name = strlen(options.report);
    if (folder + 1 + name >= sizeof path)
        return;
    path[folder] = '/';
    memcpy(path + folder + 1, options.report, name + 1);
    memcpy(options.report, path, folder + 1 + name + 1);
}

/* Better an error now than after hours of computing. */
static void check_report_folder(void)
{
    char folder[sizeof options.report];
    memcpy(folder, options.report, sizeof folder);
    char *base = strrchr(folder, '/');
    if (!base)
        return;
    base[base == folder] = 0; /* the root keeps its slash */
    if (access(folder, W_OK) != 0)
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_REPORT=%s: its folder cannot be written to: %s",
                 options.report, strerror(errno));
}

void zruntime_stay_out(int rank)
{
    pthread_once(&once, load_options);
    some_lack_it = true;
    options.never = true; /* no new files */
    zmpi_log_set(options.log);
    zmpi_log_rank(rank);
}

/* Gives rank 0's rules to all ranks: they decide about calls and datasets, which all must see
 * alike. A line tells of other rules that a rank has. */
static void agree_on_rules(int rank)
{
    size_t own = zmpi_rules_pack(&options, NULL), bytes = own;
    PMPI_Bcast(&bytes, (int)sizeof bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    char *all = bytes <= INT_MAX ? malloc(bytes + 1) : NULL, *mine = malloc(own + 1);
    if (!zruntime_all(MPI_COMM_WORLD, all && mine)) {
        zmpi_log(ZMPI_LOG_ERROR,
                 "rules: not enough memory to agree on them: each rank has its own");
        free(all);
        free(mine);
        return;
    }
    zmpi_rules_pack(&options, mine);
    if (rank == 0)
        memcpy(all, mine, own);
    PMPI_Bcast(all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    const bool other = own != bytes || memcmp(mine, all, bytes) != 0;
    int differs = other ? rank : 0, last = 0;
    PMPI_Allreduce(&differs, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && last > 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "rank %d of MPI_COMM_WORLD, and perhaps others, has other rules than rank 0 "
                 "(ZMPI_CONFIG, or the file's contents): rank 0's apply",
                 last);
    if (other && !zmpi_rules_unpack(&options, all, bytes))
        zmpi_log(ZMPI_LOG_ERROR, "rules: not enough memory for those of rank 0");
    free(all);
    free(mine);
}

void zruntime_agree(int rank)
{
    pthread_once(&once, load_options);
    stop_if_wrong(rank);
    fix_report_path();
    /* All ranks must follow the same protocol, whatever their environments say. */
    struct zmpi_rules *rules = options.rules; /* memory of this process */
    PMPI_Bcast(&options, (int)sizeof options, MPI_BYTE, 0, MPI_COMM_WORLD);
    options.rules = rules;
    agree_on_rules(rank);
    zmpi_log_set(options.log);
    zmpi_log_rank(rank);
    if (rank == 0) {
        say_unknown();
        check_report_folder();
    }
    check_device(rank);
    share_node(rank);
    agreed = true;
    atomic_store(&zmpi_view_on, options.view);
}
