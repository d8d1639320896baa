/*
 * api_file.c - zmpi.h's calls for files: what they change, what they tell, what they refuse.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_REPORT_TEXT=off
 */
#include "check.h"

#include <math.h>
#include <zmpi.h>

enum { NY = 200, NX = 100, COUNT = NY * NX };

static const char path[] = "api_file.z";

/* Rows that are alike, each of noise: only a codec that knows their length can make much of it. */
static void make_rows(float *data)
{
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            data[y * NX + x] = (float)(check_mix(1, (uint64_t)x) % 1000) + 0.001F * (float)y;
}

static uint64_t stored(MPI_File file)
{
    struct zmpi_file_stats s;
    OK(zmpi_file_get_stats(file, &s));
    return s.bytes_stored;
}

/* Bytes that one array takes in the file. */
static uint64_t write_one(MPI_File file, const float *data, MPI_Offset *at)
{
    const uint64_t before = stored(file);
    const MPI_Offset mine = check_rank(MPI_COMM_WORLD), all = check_ranks(MPI_COMM_WORLD);
    OK(MPI_File_write_at_all(file, *at + mine * COUNT * 4, data, COUNT, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    float *back = check_alloc(COUNT * sizeof *back);
    OK(MPI_File_read_at(file, *at + mine * COUNT * 4, back, COUNT, MPI_FLOAT, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        CHECK_SAY(fabs((double)data[i] - (double)back[i]) <= 1e-3, "element %d", i);
    free(back);
    *at += all * COUNT * 4;
    return stored(file) - before;
}

static void check_shape(MPI_Info info, bool fixed_by_hint)
{
    static float data[COUNT];
    MPI_File file;
    MPI_Offset at = 0;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    make_rows(data);
    check_say("no shape");
    const uint64_t line = write_one(file, data, &at);
    check_say("the array's shape");
    OK(zmpi_file_set_shape(file, (const size_t[]){1, NY, NX}));
    const uint64_t rows = write_one(file, data, &at);
    CHECK_SAY(fixed_by_hint ? rows == line : 2 * rows < line, "%llu bytes, %llu without a shape",
              (unsigned long long)rows, (unsigned long long)line);
    check_say("a shape of another array");
    OK(zmpi_file_set_shape(file, (const size_t[]){1, NY, NX + 1}));
    CHECK_EQUAL(write_one(file, data, &at), line);
    check_say("a shape that is forgotten");
    OK(zmpi_file_set_shape(file, (const size_t[]){1, NY, NX}));
    OK(zmpi_file_set_shape(file, (const size_t[]){1, 1, 0}));
    CHECK_EQUAL(write_one(file, data, &at), line);
    OK(MPI_File_close(&file));
}

/* Sine waves of 1 and of 1000 that take turns, and a fill value from the middle of them. */
static void check_set(void)
{
    enum { N = 20000 };
    double *data = check_alloc(N * 8), *back = check_alloc(N * 8);
    MPI_File file;
    check_say("components and a fill value that the program names");
    for (int i = 0; i < N; i++)
        data[i] = i % 50 == 7 ? 0.123 : (i % 2 ? 1 : 1000) * sin(0.01 * i);
    OK(MPI_File_open(MPI_COMM_WORLD, "api_set.z", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file));
    OK(zmpi_file_set_bound(file, "rel=1e-2"));
    OK(zmpi_file_set(file, "components", "2"));
    OK(zmpi_file_set(file, "fill", "0.123"));
    int rank;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * N * 8, data, N, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * N * 8, back, N, MPI_DOUBLE,
                            MPI_STATUS_IGNORE));
    int changed = 0;
    for (int i = 0; i < N; i++) {
        CHECK_SAY(fabs(data[i] - back[i]) <= (i % 50 == 7 ? 0
                                              : i % 2     ? 0.02
                                                          : 20),
                  "element %d", i);
        changed += data[i] < back[i] || data[i] > back[i];
    }
    CHECK(changed > N / 2);
    OK(MPI_File_close(&file));
    check_remove("api_set.z", MPI_COMM_WORLD);
    free(data);
    free(back);
}

static void check_answers(void)
{
    MPI_File file, other;
    struct zmpi_file_stats s;
    check_say("a container");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_EQUAL(zmpi_file_is_container(file), 1);
    CHECK_CLASS(zmpi_file_set_bound(file, "abs=-1"), MPI_ERR_ARG);
    OK(zmpi_file_set(file, "components", "5"));
    OK(zmpi_file_set(file, "fill", "0,-1"));
    CHECK_CLASS(zmpi_file_set(file, "fill", "x"), MPI_ERR_ARG);
    CHECK_CLASS(zmpi_file_set(file, "fil", "1"), MPI_ERR_ARG);
    CHECK_CLASS(zmpi_file_set(file, "error_bound", "abs=1"), MPI_ERR_ARG);
    CHECK_CLASS(zmpi_file_set(file, "fill", NULL), MPI_ERR_ARG);
    CHECK_CLASS(zmpi_file_set_bound(file, NULL), MPI_ERR_ARG);
    OK(zmpi_file_get_stats(file, &s));
    CHECK_EQUAL(s.bytes_written, 0);

    check_say("a file of another kind");
    check_remove("api_file.h5", MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, "api_file.h5", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &other));
    CHECK_EQUAL(zmpi_file_is_container(other), 0);
    CHECK_CLASS(zmpi_file_set_bound(other, "abs=1"), MPI_ERR_FILE);
    CHECK_CLASS(zmpi_file_set(other, "fill", "1"), MPI_ERR_FILE);
    CHECK_CLASS(zmpi_file_set_shape(other, (const size_t[]){1, 1, 1}), MPI_ERR_FILE);
    CHECK_CLASS(zmpi_file_get_stats(other, &s), MPI_ERR_FILE);
    OK(MPI_File_close(&other));
    OK(MPI_File_close(&file));

    check_say("no file");
    CHECK_EQUAL(zmpi_file_is_container(MPI_FILE_NULL), 0);
    CHECK_CLASS(zmpi_file_set_shape(MPI_FILE_NULL, (const size_t[]){1, 1, 1}), MPI_ERR_FILE);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    OK(MPI_Init(&argc, &argv));
    check_shape(MPI_INFO_NULL, false);
    MPI_Info_create(&info);
    MPI_Info_set(info, "zmpi_shape", "1x1x20000");
    check_shape(info, true); /* hints are stronger */
    MPI_Info_free(&info);
    check_answers();
    check_set();
    check_remove(path, MPI_COMM_WORLD);
    check_remove("api_file.h5", MPI_COMM_WORLD);
    OK(MPI_Finalize());
    return 0;
}
