/* coll_stream.c - makes a stream of a block's data: chooses the bound, the job, and the device. */
#include <stdatomic.h>
#include <stdlib.h>

#include "collective/coll.h"
#include "judge/judgement.h"
#include "mpi/runtime.h"
#include "stream/compress_job.h"

/* Logs, once in each process, that data are not the floats as which the program declares them. */
static void tell_of_looks(const struct zcall *c, enum zmpi_type element, enum zmpi_looks looks)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        zmpi_log(
            ZMPI_LOG_WARN,
            "%s on %d ranks: rank %d sends data as MPI_%s that look like %s: such messages are "
            "exact (send them by their own datatype, or set ZMPI_COLLECTIVES=none)",
            zop_name(c->op), c->state->ranks, c->state->rank,
            element == ZMPI_F32 ? "FLOAT" : "DOUBLE", zmpi_looks_name(looks));
}

bool zpiece_has_numbers(const struct zcall *c, enum zmpi_type element, const void *data,
                        size_t bytes)
{
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    zmpi_sample_take(&taken, element, data, bytes / zmpi_type_size(element));
    zmpi_judge(&j, &taken, false);
    if (j.looks != ZMPI_LOOKS_RIGHT && !zmpi_order_is_wrong(&j.order))
        tell_of_looks(c, element, j.looks);
    return !j.is_wrong;
}

/* Only the sender of a piece decides: the message says what it is. */
static struct zmpi_bound bound_of(const struct zcall *c, enum zmpi_type element, const void *data,
                                  size_t bytes)
{
    const struct zmpi_bound lossless = {ZMPI_LOSSLESS, 0};
    bool is_float = element == ZMPI_F32 || element == ZMPI_F64;
    if (c->exact || !is_float || c->state->options.bound.mode == ZMPI_LOSSLESS)
        return lossless;
    return zpiece_has_numbers(c, element, data, bytes) ? c->state->options.bound : lossless;
}

/* Does interp take huffman's place? It does if the user asks for it, unless pieces are short or a
 * ratio's bound was found for huffman. */
static bool in_place(int asked, const struct zmpi_array *array, const struct zmpi_bound *bound)
{
    enum { LEAST = 64 << 10 };
    size_t bytes;
    return asked == ZMPI_INTERP && bound->mode != ZMPI_RATIO && !zmpi_array_bytes(array, &bytes) &&
           bytes >= LEAST;
}

bool zpiece_make_job(const struct zcall *c, const struct zmpi_array *array,
                     const struct zmpi_bound *bound, const struct zmpi_range *range,
                     const struct zmpi_fills *fills, int encoder, struct zmpi_job *job)
{
    const struct zmpi_options *o = &c->state->options;
    if (zmpi_job_make(array, bound, range, job))
        return false;
    zmpi_job_threshold(job, o->threshold);
    zmpi_job_fills(job, fills);
    job->read = c->scanned;
    job->threads = zruntime_threads(o);
    const int asked = zmpi_options_encoder(o, &job->variant);
    job->encoder = encoder == ZMPI_HUFFMAN && in_place(asked, array, bound) ? asked : encoder;
    return true;
}

bool zpiece_job(const struct zcall *c, const struct zblock *b, const void *data, size_t bytes,
                int encoder, struct zmpi_job *job)
{
    const struct zmpi_array a = zblock_array(b, bytes);
    const struct zmpi_bound bound = bound_of(c, a.type, data, bytes);
    if (!zpiece_make_job(c, &a, &bound, &c->range, &c->fills, encoder, job))
        return false;
    if (zmpi_job_open(job))
        zmpi_ratio_search_apply(&c->search, job);
    return true;
}

/* Are a rank's pieces coded in the same order in every run? With several peers, the order depends
 * on how fast each takes them. */
static bool in_order(const struct zcall *c)
{
    return c->op == ZOP_GATHER || c->op == ZOP_GATHERV || c->op == ZOP_ALLGATHER ||
           c->op == ZOP_ALLGATHERV || c->op == ZOP_BCAST;
}

/* Takes over earlier choices. Axes may decide whether a chunk is exact, and interp's choice decides
 * all values; so lossy data may use them only if the order of pieces is fixed. */
static void recall(const struct zcall *c, struct zmpi_job *job, const unsigned char *data)
{
    const bool exact = job->bound.mode == ZMPI_LOSSLESS;
    if (exact || in_order(c))
        zmpi_axes_recall(&c->state->axes[exact], job, data);
    if (in_order(c))
        job->interp = &c->state->interp;
}

size_t zpiece_stream(struct zcall *c, const struct zmpi_device *holder, const unsigned char *data,
                     struct zmpi_job *job, unsigned char *dst, size_t capacity)
{
    size_t size;
    if (!holder)
        recall(c, job, data);
    enum zmpi_status status =
        zmpi_offload_compress(&c->state->offload, job, holder, dst, capacity, data, &size);
    return !status && size < capacity ? size : 0;
}

/* Replaces the data by the values that a stream by fle would give. */
enum zmpi_status zpiece_decode_own(const struct zmpi_job *job, unsigned char *data, size_t bytes)
{
    const struct zmpi_device *cpu = zmpi_device_cpu();
    struct zmpi_job fle = *job;
    size_t capacity = zmpi_compress_capacity(&job->array), size = 0;
    unsigned char *stream = malloc(capacity);
    fle.encoder = ZMPI_FLE;
    enum zmpi_status status =
        stream ? zmpi_job_compress(cpu, &fle, stream, capacity, data, &size) : ZMPI_ERR_MEMORY;
    if (!status)
        status = cpu->decompress(data, bytes, stream, size, NULL, job->threads);
    free(stream);
    return status;
}
