/* notes.c - see notes.h. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bound/bound.h"
#include "bound/sample.h"
#include "file/zfile.h"
#include "mpi/runtime.h"

bool znotes_have(struct zfile *f, int kind, size_t n)
{
    struct znotes *all = &f->notes;
    if (n <= all->count[kind])
        return true;
    size_t count = all->count[kind] ? 2 * all->count[kind] : 4;
    count = count < n ? n : count < ZNOTES ? count : ZNOTES;
    struct znote *grown = realloc(all->note[kind], count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + all->count[kind], 0, (count - all->count[kind]) * sizeof *grown);
    for (size_t i = all->count[kind]; i < count; i++)
        for (int c = 0; c < ZNOTE_PARTS; c++)
            grown[i].range[c] = ZMPI_RANGE_EMPTY;
    all->note[kind] = grown;
    all->count[kind] = count;
    return true;
}

void znotes_free(struct zfile *f)
{
    free(f->notes.note[ZNOTES_OWN]);
    free(f->notes.note[ZNOTES_COLLECTIVE]);
}

bool znotes_wanted(void)
{
    const struct zmpi_options *job = zruntime_options();
    return job->report[0] || job->log >= ZMPI_LOG_INFO;
}

struct znote *znote_now(struct zfile *f)
{
    const int kind = f->call.collective ? ZNOTES_COLLECTIVE : ZNOTES_OWN;
    const uint64_t k = f->call.number - 1;
    if (!f->call.is_one || k >= ZNOTES || !znotes_have(f, kind, (size_t)k + 1))
        return NULL;
    return &f->notes.note[kind][k];
}

/* Of each component's records in a call the first ones, and then one in this many, are looked at.
 */
enum { FIRST = 2, ONE_IN = 16 };

/* Where nobody has asked, errors are measured as long as that has taken at most this part of the
 * run. It takes as long as 2 to 15 chunks do to be coded. */
static const double part_of_run = 0.002;

/* This process's seconds for that, and those of the last time by each encoder. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double spent, last[] = {0, 1e-4, 2e-4, 2e-2};

static void measure(const struct zmpi_stream *s, const void *data, struct zmpi_measured *m)
{
    double *once = &last[s->info.encoder];
    if (!znotes_wanted()) {
        const double most = part_of_run * zruntime_seconds();
        pthread_mutex_lock(&lock);
        const bool may = spent + *once <= most;
        pthread_mutex_unlock(&lock);
        if (!may)
            return;
    }
    const double start = zmpi_seconds();
    zmpi_measure(s, data, m);
    pthread_mutex_lock(&lock);
    *once = zmpi_seconds() - start;
    spent += *once;
    pthread_mutex_unlock(&lock);
}

/* Sample i of those that are `step` apart, moved within the step: data may have a period. */
static size_t sample_at(size_t i, size_t step)
{
    return i * step + i * 2654435761U % step;
}

/* If the bound needs no range: finds that of some of a record's values, without fill values. */
static void sample_range(const struct zmpi_stream_info *info, const void *data, double threshold,
                         struct zmpi_range *range)
{
    enum { LEAST = 16, MOST = 1024, BYTES_PER_SAMPLE = 64 << 10 };
    const double fills_from = threshold > 0 ? threshold : 1e20;
    const enum zmpi_type type = info->array.type;
    size_t count;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || info->big_endian ||
        zmpi_array_count(&info->array, &count) || count == 0)
        return;
    const size_t few = LEAST + info->decoded_bytes / BYTES_PER_SAMPLE;
    const size_t most = znotes_wanted() || few > MOST ? MOST : few,
                 rows = count < most ? count : most;
    const struct zmpi_sample s = {type, data, 1, count, count};
    const size_t width = zmpi_type_size(type);
    for (size_t i = 0; i < rows; i++)
        __builtin_prefetch(s.at + sample_at(i, count / rows) * width);
    for (size_t i = 0; i < rows; i++) {
        const double x = zmpi_sample_get(&s, 0, sample_at(i, count / rows));
        if (!(fabs(x) < fills_from))
            continue;
        range->min = fmin(range->min, x);
        range->max = fmax(range->max, x);
    }
}

void znote_coded(struct zfile *f, const struct zpiece *piece, const struct zmpi_stream *s,
                 uint64_t stored)
{
    const struct zmpi_stream_info *info = &s->info;
    struct znote *note = znote_now(f);
    const size_t c = (size_t)piece->component;
    if (!note)
        return;
    note->raw += (double)info->decoded_bytes;
    note->by[info->encoder] += (double)info->decoded_bytes;
    note->stored += (double)stored;
    if (c >= ZNOTE_PARTS)
        return;
    note->abs_bound[c] = fmax(note->abs_bound[c], info->abs_bound);
    const double records = note->records[c]++;
    const bool looked = !piece->holder && (records < FIRST || fmod(records, ONE_IN) < 1);
    const bool ranged = zmpi_bound_needs_range(&info->bound);
    if (ranged && piece->range && piece->range->min <= piece->range->max)
        note->range[c] = *piece->range;
    for (int i = 0; piece->fills && i < piece->fills->count; i++)
        zmpi_fills_add(&note->fills, piece->fills->value[i]);
    if (!ranged && looked)
        sample_range(info, piece->data, f->options.threshold, &note->range[c]);
    if (looked && info->abs_bound > 0)
        measure(s, piece->data, &note->measured[c]);
}

