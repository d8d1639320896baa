/*
 * bench.c - what the SmartNIC's daemon takes off its clients: throughput, latency and processor
 * time of several processes at once, which compress by the daemon and by themselves in turns.
 * scripts/bench/bench_nic.sh runs it.
 *
 *     bench_nic [-n CLIENTS] [-e BOUND] [-c fle|huffman] [-t SECONDS] [-r ROUNDS] [-f FOLDER]
 * BYTES...
 *
 * In each round all clients do the same for SECONDS, first in one way, then in the next
 * (bench_ways.c). Without a FOLDER the ways with files are left out.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_ways.h"
#include "options/options.h"

enum { CLIENTS_MAX = 64, TIMES_MAX = 512, SIZES_MAX = 16 };
/* Limit for the bytes of all clients' arrays. Each client needs five times as much, the daemon
 * twice. */
#define MOST ((size_t)1 << 30)

/* Results of one client, in one way. */
struct measured {
    double bytes, cpu;      /* of all its calls */
    double time[TIMES_MAX]; /* seconds of each of the last calls */
    unsigned calls;
    size_t coded;
    bool failed;
};

struct shared {
    pthread_barrier_t barrier; /* Memory that all clients and the printing process share. */
    struct measured m[CLIENTS_MAX][BENCH_WAYS];
};

static struct settings {
    int clients, encoder, rounds;
    enum zmpi_variant variant;
    const char *bound, *folder;
    double seconds;
    size_t bytes[SIZES_MAX];
    int sizes;
    struct zmpi_range range[SIZES_MAX];
} set = {.clients = 1, .encoder = 1, .rounds = 3, .bound = "rel=1e-3", .seconds = 0.1};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_nic: %s: %s\n", what, why);
    exit(1);
}

static bool left_out(int way)
{
    return bench_ways[way].file && !set.folder;
}

static struct zmpi_array array_of(size_t bytes)
{
    return (struct zmpi_array){ZMPI_F32, {1, 1, bytes / 4}};
}

/* ---- a client ---- */

/* Repeats until the time is over, at least once. */
static void turn(struct bench_client *c, const struct bench_way *way, struct measured *m)
{
    const double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double now = begin, end = begin + set.seconds;
    bool good = !m->failed;
    for (bool first = true; good && (first || now < end); first = false) {
        good = way->call(c);
        const double then = seconds(CLOCK_MONOTONIC);
        m->time[m->calls++ % TIMES_MAX] = then - now;
        now = then;
        m->bytes += (double)c->bytes;
    }
    good = (!way->finish || way->finish(c)) && good;
    m->cpu += seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    m->coded = c->coded;
    m->failed = !good;
}

static void client_size(struct bench_client *c, int size, struct shared *s, struct measured *m)
{
    const struct zmpi_array a = array_of(set.bytes[size]);
    struct zmpi_bound bound;
    c->bytes = set.bytes[size];
    c->capacity = zmpi_compress_capacity(&a);
    c->dst = calloc(1, ZMPI_RECORD_HEADER_BYTES + c->capacity + 8);
    c->at = 0;
    if (!c->dst || zmpi_bound_parse(set.bound, &bound) ||
        zmpi_job_make(&a, &bound, &set.range[size], &c->job))
        fail(set.bound, "no memory, or no bound to compress by");
    c->job.encoder = set.encoder;
    c->job.variant = set.variant;
    for (int round = -1; round < set.rounds; round++) /* the first one does not count */
        for (int way = 0; way < BENCH_WAYS; way++) {
            if (left_out(way))
                continue;
            if (round == 0)
                m[way] = (struct measured){.failed = m[way].failed};
            pthread_barrier_wait(&s->barrier);
            turn(c, &bench_ways[way], &m[way]);
            pthread_barrier_wait(&s->barrier);
        }
    free(c->dst);
}

static _Noreturn void client(const void *src, struct shared *s, struct measured *m)
{
    const char *why = "";
    struct bench_client c = {
        .cpu = zmpi_device_cpu(), .nic = zmpi_device_find("smartnic", NULL, &why), .src = src};
    if (!c.nic)
        fail("smartnic", why);
    if (set.folder && !bench_file_make(&c, set.folder))
        fail(set.folder, "no file can be made there");
    for (int i = 0; i < set.sizes; i++) {
        memset(m, 0, BENCH_WAYS * sizeof *m);
        client_size(&c, i, s, m);
        pthread_barrier_wait(&s->barrier); /* printed */
    }
    if (set.folder)
        unlink(c.path);
    exit(0);
}

