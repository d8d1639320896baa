/*
 * views.c - file views and datatypes: calls on a compressed file must agree with a model of the
 * file made of bytes, in data, offsets, positions and sizes, and with the same calls on a plain
 * file in what statuses say.
 *
 * The plain file proves nothing more: Open MPI 4.1's and MPICH 4.0's ROMIO fill holes with what
 * buffers had there, place views with empty blocks wrongly and count what a collective read past
 * the end asked for; OMPIO 4.1 loses collective writes through vectors on 3 ranks and seeks from 1
 * wherever a file with a view ends.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_FILES=*,!*.raw
 */
#include "types.h"

enum {
    MOST = 8 * REGION, /* no file is longer */
    CALLS = 5,         /* that write */
    STEPS = 10         /* calls that said something */
};

/* ---- one case ---- */

struct test {
    const struct view *view;
    int base, memory, read_memory;
    uint64_t seed;
};

/* What one rank does, in basic elements of its view; `items` times ITEM elements per call. */
struct plan {
    int start[CALLS], items[CALLS];
};

/* All call kinds, with a hole of 2 ahead of the fourth and the fifth writing over half of the
 * fourth. */
static struct plan plan_of(int rank, bool empty)
{
    struct plan p = {{0, 48, 72, 0, 0}, {2, rank % 2 ? 0 : 1, 1 + rank % 2, 1, 1}};
    p.start[3] = 72 + ITEM * p.items[2] + 2;
    p.start[4] = p.start[3] + 12;
    for (int i = 0; empty && i < CALLS; i++)
        p.items[i] = 0;
    return p;
}

static void fill(unsigned char *buffer, size_t bytes, uint64_t seed, int rank, int call)
{
    uint64_t s = seed * 64 + (uint64_t)(rank * 8 + call);
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = (unsigned char)(seed % 2 ? check_mix(s, i) : s + i / 40);
}

/* A view and a buffer of one rank. */
struct side {
    MPI_Datatype base, etype, file, memory;
    MPI_Offset disp;
    int base_size, items, tile;
    bool basic;
    struct layout in_file, in_memory; /* of everything the view is used for; of two items */
};

static void side_make(struct side *s, const struct test *t, int memory, int rank, int ranks)
{
    MPI_Aint lb, e;
    s->base = make_base(t->base);
    s->basic = t->base < BASES - 1;
    MPI_Type_contiguous(t->view->pair, s->base, &s->etype);
    MPI_Type_commit(&s->etype);
    MPI_Type_size(s->base, &s->base_size);
    MPI_Type_get_extent(s->etype, &lb, &e);
    s->file = t->view->make(s->etype, e, rank, ranks, &s->disp);
    MPI_Type_commit(&s->file);
    MPI_Type_size(s->file, &s->tile);
    s->memory = make_memory(memory, s->base, e / t->view->pair, &s->items);
    layout_make(&s->in_memory, s->memory, 2 * s->items);
    layout_make(&s->in_file, s->file, s->tile ? 220 * s->base_size / s->tile + 1 : 0);
}

static void side_free(struct side *s)
{
    MPI_Type_free(&s->base);
    MPI_Type_free(&s->etype);
    MPI_Type_free(&s->file);
    MPI_Type_free(&s->memory);
    free(s->in_file.offset);
    free(s->in_memory.offset);
}

static unsigned char *side_buffer(const struct side *s, size_t *bytes)
{
    *bytes = (size_t)(s->in_memory.high - s->in_memory.low);
    return check_alloc(*bytes);
}

/* The file as it must become, by all ranks' calls. Returns its size. */
static long long model_make(const struct test *t, int ranks, unsigned char *model)
{
    long long size = 0;
    memset(model, 0, MOST);
    for (int rank = 0; rank < ranks; rank++) {
        struct side s;
        size_t bytes;
        side_make(&s, t, t->memory, rank, ranks);
        struct plan p = plan_of(rank, s.tile == 0);
        unsigned char *buffer = side_buffer(&s, &bytes);
        for (int c = 0; c < CALLS; c++) {
            fill(buffer, bytes, t->seed, rank, c);
            size_t n = (size_t)(p.items[c] * ITEM * s.base_size),
                   first = (size_t)(p.start[c] * s.base_size);
            for (size_t i = 0; i < n; i++) {
                long long at = s.disp + s.in_file.offset[first + i];
                CHECK(at >= 0 && at < MOST);
                model[at] = buffer[s.in_memory.offset[i] - s.in_memory.low];
                size = at >= size ? at + 1 : size;
            }
        }
        free(buffer);
        side_free(&s);
    }
    return size;
}

