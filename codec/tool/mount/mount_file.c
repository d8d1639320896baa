/*
 * mount_file.c - an open file of the mount. The kernel asks for small pieces, most of them one
 * behind the other. Then the file decodes whole blocks and keeps two. A block is as long as chunks
 * are deep, so that each chunk is decoded once. A single piece is decoded alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/mount/mount.h"
#include "tool/tool.h"
#include "zmpi_reader.h"

#define BLOCK_LEAST ((size_t)4 << 20)
#define BLOCK_MOST  ((size_t)64 << 20)
/* Limit for all files together. Without a block, pieces are decoded alone. */
#define BLOCKS_MOST ((size_t)256 << 20)

enum { KEPT = 2 };

struct block {
    uint64_t begin;
    unsigned char *data; /* NULL: none */
    size_t size;
};

struct mount_file {
    int fd;
    struct zmpi_reader_file *reader; /* NULL: a plain file */
    uint64_t size;
    char *name;
    pthread_mutex_t lock; /* guards all members below */
    size_t step;          /* the length of a block */
    struct block block[KEPT];
    int oldest;
    uint64_t next; /* behind the block that was read last */
};

static atomic_size_t blocks; /* bytes of all */

/* A block; NULL: there are too many, or there is no memory. */
static unsigned char *take_block(size_t size)
{
    unsigned char *data = NULL;
    if (atomic_fetch_add(&blocks, size) + size <= BLOCKS_MOST)
        data = malloc(size);
    if (!data)
        atomic_fetch_sub(&blocks, size);
    return data;
}

static bool is_zero(const unsigned char *p, size_t n)
{
    return *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Eight bytes recognise most files. Zeros may be a container whose header is lost. */
static bool is_container(int fd, const struct stat *s)
{
    unsigned char head[8];
    enum zmpi_kind kind;
    struct zmpi_source source = {.fd = fd};
    const struct zmpi_reader in = zmpi_source_reader(&source, (uint64_t)s->st_size, 1);
    if (!S_ISREG(s->st_mode) || s->st_size < ZMPI_HEADER_BYTES ||
        pread(fd, head, sizeof head, 0) != sizeof head)
        return false;
    return zmpi_is_container(head, sizeof head) ||
           (is_zero(head, sizeof head) &&
            (zmpi_source_look(&in, &kind) || !zmpi_kind_is_plain(kind)));
}

uint64_t mount_file_size(int fd, const struct stat *s)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_file *reader;
    uint64_t size = (uint64_t)s->st_size;
    if (!is_container(fd, s) || zmpi_reader_open_fd(fd, "", NULL, &reader, NULL))
        return size;
    if (zmpi_reader_info(reader, &info, NULL) == ZMPI_OK)
        size = info.logical_size;
    zmpi_reader_close(reader);
    return size;
}

static int fail(const struct zmpi_reader_error *error)
{
    tool_fail("%s", error->text);
    return error->system ? error->system : error->status == ZMPI_ERR_MEMORY ? ENOMEM : EIO;
}

/* How many logical bytes are decoded together: a layer of chunks, which are about as long on all
 * axes that the array has (less would decode chunks of large planes several times), and enough
 * chunks for several threads. */
static double together(const struct zmpi_reader_record *r)
{
    const size_t *n = r->array.extent;
    const double item = (double)zmpi_type_size(r->array.type);
    const double chunk = (double)r->bytes / item / (double)r->chunks, least = 16 * chunk * item;
    if (n[0] > 1)
        return fmax(least, item * fmin(cbrt(chunk), (double)n[0]) * (double)n[1] * (double)n[2]);
    return fmax(least, item * fmin(sqrt(chunk), (double)n[1]) * (double)n[2]);
}

static size_t block_length(struct mount_file *f, const struct zmpi_reader_info *info)
{
    struct zmpi_reader_record r = {.size = sizeof r};
    size_t step = BLOCK_LEAST;
    /* To list the records of many small ones would take memory. */
    if (info->records == 0 || info->logical_size / info->records < BLOCK_LEAST ||
        zmpi_reader_record(f->reader, 0, &r, NULL) || r.status || !r.chunks)
        return step;
    while (step < BLOCK_MOST && (double)step < together(&r))
        step *= 2;
    return step;
}

static int open_reader(struct mount_file *f)
{
    const struct zmpi_reader_options options = {.size = sizeof options, .threads = tool_threads()};
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_error error;
    if (zmpi_reader_open_fd(f->fd, f->name, &options, &f->reader, &error))
        return fail(&error);
    if (zmpi_reader_info(f->reader, &info, &error))
        return fail(&error);
    f->size = info.logical_size;
    f->step = block_length(f, &info);
    return 0;
}

