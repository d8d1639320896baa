/*
 * plain_others.c - files that become plain again when they are closed (plain.c), and who else has
 * to do with them: communicators that open them just then, or read them all the time, or open the
 * next one of the same kind; other files that got the name; what a killed process left.
 *
 * zmpi-test: RANKS 1,2,3 ENV ZMPI_LEAST_RATIO=1.1 ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off
 */
#define _GNU_SOURCE // RTLD_NEXT
#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/xattr.h>

enum { N = 1100000, FLOATS = 40000, STEP = 10000, STEPS = 5 };

static int rank, ranks;
static unsigned char noise[N], back[N];
static float wave[FLOATS];

/* ---- system calls of all that runs in this process ---- */

static const char *becoming_plain; /* once it was looked at, "plain.x" takes its name */
static int looks;                  /* after so many more */
static int syncs;
static const char *closing; /* a file, and how often it was opened meanwhile */
static int opened;

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const char *slash = strrchr(path, '/');
    opened += closing && strcmp(slash ? slash + 1 : path, closing) == 0;
    /* The first look of all is the only one that would not wait. */
    if (becoming_plain && !(flags & O_NONBLOCK) && strcmp(path, becoming_plain) == 0 &&
        looks-- == 0) {
        becoming_plain = NULL;
        CHECK(rename("plain.x", path) == 0);
    }
    return ((__typeof__(&open))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}

/* The first lock comes after the last look. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (becoming_plain && command == F_OFD_SETLKW) {
        CHECK(rename("plain.x", becoming_plain) == 0);
        becoming_plain = NULL;
    }
    return ((__typeof__(&fcntl))dlsym(RTLD_NEXT, "fcntl"))(fd, command, argument);
}

int fsync(int fd)
{
    syncs++;
    return ((__typeof__(&fsync))dlsym(RTLD_NEXT, "fsync"))(fd);
}

/* ---- what the cases share ---- */

static MPI_File open_hinted(MPI_Comm comm, const char *path, int mode, const char *least)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    if (least)
        MPI_Info_set(info, "zmpi_least_ratio", least);
    OK(MPI_File_open(comm, path, mode, info, &file));
    MPI_Info_free(&info);
    return file;
}

static void write_file(MPI_Comm comm, const char *path, const char *least)
{
    MPI_File file = open_hinted(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, least);
    if (check_rank(comm) == 0)
        OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

static void check_noise(const char *path, int n)
{
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, back, (size_t)n, 0) == n);
    CHECK_BYTES(back, noise, (size_t)n);
    CHECK_EQUAL(check_disk_size(path), n);
    close(fd);
}

static int copies_left(void)
{
    int n = 0;
    DIR *here = opendir(".");
    for (struct dirent *d; (d = readdir(here));)
        n += strstr(d->d_name, ".plain-") != NULL;
    closedir(here);
    return n;
}

/* ---- cases ---- */

/* It was found to be a container, and is a plain file before it is opened: as if it had been
 * opened a moment later. Nothing of ours may be written to it. */