bool znote_has_samples(const struct znote *note)
{
    return note->exact || !zmpi_bound_needs_range(&note->bound);
}

double znote_fill(const struct znote *note)
{
    double fill = (double)INFINITY;
    for (int c = 0; c < ZNOTE_PARTS; c++)
        fill = fmin(fill, note->range[c].fill);
    return fill;
}

static bool alike(const struct znote *a, const struct znote *b)
{
    return a->type == b->type && a->components == b->components &&
           memcmp(a->shape, b->shape, sizeof a->shape) == 0 && a->shape_from == b->shape_from &&
           a->exact == b->exact && memcmp(&a->bound, &b->bound, sizeof a->bound) == 0;
}

void znote_say(const struct zfile *f, const struct znote *note)
{
    static const char *const type[] = {"", "f32", "f64", "i32", "i64", "bytes"};
    char bound[40], components[64] = "", exact[64] = "", fill[64] = "", fills[96] = "";
    char looks[ZMPI_JUDGEMENT_TEXT + 2] = "";
    if (zruntime_options()->log < ZMPI_LOG_INFO || (f->call.collective && f->rank) ||
        (f->call.number > 1 && alike(note, note - 1)))
        return;
    zmpi_bound_format(&note->bound, bound);
    if (note->components != 1)
        snprintf(components, sizeof components, ", %d components%s", abs(note->components),
                 note->components < 0 ? " one behind the other" : "");
    if (note->exact)
        snprintf(exact, sizeof exact, " (%s)", zmpi_exact_name(note->exact));
    if (isfinite(znote_fill(note)))
        snprintf(fill, sizeof fill, ", fill values from %.9g on", znote_fill(note));
    if (note->fills.count) {
        strcpy(fills, ", fill ");
        zmpi_fills_format(&note->fills, fills + strlen(fills));
    }
    if (f->data.judged.plain.words) {
        strcpy(looks, "; ");
        zmpi_judgement_text(&f->data.judged, note->type, looks + 2);
    }
    zmpi_log(ZMPI_LOG_INFO, "%s: %s write call %llu: %s %zux%zux%zu (shape: %s)%s%s%s, %s%s, %s%s",
             f->path, f->call.collective ? "collective" : "independent",
             (unsigned long long)f->call.number, type[note->type], note->shape[0], note->shape[1],
             note->shape[2], zmpi_shape_from_name(note->shape_from), components, fill, fills, bound,
             exact, zmpi_options_codec(&f->options), looks);
}

/* ---- several variables that stay one array ---- */

/* So many calls or batches of a file are examined. */
enum { LOOKED = 4 };

/* Is the bound a part of the range? Others keep variables of any size. */
static bool is_by_range(enum zmpi_mode mode)
{
    return mode == ZMPI_REL || mode == ZMPI_PSNR || mode == ZMPI_RATIO;
}

static bool may_look(const struct zfile *f, size_t count, unsigned *looked)
{
    return !f->rank && !f->data.cut_warned && count > (size_t)f->options.exact_below &&
           count >= (size_t)2 * ZMPI_COMPONENTS_LEAST && (*looked)++ < LOOKED;
}

bool zmixed_may_look(struct zfile *f, size_t count)
{
    return may_look(f, count, &f->data.cut_calls);
}

void zmixed_say(struct zfile *f, int n, enum zmixed_why why)
{
    static const char *const but[] = {"not in whole points on every rank",
                                      "in small pieces that are irregular or cut points",
                                      "in atomic mode", "a device writes them"};
    static const char *const others[] = {", as do calls of whole points",
                                         ", as do calls of 1024 points or more", "", ""};
    if (n < 2 || f->rank || f->data.cut_warned || !is_by_range(zfile_bound(f, ZMPI_F64).mode))
        return;
    f->data.cut_warned = true;
    zmpi_log(ZMPI_LOG_WARN,
             "%s: data of a call look like %d variables that take turns, but %s: they stay one "
             "array of one range, and small variables may lose all they have; a bound abs or "
             "pw_rel keeps them%s",
             f->path, n, but[why], others[why]);
}

void zmixed_look(struct zfile *f, enum zmpi_type type, const void *data, size_t count,
                 enum zmixed_why why)
{
    const double threshold = f->options.threshold;
    const bool is_float = type == ZMPI_F32 || type == ZMPI_F64;
    if (f->options.components == 1 || !is_float || !is_by_range(zfile_bound(f, type).mode) ||
        !may_look(f, count, &f->data.cut_pieces))
        return;
    const int n = zmpi_components_find(type, threshold, data, count);
    zmixed_say(f, n > 1 ? n : zmpi_components_cut(type, threshold, data, count), why);
}
