/*
 * untyped.c - the report says how much was kept exactly because its datatype is no float, though a
 * bound is set: floats written as MPI_BYTE are not compressed.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=untyped.json ZMPI_REPORT_TEXT=off
 */
#include "check.h"

enum { N = 20000 };

static int ranks;

static void write_file(const char *path, int count, MPI_Datatype type)
{
    static float data[N];
    MPI_File file;
    MPI_Offset size;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Type_size_x(type, &size);
    for (int i = 0; i < N; i++)
        data[i] = (float)(i % 1000) * 1e-3F;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_write_at_all(file, rank * count * size, data, count, type, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at(file, (ranks + rank) * count * size, data, count, type,
                         MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

/* Of the file of that name in the report. After MPI_Finalize. */
static double exact_of(const char *text, const char *path)
{
    const char *at = strstr(text, path);
    at = at ? strstr(at, "\"bytes_exact\": ") : NULL;
    return at ? strtod(at + strlen("\"bytes_exact\": "), NULL) : -1;
}

int main(int argc, char **argv)
{
    static char text[8192];
    int rank;
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    write_file("untyped_bytes.z", N * (int)sizeof(float), MPI_BYTE);
    write_file("untyped_floats.z", N, MPI_FLOAT);
    OK(MPI_Finalize());
    if (rank)
        return 0;
    FILE *file = fopen("untyped.json", "r");
    if (!file)
        return 1;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const double bytes = exact_of(text, "untyped_bytes.z"),
                 floats = exact_of(text, "untyped_floats.z");
    if (bytes == 2.0 * ranks * N * sizeof(float) && floats == 0)
        return 0;
    fprintf(stderr, "bytes_exact: %g and %g\n", bytes, floats);
    return 1;
}
