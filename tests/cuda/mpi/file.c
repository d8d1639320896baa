/*
 * file.c - MPI-IO with buffers in device memory: what is written is what host buffers write, and
 * what is read, wherever it is read to. Contiguous buffers, vectors, subarrays and types without
 * any order; small and large, nonblocking, from MPI_BOTTOM.
 *
 * usage: file host|device|mixed    (file WHO; the reference is always written from host buffers)
 */
#include "device_buffer.h"

#include <math.h>

enum { NZ = 24, NY = 20, NX = 36, HALO = 2 };
enum { PZ = NZ + 2 * HALO, PY = NY + 2 * HALO, PX = NX + 2 * HALO, PADDED = PZ * PY * PX };

static int rank, ranks;
static const char *who;

static float value(int r, size_t i)
{
    return (float)(100 + sin(0.01 * (double)i + r) + 1e-4 * check_unit((uint64_t)r, i));
}

/* A type of floats in a padded array of this rank, and how many floats it takes. */
struct shape {
    const char *name;
    MPI_Datatype type;
    int count;
    size_t data, bytes; /* floats of data, bytes of the buffer */
};

static struct shape contiguous(int n)
{
    return (struct shape){"contiguous", MPI_FLOAT, n, (size_t)n, (size_t)n * 4};
}

static struct shape subarray(void)
{
    struct shape s = {"subarray", MPI_DATATYPE_NULL, 1, NZ * NY * NX, PADDED * sizeof(float)};
    int sizes[3] = {PZ, PY, PX}, sub[3] = {NZ, NY, NX}, at[3] = {HALO, HALO, HALO};
    OK(MPI_Type_create_subarray(3, sizes, sub, at, MPI_ORDER_C, MPI_FLOAT, &s.type));
    OK(MPI_Type_commit(&s.type));
    return s;
}

static struct shape vector(int count)
{
    struct shape s = {"vector", MPI_DATATYPE_NULL, count, (size_t)(count * 500), 0};
    OK(MPI_Type_vector(500, 1, 3, MPI_FLOAT, &s.type));
    OK(MPI_Type_commit(&s.type));
    s.bytes = (size_t)count * 1500 * sizeof(float);
    return s;
}

/* Runs of all lengths, some of them backwards. */
static struct shape irregular(void)
{
    struct shape s = {"irregular", MPI_DATATYPE_NULL, 1, 0, 0};
    int length[60], at[60], place = 0;
    for (int i = 0; i < 60; i++) {
        length[i] = 1 + i * i % 37;
        at[i] = place;
        place += length[i] + i % 4;
        s.data += (size_t)length[i];
    }
    for (int i = 0; i + 1 < 60; i += 7) {
        int other = at[i], n = length[i];
        at[i] = at[i + 1];
        length[i] = length[i + 1];
        at[i + 1] = other;
        length[i + 1] = n;
    }
    OK(MPI_Type_indexed(60, length, at, MPI_FLOAT, &s.type));
    OK(MPI_Type_commit(&s.type));
    s.bytes = (size_t)place * sizeof(float);
    return s;
}

static void forget(struct shape *s)
{
    if (s->type != MPI_FLOAT)
        OK(MPI_Type_free(&s->type));
}

static MPI_File open_file(const char *name)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    return f;
}

enum way { AT, AT_ALL, POINTER, NONBLOCKING, BOTTOM, WAYS };

