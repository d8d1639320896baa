/*
 * differential.c - runs random MPI-IO programs on a compressed file (NAME.z) and a plain one
 * (NAME.plain) at the same time and ends at the first difference. Needs libzmpi.so in front of MPI
 * and ZMPI_FILES=*,!*.plain. differential.py starts it, and shrinks what it finds.
 */
#include "differential.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: differ [--seed S] [--first K] [--count N] [--folder DIR] [--shared-opens] [--atomic]\n"
    "              [--large] [--numbers] [--sabotage CALL] [--plain] [--lines L] [--verbose] "
    "[--trace] "
    "[--time T]\n"
    "              [--watchdog T]\n"
    "              [--save FILE | --replay FILE | --emit FILE]\n"
    "\n"
    "  --large        some programs are up to 64 times larger\n"
    "  --numbers      what is written as MPI_FLOAT and MPI_DOUBLE are multiples of 0.25\n"
    "  --plain        both files are plain: what can the MPI library do by itself?\n"
    "  --lines L      run the first L lines; with --plain, errors in the last of them count\n"
    "  --time T       start no other program after T seconds\n"
    "  --watchdog T   give up where one program takes T seconds\n"
    "  --save FILE    write program K as text, do not run it\n"
    "  --replay FILE  run that text\n"
    "  --emit FILE    print that text as a C program\n"
    "  --sabotage C   falsify what the call C did on the compressed file, as in read_at_all\n";

struct settings {
    uint64_t seed;
    int64_t first, count;
    double time;       /* seconds; 0: as long as it takes */
    unsigned watchdog; /* the same, of one program */
    struct wishes wishes;
    bool numbers;
    const char *save, *replay, *emit;
};

/* The switch of an option without a value; NULL: it is none of these. */
static bool *switch_of(const char *option, struct settings *o)
{
    const struct {
        const char *name;
        bool *on;
    } all[] = {
        {"--shared-opens", &o->wishes.shared_opens},
        {"--atomic", &o->wishes.atomic},
        {"--large", &o->wishes.large},
        {"--numbers", &o->numbers},
        {"--verbose", &compare_verbose},
        {"--trace", &compare_trace},
        {"--plain", &compare_plain},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(option, all[i].name) == 0)
            return all[i].on;
    return NULL;
}

static bool take_value(const char *option, const char *value, struct settings *o, struct session *s)
{
    if (strcmp(option, "--seed") == 0)
        o->seed = strtoull(value, NULL, 10);
    else if (strcmp(option, "--first") == 0)
        o->first = strtoll(value, NULL, 10);
    else if (strcmp(option, "--count") == 0)
        o->count = strtoll(value, NULL, 10);
    else if (strcmp(option, "--time") == 0)
        o->time = strtod(value, NULL);
    else if (strcmp(option, "--watchdog") == 0)
        o->watchdog = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(option, "--lines") == 0)
        s->lines = compare_strict_line = strtoll(value, NULL, 10);
    else if (strcmp(option, "--folder") == 0)
        s->folder = value;
    else if (strcmp(option, "--sabotage") == 0)
        s->sabotage = value;
    else if (strcmp(option, "--save") == 0)
        o->save = value;
    else if (strcmp(option, "--replay") == 0)
        o->replay = value;
    else if (strcmp(option, "--emit") == 0)
        o->emit = value;
    else
        return false;
    return true;
}

static bool parse_arguments(int argc, char **argv, struct settings *o, struct session *s)
{
    for (int i = 1; i < argc; i++) {
        bool *on = switch_of(argv[i], o);
        if (on)
            *on = true;
        else if (i + 1 == argc || !take_value(argv[i], argv[i + 1], o, s))
            return false;
        else
            i++;
    }
    return true;
}

