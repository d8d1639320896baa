/*
 * element_type.c - f64 as MPI_FLOAT, f32 as MPI_DOUBLE, pixels and text in device memory come back
 * bit for bit, from files and from a gather; floats are lossy.
 *
 * usage: element_type host|device|mixed
 */
#include "../../mpi/dress.h"
#include "device_buffer.h"

static int rank, ranks;
static const char *who;
static unsigned char data[DRESS_BYTES];

/* Is the buffer what rank `of` has, bit for bit? */
static bool is_exact(const struct buffer *b, size_t at, int dress, int of)
{
    unsigned char *got = buffer_get(b);
    dress_fill(data, dress, of);
    const bool same = memcmp(got + at, data, DRESS_BYTES) == 0;
    free(got);
    return same;
}

static void file(int dress, bool together)
{
    struct buffer b = buffer_make(DRESS_BYTES, buffer_on_device(who, rank));
    MPI_File f;
    const MPI_Offset at = (MPI_Offset)rank * DRESS_BYTES;
    check_say("file, dress %d, %s, %s", dress, together ? "together" : "alone", who);
    dress_fill(data, dress, rank);
    buffer_set(&b, data);
    OK(MPI_File_open(MPI_COMM_WORLD, "element_type.z", MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &f));
    if (together)
        OK(MPI_File_write_at_all(f, at, b.at, dress_count(dress), dress_type(dress),
                                 MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(f, at, b.at, dress_count(dress), dress_type(dress),
                             MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    buffer_fill(&b, 0x5A);
    OK(MPI_File_read_at(f, at, b.at, DRESS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(is_exact(&b, 0, dress, rank) == (dress != FLOATS));
    OK(MPI_File_close(&f));
    if (rank == 0)
        unlink("element_type.z");
    MPI_Barrier(MPI_COMM_WORLD);
    buffer_free(&b);
}

static void gather(int dress)
{
    const size_t last = (size_t)(ranks - 1) * DRESS_BYTES;
    struct buffer send = buffer_make(DRESS_BYTES, buffer_on_device(who, rank)),
                  recv = buffer_make(last + DRESS_BYTES, buffer_on_device(who, rank));
    check_say("gather, dress %d, %s", dress, who);
    dress_fill(data, dress, rank);
    buffer_set(&send, data);
    OK(MPI_Gather(send.at, dress_count(dress), dress_type(dress), recv.at, dress_count(dress),
                  dress_type(dress), 0, MPI_COMM_WORLD));
    if (rank == 0)
        CHECK(is_exact(&recv, last, dress, ranks - 1) == (dress != FLOATS));
    buffer_free(&send);
    buffer_free(&recv);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    who = argc > 1 ? argv[1] : "device";
    for (int dress = 0; dress <= FLOATS; dress++) {
        file(dress, true);
        file(dress, false);
        gather(dress);
    }
    OK(MPI_Finalize());
    return 0;
}
