/*
 * transfer.c - copies between host and device, piece by piece through two pinned buffers: while the
 * device copies one, the CPU fills or empties the other. It empties a buffer when it needs it
 * again, or at the end. A buffer that the program has pinned as a whole needs no copy through them;
 * CUDA refuses to copy beyond the end of registered memory.
 */
#include "gpu.h"

#include <string.h>

#define PITCH_MOST ((size_t)INT32_MAX) /* of copies in two dimensions */

static size_t piece_of(size_t left)
{
    return left < GPU_PIECE ? left : GPU_PIECE;
}

bool gpu_wait(struct gpu_lane *lane)
{
    return GPU_OK(cudaStreamSynchronize(lane->stream));
}

/* Starts a copy from or to a buffer whose beginning the program has pinned; true if it was started.
 * Sets *mixed if only a part is pinned: its end is not, or CUDA finds something between that is
 * not. */
static bool copy_pinned(struct gpu_way *way, void *dst, const void *src, size_t bytes,
                        enum cudaMemcpyKind kind, bool *mixed)
{
    const unsigned char *host = kind == cudaMemcpyHostToDevice ? src : dst;
    struct gpu_memory end;
    *mixed = bytes == 0 || !gpu_query(host + bytes - 1, &end) || !end.known;
    if (*mixed)
        return false;
    cudaError_t error = cudaMemcpyAsync(dst, src, bytes, kind, way->stream);
    *mixed = error == cudaErrorInvalidValue;
    return gpu_ok(error, "cudaMemcpyAsync");
}

/* The buffer that was used longest ago, emptied. */
static struct gpu_buffer *empty_buffer(struct gpu_way *way)
{
    struct gpu_buffer *b = &way->buffer[way->next];
    if (b->busy && !GPU_OK(cudaEventSynchronize(b->copied)))
        return NULL;
    b->busy = false;
    if (b->bytes)
        memcpy(b->to, b->pinned, b->bytes);
    b->bytes = 0;
    way->next ^= 1;
    return b;
}

bool gpu_upload(struct gpu_way *way, void *device, const void *host, size_t bytes, bool pinned)
{
    unsigned char *dst = device;
    const unsigned char *src = host;
    if (pinned) {
        bool mixed, started = copy_pinned(way, dst, src, bytes, cudaMemcpyHostToDevice, &mixed);
        if (!mixed)
            return started;
    }
    for (size_t at = 0; at < bytes; at += GPU_PIECE) {
        const size_t n = piece_of(bytes - at);
        struct gpu_buffer *b = empty_buffer(way);
        if (!b)
            return false;
        memcpy(b->pinned, src + at, n);
        if (!GPU_OK(cudaMemcpyAsync(dst + at, b->pinned, n, cudaMemcpyHostToDevice, way->stream)) ||
            !GPU_OK(cudaEventRecord(b->copied, way->stream)))
            return false;
        b->busy = true;
    }
    return true;
}

bool gpu_fetch(struct gpu_way *way, void *host, const void *device, size_t bytes, bool pinned)
{
    unsigned char *dst = host;
    const unsigned char *src = device;
    if (pinned) {
        bool mixed, started = copy_pinned(way, dst, src, bytes, cudaMemcpyDeviceToHost, &mixed);
        way->direct |= started;
        if (!mixed)
            return started;
    }
    for (size_t at = 0; at < bytes; at += GPU_PIECE) {
        const size_t n = piece_of(bytes - at);
        struct gpu_buffer *b = empty_buffer(way);
        if (!b ||
            !GPU_OK(cudaMemcpyAsync(b->pinned, src + at, n, cudaMemcpyDeviceToHost, way->stream)) ||
            !GPU_OK(cudaEventRecord(b->copied, way->stream)))
            return false;
        b->busy = true;
        b->to = dst + at;
        b->bytes = n;
    }
    return true;
}

bool gpu_drain(struct gpu_way *way)
{
    bool good = true;
    for (int i = 0; i < 2 && good; i++)
        if (way->buffer[way->next].bytes)
            good = empty_buffer(way) != NULL;
        else
            way->next ^= 1;
    if (good && way->direct)
        good = GPU_OK(cudaStreamSynchronize(way->stream));
    way->direct = false;
    return good;
}

static bool download(struct gpu_way *way, void *host, const void *device, size_t bytes, bool pinned)
{
    return gpu_fetch(way, host, device, bytes, pinned) && gpu_drain(way);
}

