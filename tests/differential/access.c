/* access.c - one data access on both files: buffers, the call, its completion, what came of it. */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#define START(what) start_##what
#define COUNT       int
#define CALL(name)  MPI_File_##name
#include "start.h"

#if MPI_VERSION >= 4
#define START(what) start_large_##what
#define COUNT       MPI_Count
#define CALL(name)  MPI_File_##name##_c
#include "start.h"
#endif

enum { GUARD = 32 }; /* bytes on both sides of a buffer that nobody may touch */

/* What lies in memory where nothing is to be read or written. */
static void wipe(unsigned char *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 7 + 3);
}

/* Returns the data in a row. */
static const unsigned char *make_buffers(struct flight *x, const struct model *m,
                                         const struct line *l, const struct move *v, int rank)
{
    static unsigned char packed[ACCESS_BYTES];
    const struct type *t = type_get(&m->types, v->type);
    const struct file *f = &m->file[m->handle[x->handle].file];
    int64_t low, high;
    type_span(t, v->count, &low, &high);
    x->size = high - low + 2 * GUARD;
    x->origin = GUARD - low;
    x->model = need(malloc((size_t)x->size));
    wipe(x->model, x->size);
    for (int i = 0; i < 2; i++) {
        x->buffer[i] = need(malloc((size_t)x->size));
        wipe(x->buffer[i], x->size);
    }
    if (x->call->writes)
        move_data(m, l, v, rank, packed);
    else
        for (int64_t i = 0; i < v->available; i++)
            packed[i] = f->byte[v->offset[i]].value;
    type_scatter(t, v->count, x->model + x->origin, packed, v->available);
    for (int i = 0; i < 2 && x->call->writes; i++)
        memcpy(x->buffer[i], x->model, (size_t)x->size);
    return packed;
}

/* The arguments of one side: the buffer's address may be in the datatype. */
static void *arguments(struct flight *x, int side, MPI_Count *count, MPI_Datatype *type)
{
    unsigned char *origin = x->buffer[side] + x->origin;
    *count = x->count;
    *type = x->type;
    if (!(x->flags & BOTTOM))
        return origin;
    MPI_Aint address;
    int n = (int)x->count;
    MPI_Get_address(origin, &address);
    MPI_Type_create_hindexed(1, &n, &address, x->type, &x->absolute[side]);
    MPI_Type_commit(&x->absolute[side]);
    *count = 1;
    *type = x->absolute[side];
    return MPI_BOTTOM;
}

static void start_side(struct flight *x, int side, int which, MPI_File file, MPI_Offset at)
{
    MPI_Count count;
    MPI_Datatype type;
    void *buf = arguments(x, side, &count, &type);
    MPI_Status *status = x->flags & IGNORE_STATUS ? MPI_STATUS_IGNORE : &x->status[side];
#if MPI_VERSION >= 4
    if (x->flags & LARGE_COUNT) {
        x->rc[side] =
            start_large_call(which, file, at, buf, count, type, status, &x->request[side]);
        return;
    }
#endif
    x->rc[side] = start_call(which, file, at, buf, (int)count, type, status, &x->request[side]);
}

/* A plain file, by a call that has been completed when it returns, with bytes in a row. */
static void start_simple(struct flight *x, int side, int which, MPI_File file, MPI_Offset at,
                         const unsigned char *written, int64_t asked)
{
    static unsigned char packed[ACCESS_BYTES];
    int got = 0;
    if (x->call->writes)
        memcpy(packed, written, (size_t)asked);
    x->rc[side] = start_call(quirks_simple_call(which), file, at, packed, (int)asked, MPI_BYTE,
                             &x->status[side], &x->request[side]);
    MPI_Get_count(&x->status[side], MPI_BYTE, &got);
    if (!x->call->writes && !x->rc[side])
        type_scatter(x->memory, x->count, x->buffer[side] + x->origin, packed, got);
}

void flight_start(struct flight *x, struct model *m, const struct line *l, const struct move *v,
                  int rank, MPI_File file[2], int sides, bool simple)
{
    MPI_Offset at = line_rank_arg(l, 5, 4, rank, 0);
    const int which = (int)line_arg(l, 1);
    *x = (struct flight){.used = true,
                         .handle = (int)line_arg(l, 0),
                         .call = &calls[which],
                         .count = v->count,
                         .flags = v->flags,
                         .sides = sides,
                         .simple = simple,
                         .bytes = v->available,
                         .memory = type_get(&m->types, v->type),
                         .type = type_mpi(&m->types, v->type),
                         .absolute = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL},
                         .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    const unsigned char *packed = make_buffers(x, m, l, v, rank);
    for (int side = 0; side < sides; side++)
        if (simple && (side == 1 || compare_plain))
            start_simple(x, side, which, file[side], at, packed, v->bytes);
        else
            start_side(x, side, which, file[side], at);
}

/* ---- what came of it ---- */

/* Basic elements in the first `bytes` bytes, -1 if the last of them is not complete. */
static int64_t elements_in(const struct type *t, int64_t bytes)
{
    int64_t n = t->size ? bytes / t->size * t->parts : 0, rest = t->size ? bytes % t->size : 0;
    for (int i = 0; i < t->parts && rest >= t->part[i].size; i++) {
        rest -= t->part[i].size;
        n++;
    }
    return rest ? -1 : n;
}

