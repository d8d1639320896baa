/*
 * views_forbidden.c - a filetype that MPI forbids is refused by MPI_File_set_view, and the view
 * before it stays; what MPI allows is not.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=abs=1e-3
 */
#include "check.h"

enum { N = 4 };

static MPI_Datatype blocks(int length, const int at[N])
{
    MPI_Datatype type;
    MPI_Type_create_indexed_block(N, length, at, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void set(MPI_File file, int length, const int at[N], bool allowed)
{
    MPI_Datatype type = blocks(length, at);
    int class = MPI_SUCCESS,
        rc = MPI_File_set_view(file, 0, MPI_FLOAT, type, "native", MPI_INFO_NULL);
    MPI_Error_class(rc, &class);
    CHECK_SAY(class == (allowed ? MPI_SUCCESS : MPI_ERR_ARG), "class %d", class);
    MPI_Type_free(&type);
}

static void all_views(MPI_File file, bool written)
{
    check_say("decreasing");
    set(file, 2, (int[N]){9, 6, 3, 0}, false);
    check_say("decreasing at the end");
    set(file, 2, (int[N]){0, 3, 9, 6}, false);
    check_say("decreasing, neighbours");
    set(file, 1, (int[N]){3, 2, 1, 0}, false);
    check_say("overlapping");
    set(file, 2, (int[N]){0, 3, 4, 9}, !written);
    check_say("equal");
    set(file, 2, (int[N]){0, 3, 3, 9}, !written);
    check_say("increasing");
    set(file, 2, (int[N]){0, 3, 6, 9}, true);
}

int main(int argc, char **argv)
{
    static const float data[2 * N] = {1, 2, 3, 4, 5, 6, 7, 8};
    float back[2 * N] = {0};
    MPI_Datatype type;
    MPI_File file;
    OK(MPI_Init(&argc, &argv));
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, "forbidden.z", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file));
    all_views(file, true);
    check_say("the view before stays");
    OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof data, MPI_FLOAT, MPI_FLOAT, "native",
                         MPI_INFO_NULL));
    set(file, 2, (int[N]){9, 6, 3, 0}, false);
    OK(MPI_File_write_at_all(file, 0, data, 2 * N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, "forbidden.z", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    all_views(file, false);
    check_say("ranks that interleave");
    MPI_Type_create_resized(MPI_FLOAT, 0, ranks * (MPI_Aint)sizeof(float), &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(float), MPI_FLOAT, type, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_read_at_all(file, 0, back, 2 * N, MPI_FLOAT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * N; i++)
        CHECK(back[i] > 0.99 + (i * ranks + rank) % (2 * N) &&
              back[i] < 1.01 + (i * ranks + rank) % (2 * N));
    MPI_Type_free(&type);
    OK(MPI_File_close(&file));
    OK(MPI_Finalize());
    return 0;
}
