/*
 * emit.c - a program as C: to be read, and to be run with and without the library, which must make
 * no difference to what it prints. What is written is not quite the same as in execute.c: bytes of
 * memory are numbered.
 */
#include "differential.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
    "#include <mpi.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "\n"
    "static int rank;\n"
    "\n"
    "/* Memory with numbered bytes; MPI's buffer begins at `origin`. */\n"
    "static unsigned char *memory(long size, long origin, int seed)\n"
    "{\n"
    "    unsigned char *p = malloc(size + 1);\n"
    "    for (long i = 0; i < size; i++)\n"
    "        p[i] = (unsigned char)(i * 7 + seed);\n"
    "    return p + origin;\n"
    "}\n"
    "\n"
    "static void show(int line, const char *what, int rc, const MPI_Status *status, MPI_Datatype "
    "t,\n"
    "                 const unsigned char *p, long size)\n"
    "{\n"
    "    int class = 0, count = 0, elements = 0;\n"
    "    unsigned sum = 1;\n"
    "    if (rc)\n"
    "        MPI_Error_class(rc, &class);\n"
    "    if (!rc && status) {\n"
    "        MPI_Get_count(status, t, &count);\n"
    "        MPI_Get_elements(status, t, &elements);\n"
    "    }\n"
    "    for (long i = 0; i < size; i++)\n"
    "        sum = sum * 31 + p[i];\n"
    "    printf(\"line %d, rank %d: %s: class %d count %d elements %d memory %08x\\n\", line, "
    "rank, what,\n"
    "           class, count, elements, sum);\n"
    "    fflush(stdout);\n"
    "}\n"
    "\n"
    "static void show_number(int line, const char *what, long long value)\n"
    "{\n"
    "    printf(\"line %d, rank %d: %s: %lld\\n\", line, rank, what, value);\n"
    "    fflush(stdout);\n"
    "}\n"
    "\n"
    "int main(int argc, char **argv) /* names of two files */\n"
    "{\n"
    "    MPI_Offset at;\n"
    "    MPI_File f[3];\n"
    "    MPI_Request r[3][8];\n"
    "    unsigned char *m[3][9];\n"
    "    MPI_Status s;\n"
    "    MPI_Comm comm;\n"
    "    int rc;\n"
    "    (void)argc, (void)rc, (void)at, (void)s, (void)r, (void)m;\n"
    "    MPI_Init(&argc, &argv);\n"
    "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n";

static FILE *out;
static int number; /* of the line */
/* Of each rank: the accesses under way and their memory. */
static struct pending {
    int64_t type, size, origin;
    const struct call *call;
} pending[RANKS][HANDLES][FLIGHTS + 1]; /* the last one: the split collective */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
}

/* ---- datatypes ---- */

static void say_list(const struct line *l, const char *kind, const char *name, int first, int step,
                     int n)
{
    say("        %s %s[] = {", kind, name);
    for (int i = 0; i < n; i++)
        say("%s%lld", i ? ", " : "", (long long)line_arg(l, first + i * step));
    say("%s};\n", n ? "" : "0");
}

static void say_blocks(const struct line *l, const char *constructor, const char *place)
{
    const int n = (int)line_arg(l, 3);
    const long long id = line_arg(l, 0), child = line_arg(l, 2);
    const bool even = strstr(constructor, "block");
    if (!even)
        say_list(l, "int", "length", 4, 2, n);
    say_list(l, place, "place", 5, even ? 1 : 2, n);
    if (even)
        say("        MPI_Type_%s(%d, %lld, place, t%lld, &t%lld);\n", constructor, n,
            (long long)line_arg(l, 4), child, id);
    else
        say("        MPI_Type_%s(%d, length, place, t%lld, &t%lld);\n", constructor, n, child, id);
}

