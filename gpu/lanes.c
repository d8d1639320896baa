/* lanes.c - streams with pinned memory, one for each call at a time, kept for the next. */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
            free(lane); /* the device was reset: its stream must not be asked either */
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void destroy_buffers(struct gpu_way *way)
{
    for (int i = 0; i < 2; i++) {
        if (way->buffer[i].copied)
            cudaEventDestroy(way->buffer[i].copied);
        if (way->buffer[i].pinned)
            cudaFreeHost(way->buffer[i].pinned);
    }
}

static void destroy(struct gpu_lane *lane)
{
    destroy_buffers(&lane->way);
    if (lane->answer)
        cudaFreeHost(lane->answer);
    if (lane->stream)
        cudaStreamDestroy(lane->stream);
    free(lane);
}

static bool make_buffers(struct gpu_way *way)
{
    bool made = true;
    for (int i = 0; i < 2 && made; i++)
        made = GPU_OK(cudaEventCreateWithFlags(&way->buffer[i].copied, cudaEventDisableTiming)) &&
               GPU_OK(cudaMallocHost((void **)&way->buffer[i].pinned, GPU_PIECE));
    return made;
}

/* Makes the stream wait for the default stream, as programs expect that do not synchronize before
 * they call MPI. */
static bool make(struct gpu_lane *lane)
{
    int pools = 0;
    bool made =
        GPU_OK(cudaStreamCreate(&lane->stream)) &&
        GPU_OK(cudaMallocHost((void **)&lane->answer, GPU_ANSWER)) &&
        GPU_OK(cudaGetDevice(&lane->device)) &&
        GPU_OK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, lane->device));
    if (made) {
        lane->number = gpu_number(lane->answer);
        lane->pools = pools;
        lane->way.stream = lane->stream;
    }
    return made && make_buffers(&lane->way);
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

/* ---- two more streams, for copies in both directions ---- */

static void destroy_ways(struct gpu_lane *lane)
{
    destroy_buffers(&lane->down);
    for (int i = 0; i < GPU_AHEAD; i++)
        if (lane->done[i])
            cudaEventDestroy(lane->done[i]);
    if (lane->arrived)
        cudaEventDestroy(lane->arrived);
    if (lane->up.stream)
        cudaStreamDestroy(lane->up.stream);
    if (lane->down.stream)
        cudaStreamDestroy(lane->down.stream);
    memset(lane->done, 0, sizeof lane->done);
    lane->arrived = NULL;
    lane->up = lane->down = (struct gpu_way){.stream = NULL};
}

/* Makes all of it or nothing. The streams wait for the default stream, like the lane's. */
static bool make_ways(struct gpu_lane *lane)
{
    lane->up = lane->way;
    lane->up.stream = NULL;
    lane->fresh = true;
    bool made = GPU_OK(cudaStreamCreate(&lane->up.stream)) &&
                GPU_OK(cudaStreamCreate(&lane->down.stream)) &&
                GPU_OK(cudaEventCreateWithFlags(&lane->arrived, cudaEventDisableTiming)) &&
                make_buffers(&lane->down);
    for (int i = 0; i < GPU_AHEAD && made; i++)
        made = GPU_OK(cudaEventCreateWithFlags(&lane->done[i], cudaEventDisableTiming));
    if (!made)
        destroy_ways(lane);
    return made;
}

bool gpu_lane_split(struct gpu_lane *lane)
{
    if (!lane->up.stream && !make_ways(lane))
        return false;
    lane->split = true;
    return GPU_OK(cudaEventRecord(lane->arrived, lane->stream)) &&
           GPU_OK(cudaStreamWaitEvent(lane->up.stream, lane->arrived, 0));
}

bool gpu_lane_follow(struct gpu_lane *lane, const struct gpu_way *way)
{
    return way->stream == lane->stream ||
           (GPU_OK(cudaEventRecord(lane->arrived, way->stream)) &&
            GPU_OK(cudaStreamWaitEvent(lane->stream, lane->arrived, 0)));
}

/* ---- a call's ---- */

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

static void forget_copies(struct gpu_way *way)
{
    for (int i = 0; i < 2; i++) {
        way->buffer[i].bytes = 0;
        way->buffer[i].busy = false;
    }
    way->direct = false;
}

/* Waits until nothing of the call runs any more, whatever became of it; false if that cannot be
 * known. */
static bool wait_for_all(struct gpu_lane *lane)
{
    cudaStream_t stream[] = {lane->stream, lane->up.stream, lane->down.stream};
    struct gpu_way *way[] = {&lane->way, &lane->up, &lane->down};
    bool done = true;
    for (int i = 0; i < (lane->split ? 3 : 1); i++) {
        done &= cudaStreamSynchronize(stream[i]) == cudaSuccess;
        forget_copies(way[i]);
    }
    lane->split = false;
    return done;
}

void gpu_lane_return(struct gpu_lane *lane)
{
    /* After a failure, running work may still use memory that is about to be released. */
    bool done = wait_for_all(lane);
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