/* ---- the process that prints ---- */

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(struct shared *s, int way, size_t bytes, double wall, double *host)
{
    struct measured *first = &s->m[0][way];
    double all = 0, cpu = 0;
    bool failed = false;
    char saved[16] = "";
    for (int i = 0; i < set.clients; i++) {
        all += s->m[i][way].bytes;
        cpu += s->m[i][way].cpu;
        failed = failed || s->m[i][way].failed;
    }
    const unsigned n = first->calls < TIMES_MAX ? first->calls : TIMES_MAX;
    if (failed || n == 0)
        fail(bench_ways[way].name, "failed");
    qsort(first->time, n, sizeof first->time[0], by_time);
    host[way] = 1e9 * cpu / all;
    if (bench_ways[way].nic)
        snprintf(saved, sizeof saved, "%.0f", 100 * (1 - host[way] / host[way - 1]));
    printf("%7d %10zu  %-12s %10.1f %10.1f %10.1f %10.3f %6s %7.2f\n", set.clients, bytes,
           bench_ways[way].name, all / wall / 1e6, 1e6 * first->time[n / 2], 1e6 * first->time[0],
           host[way], saved, (double)bytes / (double)first->coded);
    fflush(stdout);
}

static void print_size(struct shared *s, size_t bytes)
{
    double wall[BENCH_WAYS] = {0}, host[BENCH_WAYS];
    for (int round = -1; round < set.rounds; round++)
        for (int way = 0; way < BENCH_WAYS; way++) {
            if (left_out(way))
                continue;
            pthread_barrier_wait(&s->barrier);
            const double begin = seconds(CLOCK_MONOTONIC);
            pthread_barrier_wait(&s->barrier);
            if (round >= 0)
                wall[way] += seconds(CLOCK_MONOTONIC) - begin;
        }
    for (int way = 0; way < BENCH_WAYS; way++)
        if (!left_out(way))
            print_row(s, way, bytes, wall[way], host);
    pthread_barrier_wait(&s->barrier);
}

/* All others would wait for ever for a client that has died. */
static void on_child(int signal)
{
    int status;
    (void)signal;
    while (waitpid(-1, &status, WNOHANG) > 0)
        if (status != 0)
            _exit(1);
}

static void start(const float *src, struct shared *s)
{
    pthread_barrierattr_t between;
    pthread_barrierattr_init(&between);
    pthread_barrierattr_setpshared(&between, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&s->barrier, &between, (unsigned)set.clients + 1);
    signal(SIGCHLD, on_child);
    fflush(stdout); /* otherwise each client would inherit it */
    for (int i = 0; i < set.clients; i++) {
        const pid_t pid = fork();
        if (pid < 0)
            fail("fork", "no more processes");
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            signal(SIGCHLD, SIG_DFL);
            client(src, s, s->m[i]);
        }
    }
}

static void *shared_memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        fail("mmap", "out of memory");
    return at;
}

static void add_size(const char *text)
{
    size_t bytes;
    if (!zmpi_bytes_parse(text, &bytes) || bytes < 4 || bytes % 4)
        fail(text, "bytes of floats, such as 64K");
    if (bytes * (size_t)set.clients > MOST)
        printf("# %d clients of %s each: left out, more than 1 GiB\n", set.clients, text);
    else if (set.sizes < SIZES_MAX)
        set.bytes[set.sizes++] = bytes;
}

static void parse(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "n:e:c:t:r:f:")) != -1) {
        if (c == 'n')
            set.clients = atoi(optarg);
        else if (c == 'e')
            set.bound = optarg;
        else if (c == 'c')
            set.encoder = zmpi_encoder_parse(optarg, &set.variant);
        else if (c == 't')
            set.seconds = atof(optarg);
        else if (c == 'r')
            set.rounds = atoi(optarg);
        else if (c == 'f')
            set.folder = optarg;
        else
            exit(1);
    }
    if (set.clients < 1 || set.clients > CLIENTS_MAX || !set.encoder || set.rounds < 1 ||
        optind == argc)
        fail("usage", "bench_nic [-n 1..64] [-e BOUND] [-c fle|huffman] [-t SECONDS] [-r ROUNDS] "
                      "[-f FOLDER] BYTES...");
    for (int i = optind; i < argc; i++)
        add_size(argv[i]);
}

int main(int argc, char **argv)
{
    size_t most = 0;
    parse(argc, argv);
    for (int i = 0; i < set.sizes; i++)
        most = set.bytes[i] > most ? set.bytes[i] : most;
    if (most == 0)
        return 0;
    float *src = shared_memory(most);
    struct shared *s = shared_memory(sizeof *s);
    fill(src, most / 4);
    for (int i = 0; i < set.sizes; i++)
        zmpi_range_scan(ZMPI_F32, src, set.bytes[i] / 4, 0, 1, &set.range[i]);
    start(src, s);
    printf("clients      bytes  by                 MB/s  median us   least us  host s/GB saved%%   "
           "ratio\n");
    for (int i = 0; i < set.sizes; i++)
        print_size(s, set.bytes[i]);
    return 0;
}
