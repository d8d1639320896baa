/* Runs kernels in the emulator on the test's own memory. */
#ifndef ZMPI_TESTS_CUDA_LAUNCH_H
#define ZMPI_TESTS_CUDA_LAUNCH_H

#include "device_code.h"

/* Choices that do not depend on the environment. */
static inline struct zmpi_emu_config setting(unsigned resident, uint64_t seed)
{
    struct zmpi_emu_config config;
    zmpi_emu_defaults(&config);
    config.resident = resident;
    config.seed = seed;
    config.store_buffer = 1;
    config.delay = 16;
    return config;
}

#define RUN(config, kernel, blocks, threads, shared_bytes, args)                                   \
    zmpi_emu_run(&(config), &(struct zmpi_emu_grid){(kernel), #kernel, (blocks), (threads),        \
                                                    (shared_bytes), &(args), sizeof(args)})

#endif
