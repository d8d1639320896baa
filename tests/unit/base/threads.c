/*
 * threads.c - the same bytes, and the same errors, for any number of threads and of callers at
 * once.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/pool.h"
#include "device.h"
#include "kit.h"

static const int counts[] = {1, 2, 3, 8};

static struct zmpi_job job_of(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                              int threads)
{
    struct zmpi_range range;
    struct zmpi_job job;
    zmpi_range_scan(a->type, src, kit_elements(a), 0, threads, &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    job.threads = threads;
    return job;
}

static struct kit_stream compress_with(const struct zmpi_array *a, struct zmpi_bound bound,
                                       const void *src, int threads)
{
    struct zmpi_job job = job_of(a, bound, src, threads);
    size_t capacity = zmpi_compress_capacity(a);
    struct kit_stream s = {malloc(capacity), 0};
    cr_assert_not_null(s.data);
    cr_assert_eq(zmpi_device_cpu()->compress(&job, s.data, capacity, src, &s.size), ZMPI_OK);
    return s;
}

static void same_decoded(const struct zmpi_array *a, const struct kit_stream *s)
{
    size_t bytes = kit_bytes(a);
    void *one = kit_decompress(s);
    for (size_t i = 0; i < KIT_COUNT(counts); i++) {
        void *out = calloc(bytes + 1, 1);
        cr_assert_eq(zmpi_device_cpu()->decompress(out, bytes, s->data, s->size, NULL, counts[i]),
                     ZMPI_OK);
        cr_assert_arr_eq(one, out, bytes, "decoded with %d threads", counts[i]);
        free(out);
    }
    free(one);
}

static void same_bytes(const struct zmpi_array *a, struct zmpi_bound bound, enum kit_data kind)
{
    struct kit_random r = {(uint64_t)kind};
    void *src = kit_make(&r, a, kind);
    struct kit_stream one = compress_with(a, bound, src, 1);
    for (size_t i = 1; i < KIT_COUNT(counts); i++) {
        struct kit_stream s = compress_with(a, bound, src, counts[i]);
        cr_assert_eq(s.size, one.size, "%d threads, kind %d", counts[i], (int)kind);
        cr_assert_arr_eq(s.data, one.data, one.size, "%d threads, kind %d", counts[i], (int)kind);
        free(s.data);
    }
    same_decoded(a, &one);
    free(one.data);
    free(src);
}

Test(threads, same_bytes, .timeout = 300)
{
    const struct zmpi_array arrays[] = {
        kit_array(ZMPI_F32, 1, 1, 1500000),   kit_array(ZMPI_F64, 30, 101, 257),
        kit_array(ZMPI_F32, 1, 700, 901),     kit_array(ZMPI_I32, 1, 1, 400001),
        kit_array(ZMPI_BYTES, 1, 1, 1000003), kit_array(ZMPI_F32, 1, 1, 100),
        kit_array(ZMPI_F32, 0, 3, 7),
    };
    const enum kit_data kinds[] = {KIT_SMOOTH,  KIT_BITS,  KIT_PATCHES,
                                   KIT_SPECIAL, KIT_NOISE, KIT_SPECIAL};
    const struct zmpi_bound bounds[] = {kit_rel(1e-3), kit_abs(1e-3),   kit_rel(1e-3),
                                        kit_abs(1e-3), {ZMPI_PSNR, 70}, {ZMPI_PW_REL, 1e-3}};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++)
        for (size_t k = 0; k < KIT_COUNT(kinds); k++)
            same_bytes(&arrays[i], bounds[k], kinds[k]);
}

/*
 * Whatever place runs out first, it is an error, nobody waits for ever, and nothing is written
 * behind the buffer.
 */
