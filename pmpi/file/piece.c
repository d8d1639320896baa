/* piece.c - gives one piece of data, with its bound, to a device that writes it, or encodes it to
 * the outbox. */
#include <string.h>

#include "file/zfile.h"
#include "mpi/runtime.h"

/* Both encoders give the same values, except for a ratio: its bound depends on the encoder, so time
 * must not choose it. */
static void choose_encoder(struct zfile *f, struct zmpi_job *job)
{
    if (strcmp(f->options.codec, "auto") == 0 && job->bound.mode != ZMPI_RATIO)
        job->encoder = zmpi_codec_choose(&f->choice);
    else
        job->encoder = zmpi_options_encoder(&f->options, &job->variant);
}

/* A device that writes the file itself takes the piece, or it is encoded here. */
static int code(struct zfile *f, struct zmpi_job *job, const struct zpiece *piece)
{
    const double start = zmpi_seconds();
    int rc;
    if (!piece->holder)
        zmpi_axes_recall(&f->axes, job, piece->data);
    job->interp = &f->interp;
    const bool taken = zoffload_take(f, job, piece, &rc);
    f->stats.n.seconds_compress += zmpi_seconds() - start;
    return taken ? rc : zencode_job(f, job, piece);
}

int zencode_piece(struct zfile *f, const struct zpiece *piece)
{
    struct zmpi_job job;
    struct zmpi_array array = zencode_array(piece);
    struct zmpi_bound bound = zfile_bound(f, array.type);
    if (piece->exact)
        bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    enum zmpi_status status = zmpi_job_make(&array, &bound, piece->range, &job);
    if (status)
        return zfile_raise_status(f, status, "compressing");
    if (piece->big_endian && array.type == ZMPI_BYTES) /* zmpi's error: bytes have no order */
        return zfile_raise_status(f, ZMPI_ERR_UNSUPPORTED, "compressing");
    job.big_endian = piece->big_endian;
    zmpi_job_threshold(&job, f->options.threshold);
    if (piece->fills)
        zmpi_job_fills(&job, piece->fills);
    if (zmpi_job_open(&job) && piece->search)
        zmpi_ratio_search_apply(piece->search, &job);
    job.read = piece->read;
    job.threads = zruntime_threads(&f->options);
    if (piece->search) {
        job.encoder = piece->search->encoder;
        job.variant = piece->search->variant;
    } else {
        choose_encoder(f, &job);
    }
    struct znote *note = znote_now(f);
    if (note)
        f->before.note = *note;
    f->before.stats = f->stats;
    f->before.choice = f->choice;
    f->before.offloaded = f->offload.coded.bytes;
    return code(f, &job, piece);
}

int zencode_resolved(struct zfile *f, const struct zpiece *piece, double abs_bound, double keep)
{
    struct zmpi_job job;
    struct zmpi_array array = zencode_array(piece);
    struct zmpi_bound exact = {ZMPI_LOSSLESS, 0};
    enum zmpi_status status = zmpi_job_make(&array, &exact, NULL, &job);
    if (status)
        return zfile_raise_status(f, status, "compressing");
    if (abs_bound > 0 && (array.type == ZMPI_F32 || array.type == ZMPI_F64)) {
        job.bound = f->options.bound;
        job.abs_bound = abs_bound;
        job.keep = keep;
        if (piece->fills)
            zmpi_job_fills(&job, piece->fills);
    }
    job.threads = zruntime_threads(&f->options);
    choose_encoder(f, &job);
    return code(f, &job, piece);
}
