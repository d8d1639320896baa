/* train.c - training: Adam, over patches in random order. */
#include "tool/enhance/train.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "tool/tool.h"

enum { BATCH = 8 };
static const float rate = 4e-3F;

/* Random numbers that are the same on every machine. */
static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((*state >> 32) * n >> 32);
}

void train_begin(struct train_net *t)
{
    uint64_t state = 1;
    float *w = t->weight;
    memset(t, 0, sizeof *t);
    for (int l = 0; l < ZMPI_NET_LAYERS; l++) {
        const float wide = sqrtf(2.0F / (float)(9 * zmpi_net_in[l])) * (l == 3 ? 0.3F : 1);
        for (int i = 0; i < 9 * zmpi_net_in[l] * zmpi_net_out[l]; i++) {
            float sum = 0; /* of four: nearly a normal distribution */
            for (int k = 0; k < 4; k++)
                sum += (float)random_below(&state, 65536) / 32768 - 1;
            *w++ = sum * 0.87F * wide;
        }
    }
    for (int i = 0; i < ZMPI_NET_BIASES - 1; i++)
        t->bias[i] = 0.1F;
}

/* A round of the loops over some patches. Each patch has its own gradient. */
struct batch {
    const struct train_patch *patch[BATCH];
    int count;
    atomic_int next, workers;
    const struct train_net *net;
    struct train_net *gradient; /* BATCH */
    struct train_work *work;    /* one for each thread */
    train_loop_fn *forward, *backward;
};

static double element(enum zmpi_type type, const unsigned char *at)
{
    float narrow;
    double wide;
    memcpy(&narrow, at, sizeof narrow);
    if (type == ZMPI_F32)
        return (double)narrow;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

/* The loss is the mean of (output - error)^2 / 2; errors that are no numbers are left out. */
static void learn(struct batch *b, const struct train_patch *p, struct train_work *w,
                  struct train_net *gradient)
{
    unsigned char in[ZMPI_NET_PATCH * ZMPI_NET_PATCH];
    const size_t size = p->type == ZMPI_F32 ? 4 : 8;
    w->height = p->height;
    w->width = p->width;
    zmpi_net_input(p->type, p->decoded, p->row, p->height, p->width, 16 / p->abs_bound, in);
    memset(w->in, 0, sizeof w->in);
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++)
            w->in[y + 1][x + 1] = (float)(in[y * p->width + x] - 128) / 128;
    b->forward(w, b->net, NULL);
    memset(w->d_out, 0, sizeof w->d_out);
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            const size_t at = (y * p->row + x) * size;
            const double error =
                (element(p->type, p->original + at) - element(p->type, p->decoded + at)) /
                p->abs_bound;
            if (fabs(error) <= 1)
                w->d_out[y + 1][x + 1] = w->out[y + 1][x + 1] - (float)error;
        }
    memset(gradient, 0, sizeof *gradient);
    b->backward(w, b->net, gradient);
}

static void work(void *context)
{
    struct batch *b = context;
    struct train_work *w = &b->work[atomic_fetch_add(&b->workers, 1)];
    for (int k; (k = atomic_fetch_add(&b->next, 1)) < b->count;)
        learn(b, b->patch[k], w, &b->gradient[k]);
}

/* Adam. */
struct adam {
    float first[TRAIN_NUMBERS], second[TRAIN_NUMBERS];
    int step;
};

static void step(struct adam *a, struct train_net *t, const struct batch *b, float speed)
{
    size_t points = 0;
    float *number = t->weight; /* biases follow the weights */
    for (int k = 0; k < b->count; k++)
        points += b->patch[k]->height * b->patch[k]->width;
    a->step++;
    const float one = 1 - powf(0.9F, (float)a->step), two = 1 - powf(0.999F, (float)a->step);
    for (int i = 0; i < TRAIN_NUMBERS; i++) {
        float g = 0;
        for (int k = 0; k < b->count; k++)
            g += ((const float *)&b->gradient[k])[i];
        g /= (float)points;
        a->first[i] += 0.1F * (g - a->first[i]);
        a->second[i] += 0.001F * (g * g - a->second[i]);
        number[i] -= speed * (a->first[i] / one) / (sqrtf(a->second[i] / two) + 1e-8F);
    }
}

static void choose_loops(struct batch *b)
{
    b->forward = train_forward_any;
    b->backward = train_backward_any;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        b->forward = train_forward_avx2;
        b->backward = train_backward_avx2;
    }
