/*
 * api_decode.c - what is read and gathered is decoded by a device (plugins/decoder.c), which fails
 * at every place in every way: the same data as the CPU's, and no other errors.
 *
 * zmpi-test: RANKS 1,2,4 ENV ZMPI_PLUGIN_PATH=$<TARGET_FILE_DIR:test_decoder> ZMPI_DEVICE=decoder ZMPI_LOG=error ZMPI_COLLECTIVES=gather,scatter,alltoall,allgather,bcast_lossy ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=4K ZMPI_COLLECTIVE_PIECE=64K
 */
#include "check.h"

#include <math.h>
#include <zmpi.h>

enum { Z = 12, Y = 40, X = 50, N = Z * Y * X, SMALL = 500, PIECES = 40 };

static const char *const path = "decode.z";
static const char *const kinds[] = {"fail", "memory", "unsupported", "damaged", "garbage", "zeros"};
static int rank, ranks;
static MPI_Datatype block;
static float *expected; /* of the rank's block */
static unsigned char *whole;
static size_t whole_bytes;

static int calls(void)
{
    return atoi(getenv("ZMPI_TEST_DECODER_CALLS"));
}

/* The Nth call from now on, 0: every one. */
static void arm(const char *kind, int n)
{
    char text[40];
    snprintf(text, sizeof text, "%s:%d", kind, n ? calls() + n : 0);
    OK(setenv("ZMPI_TEST_DECODER", text, 1) ? MPI_ERR_OTHER : MPI_SUCCESS);
}

static void disarm(void)
{
    unsetenv("ZMPI_TEST_DECODER");
}

static MPI_File open_by(const char *device, int mode)
{
    MPI_File file;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_device", device));
    OK(MPI_Info_set(info, "zmpi_error_bound", "abs=0.001"));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file));
    MPI_Info_free(&info);
    return file;
}

static uint64_t decoded(MPI_File file)
{
    struct zmpi_file_stats s;
    OK(zmpi_file_get_stats(file, &s));
    return s.bytes_decoded_offloaded;
}

static void fill(float *data, int seed)
{
    for (int i = 0; i < N; i++)
        data[i] = (float)(sin(0.01 * i + seed) + 0.001 * (i * 7919 % 101));
}

