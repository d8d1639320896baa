/* plugin.h - the CUDA plug-in on the emulated runtime, a field, and what the CPU makes of it. */
#ifndef ZMPI_TESTS_CUDA_PLUGIN_H
#define ZMPI_TESTS_CUDA_PLUGIN_H

#include <criterion/criterion.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device.h"
#include "emulator.h"

enum { N = 5003 };

static const struct zmpi_device *cuda;
static float field[N];
static unsigned char expected[2 * sizeof field];
static size_t expected_size;
static struct zmpi_job job;

static inline void make_field(void)
{
    struct zmpi_array array = {ZMPI_F32, {1, 1, N}};
    struct zmpi_bound bound = {ZMPI_ABS, 1e-3};
    for (int i = 0; i < N; i++)
        field[i] = sinf(0.01F * (float)i) + (i % 900 == 3 ? NAN : 0);
    cr_assert_eq(zmpi_job_make(&array, &bound, &ZMPI_RANGE_EMPTY, &job), ZMPI_OK);
    cr_assert_eq(
        zmpi_device_cpu()->compress(&job, expected, sizeof expected, field, &expected_size),
        ZMPI_OK);
}

/* Opened, as for `auto`; then asked for by name. */
static inline void open_plugins(void)
{
    const char *why;
    zmpi_log_set(ZMPI_LOG_QUIET);
    setenv("ZMPI_PLUGIN_PATH", ZMPI_TEST_PLUGINS, 1);
    zmpi_device_find("auto", NULL, &why);
    make_field();
}

static inline void find_plugin(void)
{
    const char *why = "";
    open_plugins();
    cuda = zmpi_device_find("cuda", NULL, &why);
    cr_assert_not_null(cuda, "%s", why);
}

static inline void two_gpus(void)
{
    setenv("ZMPI_EMU_DEVICES", "2", 1);
    find_plugin();
}

static inline void *on_device(const void *data, size_t bytes)
{
    void *p;
    cr_assert_eq(cudaMalloc(&p, bytes), cudaSuccess);
    if (data)
        cr_assert_eq(cudaMemcpy(p, data, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    return p;
}

static inline enum zmpi_status compress_as_expected(const void *src)
{
    static _Thread_local unsigned char coded[sizeof expected];
    size_t size = 0;
    enum zmpi_status status = cuda->compress(&job, coded, sizeof coded, src, &size);
    if (!status) {
        cr_assert_eq(size, expected_size);
        cr_assert_arr_eq(coded, expected, size);
    }
    return status;
}

static inline void succeeds(const void *src)
{
    enum zmpi_status status = compress_as_expected(src);
    cr_assert_eq(status, ZMPI_OK, "%s", cuda->problem());
}

#endif
