/*
 * finalize.c - files that a program writes, closes and opens inside MPI_Finalize, as HDF5 does: in
 * what is called when the attributes of MPI_COMM_SELF are deleted.
 *
 * zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LEAST_RATIO=0 ZMPI_REPORT_TEXT=off ZMPI_REPORT=finalize.json
 */
#include "check.h"

enum { N = 20000 };

static const char *const path = "finalize.bin", *const report = "finalize.json";

struct late {
    MPI_File file;
    int rank, ranks;
    bool called;
};

static double value(int rank, int part, int i)
{
    return 1 + rank + 0.5 * part + 1e-9 * i;
}

static MPI_Offset place(const struct late *l, int part)
{
    return (MPI_Offset)(part * l->ranks + l->rank) * N * (MPI_Offset)sizeof(double);
}

/* Part 0 by itself, part 1 together with the others. */
static void write_part(const struct late *l, int part)
{
    double *data = check_alloc(N * sizeof *data);
    for (int i = 0; i < N; i++)
        data[i] = value(l->rank, part, i);
    if (part == 0)
        OK(MPI_File_write_at(l->file, place(l, 0), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at_all(l->file, place(l, 1), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    free(data);
}

static void check_parts(const struct late *l)
{
    double *is = check_alloc(N * sizeof *is);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int part = 0; part < 2; part++) {
        OK(MPI_File_read_at_all(file, place(l, part), is, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++)
            CHECK_SAY(is[i] == value(l->rank, part, i), "part %d, value %d: %.10f", part, i, is[i]);
    }
    OK(MPI_File_close(&file));
    free(is);
}

static int at_the_end(MPI_Comm comm, int key, void *attribute, void *extra)
{
    struct late *l = attribute;
    (void)comm, (void)key, (void)extra;
    write_part(l, 1);
    OK(MPI_File_close(&l->file));
    check_parts(l);
    l->called = true;
    return MPI_SUCCESS;
}

/* MPI is gone. */
static int fail(const char *what)
{
    fprintf(stderr, "FAIL: %s\n", what);
    return 1;
}

static bool report_names_it(void)
{
    char text[20000];
    FILE *in = fopen(report, "r");
    const size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = 0;
    if (in)
        fclose(in);
    return strstr(text, path) != NULL;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct late l = {.rank = check_rank(MPI_COMM_WORLD), .ranks = check_ranks(MPI_COMM_WORLD)};
    int key;
    check_remove(path, MPI_COMM_WORLD);
    check_remove(report, MPI_COMM_WORLD);
    /* First: ROMIO itself ends by such an attribute, made when it opens its first file. */
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &l.file));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &l));
    write_part(&l, 0);
    MPI_Finalize();
    if (!l.called)
        return fail("MPI_Finalize did not delete the attribute");
    if (!check_is_container(path) || !check_has_index(path))
        return fail("what is there is no container with an index");
    if (l.rank == 0 && !report_names_it())
        return fail("the report does not name the file");
    return 0;
}
