/*
 * layouts.c - files of programs that write floats in another dress, as these lay them out: a field
 * file of Nek5000 (f64 as pairs of MPI_REAL, integers as MPI_REAL), a restart of SU2 (names, then
 * variables of each point as bytes), a dump of LAMMPS (numbers that nothing aligns), a vector and
 * a matrix of PETSc (big-endian, as MPI_DOUBLE), a checkpoint of deal.II. With element_type floats
 * are within the bound, and all else is as it was; without, all is.
 *
 * zmpi-test: auto RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_ELEMENT_TYPE=auto ARGS lossy lossy
 * zmpi-test: rel RANKS 3 ENV ZMPI_ERROR_BOUND=rel=5e-5 ZMPI_ELEMENT_TYPE=auto ZMPI_CODEC=interp ARGS lossy lossy
 * zmpi-test: books RANKS 3 ENV ZMPI_ERROR_BOUND=rel=5e-5 ZMPI_ELEMENT_TYPE=auto ZMPI_CODEC=interp:huffman ARGS lossy lossy
 * zmpi-test: flare RANKS 3 ENV ZMPI_ERROR_BOUND=rel=5e-5 ZMPI_ELEMENT_TYPE=auto ZMPI_CODEC=interp:flare ARGS lossy lossy
 * zmpi-test: f64 RANKS 2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_ELEMENT_TYPE=f64 ARGS lossy exact
 * zmpi-test: big RANKS 2,3 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_ELEMENT_TYPE=f64-big ARGS exact lossy
 * zmpi-test: f32 RANKS 2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_ELEMENT_TYPE=f32 ARGS exact exact
 * zmpi-test: datatype RANKS 2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ARGS exact exact
 */
#include <math.h>

#include "check.h"

#define BOUND 1e-3

enum {
    POINTS = 6000,
    VARIABLES = 7,
    VALUES = POINTS * VARIABLES,
    NAME = 33,
    NEK_HEADER = 132,
    LAMMPS_HEADER = 101, /* bytes: odd */
    SU2_INTEGERS = 5
};

static int rank, ranks;
static bool lossy;

/* Variable k of point i of all. */
static double value(int i, int k)
{
    return (k + 1) * (2 + sin(1e-3 * i + k)) + 1e-4 * cos(0.3 * i);
}

/* What this rank has: by points, or by variables. */
static double *values(bool by_points)
{
    double *data = check_alloc(VALUES * sizeof *data);
    for (int n = 0; n < VALUES; n++) {
        const int i = by_points ? n / VARIABLES : n % POINTS;
        data[n] = value(rank * POINTS + i, by_points ? n % VARIABLES : n / POINTS);
    }
    return data;
}

static void check_values(const void *read, const double *should)
{
    double largest = 0;
    for (int n = 0; n < VALUES; n++) {
        double is;
        memcpy(&is, (const char *)read + 8L * n, sizeof is);
        largest = fmax(largest, fabs(is - should[n]));
    }
    CHECK_SAY(largest <= BOUND, "error %g", largest);
    CHECK_SAY((largest > 0) == lossy, "error %g", largest);
}

static MPI_File open_new(const char *path)
{
    MPI_File file;
    check_say("%s", path);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    return file;
}

static void read_bytes(const char *path, MPI_Offset at, void *to, size_t bytes)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_read_at_all(file, at, to, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

/* Smaller by more than what text and integers take; or plain again, which is no container. */
static void check_size(const char *path)
{
    const long long all = (long long)ranks * VALUES * (long long)sizeof(double);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!lossy || check_is_container(path));
    CHECK_SAY((check_disk_size(path) < all / 3) == lossy, "%lld of %lld", check_disk_size(path),
              all);
}

/* ---- Nek5000 ---- */

static void nek(const char *path)
{
    char header[NEK_HEADER + 4] = "#std 8 10 10 1", is[NEK_HEADER + 4];
    const MPI_Offset ids_at = (MPI_Offset)sizeof header + rank * POINTS * 4LL;
    const MPI_Offset at = (MPI_Offset)sizeof header + ranks * POINTS * 4LL + rank * VALUES * 8LL;
    int *ids = check_alloc(POINTS * sizeof *ids), *ids_read = check_alloc(POINTS * sizeof *ids);
    double *data = values(false);
    void *read = check_alloc(VALUES * sizeof(double));
    const float pattern = 6.54321f;
    memcpy(header + NEK_HEADER, &pattern, sizeof pattern);
    for (int i = 0; i < POINTS; i++)
        ids[i] = 1 + i + rank * POINTS;
    MPI_File file = open_new(path);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, header, sizeof header, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, ids_at, ids, POINTS, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, at, data, 2 * VALUES, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    read_bytes(path, 0, is, sizeof is);
    CHECK_BYTES(is, header, sizeof header);
    read_bytes(path, ids_at, ids_read, POINTS * sizeof *ids);
    CHECK_BYTES(ids_read, ids, POINTS * sizeof *ids);
    read_bytes(path, at, read, VALUES * sizeof(double));
    check_values(read, data);
    check_size(path);
    free(ids);
    free(ids_read);
    free(data);
    free(read);
}

