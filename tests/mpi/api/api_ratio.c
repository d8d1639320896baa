/*
 * api_ratio.c - ratio=R: the ratio of files, however they are written, and of gathers; the bound
 * that the streams name, one for all of a collective call; ranks with other data, or with none.
 *
 * zmpi-test: RANKS 1,2,4 ENV ZMPI_ERROR_BOUND=ratio=8 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVES=gather,allgather
 */
#include "check.h"

#include <math.h>
#include <zmpi.h>

enum { N = 300000, CALLS = 60, PIECE = N / CALLS, LARGE = 5 * N };

static const char path[] = "ratio.z";
static int rank, ranks;

/* Rough by degrees that differ by rank. */
static double value(int r, int i)
{
    double rough = exp2(4 * sin(i / 9000.0) - 2 + r);
    return 300 + sin(i / 300.0) + rough * (check_unit((uint64_t)r + 1, (uint64_t)i) - 0.5);
}

static void fill(float *dst, int r, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] = (float)value(r, i);
}

/* Harder to foresee: land among the sea, rest among storms. */
enum kind { ROUGH, LAND, REST, KINDS };

static double hard_value(enum kind kind, int r, int i)
{
    double x = value(r, i);
    if (kind == LAND && sin(i / 700.0) + sin(i / 4100.0) > 0.5)
        return 1e20;
    return kind == REST && i % 40000 > 20000 ? 300 : x;
}

/* The absolute bounds that the float streams of a file name: least and largest. */
struct bounds {
    double least, largest;
};

static struct bounds bounds_of(const char *file)
{
    long long size = check_disk_size(file);
    unsigned char *data = check_alloc((size_t)size);
    struct bounds b = {INFINITY, 0};
    int fd = open(file, O_RDONLY), streams = 0;
    CHECK(read(fd, data, (size_t)size) == size);
    close(fd);
    for (long long at = 0; at + 80 <= size; at += 8) {
        double asked, bound;
        if (memcmp(data + at, "ZSTR\1", 5) || data[at + 5] > 2)
            continue;
        memcpy(&asked, data + at + 48, 8);
        memcpy(&bound, data + at + 56, 8);
        CHECK(data[at + 7] == 4 && asked >= 8 && asked <= 8);
        b.least = fmin(b.least, bound);
        b.largest = fmax(b.largest, bound);
        streams++;
    }
    CHECK(streams > 0);
    free(data);
    return b;
}

enum way { COLLECTIVE, SPLIT, WRITE_ONLY, SMALL, AT_ONCE, NONBLOCKING, IN_PIECES, WAYS };

static const char *const name[] = {"collective", "split",       "write only", "small",
                                   "at once",    "nonblocking", "in pieces"};

