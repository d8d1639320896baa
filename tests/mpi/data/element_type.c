/*
 * element_type.c - a program that writes or gathers f64 as MPI_FLOAT, f32 as MPI_DOUBLE, pixels or
 * text gets them back bit for bit; what it writes to the same file before and after is lossy.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=rel=1e-2 ZMPI_COLLECTIVE_MODE=always
 */
#include "dress.h"

static int rank, ranks;
static unsigned char data[DRESS_BYTES], back[DRESS_BYTES];

enum how { TOGETHER, ALONE, HOWS };

static void write_part(MPI_File file, int part, int dress, enum how how)
{
    const MPI_Offset at = (MPI_Offset)(part * ranks + rank) * DRESS_BYTES;
    dress_fill(data, dress, rank);
    if (how == TOGETHER)
        OK(MPI_File_write_at_all(file, at, data, dress_count(dress), dress_type(dress),
                                 MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(file, at, data, dress_count(dress), dress_type(dress),
                             MPI_STATUS_IGNORE));
}

static void read_part(MPI_File file, int part, int dress, bool exact)
{
    const MPI_Offset at = (MPI_Offset)(part * ranks + rank) * DRESS_BYTES;
    dress_fill(data, dress, rank);
    OK(MPI_File_read_at_all(file, at, back, DRESS_BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK((memcmp(data, back, DRESS_BYTES) == 0) == exact);
}

/* Floats before and behind. */
static void round_trip(int dress, enum how how, int mode)
{
    MPI_File file;
    char path[60];
    snprintf(path, sizeof path, "element_type_%d_%d_%d.z", dress, how, mode == MPI_MODE_RDWR);
    check_say("%s", path);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | mode, MPI_INFO_NULL, &file));
    for (int part = 0; part < 3; part++)
        write_part(file, part, part == 1 ? dress : FLOATS, how);
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int part = 0; part < 3; part++)
        read_part(file, part, part == 1 ? dress : FLOATS, part == 1);
    OK(MPI_File_close(&file));
}

/* Rank 0 alone knows that all must be exact. */
static void one_rank(void)
{
    MPI_File file;
    check_say("one rank");
    OK(MPI_File_open(MPI_COMM_WORLD, "element_type_one.z", MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &file));
    write_part(file, 0, rank ? FLOATS : TEXT, TOGETHER);
    read_part(file, 0, rank ? FLOATS : TEXT, true);
    OK(MPI_File_close(&file));
}

static void gather(int dress)
{
    unsigned char *all = check_alloc((size_t)ranks * DRESS_BYTES);
    check_say("gather, dress %d", dress);
    dress_fill(data, dress, rank);
    OK(MPI_Gather(data, dress_count(dress), dress_type(dress), all, dress_count(dress),
                  dress_type(dress), 0, MPI_COMM_WORLD));
    if (rank == 0 && ranks > 1) {
        dress_fill(data, dress, ranks - 1);
        CHECK((memcmp(all + (size_t)(ranks - 1) * DRESS_BYTES, data, DRESS_BYTES) == 0) ==
              (dress != FLOATS));
    }
    free(all);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int dress = 0; dress < DRESSES; dress++)
        for (int how = 0; how < HOWS; how++) {
            round_trip(dress, (enum how)how, MPI_MODE_WRONLY);
            round_trip(dress, (enum how)how, MPI_MODE_RDWR);
        }
    one_rank();
    for (int dress = 0; dress <= FLOATS; dress++)
        gather(dress);
    OK(MPI_Finalize());
    return 0;
}
