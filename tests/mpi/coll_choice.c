/*
 * coll_choice.c - when `auto` compresses: on measurements that are made up, since the ranks of a
 * test share a machine.
 *
 * zmpi-test: RANKS 1 ANYIO PLAIN
 */
#define ZMPI_NEXT_MPI_H // a program calls MPI as programs do, not through the library's table
#include "../../pmpi/coll_auto.c"
#include "check.h"

enum { BYTES = 1 << 20, SIZE_CLASS = 10 };

/* A network of so many bytes per second, a codec of so many, a ratio. */
struct model {
    double network, codec, ratio;
};

static double seconds(const struct model *m, bool compressed, double *codec)
{
    double wire = BYTES / m->network;
    *codec = compressed ? BYTES / m->codec : 0;
    return compressed ? fmax(wire / m->ratio, *codec) : wire;
}

/* `calls` calls; returns the seconds of all of them and how many were compressed. */
static double run(struct zcomm *s, const struct model *m, int calls, int *compressed)
{
    double sum = 0;
    *compressed = 0;
    for (int k = 0; k < calls; k++) {
        struct zmeasured *measured = &s->measured[ZOP_GATHER][SIZE_CLASS];
        double codec;
        if (measured->skip) {
            measured->skip--;
            sum += seconds(m, false, &codec);
            continue;
        }
        zauto_learn(s, &s->pending);
        bool way = zauto_choose(measured, true);
        double elapsed = seconds(m, way, &codec);
        s->pending = (struct zpending){.any = true,
                                       .compressed = way,
                                       .op = ZOP_GATHER,
                                       .size_class = zauto_class(BYTES),
                                       .bytes = BYTES,
                                       .elapsed = elapsed,
                                       .codec = codec,
                                       .raw = BYTES,
                                       .sent = BYTES / m->ratio};
        *compressed += way;
        sum += elapsed;
    }
    return sum;
}

/* The faster way in all but the first few calls: 2 % for looking at the other. */
static void settles(struct model m, bool best)
{
    static struct zcomm s;
    int compressed;
    double codec, least = seconds(&m, best, &codec);
    check_say("network %g, codec %g, ratio %g", m.network, m.codec, m.ratio);
    memset(&s, 0, sizeof s);
    CHECK(seconds(&m, best, &codec) <= seconds(&m, !best, &codec));
    run(&s, &m, 10, &compressed);
    double sum = run(&s, &m, 5000, &compressed);
    CHECK_SAY(best ? compressed > 4500 : compressed < 500, "%d of 5000 compressed", compressed);
    CHECK_SAY(sum <= 5000 * least * 1.03, "%g s, at best %g s", sum, 5000 * least);
}

/* The network becomes slower, or faster, than it was. */
static void follows(void)
{
    static struct zcomm s;
    struct model fast = {10e9, 1e9, 8}, slow = {1e8, 1e9, 8};
    int compressed;
    check_say("a network that changes");
    memset(&s, 0, sizeof s);
    run(&s, &fast, 1000, &compressed);
    CHECK(compressed < 200);
    run(&s, &slow, 9000, &compressed);
    run(&s, &slow, 1000, &compressed);
    CHECK_SAY(compressed > 900, "%d of 1000 compressed", compressed);
    run(&s, &fast, 9000, &compressed);
    run(&s, &fast, 1000, &compressed);
    CHECK_SAY(compressed < 200, "%d of 1000 compressed", compressed);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK_EQUAL(zauto_class(BYTES), SIZE_CLASS);
    CHECK(zauto_class(0) == 0 && zauto_class(UINT64_MAX) == ZCLASSES - 1);
    settles((struct model){1e8, 1e9, 8}, true);     /* the network is far slower than the codec */
    settles((struct model){0.9e9, 1e9, 8}, true);   /* a little slower */
    settles((struct model){1e9, 1e9, 1}, false);    /* nothing to choose from */
    settles((struct model){2e9, 1e9, 8}, false);    /* faster */
    settles((struct model){20e9, 1e9, 8}, false);   /* far faster */
    settles((struct model){1e8, 1e9, 0.99}, false); /* data that do not compress */
    follows();
    MPI_Finalize();
    return 0;
}
