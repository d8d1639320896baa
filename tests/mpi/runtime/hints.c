/*
 * hints.c - MPI_Info hints: which of them are in force after open, set_view and set_info, and what
 * a wrong one returns.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 * zmpi-test: alone RANKS 2 ARGS unset ENV ZMPI_LOG=quiet
 */
#include "check.h"

#include <math.h>

enum { N = 3000 };

static const char path[] = "hints.z";

static MPI_Info hint(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void check_bound(MPI_File file, const char *should)
{
    MPI_Info info;
    char value[100] = "";
    int flag;
    OK(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "zmpi_error_bound", 99, value, &flag);
    CHECK_SAY(flag && strcmp(value, should) == 0, "the bound is %s, not %s", value, should);
    MPI_Info_free(&info);
}

/* The largest error of what is written now. */
static double error_of_write(MPI_File file, int rank)
{
    double data[N], back[N], worst = 0;
    MPI_Offset at = rank * (MPI_Offset)sizeof data;
    for (int i = 0; i < N; i++)
        data[i] = 10 * check_unit((uint64_t)rank, (uint64_t)i);
    OK(MPI_File_write_at_all(file, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, at, back, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(back[i] - data[i]));
    return worst;
}

static void wrong_value(MPI_File file, int rank, double error)
{
    static const char *const wrong[] = {"abs=0", "abs=-1",    "abs=nan", "rel=2",
                                        "rel=",  "sometimes", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong - 1; i++) {
        MPI_Info info = hint("zmpi_error_bound", wrong[i]);
        MPI_File none;
        check_say("wrong bound %s", wrong[i]);
        CHECK_CLASS(
            MPI_File_open(MPI_COMM_WORLD, "wrong.z", MPI_MODE_RDWR | MPI_MODE_CREATE, info, &none),
            MPI_ERR_INFO_VALUE);
        CHECK_EQUAL(check_disk_size("wrong.z"), -1);
        CHECK_CLASS(MPI_File_set_info(file, info), MPI_ERR_INFO_VALUE);
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info),
                    MPI_ERR_INFO_VALUE);
        MPI_Info_free(&info);
        double is = error_of_write(file, rank);
        CHECK_SAY(is <= error && is > error / 100, "error %g after a wrong hint, the bound is %g",
                  is, error);
    }
}

/* What is held back keeps the bound it was written under, whatever is asked for later. */
static void check_staged(const char *first, const char *later, double most)
{
    double data[N], back[N];
    const int rank = check_rank(MPI_COMM_WORLD);
    const MPI_Offset at = rank * (MPI_Offset)sizeof data;
    MPI_Info info = hint("zmpi_error_bound", first);
    MPI_File file;
    check_say("%s, then %s", first, later);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &file));
    MPI_Info_free(&info);
    for (int i = 0; i < N; i++)
        data[i] = 10 * check_unit((uint64_t)rank, (uint64_t)i);
    for (int i = 0; i < N; i += N / 10)
        OK(MPI_File_write_at(file, at + i * (MPI_Offset)sizeof *data, data + i, N / 10, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    info = hint("zmpi_error_bound", later);
    OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_read_at(file, at, back, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    for (int i = 0; i < N; i++)
        CHECK_SAY(fabs(back[i] - data[i]) <= most, "error %g", fabs(back[i] - data[i]));
}

/* The encoder of the first stream in the file: docs/format.md 1.1, 2.2. */
static int encoder_in_file(void)
{
    unsigned char head[64 + 80] = {0};
    FILE *in = fopen(path, "rb");
    CHECK(in && fseek(in, check_first_record(path), SEEK_SET) == 0);
    CHECK(fread(head, 1, sizeof head, in) == sizeof head);
    fclose(in);
    CHECK(memcmp(head + 64, "ZSTR", 4) == 0);
    return head[64 + 8];
}

static void check_codecs(int rank)
{
    static const char *const codecs[] = {"fle", "huffman"};
    for (int i = 0; i < 2; i++) {
        MPI_File file;
        MPI_Info info = hint("zmpi_codec", codecs[i]);
        MPI_Info_set(info, "zmpi_error_bound", "abs=0.125");
        check_say("codec %s", codecs[i]);
        check_remove(path, MPI_COMM_WORLD);
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
        MPI_Info_free(&info);
        double error = error_of_write(file, rank);
        CHECK(error <= 0.125 && error > 0.01);
        OK(MPI_File_close(&file));
        CHECK_EQUAL(encoder_in_file(), i + 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static MPI_File open_with(MPI_Info info)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return file;
}

/* unset: there is no bound in the environment. */
static void without_hint(int rank, bool unset)
{
    check_say("without a hint");
    MPI_File file = open_with(MPI_INFO_NULL);
    CHECK(error_of_write(file, rank) == 0);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path) == !unset);
    check_remove(path, MPI_COMM_WORLD);
}

static void one_after_another(int rank)
{
    check_say("hint at open");
    MPI_File file = open_with(hint("zmpi_error_bound", "abs=0.125"));
    CHECK(check_is_container(path));
    check_bound(file, "abs=0.125");
    double error = error_of_write(file, rank);
    CHECK(error <= 0.125 && error > 0.01);

    wrong_value(file, rank, 0.125);

    check_say("hint at set_view");
    MPI_Info info = hint("zmpi_error_bound", "abs=1e-3");
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
    MPI_Info_free(&info);
    check_bound(file, "abs=0.001");
    error = error_of_write(file, rank);
    CHECK(error <= 1e-3 && error > 1e-4);

    check_say("hint at set_info");
    info = hint("zmpi_error_bound", "lossless");
    OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    check_bound(file, "lossless");
    CHECK(error_of_write(file, rank) == 0);

    check_say("hints spelt like the variable");
    info = hint("ZMPI_ERROR_BOUND", "abs=0.25");
    OK(MPI_File_set_info(file, info));
    check_bound(file, "abs=0.25");
    MPI_Info_set(info, "zmpi_error_bound", "lossless");
    OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    check_bound(file, "lossless");

    check_say("hints that are not ours");
    info = hint("cb_nodes", "1");
    OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    check_bound(file, "lossless");
    OK(MPI_File_close(&file));
}

static void opened_again(int rank)
{
    check_say("an existing file, opened with another bound");
    MPI_File file = open_with(hint("zmpi_error_bound", "rel=0.01"));
    check_bound(file, "rel=0.01");
    double error = error_of_write(file, rank);
    CHECK(error <= 0.1 && error > 0.01);
    OK(MPI_File_close(&file));

    check_say("opened without a bound: still a container, and exact from here on");
    file = open_with(MPI_INFO_NULL);
    CHECK(error_of_write(file, rank) == 0);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    check_remove("wrong.z", MPI_COMM_WORLD);
    without_hint(rank, argc > 1);
    one_after_another(rank);
    opened_again(rank);
    check_codecs(rank);
    check_staged("abs=1e-6", "ratio=20", 1e-6);
    check_staged("ratio=4", "abs=1e-6", 1);
    check_staged("pw_rel=1e-3", "abs=1e-6", 1e-2);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
