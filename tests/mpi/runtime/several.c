/*
 * several.c - several files open at once, on all ranks and on one each, written in turns by calls
 * of all kinds, also of nothing: compressed, in a dry run, and plain until a hint gives a bound.
 * Datatypes with a hole inside, and calls that are only counted.
 *
 *     several compressed|dry|plain
 *
 * zmpi-test: RANKS 1,3 ARGS compressed ENV ZMPI_ERROR_BOUND=lossless ZMPI_FILES=* ZMPI_REPORT=several.json ZMPI_REPORT_TEXT=off
 * zmpi-test: dry RANKS 1,3 ARGS dry ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_DRY_RUN=on ZMPI_FILES=* ZMPI_REPORT=several.json ZMPI_REPORT_TEXT=off
 * zmpi-test: plain RANKS 1,3 ARGS plain ENV ZMPI_FILES=* ZMPI_REPORT_TEXT=off
 */
#include "check.h"

enum { N = 4000, FILES = 3, LINE = 3 * N };

static int rank, ranks;
static char path[FILES][40];
static MPI_File file[FILES];
static float data[LINE];

static void fill(int seed)
{
    for (int i = 0; i < LINE; i++)
        data[i] = (float)(i % 777) * 0.25F + (float)seed;
}

static MPI_Comm comm_of(int k)
{
    return k < 2 ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

static void open_all(int mode)
{
    for (int k = 0; k < FILES; k++) {
        snprintf(path[k], sizeof path[k], "several_%d_%d", k, k < 2 ? 0 : rank);
        if (mode & MPI_MODE_CREATE)
            check_remove(path[k], comm_of(k));
        OK(MPI_File_open(comm_of(k), path[k], mode, MPI_INFO_NULL, &file[k]));
    }
}

/* The first N behind each other, then N by a view with holes, then N alone. */
static void write_one(int k)
{
    MPI_Datatype holes;
    const MPI_Offset mine = k < 2 ? rank : 0, all = k < 2 ? ranks : 1;
    fill(10 * k + rank);
    OK(MPI_File_write_at_all(file[k], mine * N * 4, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file[k], 0, data, 0, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at(file[k], 8, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Type_vector(N / 8, 8, 8 * (int)all, MPI_FLOAT, &holes);
    MPI_Type_commit(&holes);
    OK(MPI_File_set_view(file[k], 4 * (all * N + 8 * mine), MPI_FLOAT, holes, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_all(file[k], data + N, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file[k], 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&holes);
    OK(MPI_File_seek(file[k], 4 * (2 * all + mine) * N, MPI_SEEK_SET));
    OK(MPI_File_write(file[k], data + 2 * N, N, MPI_FLOAT, MPI_STATUS_IGNORE));
}

static void expect(const float *is, const float *must, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_SAY(is[i] == must[i], "element %d is %g, not %g", i, (double)is[i], (double)must[i]);
}

static void read_one(int k)
{
    static float is[LINE];
    const MPI_Offset mine = k < 2 ? rank : 0, all = k < 2 ? ranks : 1;
    fill(10 * k + rank);
    OK(MPI_File_read_at_all(file[k], mine * N * 4, is, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    expect(is, data, N);
    for (int i = 0; i < N; i += 8) {
        OK(MPI_File_read_at(file[k], 4 * (all * N + all * i + 8 * mine), is + N + i, 8, MPI_FLOAT,
                            MPI_STATUS_IGNORE));
        expect(is + N + i, data + N + i, 8);
    }
    OK(MPI_File_read_at(file[k], 4 * (2 * all + mine) * N, is, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    expect(is, data + 2 * N, N);
}

/* The pair with a hole between its members takes the room of both in a file, in any call. */
static void pairs(void)
{
    static struct {
        short value;
        int index;
    } out[100], in[100];
    unsigned char bytes[600];
    MPI_File f;
    for (int i = 0; i < 100; i++) {
        out[i].value = (short)(1000 * rank + i);
        out[i].index = i << 16 | rank;
    }
    check_remove("pairs", MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, "pairs", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, 600 * rank, out, 100, MPI_SHORT_INT, MPI_STATUS_IGNORE));
    check_sync(f, MPI_COMM_WORLD);
    OK(MPI_File_read_at_all(f, 600 * rank, in, 100, MPI_SHORT_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, 600 * rank, bytes, 600, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < 100; i++) {
        CHECK(in[i].value == out[i].value && in[i].index == out[i].index);
        CHECK_BYTES(bytes + 6 * i, &out[i].value, 2);
        CHECK_BYTES(bytes + 6 * i + 2, &out[i].index, 4);
    }
    OK(MPI_File_close(&f));
    check_remove("pairs", MPI_COMM_WORLD);
}

/* Never compressed, but counted: bytes that this rank gives. */
static void counted(void)
{
    int counts[8], sum[8], all[64] = {0};
    for (int r = 0; r < ranks; r++)
        counts[r] = r + 1;
    MPI_Reduce_scatter(all, sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(all, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Does the report say so of a function? After MPI_Finalize. */
static bool was_reported(const char *name, int bytes)
{
    static char text[100000];
    char key[80];
    FILE *in = fopen("several.json", "r");
    if (in) {
        text[fread(text, 1, sizeof text - 1, in)] = 0;
        fclose(in);
    }
    snprintf(key, sizeof key, "\"name\": \"%s\"", name);
    const char *at = strstr(text, key), *is = at ? strstr(at, "\"bytes\": ") : NULL;
    if (is && (int)strtod(is + strlen("\"bytes\": "), NULL) == bytes)
        return true;
    fprintf(stderr, "FAIL: %s, %d bytes, not in the report:\n%s\n", name, bytes, text);
    return false;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *kind = argc > 1 ? argv[1] : "";
    const bool compressed = strcmp(kind, "compressed") == 0, plain = strcmp(kind, "plain") == 0;
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    open_all(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    if (plain) { /* the one that was opened first, while others are open */
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "zmpi_error_bound", "lossless");
        OK(MPI_File_set_info(file[0], info));
        MPI_Info_free(&info);
    }
    for (int k = FILES - 1; k >= 0; k--)
        write_one(k);
    for (int k = 0; k < FILES; k++) /* first in, first out */
        OK(MPI_File_close(&file[k]));
    for (int k = 0; k < FILES; k++)
        CHECK_EQUAL(check_is_container(path[k]), compressed || (plain && k == 0));
    open_all(MPI_MODE_RDONLY);
    for (int k = 0; k < FILES; k++)
        read_one(k);
    for (int k = 0; k < FILES; k++)
        OK(MPI_File_close(&file[k]));
    if (compressed)
        pairs();
    counted();
    for (int k = 0; k < FILES; k++)
        check_remove(path[k], comm_of(k));
    MPI_Finalize();
    return rank == 0 && compressed &&
           !(was_reported("MPI_Reduce_scatter", 2 * ranks * ranks * (ranks + 1)) &&
             was_reported("MPI_Reduce_scatter_block", 8 * ranks * ranks));
}