/* Everything one file said. */
struct said {
    long long count[STEPS], elements[STEPS];
    int steps;
};

static void note(struct said *said, const MPI_Status *status, const struct side *s)
{
    int count, elements;
    MPI_Get_count(status, s->memory, &count);
    MPI_Get_elements(status, s->memory, &elements);
    CHECK(said->steps < STEPS);
    said->count[said->steps] = count;
    said->elements[said->steps++] = elements;
}

static void write_all_kinds(MPI_File file, const struct test *t, const struct side *s, int rank,
                            bool raw, struct said *said)
{
    struct plan p = plan_of(rank, s->tile == 0);
    const int pair = t->view->pair;
    MPI_Offset position;
    MPI_Status status;
    size_t bytes;
    unsigned char *buffer = side_buffer(s, &bytes), *start = buffer - s->in_memory.low;
    for (int c = 0; c < CALLS; c++) {
        int n = p.items[c] * s->items;
        fill(buffer, bytes, t->seed, rank, c);
        switch (c) {
        case 0:
            OK(MPI_File_write_at_all(file, p.start[c] / pair, start, n, s->memory, &status));
            break;
        case 1:
            OK(MPI_File_write_at(file, p.start[c] / pair, start, n, s->memory, &status));
            break;
        case 2:
            OK(MPI_File_seek(file, p.start[c] / pair, MPI_SEEK_SET));
            OK(MPI_File_write_all(file, start, n, s->memory, &status));
            break;
        case 3:
            OK(MPI_File_seek(file, n ? 2 / pair : 0, MPI_SEEK_CUR));
            OK(MPI_File_write(file, start, n, s->memory, &status));
            break;
        default:
            OK(MPI_File_seek(file, n ? -12 / pair : 0, MPI_SEEK_CUR));
            OK(MPI_File_write(file, start, n, s->memory, &status));
        }
        note(said, &status, s);
        CHECK_EQUAL(said->count[c], n);
        OK(MPI_File_get_position(file, &position));
        if (n && !raw)
            CHECK_EQUAL(position, c < 2 ? 0 : (p.start[c] + p.items[c] * ITEM) / pair);
    }
    free(buffer);
}

/* Items of the view from basic element `start` on, by one call; compares all of the buffer, gaps
 * too. */
static void read_one(MPI_File file, const struct side *s, int kind, int start, int items, int pair,
                     bool raw, const unsigned char *model, long long size, struct said *said)
{
    MPI_Status status;
    size_t bytes, first = (size_t)(start * s->base_size), n = (size_t)(items * ITEM * s->base_size),
                  there = 0;
    unsigned char *buffer = side_buffer(s, &bytes), *should = side_buffer(s, &bytes);
    unsigned char *at = buffer - s->in_memory.low;
    const int count = items * s->items;
    MPI_Offset before, position;
    memset(buffer, 0xA5, bytes);
    memset(should, 0xA5, bytes);
    for (; there < n && s->disp + s->in_file.offset[first + there] < size; there++)
        should[s->in_memory.offset[there] - s->in_memory.low] =
            model[s->disp + s->in_file.offset[first + there]];
    if (kind >= 2)
        OK(MPI_File_seek(file, start / pair, MPI_SEEK_SET));
    OK(MPI_File_get_position(file, &before));
    switch (kind) {
    case 0:
        OK(MPI_File_read_at_all(file, start / pair, at, count, s->memory, &status));
        break;
    case 1:
        OK(MPI_File_read_at(file, start / pair, at, count, s->memory, &status));
        break;
    case 2:
        OK(MPI_File_read_all(file, at, count, s->memory, &status));
        break;
    default:
        OK(MPI_File_read(file, at, count, s->memory, &status));
    }
    OK(MPI_File_get_position(file, &position));
    if (!raw) {
        CHECK_BYTES(buffer, should, bytes);
        CHECK_EQUAL(position - before, kind < 2 ? 0 : there / (size_t)(s->base_size * pair));
    }
    note(said, &status, s);
    if (there == n)
        CHECK_EQUAL(said->count[said->steps - 1], count);
    else if (there % (size_t)s->base_size == 0 && s->basic)
        CHECK_EQUAL(said->elements[said->steps - 1], there / (size_t)s->base_size);
    free(buffer);
    free(should);
}

