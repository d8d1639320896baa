/*
 * large_counts.c - datatypes made by MPI 4's calls of large counts (MPI_Type_vector_c and others)
 * are what those of the same numbers by the older calls are: in views and in memory.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_FILES=*.z
 */
#include "check.h"

#if MPI_VERSION < 4

int main(void)
{
    return 77; /* this MPI has no such calls */
}

#else

enum { ALL = 1 << 14, LARGEST = 6 };

static int rank, ranks;

/* Both types of one constructor: by int and by MPI_Count. */
typedef void make_types(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large);

static void contiguous(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    OK(MPI_Type_contiguous(7, b, old));
    OK(MPI_Type_contiguous_c(7, b, large));
}

static void vector(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    OK(MPI_Type_vector(3, 2, 5, b, old));
    OK(MPI_Type_vector_c(3, 2, 5, b, large));
}

static void hvector(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    OK(MPI_Type_create_hvector(3, 2, 40, b, old));
    OK(MPI_Type_create_hvector_c(3, 2, 40, b, large));
}

static void indexed(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const int length[3] = {2, 1, 3}, place[3] = {1, 4, 6};
    const MPI_Count lengths[3] = {2, 1, 3}, places[3] = {1, 4, 6};
    OK(MPI_Type_indexed(3, length, place, b, old));
    OK(MPI_Type_indexed_c(3, lengths, places, b, large));
}

static void hindexed(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const int length[3] = {2, 1, 3};
    const MPI_Aint place[3] = {3, 33, 61};
    const MPI_Count lengths[3] = {2, 1, 3}, places[3] = {3, 33, 61};
    OK(MPI_Type_create_hindexed(3, length, place, b, old));
    OK(MPI_Type_create_hindexed_c(3, lengths, places, b, large));
}

static void indexed_block(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const int place[3] = {0, 3, 8};
    const MPI_Count places[3] = {0, 3, 8};
    OK(MPI_Type_create_indexed_block(3, 2, place, b, old));
    OK(MPI_Type_create_indexed_block_c(3, 2, places, b, large));
}

static void hindexed_block(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const MPI_Aint place[3] = {0, 21, 50};
    const MPI_Count places[3] = {0, 21, 50};
    OK(MPI_Type_create_hindexed_block(3, 2, place, b, old));
    OK(MPI_Type_create_hindexed_block_c(3, 2, places, b, large));
}

static void structure(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const int length[3] = {1, 2, 3};
    const MPI_Aint place[3] = {0, 12, 40};
    const MPI_Count lengths[3] = {1, 2, 3}, places[3] = {0, 12, 40};
    const MPI_Datatype type[3] = {b, MPI_CHAR, b};
    OK(MPI_Type_create_struct(3, length, place, type, old));
    OK(MPI_Type_create_struct_c(3, lengths, places, type, large));
}

static void subarray(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const int size[3] = {3, 4, 5}, part[3] = {2, 3, 2}, start[3] = {1, 0, 3};
    const MPI_Count sizes[3] = {3, 4, 5}, parts[3] = {2, 3, 2}, starts[3] = {1, 0, 3};
    OK(MPI_Type_create_subarray(3, size, part, start, MPI_ORDER_FORTRAN, b, old));
    OK(MPI_Type_create_subarray_c(3, sizes, parts, starts, MPI_ORDER_FORTRAN, b, large));
}

static void darray(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    const int size[2] = {7, 6}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    const int argument[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 2};
    const MPI_Count sizes[2] = {7, 6};
    OK(MPI_Type_create_darray(4, rank, 2, size, how, argument, grid, MPI_ORDER_C, b, old));
    OK(MPI_Type_create_darray_c(4, rank, 2, sizes, how, argument, grid, MPI_ORDER_C, b, large));
}

static void resized(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    MPI_Datatype inner;
    OK(MPI_Type_contiguous(3, b, &inner));
    OK(MPI_Type_create_resized(inner, 0, 44, old));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_contiguous_c(3, b, &inner));
    OK(MPI_Type_create_resized_c(inner, 0, 44, large));
    OK(MPI_Type_free(&inner));
}

/* One of large counts in one of small ones. */
static void nested(MPI_Datatype b, MPI_Datatype *old, MPI_Datatype *large)
{
    MPI_Datatype inner;
    OK(MPI_Type_vector(2, 1, 3, b, &inner));
    OK(MPI_Type_contiguous(3, inner, old));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_vector_c(2, 1, 3, b, &inner));
    OK(MPI_Type_contiguous(3, inner, large));
    OK(MPI_Type_free(&inner));
}

