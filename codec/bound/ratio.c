/* ratio.c - the bound that gives a ratio: ladder and search (format.md 4.8). */
#include "bound/ratio.h"

#include <math.h>
#include <string.h>

/* Rungs of the ladder are bounds of the grid, beginning with the largest below the range. The
 * search takes no bound above a quarter of the range: such a bound destroys the data and even their
 * range. */
enum { OCTAVE = ZMPI_GRID_OCTAVE, HIGHEST = 2 * OCTAVE, LOWEST = 63 * OCTAVE };

/* A rung beyond all others. It stands for the place by which the current part was coded before. */
enum { OWN_PLACE = LOWEST + 1 };

/* The rungs of each round: first the whole ladder, then a part of it around the answer. */
static const struct {
    int step, rungs;
    size_t least, most; /* samples: at most every second chunk */
} rounds[] = {{21 * OCTAVE / 4, ZMPI_RATIO_RUNGS, 8, 16},
              {5 * OCTAVE / 4, 5, 16, 16},
              {3 * OCTAVE / 4, 2, 32, 512}};

enum { ROUNDS = sizeof rounds / sizeof *rounds };

/* Trials code so many bytes over all ranks, or this part of the data if that is more. */
#define TRIED      ((double)(64 << 20))
#define TRIED_PART 0.125

/* A stream that misses its target by more than this is compressed again. Searches that code only a
 * part of the data must come nearer. By a known rung data may be larger by a factor. */
#define TOLERANCE       0.04
#define TOLERANCE_PART  0.02
#define TOLERANCE_KNOWN 1.25
#define SMALL           ((size_t)4 << 20)
enum { TRIES = 3, TRIES_SMALL = 8 };
/* If a search was wrong by this factor, it has seen other data. */
#define FAR 1.25
enum { TRIES_FAR = 12 };

static double bound_at(enum zmpi_type type, double top, int rung)
{
    return zmpi_bound_round(type, zmpi_grid_at(zmpi_grid_below(top) - rung));
}

static double bound_of(const struct zmpi_ratio_search *s, enum zmpi_type type, int rung)
{
    return rung == OWN_PLACE ? zmpi_bound_round(type, zmpi_grid_at(s->place))
                             : bound_at(type, s->top, rung);
}

static int on_ladder(double rung)
{
    return rung >= (double)LOWEST ? LOWEST : rung > (double)HIGHEST ? (int)(rung + 0.5) : HIGHEST;
}

/* ---- the search ---- */

bool zmpi_ratio_search_is_trial(const struct zmpi_ratio_search *s)
{
    return s->round == ROUNDS;
}

size_t zmpi_ratio_search_samples(const struct zmpi_ratio_search *s, size_t chunks)
{
    if (zmpi_ratio_search_is_trial(s))
        return (size_t)ceil(s->part * (double)chunks);
    size_t n = chunks / 2, least = rounds[s->round].least, most = rounds[s->round].most;
    return n < least ? least : n > most ? most : n;
}

double zmpi_ratio_search_bound(const struct zmpi_ratio_search *s, enum zmpi_type type, int k)
{
    return zmpi_ratio_search_is_trial(s) && s->exact ? 0
                                                     : bound_of(s, type, s->first + k * s->step);
}

/* Takes the rungs around `middle`. */
static void begin_round(struct zmpi_ratio_search *s, int round, int middle)
{
    s->round = round;
    s->step = rounds[round].step;
    s->rungs = rounds[round].rungs;
    int width = s->step * (s->rungs - 1), first = middle - width / 2;
    s->first = first < 0 ? 0 : first + width > LOWEST ? LOWEST - width : first;
    memset(&s->sum, 0, sizeof s->sum);
}

/* Takes the rungs around the one that was found. */
static void begin_trial(struct zmpi_ratio_search *s)
{
    s->round = ROUNDS;
    s->rungs = 1;
    s->first = s->rung;
    memset(&s->sum, 0, sizeof s->sum);
}

void zmpi_ratio_search_begin(struct zmpi_ratio_search *s, const struct zmpi_job *job, bool trials)
{
    *s = (struct zmpi_ratio_search){.ratio = job->bound.value,
                                    .top = job->top,
                                    .keep = job->keep,
                                    .fills = job->fills,
                                    .encoder = job->encoder,
                                    .variant = job->variant,
                                    .trials = trials,
                                    .part = 1,
                                    .exact = true,
                                    .prime = -1,
                                    .known = -1};
    begin_round(s, 0, 0);
}