/* Reading and seeking at the end, which is inside or behind what this rank's view has. */
static void check_end(MPI_File file, const struct side *s, int pair, const unsigned char *model,
                      long long size)
{
    struct said said = {.steps = 0};
    const size_t etype = (size_t)(s->base_size * pair);
    size_t below = 0;
    MPI_Offset at;
    for (int kind = 0; kind < 4; kind++)
        read_one(file, s, kind, 132 + 6 * kind, s->tile ? 2 : 0, pair, false, model, size, &said);
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &at));
    while (below < s->in_file.count && s->disp + s->in_file.offset[below] < size)
        below++;
    if (below < s->in_file.count || below == 0)
        CHECK_EQUAL(at, (below + etype - 1) / etype);
}

/* The view as MPI tells it, and offsets in it. */
static void check_view(MPI_File file, const struct side *s, int pair)
{
    MPI_Offset disp, at;
    MPI_Datatype etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING];
    int size;
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, representation));
    CHECK_EQUAL(disp, s->disp);
    CHECK(strcmp(representation, "native") == 0);
    MPI_Type_size(filetype, &size);
    CHECK_EQUAL(size, s->tile);
    MPI_Type_size(etype, &size);
    CHECK_EQUAL(size, s->base_size * pair);
    for (int k = 0; s->tile && k < 100; k += 7) {
        OK(MPI_File_get_byte_offset(file, k, &at));
        CHECK_EQUAL(at, s->disp + s->in_file.offset[(size_t)(k * pair * s->base_size)]);
    }
    int combiner, n;
    MPI_Type_get_envelope(filetype, &n, &n, &n, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&filetype);
    MPI_Type_get_envelope(etype, &n, &n, &n, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&etype);
}

/* As one stretch of bytes, by a program that opens it later. */
static void check_whole(const char *path, const unsigned char *model, long long size)
{
    unsigned char *bytes = check_alloc((size_t)size + 10);
    MPI_File file;
    MPI_Offset is;
    MPI_Status status;
    int got;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &is));
    CHECK_EQUAL(is, size);
    OK(MPI_File_read_at_all(file, 0, bytes, (int)size + 10, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(got, size);
    CHECK_BYTES(bytes, model, (size_t)size);
    OK(MPI_File_close(&file));
    free(bytes);
}

/* Write, read, and compare with the model; then the whole file, opened anew. */
static void run(const struct test *t, const char *path, bool raw, const unsigned char *model,
                long long size, struct said *said)
{
    int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD),
        pair = t->view->pair;
    struct side s, r;
    MPI_File file;
    MPI_Offset is;
    memset(said, 0, sizeof *said);
    side_make(&s, t, t->memory, rank, ranks);
    side_make(&r, t, t->read_memory, rank, ranks);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, s.disp, s.etype, s.file, "native", MPI_INFO_NULL));
    if (!raw)
        check_view(file, &s, pair);
    write_all_kinds(file, t, &s, rank, raw, said);
    check_sync(file, MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &is));
    if (!raw)
        CHECK_EQUAL(is, size);
    int some = s.tile != 0;
    for (int kind = 0; kind < 4; kind++)
        read_one(file, &r, kind, 12 * kind, some * (2 - kind % 2), pair, raw, model, size, said);
    if (!raw)
        check_end(file, &r, pair, model, size);
    OK(MPI_File_close(&file));
    side_free(&s);
    side_free(&r);

    if (!raw)
        check_whole(path, model, size);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    unsigned char *model = check_alloc(MOST);
    uint64_t cases = 0;
    for (int v = 0; v < VIEWS; v++)
        for (int b = 0; b < BASES; b++, cases++) {
            int m = (v + b) % MEMORIES;
            if (check_ranks(MPI_COMM_WORLD) > 2 && b != v % BASES && b != (v + 3) % BASES)
                continue; /* time, where ranks share cores */
            struct test t = {&views[v], b, m, (m + 1 + v % (MEMORIES - 1)) % MEMORIES, cases};
            struct said raw, packed;
            long long size = model_make(&t, check_ranks(MPI_COMM_WORLD), model);
            check_say("view %s of %s, memory %s", t.view->name, base_names[b], memory_names[m]);
            run(&t, "views.z", false, model, size, &packed);
            CHECK(check_is_container("views.z"));
            if (b != v % BASES)
                continue;
            run(&t, "views.raw", true, model, size, &raw);
            CHECK(!check_is_container("views.raw"));
            for (int i = 0; i < raw.steps; i++) {
                CHECK_SAY(packed.count[i] == raw.count[i], "step %d: count %lld, plain %lld", i,
                          packed.count[i], raw.count[i]);
                CHECK_SAY(packed.elements[i] == raw.elements[i],
                          "step %d: elements %lld, plain %lld", i, packed.elements[i],
                          raw.elements[i]);
            }
        }
    free(model);
    check_remove("views.z", MPI_COMM_WORLD);
    check_remove("views.raw", MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
