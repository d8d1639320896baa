/* engine.c - the engines there are (engine.h). */
#include "daemon/engine.h"

#include <string.h>

#ifdef ZMPI_RTL
#include "rtl/sim/nic_engine.h"
#endif

static const char *always(void)
{
    return NULL;
}

static enum zmpi_status by_cpu(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                               const void *src, size_t *size)
{
    return zmpi_device_cpu()->compress(job, dst, dst_capacity, src, size);
}

static enum zmpi_status back_by_cpu(void *dst, size_t dst_capacity, const void *src,
                                    size_t src_size, int threads)
{
    return zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, NULL, threads);
}

static const struct nic_engine table[] = {
    {"cpu", "the codec on this machine's cores", always, by_cpu, back_by_cpu},
#ifdef ZMPI_RTL
    {"rtl-sim", "the engine in hardware, simulated: slow, for tests", zmpi_rtl_engine_start,
     zmpi_rtl_engine_compress, back_by_cpu},
#endif
};

const struct nic_engine *nic_engine(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const struct nic_engine *nic_engine_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