/* ---- boxes ---- */

/* Copies one plane, or rows that are too far apart for the device's own function. */
static bool copy_rows(struct gpu_lane *lane, unsigned char *dst, const unsigned char *src,
                      const struct zmpi_box *box)
{
    bool good = true;
    if (box->rows == 1)
        return GPU_OK(cudaMemcpyAsync(dst, src, box->bytes, cudaMemcpyDefault, lane->stream));
    if (box->dst_row <= PITCH_MOST && box->src_row <= PITCH_MOST)
        return GPU_OK(cudaMemcpy2DAsync(dst, box->dst_row, src, box->src_row, box->bytes, box->rows,
                                        cudaMemcpyDefault, lane->stream));
    for (size_t i = 0; i < box->rows && good; i++)
        good = GPU_OK(cudaMemcpyAsync(dst + i * box->dst_row, src + i * box->src_row, box->bytes,
                                      cudaMemcpyDefault, lane->stream));
    return good;
}

static bool is_array(const struct zmpi_box *box)
{
    return box->planes > 1 && box->dst_row <= PITCH_MOST && box->src_row <= PITCH_MOST &&
           box->dst_plane % box->dst_row == 0 && box->src_plane % box->src_row == 0;
}

static bool copy_planes(struct gpu_lane *lane, unsigned char *dst, const unsigned char *src,
                        const struct zmpi_box *box)
{
    bool good = true;
    if (is_array(box)) {
        struct cudaMemcpy3DParms p = {.kind = cudaMemcpyDefault};
        p.dstPtr =
            (struct cudaPitchedPtr){dst, box->dst_row, box->bytes, box->dst_plane / box->dst_row};
        p.srcPtr = (struct cudaPitchedPtr){(void *)(uintptr_t)src, box->src_row, box->bytes,
                                           box->src_plane / box->src_row};
        p.extent = (struct cudaExtent){box->bytes, box->rows, box->planes};
        return GPU_OK(cudaMemcpy3DAsync(&p, lane->stream));
    }
    for (size_t i = 0; i < box->planes && good; i++)
        good = copy_rows(lane, dst + i * box->dst_plane, src + i * box->src_plane, box);
    return good;
}

static bool copy_box(struct gpu_lane *lane, void *dst, const struct gpu_place *to, const void *src,
                     const struct gpu_place *from, const struct zmpi_box *box)
{
    bool flat = box->rows == 1 && box->planes == 1;
    if (flat && to->memory == ZMPI_MEMORY_GPU && from->memory == ZMPI_MEMORY_HOST)
        return gpu_upload(&lane->way, dst, src, box->bytes, from->pinned) && gpu_wait(lane);
    if (flat && to->memory == ZMPI_MEMORY_HOST && from->memory == ZMPI_MEMORY_GPU)
        return download(&lane->way, dst, src, box->bytes, to->pinned);
    return copy_planes(lane, dst, src, box) && gpu_wait(lane);
}

/* Copies row by row with the simplest call only: the program's data on the device must not be lost
 * because there is no stream or no pinned memory. */
static bool copy_simply(unsigned char *dst, const unsigned char *src, const struct zmpi_box *box,
                        const struct gpu_place *place)
{
    void *context;
    bool good = !gpu_broken(), pushed = good && gpu_context_push(place, &context);
    for (size_t z = 0; z < box->planes && good; z++)
        for (size_t y = 0; y < box->rows && good; y++)
            good = GPU_OK(cudaMemcpy(dst + z * box->dst_plane + y * box->dst_row,
                                     src + z * box->src_plane + y * box->src_row, box->bytes,
                                     cudaMemcpyDefault));
    if (pushed)
        gpu_context_pop();
    return good;
}

enum zmpi_status gpu_copy(void *dst, const void *src, const struct zmpi_box *box)
{
    gpu_problem_clear();
    if (box->bytes == 0 || box->rows == 0 || box->planes == 0)
        return ZMPI_OK;
    struct gpu_place to = gpu_place_of(dst), from = gpu_place_of(src);
    const struct gpu_place *place = from.memory == ZMPI_MEMORY_GPU ? &from : &to;
    struct gpu_lane *lane = gpu_lane_borrow(place);
    bool copied = lane && copy_box(lane, dst, &to, src, &from, box);
    if (lane)
        gpu_lane_return(lane);
    return copied || copy_simply(dst, src, box, place) ? ZMPI_OK : ZMPI_ERR_DEVICE;
}
