/* lanes.c - streams with pinned memory, one for each call at a time, kept for the next. */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>

enum { ANSWER = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpu_lane *idle;

static struct gpu_lane *find_idle(int device)
{
    pthread_mutex_lock(&lock);
    struct gpu_lane **at = &idle, *lane;
    while (*at && (*at)->device != device)
        at = &(*at)->next;
    lane = *at;
    if (lane)
        *at = lane->next;
    pthread_mutex_unlock(&lock);
    return lane;
}

static void destroy(struct gpu_lane *lane)
{
    for (int i = 0; i < 2; i++) {
        if (lane->event[i])
            cudaEventDestroy(lane->event[i]);
        if (lane->pinned[i])
            cudaFreeHost(lane->pinned[i]);
    }
    if (lane->answer)
        cudaFreeHost(lane->answer);
    if (lane->stream)
        cudaStreamDestroy(lane->stream);
    free(lane);
}

/* The stream waits for the default stream, as programs expect that do not synchronize before MPI.
 */
static bool make(struct gpu_lane *lane)
{
    bool made = GPU_OK(cudaStreamCreate(&lane->stream)) &&
                GPU_OK(cudaMallocHost((void **)&lane->answer, ANSWER));
    for (int i = 0; i < 2 && made; i++)
        made = GPU_OK(cudaEventCreateWithFlags(&lane->event[i], cudaEventDisableTiming)) &&
               GPU_OK(cudaMallocHost((void **)&lane->pinned[i], GPU_PIECE));
    return made;
}

static struct gpu_lane *create(int device)
{
    struct gpu_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->device = device;
    if (make(lane))
        return lane;
    destroy(lane);
    return NULL;
}

struct gpu_lane *gpu_lane_borrow(int device)
{
    int before;
    if (!GPU_OK(cudaGetDevice(&before)) || (before != device && !GPU_OK(cudaSetDevice(device))))
        return NULL;
    struct gpu_lane *lane = find_idle(device);
    bool fresh = !lane;
    if (fresh)
        lane = create(device);
    if (lane) {
        lane->before = before;
        lane->fresh = fresh;
    } else if (before != device) {
        cudaSetDevice(before);
    }
    return lane;
}

void gpu_lane_return(struct gpu_lane *lane)
{
    /* After a failure work may be under way that uses memory which is about to be given back. */
    cudaStreamSynchronize(lane->stream);
    if (lane->before != lane->device)
        cudaSetDevice(lane->before);
    pthread_mutex_lock(&lock);
    lane->next = idle;
    idle = lane;
    pthread_mutex_unlock(&lock);
}