/* Each rank in a part of its own of a file that nobody has written; what is in it then. */
static void write_by(const char *path, MPI_Datatype b, MPI_Datatype view, MPI_Datatype memory,
                     const unsigned char *data, unsigned char *content)
{
    MPI_File file;
    MPI_Offset size;
    check_remove(path, MPI_COMM_WORLD);
    memset(content, 0, ALL);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, rank * (ALL / 4), b, view, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, data, 3, memory, MPI_STATUS_IGNORE));
    check_sync(file, MPI_COMM_WORLD);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_get_size(file, &size));
    CHECK(size > 0 && size <= ALL);
    OK(MPI_File_read_at_all(file, 0, content, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
}

/* The file's view is one that the program may look at, and free. */
static void look_at_view(const char *path, MPI_Datatype b, MPI_Datatype view)
{
    MPI_File file;
    MPI_Datatype etype, filetype;
    MPI_Offset disp;
    MPI_Count size, should;
    char datarep[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 0, b, view, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    OK(MPI_Type_size_c(filetype, &size));
    OK(MPI_Type_size_c(view, &should));
    CHECK_EQUAL(size, should);
    OK(MPI_Type_free(&filetype));
    OK(MPI_File_close(&file));
}

static void constructor(const char *name, make_types *make)
{
    static unsigned char data[ALL], by_old[ALL], by_large[ALL];
    MPI_Datatype old, large;
    make(MPI_FLOAT, &old, &large);
    OK(MPI_Type_commit(&old));
    OK(MPI_Type_commit(&large));
    for (int i = 0; i < ALL; i++)
        data[i] = (unsigned char)(check_mix((uint64_t)rank, (uint64_t)i) | 1);
    check_say("%s", name);
    write_by("old.z", MPI_BYTE, old, old, data, by_old);
    write_by("large.z", MPI_BYTE, large, large, data, by_large);
    CHECK_BYTES(by_large, by_old, ALL);
    look_at_view("large.z", MPI_BYTE, large);
    OK(MPI_Type_free(&old));
    OK(MPI_Type_free(&large));
}

/* Blocks that are further apart than an int tells, and a count of bytes beyond it. */
static void beyond_int(void)
{
    const MPI_Count apart = (MPI_Count)5 << 30;
    MPI_Datatype view, hole, whole;
    MPI_File file;
    MPI_Offset size;
    char mine[LARGEST], back[2 * LARGEST] = "";
    check_say("beyond int");
    check_remove("far.z", MPI_COMM_WORLD);
    memset(mine, 'a' + rank, sizeof mine);
    OK(MPI_Type_vector_c(2, LARGEST / 2, apart, MPI_CHAR, &view));
    OK(MPI_Type_commit(&view));
    OK(MPI_File_open(MPI_COMM_WORLD, "far.z", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_set_view(file, rank * LARGEST, MPI_CHAR, view, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, mine, LARGEST, MPI_CHAR, MPI_STATUS_IGNORE));
    check_sync(file, MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &size));
    CHECK_EQUAL(size, apart + (ranks - 1) * LARGEST + LARGEST / 2);
    /* The same bytes by a hole in front of them. */
    OK(MPI_Type_contiguous_c(apart, MPI_CHAR, &hole));
    OK(MPI_Type_create_resized_c(MPI_CHAR, 0, apart, &whole));
    OK(MPI_Type_commit(&whole));
    OK(MPI_File_set_view(file, rank * LARGEST, MPI_CHAR, whole, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(file, 1, back, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_EQUAL(back[0], 'a' + rank);
    OK(MPI_File_set_view(file, 0, MPI_CHAR, hole, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(file, apart, back, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_EQUAL(back[0], 'a');
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&view));
    OK(MPI_Type_free(&hole));
    OK(MPI_Type_free(&whole));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    constructor("contiguous", contiguous);
    constructor("vector", vector);
    constructor("hvector", hvector);
    constructor("indexed", indexed);
    constructor("hindexed", hindexed);
    constructor("indexed_block", indexed_block);
    constructor("hindexed_block", hindexed_block);
    constructor("struct", structure);
    constructor("subarray", subarray);
    constructor("darray", darray);
    constructor("resized", resized);
    constructor("nested", nested);
    beyond_int();
    OK(MPI_Finalize());
    return 0;
}

#endif
