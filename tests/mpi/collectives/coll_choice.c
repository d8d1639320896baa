/*
 * coll_choice.c - when `auto` compresses, and by which encoder: on measurements that are made up,
 * since the ranks of a test share a machine.
 *
 * zmpi-test: RANKS 1 ANYIO PLAIN
 */
#define ZMPI_NEXT_MPI_H // a program calls MPI as programs do, not through the library's table
#include "device/codec_choice.c"
#include "collective/coll_auto.c"
#include "check.h"

enum { BYTES = 1 << 20, SIZE_CLASS = 10, PIECES = 16 };

/* A network of so many bytes per second; of each encoder speed and ratio. */
struct model {
    double network, codec[ZCODECS], ratio[ZCODECS];
    bool pieces; /* coded while others are sent */
};

static const struct zauto_ways one = {ZMPI_FLE, {true, true, false}},
                               encoders = {ZMPI_FLE, {false, true, true}},
                               all = {ZMPI_FLE, {true, true, true}};

/* A call takes up to so many times as long, or as short. */
static double spread = 1;
/* First messages take so many times what they do; a sample by the second encoder, and its stream.
 * 0: nobody looks. */
static double transfer_seen, sampled;
/* Compressed by the fixed rule: raw is timed now and then, beside the calls. */
static bool by_rule;

static double seconds(const struct model *m, int way, double *codec)
{
    double wire = BYTES / m->network;
    *codec = 0;
    if (way == ZRAW)
        return wire;
    *codec = BYTES / m->codec[way - 1];
    wire /= m->ratio[way - 1];
    return m->pieces ? fmax(wire, *codec) : wire + 2 * *codec;
}

/* `calls` calls; returns the seconds of all of them and how many went each way. */
static double run(struct zcomm *s, const struct model *m, const struct zauto_ways *ways, int calls,
                  int went[ZWAYS])
{
    double sum = 0;
    memset(went, 0, ZWAYS * sizeof *went);
    for (int k = 0; k < calls; k++) {
        struct zmeasured *measured = &s->measured[ZOP_GATHER][SIZE_CLASS];
        double codec;
        if (measured->skip) {
            measured->skip--;
            went[ZRAW]++;
            sum += seconds(m, ZRAW, &codec);
            continue;
        }
        zauto_learn(s, &s->pending);
        int way = zauto_choose(measured, ways, true);
        CHECK(way >= 0 && way < ZWAYS && ways->may[way]);
        double noise = pow(spread, 2 * check_unit(1, (uint64_t)k) - 1);
        if (by_rule && zauto_wants_raw(measured))
            zauto_timed_raw(measured, noise * seconds(m, ZRAW, &codec) / BYTES);
        double elapsed = noise * seconds(m, way, &codec);
        double sent = way ? BYTES / m->ratio[way - 1] : BYTES, wire = sent / m->network;
        s->pending = (struct zpending){.any = true,
                                       .pieces = m->pieces ? PIECES : 1,
                                       .way = way,
                                       .op = ZOP_GATHER,
                                       .size_class = zauto_class(BYTES),
                                       .by_rule = by_rule,
                                       .bytes = BYTES,
                                       .elapsed = elapsed,
                                       .compress = noise * codec,
                                       .decode = noise * codec,
                                       .codec = noise * codec,
                                       .transfer = way ? transfer_seen * noise * wire : 0,
                                       .raw = BYTES,
                                       .sent = sent};
        if (way == ZMPI_FLE && sampled > 0)
            s->pending.sample = (struct zsample){{1 / m->codec[0], sampled / m->codec[1]},
                                                 m->ratio[1] / m->ratio[0] / sampled};
        went[way]++;
        sum += elapsed;
    }
    return sum;
}

/* The best way in all but the first few calls: 2 % for looking at the others. The first call is by
 * the first encoder, whatever that costs; to find out which way is best takes little more. */
