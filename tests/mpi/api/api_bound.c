/*
 * api_bound.c - zmpi_file_set_bound on a file that was opened without a bound: an empty file
 * becomes a container with this bound, which the program may change later. Other files stay plain.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_REPORT_TEXT=off ZMPI_EXACT_BELOW=0
 */
#include "check.h"

#include <math.h>
#include <zmpi.h>

enum { N = 20000 };

static const char path[] = "api_bound.z", excluded[] = "api_bound.h5";
static int rank;
static double data[N], back[N];

static MPI_File open_file(const char *name, int mode)
{
    MPI_File file;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
    return file;
}

static void write_part(MPI_File file, int part)
{
    const MPI_Offset ranks = check_ranks(MPI_COMM_WORLD);
    OK(MPI_File_write_at_all(file, (part * ranks + rank) * (MPI_Offset)sizeof data, data, N,
                             MPI_DOUBLE, MPI_STATUS_IGNORE));
}

/* The largest error of a part. */
static double error_of(MPI_File file, int part)
{
    const MPI_Offset ranks = check_ranks(MPI_COMM_WORLD);
    double worst = 0;
    OK(MPI_File_read_at_all(file, (part * ranks + rank) * (MPI_Offset)sizeof data, back, N,
                            MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(back[i] - data[i]));
    return worst;
}

static void becomes_one(void)
{
    check_say("an empty file");
    MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_EQUAL(zmpi_file_is_container(file), 0);
    CHECK_EQUAL(zmpi_file_set_bound(file, rank == 0 ? "abs=" : "abs=1e-3"), MPI_ERR_ARG);
    CHECK_EQUAL(zmpi_file_is_container(file), 0);
    OK(zmpi_file_set_bound(file, "abs=1e-3"));
    CHECK_EQUAL(zmpi_file_is_container(file), 1);
    OK(zmpi_file_set(file, "fill", "0,-1"));
    write_part(file, 0);
    OK(zmpi_file_set_bound(file, "lossless"));
    write_part(file, 1);
    const double worst = error_of(file, 0);
    CHECK_SAY(worst > 1e-5 && worst <= 1e-3, "error %g", worst);
    CHECK(error_of(file, 1) == 0);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
}

static void stays_plain(const char *name, bool written)
{
    check_say("%s, which stays plain", name);
    MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (written)
        write_part(file, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(zmpi_file_set_bound(file, "abs=1e-3"), MPI_ERR_FILE);
    CHECK_EQUAL(zmpi_file_set_bound(file, "abs=1e-3"), MPI_ERR_FILE);
    write_part(file, 0);
    CHECK(error_of(file, 0) == 0);
    OK(MPI_File_close(&file));
    CHECK(!check_is_container(name));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        data[i] = sin(1e-3 * (i + rank));
    check_remove(path, MPI_COMM_WORLD);
    check_remove(excluded, MPI_COMM_WORLD);
    becomes_one();
    check_remove(path, MPI_COMM_WORLD);
    stays_plain(path, true);
    stays_plain(excluded, false);
    CHECK_EQUAL(zmpi_file_set_bound(MPI_FILE_NULL, "abs=1e-3"), MPI_ERR_FILE);
    check_remove(path, MPI_COMM_WORLD);
    check_remove(excluded, MPI_COMM_WORLD);
    OK(MPI_Finalize());
    return 0;
}
