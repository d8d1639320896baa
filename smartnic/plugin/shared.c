/* shared.c - memory and answers of calls, both for calls that wait for a stream and for those that
 * do not. */
#include <string.h>

#include "base/bytes.h"
#include "interp/interp.h"
#include "layout/plan.h"
#include "layout/stream.h"
#include "plugin/plugin.h"

/* Kept between calls. */
#define KEPT ((size_t)64 << 20)
/* Copied and hashed at a time, so that the data stay in the cache in between. */
#define PART ((size_t)64 << 10)
struct nic_blocks nic_blocks = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = KEPT};
atomic_bool nic_broken;
_Thread_local char nic_said[256];

void nic_copy_and_hash(XXH3_state_t *state, unsigned char *dst, const void *src, size_t size)
{
    for (size_t at = 0; at < size; at += PART) {
        const size_t n = size - at < PART ? size - at : PART;
        memcpy(dst + at, (const unsigned char *)src + at, n);
        XXH3_64bits_update(state, dst + at, n);
    }
}

bool nic_is_head_of(const struct zmpi_job *job, const unsigned char *is, size_t size)
{
    unsigned char head[ZMPI_STREAM_HEADER_BYTES + 8];
    struct zmpi_plan plan;
    if (zmpi_plan_make(&job->array, &plan))
        return false;
    struct zmpi_job by = *job;
    if (job->encoder == ZMPI_INTERP && is[8] == ZMPI_HUFFMAN) /* for data that 3 does not take */
        by.encoder = ZMPI_HUFFMAN;
    else if (job->encoder == ZMPI_INTERP)
        zmpi_flare_tile(plan.words, plan.tile);
    plan.chunks = 0; /* it needs the header's fields only */
    zmpi_plan_header(&plan, &by, 0, size, head);
    const double eb = zmpi_loadf64(is + 56);
    return memcmp(is, head, 9) == 0 && memcmp(is + 12, head + 12, 44) == 0 &&
           zmpi_load64(is + 64) == size &&
           (eb == job->abs_bound ||
            (job->finer[1] > 0 && (eb == job->finer[0] || eb == job->finer[1])));
}