int mount_file_open(struct mount_file **file, int fd, const char *name)
{
    struct stat s;
    struct mount_file *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name)) || fstat(fd, &s)) {
        const int error = f && f->name ? errno : ENOMEM;
        if (f)
            free(f->name);
        free(f);
        close(fd);
        return error;
    }
    f->fd = fd;
    f->size = (uint64_t)s.st_size;
    pthread_mutex_init(&f->lock, NULL);
    const int error = is_container(fd, &s) ? open_reader(f) : 0;
    if (error)
        mount_file_close(f);
    else
        *file = f;
    return error;
}

void mount_file_close(struct mount_file *f)
{
    for (int i = 0; i < KEPT; i++) {
        if (f->block[i].data)
            atomic_fetch_sub(&blocks, f->step);
        free(f->block[i].data);
    }
    zmpi_reader_close(f->reader);
    pthread_mutex_destroy(&f->lock);
    close(f->fd);
    free(f->name);
    free(f);
}

int mount_file_stat(struct mount_file *f, struct stat *s)
{
    if (fstat(f->fd, s))
        return errno;
    if (f->reader)
        s->st_size = (off_t)f->size;
    return 0;
}

static ssize_t decode(struct mount_file *f, void *dst, size_t size, uint64_t offset)
{
    struct zmpi_reader_error error;
    if (zmpi_reader_read(f->reader, offset, dst, size, &error))
        return -fail(&error);
    return (ssize_t)size;
}

static struct block *find_block(struct mount_file *f, uint64_t begin)
{
    for (int i = 0; i < KEPT; i++)
        if (f->block[i].data && f->block[i].size && f->block[i].begin == begin)
            return &f->block[i];
    return NULL;
}

/* Memory for a block: that of the oldest one, or of the only one if there is no memory for a
 * second. NULL: there is none. */
static struct block *block_room(struct mount_file *f)
{
    struct block *b = &f->block[f->oldest];
    if (!b->data && !(b->data = take_block(f->step)))
        b = &f->block[(f->oldest + 1) % KEPT];
    return b->data ? b : NULL;
}

/* NULL: there is no memory for it, or it is damaged; then pieces are decoded alone. */
static struct block *load_block(struct mount_file *f, uint64_t begin)
{
    struct block *b = block_room(f);
    const uint64_t rest = f->size - begin;
    if (!b)
        return NULL;
    b->begin = begin;
    b->size = rest < f->step ? (size_t)rest : f->step;
    if (zmpi_reader_read(f->reader, begin, b->data, b->size, NULL)) {
        b->size = 0;
        return NULL;
    }
    f->oldest = b == f->block ? 1 : 0;
    return b;
}

/* A piece inside one block. */
static ssize_t read_piece(struct mount_file *f, unsigned char *dst, size_t size, uint64_t offset)
{
    const uint64_t begin = offset - offset % f->step;
    struct block *b = find_block(f, begin);
    if (!b && (begin == f->next || begin + f->step == f->next))
        b = load_block(f, begin);
    f->next = begin + f->step;
    if (!b)
        return decode(f, dst, size, offset);
    memcpy(dst, b->data + (offset - begin), size);
    return (ssize_t)size;
}

static ssize_t read_container(struct mount_file *f, unsigned char *dst, size_t size,
                              uint64_t offset)
{
    size_t done = 0;
    if (!f->block[0].data &&
        !f->block[1].data) /* many large ones of other files leave little room */
        while (f->step > BLOCK_LEAST && atomic_load(&blocks) + f->step > BLOCKS_MOST)
            f->step /= 2;
    while (done < size) {
        const size_t left = f->step - (size_t)((offset + done) % f->step);
        const size_t n = size - done < left ? size - done : left;
        const ssize_t got = read_piece(f, dst + done, n, offset + done);
        if (got < 0)
            return got;
        done += n;
    }
    return (ssize_t)done;
}

ssize_t mount_file_read(struct mount_file *f, void *dst, size_t size, uint64_t offset)
{
    if (!f->reader) {
        const ssize_t got = pread(f->fd, dst, size, (off_t)offset);
        return got < 0 ? -errno : got;
    }
    if (offset >= f->size)
        return 0;
    if (size > f->size - offset)
        size = (size_t)(f->size - offset);
    pthread_mutex_lock(&f->lock);
    const ssize_t got = read_container(f, dst, size, offset);
    pthread_mutex_unlock(&f->lock);
    return got;
}
