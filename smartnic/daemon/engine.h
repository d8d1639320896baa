/*
 * engine.h - what compresses and decodes inside zmpi-nicd: the CPU's codec on the cores of a
 * SmartNIC, or a plug-in: hardware, or a model of it. Every engine makes the bytes that the CPU
 * makes (docs/format.md part 4).
 *
 * A plug-in is lib/zmpi/nic/libzmpi_nic_NAME.so beside bin/zmpi-nicd. It exports zmpi_nic_engine.
 */
#ifndef ZMPI_NIC_ENGINE_H
#define ZMPI_NIC_ENGINE_H

#include "device.h"

struct nic_engine {
    const char *name, *help;
    /* NULL if it can be used, else what is missing. Once, before the first job. */
    const char *(*start)(void);
    /* As in struct zmpi_device. From several threads at once; ZMPI_ERR_UNSUPPORTED for jobs that
     * it does not do: the client's CPU does them. */
    enum zmpi_status (*compress)(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size);
    /* All of a stream. */
    enum zmpi_status (*decompress)(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   int threads);
};

/* What a plug-in exports, by the name ZMPI_NIC_ENGINE. It returns NULL for another ABI. */
enum { ZMPI_NIC_ENGINE_ABI = 1 };
#define ZMPI_NIC_ENGINE "zmpi_nic_engine"
typedef const struct nic_engine *nic_engine_get(unsigned abi);

/* i = 0, 1, ... until NULL: the CPU, then the plug-ins. Not for several threads. */
const struct nic_engine *nic_engine(size_t i);
/* NULL: there is none of this name. */
const struct nic_engine *nic_engine_find(const char *name);

#endif
