/* Kernels that are wrong, each in one way; args.which chooses one if a kernel has several. */
#ifndef ZMPI_TESTS_CUDA_MISTAKES_H
#define ZMPI_TESTS_CUDA_MISTAKES_H

#include "device_code.h"

struct mistake_args {
    uint64_t *words;
    uint32_t *flag;
    uint32_t which;
};

/* 0: none. A warp's lanes, or a block's threads, that part ways. */
ZD_KERNEL(mistake_diverge, struct mistake_args, a)
{
    const int odd = zd_tid() == 5, odd_warp = zd_warp() == 1;
    if ((a.which == 1 && odd) || (a.which == 5 && odd_warp)) {
        zd_atomic_add_u64(&a.words[zd_bid()], 1);
        return;
    }
    /* The others come when these have gone. */
    while (zd_ld_relaxed_u64(&a.words[zd_bid()]) < (a.which == 1 ? 1u : a.which == 5 ? 32u : 0u))
        ZD_SPIN();
    if (a.which == 2 && odd)
        ZD_SYNC(); /* while its warp does a ballot */
    if (a.which == 3 && odd)
        zd_any(0);
    else
        zd_ballot(1);
    if (a.which == 4 && odd)
        ZD_SYNC();
    else
        ZD_SYNC();
    if (a.which == 6 && odd_warp)
        zd_sync_or(1);
    if (a.which == 7)
        (void)(odd ? zd_any(1) : zd_all(1));
    if (a.which == 8 && odd)
        return; /* some wait at the barrier by now, or will */
    ZD_SYNC();
}

/* Waits for what never comes. */
ZD_KERNEL(mistake_wait, struct mistake_args, a)
{
    if (a.which == 0) {
        while (zd_ld_acquire_u32(a.flag) == 0)
            ZD_SPIN();
    } else if (a.which == 1) {
        while (zd_ld_relaxed_u32(a.flag) == 0) {
        }
    } else if (a.which == 2) {
        while (zd_atomic_or_u32(a.flag, 0) == 0) {
        }
    } else if (a.which == 3) {
        while (zd_ld_u32(a.flag) == 0)
            ZD_SPIN();
    } else if (zd_bid() == 0) {
        /* For a block with a higher number, which need not have begun. */
        while (zd_ld_acquire_u32(a.flag) == 0)
            ZD_SPIN();
    } else if (zd_bid() == zd_gdim() - 1 && zd_tid() == 0) {
        zd_st_release_u32(a.flag, 1);
    }
}

struct mistake_shared {
    uint32_t words[128];
};

/* Reads a neighbour's word of shared memory: 1: right; 0: without a barrier, 2: the other
 * neighbour's, 3: one that nobody has written. */
ZD_KERNEL(mistake_shared, struct mistake_args, a)
{
    ZD_SHARED(struct mistake_shared, s);
    if (a.which != 3)
        s->words[zd_tid()] = zd_tid();
    if (a.which == 1)
        ZD_SYNC();
    const uint32_t step = a.which == 2 ? zd_bdim() - 1 : 1;
    zd_st_u64(&a.words[zd_bid() * zd_bdim() + zd_tid()], s->words[(zd_tid() + step) % zd_bdim()]);
}

/* The same by global memory: 0: without a barrier, 1: right, 2: right, inside a warp */
ZD_KERNEL(mistake_global, struct mistake_args, a)
{
    uint64_t *const own = &a.words[zd_bid() * zd_bdim()];
    const uint32_t to = a.which == 2 ? zd_tid() ^ 1 : (zd_tid() + 1) % zd_bdim();
    zd_st_u64(&own[zd_tid()], zd_tid() + 1);
    if (a.which == 1)
        ZD_SYNC();
    if (a.which == 2)
        zd_syncwarp();
    const uint64_t seen = zd_ld_u64(&own[to]);
    ZD_SYNC();
    zd_st_u64(&own[zd_tid()], seen - 1);
}

enum mistake_publishing {
    NO_BARRIER,
    NO_FENCE,
    NO_READ_FENCE,
    NO_RELEASE,
    NO_ACQUIRE,
    BY_FENCES,
    BY_FLAG
};

/* All threads of a block store, then one publishes that. The other block adds up what the first has
 * stored. */
ZD_KERNEL(mistake_publish, struct mistake_args, a)
{
    ZD_SHARED(struct mistake_shared, s);
    const uint32_t tid = zd_tid(), how = a.which;
    const int fences = how <= NO_READ_FENCE || how == BY_FENCES;
    if (tid == 0)
        s->words[0] = zd_atomic_add_u32(a.flag + 1, 1);
    ZD_SYNC();
    if (s->words[0] == 0) {
        zd_st_u64(&a.words[tid], 1000 + tid);
        if (how != NO_BARRIER)
            ZD_SYNC();
        if (tid == 0 && fences && how != NO_FENCE)
            zd_fence();
        if (tid == 0 && (fences || how == NO_RELEASE))
            zd_st_relaxed_u32(a.flag, 1);
        else if (tid == 0)
            zd_st_release_u32(a.flag, 1);
    } else {
        if (tid == 0) {
            while ((fences || how == NO_ACQUIRE ? zd_ld_relaxed_u32(a.flag)
                                                : zd_ld_acquire_u32(a.flag)) == 0)
                ZD_SPIN();
            if (fences && how != NO_READ_FENCE)
                zd_fence();
        }
        ZD_SYNC();
        zd_st_u64(&a.words[128 + tid], zd_ld_u64(&a.words[(tid + 31) % zd_bdim()]));
    }
}

/* A frame that a thread of the emulator has room for, and one that it has not; little of them is
 * touched. */
ZD_KERNEL(mistake_no_stack, struct mistake_args, a)
{
    volatile uint64_t words[2000];
    words[0] = words[1999] = zd_tid();
    zd_syncwarp();
    zd_st_u64(&a.words[zd_tid()], words[0]);
}

ZD_KERNEL(mistake_stack, struct mistake_args, a)
{
    volatile uint64_t words[40000];
    words[39999] = zd_tid();
    zd_syncwarp();
    zd_st_u64(&a.words[zd_tid()], words[39999]);
}

/* 0: misaligned, 1: no more shared memory than there is */
ZD_KERNEL(mistake_access, struct mistake_args, a)
{
    if (a.which == 0)
        zd_st_u32((uint32_t *)((char *)a.words + 2), 1);
    ZD_SHARED_DYNAMIC(uint32_t, dynamic);
    dynamic[zd_tid()] = 1;
}

ZD_KERNEL_BOUNDED(mistake_bounds, struct mistake_args, a, 64, 2)
{
    zd_st_u64(a.words + zd_tid(), 1);
}

#endif
