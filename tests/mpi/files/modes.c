/*
 * modes.c - how a file may be opened, what each mode forbids, and what a call with wrong arguments
 * returns.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 */
#include "check.h"

enum { N = 1000 };

static const char path[] = "modes.z";

static MPI_File open_file(int mode)
{
    MPI_File file;
    int is;
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    OK(MPI_File_get_amode(file, &is));
    CHECK_EQUAL(is, mode);
    return file;
}

static void fill(float *data, int rank)
{
    for (int i = 0; i < N; i++)
        data[i] = (float)(rank * N + i);
}

static void check_file(int rank)
{
    float should[N], is[N];
    MPI_File file = open_file(MPI_MODE_RDONLY);
    fill(should, rank);
    OK(MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof is, is, N, MPI_FLOAT,
                            MPI_STATUS_IGNORE));
    CHECK_BYTES(is, should, sizeof is);
    OK(MPI_File_close(&file));
}

static void create(int rank)
{
    float data[N];
    MPI_File file = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL);
    fill(data, rank);
    check_say("write only");
    OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof data, data, N, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_File_read_at(file, 0, data, N, MPI_FLOAT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_read_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    check_file(rank);
}

static void exclusive(void)
{
    MPI_File file;
    check_say("MPI_MODE_EXCL");
    int class,
        rc = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL,
                           MPI_INFO_NULL, &file);
    MPI_Error_class(rc, &class);
    CHECK(class != MPI_SUCCESS); /* MPI_ERR_FILE_EXISTS, but OMPIO has another */
    check_say("no such file");
    rc = MPI_File_open(MPI_COMM_WORLD, "nothing.z", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Error_class(rc, &class);
    CHECK(class != MPI_SUCCESS);
    CHECK_EQUAL(check_disk_size("nothing.z"), -1);
}

static void read_only(int rank)
{
    float data[N] = {0};
    MPI_File file = open_file(MPI_MODE_RDONLY);
    check_say("read only");
    CHECK_CLASS(MPI_File_write_at(file, 0, data, N, MPI_FLOAT, MPI_STATUS_IGNORE),
                MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_write(file, data, 1, MPI_FLOAT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, data, N, MPI_FLOAT, MPI_STATUS_IGNORE),
                MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_write_all(file, data, rank == 0, MPI_FLOAT, MPI_STATUS_IGNORE),
                MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(file, 1 << 20), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&file));
    check_file(rank);
}

