/*
 * late_hints.c - a bound that a program gives by MPI_File_set_info or set_view, after it has opened
 * the file without one: a file without data becomes a container then, as it would have been, with
 * its view, pointer, atomicity and error handler. One that has data stays plain, as a line says.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_REPORT_TEXT=off ZMPI_EXACT_BELOW=0
 */
#include "check.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { N = 20000 };

static const char path[] = "late.z";
static int rank, ranks, handled;
static double data[N], back[N];

static MPI_Info hint(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static MPI_File open_file(int mode)
{
    MPI_File file;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    return file;
}

static int set(MPI_File file, bool by_view, const char *key, const char *value)
{
    MPI_Info info = hint(key, value);
    const int rc = by_view ? MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info)
                           : MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    return rc;
}

static MPI_Offset place(int owner)
{
    return owner * (MPI_Offset)sizeof data;
}

/* Written by whom, and how well. */
static void check_data(bool lossy)
{
    double worst = 0;
    MPI_File file = open_file(MPI_MODE_RDONLY);
    OK(MPI_File_read_at_all(file, place((rank + 1) % ranks), back, N, MPI_DOUBLE,
                            MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(back[i] - sin(1e-3 * (i + (rank + 1) % ranks))));
    CHECK_SAY(worst <= (lossy ? 1e-3 : 0) && (!lossy || worst > 1e-5), "error %g", worst);
    CHECK(check_is_container(path) == lossy);
    MPI_Barrier(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
}

/* What is open for what, by which call and key. */
static void becomes_one(int mode, bool by_view, const char *key)
{
    int amode, first[2] = {0};
    MPI_Offset size;
    check_say("mode %d, %s, by %s", mode, key, by_view ? "set_view" : "set_info");
    MPI_File file = open_file(mode | MPI_MODE_CREATE);
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, 0);
    OK(set(file, by_view, "cb_nodes", "1")); /* not ours */
    OK(set(file, by_view, "zmpi_codec", "huffman"));
    OK(set(file, by_view, key, "abs=1e-3"));
    OK(MPI_File_get_amode(file, &amode));
    CHECK_EQUAL(amode, mode | MPI_MODE_CREATE);
    OK(MPI_File_write_at_all(file, place(rank), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, place(ranks));
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    if (rank == 0) { /* the encoder of the first stream: docs/format.md 1.1, 2.2 */
        unsigned char head[64 + 80] = {0};
        FILE *in = fopen(path, "rb");
        CHECK(in && fseek(in, check_first_record(path), SEEK_SET) == 0);
        CHECK(in && fread(head, 1, sizeof head, in) == sizeof head && fclose(in) == 0);
        first[0] = memcmp(head + 64, "ZSTR", 4) == 0 && head[64 + 8] == 2;
        CHECK(first[0]);
    }
    check_data(true);
}

/* The view, and a pointer that was moved, are those of the plain file. */
static void keeps_view(void)
{
    MPI_Datatype type;
    MPI_Offset position, disp;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    int atomic = 0;
    check_say("view");
    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, ranks * (MPI_Aint)sizeof(double), &type));
    OK(MPI_Type_commit(&type));
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(double), MPI_DOUBLE, type, "native",
                         MPI_INFO_NULL));
    OK(MPI_Type_free(&type));
    OK(MPI_File_seek(file, 5, MPI_SEEK_SET));
    OK(MPI_File_set_atomicity(file, 1));
    OK(set(file, false, "zmpi_error_bound", "abs=1e-3"));
    OK(MPI_File_get_atomicity(file, &atomic));
    CHECK(atomic);
    OK(MPI_File_get_position(file, &position));
    CHECK_EQUAL(position, 5);
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    CHECK_EQUAL(disp, rank * (MPI_Offset)sizeof(double));
    CHECK(strcmp(datarep, "native") == 0 && etype == MPI_DOUBLE);
    MPI_Type_free(&filetype);
    OK(MPI_File_write_all(file, data + 5, N - 5, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, 0, data, 5, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    file = open_file(MPI_MODE_RDONLY);
    double value;
    for (int i = 0; i < N; i += 777) {
        OK(MPI_File_read_at(file, (i * (MPI_Offset)ranks + rank) * (MPI_Offset)sizeof value, &value,
                            1, MPI_DOUBLE, MPI_STATUS_IGNORE));
        CHECK_SAY(fabs(value - data[i]) <= 1e-3, "element %d", i);
    }
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
}

/* Some rank has written: the file is what it is. */
static void stays_plain(bool by_view)
{
    check_say("with data, by %s", by_view ? "set_view" : "set_info");
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    if (rank == ranks - 1)
        OK(MPI_File_write_at(file, place(rank), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(set(file, by_view, "zmpi_error_bound", "abs=1e-3"));
    OK(set(file, by_view, "zmpi_error_bound", "abs=1e-3"));
    OK(MPI_File_write_at_all(file, place(rank), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    check_data(false);
}

static int lines_with(const char *name, const char *text)
{
    char line[1000];
    int n = 0;
    FILE *said = fopen(name, "r");
    CHECK(said != NULL);
    while (fgets(line, sizeof line, said))
        n += strstr(line, text) != NULL;
    fclose(said);
    return n;
}

/* Once, by one rank: a hint that there is none of, and one that comes too late. */
static void what_is_said(void)
{
    char name[40];
    snprintf(name, sizeof name, "said.%d", rank);
    const int before = dup(STDERR_FILENO), said = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    check_say("what is said");
    CHECK(before >= 0 && said >= 0 && dup2(said, STDERR_FILENO) >= 0);
    for (int i = 0; i < 4; i++) {
        MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
        OK(set(file, i % 2, "zmpi_error_bond", "abs=1"));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_write_at_all(file, place(rank), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
        OK(set(file, i % 2, "zmpi_error_bound", "abs=1"));
        OK(MPI_File_close(&file));
        MPI_Barrier(MPI_COMM_WORLD);
        check_remove(path, MPI_COMM_WORLD);
    }
    CHECK(dup2(before, STDERR_FILENO) >= 0 && close(before) == 0 && close(said) == 0);
    CHECK_EQUAL(lines_with(name, "zmpi_error_bond"), rank == 0);
    CHECK_EQUAL(lines_with(name, "ignored"), rank == 0);
    unlink(name);
}

static void handler(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    handled++;
}

/* The program's handler is called for what goes wrong, before and after. */
static void keeps_handler(void)
{
    MPI_Errhandler own, got;
    check_say("handler");
    OK(MPI_File_create_errhandler(handler, &own));
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_errhandler(file, own));
    CHECK_CLASS(set(file, false, "zmpi_error_bound", "abs=no"), MPI_ERR_INFO_VALUE);
    CHECK_EQUAL(handled, 1);
    OK(set(file, false, "ZMPI_ERROR_BOUND", "abs=1e-3"));
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    CHECK_EQUAL(handled, 2);
    CHECK_CLASS(set(file, false, "zmpi_error_bound", "abs=no"), MPI_ERR_INFO_VALUE);
    CHECK_EQUAL(handled, 3);
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    CHECK_EQUAL(handled, 3);
    OK(MPI_File_get_errhandler(file, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_close(&file));
    OK(MPI_Errhandler_free(&own));
    CHECK_EQUAL(check_disk_size(path), 0); /* nothing was written */
    check_remove(path, MPI_COMM_WORLD);
}

/* Read by this program before it is closed; deleted with its close; opened for nothing. */
static void other_ways(void)
{
    check_say("read before close");
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(set(file, true, "zmpi_error_bound", "abs=1e-3"));
    OK(MPI_File_write_at(file, place(rank), data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_File_read_at(file, place(rank), back, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        CHECK(fabs(back[i] - data[i]) <= 1e-3);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(check_disk_size(path), -1);
    check_say("nothing at all");
    for (int i = 0; i < 50; i++) {
        file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
        OK(set(file, false, "cb_nodes", "1"));
        OK(MPI_File_close(&file));
        CHECK_EQUAL(check_disk_size(path), 0);
    }
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        data[i] = sin(1e-3 * (i + rank));
    check_remove(path, MPI_COMM_WORLD);
    what_is_said();
    for (int by_view = 0; by_view < 2; by_view++) {
        becomes_one(MPI_MODE_WRONLY, by_view, "zmpi_error_bound");
        becomes_one(MPI_MODE_RDWR, by_view, "ZMPI_ERROR_BOUND");
        stays_plain(by_view);
    }
    keeps_view();
    keeps_handler();
    other_ways();
    OK(MPI_Finalize());
}
