/* lanes.c - streams with pinned memory, one for each call at a time, kept for the next. */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>

enum { ANSWER = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpu_lane *idle;

static struct gpu_lane *find_idle(void *context)
{
    struct gpu_lane *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct gpu_lane **at = &idle; *at && !found;) {
        struct gpu_lane *lane = *at;
        if (lane->context != context) {
            at = &lane->next;
            continue;
        }
        *at = lane->next;
        if (gpu_is_still(lane->answer, lane->number))
            found = lane;
        else
            free(lane); /* the device was reset: nothing may be asked of its stream either */
    }
    pthread_mutex_unlock(&lock);
    return found;
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
    int pools = 0;
    bool made =
        GPU_OK(cudaStreamCreate(&lane->stream)) &&
        GPU_OK(cudaMallocHost((void **)&lane->answer, ANSWER)) &&
        GPU_OK(cudaGetDevice(&lane->device)) &&
        GPU_OK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, lane->device));
    if (made) {
        lane->number = gpu_number(lane->answer);
        lane->pools = pools;
    }
    for (int i = 0; i < 2 && made; i++)
        made = GPU_OK(cudaEventCreateWithFlags(&lane->event[i], cudaEventDisableTiming)) &&
               GPU_OK(cudaMallocHost((void **)&lane->pinned[i], GPU_PIECE));
    return made;
}

static struct gpu_lane *create(void *context)
{
    struct gpu_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->context = context;
    if (make(lane))
        return lane;
    destroy(lane);
    return NULL;
}

struct gpu_lane *gpu_lane_borrow(const struct gpu_place *place)
{
    void *context;
    if (!gpu_context_push(place, &context))
        return NULL;
    struct gpu_lane *lane = find_idle(context);
    bool fresh = !lane;
    if (fresh)
        lane = create(context);
    if (lane)
        lane->fresh = fresh;
    else
        gpu_context_pop();
    return lane;
}

void gpu_lane_return(struct gpu_lane *lane)
{
    /* After a failure work may be under way that uses memory which is about to be given back. */
    bool done = cudaStreamSynchronize(lane->stream) == cudaSuccess;
    if (!done)
        cudaGetLastError();
    gpu_context_pop();
    if (!done) {
        free(lane); /* whatever has become of it */
        return;
    }
    pthread_mutex_lock(&lock);
    lane->next = idle;
    idle = lane;
    pthread_mutex_unlock(&lock);
}
