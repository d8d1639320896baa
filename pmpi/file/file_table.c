/* file_table.c - which MPI_File handles are containers. */
#include <stdatomic.h>
#include <stdlib.h>

#include "file/zfile.h"

#define BUCKETS 64

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct zfile *table[BUCKETS];
/* Read without the lock, so that programs without containers pay one load per call. */
static atomic_int containers, hdf5_files;

static struct zfile **bucket_of(MPI_File fh)
{
    uintptr_t key = (uintptr_t)fh;
    return &table[(key >> 4 ^ key >> 10) % BUCKETS];
}

/* Called with the table's lock, which it releases; then it takes the file's. */
static struct zfile *reference(struct zfile *f)
{
    if (f)
        f->references++;
    pthread_mutex_unlock(&table_lock);
    if (f)
        pthread_mutex_lock(&f->lock);
    return f;
}

struct zfile *zfile_find(MPI_File fh)
{
    if (atomic_load_explicit(&containers, memory_order_acquire) == 0)
        return NULL;
    pthread_mutex_lock(&table_lock);
    struct zfile *f = *bucket_of(fh);
    while (f && f->handle != fh)
        f = f->next;
    return reference(f);
}

struct zfile *zfile_find_hdf5(MPI_Comm program)
{
    struct zfile *f = NULL;
    if (atomic_load_explicit(&hdf5_files, memory_order_acquire) == 0)
        return NULL;
    pthread_mutex_lock(&table_lock);
    for (size_t i = 0; i < BUCKETS && !f; i++)
        for (f = table[i]; f && !(f->hdf5 && f->program == program);)
            f = f->next;
    return reference(f);
}

struct zfile *zfile_after(const struct zfile *last)
{
    pthread_mutex_lock(&table_lock);
    struct zfile *f = last ? last->next : NULL;
    for (size_t i = last ? (size_t)(bucket_of(last->handle) - table) + 1 : 0; i < BUCKETS && !f;
         i++)
        f = table[i];
    return reference(f);
}

static void destroy(struct zfile *f)
{
    zview_free(&f->view);
    zmpi_container_free(&f->container);
    zreadahead_free(f);
    zstage_free(f);
    zmpi_entries_free(&f->fresh);
    zreuse_drop(f);
    free(f->outbox.bytes);
    free(f->component);
    znotes_free(f);
    free(f->section.bytes);
    free(f->outbox.record);
    free(f->news.sizes);
    free(f->news.places);
    free(f->news.bytes);
    free(f->shared.path);
    free(f->path);
    free(f->place);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void zfile_done(struct zfile *f)
{
    pthread_mutex_unlock(&f->lock);
    pthread_mutex_lock(&table_lock);
    bool last = --f->references == 0;
    pthread_mutex_unlock(&table_lock);
    if (last)
        destroy(f);
}

void zfile_add(struct zfile *f)
{
    pthread_mutex_lock(&table_lock);
    struct zfile **head = bucket_of(f->handle);
    f->next = *head;
    *head = f;
    pthread_mutex_unlock(&table_lock);
    atomic_fetch_add_explicit(&containers, 1, memory_order_release);
    atomic_fetch_add_explicit(&hdf5_files, f->hdf5, memory_order_release);
}

void zfile_remove(struct zfile *f)
{
    pthread_mutex_lock(&table_lock);
    struct zfile **at = bucket_of(f->handle);
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    f->references--; /* the table's own; the caller still holds one */
    pthread_mutex_unlock(&table_lock);
    atomic_fetch_sub_explicit(&containers, 1, memory_order_release);
    atomic_fetch_sub_explicit(&hdf5_files, f->hdf5, memory_order_release);
}