static void converges(const struct zauto_ways *ways, struct model m, int best)
{
    transfer_seen = sampled = 1;
    for (int pieces = 0; pieces < 2; pieces++) {
        static struct zcomm s;
        int went[ZWAYS];
        double codec, least;
        m.pieces = pieces;
        least = seconds(&m, best, &codec);
        check_say("network %g, codec %g %g, ratio %g %g%s", m.network, m.codec[0], m.codec[1],
                  m.ratio[0], m.ratio[1], pieces ? ", pieces" : "");
        memset(&s, 0, sizeof s);
        for (int way = 0; way < ZWAYS; way++)
            CHECK(!ways->may[way] || least <= seconds(&m, way, &codec));
        double sum = run(&s, &m, ways, 24, went);
        const double first = seconds(&m, ways->first, &codec) - least;
        CHECK_SAY(sum - first <= 24 * least * 1.07, "24 calls %g s, the first %g s more, best %g s",
                  sum, first, 24 * least);
        sum += run(&s, &m, ways, 76, went);
        CHECK_SAY(sum - first <= 100 * least * 1.03, "100 calls %g s, the first %g s more, best %g",
                  sum, first, 100 * least);
        run(&s, &m, ways, 900, went);
        sum = run(&s, &m, ways, 5000, went);
        CHECK_SAY(went[best] > 4500, "%d %d %d of 5000", went[0], went[1], went[2]);
        CHECK_SAY(sum <= 5000 * least * 1.03, "%g s, at best %g s", sum, 5000 * least);
    }
    transfer_seen = sampled = 0;
}

/* On a machine that is busy with something else, too. */
static void endures(struct model m, int best)
{
    static struct zcomm s, alone;
    const struct zauto_ways only = {best, {false, best == ZMPI_FLE, best == ZMPI_HUFFMAN}};
    int went[ZWAYS];
    check_say("noise, network %g", m.network);
    spread = 3;
    memset(&s, 0, sizeof s);
    memset(&alone, 0, sizeof alone);
    double sum = run(&s, &m, &all, 3000, went), least = run(&alone, &m, &only, 3000, went);
    CHECK_SAY(sum <= 1.1 * least, "%g s, at best %g s", sum, least);
    spread = 1;
}

/* The network becomes another one: after `patience` calls the choice is the best again. */
static void becomes(struct zcomm *s, const struct zauto_ways *ways, struct model m, int patience,
                    int best)
{
    int went[ZWAYS];
    run(s, &m, ways, patience, went);
    run(s, &m, ways, 500, went);
    CHECK_SAY(went[best] > 450, "network %g: %d %d %d of 500", m.network, went[0], went[1],
              went[2]);
}

static void follows(void)
{
    for (int pieces = 0; pieces < 2; pieces++) {
        static struct zcomm s;
        struct model fast = {10e9, {1e9, 2e8}, {8, 12}, pieces}, slow = fast, quick = fast;
        slow.network = 1e6;
        quick.network = 1e9;
        check_say("a network that changes%s", pieces ? ", pieces" : "");
        memset(&s, 0, sizeof s);
        for (int k = 0; k < 3; k++) {
            becomes(&s, &one, fast, 100, ZRAW);
            becomes(&s, &one, slow, 5000, ZMPI_FLE);
        }
        memset(&s, 0, sizeof s);
        for (int k = 0; k < 3; k++) {
            becomes(&s, &encoders, quick, 40, ZMPI_FLE);
            becomes(&s, &encoders, slow, 40, ZMPI_HUFFMAN);
        }
        memset(&s, 0, sizeof s);
        for (int k = 0; k < 3; k++) {
            becomes(&s, &all, slow, 100, ZMPI_HUFFMAN);
            becomes(&s, &all, fast, 100, ZRAW);
            becomes(&s, &all, slow, 9000, ZMPI_HUFFMAN);
        }
    }
}

