/*
 * engine.h - what compresses and decodes inside zmpi-nicd: the CPU's codec on the cores of a
 * SmartNIC, or a plug-in for hardware or a model of it. Every engine makes the CPU's bytes
 * (docs/format.md part 4).
 *
 * A plug-in is lib/zmpi/nic/libzmpi_nic_NAME.so beside bin/zmpi-nicd. It exports zmpi_nic_engine.
 */
#ifndef ZMPI_NIC_ENGINE_H
#define ZMPI_NIC_ENGINE_H

#include "device.h"

struct nic_engine {
    const char *name, *help;
    /* called once, before the first job: NULL, or what is missing to use the engine */
    const char *(*start)(void);
    /* As in struct zmpi_device, from several threads at once. ZMPI_ERR_UNSUPPORTED leaves a job to
     * the client's CPU. */
    enum zmpi_status (*compress)(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size);
    /* Decodes a whole stream. */
    enum zmpi_status (*decompress)(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   int threads);
};

/* What a plug-in exports, by the name ZMPI_NIC_ENGINE. It returns NULL for another ABI. */
enum { ZMPI_NIC_ENGINE_ABI = 1 };
#define ZMPI_NIC_ENGINE "zmpi_nic_engine"
typedef const struct nic_engine *nic_engine_get(unsigned abi);

/* The engines by number, until NULL: the CPU, then the plug-ins. Only one thread may call it. */
const struct nic_engine *nic_engine(size_t i);
/* NULL: there is none of this name. */
const struct nic_engine *nic_engine_find(const char *name);

#endif