#endif
}

static void shuffle(uint32_t *order, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        const uint32_t j = random_below(state, (uint32_t)i), last = order[i - 1];
        order[i - 1] = order[j];
        order[j] = last;
    }
}

/* Patches of an epoch. */
static size_t epoch_of(const struct train_patch *patch, size_t n)
{
    size_t points = 0, k = 0;
    while (k < n && points < TRAIN_POINTS) {
        points += patch[k].height * patch[k].width;
        k++;
    }
    return k;
}

bool train_run(struct train_net *t, const struct train_patch *patch, size_t n, int epochs,
               int threads)
{
    uint64_t state = 2;
    const size_t some = epoch_of(patch, n), all = some * (size_t)epochs;
    threads = threads < BATCH ? threads : BATCH;
    struct batch b = {.net = t,
                      .gradient = calloc(BATCH, sizeof *b.gradient),
                      .work = calloc((size_t)threads, sizeof *b.work)};
    struct adam *a = calloc(1, sizeof *a);
    uint32_t *order = calloc(n + 1, sizeof *order);
    const bool fine = b.gradient && b.work && a && order;
    choose_loops(&b);
    for (size_t i = 0; i < n && fine; i++)
        order[i] = (uint32_t)i;
    for (size_t at = 0, done = 0; done < all && fine;
         done += (size_t)b.count, at += (size_t)b.count) {
        if (at >= some || at == 0) {
            shuffle(order, n, &state);
            at = 0;
        }
        b.count = some - at < BATCH ? (int)(some - at) : BATCH;
        for (int k = 0; k < b.count; k++)
            b.patch[k] = &patch[order[at + (size_t)k]];
        atomic_store(&b.next, 0);
        atomic_store(&b.workers, 0);
        zmpi_pool_run(threads, work, &b);
        /* The speed falls from its full value to zero along half a cosine wave. */
        const float part = (float)done / (float)all;
        step(a, t, &b, rate * (0.5F + 0.5F * cosf(3.14159265F * part)) + 1e-5F);
        tool_progress("train", done, all);
    }
    free(order);
    free(a);
    free(b.work);
    free(b.gradient);
    return fine;
}

/* ---- integers ---- */

void train_from(struct train_net *t, const struct zmpi_net *net)
{
    const int8_t *q = net->weight;
    float *w = t->weight, *bias = t->bias;
    const int32_t *b = net->bias;
    for (int l = 0; l < ZMPI_NET_LAYERS; l++) {
        const int shift = net->shift[l] - (l == 3), per = 9 * zmpi_net_in[l];
        for (int o = 0; o < zmpi_net_out[l]; o++) {
            int32_t sum = *b++ - (net->shift[l] ? 1 << (net->shift[l] - 1) : 0);
            for (int i = 0; i < per; i++, q++) {
                *w++ = ldexpf((float)*q, -shift);
                sum += l == 0 ? 128 * *q : 0;
            }
            *bias++ = ldexpf((float)sum, -shift - 7);
        }
    }
}

void train_quantize(const struct train_net *t, float scale, struct zmpi_net *net)
{
    int8_t *q = net->weight;
    const float *w = t->weight, *bias = t->bias;
    int32_t *b = net->bias;
    for (int l = 0; l < ZMPI_NET_LAYERS; l++) {
        const int per = 9 * zmpi_net_in[l], n = per * zmpi_net_out[l], most = l ? 127 : 64;
        const float times = l == 3 ? scale : 1;
        float largest = 0;
        int shift = 0;
        for (int i = 0; i < n; i++)
            largest = fmaxf(largest, fabsf(w[i] * times));
        while (shift < 12 && largest * (float)(2 << shift) <= (float)most)
            shift++;
        net->shift[l] = (unsigned char)(shift + (l == 3)); /* the output is in 1/64, not in 1/128 */
        for (int o = 0; o < zmpi_net_out[l]; o++) {
            int32_t sum = net->shift[l] ? 1 << (net->shift[l] - 1) : 0;
            for (int i = 0; i < per; i++, q++) {
                const float v =
                    fmaxf(fminf(ldexpf(*w++ * times, shift), (float)most), -(float)most);
                *q = (int8_t)lrintf(v);
                sum -= l == 0 ? 128 * *q : 0;
            }
            const float v = ldexpf(*bias++ * times, shift + 7);
            *b++ = sum + (int32_t)lrintf(fmaxf(fminf(v, 8e6F), -8e6F));
        }
    }
}
