/*
 * steps.c - steps of a simulation to one file: the axes that fit one step are kept for the next
 * ones, as far as they still do, and all of it comes back.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless
 */
#include "check.h"

enum { STEPS = 34, TRUSTED = 32, WORDS = 64 * 1024, ALONG_X = 1 };

static const char path[] = "steps.z";
static int rank, ranks;

/* Noise of 17 bits, which is coded best along no axis and in an 18th more along x; or its sum, for
 * which x is right. */
static void fill(int owner, int step, bool walk, int *data)
{
    int at = 0;
    for (int i = 0; i < WORDS; i++) {
        const int noise =
            (int)(check_mix((uint64_t)(owner * STEPS + step), (uint64_t)i) % (1 << 18)) - (1 << 17);
        at += noise / 1024;
        data[i] = walk ? at : noise;
    }
}

static void write_step(MPI_File file, int step, bool walk, int *data)
{
    fill(rank, step, walk, data);
    OK(MPI_File_write_at_all(file, (MPI_Offset)(step * ranks + rank) * WORDS * 4, data, WORDS,
                             MPI_INT, MPI_STATUS_IGNORE));
}

/* Of all streams in the file: how many have first chunks with these axes. */
static int count_axes(int axes, int *streams)
{
    struct stat about;
    FILE *in = fopen(path, "rb");
    CHECK(in && !fstat(fileno(in), &about));
    const size_t size = (size_t)about.st_size;
    unsigned char *bytes = check_alloc(size);
    CHECK_EQUAL(fread(bytes, 1, size, in), size);
    fclose(in);
    int n = 0;
    *streams = 0;
    for (size_t at = 0; at + 80 < size; at += 8) {
        uint64_t extent[3], tile[3];
        if (memcmp(bytes + at, "ZSTR", 4) != 0)
            continue;
        size_t chunks = 1;
        for (int i = 0; i < 3; i++) {
            uint32_t t;
            memcpy(&t, bytes + at + 12 + 4 * i, sizeof t);
            memcpy(&extent[i], bytes + at + 24 + 8 * i, sizeof extent[i]);
            tile[i] = t;
            chunks *= (size_t)((extent[i] + tile[i] - 1) / tile[i]);
        }
        ++*streams;
        n += bytes[at + 80 + 8 * chunks + 1] == axes;
    }
    free(bytes);
    return n;
}

static void check_all(bool first_walks, int *is, int *should)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int step = 0; step < STEPS; step++) {
        const int owner = (rank + 1) % ranks;
        fill(owner, step, first_walks && step == 0, should);
        OK(MPI_File_read_at_all(file, (MPI_Offset)(step * ranks + owner) * WORDS * 4, is, WORDS,
                                MPI_INT, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, should, WORDS * sizeof *is);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *data = check_alloc(WORDS * sizeof *data), *is = check_alloc(WORDS * sizeof *is);
    for (int first_walks = 0; first_walks < 2; first_walks++) {
        MPI_File file;
        int streams = 0;
        check_say("first step %s", first_walks ? "along x" : "noise");
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file));
        for (int step = 0; step < STEPS; step++)
            write_step(file, step, first_walks && step == 0, data);
        OK(MPI_File_close(&file));
        if (rank == 0) { /* each 32nd step chooses anew */
            CHECK_EQUAL(count_axes(ALONG_X, &streams), first_walks ? TRUSTED * ranks : 0);
            CHECK_EQUAL(streams, STEPS * ranks);
        }
        check_all(first_walks, is, data);
        if (rank == 0)
            OK(MPI_File_delete(path, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(data);
    free(is);
    MPI_Finalize();
    return 0;
}
