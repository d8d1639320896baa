/*
 * call_compress.c - compresses one array: the array goes to the device unless it is there, the
 * kernels run, the payload comes back.
 *
 * A large array goes in slices: one goes to the device while the kernels compress another and the
 * payload of a third comes back. The look-back tells where a slice's payload ends. Header and table
 * come last.
 */
#include "base/bytes.h"
#include "calls.h"
#include "kernels/kernels.h"
#include "layout/stream.h"
#include "slices.h"

enum { HEADER = ZMPI_STREAM_HEADER_BYTES };

/* What one call works with. */
struct work {
    struct gpu_lane *lane;
    struct gpu_way *up, *down;
    struct zmpi_cuda_plan plan;
    struct gpu_slices slices;
    size_t capacity; /* of `coded` */
    unsigned char *input, *coded, *workspace;
    const unsigned char *host; /* where the array comes from; NULL: it is on the device */
    const void *src;           /* on the device */
    bool pinned;               /* its beginning */
    unsigned char *dst;
    size_t dst_capacity;
    size_t fetched; /* of the stream, from the end of the table on; 0: nothing */
    struct zmpi_cuda_result result;
};

static bool take_memory(struct work *w)
{
    w->coded = gpu_block_take(w->lane, w->capacity);
    if (w->coded)
        w->workspace = gpu_block_take(w->lane, zmpi_cuda_compress_workspace(&w->plan));
    if (w->workspace && w->host)
        w->src = w->input = gpu_block_take(w->lane, w->plan.layout.bytes);
    return w->workspace && (!w->host || w->input);
}

/* Where the kernels' answer for a slice goes, unless it is the last one. */
static unsigned char *end_of_slice(const struct work *w, size_t i)
{
    return w->lane->answer + GPU_ANSWER / 2 + 8 * (i % GPU_AHEAD);
}

/* Copies to the host what the kernels answer for slice i. */
static bool ask(struct work *w, size_t i)
{
    const struct gpu_slice s = gpu_slice(&w->slices, i);
    const bool last = i + 1 == w->slices.count;
    cudaStream_t stream = w->lane->stream;
    if (last)
        return GPU_OK(cudaMemcpyAsync(w->lane->answer, w->workspace, sizeof w->result,
                                      cudaMemcpyDeviceToHost, stream));
    return GPU_OK(cudaMemcpyAsync(end_of_slice(w, i),
                                  w->workspace + zmpi_cuda_end_at(s.first + s.chunks), 8,
                                  cudaMemcpyDeviceToHost, stream)) &&
           GPU_OK(cudaEventRecord(w->lane->done[i % GPU_AHEAD], stream));
}

/* The device chooses the axes, unless the job has them or only a part of the array is there yet. */
static bool begin(struct work *w)
{
    int axes = zmpi_cuda_axes_given(&w->plan);
    if (axes == ZMPI_CUDA_CHOOSE && w->host && w->slices.count > 1)
        axes = zmpi_cuda_axes(&w->plan, w->host);
    return STARTED(zmpi_cuda_compress_begin(&w->plan, w->src, axes, w->workspace, w->lane->stream));
}

static bool start_slice(struct work *w, size_t i)
{
    const struct gpu_slice s = gpu_slice(&w->slices, i);
    if (w->host) {
        const unsigned char *from = w->host + s.begin;
        if (!gpu_upload(w->up, w->input + s.begin, from, s.end - s.begin,
                        i > 0 ? gpu_place_of(from).pinned : w->pinned) ||
            !gpu_lane_follow(w->lane, w->up))
            return false;
    }
    return (i > 0 || begin(w)) &&
           STARTED(zmpi_cuda_compress_some(&w->plan, w->src, w->coded, w->capacity, s.chunks,
                                           w->workspace, w->lane->stream)) &&
           ask(w, i);
}

/* Fetches the coded bytes [from, to). */
static enum zmpi_status fetch(struct work *w, size_t from, size_t to)
{
    if (to > w->capacity || from > to)
        return ZMPI_ERR_DEVICE; /* the kernel's answer makes no sense */
    if (to > w->dst_capacity)
        return ZMPI_ERR_SPACE;
    return gpu_fetch(w->down, w->dst + from, w->coded + from, to - from,
                     gpu_place_of(w->dst + from).pinned)
               ? ZMPI_OK
               : ZMPI_ERR_DEVICE;
}

/* Fetches the payload of a finished slice, unless it is the last one. With psnr nothing is fetched
 * before the errors are known to be small enough. */
static enum zmpi_status finish_slice(struct work *w, size_t i)
{
    if (w->plan.rmse > 0)
        return ZMPI_OK;
    if (!GPU_OK(cudaEventSynchronize(w->lane->done[i % GPU_AHEAD])))
        return ZMPI_ERR_DEVICE;
    const size_t from = i > 0 ? w->fetched : zmpi_plan_head(&w->plan.layout);
    const size_t end = (size_t)zmpi_cuda_end(&w->plan, zmpi_load64(end_of_slice(w, i)));
    enum zmpi_status status = fetch(w, from, end);
    w->fetched = end;
    return status;
}

