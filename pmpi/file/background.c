/*
 * background.c - a thread writes records to the file while the program computes (nonblocking
 * writes), or while the next piece of a large write is coded.
 *
 * Compression itself is never put off: that would need a copy of the program's buffer, which takes
 * about as long as compression. The thread does not call MPI, whose thread level is the program's
 * choice; it writes to the file itself. The next call that needs the records in the file reports an
 * error, sync and close at the latest.
 */
#define _GNU_SOURCE // pthread_setname_np
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "file/physical.h"
#include "file/zfile.h"

enum { MOST_JOBS = 2 }; /* buffers in flight, each as large as the outbox */

struct job {
    uint64_t offset;
    unsigned char *data;
    size_t size;
    struct zmpi_record *record;
    size_t count;
    bool done;
    int error; /* errno */
    double seconds;
};

struct zbackground {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
    int fd;
    struct job job[MOST_JOBS]; /* a ring */
    int first, jobs;           /* the oldest job, and the number of jobs */
};

static struct job *job_at(struct zbackground *b, int i)
{
    return &b->job[(b->first + i) % MOST_JOBS];
}

static struct job *next_job(struct zbackground *b)
{
    for (int i = 0; i < b->jobs; i++)
        if (!job_at(b, i)->done)
            return job_at(b, i);
    return NULL;
}

static void *run(void *argument)
{
    struct zbackground *b = argument;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        struct job *j = next_job(b);
        if (!j && b->stop)
            break;
        if (!j) {
            pthread_cond_wait(&b->work, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        /* The outbox must not change until it is written. */
        double start = zmpi_seconds();
        int failed = zfd_write(b->fd, j->data, j->size, (off_t)j->offset), error = errno;
        pthread_mutex_lock(&b->lock);
        j->seconds = zmpi_seconds() - start;
        j->error = failed ? error : 0;
        j->done = true;
        pthread_cond_signal(&b->done);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals are for the program's threads. */
static struct zbackground *start(int fd)
{
    sigset_t all, before;
    struct zbackground *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->fd = fd;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->work, NULL);
    pthread_cond_init(&b->done, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&b->thread, NULL, run, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(b);
        return NULL;
    }
    pthread_setname_np(b->thread, "zmpi write");
    return b;
}

/* Ends the oldest job, whose records are in the file now, or have failed. */
static int finish(struct zfile *f)
{
    struct zbackground *b = f->background;
    pthread_mutex_lock(&b->lock);
    while (!job_at(b, 0)->done)
        pthread_cond_wait(&b->done, &b->lock);
    struct job j = *job_at(b, 0);
    b->first = (b->first + 1) % MOST_JOBS;
    b->jobs--;
    pthread_mutex_unlock(&b->lock);
    if (!j.error)
        zmpi_codec_written(&f->choice, ZMPI_CODEC_HERE, (double)j.size, j.seconds, true);
    int rc = MPI_SUCCESS;
    if (j.error)
        rc = zphysical_failed(f, MPI_SUCCESS, j.error, "writing");
    rc = znews_keep(f, j.record, j.count, rc);
    free(j.record);
    free(j.data);
    return rc;
}

int zbackground_wait(struct zfile *f)
{
    int rc = MPI_SUCCESS;
    while (f->background && f->background->jobs) {
        int one = finish(f);
        rc = rc ? rc : one;
    }
    if (!rc)
        rc = f->late;
    f->late = MPI_SUCCESS;
    return rc;
}

/* Makes the file long enough: other sessions see by its size which places are taken
 * (sessions.c). */
static bool take_place(int fd, uint64_t offset, const unsigned char *data, size_t size)
{
    return zfd_write(fd, data + size - 8, 8, (off_t)(offset + size - 8)) == 0;
}

bool zbackground_write(struct zfile *f, uint64_t offset, int *rc)
{
    int fd = zsession_descriptor(f);
    if (fd < 0 || f->outbox.used < 8)
        return false;
    if (!f->background)
        f->background = start(fd);
    struct zbackground *b = f->background;
    if (!b || !take_place(fd, offset, f->outbox.bytes, f->outbox.used))
        return false;
    *rc = b->jobs == MOST_JOBS ? finish(f) : MPI_SUCCESS;
    pthread_mutex_lock(&b->lock);
    *job_at(b, b->jobs++) = (struct job){.offset = offset,
                                         .data = f->outbox.bytes,
                                         .size = f->outbox.used,
                                         .record = f->outbox.record,
                                         .count = f->outbox.count};
    pthread_cond_signal(&b->work);
    pthread_mutex_unlock(&b->lock);
    f->outbox.bytes = NULL;
    f->outbox.used = f->outbox.capacity = 0;
    f->outbox.record = NULL;
    f->outbox.count = f->outbox.most = 0;
    return true;
}

void zbackground_free(struct zfile *f)
{
    struct zbackground *b = f->background;
    if (!b)
        return;
    zbackground_wait(f);
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_signal(&b->work);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->work);
    pthread_cond_destroy(&b->done);
    free(b);
    f->background = NULL;
}
