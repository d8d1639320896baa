/*
 * sequence.c - a seeded sequence of writes in which processes are killed, for
 * tests/cli/kill_loop.py; it is no test by itself.
 *
 *     sequence SEED SESSION FILE LOG KILL
 *
 * Each rank says in LOG.RANK what it is about to do, and when that is done, so that the script
 * knows what the file may hold and what it must. If the file has data, rank 0 copies them to
 * LOG.before. KILL is one of
 *
 *     none                      nobody is killed, or by somebody else
 *     op:RANK:PERCENT           that rank (-1: each) kills itself after this part of its operations
 *     call:RANK:ACT:CALLS:AT    that rank dies in system call number AT on the file (shim.h)
 *
 * Every other seed has points of several variables, too: whole numbers, which are exact within
 * their bound.
 */
#include "../mpi/check.h"

#include <signal.h>

#include "shim.h"

enum {
    OPS_MAX = 400,
    COMPONENTS = 5,
    ELEMENTS = 20000, /* where most writes go */
    ZONE = 4000       /* elements; a place of its own for each use of the shared pointer */
};

static int rank, ranks, log_fd;
static uint64_t seed, session;
static MPI_File file;
static char kinds[OPS_MAX]; /* one operation each, the same on all ranks; capitals are collective */
static int ops, zones;
static int op, phase; /* collective operations so far that order writes */
static uint64_t buffer[ELEMENTS];
static bool points; /* are written, as records of components */

static uint64_t below(uint64_t n, uint64_t what)
{
    return check_mix(seed * 31 + (uint64_t)rank, (uint64_t)op * 16 + what) % n;
}

/* The same on all ranks. */
static uint64_t below_all(uint64_t n, uint64_t what)
{
    return check_mix(~seed, (uint64_t)op * 16 + what) % n;
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    char line[200];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    CHECK(write(log_fd, line, (size_t)n) == n);
}

static void fill(uint64_t n, uint64_t noise)
{
    uint64_t key = check_mix(seed, (uint64_t)rank << 16 | (uint64_t)op);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = key + i * 0x9E3779B97F4A7C15U;
        buffer[i] = noise ? x ^ x >> 29 : key + i;
    }
}

/* ---- operations ---- */

/* Data at a place of its own: blocks of `block` elements, `stride` apart. */
static void tell_write(uint64_t at, uint64_t block, uint64_t stride, uint64_t n)
{
    uint64_t noise = below(3, 9) > 0;
    fill(n, noise);
    tell("b %d %d w %llu %llu %llu %llu %llu\n", op, phase, (unsigned long long)at,
         (unsigned long long)block, (unsigned long long)stride, (unsigned long long)n,
         (unsigned long long)noise);
}

