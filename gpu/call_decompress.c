/* call_decompress.c - one stream: to the device, the kernel, and back if the array is wanted on the
 * host. */
#include "calls.h"
#include "kernels.h"
#include "stream.h"

#include <string.h>

struct work {
    struct gpu_lane *lane;
    struct zmpi_stream stream;
    struct zmpi_cuda_decode_plan plan;
    void *coded, *need, *workspace, *array;
};

static bool take_memory(struct work *w, bool on_host, bool some)
{
    w->coded = gpu_block_take(w->lane, w->plan.length);
    if (w->coded)
        w->workspace = gpu_block_take(w->lane, zmpi_cuda_decompress_workspace(&w->plan));
    if (w->workspace && some)
        w->need = gpu_block_take(w->lane, w->stream.info.chunks);
    if (w->workspace && on_host)
        w->array = gpu_block_take(w->lane, w->stream.info.decoded_bytes);
    return w->workspace && (!some || w->need) && (!on_host || w->array);
}

static bool run(struct work *w, void *dst, uint64_t *answer)
{
    cudaStream_t stream = w->lane->stream;
    bool done =
        STARTED(zmpi_cuda_decompress(&w->plan, w->coded, w->need, dst, w->workspace, stream)) &&
        GPU_OK(cudaMemcpyAsync(w->lane->answer, w->workspace, sizeof *answer,
                               cudaMemcpyDeviceToHost, stream)) &&
        gpu_wait(w->lane);
    memcpy(answer, w->lane->answer, sizeof *answer);
    return done;
}

static enum zmpi_status decompress(struct work *w, void *dst, const void *src,
                                   const unsigned char *need, const struct gpu_place *to)
{
    bool on_host = to->memory == ZMPI_MEMORY_HOST;
    uint64_t answer;
    if (!take_memory(w, on_host, need != NULL))
        return ZMPI_ERR_MEMORY;
    if (!gpu_upload(w->lane, w->coded, src, w->plan.length, gpu_place_of(src).pinned) ||
        (need && !gpu_upload(w->lane, w->need, need, w->stream.info.chunks, false)) ||
        !run(w, on_host ? w->array : dst, &answer))
        return ZMPI_ERR_DEVICE;
    enum zmpi_status status = zmpi_cuda_verdict(answer, NULL);
    if (!status && on_host &&
        !gpu_download(w->lane, dst, w->array, w->stream.info.decoded_bytes, to->pinned))
        status = ZMPI_ERR_DEVICE;
    return status;
}

enum zmpi_status gpu_decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                const unsigned char *need, size_t *bytes, bool *typical)
{
    struct work w = {.lane = NULL};
    gpu_problem_clear();
    enum zmpi_status status = zmpi_stream_parse(&w.stream, src, src_size);
    if (status)
        return status;
    if (dst_capacity < w.stream.info.decoded_bytes)
        return ZMPI_ERR_SPACE;
    *bytes = w.stream.info.decoded_bytes;
    struct gpu_place to = gpu_place_of(dst);
    if (need && to.memory == ZMPI_MEMORY_HOST)
        return ZMPI_ERR_UNSUPPORTED; /* what is not needed would be overwritten */
    status = zmpi_cuda_decode_plan_make(&w.stream, &w.plan);
    if (status)
        return status;
    w.lane = gpu_lane_borrow(&to);
    if (!w.lane)
        return ZMPI_ERR_DEVICE;
    status = decompress(&w, dst, src, need, &to);
    *typical &= to.memory == ZMPI_MEMORY_HOST && !w.lane->fresh;
    gpu_lane_return(w.lane);
    gpu_block_give(w.coded);
    gpu_block_give(w.need);
    gpu_block_give(w.workspace);
    gpu_block_give(w.array);
    return status;
}
