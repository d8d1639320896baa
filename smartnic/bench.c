/*
 * bench.c - what the SmartNIC's daemon takes off a process: processor time, throughput and latency
 * of compression by it and by the process itself, by so many processes at once. For
 * scripts/bench_nic.sh.
 *
 *     bench_nic [-n CLIENTS] [-e BOUND] [-c fle|huffman] [-t SECONDS] BYTES...
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "device.h"
#include "options.h"

enum { CLIENTS_MAX = 64, TIMES_MAX = 4096 };

/* Of one client. */
struct measured {
    double bytes, wall, cpu; /* of all its calls */
    double time[TIMES_MAX];  /* of each */
    unsigned calls, times;
    size_t coded;
    bool failed;
};

static struct settings {
    int clients, encoder;
    const char *bound;
    double seconds;
} set = {1, 1, "rel=1e-3", 1};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_nic: %s: %s\n", what, why);
    exit(1);
}

/* Until the time is over, at least three times, after one that does not count. */
static void measure(const struct zmpi_device *device, const struct zmpi_job *job,
                    unsigned char *dst, size_t room, const void *src, size_t bytes,
                    struct measured *m)
{
    if (device->compress(job, dst, room, src, &m->coded))
        m->failed = true;
    const double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double now = begin;
    while (!m->failed && (now - begin < set.seconds || m->calls < 3)) {
        if (device->compress(job, dst, room, src, &m->coded))
            m->failed = true;
        const double then = seconds(CLOCK_MONOTONIC);
        if (m->times < TIMES_MAX)
            m->time[m->times++] = then - now;
        now = then;
        m->calls++;
    }
    m->wall = now - begin;
    m->cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    m->bytes = (double)bytes * m->calls;
}

static void client(const char *name, size_t bytes, struct measured *m, atomic_int *waiting)
{
    const char *why = "";
    struct zmpi_array a = {ZMPI_F32, {1, 1, bytes / 4}};
    struct zmpi_bound bound;
    struct zmpi_range range;
    struct zmpi_job job;
    const size_t room = zmpi_compress_capacity(&a);
    float *src = malloc(bytes);
    unsigned char *dst = malloc(room);
    const struct zmpi_device *device = zmpi_device_find(name, 0, &why);
    if (!device || !src || !dst)
        fail(name, device ? "out of memory" : why);
    fill(src, bytes / 4);
    zmpi_range_scan(ZMPI_F32, src, bytes / 4, 0, 1, &range);
    if (zmpi_bound_parse(set.bound, &bound) || zmpi_job_make(&a, &bound, &range, &job))
        fail(set.bound, "no bound to compress by");
    job.encoder = set.encoder;
    atomic_fetch_sub(waiting, 1);
    while (atomic_load(waiting) > 0)
        usleep(1000);
    measure(device, &job, dst, room, src, bytes, m);
    if (m->failed)
        fprintf(stderr, "bench_nic: %s: %s\n", name,
                device->problem && device->problem() ? device->problem() : "failed");
}

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All clients at once, each a process. */
static void row(const char *name, size_t bytes)
{
    const size_t shared = sizeof(atomic_int) + CLIENTS_MAX * sizeof(struct measured) + 64;
    struct measured *m =
        mmap(NULL, shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        fail("mmap", "out of memory");
    atomic_int *waiting = (atomic_int *)(void *)(m + CLIENTS_MAX);
    atomic_store(waiting, set.clients);
    fflush(stdout); /* or each client has it too */
    for (int i = 0; i < set.clients; i++) {
        const pid_t pid = fork();
        if (pid < 0)
            fail("fork", "no more processes");
        if (pid == 0) {
            client(name, bytes, &m[i], waiting);
            exit(m[i].failed);
        }
    }
    int status;
    bool good = true;
    while (wait(&status) > 0)
        good = good && status == 0;
    double all = 0, rate = 0, cpu = 0;
    for (int i = 0; i < set.clients; i++) {
        all += m[i].bytes;
        cpu += m[i].cpu;
        rate += m[i].wall > 0 ? m[i].bytes / m[i].wall : 0;
    }
    qsort(m[0].time, m[0].times, sizeof m[0].time[0], by_time);
    if (!good)
        exit(1);
    printf("%-9s %7d %10zu %10.1f %10.1f %12.3f %7.2f\n", name, set.clients, bytes, rate / 1e6,
           1e6 * m[0].time[m[0].times / 2], 1e9 * cpu / all, (double)bytes / (double)m[0].coded);
    fflush(stdout);
    munmap(m, shared);
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "n:e:c:t:")) != -1) {
        if (c == 'n')
            set.clients = atoi(optarg);
        else if (c == 'e')
            set.bound = optarg;
        else if (c == 'c')
            set.encoder = zmpi_encoder_parse(optarg);
        else if (c == 't')
            set.seconds = atof(optarg);
        else
            return 1;
    }
    if (set.clients < 1 || set.clients > CLIENTS_MAX || !set.encoder || optind == argc)
        fail("usage", "bench_nic [-n 1..64] [-e BOUND] [-c fle|huffman] [-t SECONDS] BYTES...");
    printf("device    clients      bytes       MB/s  median us  host s/GB   ratio\n");
    for (int i = optind; i < argc; i++) {
        size_t bytes;
        if (!zmpi_bytes_parse(argv[i], &bytes) || bytes < 4 || bytes % 4)
            fail(argv[i], "bytes of floats, such as 64K");
        row("cpu", bytes);
        row("smartnic", bytes);
    }
    return 0;
}