static void opened_meanwhile(int mode)
{
    static const char path[] = "meanwhile.out";
    check_say("opened meanwhile, mode %d", mode);
    if (rank == 0) {
        write_file(MPI_COMM_SELF, path, "0");
        write_file(MPI_COMM_SELF, "plain.x", NULL);
        CHECK(check_is_container(path) && !check_is_container("plain.x"));
        MPI_File file;
        becoming_plain = path;
        looks = 0;
        OK(MPI_File_open(MPI_COMM_SELF, path, mode, MPI_INFO_NULL, &file));
        CHECK(!becoming_plain);
        if (!(mode & MPI_MODE_WRONLY)) {
            OK(MPI_File_read_at(file, 0, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK_BYTES(back, noise, N);
        }
        OK(MPI_File_close(&file));
        check_noise(path, N);
    }
    check_remove(path, MPI_COMM_WORLD);
}

/* The same, but another container, which zmpi trim has made; all looks are at one of the two. */
static void trimmed_meanwhile(int mode, int after)
{
    static const char path[] = "trimmed.out";
    check_say("trimmed meanwhile, mode %d, after %d looks", mode, after);
    if (rank == 0) {
        MPI_File file = open_hinted(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, "0");
        for (int i = 0; i < 3; i++)
            OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        write_file(MPI_COMM_SELF, "plain.x", "0");
        becoming_plain = path;
        looks = after;
        file = open_hinted(MPI_COMM_SELF, path, mode, "0");
        becoming_plain = NULL;
        if (mode & (MPI_MODE_RDWR | MPI_MODE_WRONLY))
            OK(MPI_File_write_at(file, N, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        file = open_hinted(MPI_COMM_SELF, path, MPI_MODE_RDONLY, "0");
        for (int part = 0; part < (mode & MPI_MODE_RDONLY ? 1 : 2); part++) {
            memset(back, 0, N);
            OK(MPI_File_read_at(file, part * N, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK_BYTES(back, noise, N);
        }
        OK(MPI_File_close(&file));
        CHECK(check_is_container(path));
        unlink("plain.x");
    }
    check_remove(path, MPI_COMM_WORLD);
}

/* Each rank opens the file by itself. The first one that is alone with it finds out that it gains
 * nothing; the next file must not be a plain one to it and a container to the others. */
static void kinds_of_one(void)
{
    check_say("a kind that one rank knows");
    for (int step = 0; step < 2; step++) {
        char path[40];
        snprintf(path, sizeof path, "kinds_%d.out", step);
        MPI_File file;
        for (int r = 0; r < ranks; r++) {
            if (r == rank) {
                file = open_hinted(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
                if (step == 0) {
                    OK(MPI_File_write_at(file, rank * (MPI_Offset)N, noise, N, MPI_BYTE,
                                         MPI_STATUS_IGNORE));
                    OK(MPI_File_close(&file));
                }
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (step == 1) {
            OK(MPI_File_write_at(file, rank * (MPI_Offset)N, noise, N, MPI_BYTE,
                                 MPI_STATUS_IGNORE));
            OK(MPI_File_close(&file));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        file = open_hinted(MPI_COMM_SELF, path, MPI_MODE_RDONLY, NULL);
        OK(MPI_File_read_at(file, rank * (MPI_Offset)N, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_BYTES(back, noise, N);
        OK(MPI_File_close(&file));
        check_remove(path, MPI_COMM_WORLD);
    }
}

/* A hint says of the next file of the kind what it is to be. */
static void kinds_and_hints(void)
{
    static const char *const hints[][2] = {{"zmpi_least_ratio", "0"},
                                           {"zmpi_error_bound", "ratio=8"}};
    check_say("a known kind, and hints");
    write_file(MPI_COMM_WORLD, "kind_1.out", NULL);
    CHECK(!check_is_container("kind_1.out"));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_File file;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, hints[i][0], hints[i][1]);
        OK(MPI_File_open(MPI_COMM_WORLD, "kind_2.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, info,
                         &file));
        MPI_Info_free(&info);
        OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof wave, wave, FLOATS, MPI_FLOAT,
                                 MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        CHECK(check_is_container("kind_2.out"));
        check_remove("kind_2.out", MPI_COMM_WORLD);
    }
    check_remove("kind_1.out", MPI_COMM_WORLD);
}

/* Somebody reads it all the time: what later sessions write must be seen after a sync. */
static void read_all_the_time(void)
{
    static const char path[] = "read.out";
    check_say("read all the time");
    write_file(MPI_COMM_WORLD, path, "0");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File reader, file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &reader));
    for (int step = 1; step < 3; step++) {
        file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, NULL);
        if (rank == 0)
            OK(MPI_File_write_at(file, step * (MPI_Offset)N, noise, N, MPI_BYTE,
                                 MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        (void)MPI_File_sync(reader); /* MPI libraries call that an error */
        MPI_Status status;
        int n;
        OK(MPI_File_read_at(reader, step * (MPI_Offset)N, back, N, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK_EQUAL(n, N);
        CHECK_BYTES(back, noise, N);
    }
    OK(MPI_File_close(&reader));
    /* Nobody is left: now it may. */
    file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, NULL);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK_EQUAL(copies_left(), 0);
    check_remove(path, MPI_COMM_WORLD);
}

/* Another container has got its name before it is closed: that one is not ours. */
static void another_of_the_name(void)
{
    static const char path[] = "name.out", other[] = "other.x";
    check_say("another file of its name");
    write_file(MPI_COMM_WORLD, other, "0");
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
    OK(MPI_File_write_at_all(file, 0, noise, N / 2, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(rename(other, path) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    CHECK_EQUAL(copies_left(), 0);
    check_remove(path, MPI_COMM_WORLD);
}

/* A relative name is that of another file once the program has gone to another folder. */
static void other_folder(void)
{
    static const char path[] = "moved.out";
    char home[4096];
    check_say("other folder");
    CHECK(getcwd(home, sizeof home));
    if (rank == 0) {
        CHECK(mkdir("folder", 0777) == 0 && chdir("folder") == 0);
        write_file(MPI_COMM_SELF, path, "0");
        CHECK(chdir("..") == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
    OK(MPI_File_write_at_all(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(chdir("folder") == 0);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    CHECK(chdir(home) == 0);
    /* And one that was never written to is not emptied there. */
    file = open_hinted(MPI_COMM_WORLD, "empty.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
    CHECK(chdir("folder") == 0);
    if (rank == 0)
        CHECK(rename(path, "empty.out") == 0);
    OK(MPI_File_close(&file));
    CHECK(check_is_container("empty.out"));
    CHECK(chdir(home) == 0);
    check_remove("folder/empty.out", MPI_COMM_WORLD);
    check_remove("empty.out", MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(rmdir("folder") == 0);
}

/* The id that the container's copy is named by, and such a copy of a killed process. */
static void left_by_the_dead(void)
{
    static const char path[] = "dead.out";
    check_say("a dead one's copy");
    write_file(MPI_COMM_WORLD, path, "0");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unsigned char slot[2][128];
        const int fd = open(path, O_RDONLY);
        CHECK(pread(fd, slot[0], 128, 0) == 128 && pread(fd, slot[1], 128, 256) == 128);
        close(fd);
        const unsigned char *id = slot[slot[0][0] == 0] + 16;
        char name[100];
        snprintf(name, sizeof name, "%s.plain-%02x%02x%02x%02x", path, id[0], id[1], id[2], id[3]);
        fclose(fopen(name, "w"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, NULL);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(!check_is_container(path));
    CHECK_EQUAL(copies_left(), 0);
    check_noise(path, N);
    check_remove(path, MPI_COMM_WORLD);
}

/* What was there before this session may be on the disk for long: the copy must be, too. */
static void of_older_data(void)
{
    static const char path[] = "older.out";
    check_say("older data");
    write_file(MPI_COMM_WORLD, path, "0");
    MPI_Barrier(MPI_COMM_WORLD);
    syncs = 0;
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, NULL);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(!check_is_container(path));
    CHECK(syncs > 0);
    check_remove(path, MPI_COMM_WORLD);
}

/* Two threads that close files must not meet in the MPI library's open, which they know how to
 * avoid: ROMIO of Open MPI 4.1.4 crashes then. */
static void opens_nothing(void)
{
    static const char path[] = "opens.out";
    check_say("closed without being opened");
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    closing = path;
    OK(MPI_File_close(&file));
    closing = NULL;
    CHECK_EQUAL(opened, 0);
    check_noise(path, N);
    check_remove(path, MPI_COMM_WORLD);
}

/* A folder gives new files an access control list; the container is older than that. */
static void folder_with_list(void)
{
    static const char folder[] = "listed", path[] = "listed/list.out";
    /* version 2; owner, user 12345, group, mask, others: tag, permissions, id */
    static const uint16_t list[] = {2,      0,      1,  7, 0xffff, 0xffff, 2,  7,
                                    12345,  0,      4,  5, 0xffff, 0xffff, 16, 7,
                                    0xffff, 0xffff, 32, 0, 0xffff, 0xffff};
    check_say("a folder with an access control list");
    if (rank == 0) {
        unlink(path);
        CHECK(mkdir(folder, 0777) == 0 || errno == EEXIST);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
    bool can = false;
    if (rank == 0) {
        CHECK(chmod(path, 0640) == 0);
        can = setxattr(folder, "system.posix_acl_default", list, sizeof list, 0) == 0;
        OK(MPI_File_write_at(file, 0, noise, N, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
    CHECK(!check_is_container(path));
    if (can) {
        struct stat s;
        CHECK(getxattr(path, "system.posix_acl_access", NULL, 0) < 0);
        CHECK(stat(path, &s) == 0 && (s.st_mode & 07777) == 0640);
    }
    check_remove(path, MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(rmdir(folder) == 0);
}

/* Plain it would be larger than the process may make files, which ends it by a signal. */
static void limited(void)
{
    static const char path[] = "limited.out";
    struct rlimit before;
    check_say("file sizes are limited");
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const struct rlimit most = {N / 2, before.rlim_max};
    MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
    CHECK(setrlimit(RLIMIT_FSIZE, &most) == 0);
    memset(back, 7, N);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(check_is_container(path));
    check_remove(path, MPI_COMM_WORLD);
}

/* A file that grows by less than 16 KiB each time it is open. */
static void grows_slowly(void)
{
    static const char path[] = "grows.out";
    check_say("grows slowly");
    for (int i = 0; i < STEPS; i++) {
        MPI_File file = open_hinted(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, NULL);
        if (rank == 0)
            OK(MPI_File_write_at(file, i * STEP, noise + i * STEP, STEP, MPI_BYTE,
                                 MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(i == 0 || !check_is_container(path));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_noise(path, STEP * STEPS);
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        unlink("folder/moved.out");
        unlink("folder/empty.out");
        rmdir("folder");
    }
    check_clear(".out");
    for (int i = 0; i < N; i++)
        noise[i] = (unsigned char)check_mix(1, (uint64_t)i);
    for (int i = 0; i < FLOATS; i++)
        wave[i] = (float)i * 0.001f + (float)rank;
    static void (*const cases[])(void) = {
        kinds_of_one,  read_all_the_time, another_of_the_name, other_folder,     left_by_the_dead,
        of_older_data, grows_slowly,      opens_nothing,       folder_with_list, kinds_and_hints,
        limited};
    for (int i = 0; i < 11; i++)
        if (argc < 2 || atoi(argv[1]) == i)
            cases[i]();
    if (argc < 2 || atoi(argv[1]) > 10) {
        opened_meanwhile(MPI_MODE_RDONLY);
        opened_meanwhile(MPI_MODE_RDWR);
        opened_meanwhile(MPI_MODE_WRONLY);
        for (int after = 0; after < 4; after++) {
            trimmed_meanwhile(MPI_MODE_RDONLY, after);
            trimmed_meanwhile(MPI_MODE_RDWR, after);
            trimmed_meanwhile(MPI_MODE_WRONLY, after);
        }
    }
    OK(MPI_Finalize());
}
