/*
 * device.c - how devices are found: the CPU, plug-ins that work, plug-ins that do not, and what is
 * said of them.
 *
 * Every test is a process of its own, so each opens the plug-ins afresh.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device.h"
#include "device/offload.h"
#include "layout/stream.h"

Test(device, cpu_is_always_there)
{
    const char *why = NULL;
    cr_assert_eq(zmpi_device_find("cpu", NULL, &why), zmpi_device_cpu());
    cr_assert_str_eq(zmpi_device_cpu()->name, "cpu");
    cr_assert_eq(zmpi_device_cpu()->abi, ZMPI_DEVICE_ABI);
    cr_assert_null(zmpi_device_cpu()->probe());
    cr_assert_not_null(
        zmpi_device_find("auto", &(struct zmpi_work){1 << 20, ZMPI_FLE, false}, &why));
}

Test(device, unknown_name)
{
    const char *why = NULL;
    cr_assert_null(zmpi_device_find("warpdrive", NULL, &why));
    cr_assert_not_null(why);
    cr_assert_null(zmpi_device_find("", NULL, &why));
    cr_assert_null(zmpi_device_find("../../etc/passwd", NULL, &why));
}

/* Nothing is lost for a device that is not there. */
Test(device, missing_is_the_cpus)
{
    static const float data[1000];
    static unsigned char dst[20000];
    const struct zmpi_array array = {ZMPI_F32, {1, 1, 1000}};
    const struct zmpi_bound bound = {ZMPI_LOSSLESS, 0};
    struct zmpi_offload offload = {.what = "a test", .name = "warpdrive"};
    struct zmpi_job job;
    size_t size = 0;
    cr_assert_eq(zmpi_job_make(&array, &bound, NULL, &job), ZMPI_OK);
    cr_assert_eq(zmpi_offload_compress(&offload, &job, NULL, dst, sizeof dst, data, &size),
                 ZMPI_OK);
    cr_assert_eq(offload.coded.last, zmpi_device_cpu());
    cr_assert_gt(size, 0);
}

Test(device, plugin_path_of_nothing)
{
    const char *why = NULL;
    setenv("ZMPI_PLUGIN_PATH", ":/nonexistent::/dev/null:", 1);
    cr_assert_eq(zmpi_device_find("auto", NULL, &why), zmpi_device_cpu());
}

#ifdef ZMPI_TEST_PLUGINS

static void use_plugins(void)
{
    zmpi_log_set(ZMPI_LOG_QUIET);
    setenv("ZMPI_PLUGIN_PATH", ZMPI_TEST_PLUGINS, 1);
}

static void refused(const char *name, const char *reason)
{
    const char *why = NULL;
    cr_assert_null(zmpi_device_find(name, NULL, &why), "%s was taken", name);
    cr_assert_not_null(why);
    cr_assert_not_null(strstr(why, reason), "%s: \"%s\" does not say \"%s\"", name, why, reason);
}

Test(device, encoders_that_it_lacks, .init = use_plugins)
{
    const char *why = NULL;
    const struct zmpi_device *d = zmpi_device_find("test", NULL, &why), *cpu = zmpi_device_cpu();
    cr_assert_not_null(d, "%s", why);
    cr_assert_eq(zmpi_device_for(d, ZMPI_FLE), d);
    cr_assert_eq(zmpi_device_for(d, ZMPI_HUFFMAN), cpu);
    cr_assert_eq(zmpi_device_for(cpu, ZMPI_HUFFMAN), cpu);
    cr_assert_eq(zmpi_device_for(d, 99), cpu);
}