static void say_struct(const struct line *l)
{
    const int n = (int)line_arg(l, 4);
    const long long id = line_arg(l, 0);
    say_list(l, "int", "length", 6, 3, n);
    say_list(l, "MPI_Aint", "place", 7, 3, n);
    say("        MPI_Datatype bare, child[] = {");
    for (int i = 0; i < n; i++)
        say("t%lld, ", (long long)line_arg(l, 5 + 3 * i));
    say("MPI_BYTE};\n        MPI_Type_create_struct(%d, length, place, child, &bare);\n", n);
    say("        MPI_Type_create_resized(bare, %lld, %lld, &t%lld);\n", (long long)line_arg(l, 2),
        (long long)line_arg(l, 3), id);
}

static void say_array(const struct line *l)
{
    static const char *const how[] = {"MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC",
                                      "MPI_DISTRIBUTE_NONE"};
    const bool sub = line_arg(l, 1) == T_SUBARRAY;
    const int n = (int)line_arg(l, sub ? 4 : 6), first = sub ? 5 : 7, step = sub ? 3 : 4;
    const char *order = line_arg(l, 3) ? "MPI_ORDER_FORTRAN" : "MPI_ORDER_C";
    const long long id = line_arg(l, 0), child = line_arg(l, 2);
    say_list(l, "int", "size", first, step, n);
    if (sub) {
        say_list(l, "int", "part", first + 1, step, n);
        say_list(l, "int", "start", first + 2, step, n);
        say("        MPI_Type_create_subarray(%d, size, part, start, %s, t%lld, &t%lld);\n", n,
            order, child, id);
        return;
    }
    say("        int how[] = {");
    for (int d = 0; d < n; d++)
        say("%s, ", how[line_rank_arg(l, 7, 4, d, 1)]);
    say("0}, argument[] = {");
    for (int d = 0; d < n; d++)
        if (line_rank_arg(l, 7, 4, d, 1) == NONE)
            say("MPI_DISTRIBUTE_DFLT_DARG, ");
        else
            say("%lld, ", (long long)line_rank_arg(l, 7, 4, d, 2));
    say("0};\n");
    say_list(l, "int", "grid", first + 3, step, n);
    say("        MPI_Type_create_darray(%lld, %lld, %d, size, how, argument, grid, %s, t%lld, "
        "&t%lld);\n",
        (long long)line_arg(l, 4), (long long)line_arg(l, 5), n, order, child, id);
}

static void say_type(const struct line *l)
{
    const long long id = line_arg(l, 0), child = line_arg(l, 2), a = line_arg(l, 3),
                    b = line_arg(l, 4), c = line_arg(l, 5);
    const enum combiner combiner = (enum combiner)line_arg(l, 1);
    if (combiner == T_BASIC) {
        say("    MPI_Datatype t%lld = %s;\n", id, basic_name((int)child));
        return;
    }
    say("    MPI_Datatype t%lld;\n    {\n", id);
    if (combiner == T_CONTIGUOUS)
        say("        MPI_Type_contiguous(%lld, t%lld, &t%lld);\n", a, child, id);
    else if (combiner == T_VECTOR)
        say("        MPI_Type_vector(%lld, %lld, %lld, t%lld, &t%lld);\n", a, b, c, child, id);
    else if (combiner == T_HVECTOR)
        say("        MPI_Type_create_hvector(%lld, %lld, %lld, t%lld, &t%lld);\n", a, b, c, child,
            id);
    else if (combiner == T_INDEXED)
        say_blocks(l, "indexed", "int");
    else if (combiner == T_HINDEXED)
        say_blocks(l, "create_hindexed", "MPI_Aint");
    else if (combiner == T_INDEXED_BLOCK)
        say_blocks(l, "create_indexed_block", "int");
    else if (combiner == T_HINDEXED_BLOCK)
        say_blocks(l, "create_hindexed_block", "MPI_Aint");
    else if (combiner == T_STRUCT)
        say_struct(l);
    else if (combiner == T_RESIZED)
        say("        MPI_Type_create_resized(t%lld, %lld, %lld, &t%lld);\n", child, a, b, id);
    else if (combiner == T_DUP)
        say("        MPI_Type_dup(t%lld, &t%lld);\n", child, id);
    else
        say_array(l);
    say("        MPI_Type_commit(&t%lld);\n    }\n", id);
}