static void write_all_of(MPI_File f, enum way way, const float *data, int n, MPI_Offset at)
{
    MPI_Request request;
    switch (way) {
    case COLLECTIVE:
        OK(MPI_File_write_at_all(f, at, data, n, MPI_FLOAT, MPI_STATUS_IGNORE));
        break;
    case WRITE_ONLY:
        for (int i = 0; i < n; i += PIECE)
            OK(MPI_File_write_at_all(f, at + i * 4, data + i, PIECE, MPI_FLOAT, MPI_STATUS_IGNORE));
        break;
    case SPLIT:
        OK(MPI_File_write_at_all_begin(f, at, data, n, MPI_FLOAT));
        OK(MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE));
        break;
    case SMALL:
        for (int i = 0; i < n; i += PIECE)
            OK(MPI_File_write_at(f, at + i * 4, data + i, PIECE, MPI_FLOAT, MPI_STATUS_IGNORE));
        break;
    case NONBLOCKING:
        OK(MPI_File_iwrite_at(f, at, data, n, MPI_FLOAT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default:
        OK(MPI_File_write_at(f, at, data, n, MPI_FLOAT, MPI_STATUS_IGNORE));
    }
}

/* One bound where ranks write together, or one call is several records. */
static void check_file(enum way way, int n, double error)
{
    struct bounds b = bounds_of(path);
    double raw = 4.0 * n * ranks, got = raw / (double)check_disk_size(path);
    double most;
    OK(MPI_Allreduce(&error, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CHECK_SAY(got > 7.56 && got < 8.44, "ratio %g", got);
    CHECK_SAY(most <= b.largest && most > 0.3 * b.largest, "error %g, bound %g", most, b.largest);
    if (way == COLLECTIVE || way == SPLIT || (way == IN_PIECES && ranks == 1))
        CHECK_SAY(b.least >= b.largest, "bounds %g to %g", b.least, b.largest);
    else if (ranks > 1)
        CHECK_SAY(b.least < b.largest, "bound %g of ranks that are unlike", b.largest);
}

static void file(enum way way)
{
    const int n = way == IN_PIECES ? LARGE : N;
    const int mode = MPI_MODE_CREATE | (way == WRITE_ONLY ? MPI_MODE_WRONLY : MPI_MODE_RDWR);
    float *data = check_alloc((size_t)n * sizeof *data), *back = check_alloc((size_t)n * 4);
    const MPI_Offset at = (MPI_Offset)rank * n * 4;
    MPI_File f;
    double error = 0;
    check_say("file, %s", name[way]);
    fill(data, rank, n);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &f));
    write_all_of(f, way, data, n, at);
    OK(MPI_File_close(&f));
    CHECK(check_is_container(path));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_read_at_all(f, at, back, n, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    for (int i = 0; i < n; i++)
        error = fmax(error, fabs((double)data[i] - (double)back[i]));
    check_file(way, n, error);
    free(data);
    free(back);
}

/* In atomic mode nothing is coded twice either. */
static void atomic(enum kind kind, int n)
{
    float *data = check_alloc((size_t)n * 4);
    MPI_File f;
    check_say("atomic, %d elements, kind %d", n, (int)kind);
    for (int i = 0; i < n; i++)
        data[i] = (float)hard_value(kind, rank, i);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    OK(MPI_File_set_atomicity(f, 1));
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * n * 4, data, n, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    double raw = 4.0 * n * ranks, got = raw / (double)check_disk_size(path);
    CHECK_SAY(got > 7.5 && got < 8.44, "ratio %g", got);
    free(data);
}

/* A rank with integers, one with nothing, others with floats in one call: all exact or within the
 * floats' bound. */
static void unlike(void)
{
    float *data = check_alloc(N * 4), *back = check_alloc(N * 4);
    const MPI_Datatype type = rank % 3 == 1 ? MPI_INT : MPI_FLOAT;
    const int n = rank % 3 == 2 ? 0 : N;
    const MPI_Offset at = (MPI_Offset)rank * N * 4;
    MPI_File f;
    check_say("unlike ranks");
    fill(data, rank, N);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, at, data, n, type, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, at, back, n, type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    if (type == MPI_INT && n)
        CHECK_BYTES(back, data, N * 4);
    double bound = bounds_of(path).largest;
    for (int i = 0; i < n && type == MPI_FLOAT; i++)
        CHECK(fabs((double)data[i] - (double)back[i]) <= bound);
    free(data);
    free(back);
}

/* What all ranks sent in compressed messages since `before`. */
static double ratio_since(const struct zmpi_comm_stats *before, int messages)
{
    enum { HEADS = 64 + 80 }; /* of a message and its stream */
    struct zmpi_comm_stats after;
    OK(zmpi_comm_get_stats(MPI_COMM_WORLD, &after));
    double sums[2] = {(double)(after.bytes - before->bytes),
                      (double)(after.bytes_sent - before->bytes_sent)};
    CHECK(after.compressed == before->compressed + 1);
    OK(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sums[0] / (sums[1] - messages * HEADS);
}

static void check_values(const float *got, enum kind kind, int r, int n, bool exact)
{
    struct zmpi_comm_stats stats;
    OK(zmpi_comm_get_stats(MPI_COMM_WORLD, &stats));
    for (int i = 0; i < n; i++) {
        const float want = (float)hard_value(kind, r, i);
        double error = fabs((double)want - (double)got[i]);
        CHECK_SAY(error <= (exact || want > 1e19F ? 0 : stats.ratio_bound),
                  "rank %d's element %d is off by %g, the bound is %g", r, i, error,
                  stats.ratio_bound);
    }
}

/* All that is sent has the ratio together, a rank's own more or less. */
static void gather(int root, enum kind kind, int n)
{
    float *data = check_alloc((size_t)n * 4), *all = check_alloc((size_t)ranks * (size_t)n * 4);
    struct zmpi_comm_stats before = {0};
    check_say("gather of %d to %d, kind %d", n, root, (int)kind);
    for (int i = 0; i < n; i++)
        data[i] = (float)hard_value(kind, rank, i);
    zmpi_comm_get_stats(MPI_COMM_WORLD, &before); /* nothing is known of it at first */
    OK(MPI_Gather(data, n, MPI_FLOAT, all, n, MPI_FLOAT, root, MPI_COMM_WORLD));
    double ratio = ratio_since(&before, (ranks - 1) * ((n * 4 - 1) / (4 << 20) + 1));
    CHECK_SAY(ratio > 8 * 0.95 && ratio < 8 * 1.05, "ratio %g", ratio);
    for (int r = 0; r < ranks && rank == root; r++)
        check_values(all + (size_t)r * (size_t)n, kind, r, n, r == root);
    free(data);
    free(all);
}

/* Each rank's data once around, pieces of them at a time. */
static void allgather(enum kind kind)
{
    enum { PART = 200000 };
    float *all = check_alloc((size_t)ranks * PART * 4);
    struct zmpi_comm_stats before = {0};
    check_say("allgather, kind %d", (int)kind);
    for (int i = 0; i < PART; i++)
        all[(size_t)rank * PART + (size_t)i] = (float)hard_value(kind, rank, i);
    OK(zmpi_comm_get_stats(MPI_COMM_WORLD, &before));
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_FLOAT, all, PART, MPI_FLOAT, MPI_COMM_WORLD));
    double ratio = ratio_since(&before, ranks * (ranks - 1));
    CHECK_SAY(ratio > 8 * 0.95 && ratio < 8 * 1.05, "ratio %g", ratio);
    for (int r = 0; r < ranks; r++)
        check_values(all + (size_t)r * PART, kind, r, PART, false);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int way = 0; way < WAYS; way++)
        file((enum way)way);
    for (int kind = 0; kind < KINDS; kind++)
        atomic((enum kind)kind, 80000);
    unlike();
    for (int kind = 0; kind < KINDS && ranks > 1; kind++) {
        gather(0, (enum kind)kind, 20000);
        gather(ranks - 1, (enum kind)kind, N);
        allgather((enum kind)kind);
    }
    if (ranks == 2) /* in several messages */
        gather(1, ROUGH, LARGE);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