/* What was not measured since the network became another one is estimated as it is. */
static void foresees(void)
{
    for (int pieces = 0; pieces < 2; pieces++) {
        static struct zcomm s;
        struct model m = {1e7, {1e9, 2e8}, {8, 12}, pieces};
        const double *estimate = s.measured[ZOP_GATHER][SIZE_CLASS].estimate;
        int went[ZWAYS], next[ZWAYS];
        double codec;
        check_say("estimates%s", pieces ? ", pieces" : "");
        memset(&s, 0, sizeof s);
        run(&s, &m, &encoders, 100, went);
        m.network = 1e6;
        run(&s, &m, &encoders, 1, went);
        run(&s, &m, &encoders, 1, next); /* learns from the one before */
        for (int way = 0; way < ZWAYS; way++) {
            double right = seconds(&m, way, &codec) / BYTES;
            CHECK_SAY(went[way] || fabs(estimate[way] / right - 1) < 0.05,
                      "way %d: %g, not %g s per byte", way, estimate[way], right);
        }
    }
}

/* What was told before the first trial was far from it: a second encoder that only looked good
 * costs a call or two, and one that only looked hopeless, as raw calls, is found out later. */
static void corrects(void)
{
    static struct zcomm s;
    struct model slow = {1e8, {1e9, 1e8}, {8, 12}, false}, fast = {1e9, {2e8, 1}, {8, 1}, true};
    int went[ZWAYS];
    double codec, most = 24 * seconds(&slow, ZMPI_FLE, &codec);
    most += 2 * seconds(&slow, ZMPI_HUFFMAN, &codec);
    check_say("a sample that promises too much");
    sampled = 0.1;
    memset(&s, 0, sizeof s);
    double sum = run(&s, &slow, &encoders, 24, went);
    CHECK_SAY(went[ZMPI_HUFFMAN] > 0 && sum <= most, "%d: %g s, not %g", went[2], sum, most);
    check_say("a sample that promises too little");
    sampled = 5;
    slow.network = 1e6;
    memset(&s, 0, sizeof s);
    run(&s, &slow, &encoders, 24, went);
    CHECK_EQUAL(went[ZMPI_FLE], 24);
    becomes(&s, &encoders, slow, 500, ZMPI_HUFFMAN);
    sampled = 0;
    check_say("first messages that took too long");
    transfer_seen = 10;
    memset(&s, 0, sizeof s);
    run(&s, &fast, &one, 24, went);
    CHECK_EQUAL(went[ZMPI_FLE], 24);
    becomes(&s, &one, fast, 500, ZRAW);
    transfer_seen = 0;
}

/* Who has seen calls of one size knows what to do with others that are like them, from the first
 * on. */
static void remembers(void)
{
    static struct zcomm s;
    struct model m = {20e9, {1e9, 2e8}, {8, 12}, false};
    struct zmeasured *of_class = s.measured[ZOP_GATHER];
    int went[ZWAYS];
    check_say("other size classes");
    memset(&s, 0, sizeof s);
    run(&s, &m, &all, 24, went);
    zauto_begin(of_class, SIZE_CLASS + 1);
    zauto_begin(of_class, SIZE_CLASS - 1);
    zauto_begin(of_class, SIZE_CLASS - 5);
    CHECK_EQUAL(zauto_choose(&of_class[SIZE_CLASS + 1], &all, true), ZRAW);
    CHECK_EQUAL(zauto_choose(&of_class[SIZE_CLASS - 1], &all, true), ZRAW);
    CHECK_EQUAL(zauto_choose(&of_class[SIZE_CLASS - 1], &encoders, true), ZMPI_FLE);
    CHECK_EQUAL(zauto_choose(&of_class[SIZE_CLASS - 5], &all, true), ZMPI_FLE);
}

/* The same call as all before it, in seconds saved by it, as the report has them. */
static double saved(struct zcomm *s, struct model m, const struct zauto_ways *ways)
{
    int went[ZWAYS];
    run(s, &m, ways, 24, went);
    zauto_learn(s, &s->pending);
    return zauto_saved(s, &s->pending);
}

/* What a call saved is told where raw was measured, or messages of like size were; not where it is
 * never tried. */
