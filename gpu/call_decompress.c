/*
 * call_decompress.c - decompresses one stream: it goes to the device, the kernel runs, and the
 * array comes back if the host wants it.
 *
 * A large array goes in slices: coded chunks of one go to the device while the kernel decodes
 * another and the values of a third come back.
 */
#include "base/bytes.h"
#include "calls.h"
#include "kernels/kernels.h"
#include "layout/stream.h"
#include "slices.h"

#include <string.h>

struct work {
    struct gpu_lane *lane;
    struct gpu_way *up, *down;
    struct zmpi_stream stream;
    struct zmpi_cuda_decode_plan plan;
    struct gpu_slices slices;
    const unsigned char *src, *need_there; /* need_there: chunks; NULL: all */
    unsigned char *host;                   /* where the array is wanted; NULL: on the device */
    void *dst;                             /* on the device */
    bool pinned;                           /* the beginning of `host` */
    size_t uploaded;                       /* of the stream */
    unsigned char *coded, *need, *workspace, *array;
};

static bool take_memory(struct work *w)
{
    w->coded = gpu_block_take(w->lane, w->plan.length);
    if (w->coded)
        w->workspace = gpu_block_take(w->lane, zmpi_cuda_decompress_workspace(&w->plan));
    if (w->workspace && w->need_there)
        w->need = gpu_block_take(w->lane, w->stream.info.chunks);
    if (w->workspace && w->host)
        w->dst = w->array = gpu_block_take(w->lane, w->stream.info.decoded_bytes);
    return w->workspace && (!w->host || w->array) && (!w->need_there || w->need);
}

/* Where the coded chunks of a slice end. What lies before the first chunk goes with the first
 * slice. */
static size_t end_of_slice(const struct work *w, size_t i)
{
    const struct gpu_slice s = gpu_slice(&w->slices, i);
    size_t end = w->uploaded ? w->uploaded : w->stream.head;
    if (i + 1 == w->slices.count)
        return w->plan.length;
    for (size_t k = s.first; k < s.first + s.chunks; k++)
        end += zmpi_load32(w->stream.table + 8 * k);
    return end < w->plan.length ? end : w->plan.length;
}

static bool upload_slice(struct work *w, size_t i)
{
    const size_t at = w->uploaded, end = end_of_slice(w, i);
    w->uploaded = end;
    return gpu_upload(w->up, w->coded + at, w->src + at, end - at,
                      gpu_place_of(w->src + at).pinned) &&
           (!w->need || i > 0 ||
            gpu_upload(w->up, w->need, w->need_there, w->stream.info.chunks, false)) &&
           gpu_lane_follow(w->lane, w->up);
}

static bool start_slice(struct work *w, size_t i)
{
    const struct gpu_slice s = gpu_slice(&w->slices, i);
    cudaStream_t stream = w->lane->stream;
    return upload_slice(w, i) &&
           (i > 0 || STARTED(zmpi_cuda_decompress_begin(&w->plan, w->workspace, stream))) &&
           STARTED(zmpi_cuda_decompress_some(&w->plan, w->coded, w->need, w->dst, s.chunks,
                                             w->workspace, stream)) &&
           (!w->host || i + 1 == w->slices.count ||
            GPU_OK(cudaEventRecord(w->lane->done[i % GPU_AHEAD], stream)));
}

static bool fetch_slice(struct work *w, size_t i)
{
    const struct gpu_slice s = gpu_slice(&w->slices, i);
    return gpu_fetch(w->down, w->host + s.begin, w->array + s.begin, s.end - s.begin,
                     i > 0 ? gpu_place_of(w->host + s.begin).pinned : w->pinned);
}

/* Fetches the values of a slice that is not the last one. */
static bool finish_slice(struct work *w, size_t i)
{
    return !w->host ||
           (GPU_OK(cudaStreamWaitEvent(w->down->stream, w->lane->done[i % GPU_AHEAD], 0)) &&
            fetch_slice(w, i));
}

/* Fetches a slice only when the next one has been started, because the CPU may have to wait for it.
 */
static bool run_slices(struct work *w)
{
    bool good = true;
    for (size_t i = 0; i < w->slices.count && good; i++)
        good = start_slice(w, i) && (i == 0 || finish_slice(w, i - 1));
    return good;
}

static bool ask(struct work *w, uint64_t *answer)
{
    bool done = GPU_OK(cudaMemcpyAsync(w->lane->answer, w->workspace, sizeof *answer,
                                       cudaMemcpyDeviceToHost, w->lane->stream)) &&
                gpu_wait(w->lane);
    memcpy(answer, w->lane->answer, sizeof *answer);
    return done;
}

static enum zmpi_status decompress(struct work *w)
{
    uint64_t answer;
    if (!take_memory(w))
        return ZMPI_ERR_MEMORY;
    const bool split = w->slices.count > 1;
    if (split && !gpu_lane_split(w->lane))
        return ZMPI_ERR_DEVICE;
    w->up = split ? &w->lane->up : &w->lane->way;
    w->down = split ? &w->lane->down : &w->lane->way;
    if (!run_slices(w) || !ask(w, &answer))
        return ZMPI_ERR_DEVICE;
    enum zmpi_status status = zmpi_cuda_verdict(answer, NULL);
    if (!status && w->host && !(fetch_slice(w, w->slices.count - 1) && gpu_drain(w->down)))
        status = ZMPI_ERR_DEVICE;
    return status;
}

enum zmpi_status gpu_decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                const unsigned char *need, size_t *bytes, bool *typical)
{
    struct work w = {.src = src, .need_there = need};
    gpu_problem_clear();
    enum zmpi_status status = zmpi_stream_parse(&w.stream, src, src_size);
    if (status)
        return status;
    if (dst_capacity < w.stream.info.decoded_bytes)
        return ZMPI_ERR_SPACE;
    *bytes = w.stream.info.decoded_bytes;
    struct gpu_place to = gpu_place_of(dst);
    if (need && to.memory == ZMPI_MEMORY_HOST)
        return ZMPI_ERR_UNSUPPORTED; /* a copy would overwrite chunks that are not needed */
    status = zmpi_cuda_decode_plan_make(&w.stream, &w.plan);
    if (status)
        return status;
    w.lane = gpu_lane_borrow(&to);
    if (!w.lane)
        return ZMPI_ERR_DEVICE;
    w.host = to.memory == ZMPI_MEMORY_HOST ? dst : NULL;
    w.pinned = to.pinned;
    w.dst = w.host ? NULL : dst;
    w.slices = gpu_slices_of(&w.plan.tiles, w.host != NULL);
    status = decompress(&w);
    *typical &= w.host && !w.lane->fresh;
    gpu_lane_return(w.lane);
    gpu_block_give(w.coded);
    gpu_block_give(w.need);
    gpu_block_give(w.workspace);
    gpu_block_give(w.array);
    return status;
}
