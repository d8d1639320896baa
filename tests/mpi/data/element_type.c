/*
 * element_type.c - a program that writes or gathers f64 as MPI_FLOAT, f32 as MPI_DOUBLE, pixels or
 * text gets them back bit for bit; what it writes to the same file before and after is lossy.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=rel=1e-2 ZMPI_COLLECTIVE_MODE=always
 */
#include <math.h>

#include "check.h"

enum { N = 20000, BYTES = N * 4 };

static int rank, ranks;
static unsigned char data[BYTES], back[BYTES];

enum dress { WIDE, NARROW, PIXELS, TEXT, DRESSES, FLOATS = DRESSES };

static MPI_Datatype type_of(int dress)
{
    return dress == NARROW ? MPI_DOUBLE : MPI_FLOAT;
}

static int count_of(int dress)
{
    return dress == NARROW ? N / 2 : N;
}

/* What rank `of` has. */
static void fill(int dress, int of)
{
    for (int i = 0; i < N; i++) {
        const double x = sin((of * N + i) * 1e-3) + 2;
        const float f = (float)x;
        char text[20];
        if (dress == NARROW || dress == FLOATS)
            memcpy(data + i * 4L, &f, sizeof f);
        if (dress == WIDE && i < N / 2)
            memcpy(data + i * 8L, &x, sizeof x);
        snprintf(text, sizeof text, "%.5f ", x);
        if (dress == TEXT && i < N / 2)
            memcpy(data + i * 8L, text, 8);
        for (int k = 0; dress == PIXELS && k < 4; k++)
            data[4 * i + k] = (unsigned char)(60 * x + k);
    }
}

enum how { TOGETHER, ALONE, HOWS };

static void write_part(MPI_File file, int part, int dress, enum how how)
{
    const MPI_Offset at = (MPI_Offset)(part * ranks + rank) * BYTES;
    fill(dress, rank);
    if (how == TOGETHER)
        OK(MPI_File_write_at_all(file, at, data, count_of(dress), type_of(dress),
                                 MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(file, at, data, count_of(dress), type_of(dress), MPI_STATUS_IGNORE));
}

static void read_part(MPI_File file, int part, int dress, bool exact)
{
    const MPI_Offset at = (MPI_Offset)(part * ranks + rank) * BYTES;
    fill(dress, rank);
    OK(MPI_File_read_at_all(file, at, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK((memcmp(data, back, BYTES) == 0) == exact);
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
    unsigned char *all = check_alloc((size_t)ranks * BYTES);
    check_say("gather, dress %d", dress);
    fill(dress, rank);
    OK(MPI_Gather(data, count_of(dress), type_of(dress), all, count_of(dress), type_of(dress), 0,
                  MPI_COMM_WORLD));
    if (rank == 0 && ranks > 1) {
        fill(dress, ranks - 1);
        CHECK((memcmp(all + (size_t)(ranks - 1) * BYTES, data, BYTES) == 0) == (dress != FLOATS));
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
