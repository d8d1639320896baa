/*
 * rdwr.c - what a read sees: a rank's own writes at once, those of others after sync-barrier-sync
 * or close, or with no more than a barrier in the next collective call, the last of several writes
 * to the same bytes, on any number of ranks.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 * zmpi-test: large-staging RANKS 2 ENV ZMPI_ERROR_BOUND=lossless
 * zmpi-test: nodes RANKS 3 PRELOAD damage_kernels ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 */
#include "check.h"

enum { REGION = 3 << 20, OPERATIONS = 250, SHARED = 1 << 16, ROUNDS = 6 };

static const char path[] = "rdwr.z";

/* ---- a random series of writes, the same wherever it is made ---- */

struct operation {
    size_t offset, bytes;
    MPI_Datatype type;
    int count;
};

static const struct {
    MPI_Datatype type;
    size_t size;
} kinds[] = {{MPI_BYTE, 1},   {MPI_INT, 4},   {MPI_FLOAT, 4},
             {MPI_DOUBLE, 8}, {MPI_SHORT, 2}, {MPI_LONG_LONG, 8}};

/* Mostly small ones next to or over the last; some larger than what is ever held back. */
static struct operation operation_of(uint64_t seed, int k, size_t region)
{
    uint64_t r = check_mix(seed, (uint64_t)k);
    size_t kind = r % 6, count = (r >> 8) % 200 + 1,
           near = (check_mix(seed, (uint64_t)(k / 20)) >> 20) % region;
    if ((r >> 16) % 24 == 0)
        count *= 300;
    struct operation o = {
        .type = kinds[kind].type, .bytes = count * kinds[kind].size, .count = (int)count};
    o.offset = (near + (r >> 24) % 5000) % region;
    if (o.offset + o.bytes > region)
        o.offset = o.bytes < region ? region - o.bytes : 0;
    if (o.bytes > region) {
        o.count = (int)(region / kinds[kind].size);
        o.bytes = (size_t)o.count * kinds[kind].size;
    }
    return o;
}