Test(threads, too_small, .timeout = 300)
{
    struct kit_random r = {1};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 1000000);
    void *src = kit_make(&r, &a, KIT_PATCHES);
    struct kit_stream whole = compress_with(&a, kit_abs(1e-3), src, 1);
    struct zmpi_job job = job_of(&a, kit_abs(1e-3), src, 3);
    for (size_t i = 0; i < 40; i++) {
        size_t capacity = i < 20 ? whole.size - 1 - i : kit_below(&r, whole.size), size = 0;
        struct kit_guarded g = kit_guard(capacity, true);
        cr_assert_eq(zmpi_device_cpu()->compress(&job, g.data, capacity, src, &size),
                     ZMPI_ERR_SPACE);
        kit_unguard(&g);
    }
    struct kit_guarded g = kit_guard(whole.size, true);
    size_t size = 0;
    cr_assert_eq(zmpi_device_cpu()->compress(&job, g.data, whole.size, src, &size), ZMPI_OK);
    cr_assert_arr_eq(g.data, whole.data, whole.size);
    kit_unguard(&g);
    job.threads = 0;
    cr_assert_eq(zmpi_device_cpu()->compress(&job, whole.data, whole.size, src, &size),
                 ZMPI_ERR_ARG);
    free(whole.data);
    free(src);
}

Test(threads, first_damaged_chunk, .timeout = 300)
{
    struct kit_random r = {2};
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 1, 500000);
    void *src = kit_make(&r, &a, KIT_SMOOTH);
    struct kit_stream s = compress_with(&a, kit_abs(1e-6), src, 1);
    struct zmpi_stream parsed;
    cr_assert_eq(zmpi_stream_parse(&parsed, s.data, s.size), ZMPI_OK);
    size_t body = s.size / 2;
    for (int i = 0; i < 30; i++) {
        size_t at = body + kit_below(&r, s.size - body), first = 0, bad = 0;
        s.data[at] ^= 0x40;
        s.data[s.size - 1] ^= 1; /* the last chunk is damaged each time (or is right again) */
        enum zmpi_status one = zmpi_stream_decode(&parsed, NULL, 1, NULL, &first);
        for (size_t t = 0; t < KIT_COUNT(counts); t++) {
            cr_assert_eq(zmpi_stream_decode(&parsed, NULL, counts[t], src, &bad), one);
            cr_assert_eq(bad, first);
        }
        s.data[at] ^= 0x40;
    }
    free(s.data);
    free(src);
}

/* ---- several callers ---- */

struct caller {
    pthread_t thread;
    const struct zmpi_array *a;
    const void *src;
    const struct kit_stream *expected;
    bool right;
};

static void *call_often(void *context)
{
    struct caller *c = context;
    size_t capacity = zmpi_compress_capacity(c->a), bytes = kit_bytes(c->a);
    unsigned char *dst = malloc(capacity);
    void *out = malloc(bytes);
    c->right = true;
    for (int i = 0; i < 10; i++) {
        struct zmpi_job job = job_of(c->a, kit_rel(1e-4), c->src, 1 + i % 4);
        size_t size = 0;
        c->right &= !zmpi_device_cpu()->compress(&job, dst, capacity, c->src, &size) &&
                    size == c->expected->size && memcmp(dst, c->expected->data, size) == 0;
        c->right &= !zmpi_device_cpu()->decompress(out, bytes, dst, size, NULL, 3);
    }
    free(out);
    free(dst);
    return NULL;
}

static void call_at_once(struct caller *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(pthread_create(&c[i].thread, NULL, call_often, &c[i]), 0);
    for (size_t i = 0; i < n; i++) {
        pthread_join(c[i].thread, NULL);
        cr_assert(c[i].right, "caller %zu", i);
    }
}

