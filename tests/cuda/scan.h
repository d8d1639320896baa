/* A scan in one kernel: sums by decoupled look-back. Each block adds up its part, publishes that,
 * looks back over what the blocks before it have published until one knows its whole prefix, and
 * publishes its own. */
#ifndef ZMPI_TESTS_CUDA_SCAN_H
#define ZMPI_TESTS_CUDA_SCAN_H

#include "device_code.h"

struct scan_args {
    const uint32_t *in;
    uint64_t *out;    /* out[i]: sum of in[0..i] */
    uint64_t *status; /* of each part, 0 at first: flag and value in one word */
    uint64_t *apart;  /* of each part: the value, where it is not in that word */
    uint32_t *ticket; /* 0 at first */
    uint32_t n;
    uint32_t value_apart; /* publish the value by a plain store, then the flag */
    uint32_t fenced;      /* ... and order the two, on both sides; without that it is wrong */
};

#define SCAN_THREADS   64u
#define SCAN_AGGREGATE (UINT64_C(1) << 62) /* the value is of this part alone */
#define SCAN_PREFIX    (UINT64_C(2) << 62) /* of this one and all before */
#define SCAN_VALUE     (SCAN_AGGREGATE - 1)

struct scan_shared {
    uint32_t part;
    uint64_t warps[SCAN_THREADS / 32];
    uint64_t before;
};

ZD_FN void scan_publish(const struct scan_args *a, uint32_t part, uint64_t flag, uint64_t value)
{
    if (a->value_apart == 0) {
        zd_st_relaxed_u64(&a->status[part], flag | value);
        return;
    }
    /* Two places, so that a reader of one flag never finds the other's value. */
    zd_st_u64(&a->apart[2 * part + (flag == SCAN_PREFIX)], value);
    if (a->fenced != 0)
        zd_fence();
    zd_st_relaxed_u64(&a->status[part], flag);
}

ZD_FN uint64_t scan_look(const struct scan_args *a, uint32_t part)
{
    const uint64_t status = zd_ld_relaxed_u64(&a->status[part]);
    const uint64_t flag = status & ~SCAN_VALUE;
    if (a->value_apart == 0 || flag == 0)
        return status;
    if (a->fenced != 0)
        zd_fence();
    return flag | zd_ld_u64(&a->apart[2 * part + (flag == SCAN_PREFIX)]);
}

ZD_FN uint64_t scan_look_back(const struct scan_args *a, uint32_t part)
{
    uint64_t sum = 0;
    while (part > 0) {
        const uint64_t status = scan_look(a, part - 1);
        if (status == 0) {
            ZD_SPIN();
            continue;
        }
        sum += status & SCAN_VALUE;
        if ((status & SCAN_PREFIX) != 0)
            break;
        part--;
    }
    return sum;
}

ZD_KERNEL_BOUNDED(scan, struct scan_args, a, SCAN_THREADS, 1)
{
    ZD_SHARED(struct scan_shared, s);
    const uint32_t tid = zd_tid(), warp = zd_warp();
    if (tid == 0) /* parts begin in the order in which blocks do */
        s->part = zd_atomic_add_u32(a.ticket, 1);
    ZD_SYNC();
    const uint32_t part = s->part, i = part * SCAN_THREADS + tid;
    uint64_t sum = i < a.n ? a.in[i] : 0;
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint64_t left = zd_shfl_up_u64(sum, step);
        sum += zd_lane() >= step ? left : 0;
    }
    if (zd_lane() == 31)
        s->warps[warp] = sum;
    ZD_SYNC();
    if (tid == 0) {
        uint64_t total = 0;
        for (uint32_t w = 0; w < SCAN_THREADS / 32; w++)
            total += s->warps[w];
        if (part > 0)
            scan_publish(&a, part, SCAN_AGGREGATE, total);
        s->before = scan_look_back(&a, part);
        scan_publish(&a, part, SCAN_PREFIX, s->before + total);
    }
    ZD_SYNC();
    sum += s->before;
    for (uint32_t w = 0; w < warp; w++)
        sum += s->warps[w];
    if (i < a.n)
        zd_st_u64(&a.out[i], sum);
}

#endif