static void write_one(uint64_t n, bool nonblocking)
{
    const uint64_t at = below(ELEMENTS - n, 1);
    const MPI_Datatype type = points || below(2, 2) ? MPI_INT64_T : MPI_DOUBLE;
    tell_write(at, n, n, n);
    if (nonblocking) {
        MPI_Request request;
        OK(MPI_File_iwrite_at(file, (MPI_Offset)(8 * at), buffer, (int)n, type, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_write_at(file, (MPI_Offset)(8 * at), buffer, (int)n, type, MPI_STATUS_IGNORE));
    }
}

static void write_all(void)
{
    const uint64_t n = below(4, 0) ? below(4000, 1) : 0, at = below(ELEMENTS - n, 2);
    tell_write(at, n, n, n);
    OK(MPI_File_write_at_all(file, (MPI_Offset)(8 * at), buffer, (int)n, MPI_INT64_T,
                             MPI_STATUS_IGNORE));
}

/* Whole points, together or alone: variable c is of the size of 10^c. */
static void write_points(bool together)
{
    const uint64_t n = COMPONENTS * (20 + below(1500, 0)), at = below(ELEMENTS - n, 1);
    const uint64_t key = check_mix(seed, (uint64_t)rank << 16 | (uint64_t)op) % 1000;
    tell("b %d %d w %llu %llu %llu %llu 2\n", op, phase, (unsigned long long)at,
         (unsigned long long)n, (unsigned long long)n, (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)(key + i / COMPONENTS);
        for (uint64_t c = i % COMPONENTS; c > 0; c--)
            x *= 10;
        memcpy(&buffer[i], &x, sizeof x);
    }
    if (together)
        OK(MPI_File_write_at_all(file, (MPI_Offset)(8 * at), buffer, (int)n, MPI_DOUBLE,
                                 MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(file, (MPI_Offset)(8 * at), buffer, (int)n, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
}

static void write_view(void)
{
    const uint64_t block = 1 + below(40, 0), stride = block + below(40, 1),
                   count = 1 + below(90, 2);
    const uint64_t at = below(ELEMENTS - stride * count, 3);
    MPI_Datatype type;
    OK(MPI_Type_vector((int)count, (int)block, (int)stride, MPI_INT64_T, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_File_set_view(file, (MPI_Offset)(8 * at), MPI_INT64_T, type, "native", MPI_INFO_NULL));
    tell_write(at, block, stride, block * count);
    OK(MPI_File_write_all(file, buffer, (int)(block * count), MPI_INT64_T, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_INT64_T, MPI_INT64_T, "native", MPI_INFO_NULL));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&type));
}

static uint64_t zone(void)
{
    return ELEMENTS + ((uint64_t)zones + 50 * session) * ZONE;
}

static void write_shared(void)
{
    const uint64_t n = 1 + below(ZONE / 12, 0), noise = below(3, 9) > 0;
    fill(n, noise);
    tell("b %d %d h %llu %d %llu %llu\n", op, phase, (unsigned long long)zone(), ZONE,
         (unsigned long long)n, (unsigned long long)noise);
    OK(MPI_File_write_shared(file, buffer, (int)(8 * n), MPI_BYTE, MPI_STATUS_IGNORE));
}

static void resize(void)
{
    uint64_t n = below_all(4, 0) ? below_all(ELEMENTS, 1) : below_all(2, 2) * 30 * ZONE;
    bool grow = below_all(2, 3);
    tell("b %d %d %c %llu\n", op, phase, grow ? 'p' : 'z', (unsigned long long)n);
    OK(grow ? MPI_File_preallocate(file, (MPI_Offset)(8 * n))
            : MPI_File_set_size(file, (MPI_Offset)(8 * n)));
}

static void open_file(const char *path)
{
    MPI_Info info;
    tell("b %d %d o\n", op, phase);
    OK(MPI_Info_create(&info));
    if (points) {
        OK(MPI_Info_set(info, "zmpi_error_bound", "abs=0.4"));
        OK(MPI_Info_set(info, "zmpi_components", "5"));
        OK(MPI_Info_set(info, "zmpi_exact_below", "0"));
    }
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    OK(MPI_Info_free(&info));
}

static void do_op(const char *path)
{
    switch (kinds[op]) {
    case 's': /* small: staged */
        write_one(1 + below(300, 0), false);
        break;
    case 'i':
        write_one(1 + below(300, 0), true);
        break;
    case 'l': /* large: coded at once */
        write_one(9000 + below(9000, 0), false);
        break;
    case 'C':
        write_all();
        break;
    case 'V':
        write_view();
        break;
    case 'P':
    case 'p':
        write_points(kinds[op] == 'P');
        break;
    case 'K':
        zones++;
        tell("b %d %d k\n", op, phase);
        OK(MPI_File_seek_shared(file, (MPI_Offset)(8 * zone()), MPI_SEEK_SET));
        break;
    case 'h':
        write_shared();
        break;
    case 'Z':
        resize();
        break;
    case 'r': /* own data leave the process */
        tell("b %d %d r\n", op, phase);
        OK(MPI_File_read_at(file, 0, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        break;
    case 'X':
        tell("b %d %d c\n", op, phase);
        OK(MPI_File_close(&file));
        break;
    case 'O':
        open_file(path);
        break;
    default:
        tell("b %d %d y\n", op, phase);
        OK(MPI_File_sync(file));
    }
    tell("e %d\n", op);
    phase += kinds[op] < 'a' && kinds[op] != 'K';
}

/* ---- the sequence ---- */

static void add(const char *these)
{
    for (; *these && ops < OPS_MAX; these++)
        kinds[ops++] = *these;
}

static void generate(void)
{
    static const char *const parts[] = {"s",  "ssss", "l",          "C",    "C",  "V",   "Y",
                                        "Y",  "r",    "sir",        "Khhh", "Z",  "XO",  "sCs",
                                        "ls", "Ysss", "llllllllll", "P",    "pP", "PpY", "PsPp"};
    const uint64_t with_points = 4, kinds_of_parts = sizeof parts / sizeof *parts;
    const uint64_t length = 15 + check_mix(seed, 1) % 25;
    add("O");
    for (uint64_t i = 0; i < length; i++)
        add(parts[check_mix(seed, 100 + i) % (kinds_of_parts - (points ? 0 : with_points))]);
    add("X");
}

/* What is in the file already, for the script to compare. */
static void copy_before(const char *path, const char *name)
{
    MPI_Offset size;
    MPI_File in;
    if (rank || check_disk_size(path) <= 0)
        return;
    OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &in));
    OK(MPI_File_get_size(in, &size));
    unsigned char *data = check_alloc((size_t)size);
    OK(MPI_File_read_at(in, 0, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&in));
    FILE *out = fopen(name, "wb");
    CHECK(out && fwrite(data, 1, (size_t)size, out) == (size_t)size && fclose(out) == 0);
    free(data);
}

static void plan_kill(const char *plan, const char *path, struct fault *fault, int *last)
{
    int victim, act, percent;
    const char *slash = strrchr(path, '/');
    *last = OPS_MAX;
    if (sscanf(plan, "op:%d:%d", &victim, &percent) == 2 && (victim < 0 || victim == rank))
        *last = ops * percent / 100;
    if (sscanf(plan, "call:%d:%d:%d:%ld", &victim, &act, &fault->calls, &fault->at) == 4 &&
        victim == rank) {
        fault->file = slash ? slash + 1 : path;
        fault->act = (enum fault_act)act;
        fault_set(fault);
    }
}

int main(int argc, char **argv)
{
    char name[4096];
    struct fault fault = {0};
    int last;
    MPI_Init(&argc, &argv);
    CHECK_SAY(argc == 6, "sequence SEED SESSION FILE LOG KILL");
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    seed = strtoull(argv[1], NULL, 10);
    session = strtoull(argv[2], NULL, 10);
    points = check_mix(seed, 2) % 2;
    generate();
    snprintf(name, sizeof name, "%s.before", argv[4]);
    copy_before(argv[3], name);
    snprintf(name, sizeof name, "%s.%d", argv[4], rank);
    log_fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    CHECK(log_fd >= 0);
    tell("pid %d\n", (int)getpid());
    MPI_Barrier(MPI_COMM_WORLD);
    plan_kill(argv[5], argv[3], &fault, &last);
    for (op = 0; op < ops; op++) {
        if (op == last)
            raise(SIGKILL);
        do_op(argv[3]);
    }
    MPI_Finalize();
    return 0;
}