void zmpi_ratio_search_use(struct zmpi_ratio_search *s, const struct zmpi_job *job, int place)
{
    s->top = job->top;
    s->place = place;
    s->keep = job->keep;
    s->fills = job->fills;
    s->apart = true;
}

void zmpi_ratio_search_constant(struct zmpi_ratio_search *s, const struct zmpi_array *array)
{
    size_t bytes;
    if (!zmpi_array_bytes(array, &bytes))
        s->sum.raw += bytes;
}

/* The rung where the estimates reach the target: linear between two of them, or beyond the first or
 * last two. */
static int find_rung(const struct zmpi_ratio_search *s, double *slope)
{
    const double target = (double)s->sum.raw / s->ratio;
    int k = 0;
    while (k + 2 < s->rungs && (double)s->sum.coded[k + 1] < target)
        k++;
    double a = (double)s->sum.coded[k], b = (double)s->sum.coded[k + 1];
    double rise = (b - a) / s->step;
    *slope = fmax(rise, 0) / (double)s->sum.raw;
    if (!(rise > 0))
        return on_ladder(s->first + (a > target ? k : k + 1) * s->step);
    double on = fmax(fmin((target - a) / rise, 4 * s->step), -4 * s->step);
    return on_ladder(s->first + k * s->step + on);
}

void zmpi_ratio_search_apply(const struct zmpi_ratio_search *s, struct zmpi_job *job)
{
    job->abs_bound = s->exact ? 0 : bound_of(s, job->array.type, s->rung);
    job->top = 0;
}

/* ---- what was compressed and missed its target ---- */

static struct zmpi_fit fit_of(const struct zmpi_ratio_search *s, size_t raw, size_t width)
{
    struct zmpi_fit f = {.target = (double)raw / s->ratio,
                         .tolerance = s->part < 1 ? TOLERANCE_PART : TOLERANCE,
                         .steepest = (double)raw / (double)(8 * width * OCTAVE),
                         .too_large = {.rung = -1},
                         .too_small = {.rung = -1},
                         .most = raw < SMALL || s->trials ? TRIES_SMALL : TRIES};
    f.slope = s->slope > 0 ? s->slope * (double)raw : f.steepest;
    return f;
}

static bool fits(const struct zmpi_fit *f)
{
    return fabs(f->now.bytes - f->target) <= f->tolerance * f->target;
}

static double factor(double a, double b)
{
    return a > b ? a / b : b / a;
}

static void note(struct zmpi_fit *f, int rung, double bytes)
{
    const struct zmpi_try before = f->now, now = {rung, bytes};
    if (f->tries++ > 0) {
        double slope = (now.bytes - before.bytes) / (now.rung - before.rung);
        f->slope = slope > 0 ? slope : f->slope;
    }
    if (f->tries == 1 || factor(bytes, f->target) < factor(f->best.bytes, f->target))
        f->best = now;
    *(bytes > f->target ? &f->too_large : &f->too_small) = now;
    f->now = now;
}

/*
 * The number of rungs to the target. If no block is empty, bits are linear in the rung; if most are
 * empty, the logarithm of bits is (nearly 2 (x - 1) / (x + 1)).
 */
static double step_of(const struct zmpi_fit *f)
{
    const bool far = f->tries == 1 && factor(f->now.bytes, f->target) > FAR;
    double x = f->target / f->now.bytes, slope = far ? f->steepest : fmin(f->slope, f->steepest);
    double straight = fmin(slope / f->steepest, 1);
    double step = (x - 1) * (straight + (1 - straight) * 2 / (x + 1)) * f->now.bytes / slope;
    return fmax(fmin(step, LOWEST), -LOWEST);
}

/* The next rung to try. The same rung: nothing better is left. */
static int next_rung(const struct zmpi_fit *f)
{
    if (fits(f))
        return f->now.rung;
    if (f->tries >= (factor(f->best.bytes, f->target) > FAR ? TRIES_FAR : f->most))
        return f->best.rung;
    int next = on_ladder(f->now.rung + step_of(f));
    int low = f->too_small.rung, high = f->too_large.rung;
    if (low < 0 || high < 0)
        return next == f->now.rung ? f->best.rung : next;
    if (high - low < 2)
        return f->best.rung;
    return next > low && next < high ? next : (low + high) / 2;
}

/* ---- decoded data: coding them by their old rung changes nothing ---- */

