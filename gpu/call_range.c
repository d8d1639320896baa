/* call_range.c - the value range of an array that is on the device. */
#include "calls.h"
#include "kernels/kernels.h"

static bool find(struct gpu_lane *lane, enum zmpi_type type, const void *src, size_t count,
                 double threshold, void *workspace, struct zmpi_range *range)
{
    struct zmpi_range *answer = (void *)lane->answer;
    if (!GPU_OK(
            (cudaError_t)zmpi_cuda_range(type, src, count, threshold, workspace, lane->stream)) ||
        !GPU_OK(cudaMemcpyAsync(answer, workspace, sizeof *answer, cudaMemcpyDeviceToHost,
                                lane->stream)) ||
        !gpu_wait(lane))
        return false;
    *range = *answer;
    return true;
}

enum zmpi_status gpu_range(enum zmpi_type type, const void *src, size_t count, double threshold,
                           struct zmpi_range *range)
{
    gpu_problem_clear();
    if ((type != ZMPI_F32 && type != ZMPI_F64) || (uintptr_t)src % zmpi_type_size(type))
        return ZMPI_ERR_UNSUPPORTED;
    if (count == 0) {
        *range = ZMPI_RANGE_EMPTY;
        return ZMPI_OK;
    }
    struct gpu_place from = gpu_place_of(src);
    struct gpu_lane *lane = gpu_lane_borrow(&from);
    if (!lane)
        return ZMPI_ERR_DEVICE;
    void *workspace = gpu_block_take(lane, ZMPI_CUDA_RANGE_WORKSPACE);
    bool found = workspace && find(lane, type, src, count, threshold, workspace, range);
    gpu_lane_return(lane);
    gpu_block_give(workspace);
    return found ? ZMPI_OK : ZMPI_ERR_DEVICE;
}
