/* slices.c - where an array is cut. */
#include "slices.h"

#ifndef ZMPI_GPU_SLICE /* tests make them small */
#define ZMPI_GPU_SLICE ((size_t)16 << 20)
#endif

size_t gpu_slice_bytes = ZMPI_GPU_SLICE;

static size_t in_parts(size_t n, size_t parts)
{
    return (n + parts - 1) / parts;
}

/* Slices have about the same size: a short last one would cost a launch for little. */
static void set_count(struct gpu_slices *s, size_t layers)
{
    const size_t least =
        s->layer_bytes < gpu_slice_bytes ? in_parts(gpu_slice_bytes, s->layer_bytes) : 1;
    s->layers = in_parts(layers, in_parts(layers, least));
    s->count = in_parts(layers, s->layers);
}

struct gpu_slices gpu_slices_of(const struct zmpi_cuda_tiles *t, bool whole)
{
    const int axis = t->words[0] > 1 ? 0 : t->words[1] > 1 ? 1 : 2;
    struct gpu_slices s = {.count = 1, .layer_chunks = 1, .chunks = t->chunks, .bytes = t->bytes};
    if (t->bytes <= gpu_slice_bytes)
        return s;
    if (!whole) {
        s.layer_bytes = t->bytes / t->chunks;
        set_count(&s, t->chunks);
        return s;
    }
    s.layer_bytes = t->tile[axis] * (size_t)t->width;
    for (int i = axis + 1; i < 3; i++) {
        s.layer_chunks *= t->grid[i];
        s.layer_bytes *= t->words[i];
    }
    set_count(&s, t->grid[axis]);
    return s;
}

struct gpu_slice gpu_slice(const struct gpu_slices *s, size_t i)
{
    const size_t chunks = s->layers * s->layer_chunks, bytes = s->layers * s->layer_bytes;
    struct gpu_slice p = {i * chunks, chunks, i * bytes, (i + 1) * bytes};
    if (i + 1 == s->count) {
        p.chunks = s->chunks - p.first;
        p.end = s->bytes;
    }
    return p;
}
