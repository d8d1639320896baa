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

/* The entry of a call, independent ones of a rank (-1: collective ones). */
static const char *entry(int first, int last, int of_rank)
{
    char begin[80], by[40] = "";
    if (of_rank >= 0)
        snprintf(by, sizeof by, "\"rank\": %d, ", of_rank);
    snprintf(begin, sizeof begin, "{\"call\": %d, \"to\": %d, %s\"values\"", first, last, by);
    const char *found = strstr(report, begin);
    if (!found) {
        printf("FAIL: the report has no %s:\n%s\n", begin, report);
        exit(1);
    }
    return found;
}

/* What the entry has by this name, up to the entry's end. */
static const char *member(const char *of, const char *name)
{
    char key[40];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(of, key), *end = strchr(of, '}');
    if (!found || !end || found > end) {
        printf("FAIL: no %s in %.500s\n", name, of);
        exit(1);
    }
    return found + strlen(key);
}

static void expect_text(const char *of, const char *name, const char *should)
{
    const char *is = member(of, name);
    if (strncmp(is, should, strlen(should)) != 0) {
        printf("FAIL: %s is not %s in %.500s\n", name, should, of);
        exit(1);
    }
}

/* Number k of what is a number, an array of them, or an array of pairs. */
static double number(const char *of, const char *name, int k)
{
    const char *at = member(of, name) + strspn(member(of, name), "[");
    for (; k > 0; k--) {
        at += strcspn(at, ",}");
        at += strspn(at, ", [");
    }
    return strncmp(at, "null", 4) == 0 ? NAN : strtod(at, NULL);
}

static void expect_near(const char *of, const char *name, int k, double least, double most)
{
    const double is = number(of, name, k);
    if (!(is >= least && is <= most)) {
        printf("FAIL: number %d of %s is %.9g, not %.9g to %.9g in %.500s\n", k, name, is, least,
               most, of);
        exit(1);
    }
}

static double field(int i)
{
    return 100 + 20 * sin(0.1 * (i % NX)) * cos(0.2 * (i / NX % NY)) + 3 * sin(0.3 * i / NX / NY);
}