/* ---- access ---- */

static void say_access_of(struct model *m, const struct line *l, const struct move *v, int rank)
{
    const int64_t handle = line_arg(l, 0);
    const struct call *c = &calls[line_arg(l, 1)];
    const struct type *t = type_get(&m->types, v->type);
    struct pending *p = &pending[rank][handle][FLIGHTS];
    int slot = FLIGHTS;
    int64_t low, high;
    if (c->how == NONBLOCKING || c->how == NONBLOCKING_ALL)
        for (slot = 0, p = pending[rank][handle]; p->call; p++)
            slot++;
    type_span(t, v->count, &low, &high);
    *p = (struct pending){v->type, high - low, -low, c};
    say("    if (rank == %d) {\n", rank);
    say("        m[%lld][%d] = memory(%lld, %lld, %lld);\n", (long long)handle, slot,
        (long long)p->size, (long long)p->origin, (long long)(line_arg(l, 3) % 250));
    say("        rc = MPI_File_%s(f[%lld], ", c->name, (long long)handle);
    if (c->where == AT)
        say("%lld, ", (long long)line_rank_arg(l, 5, 4, rank, 0));
    say("m[%lld][%d], %lld, t%lld", (long long)handle, slot, (long long)v->count,
        (long long)v->type);
    if (c->how == NONBLOCKING || c->how == NONBLOCKING_ALL)
        say(", &r[%lld][%d]);\n    }\n", (long long)handle, slot);
    else if (c->how == SPLIT)
        say(");\n    }\n");
    else {
        say(", &s);\n");
        say("        show(%d, \"%s\", rc, &s, t%lld, m[%lld][%d] - %lld, %lld);\n    }\n", number,
            c->name, (long long)v->type, (long long)handle, slot, (long long)p->origin,
            (long long)p->size);
        p->call = NULL;
    }
}

static void say_access(struct model *m, const struct line *l, const struct move move[RANKS])
{
    const struct call *c = &calls[line_arg(l, 1)];
    const bool turns = c->where == SHARED && !call_is_collective(c);
    for (int r = 0; r < m->ranks; r++)
        if (move[r].takes_part) {
            say_access_of(m, l, &move[r], r);
            if (turns)
                say("    MPI_Barrier(MPI_COMM_WORLD); /* the next rank goes on where this one "
                    "left the pointer */\n");
        }
}

/* Of one rank: what is complete. */
static void say_result(struct pending *p, int rank, int64_t handle, int slot, const char *call)
{
    say("    if (rank == %d) {\n        rc = %s;\n", rank, call);
    say("        show(%d, \"%s\", rc, &s, t%lld, m[%lld][%d] - %lld, %lld);\n    }\n", number,
        p->call->name, (long long)p->type, (long long)handle, slot, (long long)p->origin,
        (long long)p->size);
    p->call = NULL;
}

static void say_complete(int64_t handle)
{
    char call[100];
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < FLIGHTS; k++)
            if (pending[r][handle][k].call) {
                snprintf(call, sizeof call, "MPI_Wait(&r[%lld][%d], &s)", (long long)handle, k);
                say_result(&pending[r][handle][k], r, handle, k, call);
            }
}

static void say_end(int64_t handle)
{
    char call[100];
    for (int r = 0; r < RANKS; r++) {
        struct pending *p = &pending[r][handle][FLIGHTS];
        if (!p->call)
            continue;
        snprintf(call, sizeof call, "MPI_File_%.*send(f[%lld], m[%lld][%d], &s)",
                 (int)(strlen(p->call->name) - strlen("begin")), p->call->name, (long long)handle,
                 (long long)handle, FLIGHTS);
        say_result(p, r, handle, FLIGHTS, call);
    }
}

/* ---- the others ---- */