static void reports(void)
{
    static struct zcomm s;
    struct model slow = {1e7, {1e9, 1e8}, {8, 12}, false},
                 fast = {20e9, {1e9, 2e8}, {8, 12}, false};
    const struct zauto_ways never = {ZMPI_FLE, {false, true, false}};
    double codec, truth = seconds(&slow, ZRAW, &codec) - seconds(&slow, ZMPI_FLE, &codec);
    check_say("what was saved");
    memset(&s, 0, sizeof s);
    double noted_saved = saved(&s, slow, &one);
    CHECK_SAY(fabs(noted_saved / truth - 1) < 0.1, "%g s saved, not %g", noted_saved, truth);
    CHECK_EQUAL(s.measured[ZOP_GATHER][SIZE_CLASS].count[ZRAW], 0);
    memset(&s, 0, sizeof s);
    truth = seconds(&fast, ZMPI_FLE, &codec) - seconds(&fast, ZRAW, &codec);
    noted_saved = saved(&s, fast, &one);
    CHECK_SAY(fabs(noted_saved / truth - 1) < 0.1, "%g s saved, not %g", noted_saved, truth);
    memset(&s, 0, sizeof s);
    s.options.collective_mode = ZMPI_COLLECTIVE_ALWAYS;
    noted_saved = saved(&s, slow, &never);
    CHECK_SAY(!(noted_saved < 0 || noted_saved > 0), "%g s saved, without raw", noted_saved);
    memset(&s, 0, sizeof s);
    slow.ratio[0] = 1000;
    noted_saved = saved(&s, slow, &never);
    CHECK_SAY(!(noted_saved < 0 || noted_saved > 0), "%g s saved, by small messages", noted_saved);
}

/* So many calls, none of them raw: how often somebody hears that this costs time. */
static int lines(struct model m, int calls, double *lost)
{
    static struct zcomm s;
    const struct zauto_ways fixed = {ZMPI_FLE, {false, true, false}};
    int said = 0, went[ZWAYS];
    memset(&s, 0, sizeof s);
    for (int k = 0; k < calls; k++) {
        run(&s, &m, &fixed, 1, went);
        const struct zpending p = s.pending;
        zauto_learn(&s, &p);
        said += zauto_costs(&s.losses, p.elapsed, zauto_saved(&s, &p));
        s.pending.any = false; /* learnt */
    }
    *lost = -s.losses.saved;
    return said;
}

/* Where lossy data are compressed whatever it takes, one line tells that it took more, and only
 * then: whatever the first messages, and what the codec hides of the network, seem to tell. */
static void tells_costs(void)
{
    static const double seen[] = {0, 1e-3, 1, 1e3};
    double lost, codec;
    by_rule = true;
    for (int k = 0; k < 8; k++) {
        const bool pieces = k % 2 != 0;
        const struct model fast = {20e9, {1e9, 2e8}, {8, 12}, pieces},
                           slow = {1e8, {1e9, 1e8}, {8, 12}, pieces},
                           near = {1e9, {2e9, 1e8}, {8, 12}, pieces};
        const double took = seconds(&fast, ZMPI_FLE, &codec),
                     each = took - seconds(&fast, ZRAW, &codec);
        const int known = (int)(1 / took), calls = known + (int)(3 / each);
        transfer_seen = seen[k / 2];
        check_say("what the fixed rule costs, first messages take %g times as long%s",
                  transfer_seen, pieces ? ", pieces" : "");
        CHECK_EQUAL(lines(slow, 1000, &lost), 0);
        CHECK(lost < 0);
        if (pieces) { /* the codec hides all of the network */
            CHECK_EQUAL(lines(near, 6000, &lost), 0);
            CHECK(lost < 0);
        }
        CHECK_EQUAL(lines(fast, known + (int)(0.5 / each), &lost), 0);
        CHECK_EQUAL(lines(fast, calls, &lost), 1);
        CHECK_SAY(fabs(lost / each / (calls - known) - 1) < 0.1, "%g s lost", lost);
    }
    transfer_seen = 0;
    by_rule = false;
}

