/*
 * collectives.c - gather, scatter, allgather, alltoall and bcast with buffers in device memory: the
 * same bits on every rank as with host buffers, whichever ranks have a device. Also in place, with
 * a vector on the receiving side, and the v forms.
 *
 * usage: collectives host|device|mixed
 */
#include "device_buffer.h"

#include <math.h>

enum { N = 3001, STEP = 2 };

static int rank, ranks;
static const char *who;

static void numbers(float *data, size_t n, int salt)
{
    for (size_t i = 0; i < n; i++)
        data[i] =
            (float)(sin(0.004 * (double)i + rank + salt) + 1e-4 * check_unit((uint64_t)salt, i));
}

/* One call's buffers, once in host memory and once where this rank's are. */
struct case_ {
    struct buffer send[2], recv[2];
};

static struct case_ make(size_t send, size_t recv)
{
    struct case_ c;
    float *data = check_alloc((send + recv + 1) * sizeof *data);
    numbers(data, send + recv, 7);
    for (int i = 0; i < 2; i++) {
        bool device = i && buffer_on_device(who, rank);
        c.send[i] = buffer_make(send * sizeof *data, device);
        c.recv[i] = buffer_make(recv * sizeof *data, device);
        buffer_set(&c.send[i], data);
        buffer_set(&c.recv[i], data + send);
    }
    free(data);
    return c;
}

static void finish(struct case_ *c, const char *what)
{
    float *sent = buffer_get(&c->send[0]), *received = buffer_get(&c->recv[0]);
    check_say("%s, %s", what, who);
    check_same(&c->send[1], sent, "the send buffer");
    check_same(&c->recv[1], received, "the receive buffer");
    free(sent);
    free(received);
    for (int i = 0; i < 2; i++) {
        buffer_free(&c->send[i]);
        buffer_free(&c->recv[i]);
    }
}

static void gather(int root)
{
    struct case_ c = make(N, (size_t)(N * ranks));
    for (int i = 0; i < 2; i++)
        OK(MPI_Gather(c.send[i].at, N, MPI_FLOAT, c.recv[i].at, N, MPI_FLOAT, root,
                      MPI_COMM_WORLD));
    finish(&c, "gather");
    c = make(N, (size_t)(N * ranks));
    for (int i = 0; i < 2; i++)
        OK(MPI_Gather(rank == root ? MPI_IN_PLACE : c.send[i].at, N, MPI_FLOAT, c.recv[i].at, N,
                      MPI_FLOAT, root, MPI_COMM_WORLD));
    finish(&c, "gather in place");
}

/* Blocks of different sizes, spread over every second float where they arrive. */
static void gatherv(void)
{
    int counts[16], places[16], total = 0;
    MPI_Datatype spread, wide;
    for (int r = 0; r < ranks; r++) {
        counts[r] = N - 500 * r;
        places[r] = total;
        total += counts[r];
    }
    OK(MPI_Type_vector(1, 1, STEP, MPI_FLOAT, &spread));
    OK(MPI_Type_create_resized(spread, 0, STEP * sizeof(float), &wide));
    OK(MPI_Type_commit(&wide));
    struct case_ c = make((size_t)counts[rank], (size_t)(STEP * total));
    for (int i = 0; i < 2; i++)
        OK(MPI_Gatherv(c.send[i].at, counts[rank], MPI_FLOAT, c.recv[i].at, counts, places, wide, 0,
                       MPI_COMM_WORLD));
    finish(&c, "gatherv");
    OK(MPI_Type_free(&spread));
    OK(MPI_Type_free(&wide));
}

static void scatter(int root)
{
    MPI_Datatype spread, wide;
    OK(MPI_Type_vector(1, 1, STEP, MPI_FLOAT, &spread));
    OK(MPI_Type_create_resized(spread, 0, STEP * sizeof(float), &wide));
    OK(MPI_Type_commit(&wide));
    struct case_ c = make((size_t)(N * ranks * STEP), N);
    for (int i = 0; i < 2; i++)
        OK(MPI_Scatter(c.send[i].at, N, wide, c.recv[i].at, N, MPI_FLOAT, root, MPI_COMM_WORLD));
    finish(&c, "scatter");
    OK(MPI_Type_free(&spread));
    OK(MPI_Type_free(&wide));
}

static void others(void)
{
    struct case_ c = make(N, (size_t)(N * ranks));
    for (int i = 0; i < 2; i++)
        OK(MPI_Allgather(c.send[i].at, N, MPI_FLOAT, c.recv[i].at, N, MPI_FLOAT, MPI_COMM_WORLD));
    finish(&c, "allgather");
    c = make((size_t)(N * ranks), (size_t)(N * ranks));
    for (int i = 0; i < 2; i++)
        OK(MPI_Alltoall(c.send[i].at, N, MPI_FLOAT, c.recv[i].at, N, MPI_FLOAT, MPI_COMM_WORLD));
    finish(&c, "alltoall");
    c = make(0, (size_t)(N * ranks));
    for (int i = 0; i < 2; i++)
        OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_FLOAT, c.recv[i].at, N, MPI_FLOAT, MPI_COMM_WORLD));
    finish(&c, "alltoall in place");
    c = make(0, N);
    for (int i = 0; i < 2; i++)
        OK(MPI_Bcast(c.recv[i].at, N, MPI_FLOAT, ranks - 1, MPI_COMM_WORLD));
    finish(&c, "bcast");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    who = argc > 1 ? argv[1] : "device";
    gather(0);
    gather(ranks - 1);
    gatherv();
    scatter(0);
    others();
    MPI_Finalize();
    return 0;
}
