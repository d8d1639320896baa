/*
 * bounds.c - bounds that are no largest error: pointwise relative, for every value; and a PSNR, of
 * all ranks' data in collective calls and of each independent call's. In files and in MPI_Gather.
 *
 * zmpi-test: RANKS 1,2,3,4 ARGS pw_rel ENV ZMPI_ERROR_BOUND=pw_rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 * zmpi-test: psnr RANKS 1,2,3,4 ARGS psnr ENV ZMPI_ERROR_BOUND=psnr=60 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <math.h>

enum { N = 24000, CALLS = 8, PIECE = N / CALLS };

static const char path[] = "bounds.z";
static bool relative;
static int rank, ranks;

/* Ranks differ by orders of magnitude; one value in 100 is nothing to be rounded. */
static double value(int r, int i)
{
    static const double special[] = {NAN, -INFINITY, -0.0, 0.0, 1e35, 1e-310};
    if (i % 100 == 7)
        return special[i / 100 % 6];
    return pow(10, r) * (sin(i * 1e-3) + 0.01 * check_unit((uint64_t)r + 1, (uint64_t)i));
}

static void fill(void *dst, bool wide, int r)
{
    for (int i = 0; i < N; i++)
        if (wide)
            ((double *)dst)[i] = value(r, i);
        else
            ((float *)dst)[i] = (float)value(r, i);
}

static double get(const void *src, bool wide, int i)
{
    return wide ? ((const double *)src)[i] : (double)((const float *)src)[i];
}

/* What a PSNR is made of. */
struct noise {
    double low, high, squares, count;
};

static const struct noise silence = {INFINITY, -INFINITY, 0, 0};

/* Values [from, from + n) of one rank as they came back, against what they were. */
static int compare(struct noise *noise, const void *is, const void *should, bool wide, int from,
                   int n)
{
    int changed = 0;
    for (int i = from; i < from + n; i++) {
        double x = get(should, wide, i), y = get(is, wide, i);
        size_t width = wide ? 8 : 4, at = (size_t)i * width;
        bool same = memcmp((const char *)is + at, (const char *)should + at, width) == 0;
        bool plain = fabs(x) < 1e20; /* false for NaN and fill values */
        changed += !same;
        CHECK_SAY(same || (plain && (x != 0 || !signbit(x))), "element %d is %a, not %a", i, y, x);
        if (!plain)
            continue;
        if (relative)
            CHECK_SAY(fabs(x - y) <= 1e-3 * fabs(x), "element %d is %a, not %a", i, y, x);
        noise->low = fmin(noise->low, x);
        noise->high = fmax(noise->high, x);
        noise->squares += (x - y) * (x - y);
        noise->count++;
    }
    return changed;
}

static void check_noise(const struct noise *n)
{
    double range = n->high - n->low;
    double ratio = 10 * log10(range * range * n->count / n->squares);
    if (!relative)
        CHECK_SAY(n->squares <= 0 || ratio >= 60, "PSNR %.3f", ratio);
}

static void check_changed(int changed, int all)
{
    CHECK_SAY(changed > all / 3, "only %d of %d values changed: was anything lossy?", changed, all);
}

static void file(bool wide, bool collective)
{
    const MPI_Datatype type = wide ? MPI_DOUBLE : MPI_FLOAT;
    const size_t width = wide ? 8 : 4;
    const MPI_Offset bytes = (MPI_Offset)(N * width);
    char *data = check_alloc(N * width), *back = check_alloc(N * width);
    struct noise all = silence;
    MPI_File f;
    int changed = 0;
    check_say("file, %s, %s", wide ? "double" : "float", collective ? "collective" : "independent");
    fill(data, wide, rank);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    if (collective)
        OK(MPI_File_write_at_all(f, rank * bytes, data, N, type, MPI_STATUS_IGNORE));
    for (int i = 0; i < N && !collective; i += PIECE)
        OK(MPI_File_write_at(f, rank * bytes + i * (MPI_Offset)width, data + (size_t)i * width,
                             PIECE, type, MPI_STATUS_IGNORE));
    check_sync(f, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at_all(f, r * bytes, back, N, type, MPI_STATUS_IGNORE));
        fill(data, wide, r);
        for (int i = 0; i < N; i += PIECE) {
            struct noise own = silence, *noise = collective ? &all : &own;
            changed += compare(noise, back, data, wide, i, PIECE);
            if (!collective)
                check_noise(noise);
        }
    }
    if (collective)
        check_noise(&all);
    check_changed(changed, relative || !collective ? ranks * N : N);
    OK(MPI_File_close(&f));
    CHECK(check_is_container(path));
    CHECK(check_disk_size(path) < ranks * bytes * 3 / 4);
    free(data);
    free(back);
}

static void gather(bool wide, int root)
{
    const MPI_Datatype type = wide ? MPI_DOUBLE : MPI_FLOAT;
    const size_t bytes = N * (size_t)(wide ? 8 : 4);
    char *data = check_alloc(bytes), *all = check_alloc(bytes * (size_t)ranks);
    struct noise noise = silence;
    int changed = 0;
    check_say("gather to %d, %s", root, wide ? "double" : "float");
    fill(data, wide, rank);
    OK(MPI_Gather(data, N, type, all, N, type, root, MPI_COMM_WORLD));
    for (int r = 0; r < ranks && rank == root; r++) {
        fill(data, wide, r);
        changed += compare(&noise, all + (size_t)r * bytes, data, wide, 0, N);
    }
    if (rank == root && ranks > 1) {
        check_noise(&noise);
        check_changed(changed, relative ? (ranks - 1) * N : N);
    }
    free(data);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK(argc > 1);
    relative = strcmp(argv[1], "pw_rel") == 0;
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int way = 0; way < 4; way++)
        file(way & 1, way & 2);
    for (int root = 0; root < ranks; root++)
        for (int wide = 0; wide < 2; wide++)
            gather(wide, root);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
