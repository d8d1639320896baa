/*
 * call_list.c - the report as JSON tells what each of a file's first write calls was: a header, a
 * field by a view, one that is found to have rows, interleaved components, more calls than are
 * listed; independent ones of the first rank that has some.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=call_list.json ZMPI_REPORT_TEXT=off
 */
#include "check.h"

#include <math.h>

enum { NZ = 12, NY = 40, NX = 50, N = NZ * NY * NX, FIVE = 5 };

static char report[1 << 20];
static int rank, ranks;

static void expect(const char *part)
{
    if (!strstr(report, part)) {
        printf("FAIL: the report does not say %s:\n%s\n", part, report);
        exit(1);
    }
}

static double field(int i)
{
    return 100 + 20 * sin(0.1 * (i % NX)) * cos(0.2 * (i / NX % NY)) + 3 * sin(0.3 * i / NX / NY);
}

static void by_view(MPI_File f, MPI_Offset at, const double *data)
{
    const int sizes[] = {NZ * ranks, NY, NX}, part[] = {NZ, NY, NX}, start[] = {NZ * rank, 0, 0};
    MPI_Datatype box;
    OK(MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &box));
    OK(MPI_Type_commit(&box));
    OK(MPI_File_set_view(f, at, MPI_DOUBLE, box, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&box));
}

static void write_all(void)
{
    double *data = check_alloc(N * FIVE * 8);
    MPI_Offset at = 64, all = (MPI_Offset)ranks * N * 8;
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_exact_below", "4096"));
    OK(MPI_File_open(MPI_COMM_WORLD, "call_list.z", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_Info_free(&info));
    for (int i = 0; i < N; i++)
        data[i] = field(i);
    OK(MPI_File_write_at_all(f, 0, data, rank ? 0 : 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
    by_view(f, at, data);
    at += all;
    OK(MPI_File_write_at_all(f, at + (MPI_Offset)rank * N * 8, data, N, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    at += all;
    if (rank == ranks - 1)
        OK(MPI_File_write_at(f, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    at += N * 8;
    for (int i = 0; i < N * FIVE; i++)
        data[i] = field(i / FIVE) * pow(10, i % FIVE);
    OK(MPI_File_write_at_all(f, at + (MPI_Offset)rank * N * FIVE * 8, data, N * FIVE, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    for (int i = 0; i < 70; i++)
        OK(MPI_File_write_at_all(f, 0, data, rank ? 0 : 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    check_remove("call_list.z", MPI_COMM_WORLD);
    free(data);
}

static void read_report(void)
{
    const int fd = open("call_list.json", O_RDONLY);
    const ssize_t n = fd < 0 ? 0 : read(fd, report, sizeof report - 1);
    close(fd);
    report[n > 0 ? n : 0] = 0;
    unlink("call_list.json");
}

int main(int argc, char **argv)
{
    char part[200];
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    write_all();
    OK(MPI_Finalize());
    if (rank)
        return 0;
    read_report();
    expect("{\"call\": 1, \"to\": 1, \"values\": 8, \"type\": \"f64\"");
    expect("\"exact\": \"small\"");
    expect("\"absolute_bounds\": [0.04");
    snprintf(part, sizeof part,
             "{\"call\": 2, \"to\": 2, \"values\": %d, \"type\": \"f64\", \"components\": 1, "
             "\"shape\": [12, 40, 50], \"shape_from\": \"view\", \"bound\": \"rel=0.001\", "
             "\"ranges\": [[7",
             N * ranks);
    expect(part);
    snprintf(part, sizeof part,
             "{\"call\": 3, \"to\": 3, \"values\": %d, \"type\": \"f64\", \"components\": 1, ",
             N * ranks);
    expect(part);
    expect("\"shape_from\": \"data\"");
    snprintf(part, sizeof part,
             "{\"call\": 4, \"to\": 4, \"values\": %d, \"type\": \"f64\", \"components\": 5",
             N * FIVE * ranks);
    expect(part);
    snprintf(part, sizeof part, "{\"call\": 1, \"to\": 1, \"rank\": %d, \"values\": %d", ranks - 1,
             N);
    expect(part);
    expect("{\"call\": 5, \"to\": 64, \"values\": 8,");
    return 0;
}