/* ---- SU2 ---- */

static void su2(const char *path)
{
    const int integers[SU2_INTEGERS] = {535532, VARIABLES, ranks * POINTS, 1, 8};
    const double last[8] = {1.5, 1e-9, 100, 0, 0, 0.25, 7, 1};
    char names[VARIABLES * NAME] = "", names_read[VARIABLES * NAME];
    const MPI_Offset names_at = sizeof integers, data_at = names_at + (MPI_Offset)sizeof names;
    const MPI_Offset last_at = data_at + (MPI_Offset)ranks * VALUES * 8;
    double *data = values(true), last_read[8];
    void *read = check_alloc(VALUES * sizeof(double));
    MPI_Datatype part;
    for (int k = 0; k < VARIABLES; k++)
        snprintf(names + k * NAME, NAME, "Variable_%d", k);
    MPI_File file = open_new(path);
    if (rank == 0) {
        OK(MPI_File_write_at(file, 0, integers, SU2_INTEGERS, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at(file, names_at, names, sizeof names, MPI_CHAR, MPI_STATUS_IGNORE));
    }
    OK(MPI_Type_create_hindexed_block(1, VALUES * 8, (MPI_Aint[]){rank * VALUES * 8L}, MPI_BYTE,
                                      &part));
    OK(MPI_Type_commit(&part));
    OK(MPI_File_set_view(file, data_at, MPI_BYTE, part, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, data, VALUES * 8, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (rank == 0)
        OK(MPI_File_write_at(file, last_at, last, sizeof last, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&part));
    OK(MPI_File_close(&file));
    read_bytes(path, names_at, names_read, sizeof names);
    CHECK_BYTES(names_read, names, sizeof names);
    read_bytes(path, last_at, last_read, sizeof last);
    CHECK_BYTES(last_read, last, sizeof last);
    read_bytes(path, data_at + rank * VALUES * 8LL, read, VALUES * sizeof(double));
    check_values(read, data);
    check_size(path);
    free(data);
    free(read);
}

/* ---- LAMMPS ---- */

/* Each rank by itself, in parts, as the lengths of others become known. */
static void lammps(const char *path)
{
    char header[LAMMPS_HEADER] = "DUMPCUSTOM", is[LAMMPS_HEADER];
    const MPI_Offset at = LAMMPS_HEADER + rank * VALUES * 8LL;
    double *data = values(true);
    char *read = check_alloc(VALUES * sizeof(double));
    memset(header + 40, 0xA5, 50);
    MPI_File file = open_new(path);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, header, sizeof header, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int part = 0; part < 2; part++)
        OK(MPI_File_write_at(file, at + part * VALUES / 2 * 8, data + part * VALUES / 2,
                             VALUES / 2 * 8, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    read_bytes(path, 0, is, sizeof is);
    CHECK_BYTES(is, header, sizeof header);
    read_bytes(path, at, read, VALUES * sizeof(double));
    check_values(read, data);
    check_size(path);
    free(data);
    free(read);
}

/* ---- PETSc ---- */

static void swap_bytes(void *data, size_t count, size_t width)
{
    unsigned char *at = data;
    for (size_t i = 0; i < count * width; i += width)
        for (size_t k = 0; k < width / 2; k++) {
            const unsigned char byte = at[i + k];
            at[i + k] = at[i + width - 1 - k];
            at[i + width - 1 - k] = byte;
        }
}

/* A vector: together as MPI_DOUBLE, by points, or each rank by itself as bytes. */
static void petsc(const char *path, bool together)
{
    int header[2] = {1211214, ranks * VALUES}, is[2];
    const MPI_Offset at = (MPI_Offset)sizeof header + rank * VALUES * 8LL;
    const uint64_t nan = 0x7FF800000000ABCD;
    double *data = values(together);
    uint64_t *read = check_alloc(VALUES * sizeof *read);
    memcpy(&data[77], &nan, sizeof nan);
    swap_bytes(data, VALUES, sizeof *data);
    swap_bytes(header, 2, sizeof *header);
    MPI_File file = open_new(path);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, header, 2, MPI_INT, MPI_STATUS_IGNORE));
    if (together) {
        OK(MPI_File_set_view(file, at, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
        OK(MPI_File_write_all(file, data, VALUES, MPI_DOUBLE, MPI_STATUS_IGNORE));
    } else {
        for (int part = 0; part < 6; part++)
            OK(MPI_File_write_at(file, at + part * POINTS * 8LL, data + (size_t)part * POINTS,
                                 (VALUES - 6 * POINTS) * (part == 5) * 8 + POINTS * 8, MPI_BYTE,
                                 MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
    read_bytes(path, 0, is, sizeof is);
    CHECK_BYTES(is, header, sizeof header);
    read_bytes(path, at, read, VALUES * sizeof *read);
    swap_bytes(read, VALUES, sizeof *read);
    swap_bytes(data, VALUES, sizeof *data);
    CHECK(read[77] == nan);
    memcpy(&read[77], &data[78], sizeof nan);
    data[77] = data[78];
    check_values(read, data);
    check_size(path);
    free(data);
    free(read);
}

/* Each rank its rows, together: row lengths, columns, values, all swapped before. */
static void petsc_matrix(const char *path)
{
    enum { ENTRIES = VALUES };
    int header[4] = {1211216, ranks * POINTS, ranks * POINTS, ranks * ENTRIES}, is[4];
    const MPI_Offset lengths_at = (MPI_Offset)sizeof header,
                     columns_at = lengths_at + ranks * POINTS * 4LL,
                     values_at = columns_at + ranks * ENTRIES * 4LL;
    int *number = check_alloc((POINTS + ENTRIES) * sizeof *number), *columns = number + POINTS;
    int *back = check_alloc((POINTS + ENTRIES) * sizeof *back);
    double *data = values(true), *read = check_alloc(ENTRIES * sizeof *read);
    for (int i = 0; i < POINTS; i++)
        number[i] = VARIABLES;
    for (int n = 0; n < ENTRIES; n++)
        columns[n] = (rank * POINTS + n / VARIABLES + n % VARIABLES) % (ranks * POINTS);
    swap_bytes(header, 4, sizeof *header);
    swap_bytes(number, POINTS + ENTRIES, sizeof *number);
    swap_bytes(data, ENTRIES, sizeof *data);
    MPI_File file = open_new(path);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, header, 4, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, lengths_at + rank * POINTS * 4LL, number, POINTS, MPI_INT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, columns_at + rank * ENTRIES * 4LL, columns, ENTRIES, MPI_INT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, values_at + rank * ENTRIES * 8LL, data, ENTRIES, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    read_bytes(path, 0, is, sizeof is);
    CHECK_BYTES(is, header, sizeof header);
    read_bytes(path, lengths_at + rank * POINTS * 4LL, back, POINTS * sizeof *back);
    read_bytes(path, columns_at + rank * ENTRIES * 4LL, back + POINTS, ENTRIES * sizeof *back);
    CHECK_BYTES(back, number, (POINTS + ENTRIES) * sizeof *number);
    read_bytes(path, values_at + rank * ENTRIES * 8LL, read, ENTRIES * sizeof *read);
    swap_bytes(read, ENTRIES, sizeof *read);
    swap_bytes(data, ENTRIES, sizeof *data);
    check_values(read, data);
    const long long all = ranks * (ENTRIES * 12LL + POINTS * 4LL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAY(!lossy || check_disk_size(path) < all / 2, "%lld of %lld", check_disk_size(path),
              all);
    free(number);
    free(back);
    free(data);
    free(read);
}

/* ---- deal.II ---- */

/* Cells, each a word and a number in front of its doubles, whose places nothing aligns: exact,
 * whatever the user says that they are. */
static void dealii(const char *path)
{
    enum { DOUBLES = 4, CELL = 4 + 8 + DOUBLES * 8, BYTES = POINTS * CELL };
    const uint64_t number = DOUBLES;
    const uint32_t head[3] = {4, CELL, POINTS}, status = 1;
    const MPI_Offset at = (MPI_Offset)sizeof head + (MPI_Offset)rank * BYTES;
    unsigned char *data = check_alloc(BYTES), *read = check_alloc(BYTES);
    for (int i = 0; i < POINTS; i++) {
        unsigned char *cell = data + (size_t)i * CELL;
        memcpy(cell, &status, sizeof status);
        memcpy(cell + 4, &number, sizeof number);
        for (int k = 0; k < DOUBLES; k++) {
            const double x = value(rank * POINTS + i, k);
            memcpy(cell + 12 + 8 * k, &x, sizeof x);
        }
    }
    MPI_File file = open_new(path);
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, head, sizeof head, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at(file, at, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    read_bytes(path, at, read, BYTES);
    CHECK_BYTES(read, data, BYTES);
    free(data);
    free(read);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(argc == 3);
    lossy = strcmp(argv[1], "lossy") == 0;
    nek("nek0.f00001");
    su2("restart.dat");
    lammps("dump.lammpsbin");
    lossy = strcmp(argv[2], "lossy") == 0;
    petsc("vector.petsc", true);
    petsc("vector_parts.petsc", false);
    petsc_matrix("matrix.petsc");
    dealii("checkpoint_fixed.data");
    OK(MPI_Finalize());
    return 0;
}
