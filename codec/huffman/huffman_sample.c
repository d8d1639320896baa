/* huffman_sample.c - which symbols a stream to be written has, from samples (format.md 4.9). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "huffman/huffman.h"

enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, SECTION = ZMPI_HUFFMAN_SECTION, GROUP = 8 };

/* Sums do not depend on their order: any number of threads counts the same. */
struct sampler {
    size_t chunks, width;
    zmpi_sample_fn *encode;
    const void *context;
    pthread_mutex_t lock;
    size_t sections, section, sample; /* the next to be taken */
    uint32_t (*count)[SYMBOLS];       /* of each section */
};

static size_t section_chunks(const struct sampler *s, size_t section)
{
    size_t left = s->chunks - section * SECTION;
    return left < SECTION ? left : SECTION;
}

/* Up to GROUP samples of a section; false if there are no more. */
static bool take(struct sampler *s, size_t *section, size_t *sample, size_t *end)
{
    pthread_mutex_lock(&s->lock);
    bool took = s->section < s->sections;
    if (took) {
        size_t n = zmpi_huffman_samples(section_chunks(s, s->section));
        *section = s->section;
        *sample = s->sample;
        *end = s->sample = n - s->sample < GROUP ? n : s->sample + GROUP;
        if (s->sample == n) {
            s->section++;
            s->sample = 0;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return took;
}

static void add(struct sampler *s, size_t section, const uint32_t count[SYMBOLS])
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < SYMBOLS; i++)
        s->count[section][i] += count[i];
    pthread_mutex_unlock(&s->lock);
}

/* What one thread needs. */
struct workspace {
    struct zmpi_chunk_work chunk;
    unsigned char coded[ZMPI_CHUNK_CAPACITY];
};

static void count_samples(void *context)
{
    struct sampler *s = context;
    uint32_t count[SYMBOLS];
    size_t section, sample, end, words;
    struct workspace *w = aligned_alloc(64, sizeof *w);
    if (!w)
        return; /* the others may have more luck */
    zmpi_chunk_work_init(&w->chunk, ZMPI_CHUNK_INPUT_BYTES, ZMPI_CHUNK_BEFORE);
    w->chunk.keep = true;
    while (take(s, &section, &sample, &end)) {
        memset(count, 0, sizeof count);
        for (; sample < end; sample++) {
            size_t k = zmpi_huffman_sample(section_chunks(s, section), sample);
            size_t size = s->encode(s->context, section * SECTION + k, &w->chunk, w->coded, &words);
            zmpi_huffman_count(s->width, words, w->coded, size, &w->chunk, count);
        }
        add(s, section, count);
    }
    free(w);
}

enum zmpi_status zmpi_huffman_choose(size_t chunks, size_t width, int threads, bool own,
                                     enum zmpi_huffman_sort sort, zmpi_sample_fn *sample,
                                     const void *context, struct zmpi_huffman_plan *plan)
{
    struct sampler s = {.chunks = chunks, .width = width, .encode = sample, .context = context};
    enum zmpi_status status = ZMPI_ERR_MEMORY;
    s.sections = (chunks + SECTION - 1) / SECTION;
    s.count = calloc(s.sections + 1, sizeof *s.count);
    if (!s.count)
        return status;
    pthread_mutex_init(&s.lock, NULL);
    size_t groups = chunks / GROUP + 1;
    zmpi_pool_run(groups < (size_t)threads ? (int)groups : threads, count_samples, &s);
    if (s.section == s.sections)
        status = zmpi_huffman_plan_make(plan, chunks, width, (const uint32_t(*)[SYMBOLS])s.count,
                                        own, sort);
    pthread_mutex_destroy(&s.lock);
    free(s.count);
    return status;
}
