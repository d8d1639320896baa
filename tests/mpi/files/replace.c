/*
 * replace.c - plain files that are there already and are written again: each becomes a container if
 * all of it is written anew, or if little is not, and else has what was written and what was there,
 * plain. Nobody else's bytes are lost; nothing is left beside it.
 *
 *     zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_REPORT_TEXT=off ZMPI_LOG=error
 *     zmpi-test: all RANKS 2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_REPORT_TEXT=off ZMPI_LOG=error ZMPI_ADOPT_BELOW=0
 *
 * ZMPI_ADOPT_BELOW=0: only what is written anew as a whole.
 */
#define _GNU_SOURCE // F_OFD_SETLK
#include "check.h"

#include <math.h>

#define MB ((size_t)1 << 20)
enum {
    WO = MPI_MODE_WRONLY | MPI_MODE_CREATE,
    RW = MPI_MODE_RDWR | MPI_MODE_CREATE,
    AP = MPI_MODE_WRONLY | MPI_MODE_APPEND | MPI_MODE_UNIQUE_OPEN /* as p4est and LAMMPS do */
};
enum {
    NOTHING,
    OPEN_BEFORE,
    OPEN_AFTER,
    CHANGED,
    ALONE,
    REPLACED,
    SYNCED,
    SYNCED_ALL,
    LINKED,
    FORMAT,
    GROWING
};

static const char path[] = "there.bin", beside[] = "there.bin.zmpi-new",
                  synced[] = "there.bin.zmpi-synced";

/* A file of so many bytes, and the bytes of it that are written; what happens to it by others. */
static const struct act {
    const char *name;
    int amode;
    size_t was, from, to, from2, to2; /* bytes; two parts */
    size_t cut;                       /* MPI_File_set_size before; 0: none */
    int else_;
    bool container;
} acts[] = {
    {"all", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, NOTHING, true},
    {"more", WO, 3 * MB, 0, 4 * MB, 0, 0, 0, NOTHING, true},
    {"second half", WO, 3 * MB, 3 * MB / 2, 3 * MB, 0, 0, 0, NOTHING, false},
    {"all but the middle", WO, 3 * MB, 0, MB, MB + 50000, 3 * MB, 0, NOTHING, true},
    {"all but the first bytes", WO, 3 * MB, 1000, 5 * MB, 0, 0, 0, NOTHING, true},
    {"cut", WO, 3 * MB, 0, 3 * MB / 2, 0, 0, 3 * MB / 2, NOTHING, true},
    {"longer", WO, 3 * MB, 0, 0, 0, 0, 4 * MB, NOTHING, false},
    {"cut, a part", WO, 9 * MB, 2 * MB, 3 * MB, 0, 0, 3 * MB, NOTHING, false},
    {"behind it", WO, 3 * MB, 4 * MB, 5 * MB, 0, 0, 0, NOTHING, false},
    {"nothing", WO, 3 * MB, 0, 0, 0, 0, 0, NOTHING, false},
    {"nothing, small", RW, 1000, 0, 0, 0, 0, 0, NOTHING, false},
    {"few floats", WO, 1000, 1008, 41008, 0, 0, 0, NOTHING, false},
    {"a head", RW, MB / 2, MB / 2, 4 * MB, 0, 0, 0, NOTHING, true},
    {"a head of another program", WO, 1234, 1236, 4 * MB, 0, 0, 0, NOTHING, true},
    {"a head, appended to", AP, 1234, 1234, 4 * MB, 0, 0, 0, NOTHING, true},
    {"a head, appended to, few floats", AP, 1234, 1234, 41234, 0, 0, 0, NOTHING, false},
    {"much, appended to", AP, 3 * MB, 3 * MB, 5 * MB, 0, 0, 0, NOTHING, false},
    {"to be read", RW, 3 * MB, 0, 3 * MB, 0, 0, 0, NOTHING, false},
    {"open before", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, OPEN_BEFORE, false},
    {"open after", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, OPEN_AFTER, false},
    {"changed", WO, 3 * MB, 0, MB, 2 * MB, 3 * MB, 0, CHANGED, false},
    {"changed, small", RW, MB / 2, MB / 2, 4 * MB, 0, 0, 0, CHANGED, false},
    {"another file", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, REPLACED, false},
    {"one rank", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, ALONE, false},
    {"synchronised", WO, 3 * MB, 0, MB, MB, 3 * MB, 0, SYNCED, true},
    {"synchronised, a part", WO, 3 * MB, 0, MB, 0, 0, 0, SYNCED, false},
    {"synchronised when all is there", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, SYNCED_ALL, true},
    {"a file of two names", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, LINKED, false},
    {"of another library's format", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, FORMAT, false},
    {"another job writes it", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, GROWING, false},
};