static _Noreturn void stop(const char *message)
{
    fprintf(stderr, "differ: %s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* A communicator for every set of ranks. */
static void make_communicators(struct session *s)
{
    for (int mask = 1; mask < 1 << s->ranks; mask++)
        MPI_Comm_split(MPI_COMM_WORLD, mask >> s->rank & 1 ? 0 : MPI_UNDEFINED, s->rank,
                       &s->comm[mask]);
}

static void free_communicators(struct session *s)
{
    for (int mask = 1; mask < 1 << s->ranks; mask++)
        if (s->comm[mask] != MPI_COMM_NULL)
            MPI_Comm_free(&s->comm[mask]);
}

/* Where a job was that hangs or crashes. */
static void note_progress(const struct session *s, int64_t program)
{
    static FILE *f;
    char path[400];
    if (s->rank != 0)
        return;
    snprintf(path, sizeof path, "%s/progress", s->folder);
    if (!f)
        f = need(fopen(path, "w"));
    rewind(f);
    fprintf(f, "%lld\n", (long long)program);
    fflush(f);
}

static uint64_t seed_of(const struct settings *o, int64_t program)
{
    struct chance c = {o->seed * 1000003 + (uint64_t)program};
    return chance_next(&c);
}

/* Rank 0 decides. */
static bool goes_on(const struct settings *o, double end)
{
    int go = o->time == 0 || MPI_Wtime() < end;
    MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return go;
}

static void run(struct settings *o, struct session *s, struct model *m)
{
    struct program p = {0};
    if (o->replay) {
        FILE *f = fopen(o->replay, "r");
        if (!f || !program_read(&p, f))
            stop("cannot read the program");
        fclose(f);
        compare_watch(o->watchdog);
        execute(s, m, &p);
        program_free(&p);
        return;
    }
    const double end = MPI_Wtime() + o->time;
    for (int64_t k = o->first; k < o->first + o->count && goes_on(o, end); k++) {
        note_progress(s, k);
        compare_watch(o->watchdog);
        s->totals.programs = k;
        generate(&p, m, &o->wishes, seed_of(o, k));
        execute(s, m, &p);
    }
    s->totals.programs -= o->first;
    program_free(&p);
}

static void save(const struct settings *o, struct model *m)
{
    struct program p = {0};
    generate(&p, m, &o->wishes, seed_of(o, o->first));
    FILE *f = fopen(o->save, "w");
    if (!f)
        stop("cannot write the program");
    program_write(&p, f);
    fclose(f);
    program_free(&p);
}

static void print_as_c(const struct settings *o)
{
    struct program p = {0};
    struct model m;
    FILE *f = fopen(o->emit, "r");
    if (!f || !program_read(&p, f))
        stop("cannot read the program");
    fclose(f);
    model_init(&m, p.ranks);
    emit(&p, &m, stdout);
    model_free(&m);
    program_free(&p);
}

static void report(const struct session *s)
{
    int64_t mine = compare_deviations, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (s->rank == 0)
        printf("totals: programs %lld lines %lld skipped %lld accesses %lld containers %lld "
               "made_plain %lld deviations %lld\n",
               (long long)s->totals.programs, (long long)s->totals.lines,
               (long long)s->totals.skipped, (long long)s->totals.accesses,
               (long long)s->totals.containers, (long long)s->totals.made_plain, (long long)all);
    /* Without the library in front everything would agree. */
    if (s->rank == 0 && s->totals.programs >= 20 &&
        s->totals.containers + s->totals.made_plain == 0 && !compare_plain)
        stop("no file was compressed: is libzmpi.so loaded, and ZMPI_FILES=*,!*.plain?");
}

int main(int argc, char **argv)
{
    struct settings o = {.seed = 1, .count = 100};
    struct session s = {.folder = ".", .lines = INT64_MAX};
    static struct model m;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (!parse_arguments(argc, argv, &o, &s) || s.ranks > RANKS) {
        fprintf(stderr, "%s", usage);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    m.shared_opens = o.wishes.shared_opens;
    if (o.emit) {
        print_as_c(&o);
    } else {
        model_init(&m, s.ranks);
        m.shared_opens = o.wishes.shared_opens;
        m.numbers = o.numbers;
        if (o.save) {
            save(&o, &m);
        } else {
            make_communicators(&s);
            run(&o, &s, &m);
            report(&s);
            free_communicators(&s);
        }
        model_free(&m);
    }
    MPI_Finalize();
    return 0;
}