Test(device, good_plugin, .init = use_plugins)
{
    const char *why = NULL;
    const struct zmpi_device *d = zmpi_device_find("test", NULL, &why);
    cr_assert_not_null(d, "%s", why);
    cr_assert_str_eq(d->name, "test");

    float in[6] = {1, 2, 3, 4, 5, 6}, coded[6], out[6];
    struct zmpi_job job = {.array = {ZMPI_F32, {1, 2, 3}}, .encoder = 1, .threads = 1};
    size_t size = 0;
    cr_assert_eq(d->compress(&job, coded, sizeof coded, in, &size), ZMPI_OK);
    cr_assert_eq(d->decompress(out, sizeof out, coded, size, NULL, 1), ZMPI_OK);
    cr_assert_arr_eq(in, out, sizeof in);
}

/* The free one, though others that cannot be used are as cheap. */
Test(device, auto_takes_the_cheapest, .init = use_plugins)
{
    const char *why = NULL;
    cr_assert_str_eq(
        zmpi_device_find("auto", &(struct zmpi_work){1 << 20, ZMPI_FLE, false}, &why)->name,
        "test");
    cr_assert_str_eq(
        zmpi_device_find("cpu", &(struct zmpi_work){1 << 20, ZMPI_FLE, false}, &why)->name, "cpu");
    cr_assert_str_eq(zmpi_device_find("gpuonly", NULL, &why)->name, "gpuonly");
}

/* The free one has not every encoder; what one of the CPU's takes says nothing of the other. */
Test(device, auto_asks_for_the_encoder, .init = use_plugins)
{
    static float data[1 << 17];
    static unsigned char coded[2 * sizeof data];
    const struct zmpi_device *cpu = zmpi_device_cpu();
    const struct zmpi_array array = {ZMPI_F32, {1, 1, 1 << 17}};
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    const char *why = NULL;
    for (int decompress = 0; decompress < 2; decompress++) {
        const struct zmpi_work fle = {sizeof data, ZMPI_FLE, decompress},
                               huffman = {sizeof data, ZMPI_HUFFMAN, decompress};
        cr_assert_str_eq(zmpi_device_find("auto", &fle, &why)->name, "test");
        cr_assert_eq(zmpi_device_find("auto", &huffman, &why), cpu);
        const double before[2] = {cpu->cost(&fle), cpu->cost(&huffman)};
        struct zmpi_job job;
        size_t size = 0;
        cr_assert_eq(zmpi_job_make(&array, &bound, NULL, &job), ZMPI_OK);
        job.encoder = ZMPI_HUFFMAN;
        cr_assert_eq(cpu->compress(&job, coded, sizeof coded, data, &size), ZMPI_OK);
        cr_assert_eq(cpu->decompress(data, sizeof data, coded, size, NULL, 1), ZMPI_OK);
        cr_assert_eq(cpu->cost(&fle), before[0]);
        cr_assert_neq(cpu->cost(&huffman), before[1]);
    }
}

Test(device, refusals_say_why, .init = use_plugins)
{
    refused("nocard", "no card found");
    refused("badabi", "77");
    refused("tiny", "ABI");
    refused("nosymbol", "zmpi_device_plugin");
    refused("nothing", "no device");
    refused("incomplete", "functions");
    refused("memoryless", "functions");
    refused("misnamed", "name");
    refused("garbage", "libzmpi_garbage.so");
}

static void count(const struct zmpi_device *device, const char *missing, void *context)
{
    int *seen = context;
    seen[0]++;
    seen[1] += missing == NULL;
    seen[2] += strcmp(device->name, "cpu") == 0;
}

Test(device, each, .init = use_plugins)
{
    int seen[3] = {0};
    zmpi_device_each(count, seen);
    cr_assert_eq(seen[0], 4, "%d devices", seen[0]); // cpu, test, nocard, gpuonly
    cr_assert_eq(seen[1], 3, "%d that work", seen[1]);
    cr_assert_eq(seen[2], 1);
}