static void check_status(struct flight *x, int falsify)
{
    const struct type *t = x->memory;
    int count[2], elements[2], bytes[2], cancelled[2];
    const bool bottom = x->absolute[0] != MPI_DATATYPE_NULL;
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type = bottom ? x->absolute[0] : x->type;
        MPI_Get_count(&x->status[i], type, &count[i]);
        MPI_Get_elements(&x->status[i], type, &elements[i]);
        MPI_Get_count(&x->status[i], MPI_BYTE, &bytes[i]);
        MPI_Test_cancelled(&x->status[i], &cancelled[i]);
    }
    bytes[0] += falsify;
    int64_t size = bottom ? t->size * x->count : t->size;
    int64_t whole = size == 0 ? 0 : x->bytes % size ? MPI_UNDEFINED : x->bytes / size;
    compare_three("Get_count in bytes", bytes[0], bytes[1], x->bytes);
    compare_three("Get_count", count[0], count[1], whole);
    /* Libraries differ in whether MPI_DOUBLE_INT is one element or two. */
    if (!t->counts_twice && elements_in(t, x->bytes) >= 0)
        compare_three("Get_elements", elements[0], elements[1], elements_in(t, x->bytes));
    else if (bytes[0] == bytes[1])
        compare_both("Get_elements", elements[0], elements[1]);
    if (!compare_is_untouched()) /* OMPIO leaves it as it was */
        compare_three("Test_cancelled", cancelled[0], cancelled[1], 0);
}

void flight_finish(struct flight *x, const char *sabotage)
{
    const bool falsify = sabotage && !compare_plain && strcmp(sabotage, x->call->name) == 0;
    compare_three("error class", error_class(x->rc[0]), error_class(x->rc[1]), MPI_SUCCESS);
    if (!(x->flags & IGNORE_STATUS) && !x->rc[1])
        check_status(x, falsify && x->call->writes);
    if (falsify && !x->call->writes)
        x->buffer[0][GUARD] ^= 1;
    compare_bytes(x->call->writes ? "buffer after the write" : "data read", x->buffer[0],
                  x->buffer[1], x->model, x->size);
    for (int i = 0; i < 2; i++) {
        free(x->buffer[i]);
        if (x->absolute[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&x->absolute[i]);
    }
    free(x->model);
    x->used = false;
}

/* ---- completion ---- */

/* n requests in one of many ways. */
static void wait_for(MPI_Request *request, MPI_Status *status, int n, int how)
{
    int flag = 0, index = 0, done = 0, left = n, which[FLIGHTS + 1];
    MPI_Status got[FLIGHTS + 1];
    switch (how) {
    case 0:
        for (int i = 0; i < n; i++)
            MPI_Wait(&request[i], &status[i]);
        break;
    case 1:
        MPI_Waitall(n, request, status);
        break;
    case 2:
        while (MPI_Waitany(n, request, &index, got), index != MPI_UNDEFINED)
            status[index] = got[0];
        break;
    case 3:
    case 4:
        for (; left; left -= done) {
            if (how == 3)
                MPI_Waitsome(n, request, &done, which, got);
            else
                MPI_Testsome(n, request, &done, which, got);
            for (int i = 0; i < done; i++)
                status[which[i]] = got[i];
        }
        break;
    case 5:
        for (int i = n - 1; i >= 0; i--)
            for (flag = 0; !flag;)
                MPI_Test(&request[i], &flag, &status[i]);
        break;
    case 6:
        while (!flag)
            MPI_Testall(n, request, &flag, status);
        break;
    case 7:
        while (MPI_Testany(n, request, &index, &flag, got), !flag || index != MPI_UNDEFINED)
            if (flag)
                status[index] = got[0];
        break;
    default:
        for (int i = 0; i < n; i++) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(request[i], &flag, &status[i]);
            MPI_Request_free(&request[i]);
        }
    }
}

/* The compressed file's requests, in the company of another one. */
static void complete_compressed(struct flight *x, int n, int how)
{
    MPI_Request request[FLIGHTS + 1];
    MPI_Status status[FLIGHTS + 1];
    int used = 0;
    for (int i = 0; i < n; i++)
        if (x[i].used)
            request[used++] = x[i].request[0];
    if (used == 0)
        return;
    how = compare_is_untouched() ? 0 : (how % WAYS + WAYS) % WAYS;
    if (how < WAYS - 1)
        MPI_Ibarrier(MPI_COMM_SELF, &request[used]);
    wait_for(request, status, how < WAYS - 1 ? used + 1 : used, how);
    for (int i = n; i-- > 0;)
        if (x[i].used) {
            x[i].status[0] = status[--used];
            x[i].request[0] = MPI_REQUEST_NULL;
        }
}

/* The plain file's one by one, since not all libraries can do more with their own. */
void flights_complete(struct flight *x, int n, int how, const char *sabotage)
{
    if (!compare_plain)
        complete_compressed(x, n, how);
    for (int i = 0; i < n; i++) {
        for (int side = 0; side < 2 && x[i].used; side++)
            if (x[i].request[side] != MPI_REQUEST_NULL)
                MPI_Wait(&x[i].request[side], &x[i].status[side]);
        if (x[i].used)
            flight_finish(&x[i], sabotage);
    }
}