/* Component `part` is the field times this factor. Bounds are of a grid. */
static void expect_range(const char *of, int part, double factor)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < N; i++) {
        low = fmin(low, factor * field(i));
        high = fmax(high, factor * field(i));
    }
    expect_text(of, "ranges_on_samples", "false");
    expect_near(of, "ranges", 2 * part, low * 0.99999999, low * 1.00000001);
    expect_near(of, "ranges", 2 * part + 1, high * 0.99999999, high * 1.00000001);
    expect_near(of, "absolute_bounds", part, 0.95e-3 * (high - low), 1e-3 * (high - low));
    /* Errors are spread evenly up to the bound: 20 log10(sqrt(3) / 1e-3) = 64.8 dB. */
    expect_near(of, "errors_on_samples", part, 0.8e-3 * (high - low), 1e-3 * (high - low));
    expect_near(of, "psnr_on_samples", part, 64, 66);
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
    at += FIVE * all;
    /* Alike but for the range; but for what other ranks write; with fill values; whole numbers. */
    for (int k = 1; k <= 3; k++) {
        for (int i = 0; i < N; i++)
            data[i] = (k < 2 ? 1 : 2) * field(i);
        OK(MPI_File_write_at_all(f, at + (MPI_Offset)rank * N * 8, data, rank && k == 3 ? 0 : N,
                                 MPI_DOUBLE, MPI_STATUS_IGNORE));
        at += all;
    }
    for (int i = 0; i < N; i++)
        data[i] = i % 10 == 3 ? 1e30 : field(i);
    OK(MPI_File_write_at_all(f, at + (MPI_Offset)rank * N * 8, data, N, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    at += all;
    OK(MPI_File_write_at_all(f, at + (MPI_Offset)rank * N * 8, data, 2 * N, MPI_INT,
                             MPI_STATUS_IGNORE));
    for (int i = 0; i < 70; i++)
        OK(MPI_File_write_at_all(f, 0, data, rank ? 0 : 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    check_remove("call_list.z", MPI_COMM_WORLD);
    free(data);
}

/* By a bound that the file is given. */
static void write_by(const char *bound, const char *path)
{
    double *data = check_alloc(N * 8);
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", bound));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_Info_free(&info));
    for (int i = 0; i < N; i++)
        data[i] = field(i);
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 8, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* Where the bound needs no range, samples tell it. */
static void expect_samples(const char *of)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < N; i++) {
        low = fmin(low, field(i));
        high = fmax(high, field(i));
    }
    expect_text(of, "ranges_on_samples", "true");
    expect_near(of, "ranges", 0, low, low + 0.05 * (high - low));
    expect_near(of, "ranges", 1, high - 0.05 * (high - low), high);
}

static void read_report(void)
{
    const int fd = open("call_list.json", O_RDONLY);
    const ssize_t n = fd < 0 ? 0 : read(fd, report, sizeof report - 1);
    close(fd);
    report[n > 0 ? n : 0] = 0;
    unlink("call_list.json");
}

static void expect_calls(void)
{
    const char *e = entry(1, 1, -1);
    expect_near(e, "values", 0, 8, 8);
    expect_text(e, "type", "\"f64\"");
    expect_text(e, "exact", "\"small\"");
    expect_near(e, "absolute_bounds", 0, 0, 0);
    expect_near(e, "errors_on_samples", 0, 0, 0);
    expect_text(e, "psnr_on_samples", "[null]");
    e = entry(2, 2, -1);
    expect_near(e, "values", 0, N * ranks, N * ranks);
    expect_text(e, "components", "1");
    expect_text(e, "shape", "[12, 40, 50]");
    expect_text(e, "shape_from", "\"view\"");
    expect_text(e, "bound", "\"rel=0.001\"");
    expect_text(e, "fill_from", "null");
    expect_range(e, 0, 1);
    expect_near(e, "ratio", 0, 7, 25);
    e = entry(3, 3, -1);
    expect_near(e, "values", 0, N * ranks, N * ranks);
    expect_text(e, "shape_from", "\"data\"");
    e = entry(4, 4, -1);
    expect_near(e, "values", 0, N * FIVE * ranks, N * FIVE * ranks);
    expect_text(e, "components", "5");
    for (int c = 0; c < FIVE; c++)
        expect_range(e, c, pow(10, c));
    expect_near(e, "ratio", 0, 7, 25);
    expect_range(entry(5, 5, -1), 0, 1);
    if (ranks > 1) {
        expect_range(entry(6, 6, -1), 0, 2);
        expect_near(entry(7, 7, -1), "values", 0, N, N);
    } else {
        expect_range(entry(6, 7, -1), 0, 2);
    }
    expect_near(entry(8, 8, -1), "fill_from", 0, 0.9e30, 1e30);
    e = entry(9, 9, -1);
    expect_text(e, "type", "\"i32\"");
    expect_text(e, "exact", "\"not of a float type\"");
    e = entry(10, 64, -1);
    expect_near(e, "values", 0, 8, 8);
    e = entry(1, 1, ranks - 1);
    expect_near(e, "values", 0, N, N);
    expect_range(e, 0, 1);
}

static void expect_without_ranges(void)
{
    const char *e = strstr(report, "\"exact\": \"the bound is lossless\"");
    CHECK_SAY(e, "the bound is lossless: %s", report);
    expect_samples(e);
    e = strstr(report, "\"bound\": \"abs=0.5\", \"ranges\"");
    CHECK_SAY(e, "abs: %s", report);
    expect_samples(e);
    expect_near(e, "absolute_bounds", 0, 0.5, 0.5);
    expect_near(e, "errors_on_samples", 0, 0.4, 0.5);
    expect_near(e, "psnr_on_samples", 0, 40, 50);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    write_all();
    write_by("lossless", "exact.z");
    write_by("abs=0.5", "abs.z");
    OK(MPI_Finalize());
    if (rank)
        return 0;
    read_report();
    expect_calls();
    expect_without_ranges();
    return 0;
}
