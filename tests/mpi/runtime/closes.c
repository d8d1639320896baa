/*
 * closes.c - files are closed more often than the report has rows for: the others are counted, and
 * their bytes. Its last line says how other programs read them.
 *
 * zmpi-test: RANKS 1 ANYIO ENV ZMPI_ERROR_BOUND=lossless ZMPI_REPORT_TEXT=on ZMPI_REPORT=closes.json
 */
#include "check.h"

enum { KEPT = 4096, MORE = 3, TEXT = 200 };

static char report[8 << 20];

static size_t contents(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, report, sizeof report - 1);
    close(fd);
    report[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

static int count_of(const char *part)
{
    int n = 0;
    for (const char *p = report; (p = strstr(p, part)); p++)
        n++;
    return n;
}

static void fail(const char *what)
{
    printf("FAIL: %s\n", what);
    exit(1);
}

int main(int argc, char **argv)
{
    const double data[2] = {1, 2};
    double is = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    check_remove("closes.z", MPI_COMM_SELF);
    OK(MPI_File_open(MPI_COMM_SELF, "closes.z", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_write(file, data, 2, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_is_container("closes.z"));
    for (int i = 1; i < KEPT + MORE; i++) {
        OK(MPI_File_open(MPI_COMM_SELF, "closes.z", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        if (i >= KEPT)
            OK(MPI_File_read_at(file, 8, &is, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
    }
    check_remove("closes.z", MPI_COMM_SELF);
    const int said = open("closes.out", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(is == 2 && said >= 0 && dup2(said, STDERR_FILENO) == STDERR_FILENO);
    MPI_Finalize();
    if (contents("closes.json") == 0 || count_of("closes.z") != KEPT ||
        !strstr(report, "\"more_files\": {\"files\": 3, \"bytes_written\": 0") ||
        !strstr(report, "\"bytes_read\": 24,"))
        fail("closes.json");
    if (contents("closes.out") == 0 || count_of("zmpi closes.z") != TEXT ||
        !strstr(report, "\nzmpi 3899 more ") ||
        count_of("read these files as usual; for others: zmpi view") != 1)
        fail("closes.out");
    unlink("closes.json");
    unlink("closes.out");
    return 0;
}