Test(threads, concurrent_callers, .timeout = 300)
{
    struct kit_random r = {3};
    struct zmpi_array a = kit_array(ZMPI_F32, 20, 100, 300);
    void *src = kit_make(&r, &a, KIT_PATCHES);
    struct kit_stream s = compress_with(&a, kit_rel(1e-4), src, 1);
    struct caller c[4];
    for (size_t i = 0; i < KIT_COUNT(c); i++)
        c[i] = (struct caller){.a = &a, .src = src, .expected = &s};
    call_at_once(c, KIT_COUNT(c));
    zmpi_pool_stop();
    cr_assert_eq(zmpi_pool_helpers(), 0);
    call_at_once(c, KIT_COUNT(c)); /* it starts again */
    free(s.data);
    free(src);
}

/* ---- the pool ---- */

static void count_up(void *context)
{
    __atomic_fetch_add((int *)context, 1, __ATOMIC_RELAXED);
}

Test(threads, one_thread_has_no_helpers)
{
    int n = 0;
    zmpi_pool_stop();
    zmpi_pool_run(1, count_up, &n);
    zmpi_pool_run(0, count_up, &n);
    cr_assert_eq(n, 2);
    cr_assert_eq(zmpi_pool_helpers(), 0);
    zmpi_pool_run(3, count_up, &n);
    cr_assert_eq(zmpi_pool_helpers(), 2);
    zmpi_pool_stop();
    zmpi_pool_stop();
    cr_assert_eq(zmpi_pool_helpers(), 0);
}

static void *occupy_helpers(void *context)
{
    call_often(context);
    return NULL;
}

/*
 * gcc 12's AddressSanitizer does not protect its allocator in a fork: when another thread is in
 * malloc, the child waits for ever in its own. There the other thread ends before the forks.
 */
#ifdef __SANITIZE_ADDRESS__
static const bool fork_amid_calls = false;
#else
static const bool fork_amid_calls = true;
#endif

/* A fork while another thread compresses: the child compresses too, with helpers of its own. */
Test(threads, fork, .timeout = 300)
{
    struct kit_random r = {4};
    struct zmpi_array a = kit_array(ZMPI_F32, 10, 100, 300);
    void *src = kit_make(&r, &a, KIT_SMOOTH);
    struct kit_stream s = compress_with(&a, kit_rel(1e-4), src, 2);
    struct caller c = {.a = &a, .src = src, .expected = &s};
    cr_assert_eq(pthread_create(&c.thread, NULL, occupy_helpers, &c), 0);
    if (!fork_amid_calls)
        pthread_join(c.thread, NULL);
    for (int i = 0; i < 5; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            struct caller mine = c;
            int before = zmpi_pool_helpers();
            call_often(&mine);
            exit(before == 0 && mine.right ? 0 : 1); /* through the destructors */
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: status %x", status);
    }
    if (fork_amid_calls)
        pthread_join(c.thread, NULL);
    cr_assert(c.right);
    free(s.data);
    free(src);
}

static _Atomic bool on_helper;
static pthread_t caller_thread;

static void note_thread(int number)
{
    (void)number;
    if (!pthread_equal(pthread_self(), caller_thread))
        on_helper = true;
}

/* The program's signal handlers run on the program's threads. */
Test(threads, signals, .timeout = 300)
{
    int n = 0;
    caller_thread = pthread_self();
    signal(SIGUSR1, note_thread);
    zmpi_pool_run(8, count_up, &n);
    cr_assert_gt(zmpi_pool_helpers(), 0);
    for (int i = 0; i < 200; i++)
        kill(getpid(), SIGUSR1);
    cr_assert(!on_helper);
}

/* ---- the range ---- */

Test(threads, range)
{
    struct kit_random r = {5};
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 1, 1000000);
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
        double *src = kit_make(&r, &a, (enum kit_data)kind);
        struct zmpi_range one, many;
        zmpi_range_of(ZMPI_F64, src, kit_elements(&a), &one);
        for (size_t i = 0; i < KIT_COUNT(counts); i++) {
            zmpi_range_scan(ZMPI_F64, src, kit_elements(&a), 0, counts[i], &many);
            cr_assert(one.min == many.min && one.max == many.max && one.fill == many.fill);
        }
        free(src);
    }
}
