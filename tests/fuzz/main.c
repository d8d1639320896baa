/*
 * main.c - runs a libFuzzer target without libFuzzer: over the files of its corpus, then over
 * seeded mutations of them, the same ones every time. An input that crashes, hangs or trips a
 * sanitizer is saved as crash-SEED-RUN.
 *
 *     fuzz_TARGET [-runs=N] [-seed=S] FILE|FOLDER...
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_MAX    (1u << 20)
#define HANG_SECONDS 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct input {
    uint8_t *data;
    size_t size;
};

static struct input *corpus;
static size_t corpus_count;

/* What is being run now, for the one who looks for the cause. */
static struct input current;
static char crash_name[64];

static void save_current(void)
{
    int fd = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, current.data, current.size) != (ssize_t)current.size)
        return;
    close(fd);
    static const char said[] = "fuzz: input saved as ";
    if (write(2, said, sizeof said - 1) < 0 || write(2, crash_name, strlen(crash_name)) < 0 ||
        write(2, "\n", 1) < 0)
        return;
}

static void on_signal(int number)
{
    save_current();
    signal(number, SIG_DFL);
    raise(number);
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(2);
}

/* ---- corpus ---- */

static void add_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_MAX);
    corpus = realloc(corpus, (corpus_count + 1) * sizeof *corpus);
    if (!file || !data || !corpus)
        fail(path);
    corpus[corpus_count++] = (struct input){data, fread(data, 1, INPUT_MAX, file)};
    fclose(file);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void add_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        fail(path);
    if (!S_ISDIR(st.st_mode)) {
        add_file(path);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort);
    if (n < 0)
        fail(path);
    for (int i = 0; i < n; i++) {
        char *name;
        if (asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0)
            fail(path);
        add_path(name);
        free(name);
        free(entries[i]);
    }
    free(entries);
}

/* ---- mutation ---- */

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_next(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t random_below(size_t limit)
{
    return limit ? (size_t)(random_next() % limit) : 0;
}

/* A little-endian integer that sizes and offsets break at: a power of two, or beside one. */
static void write_interesting(uint8_t *at, size_t width)
{
    uint64_t value = ((uint64_t)1 << random_below(64)) + random_below(3) - 1;
    for (size_t i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void mutate(struct input *in)
{
    if (in->size == 0) {
        in->data[in->size++] = (uint8_t)random_next();
        return;
    }
    /* Headers are where decoders decide: half of the changes go to the first 128 bytes. */
    size_t reach = random_below(2) && in->size > 128 ? 128 : in->size;
    size_t at = random_below(reach);
    size_t width = (size_t)1 << random_below(4);
    switch (random_below(7)) {
    case 0:
        in->data[at] ^= (uint8_t)(1u << random_below(8));
        break;
    case 1:
        in->data[at] = (uint8_t)random_next();
        break;
    case 2:
        if (at + width <= in->size)
            write_interesting(in->data + at, width);
        break;
    case 3:
        in->size = random_below(in->size + 1);
        break;
    case 4: /* grow */
        for (size_t n = random_below(64); n > 0 && in->size < INPUT_MAX; n--)
            in->data[in->size++] = (uint8_t)random_next();
        break;
    case 5: { /* cut a piece out */
        size_t n = random_below(in->size - at + 1);
        memmove(in->data + at, in->data + at + n, in->size - at - n);
        in->size -= n;
        break;
    }
    case 6: { /* a piece of another input */
        const struct input *other = &corpus[random_below(corpus_count)];
        size_t from = random_below(other->size);
        size_t n = random_below(other->size - from + 1);
        if (n > INPUT_MAX - at)
            n = INPUT_MAX - at;
        memcpy(in->data + at, other->data + from, n);
        if (at + n > in->size)
            in->size = at + n;
        break;
    }
    }
}

static void run(const struct input *in, uint64_t seed, size_t number)
{
    /* A copy of exactly this size, so that one byte too far is seen. */
    current.size = in->size;
    current.data = malloc(in->size ? in->size : 1);
    if (!current.data)
        fail("malloc");
    memcpy(current.data, in->data, in->size);
    snprintf(crash_name, sizeof crash_name, "crash-%llu-%zu", (unsigned long long)seed, number);
    alarm(HANG_SECONDS);
    LLVMFuzzerTestOneInput(current.data, current.size);
    alarm(0);
    free(current.data);
}

int main(int argc, char **argv)
{
    size_t runs = 0;
    uint64_t seed = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = strtoull(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            seed = strtoull(argv[i] + 6, NULL, 10);
        else
            add_path(argv[i]);
    }
    if (corpus_count == 0) {
        fprintf(stderr, "usage: %s [-runs=N] [-seed=S] FILE|FOLDER...\n", argv[0]);
        return 2;
    }
    signal(SIGALRM, on_signal);
    signal(SIGABRT, on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(save_current);
    else
        signal(SIGSEGV, on_signal);

    size_t number = 0;
    for (size_t i = 0; i < corpus_count; i++)
        run(&corpus[i], seed, number++);

    random_state = seed;
    struct input in = {malloc(INPUT_MAX), 0};
    if (!in.data)
        fail("malloc");
    for (size_t i = 0; i < runs; i++) {
        const struct input *from = &corpus[i % corpus_count];
        memcpy(in.data, from->data, from->size);
        in.size = from->size;
        for (size_t n = 1 + random_below(4); n > 0; n--)
            mutate(&in);
        run(&in, seed, number++);
    }
    printf("%zu inputs: %zu files and %zu mutations (seed %llu)\n", number, corpus_count, runs,
           (unsigned long long)seed);
    free(in.data);
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    free(corpus);
    return 0;
}
