/*
 * odd_places.c - containers whose names are as long as names can be, have a colon, or mean another
 * file while they are open, because the program has gone to another folder, and ones that the
 * system gives the number of stderr, which the program has closed: what libzmpi.so says does not go
 * into them. What it says of any of them is one line, and ends no program whose stderr nobody
 * reads.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_LOG=debug ZMPI_REPORT_TEXT=on
 */
#include "check.h"

#include <errno.h>
#include <signal.h>

enum { COUNT = 12000 }; /* more than is staged */

static double data[COUNT], is[COUNT];

/* All blocks are there: twice as many as ranks. */
static void read_all(const char *path)
{
    MPI_File file;
    const int ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(check_is_container(path));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int k = 0; k < 2 * ranks; k++) {
        const MPI_Offset from = (MPI_Offset)k * (MPI_Offset)sizeof data;
        OK(MPI_File_read_at(file, from, is, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, data, sizeof data);
    }
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
}

/* By the shared file pointer too, which has a file of its own. */
static void round_trip(const char *path)
{
    MPI_File file;
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    const MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof data;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, at, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    /* About which a line is written. */
    CHECK_CLASS(MPI_File_read_at(file, 0, is, -1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    OK(MPI_File_seek_shared(file, ranks * (MPI_Offset)sizeof data, MPI_SEEK_SET));
    OK(MPI_File_write_shared(file, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    read_all(path);
}

/* The program leaves the folder while the file is open; another of that name is in the next one. */
static void round_trip_leaving(const char *path)
{
    MPI_File file;
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    const MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof data;
    char next[64], other[80];
    check_say("leaving the folder");
    check_remove(path, MPI_COMM_WORLD);
    snprintf(next, sizeof next, "next-%d", rank);
    CHECK(mkdir(next, 0700) == 0 || errno == EEXIST);
    snprintf(other, sizeof other, "%s/%s", next, path);
    unlink(other);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK(chdir(next) == 0);
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0 && write(fd, "mine", 4) == 4 && close(fd) == 0);
    OK(MPI_File_write_at(file, at, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, at, is, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_seek_shared(file, ranks * (MPI_Offset)sizeof data, MPI_SEEK_SET));
    OK(MPI_File_write_shared(file, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK_EQUAL(check_disk_size(path), 4);
    CHECK(unlink(path) == 0 && chdir("..") == 0 && rmdir(next) == 0);
    read_all(path);
}

/* Every line that is said begins as ours do, whatever the name has in it. */
static void round_trip_heard(const char *path)
{
    char name[40], line[4096];
    int lines = 0;
    snprintf(name, sizeof name, "said-%d.txt", check_rank(MPI_COMM_WORLD));
    const int before = dup(STDERR_FILENO),
              said = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
    CHECK(before >= 0 && said >= 0 && dup2(said, STDERR_FILENO) == STDERR_FILENO);
    round_trip(path);
    CHECK(dup2(before, STDERR_FILENO) == STDERR_FILENO);
    close(before);
    close(said);
    FILE *in = fopen(name, "r");
    for (; in && fgets(line, sizeof line, in); lines++) {
        CHECK_SAY(strncmp(line, "zmpi", 4) == 0, "a line of its own: %.200s", line);
        CHECK_SAY(!strchr(line, '\033'), "an escape character: %.200s", line);
    }
    CHECK(in && lines > 0);
    fclose(in);
    unlink(name);
}

/* ROMIO has names of file systems in front of some names, and refuses others of their form. */
static void round_trip_with_colon(const char *name, const char *plain)
{
    MPI_File file;
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    check_say("%s", name);
    check_remove(name, MPI_COMM_WORLD);
    check_remove(plain, MPI_COMM_WORLD);
    for (int k = 0; k < 2; k++) {
        const MPI_Offset at = (MPI_Offset)(k * ranks + rank) * (MPI_Offset)sizeof data;
        int rc = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                               &file);
        if (rc && plain == name)
            return;
        OK(rc);
        OK(MPI_File_write_at_all(file, at, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    read_all(access(name, F_OK) == 0 ? name : plain);
}

int main(int argc, char **argv)
{
    char name[256];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < COUNT; i++)
        data[i] = i % 1000 * 0.125;
    check_say("a long name");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    /* OMPIO makes a file beside it for its own shared pointer. */
    if (!getenv("OMPI_MCA_io") || strcmp(getenv("OMPI_MCA_io"), "ompio") != 0)
        round_trip(name);
    check_say("what is said of odd names");
    round_trip_heard("a name with 'quotes', \"more\", \\, \033[1m and \n in it");
    round_trip_with_colon("word:colon.z", "word:colon.z");
    round_trip_with_colon("ufs:colon.z", "colon.z");
    check_say("stderr is closed");
    round_trip_leaving("left.z");
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    round_trip("instead_of_stderr.z");
    int nobody[2];
    signal(SIGPIPE, SIG_DFL); /* an MPI library may ignore it */
    CHECK(pipe(nobody) == 0 && dup2(nobody[1], STDERR_FILENO) == STDERR_FILENO);
    close(nobody[0]);
    round_trip("unheard.z"); /* and the report, which is written last */
    MPI_Finalize();
    return 0;
}
