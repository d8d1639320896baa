/* plugin.h - what the two halves of the plug-in share: streams that come back (plugin.c), and
 * streams that the daemon writes to a file (offload_write.c). */
#ifndef ZMPI_NIC_PLUGIN_H
#define ZMPI_NIC_PLUGIN_H

#include <stdatomic.h>

#include "base/hash.h"
#include "plugin/client.h"

#define NIC_STUCK "the thread that talks to zmpi-nicd is stuck"

extern struct nic_blocks nic_blocks;
extern atomic_bool nic_broken; /* a call failed for good: the daemon is not asked any more */
extern _Thread_local char nic_said[256]; /* why the thread's last call failed */

void nic_copy_and_hash(XXH3_state_t *state, unsigned char *dst, const void *src, size_t size);
/* Are these 80 bytes the begin of a stream of this job with `size` bytes? */
bool nic_is_head_of(const struct zmpi_job *job, const unsigned char *is, size_t size);

extern const struct zmpi_device_writer nic_writer;

#endif
