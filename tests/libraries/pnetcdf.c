/* pnetcdf.c - write PATH [BOUND] | read PATH [BOUND]: a PnetCDF program: a fixed variable in blocks
 * of columns, one in several pieces by one call, and a record variable that grows, collectively and
 * with nonblocking calls. */
#include <math.h>
#include <pnetcdf.h>

#include "../mpi/check.h"

enum { ROWS = 120, COLUMNS = 50, RECORDS = 3 };

static int rank, ranks;
static double bound; /* of what is read */

static void nc(const char *file, int line, int status)
{
    if (status != NC_NOERR)
        check_fail(file, line, "%s", ncmpi_strerror(status));
}
#define NC(call) nc(__FILE__, __LINE__, call)

static float value(int row, int column, int round)
{
    return (float)(0.1 * row - 0.003 * column * column + round);
}

static void fill(float *data, int round)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = value(i / COLUMNS, rank * COLUMNS + i % COLUMNS, round);
}

static void check_values(const float *is, const float *should)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK_SAY(fabs((double)is[i] - (double)should[i]) <= bound, "%.9g, written %.9g",
                  (double)is[i], (double)should[i]);
}

/* The rows of this rank's columns in reverse order, each half by a piece of its own. */
static void find_pieces(MPI_Offset start[2][2], MPI_Offset count[2][2], MPI_Offset *starts[2],
                        MPI_Offset *counts[2])
{
    for (int i = 0; i < 2; i++) {
        start[i][0] = i ? 0 : ROWS / 2;
        start[i][1] = rank * COLUMNS;
        count[i][0] = ROWS / 2;
        count[i][1] = COLUMNS;
        starts[i] = start[i];
        counts[i] = count[i];
    }
}

static void compare(int file)
{
    static float is[ROWS * COLUMNS], should[ROWS * COLUMNS];
    MPI_Offset start[3] = {0, 0, rank * COLUMNS}, count[3] = {1, ROWS, COLUMNS}, records;
    MPI_Offset start2[2][2], count2[2][2], *starts[2], *counts[2];
    int field, steps, pieces, time;
    find_pieces(start2, count2, starts, counts);
    NC(ncmpi_inq_varid(file, "pieces", &pieces));
    NC(ncmpi_get_varn_float_all(file, pieces, 2, starts, counts, is));
    fill(should, 7);
    check_values(is, should);
    NC(ncmpi_inq_varid(file, "field", &field));
    NC(ncmpi_inq_varid(file, "steps", &steps));
    NC(ncmpi_inq_unlimdim(file, &time));
    NC(ncmpi_inq_dimlen(file, time, &records));
    CHECK_EQUAL(records, RECORDS);
    NC(ncmpi_get_vara_float_all(file, field, start + 1, count + 1, is));
    fill(should, 0);
    check_values(is, should);
    for (int round = 0; round < RECORDS; round++) {
        start[0] = round;
        NC(ncmpi_get_vara_float_all(file, steps, start, count, is));
        fill(should, round);
        check_values(is, should);
    }
}

static void write_file(const char *path)
{
    static float data[RECORDS][ROWS * COLUMNS];
    MPI_Offset start[3] = {0, 0, rank * COLUMNS}, count[3] = {1, ROWS, COLUMNS};
    MPI_Offset start2[2][2], count2[2][2], *starts[2], *counts[2];
    int file, dimension[3], field, pieces, steps, request[RECORDS], status[RECORDS];
    NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    NC(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimension[0]));
    NC(ncmpi_def_dim(file, "y", ROWS, &dimension[1]));
    NC(ncmpi_def_dim(file, "x", COLUMNS * ranks, &dimension[2]));
    NC(ncmpi_def_var(file, "field", NC_FLOAT, 2, dimension + 1, &field));
    NC(ncmpi_def_var(file, "pieces", NC_FLOAT, 2, dimension + 1, &pieces));
    NC(ncmpi_def_var(file, "steps", NC_FLOAT, 3, dimension, &steps));
    NC(ncmpi_put_att_text(file, field, "units", 6, "metres"));
    NC(ncmpi_enddef(file));
    fill(data[0], 0);
    NC(ncmpi_put_vara_float_all(file, field, start + 1, count + 1, data[0]));
    fill(data[0], 7);
    find_pieces(start2, count2, starts, counts);
    NC(ncmpi_put_varn_float_all(file, pieces, 2, starts, counts, data[0]));
    for (int round = 0; round < RECORDS; round++) {
        fill(data[round], round);
        start[0] = round;
        NC(ncmpi_iput_vara_float(file, steps, start, count, data[round], &request[round]));
    }
    NC(ncmpi_wait_all(file, RECORDS, request, status));
    NC(ncmpi_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    compare(file);
    NC(ncmpi_close(file));
}

static void read_file(const char *path)
{
    int file;
    NC(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    compare(file);
    NC(ncmpi_close(file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    bound = argc > 3 ? strtod(argv[3], NULL) : 0;
    if (strcmp(argv[1], "write") == 0)
        write_file(argv[2]);
    else
        read_file(argv[2]);
    MPI_Finalize();
}