/* Blocks of all ranks, then small pieces of doubles, then bytes. */
static void write_file(void)
{
    const MPI_Offset behind = (MPI_Offset)sizeof(float) * N * ranks;
    float *data = check_alloc(N * sizeof *data);
    double piece[SMALL];
    unsigned char bytes[SMALL];
    fill(data, rank);
    check_remove(path, MPI_COMM_WORLD);
    MPI_File file = open_by("cpu", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    OK(MPI_File_set_view(file, 0, MPI_FLOAT, block, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, behind, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int k = rank; k < PIECES; k += ranks) {
        for (int i = 0; i < SMALL; i++)
            piece[i] = 1 + sin(0.1 * i + k);
        OK(MPI_File_write_at(file, k * (MPI_Offset)sizeof piece, piece, SMALL, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    }
    memset(bytes, 'a' + rank, sizeof bytes);
    OK(MPI_File_write_at_all(file, (MPI_Offset)(PIECES * sizeof piece) + rank * SMALL, bytes, SMALL,
                             MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    free(data);
    whole_bytes = (size_t)behind + PIECES * sizeof piece + (size_t)(ranks * SMALL);
}

static void read_block(MPI_File file, float *data)
{
    memset(data, 0x77, N * sizeof *data);
    OK(MPI_File_set_view(file, 0, MPI_FLOAT, block, "native", MPI_INFO_NULL));
    OK(MPI_File_read_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* Each block by itself, then all of the file at once. */
static void read_all(MPI_File file)
{
    float *data = check_alloc(N * sizeof *data);
    unsigned char *all = check_alloc(whole_bytes);
    read_block(file, data);
    CHECK_BYTES(data, expected, N * sizeof *data);
    memset(all, 0x77, whole_bytes);
    OK(MPI_File_read_at(file, 0, all, (int)whole_bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(all, whole, whole_bytes);
    free(all);
    free(data);
}

static void learn(void)
{
    MPI_File file = open_by("cpu", MPI_MODE_RDONLY);
    read_block(file, expected);
    OK(MPI_File_read_at(file, 0, whole, (int)whole_bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQUAL(decoded(file), 0);
    CHECK_EQUAL(calls(), 0);
    OK(MPI_File_close(&file));
}

static void good(void)
{
    check_say("by the device");
    MPI_File file = open_by("decoder", MPI_MODE_RDONLY);
    read_all(file);
    CHECK(decoded(file) >= N * sizeof(float) + whole_bytes);
    OK(MPI_File_close(&file));
}

/* At every place: each file begins anew. */
static void faults(void)
{
    const size_t step = ranks > 2 ? 4 : 1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k += step)
        for (int n = 0, more = 1; more; n += 1 + n * (ranks > 2)) {
            check_say("%s in call %d", kinds[k], n);
            const int before = calls();
            MPI_File file = open_by("decoder", MPI_MODE_RDONLY);
            arm(kinds[k], n);
            read_all(file);
            more = n < calls() - before;
            CHECK(n > 0 || decoded(file) == 0);
            disarm();
            OK(MPI_File_close(&file));
            OK(MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        }
}

/* Little of a record is the CPU's; small reads, one behind the other; requests; nearly all. */
static void parts(void)
{
    unsigned char *data = check_alloc(whole_bytes);
    MPI_Request request[4];
    const size_t quarter = whole_bytes / 4;
    check_say("parts");
    MPI_File file = open_by("decoder", MPI_MODE_RDONLY);
    const int before = calls();
    OK(MPI_File_read_at(file, 40, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(data, whole + 40, 100);
    CHECK_EQUAL(calls(), before);
    for (size_t at = 0; at + 1000 <= whole_bytes; at += 1000)
        OK(MPI_File_read_at(file, (MPI_Offset)at, data + at, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(data, whole, whole_bytes / 1000 * 1000);
    memset(data, 0, whole_bytes);
    for (size_t i = 0; i < 4; i++)
        OK(MPI_File_iread_at(file, (MPI_Offset)(i * quarter), data + i * quarter, (int)quarter,
                             MPI_BYTE, &request[i]));
    for (int i = 0; i < 4; i++)
        OK(MPI_Wait(&request[i], MPI_STATUS_IGNORE));
    CHECK_BYTES(data, whole, 4 * quarter);
    const uint64_t some = decoded(file);
    OK(MPI_File_read_at(file, 400, data, (int)whole_bytes - 400, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(data, whole + 400, whole_bytes - 400);
    CHECK(decoded(file) > some);
    OK(MPI_File_close(&file));
    free(data);
}

static void automatic(void)
{
    static const char *const cost[] = {"1000", "0"};
    for (int i = 0; i < 2; i++) {
        check_say("auto, a cost of %s s", cost[i]);
        setenv("ZMPI_TEST_DECODER_COST", cost[i], 1);
        MPI_File file = open_by("auto", MPI_MODE_RDONLY);
        read_all(file);
        CHECK_EQUAL(decoded(file) > 0, i);
        OK(MPI_File_close(&file));
    }
    unsetenv("ZMPI_TEST_DECODER_COST");
}

/* The first chunk of rank 0's block: the same error whoever decodes; the others are right. */
static void damage(void)
{
    float *data = check_alloc(N * sizeof *data);
    unsigned char byte;
    const int fd = open(path, O_RDWR);
    const char *const kind[] = {"none", "zeros", "damaged"};
    if (rank == 0) { /* behind header, record and table */
        CHECK(fd >= 0 && pread(fd, &byte, 1, check_first_record(path) + 1200) == 1);
        byte ^= 0xFF;
        CHECK(pwrite(fd, &byte, 1, check_first_record(path) + 1200) == 1);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 6; i++) {
        check_say("a damaged file, %s, %s", i % 2 ? "decoder" : "cpu", kind[i / 2]);
        MPI_File file = open_by(i % 2 ? "decoder" : "cpu", MPI_MODE_RDONLY);
        OK(MPI_File_set_view(file, 0, MPI_FLOAT, block, "native", MPI_INFO_NULL));
        arm(kind[i / 2], 0);
        CHECK_CLASS(MPI_File_read_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE),
                    rank == 0 ? MPI_ERR_IO : MPI_SUCCESS);
        if (rank != 0)
            CHECK_BYTES(data, expected, N * sizeof *data);
        disarm();
        OK(MPI_File_close(&file));
    }
    free(data);
    close(fd);
}

/* ---- collectives ---- */

enum { ALL = 4 };

/* Four of them, to four places behind each other. */
static void collect(MPI_Comm comm, float *data)
{
    const size_t n = (size_t)N * (size_t)ranks;
    float *mine = check_alloc(n * sizeof *mine), *at = data;
    memset(mine, 0, n * sizeof *mine); /* gcc 14 does not know that there is a rank */
    memset(data, 0, ALL * n * sizeof *data);
    for (int i = 0; i < ranks; i++)
        fill(mine + (size_t)i * N, rank + 10 * i);
    OK(MPI_Gather(mine, N, MPI_FLOAT, at, N, MPI_FLOAT, 0, comm));
    OK(MPI_Allgather(mine, N, MPI_FLOAT, at += n, N, MPI_FLOAT, comm));
    OK(MPI_Alltoall(mine, N, MPI_FLOAT, at += n, N, MPI_FLOAT, comm));
    memcpy(at += n, mine, N * sizeof *mine);
    OK(MPI_Bcast(at, N, MPI_FLOAT, 0, comm));
    free(mine);
}

static uint64_t received(MPI_Comm comm)
{
    struct zmpi_comm_stats s;
    OK(zmpi_comm_get_stats(comm, &s));
    return s.bytes_decoded_offloaded;
}

static MPI_Comm comm_by(const char *device)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(zmpi_comm_set(comm, "error_bound", "abs=0.001"));
    OK(zmpi_comm_set(comm, "device", device));
    return comm;
}

static void collectives(void)
{
    const size_t bytes = ALL * (size_t)N * (size_t)ranks * sizeof(float);
    float *should = check_alloc(bytes), *is = check_alloc(bytes);
    if (ranks == 1)
        return;
    check_say("collectives");
    MPI_Comm comm = comm_by("cpu");
    collect(comm, should);
    CHECK_EQUAL(received(comm), 0);
    MPI_Comm_free(&comm);
    for (int k = -1; k < (int)(sizeof kinds / sizeof *kinds); k += k < 0 ? 1 : 4) {
        for (int n = 0, more = 1; more; n += 1 + 3 * n) {
            comm = comm_by("decoder");
            const int before = calls();
            if (k >= 0)
                arm(kinds[k], n);
            collect(comm, is);
            CHECK_BYTES(is, should, bytes);
            CHECK(k >= 0 || received(comm) >= 2 * N * sizeof(float));
            CHECK(k < 0 || n > 0 || received(comm) == 0);
            more = k >= 0 && n < calls() - before;
            disarm();
            MPI_Comm_free(&comm);
            OK(MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        }
    }
    free(should);
    free(is);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    setenv("ZMPI_TEST_DECODER_CALLS", "0", 1);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    int sizes[3] = {Z, Y, X * ranks}, sub[3] = {Z, Y, X}, at[3] = {0, 0, X * rank};
    OK(MPI_Type_create_subarray(3, sizes, sub, at, MPI_ORDER_C, MPI_FLOAT, &block));
    OK(MPI_Type_commit(&block));
    write_file();
    expected = check_alloc(N * sizeof *expected);
    whole = check_alloc(whole_bytes);
    learn();
    good();
    faults();
    parts();
    automatic();
    damage();
    collectives();
    MPI_Type_free(&block);
    free(expected);
    free(whole);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
