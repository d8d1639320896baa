/*
 * plugin.c - the Cerebras device, as zmpi sees it: libzmpi_wse.so. The wafer is simulated, unless
 * the vendor's tools are there (docs/internals/csl.md).
 */
#define _GNU_SOURCE // environ
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "chip_sdk.h"
#include "chip_sim.h"
#include "planner.h"
#include "wse.h"

__attribute__((visibility("default"))) const struct zmpi_device *zmpi_device_plugin(void);

enum { MOST_PES = 32, DEFAULT_PES = 4 };

/* A wafer with one program. A program is loaded once, and serves one call at a time. */
struct wafer {
    const char *program;
    struct chip *chip; /* the loaded kind, or NULL */
    struct chip_sim sim;
    struct chip_sdk sdk;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wafer compressor = {.program = "compress"}, decompressor = {.program = "decompress"};
static struct wse_count counted;
static _Thread_local char reason[300];

/* ---- settings ---- */

/* Reads ZMPI_WSE_PES=WxH; false if the value is invalid. */
static bool rectangle(unsigned *width, unsigned *height)
{
    const char *text = secure_getenv("ZMPI_WSE_PES");
    int end = 0;
    *width = *height = DEFAULT_PES;
    if (!text || !*text)
        return true;
    return sscanf(text, "%2ux%2u%n", width, height, &end) == 2 && text[end] == 0 && *width >= 1 &&
           *width <= MOST_PES && *height >= 1 && *height <= MOST_PES;
}

/* Reads ZMPI_WSE_PIPELINE=N, which must divide the rectangle's width; false if the value is
 * invalid. */
static bool pipeline(unsigned width, unsigned *pes)
{
    const char *text = secure_getenv("ZMPI_WSE_PIPELINE");
    *pes = 0;
    if (!text || !*text)
        return true;
    *pes = (unsigned)(*text - '0');
    return text[1] == 0 && *pes >= 1 && *pes <= CHIP_PIPELINE && width % *pes == 0;
}

/* Reads ZMPI_WSE_SEED=N; false if the value is invalid. */
static bool seed(uint64_t *value)
{
    const char *text = secure_getenv("ZMPI_WSE_SEED");
    char *end;
    *value = 1;
    if (!text || !*text)
        return true;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0;
}

/* ZMPI_WSE_ENGINE: the vendor's tools instead of our simulator? */
static bool by_sdk(void)
{
    const char *text = secure_getenv("ZMPI_WSE_ENGINE");
    return text && strcmp(text, "sdk") == 0;
}

/* zmpi leaves variables with these names to this device. */
static bool all_known(void)
{
    static const char *const known[] = {
        "PES=", "PIPELINE=", "SEED=", "ADDRESS=", "ENGINE=sim", "ENGINE=sdk"};
    for (char **e = environ; e && *e; e++) {
        bool found = strncmp(*e, "ZMPI_WSE_", 9) != 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found |= strncmp(*e, "ZMPI_WSE_", 9) == 0 &&
                     (i < 4 ? strncmp(*e + 9, known[i], strlen(known[i])) == 0
                            : strcmp(*e + 9, known[i]) == 0);
        if (!found)
            return false;
    }
    return true;
}

static const char *probe(void)
{
    unsigned width, height, pes;
    uint64_t any;
    const char *address = secure_getenv("ZMPI_WSE_ADDRESS");
    if (!all_known())
        return "there is a setting ZMPI_WSE_... that is none of ZMPI_WSE_PES=WxH, _PIPELINE=N, "
               "_SEED=N, _ENGINE=sim, _ENGINE=sdk, _ADDRESS=IP:PORT";
    if (!rectangle(&width, &height))
        return "ZMPI_WSE_PES is not WIDTHxHEIGHT, each 1 to 32: how many PEs to use";
    if (!pipeline(width, &pes))
        return "ZMPI_WSE_PIPELINE is not 1 to 8 PEs of which the width of ZMPI_WSE_PES is a "
               "multiple: "
               "how long pipelines are";
    if (!seed(&any))
        return "ZMPI_WSE_SEED is not a number";
    if (address && *address && !by_sdk())
        return "ZMPI_WSE_ADDRESS is of use with ZMPI_WSE_ENGINE=sdk only";
    return by_sdk() ? chip_sdk_missing() : NULL;
}

/* ---- calls ---- */

/* Bytes per second of a simulated wafer; `auto` never takes it. */
static double cost(const struct zmpi_work *work)
{
    return 1 + (double)work->bytes / 1e6;
}

static void unload(struct wafer *w)
{
    if (w->sim.sim)
        chip_sim_close(&w->sim);
    if (w->sdk.folder[0])
        chip_sdk_close(&w->sdk);
    w->chip = NULL;
}

/* The wafer's chip; NULL: `reason` says why there is none. Pipelines are planned for blocks of
 * `length`. */
static struct chip *load(struct wafer *w, unsigned length)
{
    unsigned width, height;
    struct chip_sim_options options = {.length = length, .decode = w == &decompressor};
    const char *address = secure_getenv("ZMPI_WSE_ADDRESS");
    bool loaded;
    reason[0] = 0;
    if (w->chip && w->sdk.folder[0] && w->sdk.owner != getpid()) /* a child of the process that
                                                                  * loaded it */
        unload(w);
    if (w->chip)
        return w->chip;
    if (!rectangle(&width, &height) || !pipeline(width, &options.pipeline) ||
        !seed(&options.seed)) {
        snprintf(reason, sizeof reason, "%s", probe());
        return NULL;
    }
    const struct chip_rows rows = {options.pipeline, options.length, options.decode};
    const char *program = rows.pipeline ? "rows" : w->program;
    if (by_sdk()) {
        loaded = chip_sdk_open(&w->sdk, program, width, height, &rows,
                               address && *address ? address : NULL);
        w->chip = &w->sdk.chip;
    } else {
        loaded = chip_sim_open(&w->sim, program, width, height, &options);
        w->chip = &w->sim.chip;
    }
    if (!loaded) {
        snprintf(reason, sizeof reason, "%s: %s", w->program, w->chip->problem);
        unload(w);
    }
    return w->chip;
}

/* The vendor's tools must not outlive the process. */
__attribute__((destructor)) static void at_exit(void)
{
    if (pthread_mutex_trylock(&lock)) /* another thread still computes, so its chip must stay */
        return;
    unload(&compressor);
    unload(&decompressor);
    pthread_mutex_unlock(&lock);
}

/* A wafer on which something failed is loaded again next time. */
static enum zmpi_status judge(struct wafer *w, enum zmpi_status status,
                              const struct wse_count *count)
{
    if (status == ZMPI_ERR_DEVICE) {
        snprintf(reason, sizeof reason, "%s: %s", w->program, w->chip->problem);
        unload(w);
    }
    counted.chip += count->chip;
    counted.host += count->host;
    zmpi_log(ZMPI_LOG_INFO,
             "device wse: %s: %llu chunks on PEs (%s), %llu on the host; %llu and %llu so far",
             w->program, (unsigned long long)count->chip, by_sdk() ? "sdk" : "simulated",
             (unsigned long long)count->host, (unsigned long long)counted.chip,
             (unsigned long long)counted.host);
    return status;
}

static enum zmpi_status compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                 const void *src, size_t *size)
{
    struct wse_count count = {0, 0};
    enum zmpi_status status = ZMPI_ERR_DEVICE;
    if (!wse_takes_job(job))
        return ZMPI_ERR_UNSUPPORTED;
    pthread_mutex_lock(&lock);
    struct chip *chip = load(&compressor, stages_sample_length(job, src));
    if (chip)
        status = judge(&compressor, wse_compress(chip, job, dst, dst_capacity, src, size, &count),
                       &count);
    pthread_mutex_unlock(&lock);
    return status;
}