static void say_amode(int amode)
{
    static const struct {
        int bit;
        const char *name;
    } modes[] = {{MPI_MODE_RDONLY, "RDONLY"},
                 {MPI_MODE_WRONLY, "WRONLY"},
                 {MPI_MODE_RDWR, "RDWR"},
                 {MPI_MODE_CREATE, "CREATE"},
                 {MPI_MODE_EXCL, "EXCL"},
                 {MPI_MODE_APPEND, "APPEND"},
                 {MPI_MODE_SEQUENTIAL, "SEQUENTIAL"},
                 {MPI_MODE_DELETE_ON_CLOSE, "DELETE_ON_CLOSE"},
                 {MPI_MODE_UNIQUE_OPEN, "UNIQUE_OPEN"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (amode & modes[i].bit) {
            say("%sMPI_MODE_%s", between, modes[i].name);
            between = " | ";
        }
    if (!*between)
        say("0");
}

static void say_open(const struct line *l, int ranks)
{
    const int mask = (int)line_arg(l, 2) & ((1 << ranks) - 1);
    say("    MPI_Comm_split(MPI_COMM_WORLD, %d >> rank & 1 ? 0 : MPI_UNDEFINED, rank, &comm);\n",
        mask);
    say("    if (comm != MPI_COMM_NULL)\n");
    say("        show(%d, \"open\", MPI_File_open(comm, argv[%lld], ", number,
        (long long)line_arg(l, 0) + 1);
    say_amode((int)line_arg(l, 3));
    say(", MPI_INFO_NULL, &f[%lld]), NULL, MPI_BYTE, NULL, 0);\n", (long long)line_arg(l, 1));
}

static void say_view(const struct model *m, const struct line *l)
{
    const long long handle = line_arg(l, 0);
    for (int r = 0; r < m->ranks; r++) {
        if (!(m->handle[handle].ranks >> r & 1))
            continue;
        say("    if (rank == %d)\n        MPI_File_set_view(f[%lld], ", r, handle);
        if (m->handle[handle].amode & MPI_MODE_SEQUENTIAL)
            say("MPI_DISPLACEMENT_CURRENT");
        else
            say("%lld", (long long)line_rank_arg(l, 1, 3, r, 0));
        say(", t%lld, t%lld, \"native\", MPI_INFO_NULL);\n",
            (long long)line_rank_arg(l, 1, 3, r, 1), (long long)line_rank_arg(l, 1, 3, r, 2));
    }
}

static const char *whence_name(int64_t whence)
{
    return whence == MPI_SEEK_SET   ? "MPI_SEEK_SET"
           : whence == MPI_SEEK_CUR ? "MPI_SEEK_CUR"
                                    : "MPI_SEEK_END";
}

static void say_query(const struct line *l, int ranks, const char *call, const char *argument)
{
    const long long handle = line_arg(l, 0);
    say("    if (%d >> rank & 1) {\n", ranks);
    say("        MPI_File_%s(f[%lld], %s&at);\n", call, handle, argument);
    say("        show_number(%d, \"%s\", at);\n    }\n", number, call);
}

/* Calls that all ranks of a handle make alike. */
static void say_collective(const struct line *l, int ranks, const char *call, const char *rest)
{
    say("    if (%d >> rank & 1)\n        MPI_File_%s(f[%lld]%s);\n", ranks, call,
        (long long)line_arg(l, 0), rest);
}

static void say_position_line(const struct model *m, const struct line *l)
{
    const int64_t a = line_arg(l, 0), b = line_arg(l, 1);
    const struct handle *h = &m->handle[a];
    char text[100];
    switch (l->what) {
    case LINE_SEEK:
        for (int r = 0; r < m->ranks; r++)
            if (h->ranks & b & 1 << r)
                say("    if (rank == %d)\n        MPI_File_seek(f[%lld], %lld, %s);\n", r,
                    (long long)a, (long long)line_rank_arg(l, 3, 1, r, 0),
                    whence_name(line_arg(l, 2)));
        break;
    case LINE_SEEK_SHARED:
        snprintf(text, sizeof text, ", %lld, %s", (long long)line_arg(l, 2), whence_name(b));
        say_collective(l, h->ranks, "seek_shared", text);
        break;
    case LINE_POSITION:
        say_query(l, h->ranks & (int)b, "get_position", "");
        break;
    case LINE_POSITION_SHARED:
        say_query(l, h->ranks & (int)b, "get_position_shared", "");
        break;
    case LINE_SIZE:
        say_query(l, h->ranks & (int)b, "get_size", "");
        break;
    case LINE_BYTE_OFFSET:
        snprintf(text, sizeof text, "%lld, ", (long long)line_arg(l, 2));
        say_query(l, h->ranks & (int)b, "get_byte_offset", text);
        break;
    case LINE_SET_SIZE:
    case LINE_PREALLOCATE:
    case LINE_ATOMICITY:
        snprintf(text, sizeof text, ", %lld", (long long)b);
        say_collective(l, h->ranks,
                       l->what == LINE_SET_SIZE      ? "set_size"
                       : l->what == LINE_PREALLOCATE ? "preallocate"
                                                     : "set_atomicity",
                       text);
        break;
    default: /* LINE_RAW, LINE_INFO, LINE_ERROR */
        say("    /* not written as C: see do_%s in do_files.c, do_queries.c:", line_names[l->what]);
        for (int i = 0; i < l->n; i++)
            say(" %lld", (long long)l->a[i]);
        say(" */\n");
    }
}

static void say_line(struct model *m, const struct line *l, const struct move *move)
{
    const int64_t a = line_arg(l, 0);
    const struct handle *h = &m->handle[a >= 0 && a < HANDLES ? a : 0];
    switch (l->what) {
    case LINE_TYPE:
        if (type_get(&m->types, a))
            say_type(l);
        break;
    case LINE_OPEN:
        say_open(l, m->ranks);
        break;
    case LINE_CLOSE:
        say("    if (%d >> rank & 1)\n        MPI_File_close(&f[%lld]);\n", h->ranks, (long long)a);
        say("    MPI_Barrier(MPI_COMM_WORLD);\n");
        break;
    case LINE_DELETE:
        say("    if (rank == 0)\n        MPI_File_delete(argv[%lld], MPI_INFO_NULL);\n",
            (long long)a + 1);
        break;
    case LINE_VIEW:
        say_view(m, l);
        break;
    case LINE_ACCESS:
        say_access(m, l, move);
        break;
    case LINE_END:
        say_end(a);
        break;
    case LINE_COMPLETE:
        say_complete(a);
        break;
    case LINE_SYNC:
        for (int turn = 0; turn < 2; turn++) {
            for (int k = 0; k < HANDLES; k++)
                if (m->handle[k].open && m->handle[k].file == a)
                    say("    if (%d >> rank & 1)\n        MPI_File_sync(f[%d]);\n",
                        m->handle[k].ranks, k);
            if (turn == 0)
                say("    MPI_Barrier(MPI_COMM_WORLD);\n");
        }
        break;
    case LINE_SYNC_ONE:
        say_collective(l, h->ranks, "sync", "");
        break;
    default:
        say_position_line(m, l);
    }
}

void emit(const struct program *p, struct model *m, FILE *file)
{
    out = file;
    say("%s", head);
    model_reset(m);
    for (int i = 0; i < p->count; i++) {
        struct move move[RANKS] = {{0}};
        const struct line *l = &p->line[i];
        number = i + 1;
        if (model_allows(m, l, move)) {
            if (l->what == LINE_TYPE)
                model_apply(m, l, move);
            say("    /* %d: %s */\n", number, line_names[l->what]);
            say_line(m, l, move);
            if (l->what != LINE_TYPE)
                model_apply(m, l, move);
        }
        moves_free(move);
    }
    for (int h = 0; h < HANDLES; h++) {
        struct line l = {LINE_CLOSE, 1, {h}};
        if (!m->handle[h].open)
            continue;
        say_complete(h);
        say_end(h);
        say_line(m, &l, NULL);
    }
    say("    MPI_Finalize();\n    return 0;\n}\n");
}