/* Only the shared pointer moves there. */
static void sequential(void)
{
    MPI_Offset at;
    MPI_Request request;
    float data[2];
    MPI_File file = open_file(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    check_say("sequential");
    const int not = MPI_ERR_UNSUPPORTED_OPERATION;
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 1, MPI_FLOAT, MPI_STATUS_IGNORE), not );
    CHECK_CLASS(MPI_File_read_all(file, data, 1, MPI_FLOAT, MPI_STATUS_IGNORE), not );
    CHECK_CLASS(MPI_File_iread(file, data, 1, MPI_FLOAT, &request), not );
    CHECK_CLASS(MPI_File_read_at_all_begin(file, 0, data, 1, MPI_FLOAT), not );
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), not );
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), not );
    CHECK_CLASS(MPI_File_get_position(file, &at), not );
    CHECK_CLASS(MPI_File_get_position_shared(file, &at), not );
    CHECK_CLASS(MPI_File_get_byte_offset(file, 0, &at), not );
    OK(MPI_File_read_ordered(file, data, 1, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK(data[0] == (float)check_rank(MPI_COMM_WORLD));
    OK(MPI_File_close(&file));
}

/* The file's handler is asked, not that of MPI_COMM_WORLD, which would end the job. */
static void no_types(MPI_File file)
{
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    float data[1] = {0};
    MPI_Aint extent;
    MPI_Request request;
    check_say("no datatype, and nowhere to put what is asked for");
    CHECK_CLASS(MPI_File_get_type_extent(file, none, &extent), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 1, none, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_write_at(file, 0, data, 1, none, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_read_shared(file, data, 1, none, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_write_shared(file, data, 1, none, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_write_ordered(file, data, 1, none, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_read_ordered_begin(file, data, 1, none), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_iread_at_all(file, 0, data, 1, none, &request), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(file, 0, none, MPI_FLOAT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_FLOAT, none, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, NULL, MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_get_size(file, NULL), MPI_ERR_ARG);
}

/* Wrong on one rank only: the others must come back too. */
static void wrong_arguments(int rank, int ranks)
{
    float data[N], back[2];
    MPI_Datatype pair;
    MPI_Offset at;
    MPI_File file = open_file(MPI_MODE_RDWR);
    fill(data, rank);
    check_say("wrong arguments");
    bool wrong = rank == ranks - 1;
    int rc = MPI_File_write_at_all(file, wrong ? -1 : rank * (MPI_Offset)sizeof data, data, N,
                                   MPI_FLOAT, MPI_STATUS_IGNORE);
    CHECK_CLASS(rc, wrong ? MPI_ERR_ARG : MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_at(file, -5, data, 1, MPI_FLOAT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_at(file, -5, back, 1, MPI_FLOAT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_get_byte_offset(file, -1, &at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, "external32", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    OK(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, "internal", MPI_INFO_NULL));
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    CHECK_CLASS(MPI_File_set_view(file, 0, pair, MPI_FLOAT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, -1, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL),
                MPI_ERR_ARG);
    MPI_Type_free(&pair);
    no_types(file);
    OK(MPI_File_close(&file));
    check_file(rank);
}

/* As MPI alone refuses them. Open MPI calls MPI_COMM_WORLD's handler for a communicator that is
 * none. */
static void refused(void)
{
    MPI_File file;
    check_say("what MPI_File_open refuses");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "refused.z",
                              MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_WRONLY, MPI_INFO_NULL,
                              &file),
                MPI_ERR_AMODE);
#ifdef MPICH_VERSION
    CHECK_CLASS(MPI_File_open(MPI_COMM_NULL, "refused.z", MPI_MODE_CREATE | MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file),
                MPI_ERR_COMM);
#endif
}

/* A type may be freed as soon as the view is set; group and info are the file's. */
static void queries(int ranks)
{
    MPI_Datatype type;
    MPI_Group group;
    MPI_Info info;
    MPI_Aint extent;
    int size, flag;
    char value[100];
    float back[2] = {0};
    MPI_File file = open_file(MPI_MODE_RDONLY);
    check_say("queries");
    MPI_Type_vector(2, 1, 2, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, 4, MPI_FLOAT, type, "native", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, type, &extent));
    CHECK_EQUAL(extent, 12);
    MPI_Type_free(&type);
    OK(MPI_File_read_at_all(file, 0, back, 2, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK(back[0] == 1 && back[1] == 3);
    OK(MPI_File_get_group(file, &group));
    MPI_Group_size(group, &size);
    CHECK_EQUAL(size, ranks);
    MPI_Group_free(&group);
    OK(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "zmpi_error_bound", 99, value, &flag);
    CHECK(flag && strcmp(value, "lossless") == 0);
    MPI_Info_free(&info);
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_EQUAL(flag, 0);
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_close(&file));
}

static void delete (int rank)
{
    float data[N];
    fill(data, rank);
    check_say("MPI_MODE_DELETE_ON_CLOSE");
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof data, data, N, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(check_disk_size(path), -1);

    check_say("MPI_File_delete");
    file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    OK(MPI_File_write_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(check_disk_size(path), -1);
}

/* Rank by rank, each for itself: no collective call of one may wait for another's. */
static void alone(int rank)
{
    char name[30];
    float data[N], back[N];
    MPI_File file;
    check_say("a file of one rank");
    snprintf(name, sizeof name, "modes%d.z", rank);
    unlink(name);
    fill(data, rank);
    for (int k = 0; k <= rank; k++) {
        OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                         &file));
        OK(MPI_File_write_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(file, 0, back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
        CHECK_BYTES(back, data, sizeof data);
        OK(MPI_File_close(&file));
    }
    CHECK(check_is_container(name));
    unlink(name);
}

/* MPI-IO may copy the communicator with the program's attributes; opening a container does so no
 * more often. */
static void attributes(void)
{
    static const char *const names[2] = {"modes.h5", path};
    int key, times[2];
    MPI_Comm comm;
    MPI_File file;
    check_say("attributes");
    OK(MPI_Comm_create_keyval(check_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, key, &key));
    for (int i = 0; i < 2; i++) {
        check_copied = 0;
        OK(MPI_File_open(comm, names[i], MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &file));
        OK(MPI_File_close(&file));
        times[i] = check_copied;
    }
    CHECK_EQUAL(times[1], times[0]);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    create(rank);
    exclusive();
    read_only(rank);
    sequential();
    wrong_arguments(rank, ranks);
    refused();
    queries(ranks);
    delete (rank);
    alone(rank);
    attributes();
    MPI_Finalize();
    return 0;
}
