/* coll_call.c - one collective call on this rank, from the first question to the report. */
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "collective/coll_auto.h"
#include "mpi/runtime.h"
#include "mpi/timeline.h"

static bool selected(const struct zmpi_options *o, enum zop op)
{
    return o->bound_set && zrule_wanted(o, op);
}

static struct zcomm *state_of(const struct zcall *c, uint64_t bytes)
{
    const struct zmpi_options *o = zruntime_options();
    bool large = !c->all_know || bytes >= o->collective_min;
    if (o->comm_rules || (large && selected(o, c->op)))
        return zcomm_make(c->comm);
    return zcomm_find(c->comm);
}

/* Does the call go raw without an agreement? It does within a node, or if raw was found faster. */
static bool goes_raw(struct zcall *c)
{
    struct zcomm *s = c->state;
    if (s->options.collective_mode == ZMPI_COLLECTIVE_ALWAYS)
        return false;
    if (s->one_node) {
        c->kind = ZCALL_RAW_NODE;
        return true;
    }
    struct zmeasured *m = &s->measured[c->op][zauto_class(c->bytes)];
    if (!zrule_may_skip(c) || !m->skip)
        return false;
    m->skip--;
    c->kind = ZCALL_RAW_FASTER;
    return true;
}

bool zcall_begin(struct zcall *c, enum zop op, int root, MPI_Comm comm, bool all_know,
                 uint64_t bytes, uint64_t given, struct zside *sent)
{
    *c = (struct zcall){.comm = comm,
                        .op = op,
                        .root = root,
                        .all_know = all_know,
                        .bytes = bytes,
                        .range = ZMPI_RANGE_EMPTY,
                        .kind = ZCALL_PASSED};
    c->raw = c->sent = (double)given;
    if (!zruntime_agreed() || (all_know && bytes == 0))
        return false;
    if (zruntime_options()->dry_run) {
        zcall_dry(c, sent);
        return false;
    }
    struct zcomm *s = c->state = state_of(c, bytes);
    if (!s || !selected(&s->options, op) || (all_know && !zrule_enough(c)))
        return false;
    c->fills = s->options.fill;
    for (int k = 0; k < ZMPI_COMPONENTS_MOST; k++)
        c->apart.fills[k] = c->fills;
    if (root < 0 || root >= s->ranks) /* MPI reports it */
        return false;
    s->stats.calls++;
    c->exact = op == ZOP_BCAST && !zmpi_options_collective(&s->options, "bcast_lossy");
    return !goes_raw(c);
}

/* The numbers of an agreement. Of the first ones the minimum over the ranks counts, of the others
 * the maximum. */
enum {
    READY,
    SETTINGS,
    COMPONENTS,
    MEASURED,
    SAMPLED,
    SMALLER = SAMPLED + ZCODECS,
    BYTES,
    LOSSY,
    SETTINGS_TOO,
    COMPONENTS_TOO,
    STEPS,
    ELAPSED,
    SCAN,
    COMPRESS,
    DECODE,
    CODEC,
    TRANSFER,
    RAW,
    SENT,
    NUMBERS
};

static int agree_numbers(const struct zcomm *s, double all[NUMBERS])
{
    const struct zpending *p = &s->pending;
    all[SETTINGS] = all[SETTINGS_TOO] = s->settings;
    all[MEASURED] = p->any;
    for (int k = 0; k < ZCODECS; k++)
        all[SAMPLED + k] = p->sample.smaller > 0 ? p->sample.seconds[k] : INFINITY;
    all[SMALLER] = p->sample.smaller > 0 ? p->sample.smaller : INFINITY;
    all[ELAPSED] = p->elapsed;
    all[SCAN] = p->scan;
    all[COMPRESS] = p->compress;
    all[DECODE] = p->decode;
    all[CODEC] = p->codec;
    all[TRANSFER] = p->transfer;
    all[RAW] = p->raw;
    all[SENT] = p->sent;
    for (int k = BYTES; k < NUMBERS; k++)
        all[k] = -all[k];
    int rc = PMPI_Allreduce(MPI_IN_PLACE, all, NUMBERS, MPI_DOUBLE, MPI_MIN, s->comm);
    for (int k = BYTES; k < NUMBERS; k++)
        all[k] = -all[k];
    return rc;
}

/* Learns from the last measurement on this communicator, which comes from all ranks with the
 * agreement. There is none if that call failed on a rank. */