/* Can slice i be fetched without waiting? */
static bool is_done(struct work *w, size_t i)
{
    const cudaError_t error = cudaEventQuery(w->lane->done[i % GPU_AHEAD]);
    if (error != cudaSuccess)
        cudaGetLastError();
    return error != cudaErrorNotReady; /* whoever waits for it gets the error */
}

static enum zmpi_status run_slices(struct work *w)
{
    enum zmpi_status status = ZMPI_OK;
    size_t finished = 0;
    for (size_t i = 0; i < w->slices.count && !status; i++) {
        if (!start_slice(w, i))
            return ZMPI_ERR_DEVICE;
        while (finished < i && !status && (finished + GPU_AHEAD == i + 1 || is_done(w, finished)))
            status = finish_slice(w, finished++);
    }
    while (finished + 1 < w->slices.count && !status)
        status = finish_slice(w, finished++);
    return status;
}

/* Judges the result. With psnr it compresses again, by a finer bound, until the errors are small
 * enough. */
static enum zmpi_status judge(struct work *w)
{
    bool again;
    cudaStream_t stream = w->lane->stream;
    struct zmpi_cuda_result *answer = (void *)w->lane->answer;
    for (;;) {
        if (!gpu_wait(w->lane))
            return ZMPI_ERR_DEVICE;
        w->result = *answer;
        enum zmpi_status status = zmpi_cuda_judge(&w->plan, &w->result, &again);
        if (status || !again)
            return status;
        if (!STARTED(zmpi_cuda_compress(&w->plan, w->src, w->coded, w->capacity, w->workspace,
                                        stream)) ||
            !GPU_OK(cudaMemcpyAsync(answer, w->workspace, sizeof *answer, cudaMemcpyDeviceToHost,
                                    stream)))
            return ZMPI_ERR_DEVICE;
    }
}

/* Fetches the rest, except what the host writes. */
static enum zmpi_status fetch_rest(struct work *w)
{
    const size_t table = zmpi_plan_head(&w->plan.layout);
    enum zmpi_status status = fetch(w, w->fetched ? w->fetched : HEADER, w->result.length);
    if (!status && w->fetched)
        status = fetch(w, HEADER, table);
    return !status && !gpu_drain(w->down) ? ZMPI_ERR_DEVICE : status;
}

static enum zmpi_status compress(struct work *w, size_t *size)
{
    if (!take_memory(w))
        return ZMPI_ERR_MEMORY;
    const bool split = w->slices.count > 1;
    if (split && !gpu_lane_split(w->lane))
        return ZMPI_ERR_DEVICE;
    w->up = split ? &w->lane->up : &w->lane->way;
    w->down = split ? &w->lane->down : &w->lane->way;
    enum zmpi_status status = run_slices(w);
    if (!status)
        status = judge(w);
    if (!status)
        status = fetch_rest(w);
    if (status)
        return status;
    zmpi_cuda_header(&w->plan, w->result.length, w->dst);
    *size = w->result.length;
    return ZMPI_OK;
}

/* Slices gain nothing for an array in device memory with psnr: it may be compressed again, and its
 * payload must wait for the verdict. */
static struct gpu_slices cut(const struct work *w)
{
    const struct zmpi_cuda_tiles tiles = zmpi_cuda_tiles_of(&w->plan.layout);
    struct gpu_slices all = {.count = 1, .chunks = tiles.chunks, .bytes = tiles.bytes};
    return w->plan.rmse > 0 && !w->host ? all : gpu_slices_of(&tiles, w->host != NULL);
}

enum zmpi_status gpu_compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                              const void *src, size_t *size, bool *typical)
{
    struct work w = {
        .capacity = zmpi_compress_capacity(&job->array), .dst = dst, .dst_capacity = dst_capacity};
    gpu_problem_clear();
    enum zmpi_status status = zmpi_cuda_plan_make(job, &w.plan);
    if (status)
        return status;
    struct gpu_place from = gpu_place_of(src);
    w.lane = gpu_lane_borrow(&from);
    if (!w.lane)
        return ZMPI_ERR_DEVICE;
    w.host = from.memory == ZMPI_MEMORY_HOST ? src : NULL;
    w.pinned = from.pinned;
    w.src = w.host ? NULL : src;
    w.slices = cut(&w);
    status = compress(&w, size);
    *typical = w.host && !w.lane->fresh;
    gpu_lane_return(w.lane);
    gpu_block_give(w.input);
    gpu_block_give(w.coded);
    gpu_block_give(w.workspace);
    return status;
}