/* The place of the largest of these sums, the first of equal ones; it must be that of all
 * samples. */
static int most_multiples(const struct zmpi_ratio_search_sum *sum, int sums)
{
    int best = 0;
    for (int k = 1; k < sums; k++)
        if (sum->multiples[k] > sum->multiples[best])
            best = k;
    return zmpi_steady_all(sum->samples, sum->multiples[best]) ? best : -1;
}

/* Finds the prime that divides the samples, as a rung 0 to 31; then the rung with that prime whose
 * steps divide them. */
static void find_prime(struct zmpi_ratio_search *s)
{
    const int k = most_multiples(&s->sum, OCTAVE);
    s->prime = k < 0 ? k : (zmpi_grid_below(s->top) - k) & (OCTAVE - 1);
}

static void find_octave(struct zmpi_ratio_search *s)
{
    const int k = most_multiples(&s->sum, LOWEST / OCTAVE);
    s->known = k < 0 ? -1 : s->prime + k * OCTAVE;
}

/* The finer levels of a step are no multiples of the primes. Then the search looks at the bounds
 * around the one that it found. */
static int first_near(const struct zmpi_ratio_search *s)
{
    const int first = s->first + s->step * (s->rungs - 1) / 2 - ZMPI_STEADY_SUMS / 2;
    return first < 0 ? 0 : first;
}

static void find_near(struct zmpi_ratio_search *s)
{
    const int k = most_multiples(&s->sum, ZMPI_STEADY_SUMS);
    s->known = k < 0 ? -1 : first_near(s) + k;
}

void zmpi_ratio_search_sample(struct zmpi_ratio_search *s, const struct zmpi_array *array,
                              const void *src)
{
    const int place = zmpi_grid_below(s->top);
    if (s->apart)
        return;
    if (s->round == 0)
        zmpi_steady_primes(array, src, s->keep, &s->sum.samples, s->sum.multiples);
    if (s->round == 1 && s->prime >= 0)
        zmpi_steady_octaves(array, src, s->keep, place - s->prime, &s->sum.samples,
                            s->sum.multiples);
    if (s->round == 2 && s->known < 0)
        zmpi_steady_places(array, src, s->keep, place - first_near(s), &s->sum.samples,
                           s->sum.multiples);
}

static void find_known(struct zmpi_ratio_search *s)
{
    if (s->apart)
        return;
    if (s->round == 0)
        find_prime(s);
    if (s->round == 1 && s->prime >= 0)
        find_octave(s);
    if (s->round == 2 && s->known < 0)
        find_near(s);
}

/* ---- decoded data of variables that have ranges of their own: decoding moves each range ---- */

bool zmpi_ratio_search_asks(const struct zmpi_ratio_search *s)
{
    return s->round == ROUNDS - 1;
}

int zmpi_ratio_search_place(const struct zmpi_ratio_search *s, const struct zmpi_array *array,
                            const void *src)
{
    const int top = zmpi_grid_below(s->top);
    struct zmpi_ratio_search_sum primes = {0}, octaves = {0}, near = {0};
    zmpi_steady_primes(array, src, s->keep, &primes.samples, primes.multiples);
    if (primes.samples == 0)
        return ZMPI_RATIO_UNSEEN;
    int k = most_multiples(&primes, OCTAVE);
    if (k >= 0) {
        const int first = top + ((k - top) & (OCTAVE - 1));
        zmpi_steady_octaves(array, src, s->keep, first, &octaves.samples, octaves.multiples);
        k = most_multiples(&octaves, LOWEST / OCTAVE);
        if (k >= 0)
            return first - k * OCTAVE;
    }
    zmpi_steady_places(array, src, s->keep, top - first_near(s), &near.samples, near.multiples);
    k = most_multiples(&near, ZMPI_STEADY_SUMS);
    return k < 0 ? ZMPI_RATIO_NONE : top - first_near(s) - k;
}

/* A rung this coarse need not reach the ratio: no other came nearer. */
enum { COARSE = HIGHEST + OCTAVE / 2 };

void zmpi_ratio_search_take(struct zmpi_ratio_search *s, const struct zmpi_job *job, int place)
{
    s->known = OWN_PLACE;
    s->coarse |= zmpi_grid_below(job->top) - place <= COARSE;
}

/* By the known rung the data take `coded` bytes and do not change. They may be smaller than asked.
 * They may be larger if no other rung came nearer, or the rung is as coarse as any. */