static void learn(struct zcomm *s, const double all[NUMBERS])
{
    struct zpending p = s->pending;
    p.any = all[MEASURED] > 0;
    for (int k = 0; k < ZCODECS; k++)
        p.sample.seconds[k] = all[SAMPLED + k];
    p.sample.smaller = isfinite(all[SMALLER]) ? all[SMALLER] : 0;
    p.elapsed = all[ELAPSED];
    p.scan = all[SCAN];
    p.compress = all[COMPRESS];
    p.decode = all[DECODE];
    p.codec = all[CODEC];
    p.transfer = all[TRANSFER];
    p.raw = all[RAW];
    p.sent = all[SENT];
    zauto_learn(s, &p);
    const double link = zauto_link(&p);
    /* Raw calls do not count: MPI decides what it sends. */
    if (p.any && p.way && link > 0 && s->rank == 0)
        zreport_link(p.op, p.sent, link);
    const double saved = p.any ? zauto_saved(s, &p) : 0;
    if (p.any && s->rank == 0)
        zreport_saved(p.op, p.way ? ZCALL_COMPRESSED : ZCALL_RAW_FASTER, saved);
    if (p.any && p.way && zauto_costs(&s->losses, p.elapsed, saved) && s->rank == 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s on %d ranks: compression has cost about %.2g s of %.2g s so far; "
                 "ZMPI_COLLECTIVES=none, or a rule for the communicator, ends that",
                 zop_name(p.op), s->ranks, -s->losses.saved, s->losses.elapsed);
    s->pending.any = false;
}

static bool choose(struct zcall *c)
{
    struct zcomm *s = c->state;
    struct zmeasured *m = &s->measured[c->op][zauto_class(c->bytes)];
    const struct zauto_ways ways = zrule_ways(c);
    if (!zrule_enough(c))
        return false;
    c->measuring = true;
    zauto_begin(s->measured[c->op], zauto_class(c->bytes));
    c->way = zauto_choose(m, &ways, zrule_may_skip(c));
    if (s->rank == 0)
        zmpi_log(ZMPI_LOG_DEBUG,
                 "%s on %d ranks, %llu bytes: %s; raw %.3g s/GB, fle %.3g s/GB, huffman %.3g s/GB "
                 "(0: unknown)",
                 zop_name(c->op), s->ranks, (unsigned long long)c->bytes,
                 c->way ? zmpi_encoder_name(c->way) : "raw", 1e9 * zauto_expected(m, ZRAW),
                 1e9 * zauto_expected(m, ZMPI_FLE), 1e9 * zauto_expected(m, ZMPI_HUFFMAN));
    c->kind = c->way ? ZCALL_COMPRESSED : ZCALL_RAW_FASTER;
    return c->way != ZRAW;
}

/* Do all ranks have the same settings? A rank whose settings keep it from the agreement does not
 * show here. */
static bool settings_agree(struct zcall *c, const double all[NUMBERS])
{
    struct zcomm *s = c->state;
    const bool same = all[SETTINGS] == all[SETTINGS_TOO];
    if (!same && !s->differed && s->rank == 0)
        zmpi_log(ZMPI_LOG_ERROR,
                 "%s on %d ranks: sent uncompressed, as are all calls until all ranks of the "
                 "communicator have called zmpi_comm_set with the same arguments",
                 zop_name(c->op), s->ranks);
    s->differed = !same;
    return same;
}

/* Reports that memory is missing: values are exact then, which may differ from other runs. */
static void say_not_ready(const struct zcall *c)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const bool first = c->state->options.bound.mode != ZMPI_LOSSLESS && !c->exact &&
                       !atomic_flag_test_and_set(&said);
    zmpi_log(first ? ZMPI_LOG_WARN : ZMPI_LOG_INFO,
             "%s: sent uncompressed: no memory, or a datatype that zmpi cannot take apart",
             zop_name(c->op));
}

/* The job's first rank says once that values change: perhaps the user meant the bound for files
 * alone. */
static void say_lossy(const struct zcall *c)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char name[MPI_MAX_OBJECT_NAME] = "", bound[40];
    int rank = -1, length;
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) || rank != 0 || atomic_flag_test_and_set(&said))
        return;
    PMPI_Comm_get_name(c->comm, name, &length);
    zmpi_bound_format(&c->state->options.bound, bound);
    zmpi_log(ZMPI_LOG_WARN,
             "%s on %s (%d ranks): floats are sent within %s, here and in later calls; "
             "ZMPI_COLLECTIVES=none sends them exactly",
             zop_name(c->op), name[0] ? name : "a communicator", c->state->ranks, bound);
}

/* Compressed whatever it takes, and the user has not asked for that. */
static bool is_by_rule(const struct zcall *c)
{
    return zrule_is_fixed(c) && c->state->options.collective_mode == ZMPI_COLLECTIVE_AUTO;
}

