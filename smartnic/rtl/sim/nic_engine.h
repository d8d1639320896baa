/* nic_engine.h - the simulated engine as one of zmpi-nicd's: what a row of its table holds. */
#ifndef ZMPI_RTL_NIC_ENGINE_H
#define ZMPI_RTL_NIC_ENGINE_H

#include "device.h"

const char *zmpi_rtl_engine_start(void);
enum zmpi_status zmpi_rtl_engine_compress(const struct zmpi_job *job, void *dst,
                                          size_t dst_capacity, const void *src, size_t *size);

#endif