/* One line, with the plug-in's path, its ABI and ours. */
Test(device, wrong_abi_is_logged_once)
{
    char line[4096] = "", ours[32];
    const char *why = NULL;
    snprintf(ours, sizeof ours, "has %u", ZMPI_DEVICE_ABI);
    setenv("ZMPI_PLUGIN_PATH", ZMPI_TEST_PLUGINS, 1);
    cr_redirect_stderr();
    for (int i = 0; i < 3; i++)
        zmpi_device_find("auto", NULL, &why);
    fflush(stderr);
    FILE *log = cr_get_redirected_stderr();
    int lines = 0;
    while (fgets(line, sizeof line, log) != NULL)
        if (strstr(line, "libzmpi_badabi.so") != NULL) {
            cr_assert_not_null(strstr(line, "ABI 77"), "%s", line);
            cr_assert_not_null(strstr(line, ours), "%s", line);
            lines++;
        }
    cr_assert_eq(lines, 1, "%d lines", lines);
}

/* Nobody is asked about a buffer before plug-ins are opened. */
Test(device, holder, .init = use_plugins)
{
    const char *why = NULL;
    char memory[64], own[64], copy[8] = {0};
    snprintf(own, sizeof own, "%llx %zu", (unsigned long long)(uintptr_t)memory, sizeof memory);
    setenv("ZMPI_TEST_GPU_MEMORY", own, 1);
    cr_assert_null(zmpi_device_holding(memory));
    const struct zmpi_device *d = zmpi_device_find("gpuonly", NULL, &why);
    cr_assert_not_null(d, "%s", why);
    cr_assert_eq(zmpi_device_holding(memory), d);
    cr_assert_eq(zmpi_device_holding(memory + 63), d);
    cr_assert_null(zmpi_device_holding(memory + 64));
    memcpy(memory + 8, "seven b", 8);
    cr_assert_eq(zmpi_device_move(d, copy, memory + 8, 8), ZMPI_OK);
    cr_assert_str_eq(copy, "seven b");
    cr_assert_eq(zmpi_device_move(NULL, memory, copy, 8), ZMPI_OK);
    cr_assert_str_eq(memory, "seven b");
}

/* auto asks what a device costs first, and probes it when that would be the best. */
Test(device, auto_starts_what_it_takes, .init = use_plugins)
{
    const char *why = NULL;
    setenv("ZMPI_TEST_NOCARD_COST", "1", 1);
    cr_assert_str_eq(
        zmpi_device_find("auto", &(struct zmpi_work){1 << 20, ZMPI_FLE, false}, &why)->name,
        "test");
    cr_assert_null(getenv("ZMPI_TEST_NOCARD_PROBED"));
    setenv("ZMPI_TEST_NOCARD_COST", "-1", 1);
    cr_assert_str_eq(
        zmpi_device_find("auto", &(struct zmpi_work){1 << 20, ZMPI_FLE, false}, &why)->name,
        "test");
    cr_assert_not_null(getenv("ZMPI_TEST_NOCARD_PROBED"));
}

/* The process's number reaches devices that are opened before and after it is told. */
Test(device, number, .init = use_plugins)
{
    const char *why = NULL;
    zmpi_device_prefer(3);
    zmpi_device_find("auto", NULL, &why);
    cr_assert_str_eq(getenv("ZMPI_TEST_GPU_PREFERRED"), "3");
    zmpi_device_prefer(5);
    cr_assert_str_eq(getenv("ZMPI_TEST_GPU_PREFERRED"), "5");
    zmpi_device_give_all();
}

static void *ask(void *answer)
{
    const char *why = NULL;
    *(const struct zmpi_device **)answer =
        zmpi_device_find("auto", &(struct zmpi_work){4096, ZMPI_FLE, false}, &why);
    return NULL;
}

Test(device, many_threads_at_once, .init = use_plugins)
{
    enum { THREADS = 16 };
    pthread_t thread[THREADS];
    const struct zmpi_device *answer[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, ask, &answer[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        cr_assert_eq(answer[i], answer[0]);
    }
    cr_assert_str_eq(answer[0]->name, "test");
}

#endif