static void write_by(enum way way, MPI_File f, MPI_Offset at, const struct buffer *b,
                     const struct shape *s)
{
    MPI_Request request;
    MPI_Datatype absolute;
    MPI_Aint address;
    int one = 1;
    if (way == AT) {
        OK(MPI_File_write_at(f, at, b->at, s->count, s->type, MPI_STATUS_IGNORE));
    } else if (way == AT_ALL) {
        OK(MPI_File_write_at_all(f, at, b->at, s->count, s->type, MPI_STATUS_IGNORE));
    } else if (way == POINTER) {
        OK(MPI_File_seek(f, at, MPI_SEEK_SET));
        OK(MPI_File_write_all(f, b->at, s->count, s->type, MPI_STATUS_IGNORE));
    } else if (way == NONBLOCKING) {
        OK(MPI_File_iwrite_at(f, at, b->at, s->count, s->type, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Get_address(b->at, &address));
        OK(MPI_Type_create_hindexed(1, &one, &address, s->type, &absolute));
        OK(MPI_Type_commit(&absolute));
        OK(MPI_File_write_at(f, at, MPI_BOTTOM, 1, absolute, MPI_STATUS_IGNORE));
        OK(MPI_Type_free(&absolute));
    }
}

/* Two files, from host buffers and from this rank's: then each is read to both kinds. */
static void one(struct shape s, enum way way)
{
    const size_t floats = s.bytes / sizeof(float);
    bool device = buffer_on_device(who, rank);
    float *data = check_alloc(s.bytes);
    struct buffer host = buffer_make(s.bytes, false), mine = buffer_make(s.bytes, device);
    MPI_File f[2] = {open_file("host.z"), open_file("mine.z")};
    MPI_Offset at = (MPI_Offset)((size_t)rank * s.data * sizeof(float));
    check_say("%s, way %d, %s", s.name, way, who);
    if (way == BOTTOM)
        s.count = 1;
    for (size_t i = 0; i < floats; i++)
        data[i] = value(rank, i);
    buffer_set(&host, data);
    buffer_set(&mine, data);
    write_by(way, f[0], at, &host, &s);
    write_by(way, f[1], at, &mine, &s);
    check_same(&mine, data, "the program's buffer after the write");
    for (int i = 0; i < 2; i++)
        OK(MPI_File_sync(f[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int reader = 0; reader < 2; reader++) {
        int from = reader ? (rank + 1) % ranks : rank;
        MPI_Offset there = (MPI_Offset)((size_t)from * s.data * sizeof(float));
        buffer_fill(&host, 0x5A);
        buffer_fill(&mine, 0x5A);
        OK(MPI_File_read_at(f[0], there, host.at, s.count, s.type, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(f[1], there, mine.at, s.count, s.type, MPI_STATUS_IGNORE));
        check_same(&mine, host.at, "what was read");
    }
    for (int i = 0; i < 2; i++)
        OK(MPI_File_close(&f[i]));
    if (rank == 0) {
        if (way == AT_ALL || way == POINTER) /* places of the others depend on who was first */
            CHECK_EQUAL(check_disk_size("mine.z"), check_disk_size("host.z"));
        unlink("host.z");
        unlink("mine.z");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    buffer_free(&host);
    buffer_free(&mine);
    free(data);
    forget(&s);
}

/* The same bytes of the file to both kinds of memory. */
static void read_both(MPI_File f, MPI_Offset at, size_t floats)
{
    struct buffer host = buffer_make(floats * sizeof(float), false),
                  mine = buffer_make(floats * sizeof(float), buffer_on_device(who, rank));
    buffer_fill(&host, 0x5A);
    buffer_fill(&mine, 0x5A);
    OK(MPI_File_read_at(f, at, host.at, (int)floats, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(f, at, mine.at, (int)floats, MPI_FLOAT, MPI_STATUS_IGNORE));
    check_same(&mine, host.at, "what was read");
    buffer_free(&host);
    buffer_free(&mine);
}

/* Each rank writes columns; what is read is all rows, some of them, parts of them, and what was
 * never written. */
static void parts(void)
{
    enum { ROWS = 60, COLUMNS = 150 };
    int sizes[2] = {ROWS, COLUMNS * ranks}, sub[2] = {ROWS, COLUMNS}, at[2] = {0, COLUMNS * rank};
    const size_t row = (size_t)(COLUMNS * ranks), all = ROWS * row;
    struct buffer b = buffer_make(ROWS * COLUMNS * sizeof(float), buffer_on_device(who, rank));
    float *data = check_alloc(b.bytes);
    MPI_Datatype columns, rows;
    MPI_File f = open_file("parts.z");
    check_say("parts, %s", who);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        data[i] = value(rank, i);
    buffer_set(&b, data);
    OK(MPI_Type_create_subarray(2, sizes, sub, at, MPI_ORDER_C, MPI_FLOAT, &columns));
    OK(MPI_Type_commit(&columns));
    OK(MPI_Type_vector(ROWS / 3, COLUMNS, 3 * COLUMNS * ranks, MPI_FLOAT, &rows));
    OK(MPI_Type_commit(&rows));
    OK(MPI_File_set_view(f, 0, MPI_FLOAT, columns, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, b.at, ROWS * COLUMNS, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(f, 0, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
    if (rank == 0)
        OK(MPI_File_write_at(f, (MPI_Offset)(2 * all), b.at, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(f));
    read_both(f, 0, all);
    read_both(f, 77, 5 * row);
    read_both(f, (MPI_Offset)(all - 100), all + 200);
    OK(MPI_File_set_view(f, 0, MPI_FLOAT, rows, "native", MPI_INFO_NULL));
    read_both(f, 10, ROWS / 3 * COLUMNS - 20);
    OK(MPI_File_close(&f));
    OK(MPI_Type_free(&columns));
    OK(MPI_Type_free(&rows));
    buffer_free(&b);
    free(data);
}

/* Calls of a field as one row: its shape is found in the data, whoever holds them, and known when
 * the second one comes. */
static void rows(void)
{
    enum { FIELD = NZ * NY * NX, CALLS = 3 };
    struct buffer b = buffer_make(FIELD * sizeof(float), buffer_on_device(who, rank));
    float *data = check_alloc(b.bytes);
    long long size[2];
    check_say("rows, %s", who);
    for (int k = 0; k < 2; k++) {
        MPI_File f = open_file("rows.z");
        for (int call = 0; call < CALLS; call++) {
            for (int i = 0; i < FIELD; i++)
                data[i] = (float)(10 * sin(0.9 * (i % NX)) + sin(0.4 * (i / NX) + call + rank));
            buffer_set(&b, data);
            OK(MPI_File_write_at_all(f, (MPI_Offset)(call * ranks + rank) * FIELD * 4,
                                     k ? b.at : data, FIELD, MPI_FLOAT, MPI_STATUS_IGNORE));
        }
        OK(MPI_File_close(&f));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        size[k] = check_disk_size("rows.z");
        check_remove("rows.z", MPI_COMM_WORLD);
    }
    CHECK_SAY(llabs(size[1] - size[0]) <= size[0] / 50, "%lld bytes, %lld from host buffers",
              size[1], size[0]);
    buffer_free(&b);
    free(data);
}

/* Integers are exact, whoever holds them. */
static void integers(void)
{
    enum { N = 20000 };
    struct buffer b = buffer_make(N * sizeof(int), buffer_on_device(who, rank));
    int *data = check_alloc(b.bytes);
    MPI_File f = open_file("integers.z");
    check_say("integers, %s", who);
    for (int i = 0; i < N; i++)
        data[i] = i * i + rank;
    buffer_set(&b, data);
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 4, b.at, N, MPI_INT, MPI_STATUS_IGNORE));
    buffer_fill(&b, 0);
    OK(MPI_File_read_at(f, (MPI_Offset)rank * N * 4, b.at, N, MPI_INT, MPI_STATUS_IGNORE));
    check_same(&b, data, "integers");
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 4, b.at, N * 4 - 3, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(f, (MPI_Offset)rank * N * 4, b.at, N, MPI_INT, MPI_STATUS_IGNORE));
    check_same(&b, data, "bytes");
    OK(MPI_File_close(&f));
    buffer_free(&b);
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    who = argc > 1 ? argv[1] : "device";
    one(contiguous(6007), AT_ALL);
    one(contiguous(17001), NONBLOCKING);
    one(contiguous(6007), POINTER);
    one(contiguous(100), AT);
    one(contiguous(100), AT_ALL);
    one(subarray(), AT_ALL);
    one(subarray(), NONBLOCKING);
    one(vector(1), BOTTOM);
    one(vector(36), AT);
    one(irregular(), AT_ALL);
    parts();
    rows();
    integers();
    MPI_Finalize();
    return 0;
}
