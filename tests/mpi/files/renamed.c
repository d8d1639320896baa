/*
 * renamed.c - files that lose their name while they are open, or get another one: scratch files
 * that are deleted, output that a script moves away, the next job's file of the same name. What was
 * written is in the file that was opened, and nothing in the other one. A child of fork that lives
 * on holds nothing back.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off ZMPI_REPORT=renamed.json
 */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>

enum { COUNT = 100000 }; /* more than is staged */

static int rank, ranks;
static double data[COUNT], is[COUNT];
static char before[1 << 20], after[(1 << 20) + 1];

static MPI_Offset place(int step)
{
    return (MPI_Offset)(step * ranks + rank) * (MPI_Offset)sizeof data;
}

static void fill(int step)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = step + i % 1000 * 0.125;
}

static void read_steps(MPI_File file)
{
    for (int step = 0; step < 3; step++) {
        fill(step);
        memset(is, 0, sizeof is);
        OK(MPI_File_read_at(file, place(step), is, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, data, sizeof data);
    }
}

static size_t contents(const char *path, char *all)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, all, sizeof before);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Another job's file, of one rank, of which more may be written. */
static void make_other(const char *path, bool container)
{
    MPI_File file;
    if (container) {
        OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file));
        fill(7);
        OK(MPI_File_write_at(file, 0, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        return;
    }
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, data, sizeof data) == (ssize_t)sizeof data && close(fd) == 0);
}

/* Nobody looks at them any more. */
static void clear_all(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    check_clear("renamed.");
}

enum what { DELETED, MOVED, REPLACED_BY_PLAIN, REPLACED_BY_CONTAINER };

/* Its name goes before any rank but the first has made a descriptor of its own. */
static void lose_name(const char *path, const char *new_name, enum what what)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(what == DELETED ? unlink(path) == 0 : rename(path, new_name) == 0);
    if (rank == 0 && what > MOVED)
        make_other(path, what == REPLACED_BY_CONTAINER);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run(enum what what)
{
    static const char path[] = "renamed.z", new_name[] = "renamed.new.z";
    MPI_File file;
    MPI_Request request;
    size_t n = 0;
    check_say("case %d", (int)what);
    clear_all();
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    fill(0);
    OK(MPI_File_write_at_all(file, place(0), data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    lose_name(path, new_name, what);
    if (what > MOVED)
        n = contents(path, before);
    fill(1);
    OK(MPI_File_write_at(file, place(1), data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    fill(2);
    OK(MPI_File_iwrite_at(file, place(2), data, COUNT, MPI_DOUBLE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_sync(file, MPI_COMM_WORLD);
    read_steps(file);
    OK(MPI_File_close(&file));
    if (what > MOVED) {
        CHECK_EQUAL(contents(path, after), n);
        CHECK_BYTES(after, before, n);
    }
    if (what != DELETED) {
        CHECK(check_is_container(new_name) && check_has_index(new_name));
        OK(MPI_File_open(MPI_COMM_WORLD, new_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        read_steps(file);
        OK(MPI_File_close(&file));
    }
    clear_all();
}

static MPI_File open_bytes(const char *path, int mode, const char *least)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "zmpi_least_ratio", least);
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file));
    MPI_Info_free(&info);
    return file;
}

/* What cannot be compressed, or the first few bytes of it. */
static void write_noise(MPI_File file, size_t bytes)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = check_unit(1, (uint64_t)i);
    OK(MPI_File_write_at_all(file, place(0), data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

static void check_plain(const char *name)
{
    CHECK(!check_is_container(name));
    CHECK_EQUAL(check_disk_size(name), ranks * (long long)sizeof data);
}

/* It is plain again under the name that it has then. */
static void bytes_moved(void)
{
    check_say("bytes, moved");
    MPI_File file = open_bytes("renamed.b", MPI_MODE_CREATE | MPI_MODE_WRONLY, "1.1");
    lose_name("renamed.b", "renamed.new.b", MOVED);
    write_noise(file, sizeof data);
    check_plain("renamed.new.b");
    CHECK_EQUAL(check_disk_size("renamed.b"), -1);
    clear_all();
}

/* The reader's lock goes when it closes the file, whoever was forked meanwhile. */
static void child_lives(void)
{
    check_say("a child that lives on");
    write_noise(open_bytes("renamed.c", MPI_MODE_CREATE | MPI_MODE_WRONLY, "0"), sizeof data);
    CHECK(check_is_container("renamed.c"));
    MPI_File file = open_bytes("renamed.c", MPI_MODE_RDONLY, "0");
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    OK(MPI_File_close(&file));
    write_noise(open_bytes("renamed.c", MPI_MODE_WRONLY, "1.1"), 8);
    check_plain("renamed.c");
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    clear_all();
}

/* A plain file is as large as without us, though only a few bytes of it were written. */
static bool report_is_right(void)
{
    char *all = after, *entry = NULL;
    all[contents("renamed.json", after)] = 0;
    for (char *next = all; (next = strstr(next, "\"renamed.c\"")); next++)
        entry = next;
    return entry && strstr(entry, "\"ratio\": 1,") && strstr(entry, "\"made_plain\": true");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    run(DELETED);
    const int open_files = check_open_files();
    for (int what = DELETED; what <= REPLACED_BY_CONTAINER; what++)
        run((enum what)what);
    check_say("at the end");
    CHECK_EQUAL(check_open_files(), open_files);
    bytes_moved();
    child_lives();
    MPI_Finalize();
    if (rank == 0 && !report_is_right()) {
        fprintf(stderr, "FAIL: the report: %.3000s\n", after);
        return 1;
    }
    if (rank == 0)
        unlink("renamed.json");
    return 0;
}
