/* call_compress.c - one array: to the device if it is not there, the kernels, the payload back. */
#include "calls.h"
#include "kernels.h"
#include "stream.h"

enum { HEADER = ZMPI_STREAM_HEADER_BYTES };

/* What one call works with. */
struct work {
    struct gpu_lane *lane;
    struct zmpi_cuda_plan plan;
    size_t capacity; /* of `coded` */
    void *input, *coded, *workspace;
    const void *src; /* on the device */
    struct zmpi_cuda_result result;
};

static bool take_memory(struct work *w, size_t bytes, bool on_host)
{
    w->coded = gpu_block_take(w->lane, w->capacity);
    if (w->coded)
        w->workspace = gpu_block_take(w->lane, zmpi_cuda_compress_workspace(&w->plan));
    if (w->workspace && on_host)
        w->input = gpu_block_take(w->lane, bytes);
    return w->workspace && (!on_host || w->input);
}

/* Once by the plan, as often as a psnr bound makes it finer. */
static enum zmpi_status run(struct work *w)
{
    enum zmpi_status status = ZMPI_OK;
    bool again = true;
    while (!status && again) {
        cudaStream_t stream = w->lane->stream;
        struct zmpi_cuda_result *answer = (void *)w->lane->answer;
        if (!STARTED(zmpi_cuda_compress(&w->plan, w->src, w->coded, w->capacity, w->workspace,
                                        stream)) ||
            !GPU_OK(cudaMemcpyAsync(answer, w->workspace, sizeof *answer, cudaMemcpyDeviceToHost,
                                    stream)) ||
            !gpu_wait(w->lane))
            return ZMPI_ERR_DEVICE;
        w->result = *answer;
        status = zmpi_cuda_judge(&w->plan, &w->result, &again);
    }
    return status;
}

static enum zmpi_status compress(struct work *w, void *dst, size_t dst_capacity, const void *src,
                                 size_t bytes, const struct gpu_place *from, size_t *size)
{
    bool on_host = from->memory == ZMPI_MEMORY_HOST;
    if (!take_memory(w, bytes, on_host))
        return ZMPI_ERR_MEMORY;
    w->src = on_host ? w->input : src;
    if (on_host && !gpu_upload(w->lane, w->input, src, bytes, from->pinned))
        return ZMPI_ERR_DEVICE;
    enum zmpi_status status = run(w);
    if (status)
        return status;
    if (w->result.length > w->capacity || w->result.length < HEADER)
        return ZMPI_ERR_DEVICE; /* a kernel has gone wild */
    if (w->result.length > dst_capacity)
        return ZMPI_ERR_SPACE;
    /* All but what the host writes. */
    unsigned char *behind = (unsigned char *)dst + HEADER;
    if (!gpu_download(w->lane, behind, (const unsigned char *)w->coded + HEADER,
                      w->result.length - HEADER, gpu_place_of(behind).pinned))
        return ZMPI_ERR_DEVICE;
    zmpi_cuda_header(&w->plan, w->result.length, dst);
    *size = w->result.length;
    return ZMPI_OK;
}

enum zmpi_status gpu_compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                              const void *src, size_t *size, bool *typical)
{
    struct work w = {.capacity = zmpi_compress_capacity(&job->array)};
    size_t bytes;
    gpu_problem_clear();
    enum zmpi_status status = zmpi_array_bytes(&job->array, &bytes);
    if (!status)
        status = zmpi_cuda_plan_make(job, &w.plan);
    if (status)
        return status;
    struct gpu_place from = gpu_place_of(src);
    w.lane = gpu_lane_borrow(&from);
    if (!w.lane)
        return ZMPI_ERR_DEVICE;
    status = compress(&w, dst, dst_capacity, src, bytes, &from, size);
    *typical = from.memory == ZMPI_MEMORY_HOST && !w.lane->fresh;
    gpu_lane_return(w.lane);
    gpu_block_give(w.input);
    gpu_block_give(w.coded);
    gpu_block_give(w.workspace);
    return status;
}