/* How long calls take raw is asked after a second of them, twice, and again when things changed. */
static void times_raw(void)
{
    static struct zcomm s;
    struct zmeasured *m = &s.measured[ZOP_GATHER][SIZE_CLASS];
    struct zpending p = {.any = true,
                         .way = ZMPI_FLE,
                         .op = ZOP_GATHER,
                         .size_class = SIZE_CLASS,
                         .by_rule = true,
                         .bytes = BYTES,
                         .elapsed = 0.3};
    check_say("when raw is timed");
    for (int k = 1; k <= 4; k++) {
        CHECK(!zauto_wants_raw(m));
        zauto_learn(&s, &p);
        CHECK(!(zauto_saved(&s, &p) < 0 || zauto_saved(&s, &p) > 0));
    }
    CHECK(zauto_wants_raw(m));
    zauto_timed_raw(m, INFINITY); /* that could not be done: not again at once */
    CHECK(!zauto_wants_raw(m) && m->count[ZRAW] == 0);
    m->untimed = 2;
    zauto_timed_raw(m, 0.2 / BYTES);
    CHECK(zauto_wants_raw(m));
    zauto_timed_raw(m, 0.1 / BYTES);
    CHECK(!zauto_wants_raw(m));
    CHECK(fabs(zauto_saved(&s, &p) + 0.2) < 1e-9);
    m->world++;
    CHECK(!(zauto_saved(&s, &p) < 0 || zauto_saved(&s, &p) > 0));
    CHECK(!zauto_wants_raw(m));
    m->untimed = 2;
    CHECK(zauto_wants_raw(m));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK_EQUAL(zauto_class(BYTES), SIZE_CLASS);
    CHECK(zauto_class(0) == 0 && zauto_class(UINT64_MAX) == ZCLASSES - 1);
    /* The network is far slower than the codec; a little; nothing to choose from; it is faster; far
     * faster; data that do not compress. */
    converges(&one, (struct model){1e7, {1e9, 1}, {8, 1}, 0}, ZMPI_FLE);
    converges(&one, (struct model){0.4e9, {1e9, 1}, {8, 1}, 0}, ZMPI_FLE);
    converges(&one, (struct model){1e9, {1e9, 1}, {1, 1}, 0}, ZRAW);
    converges(&one, (struct model){2e9, {1e9, 1}, {8, 1}, 0}, ZRAW);
    converges(&one, (struct model){20e9, {1e9, 1}, {8, 1}, 0}, ZRAW);
    converges(&one, (struct model){1e8, {1e9, 1}, {0.99, 1}, 0}, ZRAW);
    /* The same, and huffman: worth its time; not worth it; nothing is; huffman no slower, which is
     * not expected; far smaller, neither. */
    converges(&encoders, (struct model){1e6, {1e9, 2e8}, {8, 12}, 0}, ZMPI_HUFFMAN);
    converges(&encoders, (struct model){1e9, {1e9, 2e8}, {8, 12}, 0}, ZMPI_FLE);
    converges(&encoders, (struct model){1e8, {1e9, 1e9}, {2, 12}, 0}, ZMPI_HUFFMAN);
    converges(&all, (struct model){1e6, {1e9, 2e8}, {8, 12}, 0}, ZMPI_HUFFMAN);
    converges(&all, (struct model){0.4e9, {1e9, 1e8}, {8, 12}, 0}, ZMPI_FLE);
    converges(&all, (struct model){20e9, {1e9, 2e8}, {8, 12}, 0}, ZRAW);
    converges(&all, (struct model){1e7, {1e9, 5e8}, {0.99, 40}, 0}, ZMPI_HUFFMAN);
    endures((struct model){1e6, {1e9, 2e8}, {8, 16}, 1}, ZMPI_HUFFMAN);
    endures((struct model){1e8, {1e9, 1e8}, {8, 12}, 1}, ZMPI_FLE);
    follows();
    foresees();
    corrects();
    remembers();
    reports();
    tells_costs();
    times_raw();
    MPI_Finalize();
    return 0;
}