bool zcall_agree(struct zcall *c, bool ready, uint64_t bytes, uint64_t steps)
{
    enum { BLOCKS = 1000 }; /* added to the number of components that lie one behind the other */
    struct zcomm *s = c->state;
    const int components = c->components < 0 ? BLOCKS - c->components : c->components;
    double all[NUMBERS] = {[READY] = ready,
                           [COMPONENTS] = c->components ? components : (double)INFINITY,
                           [COMPONENTS_TOO] = components,
                           [LOSSY] = c->lossy,
                           [BYTES] = (double)bytes,
                           [STEPS] = (double)steps};
    c->error = agree_numbers(s, all);
    if (c->error)
        return false;
    learn(s, all);
    c->bytes = (uint64_t)all[BYTES];
    c->steps = (uint64_t)all[STEPS];
    c->lossy = all[LOSSY] > 0;
    const int mine = c->components;
    c->components = all[COMPONENTS] == all[COMPONENTS_TOO] ? (int)all[COMPONENTS] : 1;
    if (c->components == 1)
        zapart_say_whole(c, mine);
    c->components = c->components > BLOCKS ? BLOCKS - c->components : c->components;
    if (!ready)
        say_not_ready(c);
    bool compressed = settings_agree(c, all) && all[READY] > 0 && choose(c);
    struct zmeasured *m = &s->measured[c->op][zauto_class(c->bytes)];
    if (compressed && is_by_rule(c) && zauto_wants_raw(m))
        zprobe_raw(c, m);
    c->start = zmpi_seconds();
    if (!compressed)
        return false;
    c->sequence = ++s->calls;
    c->raw = c->sent = 0;
    if (c->lossy)
        say_lossy(c);
    return true;
}

/* ---- the end ---- */

/* Notes auto's choice, and its estimate of each encoder's time. */
static void say_choice(const struct zcall *c, double elapsed, struct zcall_outcome *outcome)
{
    const struct zmeasured *m = &c->state->measured[c->op][zauto_class(c->bytes)];
    if (!zcall_picks(c))
        return;
    outcome->chosen = c->way;
    outcome->coding = c->codec;
    for (int k = 0; k < ZCODECS; k++)
        outcome->all[k] = c->way == k + 1 ? elapsed : zauto_expected(m, k + 1) * (double)c->bytes;
}

static void measured(struct zcall *c, double elapsed)
{
    const double bytes = (double)c->bytes;
    c->state->pending =
        (struct zpending){.any = true,
                          .way = c->way,
                          .op = c->op,
                          .size_class = zauto_class(c->bytes),
                          .by_rule = c->way != ZRAW && is_by_rule(c),
                          .bytes = bytes,
                          .pieces = ceil(bytes / (double)c->state->options.collective_piece),
                          .elapsed = elapsed,
                          .scan = c->scan,
                          .compress = c->compress,
                          .decode = c->codec - c->compress,
                          .codec = c->codec,
                          .transfer = c->transfer,
                          .raw = c->raw,
                          .sent = c->sent,
                          .sample = c->sample};
}

static int ranks_of(const struct zcall *c)
{
    int ranks = 0;
    PMPI_Comm_size(c->comm, &ranks);
    return ranks;
}

int zcall_end(struct zcall *c, int rc)
{
    struct zcall_outcome outcome = {.op = c->op, .kind = c->kind, .raw = c->raw, .sent = c->sent};
    struct zcomm *s = c->state;
    int rank = -1;
    if (rc || !zruntime_agreed() || (!s && !zruntime_options()->bound_set))
        return rc;
    if (c->measuring) {
        outcome.seconds = zmpi_seconds() - c->start;
        measured(c, outcome.seconds);
    }
    if (c->kind == ZCALL_COMPRESSED) {
        ztimeline_call(ZTIMELINE_SEND, c->start, c->raw);
        outcome.ratio_bound = zcall_wants_ratio(c) ? zcall_ratio_bound(c) : 0;
        outcome.decoded = (double)(s->offload.decoded.bytes - s->decoded);
        s->decoded = s->offload.decoded.bytes;
        say_choice(c, outcome.seconds, &outcome);
        s->stats.compressed++;
        s->stats.bytes += (uint64_t)c->raw;
        s->stats.bytes_sent += (uint64_t)c->sent;
        s->stats.seconds += outcome.seconds;
        s->stats.seconds_scan += c->scan;
        s->stats.seconds_compress += c->compress;
        s->stats.seconds_decode += c->codec - c->compress;
        s->stats.ratio_bound = fmax(s->stats.ratio_bound, outcome.ratio_bound);
    }
    if (!s)
        PMPI_Comm_rank(c->comm, &rank);
    if (c->op == ZOP_ALLTOALL && c->kind != ZCALL_COMPRESSED)
        outcome.raw *= ranks_of(c);
    outcome.by_time = s && c->lossy && zrule_by_time(c);
    outcome.counts = s ? s->rank == c->root : rank == 0;
    zreport_collective(&outcome);
    if (c->kind == ZCALL_COMPRESSED && c->error)
        PMPI_Comm_call_errhandler(c->comm, c->error);
    return c->kind == ZCALL_COMPRESSED ? c->error : rc;
}