static bool known_does(const struct zmpi_ratio_search *s, double target, double coded)
{
    return coded <= target * TOLERANCE_KNOWN || s->known <= COARSE || s->coarse;
}

bool zmpi_ratio_search_correct(struct zmpi_ratio_search *s, uint64_t raw, uint64_t coded)
{
    struct zmpi_fit *f = &s->fit;
    if (f->tries == 0)
        *f = fit_of(s, raw, sizeof(float));
    if (s->exact) {
        s->exact = (double)coded <= f->target * (1 + TOLERANCE);
        return !s->exact;
    }
    if (s->known >= 0 && s->rung == s->known) {
        const bool does = known_does(s, f->target, (double)coded);
        s->known = -1;
        s->rung = does ? s->rung : s->found;
        return !does;
    }
    if (f->tries > 0 && s->rung == f->best.rung) /* once more, since nothing was better */
        return false;
    note(f, s->rung, (double)coded);
    const int before = s->rung;
    s->rung = next_rung(f);
    return s->rung != before;
}

bool zmpi_ratio_search_next(struct zmpi_ratio_search *s)
{
    if (s->sum.raw == 0)
        return false;
    if (zmpi_ratio_search_is_trial(s)) {
        bool again = zmpi_ratio_search_correct(s, s->sum.raw, s->sum.coded[0]);
        if (again && s->fit.tries > 0 && s->rung == s->fit.best.rung) /* the known rung was tried */
            again = false;
        if (again)
            begin_trial(s);
        return again;
    }
    s->rung = find_rung(s, &s->slope);
    if (s->sum.exact)
        s->exact = (double)s->sum.exact * s->ratio <= (double)s->sum.raw;
    find_known(s);
    if (s->round + 1 < ROUNDS) {
        begin_round(s, s->round + 1, s->rung);
        return true;
    }
    s->found = s->rung;
    if (s->known >= 0)
        s->rung = s->known;
    if (s->trials) {
        s->part = fmin(fmax(TRIED / (double)s->sum.raw, TRIED_PART), 1);
        begin_trial(s);
    }
    return s->trials;
}

/* ---- one stream ---- */

static enum zmpi_status compress_by(const struct zmpi_device *device, struct zmpi_job *job,
                                    double bound, void *dst, size_t capacity, const void *src,
                                    size_t *size)
{
    job->abs_bound = bound;
    return device->compress(job, dst, capacity, src, size);
}

/* The header does not count: a small array would lose all its data to make up for it. */
static double counted(size_t size)
{
    return (double)(size - ZMPI_STREAM_HEADER_BYTES);
}

static enum zmpi_status fit_stream(const struct zmpi_device *device, struct zmpi_job *job,
                                   struct zmpi_ratio_search *s, struct zmpi_fit *f, void *dst,
                                   size_t capacity, const void *src, size_t *size)
{
    enum zmpi_status status = ZMPI_OK;
    if (s->known >= 0) {
        status = compress_by(device, job, bound_at(job->array.type, s->top, s->known), dst,
                             capacity, src, size);
        if (status || known_does(s, f->target, counted(*size)))
            return status;
    }
    for (int rung = s->found, next;; rung = next) {
        double bound = bound_at(job->array.type, s->top, rung);
        status = compress_by(device, job, bound, dst, capacity, src, size);
        if (status)
            return status;
        if (f->tries > 0 && rung == f->best.rung) /* once more, since nothing was better */
            return ZMPI_OK;
        note(f, rung, counted(*size));
        next = next_rung(f);
        if (next == rung)
            return ZMPI_OK;
    }
}

enum zmpi_status zmpi_ratio_compress(struct zmpi_ratio_search *s, const struct zmpi_device *device,
                                     const struct zmpi_job *job, void *dst, size_t capacity,
                                     const void *src, size_t *size)
{
    struct zmpi_job used = *job;
    size_t bytes;
    enum zmpi_status status = zmpi_array_bytes(&job->array, &bytes);
    if (status)
        return status;
    used.top = 0;
    struct zmpi_fit f = fit_of(s, bytes, zmpi_type_size(job->array.type));
    if (s->exact || s->found == LOWEST) {
        status = compress_by(device, &used, 0, dst, capacity, src, size);
        if (status || s->sum.raw == 0 || counted(*size) <= f.target * (1 + TOLERANCE))
            return status;
    }
    return fit_stream(device, &used, s, &f, dst, capacity, src, size);
}