/* Half of the writes are noise, half compress well. */
static void operation_data(uint64_t seed, int k, unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = k % 2 ? check_mix(seed + 99, i + (uint64_t)k * 4096)
                              : 0x4010000000000000U + i + (uint64_t)k;
        memcpy(data + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static void region_model(uint64_t seed, unsigned char *model)
{
    memset(model, 0, REGION);
    for (int k = 0; k < OPERATIONS; k++) {
        struct operation o = operation_of(seed, k, REGION);
        operation_data(seed, k, model + o.offset, o.bytes);
    }
}

/* ---- the tests ---- */

static void read_compare(MPI_File file, size_t offset, const unsigned char *should, size_t bytes)
{
    unsigned char *is = check_alloc(bytes);
    MPI_Status status;
    int got;
    memset(is, 0xA5, bytes);
    OK(MPI_File_read_at(file, (MPI_Offset)offset, is, (int)bytes, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(got, bytes);
    CHECK_BYTES(is, should, bytes);
    free(is);
}

/* Each rank in a region of its own: after every few writes something of what was written is read
 * back. */
static void own_writes(MPI_File file, int rank)
{
    unsigned char *model = calloc(1, REGION), *data = check_alloc(REGION);
    const uint64_t seed = 7 + (uint64_t)rank;
    const size_t base = (size_t)rank * REGION;
    size_t top = 0;
    CHECK(model);
    for (int k = 0; k < OPERATIONS; k++) {
        struct operation o = operation_of(seed, k, REGION);
        check_say("operation %d, %zu bytes at %zu", k, o.bytes, o.offset);
        operation_data(seed, k, data, o.bytes);
        memcpy(model + o.offset, data, o.bytes);
        OK(MPI_File_write_at(file, (MPI_Offset)(base + o.offset), data, o.count, o.type,
                             MPI_STATUS_IGNORE));
        top = o.offset + o.bytes > top ? o.offset + o.bytes : top;
        if (check_mix(seed + 1, (uint64_t)k) % 4 == 0) {
            size_t from = o.offset > 3000 ? o.offset - 3000 : 0, end = o.offset + o.bytes + 3000;
            end = end < top ? end : top;
            read_compare(file, base + from, model + from, end - from);
        }
    }
    check_say("own region");
    read_compare(file, base, model, top);
    free(model);
    free(data);
}

/* Everything, region by region; the end of the last region may be behind the end of the file. */
static void all_regions(MPI_File file, int ranks, const char *when)
{
    unsigned char *model = check_alloc(REGION);
    MPI_Offset size;
    OK(MPI_File_get_size(file, &size));
    for (int r = 0; r < ranks; r++) {
        check_say("%s, the region of rank %d", when, r);
        region_model(7 + (uint64_t)r, model);
        MPI_Offset left = size - (MPI_Offset)r * REGION;
        CHECK(left > 0);
        read_compare(file, (size_t)r * REGION, model, left < REGION ? (size_t)left : REGION);
    }
    free(model);
}

/* Others open it: each rank alone, all at once; then every second rank together. */
static void other_communicators(int rank, int ranks)
{
    MPI_File file;
    MPI_Comm some;
    OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    all_regions(file, ranks, "opened by one rank");
    OK(MPI_File_close(&file));
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &some);
    OK(MPI_File_open(some, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    all_regions(file, ranks, "opened by every second rank");
    OK(MPI_File_close(&file));
    MPI_Comm_free(&some);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All write stripes together, then one rank writes pieces over them; all must see the last of all
 * rounds. */
static void shared_rounds(MPI_File file, int rank, int ranks)
{
    unsigned char *model = calloc(1, SHARED), *data = check_alloc(SHARED);
    CHECK(model);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t seed = 100 + (uint64_t)round;
        const size_t stripe = (size_t)(SHARED / 2 / ranks) & ~(size_t)7,
                     from = (size_t)round * 1000;
        for (int r = 0; r < ranks; r++) {
            operation_data(seed, r, data, stripe);
            memcpy(model + from + (size_t)r * stripe, data, stripe);
        }
        operation_data(seed, rank, data, stripe);
        OK(MPI_File_write_at_all(file, (MPI_Offset)(from + (size_t)rank * stripe), data,
                                 (int)stripe / 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
        check_say("round %d, own stripe", round);
        read_compare(file, from + (size_t)rank * stripe, data, stripe);
        check_sync(file, MPI_COMM_WORLD);
        for (int k = 0; k < 20; k++) {
            struct operation o = operation_of(seed, k, SHARED);
            operation_data(seed, k, data, o.bytes);
            memcpy(model + o.offset, data, o.bytes);
            if (rank == round % ranks)
                OK(MPI_File_write_at(file, (MPI_Offset)o.offset, data, o.count, o.type,
                                     MPI_STATUS_IGNORE));
        }
        check_sync(file, MPI_COMM_WORLD);
        MPI_Offset size;
        OK(MPI_File_get_size(file, &size));
        CHECK(size <= SHARED && size >= SHARED / 2);
        check_say("round %d", round);
        read_compare(file, 0, model, (size_t)size);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody reads what the next round writes */
    }
    free(model);
    free(data);
}

/* Several files at once keep apart, and a handle that was closed may come back for another file. */
static void several_files(int rank, int ranks)
{
    enum { FILES = 5, N = 1000 };
    MPI_File file[FILES];
    char name[FILES][24];
    int data[N], back[N];
    for (int k = 0; k < FILES; k++) {
        snprintf(name[k], sizeof name[k], "several%d.z", k);
        check_remove(name[k], MPI_COMM_WORLD);
        OK(MPI_File_open(MPI_COMM_WORLD, name[k], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                         &file[k]));
        OK(MPI_File_set_view(file[k], (MPI_Offset)rank * (MPI_Offset)sizeof data, MPI_INT, MPI_INT,
                             "native", MPI_INFO_NULL));
    }
    for (int i = 0; i < N; i += 100)
        for (int k = 0; k < FILES; k++) {
            for (int j = 0; j < 100; j++)
                data[j] = k * 10000 + rank * 1000 + i + j;
            OK(MPI_File_write(file[k], data, 100, MPI_INT, MPI_STATUS_IGNORE));
        }
    OK(MPI_File_close(&file[2]));
    check_remove(name[2], MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, name[2], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &file[2]));
    MPI_Offset size;
    OK(MPI_File_get_size(file[2], &size));
    CHECK_EQUAL(size, 0);
    for (int k = FILES - 1; k >= 0; k--) {
        check_say("file %d of several", k);
        check_sync(file[k], MPI_COMM_WORLD);
        OK(MPI_File_get_size(file[k], &size));
        CHECK_EQUAL(size, k == 2 ? 0 : ranks * (long long)sizeof data);
        OK(MPI_File_seek(file[k], 0, MPI_SEEK_SET));
        OK(MPI_File_read(file[k], back, k == 2 ? 0 : N, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 0; i < N && k != 2; i++)
            CHECK_EQUAL(back[i], k * 10000 + rank * 1000 + i);
        OK(MPI_File_close(&file[k]));
        check_remove(name[k], MPI_COMM_WORLD);
    }
}

/* Several slots of each rank (architecture.md, 5), filled to unlike parts by writes that are not
 * held back. */
static void slots(int rank, int ranks)
{
    enum {
        LARGE = 256 << 10,
        PIECES = 15,
        SMALL = 70000,
        SMALL_PIECES = 40,
        SHARE = PIECES * LARGE
    };
    unsigned char *data = check_alloc(LARGE);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (int k = 0; k < (rank % 2 ? SMALL_PIECES : PIECES); k++) {
        const int bytes = rank % 2 ? SMALL : LARGE;
        operation_data(200 + (uint64_t)rank, 2 * k + 1, data, (size_t)bytes);
        OK(MPI_File_write_at(file, (MPI_Offset)rank * SHARE + k * bytes, data, bytes, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    }
    check_sync(file, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int k = 0; k < (r % 2 ? SMALL_PIECES : PIECES); k++) {
            const size_t bytes = r % 2 ? SMALL : LARGE;
            check_say("slots of rank %d, piece %d", r, k);
            operation_data(200 + (uint64_t)r, 2 * k + 1, data, bytes);
            read_compare(file, (size_t)r * SHARE + (size_t)k * bytes, data, bytes);
        }
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
    free(data);
}

/* ---- others' writes, without a sync ---- */

enum { WAYS = 9, STRIPE = 3000 };

/* In the way `way`; at is in doubles. */
static void read_stripe(MPI_File file, int way, MPI_Offset at, double *is)
{
    MPI_Status status;
    int got;
    if (way == 1 || way == 4)
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
    if (way >= 5 && way <= 7)
        OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    switch (way) {
    case 0:
        OK(MPI_File_read_at_all(file, at, is, STRIPE, MPI_DOUBLE, &status));
        break;
    case 1:
        OK(MPI_File_read_all(file, is, STRIPE, MPI_DOUBLE, &status));
        break;
    case 2:
        OK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
        OK(MPI_File_read_at(file, at, is, STRIPE, MPI_DOUBLE, &status));
        break;
    case 3:
        OK(MPI_File_read_at_all_begin(file, at, is, STRIPE, MPI_DOUBLE));
        OK(MPI_File_read_at_all_end(file, is, &status));
        break;
    case 4:
        OK(MPI_File_read_all_begin(file, is, STRIPE, MPI_DOUBLE));
        OK(MPI_File_read_all_end(file, is, &status));
        break;
    case 5:
        OK(MPI_File_read_shared(file, is, STRIPE, MPI_DOUBLE, &status));
        break;
    case 6:
        OK(MPI_File_read_ordered(file, is, STRIPE, MPI_DOUBLE, &status));
        break;
    case 7:
        OK(MPI_File_read_ordered_begin(file, is, STRIPE, MPI_DOUBLE));
        OK(MPI_File_read_ordered_end(file, is, &status));
        break;
    default: /* a rank that reads nothing takes part */
        OK(MPI_File_read_at_all(file, at, is, at ? STRIPE : 0, MPI_DOUBLE, &status));
        if (!at)
            return;
    }
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    CHECK_EQUAL(got, STRIPE);
}

/* Each rank writes a stripe, and reads one of another rank (by the shared pointer: any) behind a
 * barrier. Programs do so, ROMIO's shared_fp among them: it is right with every MPI library on one
 * machine. */
static void without_sync(int rank, int ranks)
{
    double data[STRIPE], is[STRIPE];
    MPI_File file;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    for (int way = 0; way < WAYS; way++) {
        const int other = (rank + 1) % ranks;
        for (int i = 0; i < STRIPE; i++)
            data[i] = way * 1e6 + rank * 1e5 + i;
        OK(MPI_File_write_at(file, (MPI_Offset)rank * STRIPE, data, STRIPE, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        check_say("without a sync, way %d", way);
        memset(is, 0, sizeof is);
        read_stripe(file, way, (MPI_Offset)other * STRIPE, is);
        int from = way >= 5 && way <= 7 ? (int)(is[0] - way * 1e6) / 100000 : other;
        CHECK(from >= 0 && from < ranks);
        for (int i = 0; i < STRIPE && !(way == WAYS - 1 && other == 0); i++)
            CHECK_EQUAL(is[i], way * 1e6 + from * 1e5 + i);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody reads what comes next */
    }
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    own_writes(file, rank);
    check_sync(file, MPI_COMM_WORLD);
    all_regions(file, ranks, "after sync");
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    other_communicators(rank, ranks);

    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    shared_rounds(file, rank, ranks);
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);

    slots(rank, ranks);
    several_files(rank, ranks);
    without_sync(rank, ranks);
    MPI_Finalize();
    return 0;
}
