/*
 * nonblocking.c - MPI_File_i*: data, file pointers, and requests in every kind of wait.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_FILES=*,!*.plain
 */
#include "check.h"

enum { PIECES = 8, N = 500, LARGE = 700000 };

static const char path[] = "nonblocking.z", plain_path[] = "nonblocking.plain";

static void fill(int *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        p[i] = seed * 100003 + i;
}

static void check_count(const MPI_Status *status, MPI_Datatype type, int should)
{
    int count, elements;
    MPI_Get_count(status, type, &count);
    CHECK_EQUAL(count, should);
    MPI_Get_elements(status, type, &elements);
    CHECK_EQUAL(elements, should);
}

/* Pieces of all ranks interleaved, written by explicit offset and waited for in several ways. */
static void by_offset(MPI_File file, int rank, int ranks)
{
    static int out[PIECES][N], in[PIECES][N];
    MPI_Request request[PIECES];
    MPI_Status status[PIECES];
    int index, flag = 0, some[PIECES], done;
    check_say("by offset");
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int k = 0; k < PIECES; k++) {
        fill(out[k], N, rank * PIECES + k);
        OK(MPI_File_iwrite_at(file, (MPI_Offset)(k * ranks + rank) * N, out[k], N, MPI_INT,
                              &request[k]));
    }
    MPI_Waitall(PIECES, request, status);
    for (int k = 0; k < PIECES; k++) {
        CHECK(request[k] == MPI_REQUEST_NULL);
        check_count(&status[k], MPI_INT, N);
    }
    for (int k = 0; k < PIECES; k++)
        OK(MPI_File_iread_at(file, (MPI_Offset)(k * ranks + rank) * N, in[k], N, MPI_INT,
                             &request[k]));
    MPI_Waitany(PIECES, request, &index, &status[0]);
    check_count(&status[0], MPI_INT, N);
    for (done = 1; done < PIECES;) {
        int n;
        MPI_Testsome(PIECES, request, &n, some, status);
        done += n;
    }
    MPI_Testall(PIECES, request, &flag, status);
    CHECK(flag);
    CHECK_BYTES(in, out, sizeof in);
    check_sync(file, MPI_COMM_WORLD);
    OK(MPI_File_iread_at(file, (MPI_Offset)((rank + 1) % ranks) * N, in[0], N, MPI_INT,
                         &request[0]));
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    fill(out[0], N, (rank + 1) % ranks * PIECES);
    CHECK_BYTES(in[0], out[0], sizeof in[0]);
}

/* Pointers move when the call returns; requests may be freed unwaited. */
static void by_pointer(MPI_File file, int rank, int ranks)
{
    int out[N], in[N];
    MPI_Request request[3];
    MPI_Offset at;
    check_say("by pointer");
    OK(MPI_File_set_view(file, (MPI_Offset)(rank * 3) * N * (MPI_Offset)sizeof *out, MPI_INT,
                         MPI_INT, "native", MPI_INFO_NULL));
    for (int k = 0; k < 3; k++) {
        fill(out, N, 77 * rank + k);
        OK(MPI_File_iwrite(file, out, N, MPI_INT, &request[k]));
        MPI_Wait(&request[k], MPI_STATUS_IGNORE);
        OK(MPI_File_get_position(file, &at));
        CHECK_EQUAL(at, (k + 1) * N);
    }
    OK(MPI_File_seek(file, N, MPI_SEEK_SET));
    OK(MPI_File_iread(file, in, N, MPI_INT, &request[0]));
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    fill(out, N, 77 * rank + 1);
    CHECK_BYTES(in, out, sizeof in);
    OK(MPI_File_iread(file, in, N, MPI_INT, &request[0]));
    MPI_Request_free(&request[0]);
    CHECK(request[0] == MPI_REQUEST_NULL);
    (void)ranks;
}

/* Collective forms in an order that blocking ones would not survive: a message between them. */
static void collective(MPI_File file, int rank, int ranks)
{
    int *out = check_alloc(LARGE * sizeof *out), *in = check_alloc(LARGE * sizeof *in);
    MPI_Request request;
    MPI_Status status;
    int token = 0, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    check_say("collective");
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    fill(out, LARGE, rank + 5);
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)rank * LARGE, out, LARGE, MPI_INT, &request));
    if (ranks > 1)
        MPI_Send(&token, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    if (rank == 0 && ranks > 1)
        MPI_Recv(&token, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, &status);
    check_count(&status, MPI_INT, LARGE);
    check_sync(file, MPI_COMM_WORLD);
    OK(MPI_File_iread_at_all(file, (MPI_Offset)next * LARGE, in, LARGE, MPI_INT, &request));
    MPI_Wait(&request, &status);
    check_count(&status, MPI_INT, LARGE);
    fill(out, LARGE, next + 5);
    CHECK_BYTES(in, out, LARGE * sizeof *in);
    OK(MPI_File_seek(file, (MPI_Offset)rank * LARGE, MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(file, out, LARGE, MPI_INT, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    OK(MPI_File_seek(file, (MPI_Offset)rank * LARGE, MPI_SEEK_SET));
    OK(MPI_File_iread_all(file, in, LARGE, MPI_INT, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_BYTES(in, out, LARGE * sizeof *in);
    free(out);
    free(in);
}

/* A file is closed, and is to go to the disk before (records with lists over data that were
 * synced), while rank 0 has a request on another one under way: OMPIO's MPI_File_sync would fail
 * there, and wait elsewhere. */
static void beside_another(int rank)
{
    static int out[N], in[N];
    MPI_File file, plain;
    MPI_Request request = MPI_REQUEST_NULL;
    check_say("beside another file's request");
    check_remove(plain_path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    OK(MPI_File_open(MPI_COMM_WORLD, plain_path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &plain));
    OK(MPI_File_set_view(file, (MPI_Offset)sizeof out * rank, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    fill(out, N, rank);
    OK(MPI_File_write_at(file, 0, out, N, MPI_INT, MPI_STATUS_IGNORE));
    check_sync(file, MPI_COMM_WORLD);
    for (int k = 0; k < N; k = 2 * k + 1) {
        out[k] = -k;
        OK(MPI_File_write_at(file, k, &out[k], 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    if (rank == 0)
        OK(MPI_File_iwrite_at(plain, 0, in, N, MPI_INT, &request));
    OK(MPI_File_close(&file));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    OK(MPI_File_close(&plain));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_read_at_all(file, (MPI_Offset)sizeof out * rank, in, N, MPI_INT,
                            MPI_STATUS_IGNORE));
    CHECK_BYTES(in, out, sizeof in);
    OK(MPI_File_close(&file));
    check_remove(plain_path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    by_offset(file, rank, ranks);
    by_pointer(file, rank, ranks);
    collective(file, rank, ranks);
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
    beside_another(rank);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