static int rank, ranks;
static unsigned char model[9 * MB];
static size_t size;

static void write_part(MPI_File file, size_t from, size_t to, int seed)
{
    const size_t n = (to - from) / 8, own = n * (size_t)rank / (size_t)ranks,
                 end = n * (size_t)(rank + 1) / (size_t)ranks;
    double *data = check_alloc(n * 8 + 8);
    for (size_t i = 0; i < n; i++)
        data[i] = 3 + sin(0.001 * (double)i + seed);
    if (n)
        memcpy(model + from, data, n * 8);
    size = to > size ? from + n * 8 : size;
    OK(MPI_File_write_at_all(file, (MPI_Offset)(from + own * 8), data + own, (int)(end - own),
                             MPI_DOUBLE, MPI_STATUS_IGNORE));
    free(data);
}

static void make(const struct act *a)
{
    for (size_t i = 0; i < sizeof model; i++)
        model[i] = i < a->was ? (unsigned char)(check_mix(7, i / 64) + i % 16) : 0;
    size = a->was;
    if (a->else_ == FORMAT)
        memcpy(model, "\x89HDF\r\n\x1a\n", 8);
    if (rank == 0) {
        const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0640);
        CHECK(fd >= 0 && write(fd, model, a->was) == (ssize_t)a->was && fchmod(fd, 0640) == 0);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What is there beside it before it is opened: another name of it, or another job's container. */
static int prepare(int what)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = -1;
    if (rank == 0 && what == LINKED)
        CHECK(link(path, "moved.bin") == 0);
    if (rank == 0 && what == GROWING)
        CHECK((fd = open(beside, O_CREAT | O_RDWR, 0640)) >= 0 &&
              fcntl(fd, F_OFD_SETLK, &all) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return fd;
}

/* What another program, or another part of this one, does to it while it is open. */
static int disturb(int what)
{
    int fd = -1;
    if (rank == 0 && (what == OPEN_AFTER || what == CHANGED))
        CHECK((fd = open(path, O_WRONLY)) >= 0);
    if (what == CHANGED) {
        model[1000] = 200;
        if (rank == 0) {
            usleep(20 * 1000); /* the clock of file systems ticks */
            CHECK(pwrite(fd, model + 1000, 1, 1000) == 1 && close(fd) == 0);
        }
        fd = -1;
    }
    if (rank == 0 && what == REPLACED)
        CHECK(rename(path, "moved.bin") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return fd;
}

/* It can be read while it is open, what was there too. */
static void check_own(MPI_File file)
{
    unsigned char *data = check_alloc(size);
    OK(MPI_File_read_at(file, 0, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    check_bytes(__FILE__, __LINE__, data, model, size);
    free(data);
}

/* Both file pointers are behind what was there. */
static void check_end(MPI_File file)
{
    MPI_Offset own = 0, shared = 0;
    OK(MPI_File_get_position(file, &own));
    OK(MPI_File_get_position_shared(file, &shared));
    CHECK_EQUAL((long long)own, (long long)size);
    CHECK_EQUAL((long long)shared, (long long)size);
}

/* Is all that was there written anew? */
static bool is_whole(const struct act *a)
{
    const size_t end = a->cut ? a->cut : a->was;
    return a->from == 0 && (a->to >= end || (a->from2 <= a->to && a->to2 >= end));
}

static void check_file(const struct act *a, const char *name)
{
    unsigned char *data = check_alloc(size + 1);
    MPI_File file;
    MPI_Offset now = 0;
    struct stat s;
    if (rank == 0) {
        CHECK(check_is_container(name) ==
              (a->container && (getenv("ZMPI_ADOPT_BELOW") == NULL || is_whole(a))));
        CHECK(access(beside, F_OK) != 0 && access(synced, F_OK) != 0);
        CHECK(stat(name, &s) == 0 && (s.st_mode & 0777) == 0640);
    }
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &now));
    CHECK_EQUAL((long long)now, (long long)size);
    OK(MPI_File_read_at(file, 0, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    check_bytes(__FILE__, __LINE__, data, model, size);
    OK(MPI_File_close(&file));
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 alone opens and writes the file. */
static void run_alone(const struct act *a)
{
    const int all = ranks;
    if (rank == 0) {
        MPI_File file;
        ranks = 1;
        OK(MPI_File_open(MPI_COMM_SELF, path, a->amode, MPI_INFO_NULL, &file));
        write_part(file, a->from, a->to, 1);
        OK(MPI_File_close(&file));
    }
    ranks = all;
    MPI_Bcast(model, (int)sizeof model, MPI_BYTE, 0, MPI_COMM_WORLD);
    check_file(a, path);
}

static void run(const struct act *a)
{
    MPI_File file;
    MPI_Offset now = 0;
    check_say("%s", a->name);
    make(a);
    int before = prepare(a->else_);
    if (rank == 0 && a->else_ == OPEN_BEFORE)
        CHECK((before = open(path, O_RDWR)) >= 0);
    if (a->else_ == ALONE && ranks > 1) {
        run_alone(a);
        return;
    }
    OK(MPI_File_open(MPI_COMM_WORLD, path, a->amode, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &now));
    CHECK_EQUAL((long long)now, (long long)size);
    if (a->amode == RW)
        check_own(file);
    if (a->amode == AP)
        check_end(file);
    if (a->cut) {
        OK(MPI_File_set_size(file, (MPI_Offset)a->cut));
        memset(model + a->cut, 0, sizeof model - a->cut);
        size = a->cut;
    }
    const int fd = disturb(a->else_);
    if (a->from < a->to)
        write_part(file, a->from, a->to, 2);
    if (a->else_ == SYNCED || a->else_ == SYNCED_ALL) {
        OK(MPI_File_sync(file));
        if (rank == 0) {
            CHECK(check_is_container(path) == (a->else_ == SYNCED_ALL));
            CHECK((access(synced, F_OK) == 0) == (a->else_ == SYNCED));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (a->from2 < a->to2)
        write_part(file, a->from2, a->to2, 3);
    if (a->amode == RW && a->else_ == NOTHING) {
        check_sync(file, MPI_COMM_WORLD);
        check_own(file);
    }
    OK(MPI_File_close(&file));
    if (a->else_ == GROWING && rank == 0)
        CHECK(access(beside, F_OK) == 0 && unlink(beside) == 0);
    const char *name = a->else_ == REPLACED ? "moved.bin" : path;
    if (a->else_ == ALONE) { /* of one rank: that is all */
        struct act alone = *a;
        alone.container = true;
        check_file(&alone, name);
    } else {
        check_file(a, name);
    }
    if (fd >= 0)
        close(fd);
    if (before >= 0)
        close(before);
}

/* What a run that was killed has left is no hindrance, but for what was synchronised. */
static void check_left(void)
{
    const struct act plain = {"left", WO, 3 * MB, 0, 3 * MB, 0, 0, 0, NOTHING, false};
    check_say("left behind");
    if (rank == 0)
        CHECK(rename(path, beside) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    run(&acts[0]);
    check_say("left behind, synchronised");
    if (rank == 0)
        CHECK(rename(path, synced) == 0);
    make(&plain);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, WO, MPI_INFO_NULL, &file));
    write_part(file, 0, plain.was, 2);
    OK(MPI_File_close(&file));
    if (rank == 0)
        CHECK(rename(synced, "moved.bin") == 0);
    check_file(&plain, path);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (rank == 0)
            (void)unlink("moved.bin");
        check_remove(path, MPI_COMM_WORLD);
        run(&acts[i]);
    }
    check_left();
    MPI_Finalize();
}
