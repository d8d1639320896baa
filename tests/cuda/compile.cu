/* compile.cu - the kernels of the emulator's tests, and a launch, compiled by nvcc: device_cuda.h
 * must have every operation of device_host.h. */
#include "mistakes.h"
#include "scan.h"
#include "words.h"

cudaError_t launch_all(const struct words_args *args, const struct scan_args *scan_args,
                       cudaStream_t stream);

cudaError_t launch_all(const struct words_args *args, const struct scan_args *scan_args,
                       cudaStream_t stream)
{
    int blocks;
    cudaError_t e = ZD_ALLOW_SHARED(words_block, 65536);
    if (e == cudaSuccess)
        e = ZD_OCCUPANCY(&blocks, scan, SCAN_THREADS, 0);
    if (e == cudaSuccess)
        e = ZD_LAUNCH(words_block, (unsigned)blocks, 96, 4 * 96, stream, *args);
    if (e == cudaSuccess)
        e = ZD_LAUNCH(scan, 5, SCAN_THREADS, 0, stream, *scan_args);
    return e;
}