static enum zmpi_status decompress(void *dst, size_t dst_capacity, const void *src, size_t src_size,
                                   const unsigned char *need, int threads)
{
    struct zmpi_stream s;
    struct wse_count count = {0, 0};
    enum zmpi_status status = zmpi_stream_parse(&s, src, src_size);
    (void)threads;
    if (status)
        return status;
    if (!wse_takes_stream(&s))
        return ZMPI_ERR_UNSUPPORTED;
    if (dst_capacity < s.info.decoded_bytes)
        return ZMPI_ERR_SPACE;
    pthread_mutex_lock(&lock);
    struct chip *chip = load(&decompressor, stages_sample_stream(&s));
    status = ZMPI_ERR_DEVICE;
    if (chip)
        status = judge(&decompressor, wse_decompress(chip, &s, need, dst, &count), &count);
    pthread_mutex_unlock(&lock);
    return status;
}

static void give_all(void)
{
    pthread_mutex_lock(&lock);
    unload(&compressor);
    unload(&decompressor);
    pthread_mutex_unlock(&lock);
}

static const char *problem(void)
{
    return reason[0] ? reason : NULL;
}

const struct zmpi_device *zmpi_device_plugin(void)
{
    static const struct zmpi_device device = {
        .size = sizeof device,
        .abi = ZMPI_DEVICE_ABI,
        .memory = ZMPI_MEMORY_HOST,
        .encoders = 1u << ZMPI_FLE,
        .name = "wse",
        .probe = probe,
        .cost = cost,
        .compress = compress,
        .decompress = decompress,
        .problem = problem,
        .give_all = give_all,
    };
    return &device;
}
