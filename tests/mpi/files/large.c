/*
 * large.c - more than 4 GiB in one call on one rank: no size may pass through 32 bits.
 *
 * zmpi-test: collective RANKS 2 TIMEOUT 300 ARGS collective ENV ZMPI_ERROR_BOUND=abs=1e-3
 * zmpi-test: independent RANKS 1 TIMEOUT 300 ARGS independent ENV ZMPI_ERROR_BOUND=abs=1e-3
 */
#include "check.h"

#include <math.h>
#include <sys/mman.h>

#define GIB    ((size_t)1 << 30)
#define BYTES  (5 * GIB)
#define COUNT  (BYTES / sizeof(double))
#define BEHIND 1000 /* doubles that the last rank writes behind the large block */

static const char path[] = "large.z";

/* Around 2 and 4 GiB, where 32 bits end, and at both ends. The pages between are never touched. */
static const size_t spots[] = {0,           12345,           GIB / 8,     2 * GIB / 8 - 1,
                               2 * GIB / 8, 4 * GIB / 8 - 1, 4 * GIB / 8, COUNT - 1};
enum { SPOTS = sizeof spots / sizeof *spots };

static bool memory_is_short(void)
{
    char line[100];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib < (16ULL << 20);
}

static void write_large(bool collective, int rank, int ranks)
{
    MPI_Datatype mebi;
    MPI_File file;
    MPI_Status status;
    MPI_Count elements;
    MPI_Offset at;
    double *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    double few[BEHIND];
    CHECK(data != MAP_FAILED);
    for (int i = 0; i < SPOTS; i++)
        data[spots[i]] = 100 + i;
    for (int i = 0; i < BEHIND; i++)
        few[i] = i;
    MPI_Type_contiguous(1 << 17, MPI_DOUBLE, &mebi);
    MPI_Type_commit(&mebi);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    int count = rank == 0 ? (int)(BYTES >> 20) : 0;
    if (collective)
        OK(MPI_File_write_all(file, data, count, mebi, &status));
    else
        OK(MPI_File_write(file, data, count, mebi, &status));
    MPI_Get_elements_x(&status, mebi, &elements);
    CHECK_EQUAL(elements, rank == 0 ? COUNT : 0);
    OK(MPI_File_get_position(file, &at));
    CHECK_EQUAL(at, rank == 0 ? BYTES : 0);
    if (rank == ranks - 1)
        OK(MPI_File_write_at(file, (MPI_Offset)BYTES, few, BEHIND, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    MPI_Type_free(&mebi);
    munmap(data, BYTES);
}

static void check_near(const double *is, double should)
{
    CHECK_SAY(fabs(*is - should) <= 1e-3, "%g, not %g", *is, should);
}

/* Pieces around each spot, and one call that spans them all through a view. */
static void check_pieces(void)
{
    enum { AROUND = 50 };
    double piece[2 * AROUND + 1], strided[20];
    MPI_File file;
    MPI_Offset size, at;
    MPI_Datatype type;
    MPI_Status status;
    int got;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, BYTES + BEHIND * sizeof(double));
    for (int s = 0; s < SPOTS; s++) {
        size_t first = spots[s] < AROUND ? 0 : spots[s] - AROUND;
        check_say("around element %zu", spots[s]);
        OK(MPI_File_read_at_all(file, (MPI_Offset)(first * 8), piece, 2 * AROUND + 1, MPI_DOUBLE,
                                MPI_STATUS_IGNORE));
        for (size_t i = 0; i <= 2 * AROUND; i++) {
            double should = first + i >= COUNT ? (double)(first + i - COUNT) : 0;
            for (int k = 0; k < SPOTS; k++)
                should = first + i == spots[k] ? 100 + k : should;
            check_near(&piece[i], should);
        }
    }
    /* One double of every 256 MiB. */
    check_say("strided");
    MPI_Type_create_resized(MPI_DOUBLE, 0, (MPI_Aint)(GIB / 4), &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(file, 19, &at));
    CHECK_EQUAL(at, 19 * (GIB / 4));
    OK(MPI_File_read_at_all(file, 0, strided, 20, MPI_DOUBLE, &status));
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    CHECK_EQUAL(got, 20);
    for (int i = 0; i < 20; i++)
        check_near(&strided[i], i == 0 ? 100 : i == 4 ? 102 : i == 8 ? 104 : i == 16 ? 106 : 0);
    MPI_Type_free(&type);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    int skip = memory_is_short();
    MPI_Init(&argc, &argv);
    MPI_Allreduce(MPI_IN_PLACE, &skip, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (skip) {
        MPI_Finalize();
        return 77;
    }
    bool collective = argc > 1 && strcmp(argv[1], "collective") == 0;
    check_remove(path, MPI_COMM_WORLD);
    write_large(collective, check_rank(MPI_COMM_WORLD), check_ranks(MPI_COMM_WORLD));
    CHECK(check_is_container(path));
    CHECK(check_disk_size(path) < 1LL << 30);
    check_pieces();
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
