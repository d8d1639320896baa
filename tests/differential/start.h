/*
 * start.h - template: one data access call. Included by access.c for each form of the calls, with
 * START(what), COUNT and CALL(name) defined. Calls are numbered in the order of calls[].
 */
static int START(write)(int which, MPI_File f, MPI_Offset at, void *buf, COUNT n, MPI_Datatype t,
                        MPI_Status *status, MPI_Request *request)
{
    switch (which) {
    case 0:
        return CALL(write_at)(f, at, buf, n, t, status);
    case 1:
        return CALL(write_at_all)(f, at, buf, n, t, status);
    case 2:
        return CALL(iwrite_at)(f, at, buf, n, t, request);
    case 3:
        return CALL(iwrite_at_all)(f, at, buf, n, t, request);
    case 4:
        return CALL(write_at_all_begin)(f, at, buf, n, t);
    case 5:
        return CALL(write)(f, buf, n, t, status);
    case 6:
        return CALL(write_all)(f, buf, n, t, status);
    case 7:
        return CALL(iwrite)(f, buf, n, t, request);
    case 8:
        return CALL(iwrite_all)(f, buf, n, t, request);
    case 9:
        return CALL(write_all_begin)(f, buf, n, t);
    case 10:
        return CALL(write_shared)(f, buf, n, t, status);
    case 11:
        return CALL(write_ordered)(f, buf, n, t, status);
    case 12:
        return CALL(iwrite_shared)(f, buf, n, t, request);
    default:
        return CALL(write_ordered_begin)(f, buf, n, t);
    }
}

static int START(read)(int which, MPI_File f, MPI_Offset at, void *buf, COUNT n, MPI_Datatype t,
                       MPI_Status *status, MPI_Request *request)
{
    switch (which) {
    case 14:
        return CALL(read_at)(f, at, buf, n, t, status);
    case 15:
        return CALL(read_at_all)(f, at, buf, n, t, status);
    case 16:
        return CALL(iread_at)(f, at, buf, n, t, request);
    case 17:
        return CALL(iread_at_all)(f, at, buf, n, t, request);
    case 18:
        return CALL(read_at_all_begin)(f, at, buf, n, t);
    case 19:
        return CALL(read)(f, buf, n, t, status);
    case 20:
        return CALL(read_all)(f, buf, n, t, status);
    case 21:
        return CALL(iread)(f, buf, n, t, request);
    case 22:
        return CALL(iread_all)(f, buf, n, t, request);
    case 23:
        return CALL(read_all_begin)(f, buf, n, t);
    case 24:
        return CALL(read_shared)(f, buf, n, t, status);
    case 25:
        return CALL(read_ordered)(f, buf, n, t, status);
    case 26:
        return CALL(iread_shared)(f, buf, n, t, request);
    default:
        return CALL(read_ordered_begin)(f, buf, n, t);
    }
}

static int START(call)(int which, MPI_File f, MPI_Offset at, void *buf, COUNT n, MPI_Datatype t,
                       MPI_Status *status, MPI_Request *request)
{
    return which < 14 ? START(write)(which, f, at, buf, n, t, status, request)
                      : START(read)(which, f, at, buf, n, t, status, request);
}

#undef START
#undef COUNT
#undef CALL
